#pragma once
// The kernels of multiply-adds: the row of a configuration in the table of variants, and the launch that runs
// a call.

#include <kaio/ops/attention/choice/function_arguments.hpp>
#include <kaio/ops/attention/choice/variant.hpp>
#include <kaio/ops/attention/simt/kernel.hpp>

#include <type_traits>

namespace kaio::ops {

template <attention_simt_config C, scalar T, class Score, class Mask, class... Extra>
void launch_attention_simt(const stream& s, const attention_call& call, const Extra&... extra) {
  auto o = memory_of<T>(call.o);
  with_function_arguments<Score, Mask>(
      call,
      [&](const auto&... arguments) {
        attention_simt<C, T, Score, Mask>.launch(
            s, grid(call.blocks(C.tile)), memory_of<T>(call.q), memory_of<T>(call.k), memory_of<T>(call.v), o,
            problem_of(call, C.tile, s.properties().multiprocessors), arguments...);
      },
      extra...);
}

template <attention_simt_config C, scalar T, class Score, class Mask>
attention_variant describe_attention_simt() {
  return {.image = &attention_simt<C, T, Score, Mask>.image(),
          .family = attention_family::simt,
          .type = detail::attention_type_of<T>(),
          .depth_qk = C.depth,
          .depth_v = C.depth,
          .queries = C.tile,
          .keys = C.tile,
          .qk_step = 4,
          .v_step = C.chunk,
          .resident = 2,  // of 256 threads, for which 128 registers are left then
          .plain = std::is_same_v<Score, plain_score>,
          .in_blocks = is_block_sparse<Mask>,
          .is_biased = std::is_same_v<Score, biased_score>};
}

}  // namespace kaio::ops
