#pragma once
// Attention by ordinary multiply-adds: O = softmax(mask(score(Q K^T))) V, computed in f32. f16 is converted
// when loaded and rounded when stored, so that one kernel can serve both types (f32_or_f16).
//
// A block has eight warps. Each takes a few rows of the block's queries and every `groups`-th tile of 32
// keys, so that `groups` warps share rows. The launch gives `groups`: with more of them a block has fewer
// queries, and few queries still fill a device.
//
//            keys  0     32    64    96    128        groups = 4, 16 rows per warp: 32 queries
//                +-----+-----+-----+-----+-- ..
//     rows 0     | w 0 | w 1 | w 2 | w 3 | w 0        a warp: row_lanes x column_lanes; a thread: 4 queries,
//     rows 16    | w 4 | w 5 | w 6 | w 7 | w 4        every column_lanes-th key, and fours of columns of O
//                +-----+-----+-----+-----+-- ..
//
//   for each `groups` tiles of keys:
//     for 32 columns at a time:       K to shared memory; S += Q K^T
//     softmax in registers, P to shared memory, each warp for itself
//     for value_keys keys at a time:  V to the memory of K; O += P V
//   add the O of warps that share rows in their order, each corrected to the largest score of all
//
// A barrier precedes each use of data that other threads wrote.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/functions.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/forward/simt/config.hpp>
#include <kaio/ops/attention/forward/simt/divided_walks.hpp>
#include <kaio/ops/attention/forward/simt/finish.hpp>
#include <kaio/ops/attention/forward/simt/loads.hpp>
#include <kaio/ops/attention/forward/simt/scores.hpp>
#include <kaio/ops/attention/forward/simt/shared.hpp>
#include <kaio/ops/attention/forward/simt/warp.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <type_traits>

namespace kaio::ops {

template <attention_simt_config C, class T>
struct attention_simt_body {
  static_assert(C.valid(), "kaio: attention's kernel does not support this tile shape");
  using shape = attention_simt_shape<C>;
  using memory = in<stored_element<T>>;
  using rows = simt::tensor_rows<T>;
  // Element type of a bias, besides f32.
  using score_element = std::conditional_t<std::is_same_v<T, f32_or_f16>, f16, T>;

  template <class Functions>
  static constexpr void run(thread t, const memory& q, const memory& k, const memory& v,
                            const out<stored_element<T>>& o, const val<attention_problem>& problem,
                            const val<u32>& groups, const Functions& functions) {
    const attention_simt_shared<C> shared(t);
    const attention_simt_place place(t, groups);
    const divided_walks<C, decltype(functions.walks)> walks{functions.walks, groups};
    const attention_block block = find_block(t, problem, t.let(block_idx_x()), shape::most_queries, walks);
    const val qk_size = t.let(problem[&attention_problem::qk_size]);
    const val v_size = t.let(problem[&attention_problem::v_size]);
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = functions.factor(scale);
    const attention_simt_origin<C> own(t, place);
    const auto range = walks.walk(t, block);
    const rows of_q(t, problem, q, problem[&attention_problem::q], block, block.head, block.first_q_row,
                    qk_size);  // queries x qk_size
    const rows of_k(t, problem, k, problem[&attention_problem::k], block, block.group, block.first_k_row,
                    qk_size);  // keys x qk_size
    load_queries(t, shared, of_q, block, walks.queries(t));
    attention_simt_warp<C> warp(t, shared, place, own);

    for (auto j : t.range(range.first, range.last, groups).no_unroll()) {
      const val number = t.let(j + place.group);
      const val works = t.let(number < range.last);
      const auto keys = range.tile(t, range.find(t, t.let(min(number, range.last - 1u))));
      if (auto leads = t.when(place.rank < groups * 32u))
        shared.tiles.put(t, place.group, works, keys.first, keys.limit);
      auto s = attention_simt_warp<C>::zero_scores(t);  // rows x columns
      for (auto first : t.range(0u, qk_size, C.chunk).no_unroll()) {
        t.barrier();
        simt::load_tiles<C, C.chunk>(t, shared.k, of_k, shared.tiles, groups, 0u, t.let(first));
        t.barrier();
        if (auto some = t.when(works)) warp.add_scores(s, first);  // S += Q K^T
      }
      if (auto some = t.when(works)) {
        const simt_scores<score_element, shape::rows, shape::columns, shape::lanes> scores{&s};
        const score_origin<shape::rows> origin = warp.places(block, keys);
        functions.score(scores, origin, scale);
        range.mask(t, keys, scores, origin, functions.mask);
        warp.take_probabilities(s, warp.softmax.step(scores, factor));
      }
      for (auto first : t.range(0u, C.tile_keys, shape::value_keys).no_unroll()) {
        t.barrier();
        // The offset of V is computed for each part: kept in registers, it spilled on sm_70.
        const rows of_v(t, problem, v, problem[&attention_problem::v], block, block.group, block.first_k_row,
                        v_size);  // keys x v_size
        simt::load_tiles<C, C.depth>(t, shared.v, of_v, shared.tiles, groups, t.let(first), 0u);
        t.barrier();
        if (auto some = t.when(works)) warp.add_values(first);  // O += P V
      }
    }
    using finish = attention_simt_finish<C, T, decltype(walks)>;
    finish{t, shared, problem, block, walks}.store(warp, factor, o, v_size);
  }

 private:
  static constexpr void load_queries(thread t, const attention_simt_shared<C>& shared, const rows& of_q,
                                     const attention_block& block, const val<u32>& queries) {
    for (auto i : t.range(t.thread_rank(), t.let(queries * (C.depth / 4)), C.threads).no_unroll()) {
      const val row = t.let(i / (C.depth / 4)), column = t.let(i % (C.depth / 4) * 4u);
      auto x = simt::zeros(t);
      of_q.with_elements(t, [&](const auto& elements) {
        of_q.four(t, x, elements, t.let(block.first_query + row), block.query_limit, column);
      });
      store_vec(shared.q[row][column], make_vec(x[0], x[1], x[2], x[3]));
    }
  }
};

template <attention_simt_config C, class T, class Score, class Mask, class OfScore, class OfMask>
struct attention_simt_kernel;

template <attention_simt_config C, class T, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_simt_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
                             attention_parameters<OfMask...>> {
  static constexpr auto element_name() {
    if constexpr (std::is_same_v<T, f32_or_f16>)
      return fixed_string("any");
    else
      return type_name<T>;
  }
  static constexpr auto name = "attention_simt_" + element_name() + "_d" + decimal<C.depth> + "_" +
                               decimal<C.queries(C.least_groups)> + "x" + decimal<C.keys(C.least_groups)> +
                               "_" + attention_function_name<Score> + "_" + attention_function_name<Mask>;
  static constexpr kernel_options options{.large_shared = true, .min_blocks = C.blocks};
  using functions = attention_functions_of<Score, Mask>;

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads}, options>(
      [](thread t, in<stored_element<T>> q, in<stored_element<T>> k, in<stored_element<T>> v,
         out<stored_element<T>> o, val<attention_problem> problem, val<u32> groups, OfScore... of_score,
         OfMask... of_mask) {
        attention_simt_body<C, T>::run(t, q, k, v, o, problem, groups,
                                       functions::of(t, of_score..., of_mask...));
      });
};

// Launched like attention_mma, with `groups` after the problem.
template <attention_simt_config C, class T, class Score, class Mask>
inline constexpr auto attention_simt =
    attention_simt_kernel<C, T, Score, Mask, parameters_of_score<Score>, parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops
