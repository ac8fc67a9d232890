#pragma once
// Stores eight neighbours of a matrix of f32, f16 or bf16: f32 values, rounded once.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>

namespace kaio::ops {

namespace detail {
// Two values in one word of 16-bit elements. bf16 has an instruction from sm_80 on; before, integers round.
template <std::uint16_t Sm, class A, class X>
constexpr val<u32> pair_of(thread t, const X& low, const X& high) {
  if constexpr (std::is_same_v<A, stored_f16>) {
    return t.let(bit_cast<u32>(pack<f16x2>(low, high)));
  } else if constexpr (Sm >= 80) {
    return t.let(bit_cast<u32>(pack<bf16x2>(low, high)));
  } else {
    const val first = A::write(t, low), second = A::write(t, high);
    return t.let(cast<u32>(first) | cast<u32>(second) << 16);
  }
}
}  // namespace detail

// Stores at element `first` of the matrix at `out`; `type` is an element_type. by_16: that address is a
// multiple of 16.
template <std::uint16_t Sm, class Values>
constexpr void store_eight(thread t, const val<u64>& out, const val<i64>& first, const val<u32>& type,
                           const val<u32>& by_16, const Values& x) {
  with_any_element(t, type, [&]<class A>(A) {
    const auto to = pointer_at<kaio::out<typename A::stored>>(t, out).from(first);
    if (auto aligned = t.when(by_16 != 0u)) {
      if constexpr (std::is_same_v<A, detail::stored_f32>) {
        store_vec(to[0], make_vec(x[0], x[1], x[2], x[3]));
        store_vec(to[4], make_vec(x[4], x[5], x[6], x[7]));
      } else {
        const auto pairs =
            array_of<4>([&](u32 i) { return detail::pair_of<Sm, A>(t, x[2 * i], x[2 * i + 1]); });
        const val address = t.let(out + cast<u64>(first) * u64{2});
        pointer_at<kaio::out<u32x4>>(t, address)[0] = make_vec(pairs[0], pairs[1], pairs[2], pairs[3]);
      }
    }
    if (auto unaligned = t.otherwise())
      for (u32 i = 0; i < 8; ++i) to[i] = A::write(t, x[i]);
  });
}

}  // namespace kaio::ops
