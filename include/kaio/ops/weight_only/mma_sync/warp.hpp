#pragma once
// The products of a warp of matmul_w4 with mma.sync. The warp multiplies its tiles of W, 32 columns of y by 64
// k, by all the block's rows of x:
//
//   Y^T = W X^T    halves of 16 columns x fragments of 8 rows, f32
//
// Codes are decoded without their scales, and a group's sums are then multiplied by its scale and added to the
// totals. With D::scaled the decoder multiplies by the scale, and the products are added to the totals at
// once.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/common/scales_and_zeros.hpp>
#include <kaio/ops/weight_only/mma_sync/block.hpp>
#include <kaio/ops/weight_only/mma_sync/config.hpp>
#include <kaio/ops/weight_only/mma_sync/copies.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace kaio::ops {

// The rings of a block in shared memory: tiles of x, codes, scales and zero points.
template <w4_config C, class D, scalar T>
struct w4_rings {
  using copies_type = w4_copies<C, D, T>;
  typename copies_type::x_ring x;                                // rows x 64 per tile of K
  typename copies_type::codes_type codes;                        // 32 x 64 per warp
  typename copies_type::scales_and_zeros_type scales_and_zeros;  // w4_scales_and_zeros<D>::words per warp

  constexpr explicit w4_rings(thread t) : x(t), codes(t), scales_and_zeros(t) {}
};

template <w4_config C, class D, scalar T>
class w4_warp {
  using mma = mma_m16n8k16<f32, T>;
  using accumulator = typename mma::accumulator;
  using decoder_type = typename D::template decoder<T>;
  using copies_type = w4_copies<C, D, T>;
  using scales_and_zeros_of = w4_scales_and_zeros<D>;
  static constexpr std::uint32_t halves = 2, fragments = C.fragments();
  static constexpr std::uint32_t quads = D::bits / 4;  // loads of four words that a tile's half takes
  static constexpr std::uint32_t words_of_step = quads;

 public:
  constexpr w4_warp(thread t, const w4_rings<C, D, T>& rings, const val<w4_problem>& problem)
      : t_(t),
        rings_(rings),
        lane_(t.lane_rank()),
        warp_(t.let(t.warp_rank())),
        g_(t.let(lane_ / 4u)),
        decoder_(t, problem),
        has_zeros_(t.let(problem[&w4_problem::w][&w4_packed::zeros] != u64{0})),
        fine_(t.let(problem[&w4_problem::w][&w4_packed::slots] != 1u)),
        is_bf16_(t.let(problem[&w4_problem::w][&w4_packed::scales_bf16] != 0u)),
        x_lane_(ldmatrix_lane<b_fragment, b_fragment>(rings.x, 0, 0)),
        totals_(array_of<halves * fragments>([&](u32) { return accumulator(t, 0.0f); })),
        group_sums_(array_of<group_sums>([&](u32) { return accumulator(t); })),
        none_(t, 0.0f),
        x_sums_(sums_of_x(t)),
        ones_(all_ones(t)),
        minus_(array_of<halves * 2>([&](u32 i) { return var(t, initial(t, problem, i % 2)); })) {}

  // A tile of K in shared memory.
  struct tile {
    val<u32> of_stage;     // number of the warp's tile of W
    val<u32> first_scale;  // first word of its scales and zero points
    std::remove_cvref_t<
        decltype(std::declval<const typename copies_type::x_ring&>()[std::declval<const val<u32>&>()])>
        x;  // rows x 64
  };
  constexpr tile tile_of(const var<u32>& stage, const w4_block& block) const {
    const val of_stage = t_.let(stage * C.warps + warp_);
    const val first_scale = t_.let(of_stage * copies_type::scale_and_zero_words);
    return {of_stage, first_scale, rings_.x[t_.let(stage * C.warps_k() + block.warp_k)]};
  }

  // Adds the products of a tile.
  constexpr void multiply(const tile& at) {
    if constexpr (D::slots == 0) {
      if (auto several = t_.when(fine_)) multiply_fine_groups(at);
      if (auto one = t_.otherwise()) multiply_groups(at, 1);
    } else if constexpr (D::slots == 2 && quads == 1 && fragments >= 4) {
      multiply_two_groups(at);
    } else {
      multiply_groups(at, D::slots);
    }
  }
  constexpr const auto& totals() const { return totals_; }

