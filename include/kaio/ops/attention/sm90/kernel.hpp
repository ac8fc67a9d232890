#pragma once
// Attention for sm_90a: persistent, warp-specialised, with tensor copies and wgmma. O = softmax(mask(score(Q
// K^T))) V.
//
// A block has a tile of 64 queries for each consumer warpgroup. One thread of the last warpgroup, the
// producer, copies Q, and tiles of K and V into two rings of their own:
//
//   producer      Q | K0 | K1 V0 | K2 V1 | ...            ahead by as many tiles as a ring has stages
//
// A consumer keeps S (64 x keys) and O (64 x depth) in registers; P is S rounded to T, which is an operand of
// wgmma as it is. While it computes the softmax of one tile, the tensor cores multiply P of the tile before
// with V; and named barriers make the consumers take turns at issuing, so that one's softmax runs next to
// another's products:
//
//   consumer 0    S1, PV0 | softmax 1      | S2, PV1 | softmax 2 ...
//   consumer 1              S1, PV0 | softmax 1      | S2, PV1 | ...
//
//   step j:  S = Q Kj^T  (in flight)          O += P V(j-1)  (in flight)
//            S is there: mask, softmax        O is there: O *= correction, P = S
//
// Tiles of queries are walked over by all blocks in turn, those with the most keys first. O leaves through
// the rows of Q that it was computed of, then the producer may load the next Q.
//
// Sources: Shah et al., "FlashAttention-3: Fast and Accurate Attention with Asynchrony and Low-precision",
// 2024; PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate", "cp.async.bulk.tensor".

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/mma/stmatrix.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/exact_rows.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/common/store_rows.hpp>
#include <kaio/ops/attention/sm90/config.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <attention_sm90_config C, scalar T, class Score, class Mask>
struct attention_sm90_body {
  static_assert(C.valid(), "kaio: this tile shape of an attention is none that the kernel can run");
  using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
  using q_tile = shared_tile<T, C.queries(), C.depth, swizzled<128>>;
  using kv_ring = shared_tiles<T, C.keys, C.depth, swizzled<128>, C.stages>;
  using scores_accumulator = wgmma_accumulator<f32, C.keys>;
  using output_accumulator = wgmma_accumulator<f32, C.depth>;
  using q_map = tensor_map<T, 4>;
  using kv_map = tensor_map<T, 4>;

  // The tiles of keys of a block's queries.
  struct tile_range {
    val<u32> first, last;
    key_range keys;
  };

  // Boxes of 64 elements x `rows`, a panel of the tile each.
  template <class Tile>
  static constexpr void load(const Tile& to, const tensor_map<T, 4>& map, const val<u32>& row,
                             const val<u32>& head, const val<u32>& batch, const mbarrier& arrived) {
    for (std::uint32_t p = 0; p < C.panels(); ++p)
      copy_tensor(to.panel(p), map, coordinates(p * C.panel, row, head, batch), arrived);
  }

