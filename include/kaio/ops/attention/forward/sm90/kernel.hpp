#pragma once
// Attention for sm_90a: persistent, warp-specialised, with tensor copies and wgmma.
// O = softmax(mask(score(Q K^T))) V.
//
// A block has a tile of 64 queries for each consumer warpgroup. One thread of the last warpgroup, the
// producer, copies tiles of Q, K and V into three rings. All consumers read each stage of K and V. A stage of
// Q is also for all of them, or for one consumer, which then releases its queries as soon as it is done with
// them:
//
//   producer      Q | K0 | K1 V0 | K2 V1 | Q' K0' V2 | K1' V0' | ...     ahead by the depth of the rings
//
// A consumer keeps S (64 x keys) and O (64 x depth_v) in registers. P is S rounded to T, already an operand
// of wgmma. While a consumer computes the softmax of one tile, the tensor cores multiply P of the tile before
// with V. Named barriers make the consumers issue in turns, so that one's softmax overlaps another's
// products:
//
//   consumer 0    S1, PV0 | softmax 1      | S2, PV1 | softmax 2 ...
//   consumer 1              S1, PV0 | softmax 1      | S2, PV1 | ...
//
//   step:  S is there: mask, softmax        O is there: O *= correction, P = S
//          S = Q K(j+1)^T  (in flight)      O += P Vj  (in flight)
//
// The loop begins after S has arrived, so that its body has score, mask and softmax once. Before the first
// step there is an S, and no O yet.
//
// The correction is mostly 1 (softmax.hpp). A single consumer takes no turns; two such blocks share a
// multiprocessor if they fit. The blocks of a cluster may share a tile of queries (cluster.hpp).
//
// The steps continue across tiles of queries: the first S of the next tile is computed with the last P V of
// this one. Then O leaves from registers, while other consumers multiply.
//
// Sources: Shah et al., "FlashAttention-3: Fast and Accurate Attention with Asynchrony and Low-precision",
// 2024; PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate", "cp.async.bulk.tensor".

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/exact_rows.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/forward/sm90/cluster.hpp>
#include <kaio/ops/attention/forward/sm90/config.hpp>
#include <kaio/ops/attention/forward/sm90/operands.hpp>
#include <kaio/ops/attention/forward/sm90/query_walk.hpp>
#include <kaio/ops/attention/forward/sm90/records.hpp>
#include <kaio/ops/attention/forward/sm90/store.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

namespace kaio::ops {

template <attention_sm90_config C, scalar T, class Score, class Mask>
struct attention_sm90_body {
  static_assert(C.valid(), "kaio: attention's kernel does not support this tile shape");
  static constexpr bool takes_turns = C.consumers > 1, divides_keys = C.most_parts() > 1;
  // The numbers of softmax_row that O needs.
  struct shifted_row {
    val<f32> largest, inverse;
  };
  using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
  using q_ring = shared_tiles<T, C.stage_queries(), C.depth_qk, swizzled<128>, C.query_stages>;
  using k_ring = shared_tiles<T, C.keys, C.depth_qk, swizzled<128>, C.stages>;
  using v_ring = shared_tiles<T, C.keys, C.depth_v, swizzled<128>, C.stages>;
  using scores_accumulator = wgmma_accumulator<f32, C.keys>;
  using output_accumulator = wgmma_accumulator<f32, C.depth_v>;
  using thread_scores = wgmma_scores<T, scores_accumulator>;
  // Whether the score reads memory while the products are in flight, as pair_biased_score does.
  static constexpr bool reads_ahead = requires { typename Score::template ahead<thread_scores>; };
  template <class Walks>
  using walk_of = decltype(std::declval<Walks>().template walk<C.keys>(std::declval<thread>(),
                                                                       std::declval<attention_block>(), 0u));
  // The numbers with which O was stored, and the rows that have to be recomputed.
  struct stored_rows {
    dsl::register_array<shifted_row, 2> result;
    dsl::register_array<val<bool>, 2> wrong;
  };
  struct undivided_rows {
    constexpr explicit undivided_rows(thread) {}
  };
  using divided_rows =
      typename std::conditional_t<divides_keys, std::type_identity<cluster_rows<T, C.depth_v>>,
                                  std::type_identity<undivided_rows>>::type;
  using q_map = tensor_map<T, 4>;
  using kv_map = tensor_map<T, 4>;

