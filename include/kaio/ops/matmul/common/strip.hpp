#pragma once
// A strip: what a thread finishes of C at once, the same columns of a few rows. Values common to the strip
// are computed once, and loads for one row do not wait for those for another.
//
//   columns         c   c+1  c+2  c+3
//   row r           x    x    x    x
//   row r + Apart   x    x    x    x

#include <kaio/ops/matmul/common/epilogue.hpp>

#include <cstdint>

namespace kaio::ops {

// `Lanes`: the number of neighbouring lanes that work together, on neighbouring columns of the same rows.
template <std::uint32_t Rows, std::uint32_t Apart = 1, std::uint32_t Lanes = 1, std::uint32_t Columns = 4>
struct strip {
  static constexpr std::uint32_t rows = Rows, apart = Apart, lanes = Lanes, columns = Columns,
                                 size = Rows * Columns;

  place first;
  dsl::register_array<val<bool>, Rows> exists;  // per row
  val<u32> columns_left;                        // columns of C from the first one on
  val<bool> is_whole;                           // all columns exist

  // The rows row + i * Apart; each exists if it is at least `begin` and below `end`.
  static constexpr strip within(thread t, const place& first, const val<u32>& row, const val<u32>& begin,
                                const val<u32>& end, const val<u32>& columns_left) {
    return {first, array_of<Rows>([&](u32 i) {
              const val one = i == 0 ? row : t.let(row + i * Apart);
              return t.let(all_of(begin <= one, one < end));
            }),
            columns_left, t.let(columns_left >= Columns)};
  }
  // `left`: rows of C from the first one on.
  static constexpr strip within(thread t, const place& first, const val<u32>& left,
                                const val<u32>& columns_left) {
    return {first, array_of<Rows>([&](u32 i) { return t.let(left > i * Apart); }), columns_left,
            t.let(columns_left >= Columns)};
  }

  constexpr auto has_columns() const { return columns_left != 0u; }

  // Its rows, for values common to all columns; its columns, for values common to all rows.
  constexpr strip<Rows, Apart, 1, 1> of_rows() const { return {first, exists, columns_left, is_whole}; }
  constexpr strip<1, 1, 1, Columns> of_columns() const {
    return {first, {{val<bool>(true)}}, columns_left, is_whole};
  }
};

// One place inside C.
constexpr strip<1, 1, 1, 1> single_place(thread t, const place& at) {
  const val<bool> exists(true);
  return {at, {{exists}}, t.let(1u), exists};
}

// Places in no order, all inside C.
template <std::uint32_t N>
using places = dsl::register_array<place, N>;

}  // namespace kaio::ops
