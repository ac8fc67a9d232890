// Products of 8-bit floats of either format, converted to f16, from sm_80 on. One kernel reads lines along K
// in vectors of eight; another reads lines along or across K at any address. If there are no group scales,
// they are 1.

#include <kaio/ops/matmul/mma_sync/cuts.hpp>
#include <kaio/ops/matmul/mma_sync/table_row.hpp>
#include <kaio/ops/matmul_8bit/fp8/source.hpp>

#include "ops/matmul_8bit/fp8/call.hpp"

namespace kaio::ops {

namespace {

using product = instruction_product<mma_m16n8k16<f32, f16>>;
using epilogue_of_any = fp8_grouped<fp8_general, true>;

template <mma_sync_config C, class Function>
constexpr auto& kernel_of_any =
    mma_sync_matmul<C, product, fp8_output, epilogue_of_any, made_by<Function>, made_by<Function>>;

// Reads lines along K in vectors of eight.
constexpr mma_sync_config cut_of_eights{.m = 128,
                                        .n = 128,
                                        .k = 32,
                                        .warp_m = 32,
                                        .warp_n = 64,
                                        .stages = 2,
                                        .a = major::k,
                                        .b = major::k,
                                        .copy_a = copy_form::vectors,
                                        .copy_b = copy_form::vectors};
constexpr mma_sync_config cut_of_elements = mma_cuts::unaligned(major::k, major::k, 64);

fp8_matrix matrix_of(const matmul_operand& x, element_kind type) {
  const bool along = x.lines == line_direction::along_k;
  const auto pitch = static_cast<i64>(x.pitch);
  return {along ? pitch : 1, along ? 1 : pitch, static_cast<i64>(x.batch_pitch),
          type == element_kind::e5m2 ? 1u : 0u};
}

template <mma_sync_config C, class Function>
void launch(const stream& s, const fp8_call& call) {
  mma_sync_problem problem = mma_sync_problem_of<C>(static_cast<u32>(call.m), static_cast<u32>(call.n),
                                                    static_cast<u32>(call.k), static_cast<u32>(call.batches));
  problem.c = output_lines_of(call);
  auto c = output_of_call<fp8_output>(call);
  kernel_of_any<C, Function>.launch(s, grid(std::uint64_t{problem.scheduler.tiles}), memory_of<u8>(call.a),
                                    matrix_of(call.a, call.operand), memory_of<u8>(call.b),
                                    matrix_of(call.b, call.operand_b), c, problem, call.epilogue);
}

// The table row of a kernel. slow_copies: its conversions take as long as copies of single elements.
template <mma_sync_config C, class Function>
matmul_variant describe(element_kind operand) {
  return {.image = &kernel_of_any<C, Function>.image(),
          .family = matmul_family::mma_sync,
          .operand = operand,
          .m = C.m,
          .n = C.n,
          .k = C.k,
          .stages = C.stages,
          .slow_copies = true};
}
template <mma_sync_config C, class Function>
void append(variant_list& list, const matmul_variant& row) {
  add_fp8_rows(list, row, [](const stream& s, const fp8_call& call, const matmul_variant&) {
    launch<C, Function>(s, call);
  });
}

}  // namespace

void add_fp8_any(variant_list& list) {
  for (const element_kind operand : {element_kind::e4m3, element_kind::e5m2}) {
    matmul_variant eights = describe<cut_of_eights, fp8_eights_as_f16>(operand);
    eights.a_alignment = eights.b_alignment = 8;
    eights.whole_vectors = true;
    append<cut_of_eights, fp8_eights_as_f16>(list, eights);
    matmul_variant elements = describe<cut_of_elements, fp8_as_f16>(operand);
    for (const line_direction a : {line_direction::along_k, line_direction::across_k})
      for (const line_direction b : {line_direction::along_k, line_direction::across_k}) {
        elements.a = a;
        elements.b = b;
        append<cut_of_elements, fp8_as_f16>(list, elements);
      }
  }
}

}  // namespace kaio::ops
