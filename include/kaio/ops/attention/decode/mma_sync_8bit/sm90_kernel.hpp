#pragma once
// attention_decode of f16 and bf16 over a cache of e4m3, e5m2 or i8, for sm_90. It is the 16-bit kernel
// (mma_sync_sm90/kernel.hpp) with tiles of the same bytes, which have twice the keys. Codes become f16 on the
// way to the matrix instructions, as in kernel.hpp. Scales that differ from key to key are copied with the
// keys.

#include <kaio/dsl/mma.hpp>
#include <kaio/ops/attention/decode/common/functions.hpp>
#include <kaio/ops/attention/decode/common/recompute.hpp>
#include <kaio/ops/attention/decode/common/row_scores.hpp>
#include <kaio/ops/attention/decode/mma_sync/config.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/exact.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/products.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/scales.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/sm90_queries.hpp>
#include <kaio/ops/attention/decode/mma_sync_sm90/combine.hpp>
#include <kaio/ops/attention/decode/mma_sync_sm90/copies.hpp>
#include <kaio/ops/attention/decode/mma_sync_sm90/run.hpp>
#include <kaio/ops/attention/forward/mma_sync/product.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_decode_config C>
class attention_decode_sm90_codes_body {
  static_assert(C.valid() && C.rows == 16 && C.q_in_registers && C.has_clusters(),
                "kaio: this tile shape of an attention_decode is none that the kernel for sm_90 can run");
  using scales_type = attention_decode_scales<C>;
  // Copies the scales of the keys that a warp copies.
  struct with_scales {
    thread t;
    const scales_type* scales;
    val<bool> any;
    constexpr void operator()(const val<u32>& stage, const val<u32>& key, const val<u32>& page,
                              const val<u32>& row, const val<bool>& exists, const val<u32>& piece) const {
      if (auto some = t.when(any)) scales->copy(stage, key, page, row, exists, piece);
    }
  };

 public:
  static constexpr auto config = C;
  using product = attention_product<f16, 80>;
  using accumulator = typename product::accumulator;
  using operands = attention_decode_code_operands<product, C.depth, C.sm>;
  using warp_copies = attention_decode_warp_copies<C, f16, 2>;
  using ring = typename warp_copies::ring;
  using sums_type = attention_decode_warp_sums<C, ring>;
  using output = any_element;
  static constexpr std::uint32_t slices = operands::slices, key_parts = C.own_keys() / 8,
                                 value_parts = C.depth / 8;
  struct sums_of_keys {
    dsl::register_array<accumulator, value_parts> o_parts;  // 16 x depth
    online_softmax<2> softmax;
    dsl::register_array<var<f32>, 2> of_values;  // the units of the rows of O
  };

  constexpr attention_decode_sm90_codes_body(thread t, const val<attention_codes>& codes)
      : codes_(codes), scale_memory_(t) {}

  static constexpr sums_of_keys start(thread t) {
    return {array_of<value_parts>([&](u32) { return accumulator(t, 0.0f); }), online_softmax<2>(t),
            array_of<2>([&](u32) { return var(t, 1.0f); })};
  }

  // Multiplies all keys of the warp. q_rows: rows l / 4 and l / 4 + 8 of lane l, which load_q loads.
  template <class Functions, class LoadQ, class QRows>
  constexpr void multiply(thread t, const val<attention_problem>& problem, const val<attention_cache>& cache,
                          const val<attention_split>& split, const Functions& functions,
                          const decode_block& block, const decode_columns& columns, const ring& tiles,
                          const val<u32>& warp, const val<f32>& factor, const val<u32>& rows,
                          const LoadQ& load_q, const QRows& q_rows, sums_of_keys& state) const {
    auto& o_parts = state.o_parts;
    const scales_type scales(t, scale_memory_, codes_, block);
    const val has_scales = t.let(any_of(scales.k_by_key, scales.v_by_key));
    const val settled = settled_keys(t, cache, split, block);
    attention_decode_warp_copies<C, f16, 2, with_scales> copies(t, tiles, problem, cache, columns, block,
                                                                settled, warp, {t, &scales, has_scales});
    load_q();
    const val quad_row = t.let(accumulator::layout::lane_row(t.lane_rank()));
    const val quad_column = t.let(accumulator::layout::lane_column(t.lane_rank()));
    const auto row_of = array_of<2>([&](u32 r) { return t.let(block.first_row + quad_row + 8 * r); });
    const auto of_row = array_of<2>([&](u32 r) { return find_row(t, split, block, row_of[r]); });
    auto q = array_of<slices>([&](u32) { return typename product::a_fragment(t); });  // 16 x depth
    copies.copy_further();
    const val k_of_all = scales.k_of_all(), v_of_all = scales.v_of_all();
    const val is_bf16 = t.let(split[&attention_split::type] == static_cast<u32>(element_type::bf16));
    const val first_factor =
        operands::template take_row<0>(t, q, problem, is_bf16, q_rows[0], t.let(quad_row < rows));
    const val second_factor =
        operands::template take_row<1>(t, q, problem, is_bf16, q_rows[1], t.let(quad_row + 8u < rows));
    const auto of_scores =
        array_of<2>([&](u32 r) { return t.let((r == 0 ? first_factor : second_factor) * k_of_all); });
    for (auto& unit : state.of_values) unit = select(scales.v_by_key, 0.0f, v_of_all);
    const val scale = t.let(problem[&attention_problem::scale]);
    const val kept = t.let(codes_[&attention_codes::kept]);
    const auto first_entry = tiles[0];
    const auto key_lanes = operands::lanes_of(t, warp_copies::keys_of(first_entry));
    const auto value_lane = ldmatrix_trans_lane<typename product::b_fragment, typename product::b_fragment>(
        warp_copies::keys_of(first_entry), 0, 0);

    copies.each_tile(block, [&](const auto& at_stage, const auto& first) {
      const val stage = t.let(at_stage);
      const auto entry = tiles[t.let(stage * C.key_warps + warp)];
      const auto own_k = warp_copies::keys_of(entry), own_v = warp_copies::values_of(entry);
      auto s_parts = array_of<key_parts>([&](u32) { return accumulator(t, 0.0f); });  // 16 x own_keys
      with_code_type(t, kept, [&]<class T>(T) {
        for (std::uint32_t j = 0; j < key_parts; ++j) {
          const auto k = operands::template load_keys<T>(t, own_k, key_lanes, 8 * j);
          for (std::uint32_t i = 0; i < slices; ++i) product::multiply_add(s_parts[j], q[i], k[i]);
        }
      });

      const mma_scores<f16, accumulator, key_parts> scores(s_parts);
      const val own_key = t.let(warp * C.own_keys() + quad_column);  // within the tile
      scale_scores(t, scores, s_parts, scales, stage, own_key, of_scores);
      score_rows(t, scores, block, of_row, t.let(first + own_key), scale, functions);
      const val is_whole = t.let(all_of(first >= block.whole_first, first + C.keys <= block.whole_last,
                                        first + C.keys <= block.last));
      if (auto partial = t.when(!is_whole))
        mask_rows(t, scores, block, of_row, t.let(first + own_key), functions);
      const auto correction = probabilities_of_codes(t, state.softmax, scores, s_parts, scales, stage,
                                                     own_key, factor, state.of_values);
      rescale(t, o_parts, correction);
      with_code_type(t, kept, [&]<class T>(T) {
        multiply_code_values<T, C.sm, product>(t, o_parts, s_parts, own_v, value_lane);
      });
    });
    for (std::uint32_t j = 0; j < value_parts; ++j)
      for (u32 e = 0; e < 4; ++e) o_parts[j].registers[e] *= state.of_values[e / 2];
  }

  // Leaves the sums in the warp's entry of the ring, four neighbours of a row at a time. Rows from 8 on are
  // left only if the tile has any.
  template <class Totals>
  static constexpr void leave(thread t, const sums_type& sums, const val<u32>& warp, const val<u32>& row,
                              const val<u32>& rows, const sums_of_keys& state, const Totals& totals) {
    const val column = t.let(accumulator::layout::lane_column(t.lane_rank()) * 2u);
    const auto entry = sums.of_warp(warp);
    const auto lane = entry.lane(row, column, 16);
    const val leads = t.let(t.lane_rank() % 4u == 0u);
    const auto of_half = [&](u32 r) {
      for (std::uint32_t g = 0; g < value_parts / 2; ++g) {
        const auto four =
            array_of<4>([&](u32 e) { return t.let(state.o_parts[2 * g + e % 2].registers[2 * r + e / 2]); });
        store_vec(entry.at(lane.further(8 * r, 16 * g)), make_vec(four[0], four[1], four[2], four[3]));
      }
      if (auto once = t.when(leads)) sums.put(warp, t.let(row + 8 * r), totals[r]);
    };
    of_half(0);
    if (auto more = t.when(rows > 8u)) of_half(1);
  }

  // Computes rows again that have become NaN through values to which they do not attend.
  template <class Functions, class Totals>
  constexpr void compute_again(thread t, const val<attention_problem>& problem,
                               const val<attention_cache>& cache, const val<attention_split>& split,
                               const Functions& functions, const decode_block& block, const val<u32>& warp,
                               const val<u32>& row, const val<f32>& factor, const sums_of_keys& state,
                               const Totals& totals, const sums_type& sums) const {
    const auto wrong = rows_with_nan(t, split, block, row, state.o_parts, totals);
    const val none = t.let(0u);
    const auto source_of = [&] {
      return quantised_rows_of_part<C>{t,
                                       problem,
                                       split,
                                       codes_,
                                       block,
                                       none,
                                       warp,
                                       t.let(problem[&attention_problem::qk_size]),
                                       t.let(problem[&attention_problem::v_size]),
                                       t.let(problem[&attention_problem::scale]),
                                       cached_places(t, cache, block.sequence)};
    };
    recompute_rows_of_part<f32, C.depth>(t, source_of, wrong, totals, factor, functions, sums.of_warp(warp),
                                         none);
  }

 private:
  const val<attention_codes>& codes_;
  typename scales_type::memory scale_memory_;  // (2 * stages) x keys
};

template <attention_decode_config C>
struct attention_decode_sm90_codes_kernel {
  static constexpr auto name = "attention_decode_mma_8bit" + decode_target_name<C.sm> + "_d" +
                               decimal<C.depth> + "_" + decimal<C.rows> + "x" + decimal<C.keys>;
  static constexpr kernel_options options{.target = {C.sm}, .large_shared = true, .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, val<attention_problem> problem, val<attention_cache> cache, val<attention_split> split,
         val<attention_terms> terms, val<attention_band> band, val<attention_codes> codes) {
        run_attention_decode_sm90(t, problem, cache, split,
                                  decode_functions_of<general_score, band_mask>::of(t, terms, band),
                                  attention_decode_sm90_codes_body<C>(t, codes));
      });
};

// Launched like attention_decode_sm90, with the codes as the last argument.
template <attention_decode_config C>
inline constexpr auto attention_decode_sm90_codes = attention_decode_sm90_codes_kernel<C>::kernel;

}  // namespace kaio::ops
