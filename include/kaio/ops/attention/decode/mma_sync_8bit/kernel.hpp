#pragma once
// attention_decode of f16 and bf16 over a cache of e4m3, e5m2 or i8, for sm_80 and later. It is the 16-bit
// kernel (mma_sync/kernel.hpp) with the codes of a tile in shared memory. On the way to the matrix
// instructions codes become f16 in registers, exactly, for every format and type of Q. A branch before each
// product selects the format.
//
//   codes in a register     K: a lane of ldmatrix has four neighbours of a row
//                           V, transposed: it has two neighbours of each of two rows
//   operands                K: Q has its elements in the order that this gives (queries.hpp)
//                           V: columns 2 n of 16 are one operand, 2 n + 1 another: a lane has four
//                           neighbours of O
//
// products.hpp applies the scales. Sources: those of the 16-bit kernel.

#include <kaio/dsl/mma.hpp>
#include <kaio/ops/attention/decode/common/finish.hpp>
#include <kaio/ops/attention/decode/common/functions.hpp>
#include <kaio/ops/attention/decode/common/recompute.hpp>
#include <kaio/ops/attention/decode/common/row_scores.hpp>
#include <kaio/ops/attention/decode/mma_sync/copies.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/convert.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/exact.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/products.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/queries.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/scales.hpp>
#include <kaio/ops/attention/forward/mma_sync/product.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_decode_config C, std::uint16_t Sm>
struct attention_decode_quantised_body {
  static_assert(C.valid(), "kaio: attention_decode's kernel does not support this tile shape");
  using product = attention_product<f16, 80>;
  using accumulator = typename product::accumulator;
  using b_fragment = typename product::b_fragment;
  using copies_type = attention_decode_copies<C, f16, 2>;
  using ring = typename copies_type::ring;
  using q_tile = shared_tile<f16, C.rows, C.depth, dsl::swizzled<128>>;
  using finish_type = attention_decode_finish<C.rows, C.key_warps, C.depth, C.threads(),
                                              typename copies_type::swizzle, C.has_clusters()>;
  using scales_type = attention_decode_scales<C>;
  static constexpr std::uint32_t slices = C.depth / product::k, key_parts = C.own_keys() / 8,
                                 value_parts = C.depth / 8;
  static_assert(product::at_once == 2 && slices % 2 == 0 && key_parts % 2 == 0 && value_parts % 4 == 0);

  template <class Functions>
  static constexpr void run(thread t, const val<attention_problem>& problem,
                            const val<attention_cache>& cache, const val<attention_split>& split,
                            const Functions& functions, const val<attention_codes>& codes) {
    const q_tile q_shared(t);                            // rows x depth
    const ring tiles(t);                                 // own_keys x depth / 2 pairs of codes each
    const typename scales_type::memory scale_memory(t);  // (2 * stages) x keys
    const shared<f32, C.rows> q_factors(t);
    const finish_type finish(t, finish_type::sums_tile::over(tiles));
    const decode_block block =
        find_decode_block<C.has_clusters()>(t, problem, cache, split, functions, C.rows, C.keys);

    if (auto works = t.when(has_work(t, split, block))) {
      const scales_type scales(t, scale_memory, codes, block);
      compute(t, problem, cache, split, functions, codes, block, q_shared, tiles, scales, q_factors, finish);
    }
    if (auto idle = t.otherwise()) finish.store_nothing(problem, split, block);
    finish.template combine<any_element>(problem, split, block);
  }

