#pragma once
// The kernels with multiply-adds of f32: the row of a configuration in a table of variants, and the launch
// that runs a call.

#include <kaio/ops/matmul/call/kernel_arguments.hpp>
#include <kaio/ops/matmul/choice/variant.hpp>
#include <kaio/ops/matmul/simt/kernel.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

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
  simt_matmul<C, Out, Epilogue>.launch(
      s, grid(u64{problem.tiles_m} * problem.tiles_n * call.batches * C.cluster_splits),
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
          .cluster_splits = C.cluster_splits,
          .resident = C.min_blocks,
          .a_alignment = 4 * C.vector_a,
          .b_alignment = 4 * C.vector_b,
          .slow_copies = C.vector_a == 1};
}

}  // namespace kaio::ops
