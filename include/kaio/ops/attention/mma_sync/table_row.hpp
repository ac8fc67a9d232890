#pragma once
// The kernels with matrix instructions of a warp: the row of a configuration in the table of variants, and
// the launch that runs a call.

#include <kaio/ops/attention/choice/function_arguments.hpp>
#include <kaio/ops/attention/choice/variant.hpp>
#include <kaio/ops/attention/mma_sync/kernel.hpp>

#include <type_traits>

namespace kaio::ops {

template <attention_mma_config C, scalar T, class Score, class Mask, class... Extra>
void launch_attention_mma(const stream& s, const attention_call& call, const Extra&... extra) {
  auto o = memory_of<T>(call.o);
  with_function_arguments<Score, Mask>(
      call,
      [&](const auto&... arguments) {
        attention_mma<C, T, Score, Mask>.launch(s, grid(call.blocks(C.queries())), memory_of<T>(call.q),
                                                memory_of<T>(call.k), memory_of<T>(call.v), o,
                                                problem_of(call, C.queries(), s.properties().multiprocessors),
                                                arguments...);
      },
      extra...);
}

template <attention_mma_config C, scalar T, class Score, class Mask>
attention_variant describe_attention_mma() {
  return {.image = &attention_mma<C, T, Score, Mask>.image(),
          .family = attention_family::mma_sync,
          .type = detail::attention_type_of<T>(),
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

}  // namespace kaio::ops
