#pragma once
// The attention of a transformer block in f16: several heads of queries share a head of keys and values, and a
// token attends to itself and to those before it. The showcase calls the library, and compiles the kernels
// for this score and this mask here; both may be classes of your own.
//
// On sm_90a every multiprocessor runs one block until all tiles of queries are done. The tiles with the most
// keys begin first, and every second round of the blocks goes backwards: all blocks end at about the same
// time. If there are many heads, pairs of a long and a short tile come before these rounds, a few heads at a
// time. `visit_order` computes this order with the kernel's own tile scheduler, and the showcase draws it.
// Inside a tile the softmax of one warpgroup runs while the tensor cores multiply for the other:
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

// A tile of queries that a block works on: its head, its first query, and the number of key tiles that it
// visits.
struct tile_visit {
  u32 head, first_query, steps;
};

// Each block, one thread, writes the tiles of one block of the attention in order. A block has `rounds`
// places of its own; places without a tile are left as they are.
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
