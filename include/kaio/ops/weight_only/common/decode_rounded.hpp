#pragma once
// Decodes integers with their scales. Each product is rounded once to the type of x: the registers have what
// `dequantise` writes. Sums of such weights need no scaling and stay in the accumulators of wgmma over all of K,
// which leaves registers for 256 rows of x (sm90/rounded.hpp).
//
// The difference of a code and a zero point is exact in the type of x. If the scales are numbers of that type too,
// one instruction rounds two products, as f32 would. Other scales multiply in f32. Instructions for eight codes:
//
//          scales of the type of x   other scales     chosen by
//   w4     13 (bf16: 15)             29 (bf16: 31)    the call: each has a kernel
//   w8     12                        28               a warp, for each tile of 64 k
//
// A branch in the kernels of w4 took 1 to 4 % of their time on an H200.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>
#include <kaio/ops/weight_only/common/decode_bytes.hpp>

#include <cstdint>

namespace kaio::ops {

// The scales of an even and of an odd column as the kernel has them in shared memory.
template <w4_scales_in_kernel Type, scalar T>
class w4_rounding_scales;

// Both are f16 or bf16, in one word.
template <scalar T>
class w4_rounding_scales<w4_scales_in_kernel::f16_or_bf16, T> {
 public:
  using pair = typename w4_pair<T>::type;
  static constexpr std::uint32_t words = 1;

  // A scale that is a number of T, twice.
  template <class Words>
  static constexpr auto own(thread t, const Words& both, u32 odd, f32) {
    return t.let(bit_cast<pair>(byte_perm(both[0], 0u, odd == 0 ? 0x1010u : 0x3232u)));
  }
  // A scale of the other type.
  template <class Words>
  static constexpr val<f32> other(thread t, const Words& both, u32 odd, f32) {
    if constexpr (w4_pair<T>::is_half) {
      return t.let(bit_cast<f32>(odd == 0 ? t.let(both[0] << 16) : t.let(both[0] & 0xffff0000u)));
    } else {
      const val halves = t.let(bit_cast<f16x2>(both[0]));
      return odd == 0 ? t.let(cast<f32>(low(halves))) : t.let(cast<f32>(high(halves)));
    }
  }
};

// Each is f32. `unit` multiplies them, so those of 2^122 and more become infinite for bf16.
template <scalar T>
class w4_rounding_scales<w4_scales_in_kernel::f32, T> {
 public:
  using pair = typename w4_pair<T>::type;
  static constexpr std::uint32_t words = 2;

  // Whether the scales of all slots of the warp are numbers of T.
  template <class Slots>
  static constexpr val<bool> are_own(thread t, const Slots& slots, f32 unit) {
    if constexpr (w4_pair<T>::is_half) {
      var<bool> all(t, true);
      for (const auto& both : slots)
        for (u32 odd = 0; odd < words; ++odd)
          all =
              all_of(t.let(all), t.let(cast<f32>(low(own(t, both, odd, unit)))) == other(t, both, odd, unit));
      return t.let(warp_all(all));
    } else {
      var<u32> rest(t, 0u);
      for (const auto& both : slots)
        for (u32 odd = 0; odd < words; ++odd) rest |= both[odd];
      return t.let(warp_all((rest & 0xffffu) == 0u));
    }
  }
  template <class Words>
  static constexpr auto own(thread t, const Words& both, u32 odd, f32 unit) {
    const val scale = other(t, both, odd, unit);
    return t.let(pack<pair>(scale, scale));
  }
  template <class Words>
  static constexpr val<f32> other(thread t, const Words& both, u32 odd, f32 unit) {
    if (unit == 1) return t.let(bit_cast<f32>(both[odd]));
    return t.let(bit_cast<f32>(both[odd]) * unit);
  }
};

// Which scales a kernel takes: those of the type of x, the others, or both.
enum class w4_rounding : std::uint8_t { of_own_scales, in_f32, of_any_scales };

// Exact: decodes the same codes without scales.
template <class Exact, w4_rounding Rounding>
struct w4_rounded : w4_dequantisation {
  static constexpr fixed_string name = [] {
    if constexpr (Rounding == w4_rounding::in_f32)
      return fixed_string("rounded_in_f32_");
    else
      return fixed_string("rounded_");
  }();
  static constexpr std::uint32_t bits = Exact::bits, slots = 2;
  static constexpr w4_scales_in_kernel scales = Exact::scales;
  static constexpr bool zero_points = true, scaled = true, rounded = true;
  static constexpr bool own_scales = Rounding == w4_rounding::of_own_scales,
                        other_scales = Rounding == w4_rounding::in_f32;