  // score(s, origin, scale), factor(scale), mask(s, origin), keys(block, first query, last query): Score and
  // Mask with their parameters.
  template <class ApplyScore, class Factor, class ApplyMask, class Keys>
  static constexpr void run(thread t, const q_map& q, const kv_map& k, const kv_map& v, const out<T>& o,
                            const val<attention_problem>& problem, const ApplyScore& score,
                            const Factor& factor_of, const ApplyMask& mask, const Keys& keys_of_tile) {
    const q_tile q_shared(t);                // queries x depth
    const kv_ring k_shared(t), v_shared(t);  // keys x depth each
    pipeline<1> q_ring(t);
    pipeline<C.stages> k_ring(t), v_ring(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      prefetch(q);
      prefetch(k);
      prefetch(v);
      q_ring.init(1, 4 * C.consumers);  // a warp releases its rows of Q
      k_ring.init(1, C.consumers);
      v_ring.init(1, C.consumers);
      fence_mbarrier_init(t);
    }
    t.barrier();
    launch_dependents(t);
    grid_dependency_wait(t);

    const val tiles = t.let(problem[&attention_problem::query_tiles] * problem[&attention_problem::heads] *
                            problem[&attention_problem::batches]);
    const val warpgroup = warpgroup_rank(t);
    const auto range_of = [&](const attention_block& block) {
      const key_range keys = keys_of_block(t, block, C.queries(), keys_of_tile);
      return tile_range{t.let(keys.first / C.keys), t.let((keys.last + (C.keys - 1)) / C.keys), keys};
    };

    if (auto producer = t.when(warpgroup == C.consumers)) {
      decrease_registers<C.producer_registers()>(t);
      if (auto one = t.when(t.thread_rank() == 128 * C.consumers)) {
        auto to_q = q_ring.producer(t);
        auto to_k = k_ring.producer(t), to_v = v_ring.producer(t);
        for (auto index : t.range(block_idx_x(), tiles, grid_dim_x())) {
          const attention_block block = find_block(t, problem, t.let(index), C.queries());
          const tile_range range = range_of(block);
          const auto load_k = [&](const val<u32>& tile) {
            to_k.acquire_expect(C.kv_bytes());
            load(k_shared[to_k.stage()], k, t.let(block.first_k_row + tile * C.keys), block.group,
                 block.tensor_batch, to_k.full());
            to_k.advance();
          };
          const auto load_v = [&](const val<u32>& tile) {
            to_v.acquire_expect(C.kv_bytes());
            load(v_shared[to_v.stage()], v, t.let(block.first_k_row + tile * C.keys), block.group,
                 block.tensor_batch, to_v.full());
            to_v.advance();
          };
          if (auto some = t.when(range.first < range.last)) {
            to_q.acquire_expect(C.q_bytes());
            load(q_shared, q, t.let(block.first_q_row + block.first_query), block.head, block.tensor_batch,
                 to_q.full());
            to_q.advance();
            load_k(range.first);
            for (auto tile : t.range(range.first + 1u, range.last).no_unroll()) {
              load_k(t.let(tile));
              load_v(t.let(tile - 1u));
            }
            load_v(t.let(range.last - 1u));
          }
        }
      }
    }
    if (auto consumer = t.otherwise()) {
      increase_registers<C.consumer_registers()>(t);
      auto from_q = q_ring.consumer(t);
      auto from_k = k_ring.consumer(t), from_v = v_ring.consumer(t);
      const val lane = t.lane_rank();
      const val leads_group = t.let(t.thread_rank() % 128u == 0u);
      const val scale = t.let(problem[&attention_problem::scale]);
      const val factor = factor_of(scale);
      const val group_row = t.let(warpgroup * 64u);
      const val warp_row = t.let(t.warp_rank() * 16u);
      // Whose turn it is to issue products: this warpgroup's barrier, which the one before it arrives at.
      const named_barrier own_turn(t, t.let(warpgroup + 1u), 256);
      const named_barrier next_turn(t, t.let(select(warpgroup == C.consumers - 1, 1u, warpgroup + 2u)), 256);
      const named_barrier own_group(t, t.let(warpgroup + (1 + C.consumers)), 128);
      if (auto last = t.when(warpgroup == C.consumers - 1)) next_turn.arrive();

      scores_accumulator s(t);
      output_accumulator sums(t);
      const wgmma_scores<T, scores_accumulator> scores(s);
      for (auto index : t.range(block_idx_x(), tiles, grid_dim_x())) {
        const attention_block block = find_block(t, problem, t.let(index), C.queries());
        const tile_range range = range_of(block);
        const val query = t.let(block.first_query + scores_accumulator::first_row(t) + group_row);
        const auto query_of = array_of<2>([&](u32 r) { return t.let(query + 8 * r); });
        const val quad_column = scores_accumulator::first_column(t);
        online_softmax<2> softmax(t);
        sums.clear();

        const auto softmax_step = [&](const val<u32>& tile) {
          const val first_key = t.let(tile * C.keys);
          const score_origin<2> origin = origin_of<2>(t, block, query_of, t.let(first_key + quad_column));
          score(scores, origin, scale);
          if (auto partial =
                  t.when(any_of(first_key<range.keys.whole_first, first_key + C.keys> range.keys.whole_last)))
            mask(scores, origin);
          return softmax.step(scores, factor);
        };
        const auto release = [&](auto& ring) {
          if (auto one = t.when(leads_group)) ring.release();
          ring.advance();
        };
        const auto products = [&](bool with_scores) {
          // P of the tile before, 64 x 16 each
          const auto p = operands_of(s, std::make_integer_sequence<std::uint32_t, C.keys / 16>{});
          if (with_scores) {
            from_k.wait();
            own_turn.sync();
            wgmma_batch mma(t);  // S = Q K^T
            mma.multiply_add(s, wgmma_operand<major::k>(q_shared).rows(group_row),
                             wgmma_operand<major::k>(k_shared[from_k.stage()]), false);
          }
          from_v.wait();
          {
            const auto values = wgmma_operand<major::mn>(v_shared[from_v.stage()]);
            wgmma_batch mma(t);  // O += P V
            for (std::uint32_t c = 0; c < C.keys / 16; ++c) mma.multiply_add(sums, p[c], values.slice(c));
          }
          if (with_scores) next_turn.arrive();
        };

        if (auto some = t.when(range.first < range.last)) {
          from_q.wait();
          from_k.wait();
          {
            wgmma_batch mma(t);
            mma.multiply_add(s, wgmma_operand<major::k>(q_shared).rows(group_row),
                             wgmma_operand<major::k>(k_shared[from_k.stage()]), false);
          }
          wgmma_wait<0>(t);
          release(from_k);
          softmax_step(range.first);  // there is nothing to correct yet
          for (auto tile : t.range(range.first + 1u, range.last).no_unroll()) {
            products(true);
            wgmma_wait<1>(t);
            release(from_k);
            const auto correction = softmax_step(t.let(tile));
            wgmma_wait<0>(t);
            release(from_v);
            for (std::uint32_t i = 0; i < sums.size(); ++i)
              sums[i] *= correction[output_accumulator::row(i) / 8];
          }
          products(false);
          wgmma_wait<0>(t);
          release(from_v);
        }

        const val sink = sink_of(t, problem, block);
        const auto result = array_of<2>([&](u32 r) { return softmax.finish(r, factor, sink); });
        const val leads_row = t.let(lane % 4u == 0u);
        for (u32 r = 0; r < 2; ++r) store_lse(t, problem, block, query_of[r], leads_row, result[r].lse);

        // O goes through this warp's rows of Q, which no other warp of the group reads any more.
        own_group.sync();
        for (std::uint32_t c = 0; c < C.depth; c += 16) {
          const auto panel = q_shared.panel(c / C.panel);
          const auto place = panel.lane(warp_row + lane % 16u, lane / 16u * 8u, 16);
          const auto packed = array_of<4>([&](u32 i) {
            const std::uint32_t at = c / 2 + 2 * i;
            const val<f32>& inverse = result[output_accumulator::row(at) / 8].inverse;
            return t.let(pack<pair>(sums[at] * inverse, sums[at + 1] * inverse));
          });
          stmatrix_x4(shared_address(panel.at(place, 0, c % C.panel)), packed[0], packed[1], packed[2],
                      packed[3]);
        }
        sync_warp(t);
        const auto wrong = array_of<2>([&](u32 r) {
          var found(t, isnan(sums[2 * r]));
          for (std::uint32_t i = 0; i < sums.size(); ++i)
            if (output_accumulator::row(i) == 8 * r) found |= isnan(sums[i]);
          return t.let(all_of(found, !isnan(result[r].inverse), query_of[r] < block.queries));
        });
        const auto put = [&](const val<u32>& row, const val<u32>& column, const val<f32>& x) {
          q_shared[warp_row + row][column] = cast<T>(x);
        };
        recompute_rows<T, C.depth>(t, put, t.let(block.first_query + warp_row), problem, block, range.keys,
                                   wrong, result, factor, score, mask);
        const auto strides = problem[&attention_problem::o];
        store_rows<T, 16, C.depth>(
            t, q_shared, warp_row, o.from(head_offset(t, strides, block, block.head, block.first_q_row)),
            t.let(strides[&attention_strides::row]), t.let(problem[&attention_problem::v_size]),
            t.let(strides[&attention_strides::by_16]), t.let(block.first_query + warp_row), block.queries);
        if (auto some = t.when(range.first < range.last)) {
          fence_proxy_async(t);
          sync_warp(t);
          if (auto one = t.when(lane == 0u)) from_q.release();
          from_q.advance();
        }
      }
      if (auto first = t.when(warpgroup == 0u)) own_turn.sync();  // what the last one arrived for
    }
  }

