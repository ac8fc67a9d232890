#pragma once
// The gradients of an attention with ordinary multiply-adds, all of it in f32, of operands of any type.
//
//   keys       a block owns a tile of keys of one head of K, and walks over the tiles of queries of each head
//              of its group that attend to them: dV += P^T dO, dK += dS^T Q
//   queries    a block owns a tile of queries, and walks over the keys that they attend to: dQ += dS K
//
//   S = Q K^T, x = score(S), P = exp(x - lse), dP = dO V^T, dS = P * (dP - delta) * dx/dS
//
// A tile of P, and then of dS, is in shared memory; the sums are in registers. No sum is added by more than
// one block: equal calls give equal bits. If rows have more columns than a block has registers for, several
// blocks compute the same scores and sum different columns. block_idx_y is the part.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/bias_gradient.hpp>
#include <kaio/ops/attention/backward/common/flags.hpp>
#include <kaio/ops/attention/backward/common/functions.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/simt/tiles.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>
#include <kaio/ops/attention/forward/simt/scores.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

template <attention_backward_simt_config C>
struct attention_backward_simt_body {
  using tiles = backward_tiles<C>;
  using scores = typename tiles::scores;
  using view = simt_scores<any_element, tiles::each, tiles::each, C.side>;
  static constexpr std::uint32_t each = tiles::each, count = tiles::count;

  // The rows of Q, K, V and dO for one query head.
  struct operands {
    attention_head_rows q, k, v, dout;
    static constexpr operands of(thread t, const val<attention_problem>& problem,
                                 const val<attention_gradients>& gradients, const attention_block& block) {
      const val qk_size = t.let(problem[&attention_problem::qk_size]);
      const val v_size = t.let(problem[&attention_problem::v_size]);
      return {attention_head_rows::of(t, problem[&attention_problem::q], block, block.head, block.first_q_row,
                                      qk_size),
              attention_head_rows::of(t, problem[&attention_problem::k], block, block.group,
                                      block.first_k_row, qk_size),
              attention_head_rows::of(t, problem[&attention_problem::v], block, block.group,
                                      block.first_k_row, v_size),
              attention_head_rows::of(t, gradients[&attention_gradients::dout], block, block.head,
                                      block.first_q_row, v_size)};
    }
  };

  // For a tile of scores: P, the gradients of what the softmax saw, and the derivatives of the scores.
  struct tile_gradients {
    scores p, ds, derivatives;

    // Makes dS. A masked score may have no derivative.
    constexpr void differentiate() {
      for (u32 e = 0; e < count; ++e) ds[e] = select(p[e] == 0.0f, 0.0f, ds[e] * derivatives[e]);
    }
  };
  template <class Functions, class Mask>
  static constexpr tile_gradients differentiate(thread t, const tiles& tile, const operands& of,
                                                const val<attention_problem>& problem,
                                                const val<attention_gradients>& gradients,
                                                const attention_block& block, const val<u32>& first_key,
                                                const val<u32>& key_limit, const val<u32>& key_end,
                                                const Functions& functions, const Mask& apply_mask) {
    tile_gradients result{tiles::zero_scores(t), tiles::zero_scores(t),
                          array_of<count>([&](u32) { return var(t, 1.0f); })};
    const val scale = t.let(problem[&attention_problem::scale]);
    const auto query =
        array_of<each>([&](u32 r) { return t.let(block.first_query + tile.row + C.side * r); });
    const auto numbers =
        array_of<each>([&](u32 r) { return numbers_of_query(t, problem, gradients, block, query[r]); });
    tile.products(result.p, of.q, block.first_query, block.query_limit, of.k, first_key, key_limit);
    const view s{&result.p};
    const score_origin<each> origin =
        origin_of<each>(t, block, query, t.let(first_key + tile.column), key_end);
    functions.score(s, result.derivatives, origin, scale);
    apply_mask(s, origin);
    const val factor = functions.factor(scale);
    tile.products(result.ds, of.dout, block.first_query, block.query_limit, of.v, first_key, key_limit);
    for (u32 i = 0; i < count; ++i) {
      const val shift = numbers[i / each].shift;
      result.p[i] = probability(t, t.let(result.p[i] * factor), shift);
      const val p = t.let(result.p[i]);
      result.ds[i] = select(p == 0.0f, 0.0f, p * (result.ds[i] - numbers[i / each].delta));
    }
    return result;
  }

