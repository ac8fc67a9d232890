#pragma once
// The kernels with multiply-adds of f32: a configuration's row in a table of variants, and the launch of a
// call.

#include <kaio/ops/matmul/call/kernel_arguments.hpp>
#include <kaio/ops/matmul/choice/variant.hpp>
#include <kaio/ops/matmul/simt/kernel.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The grid of a problem, with the launch attributes that the configuration needs.
template <simt_config C>
grid simt_grid(const simt_problem& problem, u64 batches, std::uint32_t splits) {
  const grid blocks(u64{problem.scheduler.tiles} * batches * splits);
  if constexpr (C.clusters)
    return splits == 1 ? blocks.programmatic() : blocks.cluster(splits).programmatic();
  else
    return blocks;
}

// `splits`: blocks of a cluster, if the configuration has clusters.
template <simt_config C, class Out, class Epilogue, class... Extra>
void launch_call_simt_splits(const stream& s, const matmul_call& call, std::uint32_t splits,
                             const Extra&... extra) {
  simt_problem problem = simt_problem_of<C>(static_cast<u32>(call.m), static_cast<u32>(call.n),
                                            static_cast<u32>(call.k), splits);
  problem.lda = static_cast<i64>(call.a.pitch);
  problem.ldb = static_cast<i64>(call.b.pitch);
  problem.ldc = static_cast<i64>(call.c.pitch);
  problem.batch_a = static_cast<i64>(call.a.batch_pitch);
  problem.batch_b = static_cast<i64>(call.b.batch_pitch);
  problem.batch_c = static_cast<i64>(call.c.batch_pitch);
  problem.vector_stores = stores_by_four(call) ? 1 : 0;
  auto c = output_of_call<Out>(call);
  simt_matmul<C, Out, Epilogue>.launch(s, simt_grid<C>(problem, call.batches, splits), memory_of<f32>(call.a),
                                       memory_of<f32>(call.b), c, problem, extra...);
}
template <simt_config C, class Out, class Epilogue, class... Extra>
void launch_call_simt(const stream& s, const matmul_call& call, const Extra&... extra) {
  static_assert(
      !C.clusters,
      "kaio: launch_call_simt_splits has the splits of the configuration; this one takes them at launch");
  launch_call_simt_splits<C, Out, Epilogue>(s, call, 1, extra...);
}
template <simt_config C, class Out, class Epilogue>
matmul_variant describe_simt(std::uint32_t splits = 1) {
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
          .cluster_splits = splits,
          .cluster_by_launch = C.clusters,
          .resident = C.min_blocks,
          .a_alignment = 4 * C.vector_a,
          .b_alignment = 4 * C.vector_b,
          .slow_copies = C.vector_a == 1};
}

}  // namespace kaio::ops
