#pragma once
// make_block_mask makes the block mask of a mask class on the device. For each block of queries of a head, it
// lists the blocks of keys that the mask keeps in part (partial) and as a whole (full).
//
//   block_mask_output blocks{.kv_num_blocks = tensor_view<i32, 3>(counts, 1, 1, 16), ...};
//   make_block_mask(s, same_document{}, blocks, {.queries = 2048, .keys = 2048}, documents);
//   attention_with<128>(s, q, k, v, out, ops::general_score{}, ops::block_sparse<same_document>{},
//                       {.blocks = blocks}, documents);
//
// For each pair of blocks, the mask is evaluated at every place until a kept and a dropped one were seen. If
// the mask has a function `keys`, only the places that `keys` leaves open are evaluated. A block that the end
// of the queries or keys cuts is full if the mask keeps all of its places that exist. Lists are in order;
// repeated calls give equal lists, and numbers past a count are not written. Nothing is allocated, read back
// or waited for, so a call may be captured into a graph. The kernel is compiled where it is used.

#include <kaio/ops/attention/block_mask/kernel.hpp>
#include <kaio/ops/attention/common/block_sparse.hpp>
#include <kaio/runtime/stream.hpp>

#include <type_traits>

namespace kaio::ops {

// The arguments after the options are those of the mask, as a launch takes them; ops::band_mask takes its own
// from the options. Throws invalid_argument, which names the argument, before anything runs, for
//
//   - views that are no (B', H', blocks) of the mask, have no room for all blocks, or share memory
//   - one of a pair of views without the other, or no views at all
//   - causal or a window with a mask that is not band_mask
//
// and what a launch throws.
template <attention_mask Mask, class... Extra>
void make_block_mask(const stream& s, Mask, const block_mask_output& output,
                     const block_mask_options& options, const Extra&... extra) {
  const detail::operation_scope traced("make_block_mask");
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
