#pragma once
// attention_decode with the matrix instructions of a warp, for sm_80 and later.
//
//             keys                      a block: `rows` rows, which are the queries of all heads that share a
//           +------+------+               KV head, and a split of the keys
//     rows  |  S   |      |             S = Q K^T, P = softmax, O += P V: in the registers of a warp, as in
//           +------+------+               attention
//
//   rows = 64    a warp has 16 rows, and all keys of a tile
//   rows = 16    all warps have the same rows, each its own keys of a tile; at the end their sums are added:
//
//     tile       | warp 0 | warp 1 | warp 2 | warp 3 |        16 keys each of 64
//
// K and V arrive in a ring of tiles. After the one barrier of a tile, the copies of a further tile are
// issued:
//
//   copies   | tile 1        | tile 2        | ...
//   warps    | tile 0        | tile 1        |
//
// Sources: Dao, "FlashAttention-2", 2023; Dao et al., "Flash-Decoding for long-context inference", 2023.

#include <kaio/dsl/mma.hpp>
#include <kaio/ops/attention/decode/common/finish.hpp>
#include <kaio/ops/attention/decode/common/functions.hpp>
#include <kaio/ops/attention/decode/common/recompute.hpp>
#include <kaio/ops/attention/decode/common/row_scores.hpp>
#include <kaio/ops/attention/decode/mma_sync/copies.hpp>
#include <kaio/ops/attention/decode/mma_sync/part_rows.hpp>
#include <kaio/ops/attention/decode/mma_sync/queries.hpp>
#include <kaio/ops/attention/forward/mma_sync/product.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_decode_config C, class T>
struct attention_decode_body {
  static_assert(C.valid(), "kaio: attention_decode's kernel does not support this tile shape");
  using stored = stored_element<T>;
  using product = attention_product<T, 80>;
  using accumulator = typename product::accumulator;
  using swizzle = dsl::swizzled<128>;
  using copies_type = attention_decode_copies<C, stored>;
  using ring = typename copies_type::ring;
  using q_tile = shared_tile<stored, C.rows, C.depth, swizzle>;
  using finish_type = attention_decode_finish<C.rows, C.key_warps, C.depth, C.threads(), dsl::swizzled<128>,
                                              C.has_clusters()>;
  static constexpr std::uint32_t slices = C.depth / product::k, key_parts = C.own_keys() / 8,
                                 p_slices = C.own_keys() / product::k, value_parts = C.depth / 8;
  static constexpr std::uint32_t at_once = product::at_once;

  template <class Functions>
  static constexpr void run(thread t, const val<attention_problem>& problem,
                            const val<attention_cache>& cache, const val<attention_split>& split,
                            const Functions& functions) {
    const q_tile q_shared(t);  // rows x depth
    const ring tiles(t);       // own_keys x depth each
    const finish_type finish(t, finish_type::sums_tile::over(tiles));
    const decode_block block =
        find_decode_block<C.has_clusters()>(t, problem, cache, split, functions, C.rows, C.keys);

    if (auto works = t.when(has_work(t, split, block)))
      compute(t, problem, cache, split, functions, block, q_shared, tiles, finish);
    if (auto idle = t.otherwise()) finish.store_nothing(problem, split, block);
    finish.template combine<T>(problem, split, block);
  }

 private:
  static constexpr auto fragments_of_b(thread t) {
    return array_of<at_once>([&](u32) { return typename product::b_fragment(t); });
  }

