#pragma once
// The products of wgmma: the elements of A, B and D that go together, and the numbers of columns. Source: PTX
// ISA, "Asynchronous Warpgroup Level Matrix Instructions", "Matrix Shape".
//
//   static_assert(dsl::wgmma_depth<f16> == 16);        // K of one instruction

#include <kaio/dsl/expression/expression.hpp>
#include <kaio/dsl/mma/element.hpp>

#include <cstdint>

namespace kaio::dsl {

inline constexpr std::uint32_t wgmma_rows = 64;         // M, of every wgmma
inline constexpr std::uint32_t wgmma_depth_bytes = 32;  // K of A and B, in bytes
inline constexpr std::uint32_t warpgroup_threads = 128;

template <class T>
inline constexpr std::uint32_t wgmma_depth = wgmma_depth_bytes * 8 / matrix_element<T>::bits;

namespace detail {

constexpr bool is_float8(modifier m) { return m == modifier::e4m3 || m == modifier::e5m2; }
constexpr bool is_byte(modifier m) { return m == modifier::s8 || m == modifier::u8; }

// Whether D = A * B exists for these elements.
constexpr bool wgmma_exists(modifier d, modifier a, modifier b) {
  if (is_float8(a)) return is_float8(b) && (d == modifier::f32 || d == modifier::f16);
  if (is_byte(a)) return is_byte(b) && d == modifier::s32;
  if (a != b) return false;
  if (a == modifier::f16) return d == modifier::f32 || d == modifier::f16;
  if (a == modifier::bf16 || a == modifier::tf32) return d == modifier::f32;
  return a == modifier::b1 && d == modifier::s32;
}

constexpr bool wgmma_has_columns(modifier d, std::uint32_t n) {
  if (n == 0 || n % 8 != 0 || n > 256) return false;
  return d != modifier::s32 || n <= 32 || n % 16 == 0;
}

template <class D, std::uint32_t N>
constexpr auto require_accumulator() {
  static_assert(std::is_same_v<D, f32> || std::is_same_v<D, f16> || std::is_same_v<D, i32>,
                "kaio: an accumulator of wgmma holds f32, f16 or i32");
  static_assert(std::is_same_v<D, i32> || wgmma_has_columns(modifier::f32, N),
                "kaio: the columns of a wgmma are a multiple of 8, from 8 to 256");
  static_assert(!std::is_same_v<D, i32> || wgmma_has_columns(modifier::s32, N),
                "kaio: the columns of a wgmma of integers are 8, 16, 24, 32, or a multiple of 16 up to 256");
}

template <class D, class A, class B>
constexpr auto require_product() {
  static_assert(
      wgmma_exists(matrix_element<D>::type, matrix_element<A>::type, matrix_element<B>::type),
      "kaio: no wgmma has these elements; there are f16 * f16 and e4m3 or e5m2 * e4m3 or e5m2 into f32 or f16, bf16 * bf16 and tf32 * tf32 into f32, i8 or u8 * i8 or u8 and b1 * b1 into i32");
}

}  // namespace detail
}  // namespace kaio::dsl
