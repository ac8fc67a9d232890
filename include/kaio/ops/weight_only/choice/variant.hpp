#pragma once
// The kernels that matmul_w4 may run, as data, and their launches.

#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/weight_only/common/decode_rounded.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/gemv/launch.hpp>
#include <kaio/ops/weight_only/gemv/product.hpp>
#include <kaio/ops/weight_only/mma_sync/kernel.hpp>
#include <kaio/ops/weight_only/skinny/kernel.hpp>
#include <kaio/ops/weight_only/skinny/residency.hpp>
#include <kaio/ops/weight_only/sm90/kernel.hpp>
#include <kaio/ops/weight_only/sm90/rounded.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>
#include <kaio/runtime/tensor_map.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

struct w4_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const w4_problem&, std::uint64_t blocks) = nullptr;
  element_type type = element_type::f16;       // element type of x
  std::uint32_t rows = 0;                      // rows of x per block
  std::uint32_t columns = 0;                   // columns of y per block
  std::uint32_t warps_k = 1;                   // tiles of K that a block works on at once
  std::uint32_t resident = 1;                  // blocks on a multiprocessor, at most
  std::uint32_t bits = 4;                      // bits per code
  std::uint32_t slots = 4;                     // groups that a tile of 64 k may overlap, at most
  std::uint32_t tiles = 1;                     // tiles of 64 k per step
  std::uint32_t stages = 0;                    // stages of shared memory, if the launch chooses them
  std::uint32_t at_once = 1;                   // few rows of x: tiles that a warp works on at once
  const w4_one_row_config* one_row = nullptr;  // matmul_w4_one_row; others: null
  bool has_few_rows = false;                   // matmul_w4_few_rows
  bool has_pairs = false;                      // pairs of numbers are in shared memory
  bool has_clusters = false;                   // the splits of K may be the blocks of a cluster: 2, 4 or 8
  bool has_tensor_copies = false;              // x comes by tensor copies: matmul_w4_sm90
  bool rounds = false;                         // rounds weights to the type of x
  bool own_scales = false;                     // only for scales of the type of x
  bool other_scales = false;                   // only for scales of another type
  f32 unit = 1;                                // w4_problem::unit, if the decoder has one
  std::string own_name = {};                   // "kernel_rows48": the launch chooses fewer rows than the most

  std::string_view name() const { return own_name.empty() ? std::string_view(image->name) : own_name; }
};

// The kernel with `Rows` rows of x per block (w4_rows).
template <class D, scalar T, std::uint32_t Rows>
w4_variant describe_w4() {
  constexpr w4_config config = w4_rows(Rows, D::bits, D::offsets);
  using decoder = typename D::template decoder<T>;
  w4_variant v{.image = &matmul_w4_mma<config, D, T>.image(),
               .run =
                   [](const stream& s, const w4_problem& problem, std::uint64_t blocks) {
                     matmul_w4_mma<w4_rows(Rows, D::bits, D::offsets), D, T>.launch(s, grid(blocks), problem);
                   },
               .type = std::is_same_v<T, f16> ? element_type::f16 : element_type::bf16,
               .rows = config.rows,
               .columns = config.columns(),
               .warps_k = config.warps_k(),
               .resident = config.min_blocks,
               .bits = D::bits};
  if constexpr (requires { decoder::unit; }) v.unit = decoder::unit;
  return v;
}

// Whether a launch for few rows of x begins before the previous one has ended, from sm_90 on. Blocks of a
// programmatic launch begin wherever the previous launch leaves room. If there is at most one block per
// multiprocessor, some multiprocessors would get two. Such launches begin early only if their blocks are
// short: few_tiles tiles per warp.
constexpr bool begins_early(std::uint64_t blocks, std::uint64_t multiprocessors, std::uint64_t tiles,
                            std::uint32_t warps_k) {
  constexpr std::uint64_t few_tiles = 8;  // per warp
  return blocks > multiprocessors || tiles <= few_tiles * warps_k;
}
template <class D, scalar T, std::uint32_t Rows>
void launch_w4_few_rows(const stream& s, const w4_problem& problem, std::uint64_t blocks) {
  constexpr w4_few_rows_config config = w4_few_rows_of<D>(Rows, 90);
  const bool is_early = begins_early(blocks, s.properties().multiprocessors,
                                     std::uint64_t{problem.steps} * config.tiles_n, config.warps_k());
  const auto& kernel = matmul_w4_few_rows<D, T, Rows, 90>;
  const grid clusters = with_w4_resident_blocks(grid(blocks).cluster(problem.cluster), kernel.image(),
                                                s.properties(), config.min_blocks);
  kernel.launch(s, is_early ? clusters.programmatic() : clusters, problem);
}
template <class D, scalar T, std::uint32_t Rows, std::uint32_t Sm>
w4_variant describe_w4_few_rows() {
  constexpr w4_few_rows_config config = w4_few_rows_of<D>(Rows, Sm);
  using decoder = typename D::template decoder<T>;
  w4_variant v{.image = &matmul_w4_few_rows<D, T, Rows, Sm>.image(),
               .run =
                   [](const stream& s, const w4_problem& problem, std::uint64_t blocks) {
                     if constexpr (Sm >= 90)
                       launch_w4_few_rows<D, T, Rows>(s, problem, blocks);
                     else
                       matmul_w4_few_rows<D, T, Rows, Sm>.launch(s, grid(blocks), problem);
                   },
               .type = std::is_same_v<T, f16> ? element_type::f16 : element_type::bf16,
               .rows = config.rows,
               .columns = config.columns(),
               .warps_k = config.warps_k(),
               .resident = config.min_blocks,
               .bits = D::bits,
               .at_once = config.tiles,
               .has_few_rows = true,
               .has_pairs = config.pairs,
               .has_clusters = Sm >= 90};
  if constexpr (requires { decoder::unit; }) v.unit = decoder::unit;
  return v;
}

