#pragma once
// The kernels that matmul_w4_grouped may run, as data, and their launches.

#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>
#include <kaio/ops/weight_only_grouped/mma_sync/kernel.hpp>
#include <kaio/ops/weight_only_grouped/skinny/kernel.hpp>
#include <kaio/ops/weight_only_grouped/sm90/kernel.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>
#include <kaio/runtime/tensor_map.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

struct w4_grouped_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const w4_grouped_problem&, std::uint64_t blocks) = nullptr;
  element_type type = element_type::f16;  // element type of x
  std::uint32_t rows = 0;                 // rows of x per block
  std::uint32_t columns = 0;              // columns of y per block
  std::uint32_t slots = 4;                // groups of codes that a tile of 64 k may overlap, at most
  std::uint32_t tiles = 1;                // tiles of 64 k per step
  bool has_act_order = false;             // weights may have an index of groups
  bool has_pieces = false;                // x comes by pieces of 16 bytes: for sm_90a
  f32 unit = 1;                           // w4_problem::unit, if the decoder has one
};

namespace detail {
template <class D, scalar T, class Config>
w4_grouped_variant w4_grouped_variant_of(const ptx::kernel_image& image, const Config& config) {
  using decoder = typename D::template decoder<T>;
  w4_grouped_variant v{.image = &image,
                       .type = std::is_same_v<T, f16> ? element_type::f16 : element_type::bf16,
                       .rows = config.rows,
                       .columns = config.columns()};
  if constexpr (requires { decoder::unit; }) v.unit = decoder::unit;
  return v;
}
}  // namespace detail

template <class D, scalar T, std::uint32_t Rows, std::uint32_t Sm>
w4_grouped_variant describe_w4_grouped_few_rows() {
  constexpr auto& kernel = matmul_w4_grouped_few_rows<D, T, Rows, Sm>;
  w4_grouped_variant v = detail::w4_grouped_variant_of<D, T>(kernel.image(), w4_few_rows_of<D>(Rows, Sm));
  v.run = [](const stream& s, const w4_grouped_problem& problem, std::uint64_t blocks) {
    if constexpr (Sm >= 90)
      matmul_w4_grouped_few_rows<D, T, Rows, Sm>.launch(s, grid(blocks).programmatic(), problem);
    else
      matmul_w4_grouped_few_rows<D, T, Rows, Sm>.launch(s, grid(blocks), problem);
  };
  return v;
}

template <class D, scalar T>
w4_grouped_variant describe_w4_grouped_mma() {
  constexpr w4_config config = w4_grouped_mma_rows<D>();
  w4_grouped_variant v =
      detail::w4_grouped_variant_of<D, T>(matmul_w4_grouped_mma<config, D, T>.image(), config);
  v.run = [](const stream& s, const w4_grouped_problem& problem, std::uint64_t blocks) {
    matmul_w4_grouped_mma<w4_grouped_mma_rows<D>(), D, T>.launch(s, grid(blocks), problem);
  };
  v.has_act_order = true;
  return v;
}

// Rows of x begin at multiples of 16 bytes.
template <class D, scalar T, std::uint32_t Rows>
void launch_w4_grouped_sm90(const stream& s, const w4_grouped_problem& problem, std::uint64_t blocks) {
  constexpr w4_sm90_config config = w4_sm90_of<D>(Rows);
  const w4_problem& of = problem.of;
  // If warps copy x, the map is not read, and may be of any memory.
  const bool by_copies = problem.by_warps == 0;
  const std::uint64_t rows = by_copies ? of.m : 1;
  const std::uint64_t row = rows == 1 ? of.w.k : static_cast<std::uint64_t>(of.x_row);
  const device_pointer<T> x{by_copies ? of.x : of.w.codes, (rows - 1) * row + of.w.k, s.device_identity()};
  const auto map = tiled_tensor_map<2>(s, x,
                                       {.extents = {of.w.k, rows},
                                        .strides = {(row + 7) / 8 * 8},  // for one row any pitch will do
                                        .box = {w4_tile_k, config.rows},
                                        .swizzle = tensor_swizzle::bytes_128,
                                        .promotion = l2_promotion::bytes_256});
  matmul_w4_grouped_sm90<config, D, T>.launch(s, grid(blocks).programmatic(), map, problem);
}
template <class D, scalar T, std::uint32_t Rows>
w4_grouped_variant describe_w4_grouped_sm90() {
  constexpr w4_sm90_config config = w4_sm90_of<D>(Rows);
  w4_grouped_variant v =
      detail::w4_grouped_variant_of<D, T>(matmul_w4_grouped_sm90<config, D, T>.image(), config);
  v.run = launch_w4_grouped_sm90<D, T, Rows>;
  v.slots = w4_whole_groups<D>::slots;
  v.tiles = config.tiles;
  v.has_pieces = true;
  return v;
}

}  // namespace kaio::ops