  // dK and dV of tiles of keys.
  template <class Functions>
  static constexpr void of_keys(thread t, const val<attention_problem>& problem,
                                const val<attention_gradients>& gradients, const Functions& functions) {
    const tiles tile(t, t.let(gradients[&attention_gradients::type]));
    const val all = t.let(gradients[&attention_gradients::key_tiles] *
                          gradients[&attention_gradients::key_heads] * problem[&attention_problem::batches]);
    const auto find = [&](const val<u32>& index) {
      return find_key_block(t, problem, gradients, key_tile_in_order(t, problem, gradients, index), C.tile);
    };
    for_flagged(
        t, all,
        [&](const val<u32>& index) { return is_flagged(t, flags_of_keys(t, gradients, find(index))); },
        [&](const val<u32>& index) {
          const attention_key_block keys = find(index);
          compute_keys(t, problem, gradients, functions, tile, keys, t.let(block_idx_y() * C.depth));
        });
  }

  // dQ of tiles of queries.
  template <class Functions>
  static constexpr void of_queries(thread t, const val<attention_problem>& problem,
                                   const val<attention_gradients>& gradients, const Functions& functions) {
    const tiles tile(t, t.let(gradients[&attention_gradients::type]));
    const val all = t.let(problem[&attention_problem::query_tiles] * problem[&attention_problem::heads] *
                          problem[&attention_problem::batches]);
    const auto find = [&](const val<u32>& index) {
      return find_block(t, problem, index, C.tile, functions.walks);
    };
    for_flagged(
        t, all,
        [&](const val<u32>& index) {
          return is_flagged(t, flags_of_queries(t, problem, gradients, find(index)));
        },
        [&](const val<u32>& index) {
          const attention_block block = find(index);
          compute_queries(t, problem, gradients, functions, tile, block, t.let(block_idx_y() * C.depth));
        });
  }

  // The columns of a tile's gradients from first_column on.
  template <class Functions>
  static constexpr void compute_keys(thread t, const val<attention_problem>& problem,
                                     const val<attention_gradients>& gradients, const Functions& functions,
                                     const tiles& tile, const attention_key_block& keys,
                                     const val<u32>& first_column) {
    const val group_size = t.let(problem[&attention_problem::heads_of_group]);
    const val wants_dk = t.let(gradients[&attention_gradients::dk][&attention_strides::address] != u64{0});
    const val wants_dv = t.let(gradients[&attention_gradients::dv][&attention_strides::address] != u64{0});
    const auto walk = query_range_walk<C.tile>::over(t, keys, C.tile, functions.queries);
    auto dk = tiles::zero_sums(t), dv = tiles::zero_sums(t);
    for (auto i : t.range(0u, group_size).no_unroll()) {
      const val head = t.let(keys.group * group_size + i);
      for (auto j : t.range(walk.first, walk.last).no_unroll()) {
        const attention_block block = keys.of_head(head, t.let(j * C.tile));
        const operands of = operands::of(t, problem, gradients, block);
        auto tile_of = differentiate(t, tile, of, problem, gradients, block, keys.first_key, keys.keys,
                                     keys.keys, functions, [&](const auto& s, const auto& origin) {
                                       if (auto partial = t.when(walk.is_partial(t, block.first_query)))
                                         functions.mask(s, origin);
                                     });
        if (auto wanted = t.when(wants_dv)) {
          tile.put(tile_of.p, false);
          tile.accumulate(dv, of.dout, block.first_query, block.query_limit, first_column);
          t.barrier();
        }
        if (auto wanted = t.when(wants_dk)) {
          tile_of.differentiate();
          tile.put(tile_of.ds, false);
          tile.accumulate(dk, of.q, block.first_query, block.query_limit, first_column);
        }
      }
    }
    const attention_block block = keys.of_head(keys.group, keys.first_key);
    const auto store = [&](const auto& sum, auto member, auto size, const val<f32>& factor) {
      tile.store(sum,
                 attention_head_rows::of(t, gradients[member], block, keys.group, keys.first_k_row,
                                         t.let(problem[size])),
                 keys.first_key, keys.keys, first_column, factor);
    };
    if (auto wanted = t.when(wants_dk))
      store(dk, &attention_gradients::dk, &attention_problem::qk_size,
            t.let(problem[&attention_problem::scale]));
    if (auto wanted = t.when(wants_dv))
      store(dv, &attention_gradients::dv, &attention_problem::v_size, t.let(1.0f));
  }