// The kernel for one row of x and integer codes, from sm_90 on.
template <const w4_one_row_config& C, scalar T>
w4_variant describe_w4_one_row() {
  return {.image = &matmul_w4_one_row<C, T>.image(),
          .run =
              [](const stream& s, const w4_problem& problem, std::uint64_t) {
                const w4_one_row_launch launch(problem.w.tiles_n, problem.splits, s.properties());
                matmul_w4_one_row<C, T>.launch(s, launch.grid(), problem, launch.work);
              },
          .type = std::is_same_v<T, f16> ? element_type::f16 : element_type::bf16,
          .rows = 1,
          .columns = w4_tile_n,
          .warps_k = C.warps,
          .bits = C.bits,
          .slots = 1,
          .one_row = &C,
          .has_clusters = true};
}

// The kernel for sm_90a. Rows of x begin at multiples of 16 bytes.
template <class D, scalar T, std::uint32_t Rows>
void launch_w4_sm90(const stream& s, const w4_problem& problem, std::uint64_t blocks) {
  constexpr w4_sm90_config config = w4_sm90_of<D>(Rows);
  const std::uint32_t rows = D::rounded ? problem.tile_rows : config.rows;
  const std::uint64_t row = problem.m == 1 ? problem.w.k : static_cast<std::uint64_t>(problem.x_row);
  const device_pointer<T> x{problem.x, (problem.m - 1) * row + problem.w.k, s.device_identity()};
  const std::uint64_t pitch = (row + 7) / 8 * 8;  // for one row any pitch will do
  const auto map_of = [&](std::uint32_t box_rows) {
    return tiled_tensor_map<2>(s, x,
                               {.extents = {problem.w.k, problem.m},
                                .strides = {pitch},
                                .box = {w4_tile_k, box_rows},
                                .swizzle = tensor_swizzle::bytes_128,
                                .promotion = l2_promotion::bytes_256});
  };
  const auto map = map_of(rows), edge = map_of(w4_edge_rows(problem.m, rows));
  if constexpr (D::rounded) {
    constexpr std::uint32_t line = 32, lines = config.words() / line;  // words; of a tile
    const std::uint64_t all_lines = std::uint64_t{lines} * problem.w.tiles_k;
    const device_pointer<u32> codes{problem.w.codes, all_lines * line * problem.w.tiles_n,
                                    s.device_identity()};
    const auto of_codes = tiled_tensor_map<3>(s, codes,
                                              {.extents = {line, all_lines, problem.w.tiles_n},
                                               .box = {line, lines * config.tiles, config.tiles_n()},
                                               .promotion = l2_promotion::bytes_256});
    // A block computes several tiles.
    const std::uint64_t at_once = config.blocks * std::max<std::uint64_t>(s.properties().multiprocessors, 1);
    matmul_w4_rounded<config, D, T>.launch(s, grid(std::min(blocks, at_once)).programmatic(), map, edge,
                                           of_codes, problem);
  } else {
    matmul_w4_sm90<config, D, T>.launch(s, grid(blocks).cluster(problem.cluster).programmatic(), map, edge,
                                        problem);
  }
}
template <class D, scalar T, std::uint32_t Rows>
constexpr const auto& w4_sm90_kernel_of() {
  if constexpr (D::rounded)
    return matmul_w4_rounded<w4_sm90_of<D>(Rows), D, T>;
  else
    return matmul_w4_sm90<w4_sm90_of<D>(Rows), D, T>;
}
// own_rows: rows of x per block, if the launch chooses them.
template <class D, scalar T, std::uint32_t Rows>
w4_variant describe_w4_sm90(std::uint32_t own_rows = Rows) {
  constexpr w4_sm90_config config = w4_sm90_of<D>(Rows);
  using decoder = typename D::template decoder<T>;
  w4_variant v{.image = &w4_sm90_kernel_of<D, T, Rows>().image(),
               .run = launch_w4_sm90<D, T, Rows>,
               .type = std::is_same_v<T, f16> ? element_type::f16 : element_type::bf16,
               .rows = own_rows,
               .columns = config.columns(),
               .resident = config.blocks,
               .bits = D::bits,
               .slots = w4_whole_groups<D>::slots,
               .tiles = config.tiles * config.together,
               .has_clusters = !D::rounded,
               .has_tensor_copies = true,
               .rounds = D::rounded};
  if constexpr (D::rounded) {
    v.own_scales = D::own_scales;
    v.other_scales = D::other_scales;
    v.stages = config.stages_of(own_rows);
    if (own_rows < config.rows) v.own_name = std::string(v.image->name) + "_rows" + std::to_string(own_rows);
  }
  if constexpr (requires { decoder::unit; }) v.unit = decoder::unit;
  return v;
}

}  // namespace kaio::ops