  // Score and Mask with their parameters: score(s, origin, scale), factor(scale), mask(s, origin), and the
  // walks over keys. A score that reads ahead also has read(to, s, origin); the numbers read are the last
  // argument of score.
  template <class ApplyScore, class ReadAhead, class Factor, class ApplyMask, class Walks>
  static constexpr void run(thread t, const q_map& q, const kv_map& k, const kv_map& v, const kv_map& k_rest,
                            const kv_map& v_rest, const val<attention_problem>& problem,
                            const ApplyScore& score, const ReadAhead& read, const Factor& factor_of,
                            const ApplyMask& mask, const Walks& walks) {
    const q_ring q_shared(t);  // queries of one or all consumers x depth_qk
    const k_ring k_shared(t);  // keys x depth_qk
    const v_ring v_shared(t);  // keys x depth_v
    pipeline<C.query_stages> q_stages(t);
    pipeline<C.stages> k_stages(t), v_stages(t);
    const query_records queries(t);
    const key_records<C.stages> steps(t);
    const divided_rows divided(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      prefetch(q);
      prefetch(k);
      prefetch(v);
      q_stages.init(1, C.stage_consumers());
      k_stages.init(1, C.consumers);
      v_stages.init(1, C.consumers);
      fence_mbarrier_init(t);
    }
    t.barrier();
    launch_dependents(t);
    grid_dependency_wait(t);

    const val warpgroup = warpgroup_rank(t);
    if (auto producer = t.when(warpgroup == C.consumers)) {
      decrease_registers<C.producer_registers()>(t);
      if (auto one = t.when(t.thread_rank() == 128 * C.consumers)) {
        auto to_q = q_stages.producer(t);
        auto to_k = k_stages.producer(t), to_v = v_stages.producer(t);
        copied_columns<C.stages> copied(t);
        const auto bytes = [&](const val<u32>& columns) { return t.let(columns * u32{C.keys * sizeof(T)}); };
        // V of the step before, if there was one: its row, head and batch.
        var<u32> v_row(t, 0u), v_head(t, 0u), v_batch(t, 0u);
        const auto load_v = [&] {
          if (auto some = t.when(copied.has_advanced())) {
            const val columns = copied.template of<C.depth_v>(t.let(problem[&attention_problem::v_size]));
            to_v.acquire_expect(bytes(columns));
            load_rows<T>(t, v_shared[to_v.stage()], v, v_rest, columns, t.let(v_row), t.let(v_head),
                         t.let(v_batch), to_v.full());
            to_v.advance();
          }
        };
        var<u32> record(t, 0u);
        query_walk walk(t, problem, C.queries(), walks, first_tile(t));
        for (auto tiles : t.loop()) {
          to_q.acquire();
          if (auto end = t.when(!walk.has_tile())) {
            queries.put_end(t.let(record));
            to_q.commit();
            for (u32 stage = 1; stage < C.tile_stages(); ++stage) {
              to_q.advance();
              to_q.acquire();
              to_q.commit();
            }
          }
          tiles.break_if(!walk.has_tile());
          const attention_block block = walk.block();
          queries.put(t.let(record), block);
          record = (record + 1u) % query_records::count;
          const val first_row = t.let(block.first_q_row + block.first_query);
          const auto load_queries = [&](const val<u32>& row) {
            to_q.full().arrive_expect_tx(C.q_bytes());
            load_rows<T>(q_shared[to_q.stage()], q, row, block.head, block.tensor_batch, to_q.full());
            to_q.advance();
          };
          if constexpr (C.tile_stages() == 1) {
            load_queries(first_row);
          } else {
            for (auto row : t.range(0u, C.queries(), C.stage_queries()).no_unroll()) {
              to_q.acquire();
              load_queries(t.let(first_row + row));
            }
          }
          const auto range = walks.template walk<C.keys>(t, block, C.queries());
          const step_range own = steps_of_block(t, {range.first, range.last});
          // At least one step; without keys it is fully masked.
          const val end = t.let(max(own.last, own.first + 1u));
          for (auto tile : t.range(own.first, end).no_unroll()) {
            const key_step step = step_of(t, range, t.let(tile), own.last);
            const val row = t.let(block.first_k_row + step.first_key);
            to_k.acquire();
            steps.put(to_k.stage(), step);
            const val columns = copied.template of<C.depth_qk>(t.let(problem[&attention_problem::qk_size]));
            to_k.full().arrive_expect_tx(bytes(columns));
            load_rows<T>(t, k_shared[to_k.stage()], k, k_rest, columns, row, block.group, block.tensor_batch,
                         to_k.full());
            to_k.advance();
            load_v();
            copied.advance();
            v_row = row;
            v_head = block.group;
            v_batch = block.tensor_batch;
          }
          walk.advance();
        }
        load_v();
      }
    }
    if (auto consumer = t.otherwise()) {
      increase_registers<C.consumer_registers()>(t);
      auto from_q = q_stages.consumer_from(t, C.own_queries ? t.let(warpgroup) : t.let(0u));
      auto from_k = k_stages.consumer(t), from_v = v_stages.consumer(t);
      const val leads_group = t.let(t.thread_rank() % 128u == 0u);
      const val scale = t.let(problem[&attention_problem::scale]);
      const val factor = factor_of(scale);
      const val group_row = t.let(warpgroup * 64u);
      const val own_row = t.let(scores_accumulator::first_row(t) + group_row);
      const val own_column = scores_accumulator::first_column(t);
      // The turn to issue products: the barrier of this warpgroup, at which the warpgroup before it arrives.
      const named_barrier own_turn(t, t.let(warpgroup + 1u), 256);
      const named_barrier next_turn(t, t.let((warpgroup + 1u) % C.consumers + 1u), 256);
      const named_barrier own_group(t, t.let(warpgroup + (1 + C.consumers)), 128);  // before the first turn

      scores_accumulator s(t);
      output_accumulator sums(t);
      thread_scores scores(s);
      online_softmax<2, 4, true> softmax(t);
      var<u32> record(t, 0u);                               // record of the tile of queries
      var<u32> first_key(t, 0u), end(t, 0u), flags(t, 0u);  // key_step of the step

      const auto release = [&](auto& ring) {
        if (auto one = t.when(leads_group)) ring.release();
        ring.advance();
      };
      const auto release_q = [&] {
        if (auto one = t.when(leads_group)) from_q.release();
        from_q.template advance<C.tile_stages()>();
      };
      const auto is = [&](u32 flag) { return t.let((flags & flag) != 0u); };
      // Waits for K and reads its record, which belongs to the stage. A barrier of the warpgroup follows
      // before one of its threads releases the stage.
      const auto await_keys = [&] {
        from_k.wait();
        const key_step step = steps.at(from_k.stage());
        first_key = step.first_key;
        end = step.end;
        flags = step.flags;
      };
      const auto issue_scores = [&](const val<u32>& q_stage, const val<u32>& k_stage) {  // S = Q K^T
        wgmma_batch mma(t);
        const auto of_stage = wgmma_operand<major::k>(q_shared[q_stage]);
        const auto keys = wgmma_operand<major::k>(k_shared[k_stage]);
        if constexpr (C.own_queries)
          mma.multiply_add(s, of_stage, keys, false);
        else
          mma.multiply_add(s, of_stage.rows(group_row), keys, false);
      };
      const auto places_of_step = [&] {
        const attention_block block = queries.block(t.let(record));
        const auto query = array_of<2>([&](u32 r) { return t.let(block.first_query + own_row + 8 * r); });
        const val key = t.let(first_key + own_column), end_of_keys = t.let(end);
        return origin_of<2>(t, block, query, key, end_of_keys);
      };
      // Reads ahead for the score if `expected`; S is in flight.
      const auto read_ahead = [&](const auto& expected) {
        if constexpr (reads_ahead) {
          typename Score::template ahead<thread_scores> result =
              array_of<scores.size() / 2>([&](u32) { return var(t, 0u); });
          if (auto some = t.when(all_of(expected, !is(key_step::has_no_keys))))
            read(result, scores, places_of_step());
          return result;
        } else {
          return std::monostate{};
        }
      };
      // S has arrived: K is no longer read, nor is Q if these were its last keys.
      const auto take_scores = [&](const auto& ahead) {
        release(from_k);
        if (auto at_end = t.when(is(key_step::is_last))) release_q();
        if (auto some = t.when(!is(key_step::has_no_keys))) {
          const score_origin<2> origin = places_of_step();
          if constexpr (reads_ahead)
            score(scores, origin, scale, ahead);
          else
            score(scores, origin, scale);
          if (auto partial = t.when(is(key_step::needs_mask))) mask(scores, origin);
          if constexpr (walk_of<Walks>::cuts_tiles)
            if (auto cut = t.when(is(key_step::needs_cut))) cut_scores(t, scores, origin.key, t.let(end));
        }
        if (auto none = t.otherwise())
          for (std::uint32_t i = 0; i < scores.size(); ++i) scores[i] = -std::numeric_limits<f32>::infinity();
        return softmax.step(scores, factor);
      };
      // Stores the O of a tile of queries.
      const auto finish = [&](const val<u32>& of, online_softmax<2, 4, true>& done) {
        const attention_block block = queries.block(of);
        const auto totals = array_of<2>([&](u32 r) { return done.total(r, factor); });
        const attention_output o = output_of(t, problem, block, sizeof(T));
        const auto store_all = [&] {
          const val query = t.let(block.first_query + own_row);
          const val sink = sink_of(t, problem, block);
          const auto with_sink =
              array_of<2>([&](u32 r) { return add_sink(t, totals[r].largest, totals[r].sum, sink); });
          // A sum is 0, or at least about 1; there the reciprocal is off by one unit in the last place.
          const auto result = array_of<2>([&](u32 r) {
            const auto& [shift, share, sum] = with_sink[r];
            const val inverse = t.let(select(sum == 0.0f, 0.0f, share * fast::ftz::rcp(sum)));
            const val none = t.let(totals[r].largest == -std::numeric_limits<f32>::infinity());
            return shifted_row{t.let(select(none, 0.0f, totals[r].largest)), inverse};
          });
          if (auto wanted = t.when(problem[&attention_problem::lse] != 0u)) {
            const val leads_row = t.let(t.lane_rank() % 4u == 0u);
            for (u32 r = 0; r < 2; ++r) {
              const val of_row = t.let(query + 8 * r);
              store_lse(t, problem, block, of_row, leads_row,
                        with_sink[r].lse(t, t.let(with_sink[r].sum == 0.0f)));
            }
          }
          // NaN if any number of the row is.
          auto any = array_of<2>([&](u32) { return var(t, bit_cast<pair>(t.let(0u))); });
          store_quads<T>(t, sums, {{result[0].inverse, result[1].inverse}}, o, query,
                         [&](u32 r, const val<pair>& two) { any[r] = max_nan(any[r], two); });
          const auto wrong = array_of<2>([&](u32 r) {
            const val found = t.let(any_of(isnan(cast<f32>(low(any[r]))), isnan(cast<f32>(high(any[r])))));
            return t.let(all_of(found, !isnan(result[r].inverse), query + 8 * r < block.query_limit));
          });
          return stored_rows{result, wrong};
        };
        const auto recompute = [&](const auto& result, const auto& wrong, const val<u32>& first_query) {
          recompute_rows<T, C.depth_v>(
              t, first_query, 0u, problem, block,
              [&] { return walks.template walk<C.keys>(t, block, C.queries()); }, wrong, result, factor,
              score, mask,
              [&](const val<u32>& row, const val<u32>& column, const val<f32>& x) {
                store_element(t, o, t.let(first_query + row), column, t.let(cast<T>(x)));
              });
        };
        if constexpr (divides_keys) {
          finished_rows rows(t);
          const val in_cluster = t.let(cluster_size(t) > 1u);
          if (auto parts = t.when(in_cluster))
            divided.combine(problem, block, sums, totals, o, own_group, rows);
          if (auto alone = t.otherwise()) {
            const auto& [result, wrong] = store_all();
            rows.first_query = block.first_query + t.warp_rank() * 16u;
            for (u32 r = 0; r < 2; ++r) {
              rows.rows[r].largest = result[r].largest;
              rows.rows[r].inverse = result[r].inverse;
              rows.rows[r].wrong = select(wrong[r], 1u, 0u);
            }
          }
          const auto result = array_of<2>([&](u32 r) {
            return shifted_row{t.let(rows.rows[r].largest), t.let(rows.rows[r].inverse)};
          });
          const auto wrong = array_of<2>([&](u32 r) { return t.let(rows.rows[r].wrong != 0u); });
          recompute(result, wrong, t.let(rows.first_query));
        } else {
          const auto& [result, wrong] = store_all();
          recompute(result, wrong, t.let(block.first_query + t.warp_rank() * 16u));
        }
      };

      from_q.wait();
      if (auto some = t.when(queries.exists(t.let(record)))) {
        if constexpr (takes_turns)
          if (auto last = t.when(warpgroup == C.consumers - 1)) next_turn.arrive();
        await_keys();
        own_group.sync();
        issue_scores(from_q.stage(), from_k.stage());
        wgmma_wait<0>(t);
        sums.clear();
        var<u32> of_p(t, record);              // record of the tile whose P is multiplied
        var<u32> goes_on(t, 1u), ends(t, 0u);  // whether S belongs to a step; whether P ended its tile
        var<u32> has_sums(t, 0u), has_values(t, 0u);
        for (auto step : t.loop()) {
          const auto ahead = read_ahead(goes_on != 0u);
          wgmma_wait<1>(t);
          online_softmax<2, 4, true> done(softmax);
          if (auto next_tile = t.when(ends != 0u)) softmax.clear();
          auto correction = array_of<2>([&](u32) { return var(t, 1.0f); });
          if (auto more = t.when(goes_on != 0u)) {
            const auto by = take_scores(ahead);
            for (u32 r = 0; r < 2; ++r) correction[r] = by[r];
          }
          wgmma_wait<0>(t);
          if (auto had = t.when(has_values != 0u)) release(from_v);
          if (auto leaves = t.when(ends != 0u)) {
            finish(t.let(of_p), done);
          }
          // Mostly the largest scores have not changed.
          if (auto stays = t.otherwise()) {
            const val changes = t.let(any_of(correction[0] != 1.0f, correction[1] != 1.0f));
            if (auto grew = t.when(warp_any(changes)))
              for (std::uint32_t i = 0; i < sums.size(); ++i)
                sums[i] *= correction[output_accumulator::row(i) / 8];
          }
          step.break_if(goes_on == 0u);

          // P of this step, in operands of 64 x 16. It is made after the products with the last P have ended.
          const auto p = wgmma_register_operands<T, C.keys / 16>(
              [&](std::uint32_t j) { return s.template pair<pair>(j); });
          of_p = record;
          ends = select(is(key_step::is_last), 1u, 0u);
          if (auto next_tile = t.when(ends != 0u)) {
            record = (record + 1u) % query_records::count;
            from_q.wait();
            goes_on = select(queries.exists(t.let(record)), 1u, 0u);
          }
          if (auto more = t.when(goes_on != 0u)) {
            await_keys();
            if constexpr (takes_turns)
              own_turn.sync();
            else
              own_group.sync();
          }
          // After the very last step these scores come from tiles that are still there, and nobody reads
          // them. ptxas keeps products in flight only if they are issued on every path.
          const val stage_of_q = t.let(select(goes_on != 0u, from_q.stage(), 0u));
          const val stage_of_k = t.let(select(goes_on != 0u, from_k.stage(), 0u));
          issue_scores(stage_of_q, stage_of_k);
          from_v.wait();
          {
            const auto values = wgmma_operand<major::mn>(v_shared[from_v.stage()]);
            wgmma_batch mma(t);  // O += P V
            mma.multiply_add(sums, p[0], values.slice(0), t.let(has_sums != 0u));
            for (std::uint32_t c = 1; c < C.keys / 16; ++c) mma.multiply_add(sums, p[c], values.slice(c));
          }
          has_sums = select(ends != 0u, 0u, 1u);
          has_values = 1u;
          if constexpr (takes_turns)
            if (auto more = t.when(goes_on != 0u)) next_turn.arrive();
        }
        if constexpr (takes_turns)
          if (auto first = t.when(warpgroup == 0u)) own_turn.sync();  // matches the last arrival
      }
    }
  }

