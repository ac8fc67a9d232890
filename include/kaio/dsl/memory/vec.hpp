#pragma once
// vec<T, N>: N adjacent numbers in memory, aligned to their size, so that one instruction moves
// them. The host's type; a kernel computes with val<vec<T, N>> (vector.hpp).
//
//   std::vector<f32x4> host(n, f32x4{1, 2, 3, 4});
//   buffer<f32x4> x = gpu.upload(host);

#include <kaio/dsl/number/scalar.hpp>

#include <cstdint>

namespace kaio {

template <class T, std::uint32_t N>
struct alignas(sizeof(T) * N) vec {
  static_assert(dsl::scalar<T> && !std::is_same_v<T, bool>,
                "kaio: the elements of a vector are numbers of the language, of 1 to 8 bytes");
  static_assert(N == 2 || N == 4 || N == 8 || N == 16, "kaio: a vector has 2, 4, 8 or 16 elements");
  static_assert(sizeof(T) * N <= 16, "kaio: a vector has at most 16 bytes; take several of them");
  using value_type = T;

  T elements[N];

  static constexpr std::uint32_t size() { return N; }
  constexpr T& operator[](std::uint32_t i) { return elements[i]; }
  constexpr const T& operator[](std::uint32_t i) const { return elements[i]; }
  friend constexpr bool operator==(const vec& a, const vec& b) {
    for (std::uint32_t i = 0; i < N; ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }
};

using f64x2 = vec<f64, 2>;
using f32x2 = vec<f32, 2>;
using f32x4 = vec<f32, 4>;
using f16x4 = vec<f16, 4>;
using f16x8 = vec<f16, 8>;
using bf16x4 = vec<bf16, 4>;
using bf16x8 = vec<bf16, 8>;
using e4m3x2 = vec<e4m3, 2>;
using e4m3x4 = vec<e4m3, 4>;
using e4m3x8 = vec<e4m3, 8>;
using e4m3x16 = vec<e4m3, 16>;
using e5m2x2 = vec<e5m2, 2>;
using e5m2x4 = vec<e5m2, 4>;
using e5m2x8 = vec<e5m2, 8>;
using e5m2x16 = vec<e5m2, 16>;
using i64x2 = vec<i64, 2>;
using u64x2 = vec<u64, 2>;
using i32x2 = vec<i32, 2>;
using i32x4 = vec<i32, 4>;
using u32x2 = vec<u32, 2>;
using u32x4 = vec<u32, 4>;
using i16x2 = vec<i16, 2>;
using i16x4 = vec<i16, 4>;
using i16x8 = vec<i16, 8>;
using u16x2 = vec<u16, 2>;
using u16x4 = vec<u16, 4>;
using u16x8 = vec<u16, 8>;
using i8x2 = vec<i8, 2>;
using i8x4 = vec<i8, 4>;
using i8x8 = vec<i8, 8>;
using i8x16 = vec<i8, 16>;
using u8x2 = vec<u8, 2>;
using u8x4 = vec<u8, 4>;
using u8x8 = vec<u8, 8>;
using u8x16 = vec<u8, 16>;

namespace dsl {

template <class T>
inline constexpr bool is_vec = false;
template <class T, std::uint32_t N>
inline constexpr bool is_vec<vec<T, N>> = true;

}  // namespace dsl
}  // namespace kaio
