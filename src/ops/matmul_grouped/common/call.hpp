#pragma once
// A checked call of matmul_grouped.

#include <kaio/ops/shared/any_view.hpp>

namespace kaio::ops {

struct grouped_call {
  any_view a, b, offsets, c;  // (rows, k), (groups, k, n), (groups + 1), (rows, n)
  std::uint64_t rows() const { return static_cast<std::uint64_t>(c.extents[0]); }
  std::uint64_t n() const { return static_cast<std::uint64_t>(c.extents[1]); }
  std::uint64_t k() const { return static_cast<std::uint64_t>(a.extents[1]); }
  std::uint64_t groups() const { return static_cast<std::uint64_t>(b.extents[0]); }
};

}  // namespace kaio::ops
