#pragma once
// The backward kernels with matrix instructions of a warp: the row of a configuration in the table of
// variants, and the launches that run a call.

#include <kaio/ops/attention/backward/choice/variant.hpp>
#include <kaio/ops/attention/backward/mma_sync/kernel.hpp>
#include <kaio/ops/attention/forward/choice/function_arguments.hpp>

#include <algorithm>
#include <type_traits>

namespace kaio::ops {

namespace detail {
// The sizes of a call's flags, which follow the numbers of each query in its workspace.
struct backward_flag_sizes {
  std::uint64_t keys, queries;  // bytes
  constexpr std::uint64_t bytes() const { return keys + queries; }
};
template <attention_backward_mma_config OfKeys, attention_backward_mma_config OfQueries>
backward_flag_sizes flag_sizes(const attention_backward_call& call) {
  const auto bytes = [](std::uint64_t flags) { return (flags * sizeof(u32) + 15) / 16 * 16; };
  const attention_problem& p = call.forward.problem;
  const std::uint32_t key_parts = std::max(OfKeys.parts(p.qk_size), OfKeys.parts(p.v_size));
  return {bytes(call.key_blocks(rows_of_flag) * key_parts),
          bytes(call.forward.blocks(rows_of_flag) * OfQueries.parts(p.qk_size))};
}
}  // namespace detail

// Returns the call with the flags that these kernels leave. Launch the multiply-add kernels with it next.
template <attention_backward_mma_config OfKeys, attention_backward_mma_config OfQueries, class T, class Score,
          class Mask, class... Extra>
attention_backward_call launch_attention_backward_mma(const stream& s, const attention_backward_call& given,
                                                      const Extra&... extra) {
  using kernels = attention_backward_mma<OfKeys, OfQueries, T, Score, Mask>;
  static_assert(OfKeys.own == rows_of_flag && OfQueries.own == rows_of_flag);
  attention_backward_call call = given;
  const attention_problem problem = problem_of(call.forward, rows_of_flag, s.properties().multiprocessors);
  const std::uint32_t key_parts = std::max(OfKeys.parts(problem.qk_size), OfKeys.parts(problem.v_size));
  const std::uint32_t query_parts = OfQueries.parts(problem.qk_size);
  const detail::backward_flag_sizes sizes = detail::flag_sizes<OfKeys, OfQueries>(call);
  call.gradients.key_flags = call.own_workspace;
  call.gradients.query_flags = call.own_workspace + sizes.keys;
  call.gradients.flag_key_tiles = static_cast<u32>(call.key_tiles(rows_of_flag));
  call.gradients.flag_query_tiles = problem.query_tiles;
  call.gradients.batches = problem.batches;
  call.gradients.flag_key_parts = key_parts;
  call.gradients.flag_query_parts = query_parts;
  const attention_gradients gradients = gradients_of(call, rows_of_flag, s.properties().multiprocessors);
  with_function_arguments<Score, Mask>(
      call.forward,
      [&](const auto&... arguments) {
        if (const std::uint64_t blocks = call.key_blocks(rows_of_flag); blocks != 0 && call.wants_keys())
          kernels::keys.launch(s, grid(blocks, key_parts), problem, gradients, arguments...);
        if (const std::uint64_t blocks = call.forward.blocks(rows_of_flag);
            blocks != 0 && call.wants_queries())
          kernels::queries.launch(s, grid(blocks, query_parts), problem, gradients, arguments...);
      },
      extra...);
  return call;
}

template <attention_backward_mma_config OfKeys, attention_backward_mma_config OfQueries, class T, class Score,
          class Mask>
attention_backward_variant describe_attention_backward_mma() {
  using kernels = attention_backward_mma<OfKeys, OfQueries, T, Score, Mask>;
  return {.images = {&kernels::keys.image(), &kernels::queries.image()},
          .type = element_kind_of<stored_element<T>>(),
          .depth_qk = OfKeys.depth_qk,
          .depth_v = OfKeys.depth_v,
          .plain = std::is_same_v<Score, plain_score>,
          .is_biased = std::is_same_v<Score, biased_score>,
          .writes_dbias = true,
          .workspace_bytes = [](const attention_backward_call& call) {
            return detail::flag_sizes<OfKeys, OfQueries>(call).bytes();
          }};
}

}  // namespace kaio::ops
