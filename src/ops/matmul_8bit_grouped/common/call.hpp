#pragma once
// A checked grouped product of operands of 8 bits, and the parameters that its kernels share.

#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/matmul_8bit_grouped/common/epilogue.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <span>

namespace kaio::ops {

struct grouped_bytes_call {
  any_view a, b, offsets, c;  // (rows of a, k), (groups, k, n), (groups + 1), (rows, n, or n / 2 with a gate)
  grouped_bytes_terms terms;

  std::uint64_t rows() const { return static_cast<std::uint64_t>(c.extents[0]); }
  std::uint64_t n() const { return static_cast<std::uint64_t>(b.extents[2]); }
  std::uint64_t k() const { return static_cast<std::uint64_t>(a.extents[1]); }
  std::uint64_t groups() const { return static_cast<std::uint64_t>(b.extents[0]); }
  bool is_int8() const { return a.type == element_kind::i8; }
  bool has_parts() const { return terms.groups_a.type != 0; }

  // Whether neighbours of A and B are along K, in lines at multiples of `bytes`.
  bool is_along_k(std::int64_t bytes) const {
    const auto at = [&](const any_view& v, std::uint32_t d) {
      return v.extents[d] == 1 || (v.strides[d] > 0 && v.strides[d] % bytes == 0);
    };
    const auto adjacent = [](const any_view& v) { return v.strides[1] == 1 || v.extents[1] == 1; };
    const auto begins = static_cast<std::uint64_t>(bytes);
    return k() != 0 && adjacent(a) && adjacent(b) && at(a, 0) && at(b, 0) && at(b, 2) &&
           a.address % begins == 0 && b.address % begins == 0;
  }

  std::uint64_t tiles_n(std::uint32_t columns) const { return ceil_div(n(), std::uint64_t{columns}); }
  // Blocks for the tiles that the groups may have.
  std::uint64_t blocks(std::uint32_t tile_rows, std::uint32_t columns) const {
    return grouped_tiles::most(rows(), groups(), tile_rows) * tiles_n(columns);
  }
  grouped_tiles tiles(std::uint32_t columns) const {
    return grouped_tiles::of(offsets.address, groups(), rows(), tiles_n(columns));
  }
  output_lines lines() const {
    const bool by_four =
        c.address % (4 * c.element_bytes()) == 0 && (c.extents[0] == 1 || c.strides[0] % 4 == 0);
    return {c.strides[0], 0, static_cast<u32>(rows()), static_cast<u32>(n()), by_four ? 1u : 0u};
  }
  output_memory to() const { return {c.address, static_cast<u32>(c.type)}; }
  template <class T>
  device_pointer<T> memory(const any_view& v) const {
    return {v.address, static_cast<std::size_t>(v.bytes / sizeof(T)), v.device, true};
  }
};

// A kernel: whether it takes a call, and its launch. The kernels of a kind of device, the fastest first.
struct grouped_bytes_kernel {
  const ptx::kernel_image* image = nullptr;
  bool (*takes)(const grouped_bytes_call&) = nullptr;
  void (*run)(const stream&, const grouped_bytes_call&) = nullptr;
};

}  // namespace kaio::ops
