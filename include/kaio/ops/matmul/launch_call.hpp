#pragma once
// From a call to the launch of one kernel, with any epilogue, and from a kernel's configuration to its row in a
// table of variants.

#include <kaio/ops/matmul/call.hpp>
#include <kaio/ops/matmul/epilogue.hpp>
#include <kaio/ops/matmul/mma_sync.hpp>
#include <kaio/ops/matmul/simt.hpp>
#include <kaio/ops/matmul/sm90_launch.hpp>
#include <kaio/ops/matmul/variant.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

constexpr line_direction direction_of(major m) {
  return m == major::k ? line_direction::along_k : line_direction::across_k;
}

template <class T>
device_pointer<T> memory_of(const matmul_operand& x) {
  return {x.address, x.bytes / sizeof(T), x.device};
}
template <class T>
matrix_lines<T> lines_for(const matmul_operand& x, std::uint64_t across, std::uint64_t k,
                          std::uint64_t batches) {
  const bool along = x.lines == line_direction::along_k;
  return {memory_of<T>(x), along ? k : across, along ? across : k, x.pitch, batches, x.batch_pitch};
}
// C as a kernel takes it: by its type, or with any_output as its address and the type of the call.
template <class Out>
auto output_of_call(const matmul_call& call) {
  if constexpr (std::is_same_v<Out, any_output>)
    return output_memory{call.c.address, static_cast<u32>(call.output)};
  else
    return memory_of<Out>(call.c);
}
static_assert(static_cast<u32>(output_type::f32) == static_cast<u32>(matmul_type::f32) &&
              static_cast<u32>(output_type::f16) == static_cast<u32>(matmul_type::f16) &&
              static_cast<u32>(output_type::bf16) == static_cast<u32>(matmul_type::bf16));
template <class Out>
matrix_lines<Out> output_for(const matmul_call& call) {
  return {output_of_call<Out>(call), call.n, call.m, call.c.pitch, call.batches, call.c.batch_pitch};
}
// Whether four neighbours of C from a multiple of four on lie at a multiple of their size.
inline bool stores_by_four(const matmul_call& call) {
  return call.c.aligned(bytes_of(call.output), 4 * bytes_of(call.output));
}
inline output_lines output_lines_of(const matmul_call& call) {
  return {static_cast<i64>(call.c.pitch), static_cast<i64>(call.c.batch_pitch), static_cast<u32>(call.m),
          static_cast<u32>(call.n), stores_by_four(call) ? 1u : 0u};
}
// The element type of C of a variant's row; f32 where the launch gives it, until a row is made for each.
template <class Out>
constexpr matmul_type output_type_of() {
  if constexpr (std::is_same_v<Out, any_output>)
    return matmul_type::f32;
  else
    return detail::matmul_type_of<Out>();
}

// sm_90a, persistent. `group`: rows of tiles that are walked together, so that what they share stays in L2.
inline constexpr std::uint32_t sm90_group = 8;

template <sm90_config C, class T, class Out, class Epilogue, class... Extra>
void launch_call_sm90(const stream& s, const matmul_call& call, const Extra&... extra) {
  launch_sm90<C, T, Out, Epilogue>(s, lines_for<T>(call.a, call.m, call.k, call.batches),
                                   lines_for<T>(call.b, call.n, call.k, call.batches), output_for<Out>(call),
                                   call.k, s.max_active_clusters(sm90_matmul<C, T, Out, Epilogue>.image()),
                                   sm90_group, extra...);
}
template <sm90_config C, class T, class Out, class Epilogue>
matmul_variant describe_sm90() {
  return {.image = &sm90_matmul<C, T, Out, Epilogue>.image(),
          .family = matmul_family::sm90,
          .operand = detail::matmul_type_of<T>(),
          .output = output_type_of<Out>(),
          .a = direction_of(C.a),
          .b = direction_of(C.b),
          .general = !std::is_same_v<Epilogue, scaled>,
          .m = C.m,
          .n = C.n,
          .k = sm90_config::row_bytes / sizeof(T) * C.depth,
          .stages = C.stages,
          .cluster_m = C.cluster_m,
          .cluster_n = C.cluster_n,
          .a_alignment = 16,
          .b_alignment = 16,
          .c_alignment = works_in_registers<Epilogue> ? 16u : 1u};
}

// sm_90a, the blocks of a cluster share a tile. At most 65535 batches.
inline constexpr std::uint64_t most_grid_z = 65535;

