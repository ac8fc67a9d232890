#pragma once
// attention_decode over caches of 8 bits with matrix instructions: the row of a configuration in the table of
// variants, and the launch that runs a call.

#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/ops/attention/decode/mma_sync/table_row.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/kernel.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/sm90_kernel.hpp>
#include <kaio/ops/attention/forward/choice/function_arguments.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_decode_config C, std::uint16_t Sm, class Score = general_score, class Mask = band_mask,
          class... Extra>
void launch_attention_decode_quantised(const stream& s, const attention_decode_call& call,
                                       std::uint64_t blocks, const Extra&... extra) {
  with_function_arguments<Score, Mask>(
      call,
      [&](const auto&... arguments) {
        attention_decode_quantised<C, Sm, Score, Mask>.launch(
            s, decode_grid(C, call, blocks), call.problem, call.cache, call.split, arguments..., call.codes);
      },
      extra...);
}

template <attention_decode_config C, std::uint16_t Sm, class Score = general_score, class Mask = band_mask>
attention_decode_variant describe_attention_decode_quantised() {
  return {.image = &attention_decode_quantised<C, Sm, Score, Mask>.image(),
          .takes_codes = true,
          .copies_rows = true,
          .depth = C.depth,
          .rows = C.rows,
          .keys = C.keys,
          .has_clusters = C.has_clusters(),
          .resident = decode_min_blocks<Score, Mask>(C.min_blocks),
          .plain = std::is_same_v<Score, plain_score>};
}

template <attention_decode_config C>
void launch_attention_decode_sm90_codes(const stream& s, const attention_decode_call& call,
                                        std::uint64_t blocks) {
  attention_decode_sm90_codes<C>.launch(s, decode_grid(C, call, blocks), call.problem, call.cache, call.split,
                                        call.terms, call.band, call.codes);
}

template <attention_decode_config C>
attention_decode_variant describe_attention_decode_sm90_codes() {
  return {.image = &attention_decode_sm90_codes<C>.image(),
          .run = launch_attention_decode_sm90_codes<C>,
          .takes_codes = true,
          .copies_rows = true,
          .is_narrow = true,
          .depth = C.depth,
          .rows = C.rows,
          .keys = C.keys,
          .has_clusters = true,
          .resident = C.min_blocks};
}

}  // namespace kaio::ops