 private:
  template <class Functions>
  static constexpr void compute(thread t, const val<attention_problem>& problem,
                                const val<attention_cache>& cache, const val<attention_split>& split,
                                const Functions& functions, const val<attention_codes>& codes,
                                const decode_block& block, const q_tile& q_shared, const ring& tiles,
                                const scales_type& scales, const shared<f32, C.rows>& q_factors,
                                const finish_type& finish) {
    copies_type copies(t, tiles, problem, cache, block);
    const val has_scales = t.let(any_of(scales.k_by_key, scales.v_by_key));
    const auto copy = [&] {
      copies.copy(has_scales,
                  [&](const val<u32>& into, const val<u32>& key, const val<u32>& page,
                      const val<u32>& row_of_page, const val<bool>& exists,
                      const val<u32>& piece) { scales.copy(into, key, page, row_of_page, exists, piece); });
    };
    for ([[maybe_unused]] auto s : t.range(0u, C.stages - 1).no_unroll()) copy();
    load_queries_as_f16<C.rows, C.depth, C.warps()>(t, q_shared, q_factors, problem, split, block);

    const val lane = t.lane_rank();
    const val warp = t.let(t.warp_rank());
    const val warp_row = t.let(warp / C.key_warps * 16u), key_warp = t.let(warp % C.key_warps);
    using accumulator_layout = typename accumulator::layout;
    const val quad_row = t.let(accumulator_layout::lane_row(lane));
    const val quad_column = t.let(accumulator_layout::lane_column(lane));
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = functions.factor(scale);
    const val kept = t.let(codes[&attention_codes::kept]);
    const val unit = t.let(select(kept == static_cast<u32>(cache_elements::e4m3), code_unit<e4m3, Sm>, 1.0f));
    const auto row = array_of<2>([&](u32 r) { return t.let(block.first_row + warp_row + quad_row + 8 * r); });
    const auto of_row = array_of<2>([&](u32 r) { return find_row(t, split, block, row[r]); });

    auto o_parts = array_of<value_parts>([&](u32) { return accumulator(t, 0.0f); });
    auto q_parts =
        array_of < C.q_in_registers ? slices : 1 > ([&](u32) { return typename product::a_fragment(t); });
    online_softmax<2> softmax(t);
    // The units of the rows of O: the weight of a value is this unit times the factor in the product.
    const val k_of_all = scales.k_of_all(), v_of_all = scales.v_of_all();
    auto of_values = array_of<2>([&](u32) { return var(t, select(scales.v_by_key, 0.0f, v_of_all)); });
    t.barrier();
    const auto of_scores =
        array_of<2>([&](u32 r) { return t.let(q_factors[warp_row + quad_row + 8 * r] * k_of_all * unit); });
    if constexpr (C.q_in_registers)
      for (std::uint32_t i = 0; i < slices; ++i) product::load_queries(q_parts[i], q_shared, warp_row, i);

    const auto k_lane = ldmatrix_lane<b_fragment, b_fragment>(tiles, 0, 0);
    const auto v_lane = ldmatrix_trans_lane<b_fragment, b_fragment>(tiles, 0, 0);
    var stage(t, 0u);
    for (auto first : t.range(block.first, block.last, C.keys).no_unroll()) {
      cp_async_wait_group<C.stages - 2>(t);
      t.barrier();
      copy();
      const val now = t.let(stage);
      const val entry = t.let(now * (2 * C.key_warps) + key_warp);
      const val own_key = t.let(key_warp * C.own_keys() + quad_column);  // within the tile
      const auto own_k = tiles[entry], own_v = tiles[t.let(entry + C.key_warps)];
      auto s_parts = array_of<key_parts>([&](u32) { return accumulator(t, 0.0f); });  // 16 x own_keys
      const mma_scores<f16, accumulator, key_parts> scores(s_parts);
      with_code_type(t, kept, [&]<class T>(T) {
        multiply_keys<T>(t, s_parts, q_parts, q_shared, warp_row, own_k, k_lane);
      });
      scale_scores(t, scores, s_parts, scales, now, own_key, of_scores);
      const val key = t.let(first + own_key);
      score_rows(t, scores, block, of_row, key, scale, functions);
      const val is_whole = t.let(all_of(first >= block.whole_first, first + C.keys <= block.whole_last,
                                        first + C.keys <= block.last));
      if (auto partial = t.when(!is_whole)) mask_rows(t, scores, block, of_row, key, functions);
      const auto correction =
          probabilities_of_codes(t, softmax, scores, s_parts, scales, now, own_key, factor, of_values);
      rescale(t, o_parts, correction);
      with_code_type(t, kept, [&]<class T>(T) {
        multiply_code_values<T, Sm, product>(t, o_parts, s_parts, own_v, v_lane);
      });
      stage = copies.following(now);
    }

    cp_async_wait_group<0>(t);
    t.barrier();
    const auto totals = array_of<2>([&](u32 r) { return softmax.total(r, factor); });
    const val sums_row = t.let(warp * 16u);
    const auto& sums = finish.sums();
    const auto of_sums = array_of<2>([&](u32 r) { return t.let(of_values[r] * unit); });
    auto found = array_of<2>([&](u32) { return var(t, 0.0f); });  // or NaN
    for (std::uint32_t g = 0; g < value_parts / 2; ++g)           // 16 columns
      for (u32 r = 0; r < 2; ++r) {
        const auto four = array_of<4>(
            [&](u32 e) { return t.let(o_parts[2 * g + e % 2].registers[2 * r + e / 2] * of_sums[r]); });
        for (const auto& x : four) found[r] = max_nan(found[r], x);
        store_vec(sums[sums_row + quad_row + 8 * r][quad_column * 2u + 16 * g],
                  make_vec(four[0], four[1], four[2], four[3]));
      }
    const auto wrong = array_of<2>([&](u32 r) {
      return t.let(
          all_of(isnan(found[r]), !isnan(totals[r].sum), row[r] < rows_of_sequence(t, split, block)));
    });
    const auto source_of = [&] {
      return quantised_rows_of_part<C>{t,
                                       problem,
                                       split,
                                       codes,
                                       block,
                                       warp_row,
                                       key_warp,
                                       t.let(problem[&attention_problem::qk_size]),
                                       t.let(problem[&attention_problem::v_size]),
                                       t.let(problem[&attention_problem::scale]),
                                       cached_places(t, cache, block.sequence)};
    };
    recompute_rows_of_part<f32, C.depth>(t, source_of, wrong, totals, factor, functions, sums, sums_row);
    if (auto leads = t.when(lane % 4u == 0u))
      for (u32 r = 0; r < 2; ++r) finish.put(t.let(sums_row + quad_row + 8 * r), totals[r]);
    t.barrier();
    finish.template store<any_element>(problem, split, block);
  }

  // S += Q K^T for the warp's keys, which are codes.
  template <class T, class Scores, class Queries, class Tile>
  static constexpr void multiply_keys(thread t, Scores& s_parts, Queries& q_parts, const q_tile& q_shared,
                                      const val<u32>& warp_row, const Tile& own_k,
                                      const typename ring::lane_type& at) {
    for (std::uint32_t i = 0; i < slices; i += 2) {
      auto own_q = array_of<2>([&](u32) { return typename product::a_fragment(t); });
      if constexpr (!C.q_in_registers)
        for (u32 h = 0; h < 2; ++h) product::load_queries(own_q[h], q_shared, warp_row, i + h);
      for (std::uint32_t j = 0; j < key_parts; j += 2) {
        const auto words = ldmatrix_x4(own_k.at(at, 8 * j, product::k * i / 2));
        for (u32 h = 0; h < 2; ++h)
          for (u32 n = 0; n < 2; ++n) {
            b_fragment b(t);
            convert_codes<T, Sm, code_order::neighbours>(t, words[2 * n + h], b.registers[0], b.registers[1]);
            if constexpr (C.q_in_registers)
              product::multiply_add(s_parts[j + n], q_parts[i + h], b);
            else
              product::multiply_add(s_parts[j + n], own_q[h], b);
          }
      }
    }
  }
};

template <attention_decode_config C, std::uint16_t Sm, class Score, class Mask, class OfScore, class OfMask>
struct attention_decode_quantised_kernel;

template <attention_decode_config C, std::uint16_t Sm, class Score, class Mask, class... OfScore,
          class... OfMask>
struct attention_decode_quantised_kernel<C, Sm, Score, Mask, attention_parameters<OfScore...>,
                                         attention_parameters<OfMask...>> {
  static constexpr auto name = "attention_decode_mma_8bit_sm" + decimal<Sm> + "_d" + decimal<C.depth> + "_" +
                               decimal<C.rows> + "x" + decimal<C.keys> + decode_functions_name<Score, Mask>;
  static constexpr kernel_options options{
      .target = {Sm}, .large_shared = true, .min_blocks = decode_min_blocks<Score, Mask>(C.min_blocks)};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, val<attention_problem> problem, val<attention_cache> cache, val<attention_split> split,
         OfScore... of_score, OfMask... of_mask, val<attention_codes> codes) {
        attention_decode_quantised_body<C, Sm>::run(
            t, problem, cache, split, decode_functions_of<Score, Mask>::of(t, of_score..., of_mask...),
            codes);
      });
};

// Launched like attention_decode_mma, with the codes as the last argument.
template <attention_decode_config C, std::uint16_t Sm, class Score = general_score, class Mask = band_mask>
inline constexpr auto attention_decode_quantised =
    attention_decode_quantised_kernel<C, Sm, Score, Mask, parameters_of_score<Score>,
                                      parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops
