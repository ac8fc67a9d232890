#pragma once
// attention_decode with matrix instructions of a warp: the row of a configuration in the table of variants,
// and the launch that runs a call.

#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/ops/attention/decode/mma_sync/kernel.hpp>
#include <kaio/ops/attention/forward/choice/function_arguments.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The grid of a call.
inline grid decode_grid(const attention_decode_config& config, const attention_decode_call& call,
                        std::uint64_t blocks) {
  grid shape(blocks);
  if (config.has_clusters()) shape = shape.programmatic();
  if (call.split.in_cluster != 0) shape = shape.cluster(call.split.splits.value);
  return shape;
}

template <attention_decode_config C, class T, class Score = general_score, class Mask = band_mask,
          class... Extra>
void launch_attention_decode_mma(const stream& s, const attention_decode_call& call, std::uint64_t blocks,
                                 const Extra&... extra) {
  with_function_arguments<Score, Mask>(
      call,
      [&](const auto&... arguments) {
        attention_decode_mma<C, T, Score, Mask>.launch(s, decode_grid(C, call, blocks), call.problem,
                                                       call.cache, call.split, arguments...);
      },
      extra...);
}

template <attention_decode_config C, class T, class Score = general_score, class Mask = band_mask>
attention_decode_variant describe_attention_decode_mma() {
  return {.image = &attention_decode_mma<C, T, Score, Mask>.image(),
          .type = element_kind_of<stored_element<T>>(),
          .copies_rows = true,
          .depth = C.depth,
          .rows = C.rows,
          .most_rows = C.rows == 16 ? 16u : 0u,
          .keys = C.keys,
          .has_clusters = C.has_clusters(),
          .resident = decode_min_blocks<Score, Mask>(C.min_blocks),
          .plain = std::is_same_v<Score, plain_score>};
}

// The row of one type in the table; the kernel serves f16 and bf16.
template <attention_decode_config C, scalar T>
attention_decode_variant describe_attention_decode_16() {
  attention_decode_variant row = describe_attention_decode_mma<C, any_half>();
  row.run = launch_attention_decode_mma<C, any_half>;
  row.own_name = attention_decode_kernel<C, T, general_score, band_mask, parameters_of_score<general_score>,
                                         parameters_of_mask<band_mask>>::name.view();
  row.type = element_kind_of<T>();
  return row;
}

}  // namespace kaio::ops
