#pragma once
// Weights by a function of the user's own, of a code and the scale of its group: what no number times a scale is. It is
// called with values of the device, for each weight, in f32; the result is rounded once to the type of x.
//
//   using curved = w4_scaled_function<"curved_", [](thread t, const val<u32>& code, const val<f32>& scale) {
//     const val number = t.let(cast<f32>(code) - 3.5f);
//     return t.let(number * scale + number * number * 0.25f * scale);
//   }>;

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/quantised/w4/decode.hpp>

#include <cstdint>

namespace kaio::ops {

// The name is part of those of the kernels. Function: val<f32> from (thread, val<u32> of 0 to 15, val<f32>).
template <fixed_string Name, auto Function>
struct w4_scaled_function : w4_dequantisation {
  static constexpr auto name = Name;
  static constexpr bool scaled = true;
  static constexpr std::uint32_t slots = 2;  // groups of multiples of 32

  template <scalar T>
  struct decoder {
    using pair = typename w4_pair<T>::type;
    static constexpr f32 unit = 1.0f;
    constexpr decoder(thread, const val<w4_problem>&) {}

    static constexpr auto of_scale(thread t, const val<f32>& scale) { return t.let(bit_cast<u32>(scale)); }

    template <class Words, class Minus, class Registers>
    constexpr void decode(thread t, const Words& words, const Minus& minus, Registers& registers) const {
      for (u32 i = 0; i < 4; ++i) {
        const val scale = t.let(bit_cast<f32>(minus[i % 2]));
        const auto weight = [&](u32 code) -> val<f32> {
          return Function(t, t.let(words[0] >> (4 * code) & 15u), scale);
        };
        const val even = weight(i), odd = weight(i + 4);
        const val both = t.let(pack<pair>(even, odd));
        registers[i] = both;
      }
    }
  };
};

}  // namespace kaio::ops
