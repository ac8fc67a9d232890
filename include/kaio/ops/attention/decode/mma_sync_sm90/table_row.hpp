#pragma once
// attention_decode of few rows for sm_90: the row of a configuration in the table of variants, and the launch
// that runs a call.

#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/ops/attention/decode/mma_sync/table_row.hpp>
#include <kaio/ops/attention/decode/mma_sync_sm90/kernel.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_decode_config C>
void launch_attention_decode_sm90(const stream& s, const attention_decode_call& call, std::uint64_t blocks) {
  attention_decode_sm90<C, any_half>.launch(s, decode_grid(C, call, blocks), call.problem, call.cache,
                                            call.split, call.terms, call.band);
}

// T: the element type of the row in the table; the kernel serves f16 and bf16.
template <attention_decode_config C, scalar T>
attention_decode_variant describe_attention_decode_sm90() {
  return {.image = &attention_decode_sm90<C, any_half>.image(),
          .run = launch_attention_decode_sm90<C>,
          .own_name = attention_decode_sm90_kernel<C, T>::name.view(),
          .type = element_kind_of<T>(),
          .copies_rows = true,
          .is_narrow = true,
          .depth = C.depth,
          .rows = C.rows,
          .most_rows = C.rows,
          .keys = C.keys,
          .has_clusters = true,
          .resident = C.min_blocks};
}

}  // namespace kaio::ops
