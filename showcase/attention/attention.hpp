#pragma once
// The attention of a transformer block in f16: several heads of queries share a head of keys and values, and a
// token attends to itself and to those before it. A call of the library, whose kernels for this score and this
// mask are compiled here; the score and the mask may be classes of your own.
//
// On sm_90a every multiprocessor runs one block until all tiles of queries are done. The tiles with the most
// keys begin first, and every second round of the blocks goes backwards, so that all of them end at about the
// same time; of many heads, pairs of a long tile and a short one come before that, a few heads at a time.
// `visit_order` asks the kernel's own part for this order: the showcase draws it. Inside of a tile the
// softmax of one warpgroup runs while the tensor cores multiply for the other:
//
//   warpgroup 0   S1, PV0 | softmax 1      | S2, PV1 | softmax 2 ...
//   warpgroup 1             S1, PV0 | softmax 1      | S2, PV1 | ...

#include <kaio/kaio.hpp>
#include <kaio/ops/attention_with.hpp>

namespace kaio::showcase {

inline constexpr u32 head_size = 128;
inline constexpr ops::attention_sm90_config tile_shape = ops::attention_sm90_for(head_size, head_size);

// q, o: (1, length, heads, 128); k, v: (1, length, heads of keys, 128).
inline void causal_attention(const stream& s, const tensor_view<const f16, 4>& q,
                             const tensor_view<const f16, 4>& k, const tensor_view<const f16, 4>& v,
                             const tensor_view<f16, 4>& o) {
  attention_with<head_size>(s, q, k, v, o, ops::plain_score{}, ops::band_mask{},
                            {.causal = causal_alignment::bottom_right});
}

// A tile of queries that a block works on: of which head, its first query, and how many tiles of keys it
// visits.
struct tile_visit {
  u32 head, first_query, steps;
};

// One thread for each block of the attention: writes which tiles the block works on, one after the other, into
// its own `rounds` places, of which those that it does not need are left.
inline constexpr auto visit_order =
    kernel<"visit_order", 1>([](thread t, out<tile_visit> order, val<u32> rounds,
                                val<ops::attention_problem> problem, val<ops::attention_band> band) {
      const auto walks = ops::walks_of<ops::band_mask>(t, band);
      ops::query_walk tiles(t, problem, tile_shape.queries(), walks);
      var place(t, cast<u64>(block_idx_x()) * cast<u64>(rounds));
      for (auto each : t.loop()) {
        each.break_if(!tiles.has_tile());
        const ops::attention_block block = tiles.block();
        const auto keys = walks.walk<tile_shape.keys>(t, block, tile_shape.queries());
        order[place][&tile_visit::head] = block.head;
        order[place][&tile_visit::first_query] = block.first_query;
        order[place][&tile_visit::steps] = keys.last - keys.first;
        place += 1u;
        tiles.advance();
      }
    });

}  // namespace kaio::showcase
