#pragma once
// Loads eight neighbours of a row of f32, f16 or bf16 as f32: by accesses of 16 bytes, or element by element.
// Elements that do not exist are 0.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>

namespace kaio::ops {

using eight_numbers = dsl::register_array<var<f32>, 8>;

constexpr eight_numbers no_numbers(thread t) {
  return array_of<8>([&](u32) { return var(t, 0.0f); });
}

// Elements first ... first + count - 1 of the matrix at `address`, count at most 8. by_16: rows begin at
// multiples of 16 bytes, and `first` is at a multiple of eight in its row.
constexpr void load_numbers(thread t, const val<u64>& address, const val<u32>& type, const val<i64>& first,
                            const val<u32>& count, const val<bool>& by_16, eight_numbers& x) {
  with_any_element(t, type, [&]<class A>(A) {
    const auto from = pointer_at<in<typename A::stored>>(t, address).from(first);
    if (auto whole = t.when(all_of(by_16, count == 8u))) {
      if constexpr (std::is_same_v<A, detail::stored_f32>) {
        const val low = load_vec<4>(from[0]);
        const val high = load_vec<4>(from[4]);
        for (u32 i = 0; i < 4; ++i) x[i] = low[i];
        for (u32 i = 0; i < 4; ++i) x[4 + i] = high[i];
      } else {
        const val at = t.let(address + cast<u64>(first) * u64{2});
        const val words = load_vec<4>(pointer_at<in<u32>>(t, at)[0]);
        for (u32 i = 0; i < 4; ++i) {
          if constexpr (std::is_same_v<A, detail::stored_f16>) {
            const val both = t.let(bit_cast<f16x2>(words[i]));
            x[2 * i] = cast<f32>(low(both));
            x[2 * i + 1] = cast<f32>(high(both));
          } else {
            x[2 * i] = bit_cast<f32>(words[i] << 16);
            x[2 * i + 1] = bit_cast<f32>(words[i] & 0xffff0000u);
          }
        }
      }
    }
    if (auto split = t.otherwise())
      for (u32 i = 0; i < 8; ++i)
        if (auto exists = t.when(count > i)) x[i] = A::read(from[i]);
  });
}

// The bits of the largest magnitude; a NaN's bits exceed all others.
constexpr val<u32> largest_bits(thread t, const eight_numbers& x) {
  var<u32> largest(t, 0u);
  for (u32 i = 0; i < 8; ++i) largest = max(largest, bit_cast<u32>(x[i]) & 0x7fffffffu);
  return t.let(largest);
}

// Reduces over groups of `lanes` lanes, a power of two. All lanes of a warp call it.
template <class T, class Op>
constexpr val<T> reduce_lanes(thread t, const val<T>& x, const val<u32>& lanes, const Op& op) {
  var<T> all(t, x);
  for (u32 distance = 16; distance != 0; distance /= 2) {
    const val other = shfl_xor(all, distance);
    all = select(lanes > distance, op(t.let(all), other), all);
  }
  return t.let(all);
}

}  // namespace kaio::ops
