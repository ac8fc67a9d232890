#pragma once
// matmul_w4 for few rows of x, with the matrix instructions of a warp: y = x W^T as Y^T = W X^T, so that the
// weights are the operand of 16 rows, and rows of x come in eights. A block has 8 to 64 rows of x, 32 columns
// of y for each of warps_n warps, and a part of the tiles of K, which the warps of a column share:
//
//   8 rows, 32 columns     | warp 0 | warp 1 | ... | warp 7 | warp 0 | ...        tiles of K
//   64 rows, 256 columns   | all    | all    | ...
//
// W, its scales and zero points come through shared memory by copies of the lanes that read them; x by copies
// of the warps that share a tile. Both are asked for `stages` - 1 tiles ahead. At the end the sums of the
// warps of a column are added through shared memory.
//
// Codes are decoded without their scales, which is exact (decode.hpp); sums of a tile of K (of 16 k, where
// groups are no multiples of 64) are multiplied by the scale in f32, and added: no weight is rounded.
//
// Sources: Frantar et al., "MARLIN: Mixed-Precision Auto-Regressive Parallel Inference on Large Language
// Models", 2024; Dao-AILab, quack, gemm_w4, 2026, multiplies sums by scales.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/quantised/w4/config.hpp>
#include <kaio/ops/quantised/w4/copies.hpp>
#include <kaio/ops/quantised/w4/decode.hpp>
#include <kaio/ops/quantised/w4/problem.hpp>
#include <kaio/ops/quantised/w4/store.hpp>

#include <cstdint>

namespace kaio::ops {

template <w4_config C, scalar T>
struct w4_body {
  static_assert(C.valid(), "kaio: this tile shape of a matmul_w4 is none that the kernel can run");
  using mma = mma_m16n8k16<f32, T>;
  using decoder = w4_decoder<T>;
  using copies_type = w4_copies<C, T>;
  static constexpr std::uint32_t halves = 2, fragments = C.fragments();

  static constexpr void run(thread t, const val<w4_problem>& problem) {
    const typename copies_type::x_ring x_tiles(t);  // rows x 64 each
    const shared<u32, C.stages * C.warps * C.words> codes(t);
    const shared<u32, C.stages * C.warps * C.facts> facts(t);
    const w4_block block = find_block(t, problem);
    copies_type copies(t, x_tiles, codes, facts, problem, block);
    for ([[maybe_unused]] auto s : t.range(1u, C.stages).no_unroll()) copies.copy();

    const val lane = t.lane_rank();
    const val warp = t.let(t.warp_rank());
    const val g = t.let(lane / 4u);
    const val has_zeros = t.let(problem[&w4_problem::w][&w4_packed::zeros] != u64{0});
    const val fine = t.let(problem[&w4_problem::w][&w4_packed::slots] != 1u);
    const val is_bf16 = t.let(problem[&w4_problem::w][&w4_packed::scales_bf16] != 0u);

    const auto x_lane = lane_of_x(t, x_tiles);
    auto totals = sums_of(t), sums = sums_of(t);
    auto minus = array_of<halves * 2>([&](u32 i) { return var(t, decoder::of_zero(8, i % 2)); });
    var stage(t, 0u);
    for (auto first : t.range(block.first, block.last, C.warps_k()).no_unroll()) {
      copies.wait();
      copies.copy();
      const val of_stage = t.let(stage * C.warps + warp);
      const val first_fact = t.let(of_stage * C.facts);
      const auto x_tile = x_tiles[t.let(stage * C.warps_k() + block.warp_k)];
      stage = copies.following(t.let(stage));
      // Of part `slot` of the tile.
      const auto begin_group = [&](const auto& slot) {
        for (auto& fragment_sums : sums)
          for (auto& r : fragment_sums.registers) r = 0.0f;
        if (auto some = t.when(has_zeros))
          for (u32 h = 0; h < halves; ++h) {
            const val word = facts[first_fact + (slot * 4u + (64u + h * 2u)) + g / 4u];
            const val both = t.let(word >> (g % 4u * 8u));
            minus[2 * h] = (both & 15u) * decoder::unit(0) + decoder::base(0);
            minus[2 * h + 1] = ((both >> 4) & 15u) * decoder::unit(1) + decoder::base(1);
          }
      };
      const auto end_group = [&](const auto& slot) {
        for (u32 h = 0; h < halves; ++h) {
          const val both = facts[first_fact + (slot * 16u + h * 8u) + g];
          const val even = t.let(scale_of(both & 0xffffu, is_bf16));
          const val odd = t.let(scale_of(both >> 16, is_bf16));
          for (u32 f = 0; f < fragments; ++f) {
            auto& to = totals[h * fragments + f].registers;
            const auto& from = sums[h * fragments + f].registers;
            for (u32 e = 0; e < 4; ++e) to[e] = fma(e < 2 ? even : odd, from[e], to[e]);
          }
        }
      };
      const auto first_word = [&](u32 h) { return of_stage * C.words + lane * 4u + h * (C.words / 2); };
      // 16 of K; load(x) reads the fragments of x, word(h) is of half h of the weights.
      const auto multiply = [&](const auto& load, const auto& word) {
        auto x = array_of<fragments>([&](u32) { return typename mma::b_fragment(t); });
        load(x);
        for (u32 h = 0; h < halves; ++h) {
          typename mma::a_fragment w(t);  // 16 x 16 of W
          const val codes_of_half = t.let(word(h));
          for (u32 i = 0; i < 4; ++i) {
            const val decoded = decoder::decode(t, codes_of_half, i, minus[2 * h + i % 2]);
            w.registers[i] = decoded;
          }
          for (u32 f = 0; f < fragments; ++f) mma::multiply_add(sums[h * fragments + f], w, x[f]);
        }
      };
      const auto multiply_tile = [&] {
        if (auto several = t.when(fine))
          for (auto j : t.range(0u, 4u).no_unroll()) {
            begin_group(j);
            multiply(
                [&](auto& x) {
                  if constexpr (fragments == 1)
                    ldmatrix(x[0], x_tile, 0, j * 16u);
                  else
                    for (u32 f = 0; f < fragments; f += 2) ldmatrix(x[f], x[f + 1], x_tile, 8 * f, j * 16u);
                },
                [&](u32 h) { return codes[first_word(h) + j]; });
            end_group(j);
          }
        if (auto one = t.otherwise()) {
          const auto words = array_of<halves>([&](u32 h) { return load_vec<4>(codes[first_word(h)]); });
          begin_group(0u);
          for (u32 j = 0; j < 4; ++j)
            multiply(
                [&](auto& x) {
                  if constexpr (fragments == 1)
                    ldmatrix(x[0], x_tile.at(x_lane, 0, 16 * j));
                  else
                    for (u32 f = 0; f < fragments; f += 2)
                      ldmatrix(x[f], x[f + 1], x_tile.at(x_lane, 8 * f, 16 * j));
                },
                [&](u32 h) { return words[h][j]; });
          end_group(0u);
        }
      };
      if constexpr (C.warps_k() == 1)
        multiply_tile();
      else if (auto has_tile = t.when(first + block.warp_k < block.last))
        multiply_tile();
    }
    cp_async_wait_group<0>(t);
    store_w4<C, T>(t, problem, block, totals, codes);
  }