 private:
  using b_fragment = typename mma::b_fragment;
  static constexpr std::uint32_t group_sums = D::scaled ? 1 : halves * fragments;

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
      return array_of<fragments>([&](u32) { return accumulator(t); });
    else
      return 0;
  }
  static constexpr auto all_ones([[maybe_unused]] thread t) {
    if constexpr (D::offsets) {
      typename mma::a_fragment ones(t);
      for (auto& r : ones.registers) r = w4_one_of_offsets<decoder_type, T>(t);
      return ones;
    } else {
      return 0;
    }
  }

  // A tile of `groups` groups, with its four steps of 16 k unrolled.
  constexpr void multiply_groups(const tile& at, u32 groups) {
    const auto words = array_of<halves * quads>(
        [&](u32 i) { return load_vec<4>(rings_.codes[first_word(at, i / quads) + i % quads * 128]); });
    for (u32 j = 0; j < 4; ++j) {
      if (j % (4 / groups) == 0) begin_group(at, j / (4 / groups));
      multiply_step(
          j % (4 / groups) == 0,
          [&](auto& x) {
            for (u32 f = 0; f < fragments; f += 2) ldmatrix(x[f], x[f + 1], at.x.at(x_lane_, 8 * f, 16 * j));
          },
          [&](u32 h, u32 w) {
            const u32 i = j * words_of_step + w;
            return words[h * quads + i / 4][i % 4];
          });
      if ((j + 1) % (4 / groups) == 0) end_group(at, j / (4 / groups));
    }
  }
  // A tile with a group per step of 16 k.
  constexpr void multiply_fine_groups(const tile& at) {
    for (auto j : t_.range(0u, 4u).no_unroll()) {
      begin_group(at, j);
      multiply_step(
          true, [&](auto& x) { load_x(x, at, j); },
          [&](u32 h, u32 w) {
            if constexpr (quads == 1)
              return rings_.codes[first_word(at, h) + j];
            else
              return rings_.codes[first_word(at, h) + (j / 2u * 128u + j % 2u * 2u + w)];
          });
      end_group(at, j);
    }
  }
  // A tile of two groups. The loop over both groups stays: unrolled, it runs out of registers.
  constexpr void multiply_two_groups(const tile& at) {
    for (auto group : t_.range(0u, 2u).no_unroll()) {
      begin_group(at, group);
      for (u32 half = 0; half < 2; ++half) {
        const val j = t_.let(group * 2u + half);
        multiply_step(
            half == 0, [&](auto& x) { load_x(x, at, j); },
            [&](u32 h, u32) { return rings_.codes[first_word(at, h) + j]; });
      }
      end_group(at, group);
    }
  }

  // A step of 16 k. is_first: the step begins a group. load(x) reads the fragments of x; word(h, w) is word w
  // of the step in half h of the weights.
  template <class Load, class Word>
  constexpr void multiply_step(bool is_first, const Load& load, const Word& word) {
    auto x = array_of<fragments>([&](u32) { return b_fragment(t_); });  // 16 k x 8 rows each
    load(x);
    if constexpr (D::offsets)
      for (u32 f = 0; f < fragments; ++f)
        mma::multiply_add(x_sums_[f], ones_, x[f], is_first ? none_ : x_sums_[f]);
    for (u32 h = 0; h < halves; ++h) {
      typename mma::a_fragment w(t_);  // 16 columns x 16 k of W
      const auto codes_of_half = array_of<words_of_step>([&](u32 i) { return t_.let(word(h, i)); });
      const auto zero = array_of<2>([&](u32 i) { return t_.let(minus_[2 * h + i]); });
      decoder_.decode(t_, codes_of_half, zero, w.registers);
      for (u32 f = 0; f < fragments; ++f) {
        auto& to = sums()[h * fragments + f];
        mma::multiply_add(to, w, x[f], !D::scaled && is_first ? none_ : to);
      }
    }
  }
  constexpr auto& sums() {
    if constexpr (D::scaled)
      return totals_;
    else
      return group_sums_;
  }
  // The fragments of x at step j.
  template <class X, class Step>
  constexpr void load_x(X& x, const tile& at, const Step& j) const {
    for (u32 f = 0; f < fragments; f += 2) ldmatrix(x[f], x[f + 1], at.x, 8 * f, j * 16u);
  }
  // The first word of the lane's codes of half h.
  constexpr auto first_word(const tile& at, u32 h) const {
    return at.of_stage * copies_type::words + lane_ * 4u + h * (quads * 128);
  }

  // Loads the scales or zero points of group `slot` of the tile.
  template <class Slot>
  constexpr void begin_group(const tile& at, const Slot& slot) {
    if constexpr (D::scaled) {
      for (u32 h = 0; h < halves; ++h) {
        const auto scale =
            scales_and_zeros_of::scales(t_, rings_.scales_and_zeros, at.first_scale, slot, g_, h, is_bf16_);
        minus_[2 * h] = decoder_type::of_scale(t_, scale.even);
        minus_[2 * h + 1] = decoder_type::of_scale(t_, scale.odd);
      }
    } else if constexpr (D::zero_points) {
      if (auto some = t_.when(has_zeros_))
        for (u32 h = 0; h < halves; ++h) {
          const auto zeros =
              scales_and_zeros_of::zeros(t_, rings_.scales_and_zeros, at.first_scale, slot, g_, h);
          minus_[2 * h] = decoder_type::of_zero(t_, zeros.even, 0);
          minus_[2 * h + 1] = decoder_type::of_zero(t_, zeros.odd, 1);
        }
    }
  }
  // Adds the group's sums, times its scales, and the sums of x, times its offsets.
  template <class Slot>
  constexpr void end_group(const tile& at, const Slot& slot) {
    if constexpr (!D::scaled)
      for (u32 h = 0; h < halves; ++h) {
        const auto scale =
            scales_and_zeros_of::scales(t_, rings_.scales_and_zeros, at.first_scale, slot, g_, h, is_bf16_);
        for (u32 f = 0; f < fragments; ++f) {
          auto& to = totals_[h * fragments + f].registers;
          const auto& from = group_sums_[h * fragments + f].registers;
          for (u32 e = 0; e < 4; ++e) to[e] = fma(e < 2 ? scale.even : scale.odd, from[e], to[e]);
        }
        if constexpr (D::offsets) {
          const auto offset =
              scales_and_zeros_of::offsets(t_, rings_.scales_and_zeros, at.first_scale, slot, g_, h);
          for (u32 f = 0; f < fragments; ++f) {
            auto& to = totals_[h * fragments + f].registers;
            const auto& from = x_sums_[f].registers;
            for (u32 e = 0; e < 4; ++e) to[e] = fma(e < 2 ? offset.even : offset.odd, from[e % 2], to[e]);
          }
        }
      }
  }

  thread t_;
  const w4_rings<C, D, T>& rings_;
  val<u32> lane_, warp_, g_;
  decoder_type decoder_;
  val<bool> has_zeros_, fine_, is_bf16_;  // fine_: groups are shorter than 64
  std::remove_cvref_t<decltype(ldmatrix_lane<b_fragment, b_fragment>(
      std::declval<const typename copies_type::x_ring&>(), 0, 0))>
      x_lane_;
  dsl::register_array<accumulator, halves * fragments> totals_;  // 32 columns x rows
  dsl::register_array<accumulator, group_sums> group_sums_;      // 32 columns x rows
  accumulator none_;                                             // addend of a group's first product
  // Sums of x over a group; all rows of a fragment are equal.
  std::conditional_t<D::offsets, dsl::register_array<accumulator, fragments>, int> x_sums_;  // 16 x rows
  std::conditional_t<D::offsets, typename mma::a_fragment, int> ones_;                       // 16 x 16
  dsl::register_array<var<u32>, halves * 2> minus_;  // subtracted by the decoder, or its scales
};

}  // namespace kaio::ops
