#pragma once
// The gradients of an attention with the matrix instructions of a warp, for sm_80 and later, in two kernels:
//
//   keys       a block owns 64 keys of one head of K, and walks over the tiles of queries of each head of its
//              group that attend to them: dV += P^T dO, dK += dS^T Q
//   queries    a block owns 64 queries, and walks over the keys that they attend to: dQ += dS K
//
// Both kernels compute S and dP again, so no block adds to what another one writes: equal calls give equal
// bits. If rows have more columns than a block has registers for, several blocks compute the same scores and
// sum different columns. block_idx_y is the part.
//
// A product with a masked score multiplies by 0, which gives NaN if the other factor is NaN or infinite. dS
// may also exceed the largest number of f16. A block whose sums are not all finite therefore sets a flag. The
// multiply-add kernels compute only the flagged blocks again, in f32 and without the masked places.
//
// Source: Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.

#include <kaio/ops/attention/backward/common/bias_gradient.hpp>
#include <kaio/ops/attention/backward/common/flags.hpp>
#include <kaio/ops/attention/backward/common/functions.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/mma_sync/tiles.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>

#include <cstdint>
#include <limits>
#include <utility>

namespace kaio::ops {

template <attention_backward_mma_config C, class T>
struct attention_backward_mma_body {
  using stored = stored_element<T>;
  using tiles = backward_mma_tiles<C, T>;
  using accumulator = typename tiles::accumulator;
  static constexpr std::uint32_t count = tiles::count;
  static constexpr std::uint32_t columns_qk = C.columns_of(C.depth_qk), columns_v = C.columns_of(C.depth_v);
  template <std::uint32_t Depth>
  using own_tile = typename tiles::template rows<C.own, Depth>::tile;
  template <std::uint32_t Depth>
  using step_tiles = shared_tiles<stored, C.step, Depth, typename tiles::swizzle, 2>;

  // The columns of a tile that this block sums.
  template <std::uint32_t Columns, class Tile>
  static constexpr auto part_of(thread t, const Tile& tile) {
    if constexpr (Tile::columns == Columns)
      return tile;
    else
      return column_block<Columns>(tile, t.let(block_idx_y()));
  }
  // The number of a row's elements from this block's first column on.
  static constexpr val<u32> columns_from(thread t, const val<u32>& size) {
    const val first = t.let(block_idx_y() * C.columns);
    return t.let(max(size, first) - first);
  }
  template <std::uint32_t Columns, class Own, class Strides>
  static constexpr void store(thread t, typename tiles::template sums<Columns>& sum, const Own& own,
                              const val<u32>& warp_row, const Strides& strides, const attention_block& block,
                              const val<u32>& head, const val<u32>& first_row, const val<u32>& size,
                              const val<u32>& first, const val<u32>& limit, const val<f32>& factor,
                              const val<u32>& type) {
    const auto memory = pointer_at<out<stored>>(t, t.let(strides[&attention_strides::address]))
                            .from(head_offset(t, strides, block, head, first_row))
                            .from(cast<i64>(t.let(block_idx_y() * C.columns)));
    const val row = t.let(strides[&attention_strides::row]);
    const val columns = columns_from(t, size);
    const val by_16 = t.let(strides[&attention_strides::by_16]);
    tiles::template store<Columns>(t, sum, own, warp_row, memory, row, columns, by_16, first, limit, factor,
                                   type);
  }
  // The element type of any_half operands. It is read at each use, so that it takes no register in between.
  static constexpr val<u32> type_of(thread t, const val<attention_gradients>& gradients) {
    return t.let(gradients[&attention_gradients::type]);
  }

  // dK and dV of 64 keys.
  template <class Functions>
  static constexpr void of_keys(thread t, const val<attention_problem>& problem,
                                const val<attention_gradients>& gradients, const Functions& functions) {
    using scores = transposed_mma_scores<T, accumulator, tiles::fragments>;
    const own_tile<C.depth_qk> k_shared(t);                        // keys x depth_qk
    const own_tile<C.depth_v> v_shared(t);                         // keys x depth_v
    const step_tiles<C.depth_qk> q_shared(t);                      // queries x depth_qk
    const step_tiles<C.depth_v> dout_shared(t);                    // queries x depth_v
    const shared_tile<f32, 4, C.step, dsl::row_major> numbers(t);  // shifts, deltas: for each of two stages
    const attention_key_block keys = find_key_block(
        t, problem, gradients, key_tile_in_order(t, problem, gradients, t.let(block_idx_x())), C.own);
    const val group_size = t.let(problem[&attention_problem::heads_of_group]);
    const val qk_size = t.let(problem[&attention_problem::qk_size]);
    const val v_size = t.let(problem[&attention_problem::v_size]);
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = functions.factor(scale);
    const auto walk = query_range_walk<C.step>::over(t, keys, C.own, functions.queries);
    const val per_head = t.let(walk.last - walk.first), rounds = t.let(per_head * group_size);
    const val rank = t.thread_rank();
    const val lane = t.lane_rank();
    const val warp_row = t.let(t.warp_rank() * 16u);
    const val lane_row = t.let(accumulator::layout::lane_row(lane));
    const val lane_column = t.let(accumulator::layout::lane_column(lane));

    const val first_head = t.let(keys.group * group_size), first_of_walk = t.let(walk.first * C.step);
    const attention_block own = keys.of_head(first_head, first_of_walk);
    tiles::template rows_of<C.own, C.depth_qk>(t, problem[&attention_problem::k], own, keys.group,
                                               keys.first_k_row, qk_size)
        .copy(k_shared, keys.first_key, keys.keys);
    tiles::template rows_of<C.own, C.depth_v>(t, problem[&attention_problem::v], own, keys.group,
                                              keys.first_k_row, v_size)
        .copy(v_shared, keys.first_key, keys.keys);
    const auto copy = [&](const attention_block& block, const val<u32>& stage) {
      if (auto has = t.when(rank < C.step)) {
        const val query = t.let(block.first_query + rank);
        const val exists = t.let(query < block.query_limit);
        const val at = t.let(first_number(t, problem, gradients, block) + cast<u64>(query));
        for (const auto& [member, row] :
             {std::pair{&attention_gradients::shifts, 0u}, std::pair{&attention_gradients::deltas, 1u}})
          cp_async<4>(numbers[stage * 2u + row][rank], pointer_at<in<f32>>(t, t.let(gradients[member]))[at],
                      exists);
      }
      tiles::template rows_of<C.step, C.depth_qk>(t, problem[&attention_problem::q], block, block.head,
                                                  block.first_q_row, qk_size)
          .copy(q_shared[stage], block.first_query, block.query_limit);
      tiles::template rows_of<C.step, C.depth_v>(t, gradients[&attention_gradients::dout], block, block.head,
                                                 block.first_q_row, v_size)
          .copy(dout_shared[stage], block.first_query, block.query_limit);
    };

    auto dk = tiles::template zero_sums<columns_qk>(t);
    auto dv = tiles::template zero_sums<columns_v>(t);
    var head(t, own.head), tile(t, walk.first);
    if (auto some = t.when(rounds != 0u)) copy(own, t.let(0u));
    for (auto n : t.range(0u, rounds).no_unroll()) {
      const val stage = t.let(n & 1u);
      const val own_head = t.let(head), query = t.let(tile * C.step);
      const attention_block block = keys.of_head(own_head, query);
      tiles::wait(t);
      tile += 1u;
      if (auto next_head = t.when(tile == walk.last)) {
        tile = walk.first;
        head += 1u;
      }
      if (auto more = t.when(n + 1u < rounds)) {
        const val next_head = t.let(head), next_query = t.let(tile * C.step);
        const attention_block next = keys.of_head(next_head, next_query);
        copy(next, t.let(stage ^ 1u));
      }

      auto s_parts = tiles::zero_scores(t), dp_parts = tiles::zero_scores(t);  // 16 keys x queries
      const scores s(s_parts), dp(dp_parts);
      with_attention_product<T>(t, type_of(t, gradients), [&]<class Product>(Product) {
        tiles::template multiply_rows<Product>(t, s_parts, k_shared, warp_row, q_shared[stage]);
      });
      const val first_query = t.let(block.first_query + lane_column);
      const auto queries =
          array_of<scores::rows>([&](u32 r) { return t.let(first_query + scores::query(r)); });
      const val key = t.let(keys.first_key + warp_row + lane_row);
      const score_origin<scores::rows> origin = origin_of<scores::rows>(t, block, queries, key, keys.keys);
      auto derivatives = array_of<count>([&](u32) { return var(t, 1.0f); });
      functions.score(s, derivatives, origin, scale);
      if (auto partial = t.when(walk.is_partial(t, block.first_query))) functions.mask(s, origin);
      with_attention_product<T>(t, type_of(t, gradients), [&]<class Product>(Product) {
        tiles::template multiply_rows<Product>(t, dp_parts, v_shared, warp_row, dout_shared[stage]);
      });
      const auto number_of = [&](u32 which) {
        return array_of<scores::rows>([&](u32 r) {
          const val x = t.let(numbers[stage * 2u + which][lane_column + scores::query(r)]);
          if (which == 1) return x;
          return t.let(select(origin.query[r] < block.query_limit, x, std::numeric_limits<f32>::infinity()));
        });
      };
      const auto shifts = number_of(0), deltas = number_of(1);
      tiles::differentiate(t, s, dp, shifts, deltas, factor);
      for (u32 i = 0; i < count; ++i) dp[i] = select(s[i] == 0.0f, 0.0f, dp[i] * derivatives[i]);
      with_attention_product<T>(t, type_of(t, gradients), [&]<class Product>(Product) {
        tiles::template multiply_columns<Product, columns_v>(t, dv, s_parts,
                                                             part_of<columns_v>(t, dout_shared[stage]));
        tiles::template multiply_columns<Product, columns_qk>(t, dk, dp_parts,
                                                              part_of<columns_qk>(t, q_shared[stage]));
      });
    }
    tiles::wait(t);
    const val wrong_dk = tiles::template is_not_finite<columns_qk>(t, dk);
    const val wrong_dv = tiles::template is_not_finite<columns_v>(t, dv);
    const val wrong = block_any(t, any_of(wrong_dk, wrong_dv));
    const backward_flags flags = flags_of_keys(t, gradients, keys);
    leave_flag(t, flags, t.let(block_idx_y()), wrong);
    if (auto wanted = t.when(gradients[&attention_gradients::dk][&attention_strides::address] != u64{0}))
      store<columns_qk>(t, dk, k_shared, warp_row, gradients[&attention_gradients::dk], own, keys.group,
                        keys.first_k_row, qk_size, keys.first_key, keys.keys, scale, type_of(t, gradients));
    if (auto wanted = t.when(gradients[&attention_gradients::dv][&attention_strides::address] != u64{0}))
      store<columns_v>(t, dv, v_shared, warp_row, gradients[&attention_gradients::dv], own, keys.group,
                       keys.first_k_row, v_size, keys.first_key, keys.keys, t.let(1.0f),
                       type_of(t, gradients));
  }

  // dQ of 64 queries.
  template <class Functions>
  static constexpr void of_queries(thread t, const val<attention_problem>& problem,
                                   const val<attention_gradients>& gradients, const Functions& functions) {
    using scores = mma_scores<T, accumulator, tiles::fragments>;
    const own_tile<C.depth_qk> q_shared(t);    // queries x depth_qk
    const own_tile<C.depth_v> dout_shared(t);  // queries x depth_v
    const step_tiles<C.depth_qk> k_shared(t);  // keys x depth_qk
    const step_tiles<C.depth_v> v_shared(t);   // keys x depth_v
    const attention_block block = find_block(t, problem, t.let(block_idx_x()), C.own, functions.walks);
    const val qk_size = t.let(problem[&attention_problem::qk_size]);
    const val v_size = t.let(problem[&attention_problem::v_size]);
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = functions.factor(scale);
    const auto range = functions.walks.template walk<C.step>(t, block, C.own);
    const val lane = t.lane_rank();
    const val warp_row = t.let(t.warp_rank() * 16u);
    const val lane_row = t.let(accumulator::layout::lane_row(lane));
    const val lane_column = t.let(accumulator::layout::lane_column(lane));

    tiles::template rows_of<C.own, C.depth_qk>(t, problem[&attention_problem::q], block, block.head,
                                               block.first_q_row, qk_size)
        .copy(q_shared, block.first_query, block.query_limit);
    tiles::template rows_of<C.own, C.depth_v>(t, gradients[&attention_gradients::dout], block, block.head,
                                              block.first_q_row, v_size)
        .copy(dout_shared, block.first_query, block.query_limit);
    const auto of_k = tiles::template rows_of<C.step, C.depth_qk>(t, problem[&attention_problem::k], block,
                                                                  block.group, block.first_k_row, qk_size);
    const auto of_v = tiles::template rows_of<C.step, C.depth_v>(t, problem[&attention_problem::v], block,
                                                                 block.group, block.first_k_row, v_size);
    const auto copy = [&](const auto& keys, const val<u32>& stage) {
      of_k.copy(k_shared[stage], keys.first, keys.limit);
      of_v.copy(v_shared[stage], keys.first, keys.limit);
    };
    const val first_row = t.let(block.first_query + warp_row + lane_row);
    const auto query = array_of<2>([&](u32 r) { return t.let(first_row + 8 * r); });
    const auto numbers =
        array_of<2>([&](u32 r) { return numbers_of_query(t, problem, gradients, block, query[r]); });
    const auto shifts = array_of<2>([&](u32 r) { return numbers[r].shift; });
    const auto deltas = array_of<2>([&](u32 r) { return numbers[r].delta; });

    const val writes_dbias = writes_bias_gradient(t, gradients);
    auto dq = tiles::template zero_sums<columns_qk>(t);
    if (auto some = t.when(range.first < range.last)) copy(range.begin(t), t.let(0u));
    for (auto j : t.range(range.first, range.last).no_unroll()) {
      const val stage = t.let((j - range.first) & 1u);
      const auto keys = range.tile(t, range.find(t, j));
      tiles::wait(t);
      if (auto more = t.when(j + 1u < range.last)) {
        const auto next = range.after(t, j, keys);
        copy(next, t.let(stage ^ 1u));
      }

      auto s_parts = tiles::zero_scores(t), dp_parts = tiles::zero_scores(t);  // 16 queries x keys
      const scores s(s_parts), dp(dp_parts);
      with_attention_product<T>(t, type_of(t, gradients), [&]<class Product>(Product) {
        tiles::template multiply_rows<Product>(t, s_parts, q_shared, warp_row, k_shared[stage]);
      });
      const score_origin<2> origin = origin_of<2>(t, block, query, t.let(keys.first + lane_column), keys.end);
      auto derivatives = array_of<count>([&](u32) { return var(t, 1.0f); });
      functions.score(s, derivatives, origin, scale);
      range.mask(t, keys, s, origin, functions.mask);
      with_attention_product<T>(t, type_of(t, gradients), [&]<class Product>(Product) {
        tiles::template multiply_rows<Product>(t, dp_parts, dout_shared, warp_row, v_shared[stage]);
      });
      tiles::differentiate(t, s, dp, shifts, deltas, factor);
      if (auto wanted = t.when(writes_dbias)) store_bias_gradient(t, gradients, dp, origin);
      for (u32 i = 0; i < count; ++i) dp[i] = select(s[i] == 0.0f, 0.0f, dp[i] * derivatives[i]);
      with_attention_product<T>(t, type_of(t, gradients), [&]<class Product>(Product) {
        tiles::template multiply_columns<Product, columns_qk>(t, dq, dp_parts,
                                                              part_of<columns_qk>(t, k_shared[stage]));
      });
    }
    tiles::wait(t);
    // Computed again: kept through the loop, the block would take registers that the loop needs.
    const attention_block again = find_block(t, problem, t.let(block_idx_x()), C.own, functions.walks);
    const backward_flags flags = flags_of_queries(t, problem, gradients, again);
    const val column = t.let(block_idx_y());
    const val wrong = t.let(block_any(t, tiles::template is_not_finite<columns_qk>(t, dq)));
    leave_flag(t, flags, column, wrong);
    if (auto wanted = t.when(gradients[&attention_gradients::dq][&attention_strides::address] != u64{0}))
      store<columns_qk>(t, dq, q_shared, warp_row, gradients[&attention_gradients::dq], again, again.head,
                        again.first_q_row, qk_size, again.first_query, again.query_limit, scale,
                        type_of(t, gradients));
  }
};

template <attention_backward_mma_config OfKeys, attention_backward_mma_config OfQueries, class T, class Score,
          class Mask, class OfScore, class OfMask>
struct attention_backward_mma_kernels;

template <attention_backward_mma_config OfKeys, attention_backward_mma_config OfQueries, class T, class Score,
          class Mask, class... OfScore, class... OfMask>
struct attention_backward_mma_kernels<OfKeys, OfQueries, T, Score, Mask, attention_parameters<OfScore...>,
                                      attention_parameters<OfMask...>> {
  template <attention_backward_mma_config C>
  static constexpr auto name_of(auto what) {
    return "attention_backward_mma_" + what + "_" + half_name<T> + "_d" +
           attention_depth_name<C.depth_qk, C.depth_v> + "_" + decimal<C.own> + "x" + decimal<C.step> + "_" +
           attention_function_name<Score> + "_" + attention_function_name<Mask>;
  }
  template <attention_backward_mma_config C>
  static constexpr kernel_options options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks};
  using functions = backward_functions_of<Score, Mask>;

