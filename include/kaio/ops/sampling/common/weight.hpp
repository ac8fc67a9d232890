#pragma once
// The order of logits as integers, and their weights.
//
//   e = 2^((x - top) * rate)      the probability relative to the row's largest; f32, 0 to 1
//   w = e * 2^32 as a u32         1 becomes 2^32 - 1
//
// Sums of weights are u64. They are exact, so the order of the additions and the number of blocks that share a
// row do not change them.

#include <kaio/dsl/dsl.hpp>

#include <limits>

namespace kaio::ops {

inline constexpr f32 largest_f32 = std::numeric_limits<f32>::max();
inline constexpr f32 minus_infinity = -std::numeric_limits<f32>::infinity();

// Greater keys are greater logits; 0 and -0 have one key. x is no NaN.
constexpr val<u32> order_key(thread t, const val<f32>& x) {
  const val bits = t.let(bit_cast<u32>(x + 0.0f));
  const val sign = t.let(bit_cast<u32>(bit_cast<i32>(bits) >> 31));
  return t.let(bits ^ (sign | 0x80000000u));
}
// The logit of a key; of a key below that of -inf, NaN.
constexpr val<f32> logit_of_key(thread t, const val<u32>& key) {
  const val mask = t.let(select((key & 0x80000000u) != 0u, 0x80000000u, 0xffffffffu));
  return t.let(bit_cast<f32>(key ^ mask));
}

struct logit_weights {
  val<f32> top;   // the largest logit, finite
  val<f32> rate;  // log2(e) / temperature, above 0 and finite

  // A logit of NaN or -inf has 0, +inf has 1.
  constexpr val<f32> relative(thread t, const val<f32>& x) const {
    return t.let(saturate(fast::ftz::exp2((x - top) * rate)));
  }
  static constexpr val<u32> of_relative(thread t, const val<f32>& e) {
    return t.let(cast<u32>(e * 0x1p32f, round_nearest));
  }
};

// The mass that a set needs to reach p of `total`; 1 at least. p is below 1.
constexpr val<u64> mass_to_reach(thread t, const val<f32>& p, const val<u64>& total) {
  const val goal = t.let(cast<u64>(cast<f64>(max(p, 0.0f)) * cast<f64>(total), round_up));
  return t.let(max(min(goal, total), u64{1}));
}

}  // namespace kaio::ops
