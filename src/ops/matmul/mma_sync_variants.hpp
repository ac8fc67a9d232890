#pragma once
// From a cut of the kernels with matrix instructions of a warp to its rows in the table, and the function that
// launches it. The element type of C is told by the launch, so that one kernel has three rows.

#include <kaio/ops/matmul/general.hpp>
#include <kaio/ops/matmul/mma_sync.hpp>
#include <kaio/ops/matmul/mma_sync_cuts.hpp>
#include <kaio/runtime/buffer.hpp>

#include <cstdint>
#include <type_traits>

#include "ops/matmul/variant.hpp"

namespace kaio::ops {

template <mma_sync_config C, class Product>
inline constexpr auto& mma_sync_general = mma_sync_matmul<C, Product, any_output, general>;

template <mma_sync_config C, class Product>
void run_mma_sync(const stream& s, const matmul_call& call, const matmul_variant&) {
  using TA = typename Product::a_element;
  using TB = typename Product::b_element;
  const auto m = static_cast<u32>(call.m), n = static_cast<u32>(call.n),
             batches = static_cast<u32>(call.batches);
  mma_sync_problem problem = mma_sync_problem_of<C>(m, n, static_cast<u32>(call.k), batches);
  problem.lda = static_cast<i64>(call.a.pitch);
  problem.ldb = static_cast<i64>(call.b.pitch);
  problem.batch_a = static_cast<i64>(call.a.batch_pitch);
  problem.batch_b = static_cast<i64>(call.b.batch_pitch);
  const bool by_four = call.c.aligned(bytes_of(call.output), 4 * bytes_of(call.output));
  problem.c = {static_cast<i64>(call.c.pitch), static_cast<i64>(call.c.batch_pitch), m, n, by_four ? 1u : 0u};
  const device_pointer<TA> a{call.a.address, call.a.bytes / sizeof(TA), call.a.device};
  const device_pointer<TB> b{call.b.address, call.b.bytes / sizeof(TB), call.b.device};
  const output_memory c{call.c.address, static_cast<u32>(call.output)};
  mma_sync_general<C, Product>.launch(s, grid(problem.walk.tiles), a, b, c, problem, call.terms);
}
static_assert(static_cast<u32>(output_type::f32) == static_cast<u32>(matmul_type::f32) &&
              static_cast<u32>(output_type::f16) == static_cast<u32>(matmul_type::f16) &&
              static_cast<u32>(output_type::bf16) == static_cast<u32>(matmul_type::bf16));

constexpr line_direction lines_of(major m) {
  return m == major::k ? line_direction::along_k : line_direction::across_k;
}

template <mma_sync_config C, class Product>
void add_mma_sync_cut(variant_list& list, matmul_precision precision = matmul_precision::ieee) {
  const std::uint32_t a_alignment = C.copy_a == copy_form::elements ? 1 : 16;
  const std::uint32_t b_alignment = C.copy_b == copy_form::elements ? 1 : 16;
  for (const matmul_type output : {matmul_type::f32, matmul_type::f16, matmul_type::bf16})
    list.push_back({.image = &mma_sync_general<C, Product>.image(),
                    .run = run_mma_sync<C, Product>,
                    .family = matmul_family::mma_sync,
                    .operand = detail::matmul_type_of<typename Product::a_element>(),
                    .output = output,
                    .precision = precision,
                    .a = lines_of(C.a),
                    .b = lines_of(C.b),
                    .m = C.m,
                    .n = C.n,
                    .k = C.k,
                    .stages = C.stages,
                    .resident = C.min_blocks,
                    .a_alignment = a_alignment,
                    .b_alignment = b_alignment,
                    .whole_vectors = C.copy_a == copy_form::vectors,
                    .slow_copies = C.copy_a == copy_form::elements});
}

// A cut, a function of the directions of both operands' lines, in all four of them.
template <auto Cut, class Product>
void add_mma_sync_layouts(variant_list& list, matmul_precision precision = matmul_precision::ieee) {
  add_mma_sync_cut<Cut(major::k, major::k), Product>(list, precision);
  add_mma_sync_cut<Cut(major::k, major::mn), Product>(list, precision);
  add_mma_sync_cut<Cut(major::mn, major::k), Product>(list, precision);
  add_mma_sync_cut<Cut(major::mn, major::mn), Product>(list, precision);
}

template <std::uint32_t K>
constexpr mma_sync_config unaligned_cut(major a, major b) {
  return mma_cuts::unaligned(a, b, K);
}

// The kernels of each file.
void add_mma_sync_f16(variant_list& list);
void add_mma_sync_bf16(variant_list& list);
void add_mma_sync_tf32(variant_list& list);
void add_mma_sync_tf32x3(variant_list& list);
void add_mma_sync_e4m3(variant_list& list);
void add_mma_sync_e5m2(variant_list& list);
void add_mma_sync_sm70(variant_list& list);
void add_mma_sync_sm75(variant_list& list);

}  // namespace kaio::ops