  template <class Functions>
  static constexpr void compute_queries(thread t, const val<attention_problem>& problem,
                                        const val<attention_gradients>& gradients, const Functions& functions,
                                        const tiles& tile, const attention_block& block,
                                        const val<u32>& first_column) {
    const auto range = functions.walks.template walk<C.tile>(t, block, C.tile);
    const operands of = operands::of(t, problem, gradients, block);
    const val writes_dbias = writes_bias_gradient(t, gradients);
    auto dq = tiles::zero_sums(t);
    for (auto j : t.range(range.first, range.last).no_unroll()) {
      const auto keys = range.tile(t, range.find(t, j));
      auto tile_of = differentiate(
          t, tile, of, problem, gradients, block, keys.first, keys.limit, keys.end, functions,
          [&](const auto& s, const auto& origin) { range.mask(t, keys, s, origin, functions.mask); });
      if (auto wanted = t.when(writes_dbias)) {
        const auto query =
            array_of<each>([&](u32 r) { return t.let(block.first_query + tile.row + C.side * r); });
        store_bias_gradient(t, gradients, view{&tile_of.ds},
                            origin_of<each>(t, block, query, t.let(keys.first + tile.column), keys.end));
      }
      tile_of.differentiate();
      tile.put(tile_of.ds, true);
      tile.accumulate(dq, of.k, keys.first, keys.limit, first_column);
    }
    if (auto wanted = t.when(gradients[&attention_gradients::dq][&attention_strides::address] != u64{0})) {
      const auto rows = attention_head_rows::of(t, gradients[&attention_gradients::dq], block, block.head,
                                                block.first_q_row, of.q.size);
      const val scale = t.let(problem[&attention_problem::scale]);
      tile.store(dq, rows, block.first_query, block.query_limit, first_column, scale);
    }
  }

 private:
  // Calls compute(i) for each tile i of the block, every gridDim.x-th, for which flagged(i) is true. The
  // threads first read C.threads flags at once, since mostly none is set.
  template <class Flagged, class Compute>
  static constexpr void for_flagged(thread t, const val<u32>& all, const Flagged& flagged,
                                    const Compute& compute) {
    const val step = t.let(grid_dim_x());
    const val tiles_of_block = t.let((all - block_idx_x() + step - 1u) / step);
    for (auto first : t.range(0u, tiles_of_block, C.threads).no_unroll()) {
      const val own = t.let(first + t.thread_rank());
      var found(t, false);
      if (auto exists = t.when(own < tiles_of_block)) found = flagged(t.let(block_idx_x() + own * step));
      if (auto some = t.when(block_any(t, found)))
        for (auto i : t.range(first, min(first + C.threads, tiles_of_block)).no_unroll()) {
          const val index = t.let(block_idx_x() + i * step);
          if (auto has_to = t.when(flagged(index))) {
            compute(index);
            t.barrier();  // compute overwrites tiles in shared memory
          }
        }
    }
  }
};

template <attention_backward_simt_config C, class Score, class Mask, class OfScore, class OfMask>
struct attention_backward_simt_kernels;

template <attention_backward_simt_config C, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_backward_simt_kernels<C, Score, Mask, attention_parameters<OfScore...>,
                                       attention_parameters<OfMask...>> {
  static constexpr auto name_of(auto what) {
    return "attention_backward_simt_" + what + "_d" + decimal<C.depth> + "_" + decimal<C.tile> + "x" +
           decimal<C.tile> + "_" + attention_function_name<Score> + "_" + attention_function_name<Mask>;
  }
  static constexpr kernel_options options{.large_shared = true, .min_blocks = 1};

  using functions = backward_functions_of<Score, Mask>;

  static constexpr auto keys = kaio::kernel<name_of(fixed_string("keys")), block_size{C.threads}, options>(
      [](thread t, val<attention_problem> problem, val<attention_gradients> gradients, OfScore... of_score,
         OfMask... of_mask) {
        attention_backward_simt_body<C>::of_keys(t, problem, gradients,
                                                 functions::of(t, gradients, of_score..., of_mask...));
      });
  static constexpr auto queries =
      kaio::kernel<name_of(fixed_string("queries")), block_size{C.threads}, options>(
          [](thread t, val<attention_problem> problem, val<attention_gradients> gradients,
             OfScore... of_score, OfMask... of_mask) {
            attention_backward_simt_body<C>::of_queries(t, problem, gradients,
                                                        functions::of(t, gradients, of_score..., of_mask...));
          });
};

// The grid has the parts along y. Along x it has at most this many blocks, and fewer if there are flags:
//
//   ::keys       key_tiles * key_heads * batches
//   ::queries    query_tiles * heads * batches
//
// Both take the problem, the gradients, the arguments of the score, and those of the mask.
template <attention_backward_simt_config C, class Score, class Mask>
using attention_backward_simt =
    attention_backward_simt_kernels<C, Score, Mask, parameters_of_score<Score>, parameters_of_mask<Mask>>;

}  // namespace kaio::ops