  template <class Functions>
  static constexpr void compute(thread t, const val<attention_problem>& problem,
                                const val<attention_cache>& cache, const val<attention_split>& split,
                                const Functions& functions, const decode_block& block, const q_tile& q_shared,
                                const ring& tiles, const finish_type& finish) {
    load_decode_queries<stored>(t, q_shared, problem, split, block);
    copies_type copies(t, tiles, problem, cache, block);
    for (std::uint32_t s = 0; s + 1 < C.stages; ++s) copies.copy();

    const val lane = t.lane_rank();
    const val warp = t.let(t.warp_rank());
    const val warp_row = t.let(warp / C.key_warps * 16u), key_warp = t.let(warp % C.key_warps);
    using accumulator_layout = typename accumulator::layout;
    const val quad_row = t.let(accumulator_layout::lane_row(lane));
    const val quad_column = t.let(accumulator_layout::lane_column(lane));
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = functions.factor(scale);
    const auto row_of = [&](u32 r) { return t.let(block.first_row + warp_row + quad_row + 8 * r); };
    const auto of_row = array_of<2>([&](u32 r) { return find_row(t, split, block, row_of(r)); });

    auto o_parts = array_of<value_parts>([&](u32) { return accumulator(t, 0.0f); });
    auto q_parts =
        array_of < C.q_in_registers ? slices : 1 > ([&](u32) { return typename product::a_fragment(t); });
    online_softmax<2> softmax(t);
    if constexpr (C.q_in_registers) {
      cp_async_wait_group<C.stages - 1>(t);
      t.barrier();
      for (std::uint32_t i = 0; i < slices; ++i) product::load_queries(q_parts[i], q_shared, warp_row, i);
    }

    var stage(t, 0u);
    for (auto first : t.range(block.first, block.last, C.keys).no_unroll()) {
      cp_async_wait_group<C.stages - 2>(t);
      t.barrier();
      copies.copy();
      const val entry = t.let(stage * (2 * C.key_warps) + key_warp);
      const auto own_k = tiles[entry], own_v = tiles[t.let(entry + C.key_warps)];
      auto s_parts = array_of<key_parts>([&](u32) { return accumulator(t, 0.0f); });  // 16 x own_keys
      const mma_scores<T, accumulator, key_parts> scores(s_parts);
      with_attention_product<T>(t, type_of_operands(t, split), [&]<class Product>(Product) {
        for (std::uint32_t i = 0; i < slices; ++i) {
          auto& a = q_parts[C.q_in_registers ? i : 0];
          if constexpr (!C.q_in_registers) Product::load_queries(a, q_shared, warp_row, i);
          for (std::uint32_t j = 0; j < key_parts; j += at_once) {
            auto b = fragments_of_b(t);
            Product::load_keys(b, own_k, 8 * j, i);
            for (std::uint32_t n = 0; n < at_once; ++n) Product::multiply_add(s_parts[j + n], a, b[n]);
          }
        }
      });

      const val key = t.let(first + key_warp * C.own_keys() + quad_column);
      score_rows(t, scores, block, of_row, key, scale, functions);
      const val is_whole = t.let(all_of(first >= block.whole_first, first + C.keys <= block.whole_last,
                                        first + C.keys <= block.last));
      if (auto partial = t.when(!is_whole)) mask_rows(t, scores, block, of_row, key, functions);
      const auto correction = softmax.step(scores, factor);
      rescale(t, o_parts, correction);

      with_attention_product<T>(t, type_of_operands(t, split), [&]<class Product>(Product) {
        for (std::uint32_t c = 0; c < p_slices; ++c) {
          typename product::a_fragment p(t);  // 16 x k of P
          Product::take_probabilities(p, s_parts, c);
          for (std::uint32_t j = 0; j < value_parts; j += at_once) {
            auto b = fragments_of_b(t);
            Product::load_values(t, b, own_v, c, 8 * j);
            for (std::uint32_t n = 0; n < at_once; ++n) Product::multiply_add(o_parts[j + n], p, b[n]);
          }
        }
      });
      stage = copies.following(t.let(stage));
    }

    cp_async_wait_group<0>(t);
    t.barrier();
    const auto totals = array_of<2>([&](u32 r) { return softmax.total(r, factor); });
    const val sums_row = t.let(warp * 16u);
    const auto& sums = finish.sums();
    for (std::uint32_t j = 0; j < value_parts; ++j)
      for (u32 r = 0; r < 2; ++r) {
        const auto& from = o_parts[j].registers;
        store_vec(sums[sums_row + quad_row + 8 * r][quad_column + 8 * j],
                  make_vec(t.let(from[2 * r]), t.let(from[2 * r + 1])));
      }
    const auto found = array_of<2>([&](u32 r) {
      var any(t, o_parts[0].registers[2 * r]);
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (u32 e = 2 * r; e < 2 * r + 2; ++e) any = max_nan(any, o_parts[j].registers[e]);
      return t.let(all_of(isnan(any), !isnan(totals[r].sum)));
    });
    const decode_block ended = find_again(t, problem, block);
    const val rows = rows_of_sequence(t, split, ended);
    const auto wrong = array_of<2>([&](u32 r) { return t.let(all_of(found[r], row_of(r) < rows)); });
    const auto source_of = [&] {
      return rows_of_decode_part<C, T>(t, problem, cache, split, ended, warp_row, key_warp);
    };
    recompute_rows_of_part<T, C.depth>(t, source_of, wrong, totals, factor, functions, sums, sums_row);
    if (auto leads = t.when(lane % 4u == 0u))
      for (u32 r = 0; r < 2; ++r) finish.put(t.let(sums_row + quad_row + 8 * r), totals[r]);
    t.barrier();
    finish.template store<T>(problem, split, ended);
  }
};

template <attention_decode_config C, class T, class Score, class Mask, class OfScore, class OfMask>
struct attention_decode_kernel;

template <attention_decode_config C, class T, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_decode_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
                               attention_parameters<OfMask...>> {
  static constexpr auto name = "attention_decode_mma_" + half_name<T> + "_d" + decimal<C.depth> + "_" +
                               decimal<C.rows> + "x" + decimal<C.keys> + decode_target_name<C.sm> +
                               decode_functions_name<Score, Mask>;
  static constexpr kernel_options options{
      .target = {C.sm}, .large_shared = true, .min_blocks = decode_min_blocks<Score, Mask>(C.min_blocks)};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, val<attention_problem> problem, val<attention_cache> cache, val<attention_split> split,
         OfScore... of_score, OfMask... of_mask) {
        attention_decode_body<C, T>::run(t, problem, cache, split,
                                         decode_functions_of<Score, Mask>::of(t, of_score..., of_mask...));
      });
};

// Launched with key_heads * row_tiles * splits * batches blocks along x. The arguments are the problem, the
// cache, the split, the arguments of the score, and those of the mask.
template <attention_decode_config C, class T, class Score = general_score, class Mask = band_mask>
inline constexpr auto attention_decode_mma =
    attention_decode_kernel<C, T, Score, Mask, parameters_of_score<Score>, parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops
