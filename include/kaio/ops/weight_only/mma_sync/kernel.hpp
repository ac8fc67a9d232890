#pragma once
// matmul_w4 for sm_80 and later, with warp-level matrix instructions. It computes y = x W^T as Y^T = W X^T:
// the weights are the operand of 16 rows, and rows of x come in eights. A block has 32 or 64 rows of x, 32
// columns of y for each of warps_n warps, and a part of the tiles of K. The warps of a column share these
// tiles:
//
//   32 rows, 128 columns   | 0 .. 3 | 4 .. 7 | 0 .. 3 | ...                warps of the tiles of K
//   64 rows, 256 columns   | all  | all  | ...
//
// All operands pass through shared memory, copied `stages` - 1 tiles ahead. Each warp copies its own codes,
// scales and zero points; the warps that share a tile of x copy it together. At the end the sums of the warps
// of a column are added through shared memory.
//
// Codes are decoded without their scales (decode.hpp). Each group's sum over a tile of K is multiplied by its
// scale in f32 and added to the total: no product of a code and a scale is rounded.
//
// Sources: Frantar et al., "MARLIN: Mixed-Precision Auto-Regressive Parallel Inference on Large Language
// Models", 2024; Dao-AILab, quack, gemm_w4, 2026, multiplies sums by scales.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/mma_sync/config.hpp>
#include <kaio/ops/weight_only/mma_sync/copies.hpp>
#include <kaio/ops/weight_only/mma_sync/store.hpp>

#include <cstdint>

namespace kaio::ops {

template <w4_config C, class D, scalar T>
struct w4_body {
  static_assert(C.valid(), "kaio: matmul_w4's kernel does not support this tile shape");
  using mma = mma_m16n8k16<f32, T>;
  using decoder_type = typename D::template decoder<T>;
  using copies_type = w4_copies<C, D, T>;
  using facts_of = w4_facts<D>;
  static_assert(C.bits == D::bits && (D::bits == 4 || D::bits == 8));
  static_assert(D::slots == 0 || D::slots == 1 || D::slots == 2 || D::slots == 4);
  static constexpr std::uint32_t halves = 2, fragments = C.fragments();
  static constexpr std::uint32_t quads = D::bits / 4;  // loads of four words that a tile's half takes
  static constexpr std::uint32_t words_of_step = quads;

