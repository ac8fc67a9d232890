#pragma once
// Conversions: cast<T>(x) converts the value, cast_sat<T>(x) clamps it, bit_cast<T>(x) keeps the bits.
//
//   val k = cast<u64>(j);
//   val cell = cast<i32>(x / width, round_down);      // floor
//   val byte = cast_sat<u8>(sample);

#include <kaio/dsl/expression/pure.hpp>

#include <cstdint>

namespace kaio::dsl {

// A rounding, as PTX names it.
template <modifier M>
struct rounding {};
inline constexpr rounding<modifier::rn> round_nearest{};  // to the nearest, ties to even
inline constexpr rounding<modifier::rz> round_toward_zero{};
inline constexpr rounding<modifier::rm> round_down{};  // toward minus infinity
inline constexpr rounding<modifier::rp> round_up{};    // toward infinity

namespace detail {

template <class To, class From, modifier M>
struct rounded_cast_rule {
  static constexpr value apply(tracer& t, value a) {
    static_assert(!float8<To> || M == modifier::rn || std::is_same_v<To, From>,
                  "kaio: e4m3 and e5m2 are rounded to the nearest alone; write cast<e4m3>(x)");
    if constexpr (float8<To> || std::is_same_v<To, From>)
      return cast_rule<To, From>::apply(t, a);
    else if constexpr (float8<From>)
      return t.cast(ptx_type<To>, ptx::type::f32, cast_rule<f32, From>::apply(t, a), M);
    else
      return t.cast(ptx_type<To>, ptx_type<From>, a, M);
  }
};
template <class To, class From>
struct saturating_cast_rule {
  static constexpr value apply(tracer& t, value a) {
    return t.cast_saturated(ptx_type<To>, ptx_type<From>, a);
  }
};

template <class To, class From>
constexpr auto require_convertible() {
  static_assert((!packed<To> && !packed<From>) || std::is_same_v<To, From>,
                "kaio: a cast of a packed pair; write low(x) and high(x), and pack(low, high)");
}

}  // namespace detail

// Converts the value. An integer keeps its value modulo 2^n, as in C++. What a floating type does not hold is rounded to
// the nearest even; e4m3 and e5m2 saturate. bool is x != 0. A float becomes an integer toward zero, clamped to its
// range, and NaN becomes 0, except:
//   to i64 or u64, from f64 to i32 or u32   the top bit alone (PTX, cvt)
//   from f64 to i8 or i16                   the least integer
template <scalar T, device A>
constexpr auto cast(const A& a) {
  detail::require_convertible<T, element<A>>();
  return make_unary<T, cast_rule<T, element<A>>>(a);
}

// cast() with a stated rounding. It matters if a float becomes an integer, or a floating type does not hold the value.
template <scalar T, device A, modifier R>
constexpr auto cast(const A& a, rounding<R>) {
  detail::require_convertible<T, element<A>>();
  return make_pure<T, detail::rounded_cast_rule<T, element<A>, R>>(a.node());
}

// An integer clamped to the range of another integer type (cvt.sat).
template <scalar T, device A>
constexpr auto cast_sat(const A& a) {
  static_assert(integer<T>, "kaio: cast_sat gives an integer; write saturate(x) to clamp a float to [0, 1]");
  static_assert(integer<element<A>>, "kaio: cast_sat takes an integer; cast<T>(x) of a float clamps already");
  return make_pure<T, detail::saturating_cast_rule<T, element<A>>>(a.node());
}

// The bits of the value as another type of its size.
template <scalar T, device A>
constexpr auto bit_cast(const A& a) {
  static_assert(
      sizeof(T) == sizeof(element<A>) && !std::is_same_v<T, bool> && !std::is_same_v<element<A>, bool>,
      "kaio: bit_cast between types of different sizes; write cast<T>(x) to convert the value");
  return make_unary<T, bit_cast_rule<T>>(a);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::bit_cast;
using dsl::cast;
using dsl::cast_sat;
using dsl::round_down;
using dsl::round_nearest;
using dsl::round_toward_zero;
using dsl::round_up;
}  // namespace kaio
