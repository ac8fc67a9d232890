#pragma once
// Stores sixteen elements of a row as x / scale in 8 bits. e4m3 and e5m2 are rounded to the nearest even and
// saturated. i8 is rounded to the nearest even and clamped to -127 .. 127, and NaN becomes 0.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/append/problem.hpp>
#include <kaio/ops/shared/element_run.hpp>

#include <cstdint>

namespace kaio::ops {

// The largest number of a type. A row with a scale of its own has its largest element mapped to this number.
constexpr val<f32> largest_kept(thread t, const val<u32>& kept) {
  return t.let(select(kept == static_cast<u32>(kept_type::e4m3), 448.0f,
                      select(kept == static_cast<u32>(kept_type::e5m2), 57344.0f, 127.0f)));
}

// The scale of a row that a group of `lanes` lanes has: largest abs(x) / largest_kept, or 1 if that is 0. All
// lanes of a warp call it.
template <class Vars>
constexpr val<f32> scale_of_row(thread t, const val<u32>& kept, const Vars& x, const val<u32>& lanes) {
  var largest(t, 0.0f);
  for (u32 i = 0; i < 2 * run_size; ++i) largest = max(largest, abs(x[i]));
  for (u32 distance = 16; distance != 0; distance /= 2) {
    const val other = shfl_xor(largest, distance);
    largest = select(lanes > distance, max(largest, other), largest);
  }
  const val scale = t.let(largest / largest_kept(t, kept));
  return t.let(select(scale == 0.0f, 1.0f, scale));
}

namespace detail {
template <class Float8, class Numbers>
constexpr void pack_pairs(const Numbers& x, dsl::register_array<var<u32>, run_size>& pairs) {
  for (u32 i = 0; i < run_size; ++i) pairs[i] = cast<u32>(pack<Float8>(x[2 * i], x[2 * i + 1]));
}
}  // namespace detail

// Stores the runs of a unit. Addresses and counts of the runs are in bytes.
template <class Vars>
constexpr void store_quantised(thread t, const val<u32>& kept, const element_run& run0,
                               const element_run& run1, const Vars& x, const val<f32>& scale) {
  auto pairs = array_of<run_size>([&](u32) { return var(t, 0u); });
  const auto quotients = array_of<2 * run_size>([&](u32 i) { return t.let(x[i] / scale); });
  if (auto four = t.when(kept == static_cast<u32>(kept_type::e4m3)))
    detail::pack_pairs<e4m3>(quotients, pairs);
  if (auto five = t.when(kept == static_cast<u32>(kept_type::e5m2)))
    detail::pack_pairs<e5m2>(quotients, pairs);
  if (auto integer = t.when(kept == static_cast<u32>(kept_type::i8))) {
    const auto code = [&](u32 i) {
      const val rounded = t.let(cast<i32>(quotients[i], round_nearest));
      return t.let(cast<u32>(min(max(rounded, -127), 127)) & 0xffu);
    };
    for (u32 i = 0; i < run_size; ++i) {
      const val low = code(2 * i), high = code(2 * i + 1);
      pairs[i] = low | high << 8;
    }
  }
  for (u32 r = 0; r < 2; ++r) {
    const element_run& run = r == 0 ? run0 : run1;
    const u32 first = r * run_size / 2;
    const val low = t.let(pairs[first] | pairs[first + 1] << 16);
    const val high = t.let(pairs[first + 2] | pairs[first + 3] << 16);
    if (auto whole = t.when(run.whole)) pointer_at<out<u32x2>>(t, run.address)[0] = make_vec(low, high);
    if (auto part = t.otherwise()) {
      const auto memory = pointer_at<out<u8>>(t, run.address);
      var left(t, cast<u64>(low) | cast<u64>(high) << 32);
      for (auto i : t.range(0u, run.count).no_unroll()) {
        memory[i] = cast<u8>(left);
        left >>= 8;
      }
    }
  }
}

}  // namespace kaio::ops