  static constexpr auto keys =
      kaio::kernel<name_of<OfKeys>(fixed_string("keys")), block_size{OfKeys.threads}, options<OfKeys>>(
          [](thread t, val<attention_problem> problem, val<attention_gradients> gradients,
             OfScore... of_score, OfMask... of_mask) {
            attention_backward_mma_body<OfKeys, T>::of_keys(
                t, problem, gradients, functions::of(t, gradients, of_score..., of_mask...));
          });
  static constexpr auto queries = kaio::kernel<name_of<OfQueries>(fixed_string("queries")),
                                               block_size{OfQueries.threads}, options<OfQueries>>(
      [](thread t, val<attention_problem> problem, val<attention_gradients> gradients, OfScore... of_score,
         OfMask... of_mask) {
        attention_backward_mma_body<OfQueries, T>::of_queries(
            t, problem, gradients, functions::of(t, gradients, of_score..., of_mask...));
      });
};

// Launched like attention_backward_simt, with tiles of 64 rows.
template <attention_backward_mma_config OfKeys, attention_backward_mma_config OfQueries, class T, class Score,
          class Mask>
using attention_backward_mma =
    attention_backward_mma_kernels<OfKeys, OfQueries, T, Score, Mask, parameters_of_score<Score>,
                                   parameters_of_mask<Mask>>;

}  // namespace kaio::ops
