#pragma once
// The kernels for sm_90a: a configuration's row in a table of variants, and the launch of a call.

#include <kaio/ops/matmul/call/kernel_arguments.hpp>
#include <kaio/ops/matmul/choice/variant.hpp>
#include <kaio/ops/matmul/sm90/launch.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// For persistent kernels: rows of tiles that are walked together, so that the operands they share stay in L2.
inline constexpr std::uint32_t sm90_group = 8;

template <sm90_config C, class T, class Out, class Epilogue, class... Extra>
void launch_call_clusters(const stream& s, const matmul_call& call, sm90_cluster cluster,
                          const Extra&... extra) {
  const auto a = lines_for<T>(call.a, call.m, call.k, call.batches);
  const auto b = lines_for<T>(call.b, call.n, call.k, call.batches);
  const ptx::dim3 given = C.by_launch() ? ptx::dim3{cluster.m, cluster.n, 1} : ptx::dim3{0, 0, 0};
  launch_sm90_clusters<C, T, Out, Epilogue>(
      s, C.transposed ? b : a, C.transposed ? a : b, output_for<Out>(call), call.k, cluster,
      s.max_active_clusters(sm90_matmul<C, T, Out, Epilogue>.image(), given), sm90_group, extra...);
}
template <sm90_config C, class T, class Out, class Epilogue, class... Extra>
void launch_call_sm90(const stream& s, const matmul_call& call, const Extra&... extra) {
  static_assert(!C.by_launch(), "kaio: launch_call_clusters is told how many blocks a cluster has");
  launch_call_clusters<C, T, Out, Epilogue>(s, call, {C.cluster_m, C.cluster_n}, extra...);
}
// The tensor that tile_terms adds last; C itself, which the kernel does not read, if there is none.
template <class T>
matrix_lines<T> addend_for(const matmul_call& call) {
  const matmul_term& addend = tile_terms::addend_of(call.terms);
  matrix_lines<T> lines = output_for<T>(call);
  if (addend.type != 0) {
    lines.pitch = static_cast<std::uint64_t>(addend.row);
    lines.batch_pitch = static_cast<std::uint64_t>(addend.batch);
    const std::uint64_t elements =
        (lines.batches - 1) * lines.batch_pitch + (lines.lines - 1) * lines.pitch + lines.length;
    lines.memory = device_pointer<T>(addend.address, elements, call.c.device, true);
  }
  return lines;
}
template <class T>
inline constexpr term_type term_type_of = std::is_same_v<T, f16> ? term_type::f16 : term_type::bf16;
// Launches a call with the terms that it adds to a tile of C; tile_terms must serve them.
template <sm90_config C, class T>
void launch_call_terms(const stream& s, const matmul_call& call, sm90_cluster cluster) {
  using element = sm90_element<C, T>;
  launch_call_clusters<C, T, element, with_terms<element>>(s, call, cluster, addend_for<element>(call),
                                                           tile_terms::of(call.terms, term_type_of<T>));
}
// f32 is multiplied as tf32.
template <class T>
inline constexpr auto sm90_precision =
    std::is_same_v<T, f32> ? matmul_precision::tf32 : matmul_precision::ieee;
