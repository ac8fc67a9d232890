#pragma once
// A checked call of matmul_grouped.

#include <kaio/ops/shared/any_view.hpp>

#include <cstdint>

namespace kaio::ops {

struct grouped_call {
  any_view a, b, offsets, c;  // (rows, k), (groups, k, n), (groups + 1), (rows, n)
  std::uint64_t rows() const { return static_cast<std::uint64_t>(c.extents[0]); }
  std::uint64_t n() const { return static_cast<std::uint64_t>(c.extents[1]); }
  std::uint64_t k() const { return static_cast<std::uint64_t>(a.extents[1]); }
  std::uint64_t groups() const { return static_cast<std::uint64_t>(b.extents[0]); }

  // Whether lines of B at multiples of 16 bytes run along K; else they run along N, if is_aligned().
  bool b_is_along_k() const { return is_adjacent(b, 1) && is_aligned(b, 2); }
  // Whether the operands are as copies of 16 bytes need them: lines at multiples of 16 bytes, and neighbours of A
  // along K, of B along K or N, of C along N.
  bool is_aligned() const {
    const bool along_n = is_adjacent(b, 2) && is_aligned(b, 1);
    return k() != 0 && is_adjacent(a, 1) && is_aligned(a, 0) && a.address % 16 == 0 &&
           (b_is_along_k() || along_n) && is_aligned(b, 0) && b.address % 16 == 0 && is_adjacent(c, 1);
  }
  static bool is_adjacent(const any_view& v, std::uint32_t d) {
    return v.strides[d] == 1 || v.extents[d] == 1;
  }
  // Elements have 16 bits.
  static bool is_aligned(const any_view& v, std::uint32_t d) {
    return v.extents[d] == 1 || (v.strides[d] > 0 && v.strides[d] % 8 == 0);
  }
};

}  // namespace kaio::ops
