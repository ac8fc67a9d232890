#pragma once
// The table row of a configuration of the kernels with multiply-adds of f32, and its launch.

#include <kaio/ops/matmul/common/general.hpp>
#include <kaio/ops/matmul/simt/skinny.hpp>
#include <kaio/ops/matmul/simt/table_row.hpp>
#include <kaio/ops/matmul/simt/tensor.hpp>

#include <cstdint>

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

// The numbers of splits that a configuration is launched with.
template <simt_config C, class Add>
void for_each_split(const Add& add) {
  add(1u);
  if constexpr (C.clusters)
    for (std::uint32_t splits = 2; splits <= most_simt_splits; splits *= 2) add(splits);
}

// For all epilogue arguments, and a C of any type.
template <simt_config C>
void add_simt_general(variant_list& list) {
  for_each_split<C>([&](std::uint32_t splits) {
    matmul_variant row = describe_simt<C, any_output, general>(splits);
    row.run = [](const stream& s, const matmul_call& call, const matmul_variant& v) {
      launch_call_simt_splits<C, any_output, general>(s, call, v.cluster_splits, call.terms);
    };
    add_for_each_output(list, row);
  });
}

template <simt_config C>
void add_simt_general_layouts(variant_list& list) {
  add_simt_general<with_lines<C>(major::k, major::k)>(list);
  add_simt_general<with_lines<C>(major::k, major::mn)>(list);
  add_simt_general<with_lines<C>(major::mn, major::k)>(list);
  add_simt_general<with_lines<C>(major::mn, major::mn)>(list);
}

// Launches a kernel fed by tensor copies, sm_90 and later: lines begin at multiples of 16 bytes and do not
// overlap.
template <simt_config C>
void run_simt_tensor(const stream& s, const matmul_call& call, const matmul_variant& v) {
  using body = simt_tensor_body<C, f32, scaled>;
  simt_problem problem = simt_problem_of<C>(static_cast<u32>(call.m), static_cast<u32>(call.n),
                                            static_cast<u32>(call.k), v.cluster_splits);
  problem.ldc = static_cast<i64>(call.c.pitch);
  problem.batch_c = static_cast<i64>(call.c.batch_pitch);
  problem.vector_stores = call.c.aligned(sizeof(f32), 4 * sizeof(f32)) ? 1 : 0;
  device_pointer<f32> c = memory_of<f32>(call.c);
  simt_tensor_matmul<C, f32, scaled>.launch(s, simt_grid<C>(problem, call.batches, v.cluster_splits),
                                            lines_for<f32>(call.a, call.m, call.k, call.batches)
                                                .map(s, body::operand_a::box, body::operand_a::swizzle_bytes),
                                            lines_for<f32>(call.b, call.n, call.k, call.batches)
                                                .map(s, body::operand_b::box, body::operand_b::swizzle_bytes),
                                            c, problem, call.terms.alpha);
}

template <simt_config C>
void add_simt_tensor(variant_list& list) {
  for_each_split<C>([&](std::uint32_t splits) {
    list.push_back({.image = &simt_tensor_matmul<C, f32, scaled>.image(),
                    .run = run_simt_tensor<C>,
                    .family = matmul_family::simt,
                    .a = direction_of(C.a),
                    .b = direction_of(C.b),
                    .general = false,
                    .m = C.m,
                    .n = C.n,
                    .k = C.k,
                    .stages = C.stages,
                    .cluster_splits = splits,
                    .cluster_by_launch = C.clusters,
                    .resident = C.min_blocks,
                    .a_alignment = 16,
                    .b_alignment = 16});
  });
}

// Launches a kernel for few rows. If C.vector is 1, A may have any strides.
template <skinny_config C, class Out>
void run_skinny(const stream& s, const matmul_call& call, const matmul_variant&) {
  const bool a_along = call.a.lines == line_direction::along_k;
  skinny_problem problem{};
  problem.a_row = a_along ? static_cast<i64>(call.a.pitch) : 1;
  problem.a_k = a_along ? 1 : static_cast<i64>(call.a.pitch);
  problem.b_line = static_cast<i64>(call.b.pitch);
  problem.c_row = static_cast<i64>(call.c.pitch);
  problem.c_column = 1;
  problem.batch_a = static_cast<i64>(call.a.batch_pitch);
  problem.batch_b = static_cast<i64>(call.b.batch_pitch);
  problem.batch_c = static_cast<i64>(call.c.batch_pitch);
  problem.m = static_cast<u32>(call.m);
  problem.n = static_cast<u32>(call.n);
  problem.k = static_cast<u32>(call.k);
  problem.column_blocks = skinny_column_blocks<C>(problem.n);
  problem.splits = 1;
  problem.k_of_split = (problem.k + 7) / 8 * 8;
  auto c = memory_of<Out>(call.c);
  skinny_matmul<C, Out, general>.launch(s, grid(u64{problem.column_blocks} * call.batches),
                                        memory_of<f32>(call.a), memory_of<f32>(call.b), c, problem,
                                        call.terms);
}

template <skinny_config C, class Out>
matmul_variant skinny_variant(line_direction a) {
  return {.image = &skinny_matmul<C, Out, general>.image(),
          .run = run_skinny<C, Out>,
          .family = matmul_family::simt,
          .output = element_kind_of<Out>(),
          .a = a,
          .b = direction_of(C.b),
          .m = C.rows,
          .n = C.block_columns(),
          .k = 32,
          .a_alignment = C.vector == 4 ? 16u : 4u,
          .b_alignment = C.vector == 4 && C.b == major::k ? 16u : 4u,
          .most_rows = C.rows};
}

}  // namespace kaio::ops
