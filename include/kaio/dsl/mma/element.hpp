#pragma once
// The elements of the matrices that tensor cores multiply: the language's own types, and types that only
// registers of matrix instructions hold. Gives the elements per register, and the PTX names.
//
//   static_assert(dsl::matrix_element<f16>::per_register == 2);

#include <kaio/dsl/number/fixed_string.hpp>
#include <kaio/dsl/number/float8.hpp>
#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ptx/modifier.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio {

// The upper 19 bits of an f32: sign, 8 of exponent, 10 of mantissa. The others are not read.
struct tf32 {};
// Integers of 4 bits, eight in a register, the first in the lowest bits.
struct i4 {};
struct u4 {};
// Single bits, 32 in a register, the first in the lowest.
struct b1 {};

namespace dsl {

template <ptx::modifier Type, std::uint32_t Bits, class Register>
struct matrix_element_facts {
  static constexpr ptx::modifier type = Type;  // as instructions name it
  static constexpr std::uint32_t bits = Bits;
  static constexpr std::uint32_t per_register = Bits < 32 ? 32 / Bits : 1;
  using register_type = Register;
};

// For a type that no matrix has, `type` is none.
template <class T>
struct matrix_element : matrix_element_facts<ptx::modifier::none, 32, u32> {};
template <>
struct matrix_element<f16> : matrix_element_facts<ptx::modifier::f16, 16, f16x2> {};
template <>
struct matrix_element<bf16> : matrix_element_facts<ptx::modifier::bf16, 16, bf16x2> {};
template <>
struct matrix_element<tf32> : matrix_element_facts<ptx::modifier::tf32, 32, u32> {};
template <>
struct matrix_element<f32> : matrix_element_facts<ptx::modifier::f32, 32, f32> {};
template <>
struct matrix_element<f64> : matrix_element_facts<ptx::modifier::f64, 64, f64> {};
template <>
struct matrix_element<i32> : matrix_element_facts<ptx::modifier::s32, 32, i32> {};
template <>
struct matrix_element<i8> : matrix_element_facts<ptx::modifier::s8, 8, u32> {};
template <>
struct matrix_element<u8> : matrix_element_facts<ptx::modifier::u8, 8, u32> {};
template <>
struct matrix_element<e4m3> : matrix_element_facts<ptx::modifier::e4m3, 8, u32> {};
template <>
struct matrix_element<e5m2> : matrix_element_facts<ptx::modifier::e5m2, 8, u32> {};
template <>
struct matrix_element<i4> : matrix_element_facts<ptx::modifier::s4, 4, u32> {};
template <>
struct matrix_element<u4> : matrix_element_facts<ptx::modifier::u4, 4, u32> {};
template <>
struct matrix_element<b1> : matrix_element_facts<ptx::modifier::b1, 1, u32> {};

// "f16", "tf32", "s8": for the names of kernels.
template <class T>
inline constexpr auto element_name = [] {
  constexpr std::string_view name = ptx::suffix(matrix_element<T>::type);
  fixed_string<name.size()> result;
  for (std::size_t k = 0; k + 1 < name.size(); ++k) result.data[k] = name[k + 1];
  return result;
}();

}  // namespace dsl

using dsl::element_name;
}  // namespace kaio