 private:
  static constexpr auto sums_of(thread t) {
    return array_of<halves * fragments>([&](u32) { return typename mma::accumulator(t, 0.0f); });
  }
  // f16 or bf16 in the lower half.
  template <class Bits>
  static constexpr auto scale_of(const Bits& bits, const val<bool>& is_bf16) {
    return select(is_bf16, bit_cast<f32>(bits << 16), cast<f32>(bit_cast<f16>(cast<u16>(bits))));
  }
  static constexpr auto lane_of_x([[maybe_unused]] thread t, const typename copies_type::x_ring& x_tiles) {
    using b = typename mma::b_fragment;
    if constexpr (fragments == 1)
      return ldmatrix_lane<b>(x_tiles, 0, 0);
    else
      return ldmatrix_lane<b, b>(x_tiles, 0, 0);
  }
  static constexpr w4_block find_block(thread t, const val<w4_problem>& problem) {
    const quotient rows = divide(t, t.let(block_idx_x()), problem[&w4_problem::m_tiles]);
    const quotient columns = divide(t, rows.whole, problem[&w4_problem::n_tiles]);
    const val part = columns.whole;
    const val steps = t.let(problem[&w4_problem::steps]), rest = t.let(problem[&w4_problem::rest]);
    const val first = t.let(part * steps + min(part, rest));
    const val last = t.let(first + steps + select(part < rest, 1u, 0u));
    const val warp = t.let(t.warp_rank());
    const val row = t.let(rows.rest * C.rows), column = t.let(columns.rest * C.columns());
    const val warp_n = t.let(warp % C.warps_n), warp_k = t.let(warp / C.warps_n);
    return {part, row, column, first, last, warp_n, warp_k};
  }
};

template <w4_config C, scalar T>
struct w4_kernel {
  static constexpr auto name = "matmul_w4_mma_" + type_name<T> + "_" + decimal<C.rows>;
  static constexpr kernel_options options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads}, options>(
      [](thread t, val<w4_problem> problem) { w4_body<C, T>::run(t, problem); });
};

// Launched with m_tiles * n_tiles * parts blocks along x.
template <w4_config C, scalar T>
inline constexpr auto matmul_w4_mma = w4_kernel<C, T>::kernel;

}  // namespace kaio::ops
