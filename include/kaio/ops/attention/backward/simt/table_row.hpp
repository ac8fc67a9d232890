#pragma once
// The backward kernels of multiply-adds: the row of a configuration in the table of variants, and the
// launches that run a call.

#include <kaio/ops/attention/backward/choice/variant.hpp>
#include <kaio/ops/attention/backward/simt/kernel.hpp>
#include <kaio/ops/attention/forward/choice/function_arguments.hpp>

#include <algorithm>
#include <type_traits>

namespace kaio::ops {

template <attention_backward_simt_config C, class Score, class Mask, class... Extra>
void launch_attention_backward_simt(const stream& s, const attention_backward_call& call,
                                    const Extra&... extra) {
  using kernels = attention_backward_simt<C, Score, Mask>;
  const std::uint32_t multiprocessors = s.properties().multiprocessors;
  const attention_problem problem = problem_of(call.forward, C.tile, multiprocessors);
  const attention_gradients gradients = gradients_of(call, C.tile, multiprocessors);
  // If there are flags, each block looks through many tiles.
  const auto blocks_of = [&](std::uint64_t tiles, u64 flags) {
    return flags == 0 ? tiles : std::min<std::uint64_t>(tiles, 2 * multiprocessors);
  };
  attention_call forward = call.forward;
  forward.bias.is_f32 = static_cast<u32>(detail::element_type_of(call.bias_type));
  with_function_arguments<Score, Mask>(
      forward,
      [&](const auto&... arguments) {
        const auto parts_of = [](std::uint32_t columns) { return C.parts(columns); };
        const std::uint32_t key_parts = std::max(gradients.dk.address != 0 ? parts_of(problem.qk_size) : 0,
                                                 gradients.dv.address != 0 ? parts_of(problem.v_size) : 0);
        if (const std::uint64_t blocks = blocks_of(call.key_blocks(C.tile), gradients.key_flags);
            blocks != 0 && key_parts != 0)
          kernels::keys.launch(s, grid(blocks, key_parts), problem, gradients, arguments...);
        if (const std::uint64_t blocks = blocks_of(call.forward.blocks(C.tile), gradients.query_flags);
            blocks != 0 && call.wants_queries())
          kernels::queries.launch(s, grid(blocks, parts_of(problem.qk_size)), problem, gradients,
                                  arguments...);
      },
      extra...);
}

template <attention_backward_simt_config C, class Score, class Mask>
attention_backward_variant describe_attention_backward_simt() {
  using kernels = attention_backward_simt<C, Score, Mask>;
  return {.images = {&kernels::keys.image(), &kernels::queries.image()},
          .any_type = true,
          .depth_qk = C.depth,
          .depth_v = C.depth,
          .plain = std::is_same_v<Score, plain_score>,
          .is_biased = std::is_same_v<Score, biased_score>,
          .writes_dbias = true};
}

}  // namespace kaio::ops