  // End has these members; the last two are optional:
  //
  //   tile_of_warp    the tile of W of a warp
  //   store           writes the sums
  //   place           the part of K and the first column of the block
  //   begin           work before the first tile has arrived, in a programmatic launch
  template <class End = w4_product_end<C, T>>
  static constexpr void run(thread t, const val<w4_problem>& problem, const End& end = {}) {
    const typename copies_type::x_ring x_tiles(t);  // rows x 64 each
    const typename copies_type::codes_type codes(t);
    const typename copies_type::facts_type facts(t);
    const w4_block block = find_w4_block<C>(t, problem, end);
    copies_type copies(t, x_tiles, codes, facts, problem, block);
    if constexpr (requires { end.begin(t); }) {
      copies.copy_first(end.weights_are_constant(t));
      end.begin(t);
    } else {
      for ([[maybe_unused]] auto s : t.range(1u, C.stages).no_unroll()) copies.copy();
    }

    const val lane = t.lane_rank();
    const val warp = t.let(t.warp_rank());
    const val g = t.let(lane / 4u);
    const decoder_type decoder(t, problem);
    const val has_zeros = t.let(problem[&w4_problem::w][&w4_packed::zeros] != u64{0});
    const val fine = t.let(problem[&w4_problem::w][&w4_packed::slots] != 1u);
    const val is_bf16 = t.let(problem[&w4_problem::w][&w4_packed::scales_bf16] != 0u);

    const auto x_lane = lane_of_x(x_tiles);
    auto totals = sums_of<halves * fragments>(t);
    auto group_sums =
        array_of < D::scaled ? 1 : halves * fragments > ([&](u32) { return typename mma::accumulator(t); });
    const typename mma::accumulator none(t, 0.0f);  // addend of a group's first product
    // Sums of x over a group; all rows of a fragment are equal.
    [[maybe_unused]] auto x_sums = sums_of_x(t);
    [[maybe_unused]] const auto ones = all_ones(t);
    auto& sums = [&]() -> auto& {
      if constexpr (D::scaled)
        return totals;
      else
        return group_sums;
    }();
    auto minus = array_of<halves * 2>([&](u32 i) { return var(t, initial(t, problem, i % 2)); });
    var stage(t, 0u);
    for (auto first : t.range(block.first, block.last, C.warps_k()).no_unroll()) {
      copies.wait();
      copies.copy();
      const val of_stage = t.let(stage * C.warps + warp);
      const val first_fact = t.let(of_stage * copies_type::fact_words);
      const auto x_tile = x_tiles[t.let(stage * C.warps_k() + block.warp_k)];
      stage = copies.following(t.let(stage));
      // Loads the scales or zero points of group `slot` of the tile.
      const auto begin_group = [&](const auto& slot) {
        if constexpr (D::scaled) {
          for (u32 h = 0; h < halves; ++h) {
            const auto scale = facts_of::scales(t, facts, first_fact, slot, g, h, is_bf16);
            minus[2 * h] = decoder_type::of_scale(t, scale.even);
            minus[2 * h + 1] = decoder_type::of_scale(t, scale.odd);
          }
        } else {
          if constexpr (D::zero_points)
            if (auto some = t.when(has_zeros))
              for (u32 h = 0; h < halves; ++h) {
                const auto zeros = facts_of::zeros(t, facts, first_fact, slot, g, h);
                minus[2 * h] = decoder_type::of_zero(t, zeros.even, 0);
                minus[2 * h + 1] = decoder_type::of_zero(t, zeros.odd, 1);
              }
        }
      };
      const auto end_group = [&](const auto& slot) {
        if constexpr (!D::scaled)
          for (u32 h = 0; h < halves; ++h) {
            const auto scale = facts_of::scales(t, facts, first_fact, slot, g, h, is_bf16);
            for (u32 f = 0; f < fragments; ++f) {
              auto& to = totals[h * fragments + f].registers;
              const auto& from = group_sums[h * fragments + f].registers;
              for (u32 e = 0; e < 4; ++e) to[e] = fma(e < 2 ? scale.even : scale.odd, from[e], to[e]);
            }
            if constexpr (D::offsets) {
              const auto offset = facts_of::offsets(t, facts, first_fact, slot, g, h);
              for (u32 f = 0; f < fragments; ++f) {
                auto& to = totals[h * fragments + f].registers;
                const auto& from = x_sums[f].registers;
                for (u32 e = 0; e < 4; ++e) to[e] = fma(e < 2 ? offset.even : offset.odd, from[e % 2], to[e]);
              }
            }
          }
      };
      // The first word of the lane's codes of half h.
      const auto first_word = [&](u32 h) {
        return of_stage * copies_type::words + lane * 4u + h * (quads * 128);
      };
      // Multiplies a step of 16 k. is_first: the step begins a group. load(x) reads the fragments of x;
      // word(h, w) is word w of the step in half h of the weights.
      const auto multiply = [&](bool is_first, const auto& load, const auto& word) {
        auto x = array_of<fragments>([&](u32) { return typename mma::b_fragment(t); });
        load(x);
        if constexpr (D::offsets)
          for (u32 f = 0; f < fragments; ++f)
            mma::multiply_add(x_sums[f], ones, x[f], is_first ? none : x_sums[f]);
        for (u32 h = 0; h < halves; ++h) {
          typename mma::a_fragment w(t);  // 16 x 16 of W
          const auto codes_of_half = array_of<words_of_step>([&](u32 i) { return t.let(word(h, i)); });
          const auto zero = array_of<2>([&](u32 i) { return t.let(minus[2 * h + i]); });
          decoder.decode(t, codes_of_half, zero, w.registers);
          for (u32 f = 0; f < fragments; ++f) {
            auto& to = sums[h * fragments + f];
            mma::multiply_add(to, w, x[f], !D::scaled && is_first ? none : to);
          }
        }
      };
      // Multiplies a tile of `groups` groups, with its four steps of 16 k unrolled.
      const auto multiply_in = [&](u32 groups) {
        const auto words = array_of<halves * quads>(
            [&](u32 i) { return load_vec<4>(codes[first_word(i / quads) + i % quads * 128]); });
        for (u32 j = 0; j < 4; ++j) {
          if (j % (4 / groups) == 0) begin_group(j / (4 / groups));
          multiply(
              j % (4 / groups) == 0,
              [&](auto& x) {
                for (u32 f = 0; f < fragments; f += 2)
                  ldmatrix(x[f], x[f + 1], x_tile.at(x_lane, 8 * f, 16 * j));
              },
              [&](u32 h, u32 w) {
                const u32 at = j * words_of_step + w;
                return words[h * quads + at / 4][at % 4];
              });
          if ((j + 1) % (4 / groups) == 0) end_group(j / (4 / groups));
        }
      };
      const auto multiply_tile = [&] {
        if constexpr (D::slots == 0) {
          if (auto several = t.when(fine))
            for (auto j : t.range(0u, 4u).no_unroll()) {
              begin_group(j);
              multiply(
                  true,
                  [&](auto& x) {
                    for (u32 f = 0; f < fragments; f += 2) ldmatrix(x[f], x[f + 1], x_tile, 8 * f, j * 16u);
                  },
                  [&](u32 h, u32 w) {
                    if constexpr (quads == 1)
                      return codes[first_word(h) + j];
                    else
                      return codes[first_word(h) + (j / 2u * 128u + j % 2u * 2u + w)];
                  });
              end_group(j);
            }
          if (auto one = t.otherwise()) multiply_in(1);
        } else if constexpr (D::slots == 2 && quads == 1 && fragments >= 4) {
          // The loop over both groups stays: unrolled, it runs out of registers.
          for (auto group : t.range(0u, 2u).no_unroll()) {
            begin_group(group);
            for (u32 half = 0; half < 2; ++half) {
              const val j = t.let(group * 2u + half);
              multiply(
                  half == 0,
                  [&](auto& x) {
                    for (u32 f = 0; f < fragments; f += 2) ldmatrix(x[f], x[f + 1], x_tile, 8 * f, j * 16u);
                  },
                  [&](u32 h, u32) { return codes[first_word(h) + j]; });
            }
            end_group(group);
          }
        } else {
          multiply_in(D::slots);
        }
      };
      if constexpr (C.warps_k() == 1)
        multiply_tile();
      else if (auto has_tile = t.when(first + block.warp_k < block.last))
        multiply_tile();
    }
    cp_async_wait_group<0>(t);
    end.store(t, problem, block, totals, codes);
  }