template <sm90_split_config C, class T, class Out, class Epilogue, class... Extra>
void launch_call_split(const stream& s, const matmul_call& call, const Extra&... extra) {
  const auto a = lines_for<T>(call.a, call.m, call.k, call.batches);
  const auto b = lines_for<T>(call.b, call.n, call.k, call.batches);
  const auto c = output_for<Out>(call);
  if constexpr (C.transposed)
    launch_sm90_split<C, T, Out, Epilogue>(s, b, a, c, call.k, call.constant_b, extra...);
  else
    launch_sm90_split<C, T, Out, Epilogue>(s, a, b, c, call.k, call.constant_a, extra...);
}
template <sm90_split_config C, class T, class Out, class Epilogue>
matmul_variant describe_split() {
  return {.image = &sm90_split_matmul<C, T, Out, Epilogue>.image(),
          .family = matmul_family::sm90_split,
          .operand = detail::matmul_type_of<T>(),
          .output = output_type_of<Out>(),
          .a = direction_of(C.transposed ? C.b : C.a),
          .b = direction_of(C.transposed ? C.a : C.b),
          .across = C.transposed,
          .m = C.m,
          .n = C.n,
          .k = sm90_config::row_bytes / sizeof(T) * C.depth,
          .stages = C.stages,
          .splits = C.splits,
          .resident = C.min_blocks,
          .a_alignment = 16,
          .b_alignment = 16};
}

// Matrix instructions of a warp.
template <mma_sync_config C, class Product, class Out, class Epilogue, class... Extra>
void launch_call_mma_sync(const stream& s, const matmul_call& call, const Extra&... extra) {
  mma_sync_problem problem = mma_sync_problem_of<C>(static_cast<u32>(call.m), static_cast<u32>(call.n),
                                                    static_cast<u32>(call.k), static_cast<u32>(call.batches));
  problem.lda = static_cast<i64>(call.a.pitch);
  problem.ldb = static_cast<i64>(call.b.pitch);
  problem.batch_a = static_cast<i64>(call.a.batch_pitch);
  problem.batch_b = static_cast<i64>(call.b.batch_pitch);
  problem.c = output_lines_of(call);
  auto c = output_of_call<Out>(call);
  mma_sync_matmul<C, Product, Out, Epilogue>.launch(
      s, grid(problem.walk.tiles), memory_of<typename Product::a_element>(call.a),
      memory_of<typename Product::b_element>(call.b), c, problem, extra...);
}
template <mma_sync_config C, class Product, class Out, class Epilogue>
matmul_variant describe_mma_sync() {
  return {.image = &mma_sync_matmul<C, Product, Out, Epilogue>.image(),
          .family = matmul_family::mma_sync,
          .operand = detail::matmul_type_of<typename Product::a_element>(),
          .output = output_type_of<Out>(),
          .a = direction_of(C.a),
          .b = direction_of(C.b),
          .m = C.m,
          .n = C.n,
          .k = C.k,
          .stages = C.stages,
          .resident = C.min_blocks,
          .a_alignment = C.copy_a == copy_form::elements ? 1u : 16u,
          .b_alignment = C.copy_b == copy_form::elements ? 1u : 16u,
          .whole_vectors = C.copy_a == copy_form::vectors,
          .slow_copies = C.copy_a == copy_form::elements};
}

// Multiply-adds of f32.
template <simt_config C, class Out, class Epilogue, class... Extra>
void launch_call_simt(const stream& s, const matmul_call& call, const Extra&... extra) {
  simt_problem problem =
      simt_problem_of<C>(static_cast<u32>(call.m), static_cast<u32>(call.n), static_cast<u32>(call.k));
  problem.lda = static_cast<i64>(call.a.pitch);
  problem.ldb = static_cast<i64>(call.b.pitch);
  problem.ldc = static_cast<i64>(call.c.pitch);
  problem.batch_a = static_cast<i64>(call.a.batch_pitch);
  problem.batch_b = static_cast<i64>(call.b.batch_pitch);
  problem.batch_c = static_cast<i64>(call.c.batch_pitch);
  problem.vector_stores = stores_by_four(call) ? 1 : 0;
  auto c = output_of_call<Out>(call);
  simt_matmul<C, Out, Epilogue>.launch(s, grid(u64{problem.tiles_m} * problem.tiles_n * call.batches),
                                       memory_of<f32>(call.a), memory_of<f32>(call.b), c, problem, extra...);
}
template <simt_config C, class Out, class Epilogue>
matmul_variant describe_simt() {
  return {.image = &simt_matmul<C, Out, Epilogue>.image(),
          .family = matmul_family::simt,
          .output = output_type_of<Out>(),
          .a = direction_of(C.a),
          .b = direction_of(C.b),
          .general = !std::is_same_v<Epilogue, scaled>,
          .m = C.m,
          .n = C.n,
          .k = C.k,
          .stages = C.stages,
          .resident = C.min_blocks,
          .a_alignment = 4 * C.vector_a,
          .b_alignment = 4 * C.vector_b,
          .slow_copies = C.vector_a == 1};
}

// A configuration with the lines of its operands along K or across it.
template <auto C>
constexpr auto with_lines(major a, major b) {
  auto result = C;
  result.a = a;
  result.b = b;
  return result;
}

}  // namespace kaio::ops
