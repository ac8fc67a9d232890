#pragma once
// The kernel that computes flagged blocks again after the kernels for sm_90a. It has the two kernels of
// kernel.hpp in one: block_idx_z is 0 for keys, and 1 for queries. Mostly no flag is set, so a launch costs more
// than the work: there is one, and it begins before the previous kernel has ended.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/choice/variant.hpp>
#include <kaio/ops/attention/backward/common/early.hpp>
#include <kaio/ops/attention/backward/simt/kernel.hpp>
#include <kaio/ops/attention/forward/choice/function_arguments.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

template <attention_backward_simt_config C, class Score, class Mask, class OfScore, class OfMask>
struct attention_backward_flagged_kernel;

template <attention_backward_simt_config C, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_backward_flagged_kernel<C, Score, Mask, attention_parameters<OfScore...>,
                                         attention_parameters<OfMask...>> {
  static constexpr auto name = "attention_backward_simt_flagged_" + decimal<C.tile> + "x" + decimal<C.tile> +
                               "_" + attention_function_name<Score> + "_" + attention_function_name<Mask> +
                               sm90_suffix<90>();
  static constexpr kernel_options options{.target = {90}, .large_shared = true, .min_blocks = 1};
  using functions = backward_functions_of<Score, Mask>;
  using body = attention_backward_simt_body<C>;

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads}, options>(
      [](thread t, val<attention_problem> problem, val<attention_gradients> gradients, OfScore... of_score,
         OfMask... of_mask) {
        await_previous_kernel<90>(t);
        const auto bound = functions::of(t, gradients, of_score..., of_mask...);
        if (auto keys = t.when(block_idx_z() == 0u)) body::of_keys(t, problem, gradients, bound);
        if (auto queries = t.otherwise()) body::of_queries(t, problem, gradients, bound);
      });
};

// The grid has tiles along x, parts of C.depth columns along y, and keys and queries along z. It takes the
// arguments of attention_backward_simt.
template <attention_backward_simt_config C, class Score, class Mask>
inline constexpr auto attention_backward_flagged =
    attention_backward_flagged_kernel<C, Score, Mask, parameters_of_score<Score>,
                                      parameters_of_mask<Mask>>::kernel;

// Launches it for a call that has flags.
template <attention_backward_simt_config C, class Score, class Mask>
void launch_attention_backward_flagged(const stream& s, const attention_backward_call& call) {
  const std::uint32_t multiprocessors = s.properties().multiprocessors;
  const attention_problem problem = problem_of(call.forward, C.tile, multiprocessors);
  const attention_gradients gradients = gradients_of(call, C.tile, multiprocessors);
  const std::uint32_t parts = C.parts(std::max(problem.qk_size, problem.v_size));
  const std::uint64_t tiles = std::max(call.key_blocks(C.tile), call.forward.blocks(C.tile));
  const std::uint64_t blocks = std::min<std::uint64_t>(tiles, std::max(multiprocessors / parts, 1u));
  attention_call forward = call.forward;
  forward.bias.is_f32 = static_cast<u32>(detail::element_type_of(call.bias_type));
  with_function_arguments<Score, Mask>(forward, [&](const auto&... arguments) {
    attention_backward_flagged<C, Score, Mask>.launch(s, grid(blocks, parts, 2).programmatic(), problem,
                                                      gradients, arguments...);
  });
}

}  // namespace kaio::ops
