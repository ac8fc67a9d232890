#pragma once
// attention_decode with multiply-adds: its row in the table of variants, and the launch that runs a call.

#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/ops/attention/decode/simt/kernel.hpp>
#include <kaio/ops/attention/forward/choice/function_arguments.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <std::uint32_t Depth, class Score = general_score, class Mask = band_mask, class... Extra>
void launch_attention_decode_simt(const stream& s, const attention_decode_call& call, std::uint64_t blocks,
                                  const Extra&... extra) {
  with_function_arguments<Score, Mask>(
      call,
      [&](const auto&... arguments) {
        attention_decode_by_simt<Depth, Score, Mask>.launch(s, grid(blocks), call.problem, call.cache,
                                                            call.split, arguments..., call.codes);
      },
      extra...);
}

template <std::uint32_t Depth, class Score = general_score, class Mask = band_mask>
attention_decode_variant describe_attention_decode_simt() {
  using config = attention_decode_simt_body<Depth>;
  return {.image = &attention_decode_by_simt<Depth, Score, Mask>.image(),
          .any_type = true,
          .depth = config::depth,
          .rows = config::rows,
          .keys = config::keys,
          .resident = decode_min_blocks<Score, Mask>(2),
          .plain = std::is_same_v<Score, plain_score>};
}

}  // namespace kaio::ops
