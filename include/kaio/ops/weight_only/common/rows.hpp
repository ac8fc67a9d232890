#pragma once
// The rows of x that a product of packed weights reads. An End of a block has a member rows if its rows are
// others; rows is a class with these members but in_order.

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

// Row r of y is of row r of x.
struct w4_rows_in_order {
  static constexpr bool in_order = true;

  // The row of x for a row of y; end(t, m) or more: none, a row of zeros. m: the rows of the problem. Other classes have
  // of_tile too, for rows that exist.
  static constexpr val<u32> source(thread, const val<u32>& row) { return row; }
  static constexpr val<u32> end(thread, const val<u32>& m) { return m; }
};

template <class Rows>
concept w4_in_order = requires { requires Rows::in_order; };

// The rows of a block.
template <class End>
constexpr auto w4_rows_of([[maybe_unused]] const End& end) {
  if constexpr (requires { end.rows(); })
    return end.rows();
  else
    return w4_rows_in_order{};
}

}  // namespace kaio::ops