// The element type of C and the epilogue of a kernel. With tile_terms, C has the type of the operands.
template <sm90_config C, class Out, class Epilogue>
struct sm90_result {
  using type = Out;
  using epilogue = Epilogue;
};
template <sm90_config C, class Out>
struct sm90_result<C, Out, with_terms<Out>> {
  using type = sm90_element<C, Out>;
  using epilogue = with_terms<type>;
};
template <sm90_config C, class T, class Out, class Epilogue>
matmul_variant describe_sm90(sm90_cluster cluster = {C.cluster_m, C.cluster_n}) {
  using result = sm90_result<C, Out, Epilogue>;
  return {.image = &sm90_matmul<C, T, typename result::type, typename result::epilogue>.image(),
          .family = matmul_family::sm90,
          .operand = element_kind_of<T>(),
          .output = output_type_of<Out>(),
          .precision = sm90_precision<T>,
          .a = direction_of(C.transposed ? C.b : C.a),
          .b = direction_of(C.transposed ? C.a : C.b),
          .general = !std::is_same_v<Epilogue, scaled> && !adds_tile_terms<Epilogue>,
          .adds_tile_terms = adds_tile_terms<Epilogue>,
          .across = C.transposed,
          .m = C.m,
          .n = cluster.columns == 0 ? C.n : cluster.columns,
          .k = sm90_config::row_bytes / sizeof(T) * C.depth,
          .stages = C.stages,
          .cluster_m = cluster.m,
          .cluster_n = cluster.n,
          .cluster_by_launch = C.by_launch(),
          .resident = C.min_blocks,
          .a_alignment = C.loads_a ? sizeof(T) : 16u,
          .b_alignment = C.loads_b ? sizeof(T) : 16u,
          .c_alignment = works_in_registers<Epilogue> ? 16u : 1u,
          .halves = C.halves() && cluster.n == 1,
          .is_narrow = cluster.columns != 0};
}

// Kernels whose blocks of a cluster share a tile have batches along z: at most 65535.
inline constexpr std::uint64_t most_grid_z = 65535;

template <sm90_split_config C, class T, class Out, class Epilogue, class... Extra>
void launch_call_splits(const stream& s, const matmul_call& call, sm90_parts parts, const Extra&... extra) {
  const auto a = lines_for<T>(call.a, call.m, call.k, call.batches);
  const auto b = lines_for<T>(call.b, call.n, call.k, call.batches);
  const auto c = output_for<Out>(call);
  if constexpr (C.transposed)
    launch_sm90_splits<C, T, Out, Epilogue>(s, b, a, c, call.k, call.constant_b, parts, extra...);
  else
    launch_sm90_splits<C, T, Out, Epilogue>(s, a, b, c, call.k, call.constant_a, parts, extra...);
}
template <sm90_split_config C, class T, class Out, class Epilogue, class... Extra>
void launch_call_split(const stream& s, const matmul_call& call, const Extra&... extra) {
  static_assert(
      !C.by_launch(),
      "kaio: launch_call_splits has the splits of the configuration; this one takes them at launch");
  launch_call_splits<C, T, Out, Epilogue>(s, call, C.splits, extra...);
}
// The alignment of lines of the configuration's A and B, in bytes.
template <sm90_split_config C, class T>
constexpr std::uint32_t alignment_of(bool loads_words) {
  return C.any_lines() ? sizeof(T) : !loads_words ? 16u : sizeof(T) == 1 ? 8u : sizeof(u32);
}
template <sm90_split_config C, class T, class Out, class Epilogue>
matmul_variant describe_split(sm90_parts parts = C.splits) {
  return {.image = &sm90_split_matmul<C, T, Out, Epilogue>.image(),
          .family = matmul_family::sm90_split,
          .operand = element_kind_of<T>(),
          .output = output_type_of<Out>(),
          .precision = sm90_precision<T>,
          .a = direction_of(C.transposed ? C.b : C.a),
          .b = direction_of(C.transposed ? C.a : C.b),
          .across = C.transposed,
          .m = C.m,
          .n = C.n,
          .k = sm90_config::row_bytes / sizeof(T) * C.depth,
          .stages = C.stages,
          .cluster_m = parts.sharing.m,
          .cluster_n = parts.sharing.n,
          .cluster_splits = parts.splits,
          .cluster_by_launch = C.by_launch(),
          .resident = C.min_blocks,
          .a_alignment = alignment_of<C, T>(C.transposed ? C.loads_b : C.loads_a),
          .b_alignment = alignment_of<C, T>(C.transposed ? C.loads_a : C.loads_b)};
}

}  // namespace kaio::ops
