#pragma once
// A checked product of the rows of each group: c[g] = a[g]^T * b[g].

#include <kaio/ops/matmul_grouped/common/sums.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/ceil_div.hpp>

#include <cstdint>
#include <utility>

#include "ops/matmul_grouped/common/call.hpp"

namespace kaio::ops {

struct grouped_sums_call {
  any_view a, b, offsets, c;  // (rows, m), (rows, n), (groups + 1), (groups, m, n)
  bool accumulate;
  std::uint64_t rows() const { return static_cast<std::uint64_t>(a.extents[0]); }
  std::uint64_t m() const { return static_cast<std::uint64_t>(c.extents[1]); }
  std::uint64_t n() const { return static_cast<std::uint64_t>(c.extents[2]); }
  std::uint64_t groups() const { return static_cast<std::uint64_t>(c.extents[0]); }

  // The call with neighbours of c along n, if they are along one of m and n.
  grouped_sums_call along_n() const {
    if (grouped_call::is_adjacent(c, 2)) return *this;
    grouped_sums_call result{b, a, offsets, c, accumulate};
    std::swap(result.c.extents[1], result.c.extents[2]);
    std::swap(result.c.strides[1], result.c.strides[2]);
    return result;
  }
  // Whether the operands are as copies of 16 bytes need them.
  bool is_aligned() const {
    const auto lines = [](const any_view& v) {
      return grouped_call::is_adjacent(v, 1) && grouped_call::is_aligned(v, 0) && v.address % 16 == 0;
    };
    return rows() != 0 && lines(a) && lines(b) && grouped_call::is_adjacent(c, 2);
  }
  // Whether tensor copies may store c: nothing is added to it, and they write whole pieces of 16 bytes of a's type.
  bool stores_by_copies() const {
    return !accumulate && c.type == a.type && c.address % 16 == 0 && grouped_call::is_aligned(c, 1) &&
           grouped_call::is_aligned(c, 0) && c.extents[2] % 8 == 0;
  }
  std::uint64_t tiles(std::uint32_t tile_m, std::uint32_t tile_n) const {
    return ceil_div(m(), std::uint64_t{tile_m}) * ceil_div(n(), std::uint64_t{tile_n}) * groups();
  }
  grouped_sum_tiles tiles_of(std::uint32_t tile_m, std::uint32_t tile_n) const {
    const auto along_m = static_cast<u32>(ceil_div(m(), std::uint64_t{tile_m}));
    const auto along_n = static_cast<u32>(ceil_div(n(), std::uint64_t{tile_n}));
    return {offsets.address, static_cast<u32>(rows()), static_cast<u32>(tiles(tile_m, tile_n)),
            divisor::of(along_m * along_n), divisor::of(along_m)};
  }
  output_lines lines_of_c() const {
    const bool by_four =
        c.address % (4 * c.element_bytes()) == 0 && c.strides[1] % 4 == 0 && c.strides[0] % 4 == 0;
    return {c.strides[1], c.strides[0], static_cast<u32>(m()), static_cast<u32>(n()), by_four ? 1u : 0u};
  }
  output_memory memory_of_c() const { return {c.address, static_cast<u32>(c.type)}; }
  grouped_sum_terms terms() const { return {lines_of_c(), memory_of_c(), accumulate ? 1u : 0u}; }
};

}  // namespace kaio::ops
