#pragma once
// The mma.sync kernels: their row in the table of variants, and the launch for a call.

#include <kaio/ops/attention/forward/choice/function_arguments.hpp>
#include <kaio/ops/attention/forward/choice/variant.hpp>
#include <kaio/ops/attention/forward/mma_sync/kernel.hpp>

#include <type_traits>

namespace kaio::ops {

template <attention_mma_config C, class T, class Score, class Mask, class... Extra>
void launch_attention_mma(const stream& s, const attention_call& call, const Extra&... extra) {
  using stored = stored_element<T>;
  auto o = memory_of<stored>(call.o);
  with_function_arguments<Score, Mask>(
      call,
      [&](const auto&... arguments) {
        attention_mma<C, T, Score, Mask>.launch(s, grid(call.blocks(C.queries())), memory_of<stored>(call.q),
                                                memory_of<stored>(call.k), memory_of<stored>(call.v), o,
                                                problem_of(call, C.queries(), s.properties().multiprocessors),
                                                arguments...);
      },
      extra...);
}
// Launches the kernel that serves f16 and bf16 within lists of blocks.
template <attention_mma_config C>
void launch_attention_mma_blocks(const stream& s, const attention_call& call) {
  attention_call of_types = call;
  // A bias of q's type needs the number of that type.
  if (call.bias.is_f32 == 0) of_types.bias.is_f32 = call.problem.element;
  launch_attention_mma<C, any_half, biased_score, in_any_blocks<band_mask>>(s, of_types);
}

template <attention_mma_config C, class T, class Score, class Mask>
attention_variant describe_attention_mma() {
  return {.image = &attention_mma<C, T, Score, Mask>.image(),
          .family = attention_family::mma_sync,
          .type = element_kind_of<stored_element<T>>(),
          .precision = std::is_same_v<T, f32> ? attention_precision::tf32 : attention_precision::ieee,
          .depth_qk = C.depth_qk,
          .depth_v = C.depth_v,
          .queries = C.queries(),
          .keys = C.keys,
          .qk_step = C.depth_qk,
          .v_step = C.depth_v,
          .resident = C.min_blocks,
          .plain = std::is_same_v<Score, plain_score>,
          .in_blocks = is_block_sparse<Mask>,
          .writes_f32 = true,
          .is_biased = std::is_same_v<Score, biased_score>};
}
// The row of this kernel for one of its types.
template <attention_mma_config C, scalar T>
attention_variant describe_attention_mma_blocks() {
  using score = general_score;
  using mask = block_sparse<band_mask>;
  attention_variant row = describe_attention_mma<C, any_half, biased_score, in_any_blocks<band_mask>>();
  row.run = launch_attention_mma_blocks<C>;
  row.own_name =
      attention_mma_kernel<C, T, score, mask, parameters_of_score<score>, parameters_of_mask<mask>>::name
          .view();
  row.type = element_kind_of<T>();
  row.in_blocks = true;
  row.is_biased = false;
  row.has_lists = true;
  return row;
}

}  // namespace kaio::ops
