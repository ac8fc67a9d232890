#pragma once
// A consumer warpgroup of matmul_w4 for sm_90a: decodes the codes of its 64 columns to register operands, and
// sums Y^T = W X^T for all rows of x. A unit is the split of a tile of 64 k that one group has, or the whole
// tile if codes are decoded with their scales.
//
//   of a unit     w: 64 columns x k    x: rows x k    sums: 64 columns x rows, one pass or two halves

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>
#include <kaio/ops/weight_only/common/decode_table.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/common/scales_and_zeros.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>
#include <kaio/ops/weight_only/sm90/place.hpp>
#include <kaio/ops/weight_only/sm90/shared.hpp>

#include <cstdint>
#include <utility>

namespace kaio::ops {

// The scales of a unit and of the unit before it, for the even and the odd columns of y.
struct w4_sm90_unit_scales {
  // Whether the unit after an even (odd) one has the same scale: then their sums are added as one.
  dsl::register_array<val<bool>, 2> continues;
  dsl::register_array<var<f32>, 4> scale;

  // together_of_k: adjacent units that have the same scales.
  constexpr w4_sm90_unit_scales(thread t, const val<u32>& at_once_of_k)
      : continues(array_of<2>([&](u32 odd) { return t.let(at_once_of_k > 2 * odd + 1); })),
        scale(array_of<4>([&](u32) { return var(t, 0.0f); })) {}
};

template <w4_sm90_config C, class Dequantisation, scalar T, class Pairs>
class w4_sm90_consumer {
 public:
  using shared_memory = w4_sm90_shared<C, Dequantisation, T>;
  using accumulator = wgmma_accumulator<f32, C.rows>;

  constexpr w4_sm90_consumer(thread t, const shared_memory& shared, const val<w4_problem>& problem,
                             const w4_sm90_steps& steps, const Pairs& pairs, const val<u32>& warp)
      : t_(t),
        shared_(shared),
        problem_(problem),
        steps_(steps),
        lane_(t.lane_rank()),
        g_(t.let(lane_ / 4u)),
        half_(t.let(warp % 2u)),
        own_tile_(w4_tile_of_warp(t, problem, steps, warp)),
        decoder_(w4_decoder_of<D, T>(t, problem, pairs)),
        has_zeros_(t.let(problem[&w4_problem::w][&w4_packed::zeros] != u64{0})),
        is_bf16_(t.let(problem[&w4_problem::w][&w4_packed::scales_bf16] != 0u)),
        acc_(array_of<passes>([&](u32) { return pass_sums(t); })) {}

  // A position in the ring of stages. With D::scaled a stage is released one unit after it was read.
  struct ring_place {
    decltype(std::declval<const shared_memory&>().consumer(std::declval<thread>())) from, done;
  };
  static constexpr ring_place ring_begin(thread t, const shared_memory& shared) {
    return {shared.consumer(t), shared.consumer(t)};
  }

  // Adds the sums of all stages to `totals`, in the order of `accumulator`: 64 columns x rows. With D::scaled
  // they are in sums() instead.
  template <class Totals>
  constexpr void run(ring_place& ring, Totals& totals) {
    w4_sm90_unit_scales own(t_, t_.let(units_of_scale()));
    for ([[maybe_unused]] auto stage : t_.range(steps_.first, steps_.last).no_unroll())
      multiply_stage(ring, t_.let(stage != steps_.first), own, totals);
    if constexpr (D::scaled) {
      wgmma_wait<0>(t_);
      sync_warp(t_);
      release(ring.done);
    }
  }
  constexpr auto& sums() {
    static_assert(D::scaled);
    return acc_[0];
  }

 private:
  // continues: it is not the first stage.
  template <class Totals>
  constexpr void multiply_stage(ring_place& ring, const val<bool>& continues, w4_sm90_unit_scales& own,
                                Totals& totals) {
    auto& [from, done] = ring;
    from.wait();
    const val stage = t_.let(from.stage());
    for (u32 unit = 0; unit < units; ++unit) {
      if constexpr (adds_first) add_before(unit, own, totals);
      const unit_place at = place_of(stage, unit);
      multiply_unit(stage, unit, at, continues, own, totals);
      if (D::scaled && unit == 0) {
        sync_warp(t_);
        if (auto later = t_.when(continues)) release(done);
      }
    }
    if constexpr (!D::scaled) {
      wgmma_wait<0>(t_);
      add(units * passes - 1, own, totals);
      sync_warp(t_);
      if (auto one = t_.when(lane_ == 0u)) from.release();
    }
    from.advance();
  }
  template <class Consumer>
  constexpr void release(Consumer& done) const {
    if (auto one = t_.when(lane_ == 0u)) done.release();
    done.advance();
  }

