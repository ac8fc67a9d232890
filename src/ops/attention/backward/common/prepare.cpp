// The kernels that all variants of attention_backward share, and their launches.

#include <kaio/ops/attention/backward/common/prepare.hpp>
#include <kaio/ops/attention/backward/simt/bias.hpp>

#include <vector>

#include "ops/attention/backward/choice/table.hpp"

namespace kaio::ops {

namespace {
// The depth does not matter here: this kernel sums no columns of a gradient.
constexpr attention_backward_simt_config of_bias = attention_backward_simt_for(64);
}  // namespace

namespace detail {

bool has_full_bias_gradient(const attention_backward_call& call) {
  const attention_bias_gradient& bias = call.gradients.dbias;
  const attention_problem& p = call.forward.problem;
  return bias.address != 0 && bias.batches == p.batches && bias.heads == p.heads &&
         bias.queries == p.queries && bias.keys == p.keys;
}

void prepare_attention_backward(const stream& s, const attention_backward_call& call) {
  const attention_problem problem =
      problem_of(call.forward, attention_prepare_config::queries, s.properties().multiprocessors);
  if (const std::uint64_t blocks = call.forward.blocks(attention_prepare_config::queries); blocks != 0) {
    if (s.properties().target.sm >= 90)
      attention_backward_prepare<90>.launch(s, grid(blocks).programmatic(), problem, call.gradients);
    else
      attention_backward_prepare<70>.launch(s, grid(blocks), problem, call.gradients);
  }
  if (call.gradients.dsinks != 0 && problem.heads != 0)
    attention_backward_sinks.launch(s, grid(problem.heads), problem, call.gradients);
  const attention_bias_gradient& bias = call.gradients.dbias;
  if (bias.address == 0 || bias.direct != 0) return;
  const auto tiles = [](std::uint64_t of) { return (of + of_bias.tile - 1) / of_bias.tile; };
  const std::uint64_t blocks = tiles(bias.keys) * tiles(bias.queries) * bias.heads * bias.batches;
  attention_score_tensor added = call.forward.bias;
  added.is_f32 = static_cast<u32>(element_type_of(call.bias_type));
  if (blocks != 0)
    attention_backward_bias<of_bias>.launch(s, grid(blocks), problem, call.gradients, call.forward.terms,
                                            added, call.forward.keep, call.forward.band);
}

}  // namespace detail

std::vector<const ptx::kernel_image*> attention_backward_common_kernels() {
  return {&attention_backward_prepare<70>.image(), &attention_backward_prepare<90>.image(),
          &attention_backward_sinks.image(), &attention_backward_bias<of_bias>.image()};
}

void list_attention_backward_common_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const ptx::kernel_image* const image : attention_backward_common_kernels()) list.push_back(image);
}

}  // namespace kaio::ops
