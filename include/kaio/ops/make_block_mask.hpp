#pragma once
// The block mask of a mask class, made on the device: for each block of queries of a head the blocks of keys
// that the mask keeps some places of (partial), and those that it keeps as a whole (full).
//
//   block_mask_output blocks{.kv_num_blocks = tensor_view<i32, 3>(counts, 1, 1, 16), ...};
//   make_block_mask(s, same_document{}, blocks, {.queries = 2048, .keys = 2048}, documents);
//   attention_with<128>(s, q, k, v, out, ops::general_score{}, ops::block_sparse<same_document>{},
//                       {.blocks = blocks}, documents);
//
// The mask is evaluated at every place until a kept and a dropped one of a pair of blocks were seen, as far as
// its function `keys`, where it has one, leaves that open. A block that the end of the queries or keys cuts is
// full where the mask keeps all of its places that exist. Lists are in order; the same call gives the same
// lists every time, and numbers past a count are not written. Nothing is allocated, read back or waited for,
// so that a call may be captured into a graph. The kernel is compiled where it is used.

#include <kaio/ops/attention/block_mask/kernel.hpp>
#include <kaio/ops/attention/common/block_sparse.hpp>
#include <kaio/runtime/stream.hpp>

#include <type_traits>

namespace kaio::ops {

// The arguments after the options are those of the mask, as a launch takes them; ops::band_mask gets its own
// out of the options. Throws, before anything runs, invalid_argument by the name of the argument: views that
// are no (B', H', blocks) of the mask, without room for all blocks, which share memory, one of a pair
// without the other, none at all; causal or a window with a mask that is not band_mask. And what a launch
// throws.
template <attention_mask Mask, class... Extra>
void make_block_mask(const stream& s, Mask, const block_mask_output& output,
                     const block_mask_options& options, const Extra&... extra) {
  static_assert(!is_block_sparse<Mask>,
                "kaio: make_block_mask takes the mask itself, not block_sparse of it");
  constexpr bool band = std::is_same_v<Mask, band_mask>;
  const block_mask_call call = detail::resolve_block_mask(s.device_identity(), output, options, !band);
  for (const block_mask_call::side& side : call.sides) {
    if (side.lists == 0) continue;
    if constexpr (band)
      block_mask_lists<Mask>.launch(s, grid(side.lists), side.problem, call.band, extra...);
    else
      block_mask_lists<Mask>.launch(s, grid(side.lists), side.problem, extra...);
  }
}

}  // namespace kaio::ops

namespace kaio {
using ops::block_mask_output;
using ops::make_block_mask;
}  // namespace kaio