 private:
  template <std::uint32_t N>
  static constexpr auto sums_of(thread t) {
    return array_of<N>([&](u32) { return typename mma::accumulator(t, 0.0f); });
  }
  // `minus` without zero points: what the decoder expects, or anything if the decoder does not read it.
  static constexpr auto initial([[maybe_unused]] thread t, [[maybe_unused]] const val<w4_problem>& problem,
                                u32 odd) {
    if constexpr (D::offsets && D::bits == 4)
      return t.let(decoder_type::of_zero(t, t.let(problem[&w4_problem::w][&w4_packed::zero]), odd));
    else if constexpr (D::offsets || D::zero_points)
      return decoder_type::initial(odd);
    else
      return odd - odd;
  }
  static constexpr auto sums_of_x([[maybe_unused]] thread t) {
    if constexpr (D::offsets)
      return array_of<fragments>([&](u32) { return typename mma::accumulator(t); });
    else
      return 0;
  }
  static constexpr auto all_ones([[maybe_unused]] thread t) {
    if constexpr (D::offsets) {
      typename mma::a_fragment ones(t);
      for (auto& r : ones.registers)
        r = bit_cast<typename w4_pair<T>::type>(t.let(w4_pair<T>::is_half ? 0x3c003c00u : 0x3f803f80u));
      return ones;
    } else {
      return 0;
    }
  }
  static constexpr auto lane_of_x(const typename copies_type::x_ring& x_tiles) {
    using b = typename mma::b_fragment;
    return ldmatrix_lane<b, b>(x_tiles, 0, 0);
  }
};

template <w4_config C, class D, scalar T>
struct w4_kernel {
  static constexpr auto name =
      "matmul_w" + decimal<D::bits> + "_mma_" + D::name + type_name<T> + "_" + decimal<C.rows>;
  static constexpr kernel_options options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, val<w4_problem> problem) { w4_body<C, D, T>::run(t, problem); });
};

// Launched with m_tiles * n_tiles * parts blocks along x.
template <w4_config C, class D, scalar T>
inline constexpr auto matmul_w4_mma = w4_kernel<C, D, T>::kernel;

}  // namespace kaio::ops