 private:
  template <std::uint32_t... I>
  static constexpr auto operands_of(const scores_accumulator& s, std::integer_sequence<std::uint32_t, I...>) {
    return std::array<wgmma_register_operand<T>, sizeof...(I)>{
        {{s.template pair<pair>(4 * I), s.template pair<pair>(4 * I + 1), s.template pair<pair>(4 * I + 2),
          s.template pair<pair>(4 * I + 3)}...}};
  }
};

template <attention_sm90_config C, scalar T, class Score, class Mask, class OfScore, class OfMask>
struct attention_sm90_kernel;

template <attention_sm90_config C, scalar T, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_sm90_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
                             attention_parameters<OfMask...>> {
  static constexpr auto name = "attention_sm90_" + type_name<T> + "_d" + decimal<C.depth> + "_" +
                               decimal<C.queries()> + "x" + decimal<C.keys> + "_s" + decimal<C.stages> + "_" +
                               attention_function_name<Score> + "_" + attention_function_name<Mask>;
  static constexpr kernel_options options{.target = {90, true}, .large_shared = true, .min_blocks = 1};

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, tensor_map<T, 4> q, tensor_map<T, 4> k, tensor_map<T, 4> v, out<T> o,
         val<attention_problem> problem, OfScore... of_score, OfMask... of_mask) {
        attention_sm90_body<C, T, Score, Mask>::run(
            t, q, k, v, o, problem,
            [&](const auto& s, const auto& origin, const val<f32>& scale) {
              apply_score<Score>(t, s, origin, scale, of_score...);
            },
            [&](const val<f32>& scale) { return exponent_factor<Score>(t, scale, of_score...); },
            [&](const auto& s, const auto& origin) { apply_mask<Mask>(t, s, origin, of_mask...); },
            [&](const attention_block& block, const val<u32>& first, const val<u32>& last) {
              return keys_of<Mask>(t, first, last, block.keys, block.offset, of_mask...);
            });
      });
};

// Launched with a grid of as many blocks as run at once, or as there are tiles, and the maps of q, k and v
// (boxes of 64 elements, and of the tile's queries or keys), o, the problem, the arguments of the score,
// those of the mask.
template <attention_sm90_config C, scalar T, class Score, class Mask>
inline constexpr auto attention_sm90 =
    attention_sm90_kernel<C, T, Score, Mask, parameters_of_score<Score>, parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops
