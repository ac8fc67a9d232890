#pragma once
// The kernels by multiply-adds for many queries: their row in the table of variants, and the launch for a
// call.

#include <kaio/ops/attention/forward/choice/function_arguments.hpp>
#include <kaio/ops/attention/forward/choice/variant.hpp>
#include <kaio/ops/attention/forward/simt/wide_kernel.hpp>

#include <type_traits>

namespace kaio::ops {

template <attention_simt_wide_config C, class Score, class Mask, class... Extra>
void launch_attention_simt_wide(const stream& s, const attention_call& call, const Extra&... extra) {
  auto o = memory_of<f32>(call.o);
  const std::uint32_t at_once = s.properties().multiprocessors * C.blocks;
  with_function_arguments<Score, Mask>(
      call,
      [&](const auto&... arguments) {
        attention_simt_wide<C, Score, Mask>.launch(s, grid(call.blocks(C.queries())), memory_of<f32>(call.q),
                                                   memory_of<f32>(call.k), memory_of<f32>(call.v), o,
                                                   problem_of(call, C.queries(), at_once), arguments...);
      },
      extra...);
}

template <attention_simt_wide_config C, class Score, class Mask>
attention_variant describe_attention_simt_wide() {
  return {.image = &attention_simt_wide<C, Score, Mask>.image(),
          .family = attention_family::simt,
          .type = element_kind::f32,
          .depth_qk = C.depth,
          .depth_v = C.depth,
          .queries = C.queries(),
          .keys = C.keys,
          .qk_step = C.chunk,
          .v_step = C.depth,
          .resident = C.blocks,
          .plain = std::is_same_v<Score, plain_score>,
          .in_blocks = is_block_sparse<Mask>,
          .is_biased = std::is_same_v<Score, biased_score>};
}

}  // namespace kaio::ops
