#pragma once
// The tables of the kernels of cross_entropy and of its gradient.

#include <kaio/ops/cross_entropy/common/problem.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include "ops/rows/plan.hpp"

namespace kaio::ops {

struct cross_entropy_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, std::uint32_t blocks, const cross_entropy_forward_problem&) = nullptr;
};

// The kernel for logits of f32, f16 or bf16, whose rows are whole pieces of 16 bytes (vectors) or not.
const cross_entropy_variant& cross_entropy_variant_for(element_kind kind, bool vectors);
const row_variants<cross_entropy_backward_problem>& cross_entropy_backward_variants();
// From logits of f32, whose rows are whole pieces, to a gradient of f16 or bf16. Its plan is not `is_newer`.
const row_variant<cross_entropy_backward_problem>& cross_entropy_backward_to(element_kind kind);
const ptx::kernel_image& cross_entropy_totals_image();
void run_cross_entropy_totals(const stream& s, std::uint32_t blocks,
                              const cross_entropy_totals_problem& problem);

}  // namespace kaio::ops
