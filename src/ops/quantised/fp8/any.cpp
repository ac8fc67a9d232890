// Products of 8-bit floats of either format, at any addresses, by rows or by columns, as f16, from sm_80 on: with scales
// of groups and without, which are 1 then.

#include <kaio/ops/matmul/mma_sync/cuts.hpp>
#include <kaio/ops/matmul/mma_sync/table_row.hpp>
#include <kaio/ops/quantised/fp8/source.hpp>

#include "ops/quantised/fp8/call.hpp"

namespace kaio::ops {

namespace {

using product = instruction_product<mma_m16n8k16<f32, f16>>;
using source = made_by<fp8_as_f16>;
using epilogue_of_any = fp8_grouped<fp8_general, true>;
constexpr mma_sync_config cut = mma_cuts::unaligned(major::k, major::k, 64);
constexpr auto& kernel_of_any = mma_sync_matmul<cut, product, fp8_output, epilogue_of_any, source, source>;

fp8_matrix matrix_of(const matmul_operand& x, matmul_type type) {
  const bool along = x.lines == line_direction::along_k;
  const auto pitch = static_cast<i64>(x.pitch);
  return {along ? pitch : 1, along ? 1 : pitch, static_cast<i64>(x.batch_pitch),
          type == matmul_type::e5m2 ? 1u : 0u};
}

void launch(const stream& s, const fp8_call& call) {
  mma_sync_problem problem =
      mma_sync_problem_of<cut>(static_cast<u32>(call.m), static_cast<u32>(call.n), static_cast<u32>(call.k),
                               static_cast<u32>(call.batches));
  problem.c = output_lines_of(call);
  auto c = output_of_call<fp8_output>(call);
  kernel_of_any.launch(s, grid(std::uint64_t{problem.walk.tiles}), memory_of<u8>(call.a),
                       matrix_of(call.a, call.operand), memory_of<u8>(call.b),
                       matrix_of(call.b, call.operand_b), c, problem, call.epilogue);
}

}  // namespace

void add_fp8_any(variant_list& list) {
  for (const matmul_type operand : {matmul_type::e4m3, matmul_type::e5m2})
    for (const line_direction a : {line_direction::along_k, line_direction::across_k})
      for (const line_direction b : {line_direction::along_k, line_direction::across_k})
        add_fp8_rows(list,
                     {.image = &kernel_of_any.image(),
                      .family = matmul_family::mma_sync,
                      .operand = operand,
                      .a = a,
                      .b = b,
                      .m = cut.m,
                      .n = cut.n,
                      .k = cut.k,
                      .stages = cut.stages,
                      .slow_copies = true},
                     [](const stream& s, const fp8_call& call) { launch(s, call); });
}

}  // namespace kaio::ops