  template <scalar T>
  struct decoder : Exact::template decoder<T> {
    using base = typename Exact::template decoder<T>;
    using pair = typename w4_pair<T>::type;
    using rounding_scales = w4_rounding_scales<scales, T>;
    static constexpr f32 unit = 1.0f;
    using base::base;

    // Multiplies the registers of several steps of K, of `steps_of_slot` a slot, by the scales of their slots.
    template <class Steps, class Slots>
    constexpr void scale(thread t, Steps& steps, const Slots& scales_of_slots, u32 steps_of_slot) const {
      if constexpr (Rounding == w4_rounding::of_own_scales) {
        scale_by_own(t, steps, scales_of_slots, steps_of_slot);
      } else if constexpr (Rounding == w4_rounding::in_f32) {
        scale_in_f32(t, steps, scales_of_slots, steps_of_slot);
      } else {
        if (auto own = t.when(rounding_scales::are_own(t, scales_of_slots, base::unit)))
          scale_by_own(t, steps, scales_of_slots, steps_of_slot);
        if (auto other = t.otherwise()) scale_in_f32(t, steps, scales_of_slots, steps_of_slot);
      }
    }

   private:
    template <class Steps, class Slots>
    static constexpr void scale_by_own(thread t, Steps& steps, const Slots& scales_of_slots,
                                       u32 steps_of_slot) {
      for (u32 s = 0; s < scales_of_slots.size(); ++s) {
        const auto scale = array_of<2>(
            [&](u32 odd) { return rounding_scales::own(t, scales_of_slots[s], odd, base::unit); });
        for (u32 j = s * steps_of_slot; j < (s + 1) * steps_of_slot; ++j)
          for (u32 i = 0; i < 4; ++i) steps[j].registers[i] *= scale[i % 2];
      }
    }
    template <class Steps, class Slots>
    static constexpr void scale_in_f32(thread t, Steps& steps, const Slots& scales_of_slots,
                                       u32 steps_of_slot) {
      for (u32 s = 0; s < scales_of_slots.size(); ++s) {
        const auto scale = array_of<2>(
            [&](u32 odd) { return rounding_scales::other(t, scales_of_slots[s], odd, base::unit); });
        for (u32 j = s * steps_of_slot; j < (s + 1) * steps_of_slot; ++j)
          for (u32 i = 0; i < 4; ++i) scale_in_f32(t, steps[j].registers[i], scale[i % 2]);
      }
    }
    template <class Register>
    static constexpr void scale_in_f32(thread t, Register& numbers, const val<f32>& scale) {
      const val both = t.let(numbers);
      if constexpr (w4_pair<T>::is_half) {
        const val one = t.let(cast<f32>(low(both))), other = t.let(cast<f32>(high(both)));
        numbers = pack<pair>(one * scale, other * scale);
      } else {
        const val of_both = t.let(bit_cast<u32>(both));
        const val one = t.let(bit_cast<f32>(of_both << 16)),
                  other = t.let(bit_cast<f32>(of_both & 0xffff0000u));
        numbers = pack<pair>(one * scale, other * scale);
      }
    }
  };
};

}  // namespace kaio::ops
