#pragma once
// A checked call of matmul_grouped or gate_up_grouped.

#include <kaio/ops/matmul_grouped/common/terms.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/ceil_div.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

struct grouped_call {
  any_view a, b, offsets, c;   // (rows of a, k), (groups, k, n), (groups + 1), (rows, n)
  any_view indices{}, bias{};  // (rows), (groups, n); may be missing
  any_view up{}, up_bias{};    // gate_up_grouped: as b and bias, which are those of the gate
  grouped_gate terms{};        // without biases

  std::uint64_t rows() const { return static_cast<std::uint64_t>(c.extents[0]); }
  std::uint64_t n() const { return static_cast<std::uint64_t>(c.extents[1]); }
  std::uint64_t k() const { return static_cast<std::uint64_t>(a.extents[1]); }
  std::uint64_t groups() const { return static_cast<std::uint64_t>(b.extents[0]); }
  bool is_paired() const { return up.exists(); }

  // Whether lines of B at multiples of 16 bytes run along K; else they run along N, if is_aligned().
  bool b_is_along_k() const { return runs_along(b, 1) && (!is_paired() || runs_along(up, 1)); }
  // Whether the operands are as copies of 16 bytes need them: lines at multiples of 16 bytes, and neighbours of A
  // along K, of B along K or N, of C along N.
  bool is_aligned() const {
    const bool along_n = runs_along(b, 2) && (!is_paired() || runs_along(up, 2));
    return k() != 0 && is_adjacent(a, 1) && is_aligned(a, 0) && a.address % 16 == 0 &&
           (b_is_along_k() || along_n) && is_adjacent(c, 1) && (!is_paired() || up.strides == b.strides);
  }
  // Whether tensor copies may store C: they write whole pieces of 16 bytes, of A's type.
  bool stores_by_copies() const {
    return c.type == a.type && c.address % 16 == 0 && is_aligned(c, 0) && c.extents[1] % 8 == 0;
  }
  // Whether columns 4q to 4q + 3 of C may be stored at once.
  bool stores_by_four() const {
    return c.address % (4 * c.element_bytes()) == 0 && (c.extents[0] == 1 || c.strides[0] % 4 == 0);
  }

  grouped_tiles tiles(std::uint64_t tiles_n) const {
    return grouped_tiles::of(offsets.address, groups(), rows(), tiles_n);
  }
  // The most tiles of `m` rows and `n` columns.
  std::uint64_t most_tiles(std::uint32_t m, std::uint32_t n) const {
    return grouped_tiles::most(rows(), groups(), m) * ceil_div(this->n(), std::uint64_t{n});
  }
  grouped_gather gather() const {
    return {indices.exists() ? indices.address : 0, static_cast<u32>(a.extents[0])};
  }
  static grouped_bias terms_of(const any_view& v) {
    return v.exists() ? grouped_bias{v.address, v.strides[0]} : grouped_bias{0, 0};
  }
  grouped_gate gate() const {
    grouped_gate result = terms;
    result.gate = terms_of(bias);
    result.up = terms_of(up_bias);
    return result;
  }

  static bool is_adjacent(const any_view& v, std::uint32_t d) {
    return v.strides[d] == 1 || v.extents[d] == 1;
  }
  // Elements have 16 bits.
  static bool is_aligned(const any_view& v, std::uint32_t d) {
    return v.extents[d] == 1 || (v.strides[d] > 0 && v.strides[d] % 8 == 0);
  }

 private:
  // Whether neighbours are along `d`, 1 or 2, and lines begin at multiples of 16 bytes.
  static bool runs_along(const any_view& v, std::uint32_t d) {
    return is_adjacent(v, d) && is_aligned(v, 3 - d) && is_aligned(v, 0) && v.address % 16 == 0;
  }
};

}  // namespace kaio::ops
