#pragma once
// The functions of include/kaio/dsl/math/ that the tests hold to their bounds: the device's result,
// the host's expected one, the largest error in units of the last place, and the range where it matters
// most. A kernel computes one row of results for each function of a list.

#include <kaio/dsl/dsl.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#ifdef __MINGW32__
#include <quadmath.h>
#endif

namespace kaio::tests {

// The references, which std has for long double. MinGW's sin, cos and tan are wrong for large arguments, its acos near 1, and its
// round just below 1 / 2.
namespace reference {
#ifdef __MINGW32__
inline long double sin(long double x) { return static_cast<long double>(sinq(x)); }
inline long double cos(long double x) { return static_cast<long double>(cosq(x)); }
inline long double tan(long double x) { return static_cast<long double>(tanq(x)); }
inline long double acos(long double x) { return static_cast<long double>(acosq(x)); }
inline long double round(long double x) { return static_cast<long double>(roundq(x)); }
#else
using std::acos, std::cos, std::round, std::sin, std::tan;
#endif
}  // namespace reference

struct bounds {
  double f32, f64;
};

// One function: `of` on the device, `want` on the host.
#define KAIO_FUNCTION(Name, Low, High, Single, Double, Reference) \
  struct Name##_case {                                            \
    static constexpr const char* name = #Name;                    \
    static constexpr double low = Low, high = High;               \
    static constexpr bounds bound{Single, Double};                \
    template <class A>                                            \
    static constexpr auto of(const A& x) {                        \
      return dsl::Name(x);                                        \
    }                                                             \
    static long double want(long double x) { return Reference; }  \
  };

inline constexpr long double pi = 3.14159265358979323846264338327950288L;

// sin(pi x) by exact steps to the nearest multiple of pi.
inline long double sine_of_pi(long double x) {
  const long double part = std::remainder(x, 2.0L);
  const long double a = std::fabs(part);
  return std::copysign(std::sin((a > 0.5L ? 1 - a : a) * pi), part == 0 || a == 1 ? x : part);
}
inline long double cosine_of_pi(long double x) {
  const long double a = std::fabs(std::remainder(x, 2.0L));
  return a > 0.25L && a < 0.75L ? std::sin((0.5L - a) * pi) : std::cos(a * pi);
}

KAIO_FUNCTION(sin, -30, 30, 2, 2, reference::sin(x))
KAIO_FUNCTION(cos, -30, 30, 2, 2, reference::cos(x))
KAIO_FUNCTION(tan, -30, 30, 4, 2.2, reference::tan(x))
KAIO_FUNCTION(sinpi, -4, 4, 2, 2, sine_of_pi(x))
KAIO_FUNCTION(cospi, -4, 4, 2, 2, cosine_of_pi(x))
KAIO_FUNCTION(asin, -1, 1, 2, 2, std::asin(x))
KAIO_FUNCTION(acos, -1, 1, 2, 2, reference::acos(x))
KAIO_FUNCTION(atan, -5, 5, 2, 2, std::atan(x))
KAIO_FUNCTION(erf, -4, 4, 2, 2, std::erf(x))
KAIO_FUNCTION(erfc, -4, 11, 4, 5, std::erfc(x))
KAIO_FUNCTION(rsqrt, 0, 5, 1, 1, x == 0 ? 1 / x : 1 / std::sqrt(x))
KAIO_FUNCTION(rcp, -5, 5, 0.5, 0.5, 1 / x)
KAIO_FUNCTION(cbrt, -30, 30, 1, 1, std::cbrt(x))
KAIO_FUNCTION(floor, -10, 10, 0, 0, std::floor(x))
KAIO_FUNCTION(ceil, -10, 10, 0, 0, std::ceil(x))
KAIO_FUNCTION(trunc, -10, 10, 0, 0, std::trunc(x))
KAIO_FUNCTION(rint, -10, 10, 0, 0, std::rint(x))
KAIO_FUNCTION(nearbyint, -10, 10, 0, 0, std::nearbyint(x))
KAIO_FUNCTION(round, -10, 10, 0, 0, reference::round(x))

// The pair of one call.
struct sincos_sin_case : sin_case {
  static constexpr const char* name = "sincos, sin";
  template <class A>
  static constexpr auto of(const A& x) {
    return sincos(x).sin;
  }
};
struct sincos_cos_case : cos_case {
  static constexpr const char* name = "sincos, cos";
  template <class A>
  static constexpr auto of(const A& x) {
    return sincos(x).cos;
  }
};
#undef KAIO_FUNCTION

