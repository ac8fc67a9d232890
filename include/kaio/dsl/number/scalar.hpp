#pragma once
// The scalar types of the language, and their names in PTX. They are the host's own types, so that host and
// device agree on every bit of a buffer.
//
//   static_assert(kaio::dsl::ptx_type<kaio::f32> == kaio::ptx::type::f32);

#include <kaio/dsl/number/float8.hpp>
#include <kaio/dsl/number/half.hpp>
#include <kaio/ptx/type.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio {

using f32 = float;
using f64 = double;
using i8 = std::int8_t;
using i16 = std::int16_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

namespace dsl {

// An f64 with all its digits: -fsingle-precision-constant reads a literal without a suffix as a float.
constexpr f64 operator""_f64(long double x) { return static_cast<f64>(x); }

// type::none if T is no scalar of the language.
template <class T>
inline constexpr ptx::type ptx_type = ptx::type::none;
template <>
inline constexpr ptx::type ptx_type<f32> = ptx::type::f32;
template <>
inline constexpr ptx::type ptx_type<f64> = ptx::type::f64;
template <>
inline constexpr ptx::type ptx_type<f16> = ptx::type::f16;
template <>
inline constexpr ptx::type ptx_type<bf16> = ptx::type::bf16;
template <>
inline constexpr ptx::type ptx_type<f16x2> = ptx::type::f16x2;
template <>
inline constexpr ptx::type ptx_type<bf16x2> = ptx::type::bf16x2;
template <>
inline constexpr ptx::type ptx_type<e4m3> = ptx::type::b8;
template <>
inline constexpr ptx::type ptx_type<e5m2> = ptx::type::b8;
template <>
inline constexpr ptx::type ptx_type<i8> = ptx::type::s8;
template <>
inline constexpr ptx::type ptx_type<i16> = ptx::type::s16;
template <>
inline constexpr ptx::type ptx_type<u8> = ptx::type::u8;
template <>
inline constexpr ptx::type ptx_type<u16> = ptx::type::u16;
template <>
inline constexpr ptx::type ptx_type<i32> = ptx::type::s32;
template <>
inline constexpr ptx::type ptx_type<u32> = ptx::type::u32;
template <>
inline constexpr ptx::type ptx_type<i64> = ptx::type::s64;
template <>
inline constexpr ptx::type ptx_type<u64> = ptx::type::u64;
template <>
inline constexpr ptx::type ptx_type<bool> = ptx::type::pred;

template <class T>
concept scalar = ptx_type<T> != ptx::type::none;

template <class T>
concept integer = ptx::is_integer(ptx_type<T>);

// A number with a fraction, or a packed pair of them.
template <class T>
concept floating = ptx::is_floating(ptx_type<T>);

// f16x2 and bf16x2: operations work on both halves.
template <class T>
concept packed = ptx::is_packed(ptx_type<T>);

// e4m3 and e5m2: numbers that are stored and converted. Nothing computes with them; PTX knows them as 8 bits.
template <class T>
concept float8 = std::is_same_v<T, e4m3> || std::is_same_v<T, e5m2>;

// The types that the device computes with as the host does.
template <class T>
concept host_floating = std::is_same_v<T, f32> || std::is_same_v<T, f64>;

// f16, or bf16.
template <packed T>
using half_of = std::conditional_t<std::is_same_v<T, f16x2>, f16, bf16>;

// A literal or constant of the host: it takes the type of its device operand.
template <class T>
concept host_number =
    std::is_arithmetic_v<T> || std::is_same_v<T, f16> || std::is_same_v<T, bf16> || float8<T>;

// A number in a type, such as std::integral_constant.
template <class T>
concept host_constant = requires {
  typename T::value_type;
  T::value;
} && std::is_arithmetic_v<typename T::value_type>;

// The type of a literal that has no operand to take it from: its own; for long long, that of 64 bits.
template <class T>
struct literal_value {
  using type = T;
};
template <host_number T>
  requires(std::is_integral_v<T> && !scalar<T>)
struct literal_value<T> {
  using type = std::conditional_t<std::is_signed_v<T>, i64, u64>;
};
template <host_constant T>
struct literal_value<T> : literal_value<typename T::value_type> {};
template <class T>
using literal_type = typename literal_value<std::remove_cv_t<T>>::type;

}  // namespace dsl
}  // namespace kaio
