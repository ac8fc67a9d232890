#pragma once
// Attention by mma.sync, for sm_75 and later: O = softmax(mask(score(Q K^T))) V.
//
//             keys                  a block: warps x 16 queries of one head; a warp has its own 16 queries
//           +------+------+
//   queries |  S   |      |         S = Q K^T     in registers, 16 x keys per warp
//           +------+------+         P = softmax   in the same registers, rounded to T: already an operand
//               | P           O += P V            16 x depth per warp
//
// Shared memory holds one tile of K and one of V, which take turns:
//
//   copies   | V(j)     | K(j+1)              | V(j+1)  ...
//   warps    | S = Q K  | softmax, O += P V   | S = ...
//            ^ K(j) is here, V is free        ^ V(j) is here, K is free: a barrier each
//
// Without asynchronous copies (sm_75) a warp first loads and stores its share of a tile, then multiplies.
// Other warps and blocks fill the time.
//
// If O has more columns than a warp has registers for (head size 512), two warps share 16 queries. Each has
// half of the columns of O, and sums S over half of Q and K. They exchange these sums through shared memory:
// written before the second barrier, read after it. Both add the same two numbers, so they have the same S
// and softmax:
//
//   warp 0   | S0 = Q K of elements   0 to 255 | S = S0 + S1, softmax, O += P V, columns   0 to 255
//   warp 1   | S1 = Q K of elements 256 to 511 | S = S1 + S0, softmax, O += P V, columns 256 to 511
//
// Tiles of keys that the mask empties are skipped; tiles that it keeps whole do not run it.
// Source: Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/functions.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/forward/mma_sync/config.hpp>
#include <kaio/ops/attention/forward/mma_sync/finish.hpp>
#include <kaio/ops/attention/forward/mma_sync/shared.hpp>
#include <kaio/ops/attention/forward/mma_sync/warp.hpp>

#include <type_traits>

namespace kaio::ops {

template <attention_mma_config C, class T>
struct attention_mma_body {
  static_assert(C.valid(), "kaio: attention's kernel does not support this tile shape");
  using types = attention_mma_types<C, T>;
  using memory = in<typename types::stored>;

  template <class Functions>
  static constexpr void run(thread t, const memory& q, const memory& k, const memory& v,
                            const out<typename types::stored>& o, const val<attention_problem>& problem,
                            const Functions& functions) {
    const attention_mma_shared<C, T> shared(t);
    const auto find_own_block = [&] {
      return find_block(t, problem, t.let(block_idx_x()), C.queries(), functions.walks);
    };
    const attention_block block = find_own_block();
    const attention_mma_tensors<C, T> rows(t, problem, block, q, k, v);
    const auto range = functions.walks.template walk<C.keys>(t, block, C.queries());
    rows.q.copy(shared.q, block.first_query, block.query_limit);
    const auto first_keys = range.begin(t);
    rows.k.copy(shared.k, first_keys.first, first_keys.limit);

    attention_mma_warp<C, T> warp(t, shared, problem, block, functions.factor);
    if constexpr (C.q_in_registers) {
      shared.wait();
      warp.load_queries();
    }
    for (auto tile : t.range(range.first, range.last).no_unroll()) {
      const auto keys = range.tile(t, range.find(t, tile));
      auto s = attention_mma_warp<C, T>::zero_scores(t);  // 16 x keys
      const mma_scores<T, typename types::accumulator, types::key_parts> scores(s);
      shared.wait();
      rows.v.copy(shared.v, keys.first, keys.limit);
      warp.add_scores(t, problem, s);  // S = Q K^T
      warp.partials.put(t, s);
      shared.wait();
      if (auto more = t.when(tile + 1u < range.last)) {
        const auto next = range.after(t, tile, keys);
        rows.k.copy(shared.k, next.first, next.limit);
      }
      warp.partials.add_others(t, s);

      const val key = t.let(keys.first + warp.quad_column);
      const score_origin<2> origin = origin_of<2>(t, block, warp.query, key, keys.end);
      functions.score(scores, origin, warp.scale);
      range.mask(t, keys, scores, origin, functions.mask);
      warp.scale_rows(warp.softmax.step(scores, warp.factor));
      warp.add_values(t, problem, s);  // O += P V
    }

    // If registers are short, numbers that are only needed here are computed again.
    using finish = attention_mma_finish<C, T, Functions>;
    if constexpr (C.finds_block_again()) {
      const attention_block again = find_own_block();
      finish{t, shared, problem, functions, again}.store(
          warp, o, rows.v_size, [&] { return functions.walks.template walk<C.keys>(t, again, C.queries()); });
    } else {
      finish{t, shared, problem, functions, block}.store(warp, o, rows.v_size, [&] { return range; });
    }
  }
};

template <attention_mma_config C, class T, class Score, class Mask, class OfScore, class OfMask>
struct attention_mma_kernel;

template <attention_mma_config C, class T, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_mma_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
                            attention_parameters<OfMask...>> {
  static constexpr auto operand_name() {
    if constexpr (std::is_same_v<T, f32>)
      return fixed_string("tf32");
    else if constexpr (std::is_same_v<T, any_half>)
      return fixed_string("16bit");
    else if constexpr (C.sm < 80)
      return type_name<T> + "_sm" + decimal<C.sm>;
    else
      return type_name<T>;
  }
  static constexpr auto name = "attention_mma_" + operand_name() + "_d" +
                               attention_depth_name<C.depth_qk, C.depth_v> + "_" + decimal<C.queries()> +
                               "x" + decimal<C.keys> + "_" + attention_function_name<Score> + "_" +
                               attention_function_name<Mask>;
  static constexpr kernel_options options{.target = {C.sm}, .large_shared = true, .min_blocks = C.min_blocks};
  using functions = attention_functions_of<Score, Mask>;

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, in<stored_element<T>> q, in<stored_element<T>> k, in<stored_element<T>> v,
         out<stored_element<T>> o, val<attention_problem> problem, OfScore... of_score, OfMask... of_mask) {
        attention_mma_body<C, T>::run(t, q, k, v, o, problem, functions::of(t, of_score..., of_mask...));
      });
};

// Launched with a grid of query_tiles * heads * batches blocks along x. Arguments: q, k, v, o, the problem,
// then those of the score and of the mask.
template <attention_mma_config C, class T, class Score, class Mask>
inline constexpr auto attention_mma =
    attention_mma_kernel<C, T, Score, Mask, parameters_of_score<Score>, parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops
