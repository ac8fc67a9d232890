#pragma once
// attention_decode of few rows for sm_90. A small call has one or two tiles of keys per block. Its time is
// mainly that from the launch to the first copy, and from the last copy to the result.
//
//             keys                      a block: up to 16 rows, which are the queries of all heads that share
//           +------+------+               a KV head, and a split of the keys
//     rows  |  S   |      |             S = Q K^T, P = softmax, O += P V: in the registers of a warp
//           +------+------+
//
//     tile       | warp 0 | warp 1 | warp 2 | warp 3 |        16 keys each of 64
//
// Warps share nothing until the end: each copies its own keys and values to its own ring, and waits only for
// them. What follows from the launch is computed before the wait for the previous kernel. Then comes a chain
// of dependent reads: length, page, keys. If no previous kernel writes lengths and pages, both are found
// before the wait.
//
//   launch -- place in the grid, addresses -- wait -- length, Q -- page -- copies of K, V -- S -- P -- O ---+
//                                                 -- length -- page -- wait -- Q, copies ...
//   totals, sums of p * v to shared memory -- barrier -- sum of warps -- sum of blocks (combine.hpp) <------+
//
// Sources: those of mma_sync/kernel.hpp.

#include <kaio/dsl/mma.hpp>
#include <kaio/ops/attention/decode/common/functions.hpp>
#include <kaio/ops/attention/decode/common/recompute.hpp>
#include <kaio/ops/attention/decode/common/row_scores.hpp>
#include <kaio/ops/attention/decode/mma_sync/config.hpp>
#include <kaio/ops/attention/decode/mma_sync/part_rows.hpp>
#include <kaio/ops/attention/decode/mma_sync_sm90/combine.hpp>
#include <kaio/ops/attention/decode/mma_sync_sm90/copies.hpp>
#include <kaio/ops/attention/decode/mma_sync_sm90/queries.hpp>
#include <kaio/ops/attention/decode/mma_sync_sm90/run.hpp>
#include <kaio/ops/attention/forward/mma_sync/product.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_decode_config C, class T>
struct attention_decode_sm90_body {
  static_assert(C.valid() && C.rows == 16 && C.q_in_registers && C.has_clusters(),
                "kaio: this tile shape of an attention_decode is none that the kernel for sm_90 can run");
  using product = attention_product<T, 80>;
  using operands = attention_decode_operands<product, C.depth>;
  using accumulator = typename product::accumulator;
  using warp_copies = attention_decode_warp_copies<C, stored_element<T>>;
  using ring = typename warp_copies::ring;
  using sums_type = attention_decode_warp_sums<C, ring>;
  using output = T;
  static constexpr auto config = C;
  static constexpr std::uint32_t slices = operands::slices, key_parts = C.own_keys() / 8,
                                 p_slices = C.own_keys() / product::k, value_parts = C.depth / 8;
  static constexpr std::uint32_t at_once = product::at_once;
  struct sums_of_keys {
    dsl::register_array<accumulator, value_parts> o_parts;  // 16 x depth
    online_softmax<2> softmax;
  };
  static constexpr sums_of_keys start(thread t) {
    return {array_of<value_parts>([&](u32) { return accumulator(t, 0.0f); }), online_softmax<2>(t)};
  }

  // Multiplies all keys of the warp. q_rows: rows l / 4 and l / 4 + 8 of lane l, which load_q loads.
  template <class Functions, class LoadQ, class QRows>
  static constexpr void multiply(thread t, const val<attention_problem>& problem,
                                 const val<attention_cache>& cache, const val<attention_split>& split,
                                 const Functions& functions, const decode_block& block,
                                 const decode_columns& columns, const ring& tiles, const val<u32>& warp,
                                 const val<f32>& factor, const val<u32>& rows, const LoadQ& load_q,
                                 const QRows& q_rows, sums_of_keys& state) {
    auto& o_parts = state.o_parts;
    auto& softmax = state.softmax;
    const val settled = settled_keys(t, cache, split, block);
    warp_copies copies(t, tiles, problem, cache, columns, block, settled, warp);
    load_q();
    const val quad_row = t.let(accumulator::layout::lane_row(t.lane_rank()));
    const val quad_column = t.let(accumulator::layout::lane_column(t.lane_rank()));
    const auto row_of = array_of<2>([&](u32 r) { return t.let(block.first_row + quad_row + 8 * r); });
    const auto of_row = array_of<2>([&](u32 r) { return find_row(t, split, block, row_of[r]); });
    auto q = array_of<slices>([&](u32) { return typename product::a_fragment(t); });  // 16 x depth
    copies.copy_further();
    operands::template take_row<0>(t, q, problem, q_rows[0], t.let(quad_row < rows));
    operands::template take_row<1>(t, q, problem, q_rows[1], t.let(quad_row + 8u < rows));
    const val scale = t.let(problem[&attention_problem::scale]);
    const auto key_lanes = operands::lanes_of(t, warp_copies::keys_of(tiles[0]));

    copies.each_tile(block, [&](const auto& stage, const auto& first) {
      const auto entry = tiles[t.let(stage * C.key_warps + warp)];
      const auto own_k = warp_copies::keys_of(entry), own_v = warp_copies::values_of(entry);
      // 16 x own_keys, in two chains of products that do not wait for each other.
      auto s_parts = array_of<key_parts>([&](u32) { return accumulator(t, 0.0f); });
      with_attention_product<T>(t, type_of_operands(t, split), [&]<class Product>(Product) {
        for (std::uint32_t j = 0; j < key_parts; ++j) {
          accumulator odd(t, 0.0f);
          const auto k = operands::load_keys(t, own_k, key_lanes, 8 * j);
          for (std::uint32_t i = 0; i < slices; ++i)
            Product::multiply_add(i % 2 == 0 ? s_parts[j] : odd, q[i], k[i]);
          for (std::uint32_t e = 0; e < 4; ++e) s_parts[j].registers[e] += odd.registers[e];
        }
      });

      const mma_scores<T, accumulator, key_parts> scores(s_parts);
      const val key = t.let(first + warp * C.own_keys() + quad_column);
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
            auto b = array_of<at_once>([&](u32) { return typename product::b_fragment(t); });
            Product::load_values(t, b, own_v, c, 8 * j);
            for (std::uint32_t n = 0; n < at_once; ++n) Product::multiply_add(o_parts[j + n], p, b[n]);
          }
        }
      });
    });
  }

  // Leaves the sums in the warp's entry of the ring. Rows from 8 on are left only if the tile has any.
  template <class Totals>
  static constexpr void leave(thread t, const sums_type& sums, const val<u32>& warp, const val<u32>& row,
                              const val<u32>& rows, const sums_of_keys& state, const Totals& totals) {
    const val column = t.let(accumulator::layout::lane_column(t.lane_rank()));
    const auto entry = sums.of_warp(warp);
    const auto lane = entry.lane(row, column, 8);
    const val leads = t.let(t.lane_rank() % 4u == 0u);
    const auto of_half = [&](u32 r) {
      for (std::uint32_t j = 0; j < value_parts; ++j) {
        const auto& from = state.o_parts[j].registers;
        store_vec(entry.at(lane.further(8 * r, 8 * j)), make_vec(t.let(from[2 * r]), t.let(from[2 * r + 1])));
      }
      if (auto once = t.when(leads)) sums.put(warp, t.let(row + 8 * r), totals[r]);
    };
    of_half(0);
    if (auto more = t.when(rows > 8u)) of_half(1);
  }

  // Computes rows again that have become NaN through values to which they do not attend.
  template <class Functions, class Totals>
  static constexpr void compute_again(thread t, const val<attention_problem>& problem,
                                      const val<attention_cache>& cache, const val<attention_split>& split,
                                      const Functions& functions, const decode_block& block,
                                      const val<u32>& warp, const val<u32>& row, const val<f32>& factor,
                                      const sums_of_keys& state, const Totals& totals,
                                      const sums_type& sums) {
    const auto wrong = rows_with_nan(t, split, block, row, state.o_parts, totals);
    const val none = t.let(0u);
    const auto source_of = [&] {
      return rows_of_decode_part<C, T>(t, problem, cache, split, block, none, warp);
    };
    recompute_rows_of_part<T, C.depth>(t, source_of, wrong, totals, factor, functions, sums.of_warp(warp),
                                       none);
  }
};

template <attention_decode_config C, class T>
struct attention_decode_sm90_kernel {
  static constexpr auto name = "attention_decode_mma_" + half_name<T> + "_d" + decimal<C.depth> + "_" +
                               decimal<C.rows> + "x" + decimal<C.keys> + decode_target_name<C.sm>;
  static constexpr kernel_options options{.target = {C.sm}, .large_shared = true, .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, val<attention_problem> problem, val<attention_cache> cache, val<attention_split> split,
         val<attention_terms> terms, val<attention_band> band) {
        run_attention_decode_sm90(t, problem, cache, split,
                                  decode_functions_of<general_score, band_mask>::of(t, terms, band),
                                  attention_decode_sm90_body<C, T>{});
      });
};

// Launched programmatically, with key_heads * row_tiles * splits * batches blocks along x. If the splits of a
// tile are a cluster, the launch has clusters of them.
template <attention_decode_config C, class T>
inline constexpr auto attention_decode_sm90 = attention_decode_sm90_kernel<C, T>::kernel;

}  // namespace kaio::ops
