#pragma once
// The host side of the kernels for sm_90a: tensor maps of the operands, the scheduler of the tiles, the launch.

#include <kaio/ops/matmul/call/matrix_lines.hpp>
#include <kaio/ops/matmul/sm90/kernel.hpp>
#include <kaio/ops/matmul/sm90/split.hpp>
#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/tensor_map.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace kaio::ops {

namespace detail {
constexpr u32 ceil_divide(std::uint64_t x, std::uint64_t by) { return static_cast<u32>(ceil_div(x, by)); }

// The format that tensor copies convert an operand's elements to.
template <class T>
inline constexpr f32_format format_of_operand = std::is_same_v<T, f32> ? f32_format::tf32 : f32_format::f32;

// A kernel's arguments for an operand of `extent` rows or columns: the map of its boxes, or its memory for
// word loads.
template <bool LoadsWords, class T>
auto inputs_of(const stream& s, const matrix_lines<T>& x, const std::uint32_t (&box)[3], std::uint64_t extent,
               std::uint64_t k) {
  if constexpr (LoadsWords)
    return std::tuple(x.memory, word_lines::of(x, extent, k));
  else
    return std::tuple(x.map(s, box, sm90_config::row_bytes, format_of_operand<T>));
}

template <class Out>
output_lines lines_of(const matrix_lines<Out>& c) {
  return {static_cast<i64>(c.pitch), static_cast<i64>(c.batch_pitch), static_cast<u32>(c.lines),
          static_cast<u32>(c.length), c.stores_by_four() ? 1u : 0u};
}

// An argument of the epilogue's own. For a matrix the kernel takes the map of C's boxes.
template <class Store, class T>
const T& epilogue_argument(const stream&, const T& x) {
  return x;
}
template <class Store, class T>
auto epilogue_argument(const stream& s, const matrix_lines<T>& x) {
  return x.map(s, Store::box, Store::row_bytes);
}
}  // namespace detail

// Calls launch(grid, problem, inputs of A, of B...) for C = A * B with the three matrices as tensor copies
// see them. A has lines along K or M, B along K or N, as the configuration says; C has lines along N. A
// transposed configuration takes B of the product as `a`, and A as `b`. `cluster`: that of the configuration,
// or the launch's choice. `clusters`: the clusters that are resident on the device. `group`: see tile_scheduler.
// Narrows: tiles may have any columns (tile_spacing.hpp).
template <sm90_config C, scalar T, bool Narrows, class Out, class Launch>
void prepare_sm90_clusters(const stream& s, const matrix_lines<T>& a, const matrix_lines<T>& b,
                           const matrix_lines<Out>& c, std::uint64_t k, sm90_cluster cluster,
                           std::uint64_t clusters, std::uint32_t group, const Launch& launch) {
  using element = sm90_element<C, T>;
  using mainloop = typename detail::sm90_whole_mainloop<C, element>::type;
  const std::uint64_t along_m = C.transposed ? c.length : c.lines,
                      along_n = C.transposed ? c.lines : c.length;
  const std::uint32_t k_blocks = detail::ceil_divide(k, mainloop::k);
  const sm90_boxes boxes =
      mainloop::template boxes_for<Narrows>({along_m, along_n, c.batches, k_blocks, clusters * cluster.n},
                                            cluster.m, cluster.columns == 0 ? C.n : cluster.columns);
  const auto scheduler = tile_scheduler::over(detail::ceil_divide(along_m, boxes.m * cluster.m),
                                              detail::ceil_divide(along_n, boxes.n * cluster.n),
                                              static_cast<u32>(c.batches), group);
  const auto problem =
      sm90_problem::of(scheduler, detail::lines_of(c), k_blocks, clusters, C.halves() && cluster.n == 1,
                       sm90_tile::of<T>(boxes, C.a, C.b), c.memory.address);
  const std::uint64_t running = std::min<std::uint64_t>(problem.parts, clusters);
  const auto all = (C.by_launch() ? grid(running * cluster.m, cluster.n) : grid(running * cluster.blocks()))
                       .programmatic();
  // A cluster of one block is passed as none: explicit ones cost 7 % of 8192 x 6144 x 4096 on an H200.
  const auto shape = C.by_launch() && cluster.blocks() != 1 ? all.cluster(cluster.m, cluster.n) : all;
  std::apply(
      [&](const auto&... inputs) { launch(shape, problem, inputs...); },
      std::tuple_cat(detail::inputs_of<C.loads_a>(s, a.template as<element>(), boxes.a.sizes, along_m, k),
                     detail::inputs_of<C.loads_b>(s, b.template as<element>(), boxes.b.sizes, along_n, k)));
}

// C = epilogue(A * B). If the epilogue reads memory, C needs no tensor map.
template <sm90_config C, scalar T, class Out, class Epilogue, class... Extra>
void launch_sm90_clusters(const stream& s, const matrix_lines<T>& a, const matrix_lines<T>& b,
                          const matrix_lines<Out>& c, std::uint64_t k, sm90_cluster cluster,
                          std::uint64_t clusters, std::uint32_t group, const Extra&... extra) {
  using store = typename sm90_matmul_body<C, sm90_element<C, T>, Out, Epilogue>::store;
  auto to = [&] {
    if constexpr (works_in_registers<Epilogue>)
      return c.map(s, store::box, store::row_bytes);
    else
      return c.memory;
  }();
  prepare_sm90_clusters<C, T, !promotes<Epilogue>>(
      s, a, b, c, k, cluster, clusters, group,
      [&](const auto& shape, const sm90_problem& problem, const auto&... inputs) {
        sm90_matmul<C, T, Out, Epilogue>.launch(s, shape, inputs..., to, problem,
                                                detail::epilogue_argument<store>(s, extra)...);
      });
}

template <sm90_config C, scalar T, class Out, class Epilogue, class... Extra>
void launch_sm90(const stream& s, const matrix_lines<T>& a, const matrix_lines<T>& b,
                 const matrix_lines<Out>& c, std::uint64_t k, std::uint64_t clusters, std::uint32_t group,
                 const Extra&... extra) {
  static_assert(!C.by_launch(), "kaio: launch_sm90_clusters is told how many blocks a cluster has");
  launch_sm90_clusters<C, T, Out, Epilogue>(s, a, b, c, k, {C.cluster_m, C.cluster_n}, clusters, group,
                                            extra...);
}

// The blocks of a cluster: those that divide K among them, and those that share tiles of A and B.
struct sm90_parts {
  std::uint32_t splits;
  sm90_cluster sharing;
  constexpr sm90_parts(std::uint32_t of_k, sm90_cluster of_tiles = {}) : splits(of_k), sharing(of_tiles) {}
  constexpr std::uint32_t blocks() const { return splits * sharing.blocks(); }
};

// C = epilogue(A * B) by clusters whose blocks share a tile. A transposed configuration takes B of the
// product as `a`, and A as `b`. `a_is_constant`: no work of the stream that may still run writes `a`; the
// kernel then begins to load it while the previous one ends. `parts`: the splits of the configuration, or 1, 2,
// 4 or 8 if it leaves them to the launch; blocks share tiles only if the configuration says so.
template <sm90_split_config C, scalar T, class Out, class Epilogue, class... Extra>
void launch_sm90_splits(const stream& s, const matrix_lines<T>& a, const matrix_lines<T>& b,
                        const matrix_lines<Out>& c, std::uint64_t k, bool a_is_constant, sm90_parts parts,
                        const Extra&... extra) {
  using element = sm90_element<C, T>;
  using mainloop = typename detail::sm90_split_mainloop<C, element>::type;
  const std::uint64_t along_m = C.transposed ? c.length : c.lines,
                      along_n = C.transposed ? c.lines : c.length;
  const std::uint32_t k_blocks = detail::ceil_divide(k, mainloop::k);
  const std::uint32_t splits = parts.splits;
  const sm90_cluster sharing = C.shares ? parts.sharing : sm90_cluster{};
  const std::uint64_t clusters =
      std::uint64_t{s.properties().multiprocessors} * C.min_blocks / parts.blocks();
  const sm90_boxes boxes = mainloop::template boxes_for<!promotes<Epilogue>>(
      {along_m, along_n, c.batches, k_blocks / splits, std::max<std::uint64_t>(clusters, 1) * sharing.n},
      sharing.m);
  sm90_split_problem problem{detail::lines_of(c),
                             k_blocks,
                             divisor::of(detail::ceil_divide(along_m, boxes.m * sharing.m)),
                             a_is_constant ? 1u : 0u,
                             static_cast<u32>(std::countr_zero(splits)),
                             sm90_tile::of<T>(boxes, C.a, C.b)};
  const std::uint64_t tiles =
      std::uint64_t{problem.tiles_m.value} * detail::ceil_divide(along_n, boxes.n * sharing.n);
  auto to = c.memory;
  const auto shape = [&] {
    if (C.shares) {
      const auto blocks = grid(tiles * sharing.m, sharing.n, c.batches * splits).programmatic();
      return parts.blocks() != 1 ? blocks.cluster(sharing.m, sharing.n, splits) : blocks;
    }
    const auto blocks = grid(tiles * splits, 1, c.batches).programmatic();
    return C.by_launch() ? blocks.cluster(splits) : blocks;
  }();
  constexpr auto& kernel = sm90_split_matmul<C, T, Out, Epilogue>;
  if constexpr (C.any_lines()) {
    const encoded_any_lines<element> of_a(s, a.template as<element>(), mainloop::a_operand::box,
                                          mainloop::raw_box_a, mainloop::raw_swizzle_a);
    const encoded_any_lines<element> of_b(s, b.template as<element>(), mainloop::b_operand::box,
                                          mainloop::raw_box_b, mainloop::raw_swizzle_b);
    problem.a_shifts = of_a.shifts;
    problem.b_shifts = of_b.shifts;
    problem.a_is_raw = of_a.is_raw;
    problem.b_is_raw = of_b.is_raw;
    problem.a_lines_of_batch = of_a.lines_of_batch;
    problem.b_lines_of_batch = of_b.lines_of_batch;
    problem.k = static_cast<u32>(k);
    std::apply([&](const auto&... map) { kernel.launch(s, shape, map..., to, problem, extra...); },
               std::tuple_cat(of_a.maps, of_b.maps));
  } else {
    std::apply(
        [&](const auto&... x) {
          sm90_split_matmul<C, T, Out, Epilogue>.launch(s, shape, x..., to, problem, extra...);
        },
        std::tuple_cat(detail::inputs_of<C.loads_a>(s, a.template as<element>(), boxes.a.sizes, along_m, k),
                       detail::inputs_of<C.loads_b>(s, b.template as<element>(), boxes.b.sizes, along_n, k)));
  }
}

template <sm90_split_config C, scalar T, class Out, class Epilogue, class... Extra>
void launch_sm90_split(const stream& s, const matrix_lines<T>& a, const matrix_lines<T>& b,
                       const matrix_lines<Out>& c, std::uint64_t k, bool a_is_constant,
                       const Extra&... extra) {
  static_assert(
      !C.by_launch(),
      "kaio: launch_sm90_splits has the splits of the configuration; this one takes them at launch");
  launch_sm90_splits<C, T, Out, Epilogue>(s, a, b, c, k, a_is_constant, C.splits, extra...);
}

}  // namespace kaio::ops