#define KAIO_FUNCTION(Name, Single, Double, Reference)                          \
  struct Name##_case {                                                          \
    static constexpr const char* name = #Name;                                  \
    static constexpr bounds bound{Single, Double};                              \
    template <class A, class B>                                                 \
    static constexpr auto of(const A& x, const B& y) {                          \
      return dsl::Name(x, y);                                                   \
    }                                                                           \
    static long double want(long double x, long double y) { return Reference; } \
  };

KAIO_FUNCTION(atan2, 3, 2, std::atan2(x, y))
KAIO_FUNCTION(hypot, 2, 2, std::hypot(x, y))
KAIO_FUNCTION(fmod, 0, 0, std::fmod(x, y))
KAIO_FUNCTION(fdim, 0.5, 0.5, x <= y ? 0 : x - y)
KAIO_FUNCTION(copysign, 0, 0, std::copysign(x, y))
#undef KAIO_FUNCTION

template <class... Functions>
struct function_list {};

using trigonometric_functions =
    function_list<sin_case, cos_case, tan_case, sinpi_case, cospi_case, sincos_sin_case, sincos_cos_case>;
using inverse_functions = function_list<asin_case, acos_case, atan_case>;
using root_functions = function_list<erf_case, erfc_case, rsqrt_case, rcp_case, cbrt_case>;
using rounding_functions =
    function_list<floor_case, ceil_case, trunc_case, rint_case, nearbyint_case, round_case>;
using binary_functions = function_list<atan2_case, hypot_case, fmod_case, fdim_case, copysign_case>;

template <class X, class Y, class N, class I, class... F>
constexpr void each_row(const X& x, const Y& y, const N& n, const I& i, function_list<F...>) {
  u32 row = 0;
  ((y[i + n * row++] = F::of(x[i])), ...);
}

template <dsl::floating T>
inline constexpr auto trigonometric =
    kernel<"functions_trigonometric_" + type_name<T>, 128>([](thread t, in<T> x, out<T> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) each_row(x, y, n, i, trigonometric_functions{});
    });

template <dsl::floating T>
inline constexpr auto inverse_trigonometric =
    kernel<"functions_inverse_" + type_name<T>, 128>([](thread t, in<T> x, out<T> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) each_row(x, y, n, i, inverse_functions{});
    });

template <dsl::floating T>
inline constexpr auto roots =
    kernel<"functions_roots_" + type_name<T>, 128>([](thread t, in<T> x, out<T> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) each_row(x, y, n, i, root_functions{});
    });

template <dsl::floating T>
inline constexpr auto roundings =
    kernel<"functions_rounding_" + type_name<T>, 128>([](thread t, in<T> x, out<T> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) each_row(x, y, n, i, rounding_functions{});
    });

template <class A, class B, class Y, class N, class I, class... F>
constexpr void each_row(const A& a, const B& b, const Y& y, const N& n, const I& i, function_list<F...>) {
  u32 row = 0;
  ((y[i + n * row++] = F::of(a[i], b[i])), ...);
}

template <dsl::floating T>
inline constexpr auto of_two =
    kernel<"functions_of_two_" + type_name<T>, 128>([](thread t, in<T> a, in<T> b, out<T> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) each_row(a, b, y, n, i, binary_functions{});
    });

// Conditions as bits of a number; clamp and lerp.
template <dsl::floating T>
inline constexpr auto classes = kernel<"functions_classes_" + type_name<T>, 128>(
    [](thread t, in<T> x, out<u32> is, out<T> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        val v = x[i];
        is[i] = cast<u32>(isnan(v)) | cast<u32>(isinf(v)) << 1 | cast<u32>(isfinite(v)) << 2 |
                cast<u32>(signbit(v)) << 3;
        y[i] = clamp(v, -1.5f, 2);
        y[i + n] = lerp(v, 2.0f, 0.25f);
        y[i + n * 2] = lerp(T(3.0f), v, 1);
      }
    });

// The special function unit.
inline constexpr auto fast_units =
    kernel<"functions_fast", 128>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        val v = x[i];
        const auto both = fast::sincos(v);
        y[i] = fast::sin(v);
        y[i + n] = both.cos;
        y[i + n * 2] = fast::tan(v);
        y[i + n * 3] = fast::rcp(v);
        y[i + n * 4] = fast::rsqrt(v);
        y[i + n * 5] = fast::sqrt(v);
        y[i + n * 6] = fast::div(1.5f, v);
      }
    });

}  // namespace kaio::tests