  using shape = w4_sm90_shape<C, Dequantisation>;
  using D = typename shape::D;
  using decoder_type = typename D::template decoder<T>;
  using scales_and_zeros_of = typename shape::scales_and_zeros_of;
  using fragment = typename mma_m16n8k16<f32, T>::a_fragment;
  static constexpr std::uint32_t tiles_n = shape::tiles_n, quads = D::bits / 4;
  static constexpr u32 passes = D::scaled ? 1 : C.passes;
  using pass_sums = wgmma_accumulator<f32, C.rows / passes>;
  // together: slots per unit; units: units per stage; of_slot, of_unit: products along K per slot and unit.
  static constexpr u32 at_once = D::scaled ? D::slots : 1, units = C.tiles * D::slots / at_once;
  static constexpr u32 of_slot = 4 / D::slots, of_unit = at_once * of_slot;
  // With one accumulator and codes of eight bits, there are no registers to decode the next unit before
  // adding.
  static constexpr bool adds_first = !D::scaled && passes == 1 && D::bits == 8;
  static constexpr bool adds_after_decoding = !D::scaled && passes == 1 && !adds_first;
  static constexpr bool joins_units = !D::scaled && D::slots == 1;

  // A unit in shared memory: its tile of the stage and first slot, and the first words of the lane's codes
  // and of the warp's scales and zeros.
  struct unit_place {
    u32 tile, slot;
    val<u32> codes, scales, zeros;
  };
  constexpr unit_place place_of(const val<u32>& stage, u32 unit) const {
    const u32 k = unit * at_once / D::slots, slot = unit * at_once % D::slots;
    const val tile = t_.let((stage * tiles_n + own_tile_) * C.tiles + k);
    const val codes = t_.let(tile * shape::words + half_ * (quads * 128) + lane_ * 4u);
    const val first = t_.let(shared_.first_scale(stage, k));
    const val scales = of_columns(first, shape::scale_words);
    const val zeros = of_columns(first, shape::zero_words);
    return {k, slot, codes, scales, zeros};
  }
  // The warp's 16 columns of scales and zeros that have `words_of_tile` words per 32 columns.
  constexpr val<u32> of_columns(const val<u32>& first, u32 words_of_tile) const {
    return t_.let(first + own_tile_ * words_of_tile + half_ * (words_of_tile / 2));
  }

  // Decodes a unit and issues its products. The sums of passes before it are added meanwhile.
  template <class Totals>
  constexpr void multiply_unit(const val<u32>& stage, u32 unit, const unit_place& at,
                               const val<bool>& continues, w4_sm90_unit_scales& own, Totals& totals) {
    const auto w = decode(at);                                                      // 64 columns x 16 each
    const auto x = wgmma_operand<major::k>(shared_.tile_of_x(t_, stage, at.tile));  // rows x 64
    if constexpr (!D::scaled) {
      const auto scale = scale_of(at, 0);
      own.scale[unit % 2 * 2] = scale.even;
      own.scale[unit % 2 * 2 + 1] = scale.odd;
    }
    if constexpr (adds_after_decoding) add_before(unit, own, totals);
    for (u32 pass = unit * passes; pass < (unit + 1) * passes; ++pass) {
      issue(unit, pass, at.slot, continues, own, w, x);
      // With four warpgroups and totals there are no registers to decode while the products run.
      if constexpr (D::scaled) wgmma_wait<C.consumers == 2 ? 1 : 0>(t_);
      if constexpr (passes > 1) add_before(pass, own, totals);
    }
  }
  // The register operands of a unit.
  constexpr auto decode(const unit_place& at) const {
    const auto words =
        array_of<quads>([&](u32 i) { return load_vec<4>(shared_.codes()[at.codes + i * 128]); });
    const auto minus = array_of<at_once>([&](u32 i) { return minus_of(at, i); });
    auto steps = array_of<of_unit>([&](u32 j) {
      const auto codes_of_step = array_of<quads>([&](u32 q) {
        const u32 word = (at.slot * of_slot + j) * quads + q;
        return t_.let(words[word / 4][word % 4]);
      });
      const auto of_codes = array_of<2>([&](u32 i) { return t_.let(minus[j / of_slot][i]); });
      fragment decoded(t_);
      decoder_.decode(t_, codes_of_step, of_codes, decoded.registers);
      return decoded;
    });
    return array_of<of_unit>([&](u32 j) { return wgmma_register_operand<T>(std::move(steps[j].registers)); });
  }
  // The products of a pass. They add to the unit before if it has the same scale. With D::scaled the unit before the
  // first stage's is of another tile of y.
  template <class W, class X>
  constexpr void issue(u32 unit, u32 pass, u32 slot, [[maybe_unused]] const val<bool>& continues,
                       const w4_sm90_unit_scales& own, const W& w, const X& x) {
    wgmma_batch mma(t_);
    const auto rows_of_x = x.rows(pass % passes * pass_sums::columns);
    const auto multiply_add = [&](u32 j, const auto& accumulate) {
      mma.multiply_add(acc_[pass % passes], w[j], rows_of_x.slice(slot * of_slot + j), accumulate);
    };
    if constexpr (joins_units) {
      if (unit == 0)
        multiply_add(0, false);
      else
        multiply_add(0, own.continues[(unit - 1) % 2]);
    } else if constexpr (D::scaled) {
      if (unit == 0)
        multiply_add(0, continues);
      else
        multiply_add(0, true);
    } else {
      multiply_add(0, false);
    }
    for (u32 j = 1; j < of_unit; ++j) multiply_add(j, true);
  }

  // Adds the sums of the pass before `pass` to the totals, unless its unit goes on.
  template <class Totals>
  constexpr void add_before(u32 pass, const w4_sm90_unit_scales& own, Totals& totals) {
    wgmma_wait<passes - 1>(t_);
    if (pass == 0) return;
    const u32 unit = (pass - 1) / passes;
    if constexpr (!joins_units)
      add(pass - 1, own, totals);
    else if (unit == units - 1)
      add(pass - 1, own, totals);
    else if (auto complete = t_.when(!own.continues[unit % 2]))
      add(pass - 1, own, totals);
  }
  template <class Totals>
  constexpr void add(u32 pass, const w4_sm90_unit_scales& own, Totals& totals) {
    const u32 unit = pass / passes, first_total = pass % passes * pass_sums::size();
    for (u32 i = 0; i < pass_sums::size(); ++i) {
      const auto& own_scale = own.scale[unit % 2 * 2 + (pass_sums::row(i) == 0 ? 0 : 1)];
      totals[first_total + i] = fma(own_scale, acc_[pass % passes][i], totals[first_total + i]);
    }
  }

  // Adjacent units of a stage, 1, 2 or 4, that have the same scales wherever a split of K begins.
  constexpr auto units_of_scale() const {
    const auto w = problem_[&w4_problem::w];
    const val all =
        t_.let(w[&w4_packed::group][&divisor::value] / w4_tile_k | w[&w4_packed::tiles_k] | C.tiles);
    return all & (0u - all);  // the greatest power of two that divides all three
  }
  // The scales and zero points of the i-th slot of a unit, for the even and the odd columns.
  constexpr auto scale_of(const unit_place& at, u32 i) const {
    const val first = t_.let(at.scales + (at.slot + i) * (tiles_n * shape::scale_words));
    return scales_and_zeros_of::scales(t_, shared_.scales_and_zeros(), first, 0u, g_, 0, is_bf16_);
  }
  constexpr auto zeros_of(const unit_place& at, u32 i) const {
    constexpr u32 begin = D::slots * tiles_n * shape::scale_words - scales_and_zeros_of::scale_pieces * 4;
    const val first = t_.let(at.zeros + begin + (at.slot + i) * (tiles_n * shape::zero_words));
    return scales_and_zeros_of::zeros(t_, shared_.scales_and_zeros(), first, 0u, g_, 0);
  }
  // The argument `minus` of decode for a slot: for the even, then the odd registers.
  constexpr auto minus_of(const unit_place& at, u32 slot) const {
    if constexpr (D::scaled) {
      const auto scale = scale_of(at, slot);
      const val even = decoder_type::of_scale(t_, scale.even), odd = decoder_type::of_scale(t_, scale.odd);
      return array_of<2>([&](u32 i) { return var(t_, i == 0 ? even : odd); });
    } else if constexpr (D::zero_points) {
      return minus_of_zeros(at, slot);
    } else {
      return array_of<2>([&](u32) { return var(t_, 0u); });
    }
  }
  constexpr auto minus_of_zeros(const unit_place& at, u32 slot) const {
    auto minus = array_of<2>([&](u32 i) { return var(t_, decoder_type::initial(i)); });
    if (auto some = t_.when(has_zeros_)) {
      const auto zero = zeros_of(at, slot);
      minus[0] = decoder_type::of_zero(t_, zero.even, 0);
      minus[1] = decoder_type::of_zero(t_, zero.odd, 1);
    }
    return minus;
  }

  thread t_;
  const shared_memory& shared_;
  const val<w4_problem>& problem_;
  const w4_sm90_steps& steps_;
  val<u32> lane_;
  val<u32> g_;                // quad of the lane: its pair of columns
  val<u32> half_, own_tile_;  // the warp's 16 of a tile of 32 columns
  decltype(w4_decoder_of<D, T>(std::declval<thread>(), std::declval<const val<w4_problem>&>(),
                               std::declval<const Pairs&>())) decoder_;
  val<bool> has_zeros_, is_bf16_;
  dsl::register_array<pass_sums, passes> acc_;  // 64 columns x rows of a pass
};

}  // namespace kaio::ops
