#pragma once
// The kernels of the generator: element i of a call has counter `offset` + i, so that a sequence does not depend on how calls
// divide it.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/math.hpp>
#include <kaio/ops/sampling/common/philox.hpp>

namespace kaio::cuda_libraries {

using ops::philox_of;

// In (0, 1], as cuRAND has it.
constexpr val<f32> unit_number(f32, const val<u64>& words) {
  return fma(cast<f32>(cast<u32>(words)), 0x1p-32f, 0x1p-33f);
}
constexpr val<f64> unit_number(f64, const val<u64>& words) {
  return fma(cast<f64>(words >> 11), f64{0x1p-53}, f64{0x1p-54});
}

// Two words and more for each element of f64.
template <class T>
inline constexpr auto random_words =
    kernel<"curand_words", 256>([](thread t, out<T> x, val<u32> n, val<u64> seed, val<u64> offset) {
      const val i = t.global_id();
      if (auto inside = t.when(i < n)) x[i] = cast<T>(philox_of(t, seed, offset + cast<u64>(i)));
    });

template <class T>
inline constexpr auto uniform_numbers =
    kernel<"curand_uniform", 256>([](thread t, out<T> x, val<u32> n, val<u64> seed, val<u64> offset) {
      const val i = t.global_id();
      if (auto inside = t.when(i < n)) x[i] = unit_number(T{}, philox_of(t, seed, offset + cast<u64>(i)));
    });

// `exponential`: e to the power of the deviate, a log-normal number.
// Source: Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958.
template <class T>
inline constexpr auto normal_numbers =
    kernel<"curand_normal", 256>([](thread t, out<T> x, val<u32> n, val<u64> seed, val<u64> offset,
                                    val<T> mean, val<T> deviation, val<u32> exponential) {
      const val i = t.global_id();
      if (auto inside = t.when(i < n)) {
        const val at = t.let(2u * (offset + cast<u64>(i)));
        const val first = t.let(unit_number(T{}, philox_of(t, seed, at)));
        const val second = t.let(unit_number(T{}, philox_of(t, seed, at + 1u)));
        const val radius = sqrt(T{-2} * log(first));
        const val y = t.let(fma(deviation, radius * cospi(T{2} * second), mean));
        x[i] = select(exponential != 0u, exp(y), y);
      }
    });

}  // namespace kaio::cuda_libraries
