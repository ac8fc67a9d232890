#pragma once
// The kernels with matrix instructions of a warp: a configuration's row in a table of variants, and the
// launch of a call.

#include <kaio/ops/matmul/call/kernel_arguments.hpp>
#include <kaio/ops/matmul/choice/variant.hpp>
#include <kaio/ops/matmul/mma_sync/kernel.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// `cluster_splits`: those of the configuration, or those of the launch if the configuration leaves them to
// it.
template <mma_sync_config C, class Product, class Out, class Epilogue, class... Extra>
void launch_call_mma_sync_splits(const stream& s, const matmul_call& call, std::uint32_t cluster_splits,
                                 const Extra&... extra) {
  mma_sync_problem problem =
      mma_sync_problem_of<C>(static_cast<u32>(call.m), static_cast<u32>(call.n), static_cast<u32>(call.k),
                             static_cast<u32>(call.batches), 1, cluster_splits);
  problem.lda = static_cast<i64>(call.a.pitch);
  problem.ldb = static_cast<i64>(call.b.pitch);
  problem.batch_a = static_cast<i64>(call.a.batch_pitch);
  problem.batch_b = static_cast<i64>(call.b.batch_pitch);
  problem.c = output_lines_of(call);
  auto c = output_of_call<Out>(call);
  const grid blocks(std::uint64_t{problem.scheduler.tiles} * cluster_splits);
  mma_sync_matmul<C, Product, Out, Epilogue>.launch(
      s, C.by_launch() ? blocks.cluster(cluster_splits) : blocks,
      memory_of<typename Product::a_element>(call.a), memory_of<typename Product::b_element>(call.b), c,
      problem, extra...);
}
template <mma_sync_config C, class Product, class Out, class Epilogue, class... Extra>
void launch_call_mma_sync(const stream& s, const matmul_call& call, const Extra&... extra) {
  static_assert(
      !C.by_launch(),
      "kaio: launch_call_mma_sync_splits has the splits of the configuration; this one takes them at launch");
  launch_call_mma_sync_splits<C, Product, Out, Epilogue>(s, call, C.cluster_splits, extra...);
}
// The alignment of an operand's lines, in bytes.
constexpr std::uint32_t alignment_of(copy_form form) {
  switch (form) {
    case copy_form::elements: return 1;
    case copy_form::shifted: return 2;
    case copy_form::async_words: return 4;
    default: return 16;
  }
}
template <mma_sync_config C, class Product, class Out, class Epilogue>
matmul_variant describe_mma_sync(std::uint32_t cluster_splits = C.least_splits()) {
  return {.image = &mma_sync_matmul<C, Product, Out, Epilogue>.image(),
          .family = matmul_family::mma_sync,
          .operand = element_kind_of<typename Product::a_element>(),
          .output = output_type_of<Out>(),
          .a = direction_of(C.a),
          .b = direction_of(C.b),
          .m = C.m,
          .n = C.n,
          .k = C.k,
          .stages = C.stages,
          .cluster_splits = cluster_splits,
          .cluster_by_launch = C.by_launch(),
          .resident = C.min_blocks,
          .a_alignment = alignment_of(C.copy_a),
          .b_alignment = alignment_of(C.copy_b),
          .whole_vectors = C.copy_a == copy_form::vectors,
          .slow_copies = C.copy_a == copy_form::elements || C.copy_a == copy_form::async_words};
}

}  // namespace kaio::ops