 private:
  // The block's first tile of queries, shared within its cluster, and its part of a tile's steps.
  static constexpr val<u32> first_tile(thread t) {
    if constexpr (divides_keys)
      return t.let(block_idx_x() >> bits_of_cluster(t));
    else
      return t.let(block_idx_x());
  }
  static constexpr step_range steps_of_block(thread t, const step_range& all) {
    if constexpr (divides_keys)
      return steps_of_part(t, all, cluster_rank(t), bits_of_cluster(t));
    else
      return all;
  }
};

template <attention_sm90_config C, scalar T, class Score, class Mask, class OfScore, class OfMask>
struct attention_sm90_kernel;

template <attention_sm90_config C, scalar T, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_sm90_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
                             attention_parameters<OfMask...>> {
  static constexpr auto name = "attention_sm90_" + type_name<T> + "_d" +
                               attention_depth_name<C.depth_qk, C.depth_v> + "_" + decimal<C.queries()> +
                               "x" + decimal<C.keys> + "_s" + decimal<C.stages> + "_" +
                               attention_function_name<Score> + "_" + attention_function_name<Mask>;
  static constexpr kernel_options options{
      .target = {90, true}, .large_shared = true, .min_blocks = C.min_blocks()};

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, tensor_map<T, 4> q, tensor_map<T, 4> k, tensor_map<T, 4> v, tensor_map<T, 4> k_rest,
         tensor_map<T, 4> v_rest, val<attention_problem> problem, OfScore... of_score, OfMask... of_mask) {
        attention_sm90_body<C, T, Score, Mask>::run(
            t, q, k, v, k_rest, v_rest, problem,
            [&](const auto& s, const auto& origin, const val<f32>& scale, const auto&... ahead) {
              apply_score<Score>(t, s, origin, scale, of_score..., ahead...);
            },
            [&]<class S = Score>(auto& to, const auto& s, const auto& origin) {
              S::read_ahead(t, to, s, origin, of_score...);
            },
            [&](const val<f32>& scale) { return exponent_factor<Score>(t, scale, of_score...); },
            [&](const auto& s, const auto& origin) { apply_mask<Mask>(t, s, origin, of_mask...); },
            walks_of<Mask>(t, of_mask...));
      });
};

// Launched with a grid of min(tiles, resident blocks) blocks, or of tiles * parts in clusters of `parts`.
// Arguments:
//
//   q, k, v          maps with boxes of 64 elements x a stage's queries or a tile's keys
//   k_rest, v_rest   maps of the last elements of the rows of k and v (attention_rest_map)
//   problem, then the arguments of the score, then those of the mask
template <attention_sm90_config C, scalar T, class Score, class Mask>
inline constexpr auto attention_sm90 =
    attention_sm90_kernel<C, T, Score, Mask, parameters_of_score<Score>, parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops
