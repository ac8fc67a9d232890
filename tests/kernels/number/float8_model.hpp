#pragma once
// A model of the 8-bit floats that shares no line with the library: a table of their numbers, made by
// scaling, in which the nearest is looked up.
//
//   float8_model<e4m3>::nearest(0.3L) == 0x2a;

#include "tests/kernels/number/bits_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace kaio::tests {

template <class T>
struct float8_model {
  static constexpr bool is_e4m3 = std::is_same_v<T, e4m3>;
  static constexpr int digits = is_e4m3 ? 3 : 2;
  static constexpr int least = is_e4m3 ? -6 : -14;
  static constexpr u32 greatest = is_e4m3 ? 0x7e : 0x7b;

  static long double exact(u32 code) {
    const u32 magnitude = code & 0x7f;
    const long double sign = code >= 0x80 ? -1 : 1;
    if (magnitude > greatest)
      return !is_e4m3 && magnitude == 0x7c ? sign * std::numeric_limits<long double>::infinity()
                                           : std::numeric_limits<long double>::quiet_NaN();
    const int exponent = static_cast<int>(magnitude >> digits);
    const u32 fraction = magnitude & ((1u << digits) - 1);
    const long double scaled = exponent == 0 ? fraction : fraction + (1u << digits);
    return sign * std::ldexp(scaled, std::max(exponent, 1) - 1 + least - digits);
  }

  static u32 nearest(long double x) {
    if (std::isnan(x)) return 0x7f;
    const u32 sign = std::signbit(x) ? 0x80 : 0;
    const long double magnitude = std::min(std::fabs(x), 1e6L);  // beyond both formats
    u32 best = 0;
    for (u32 code = 1; code <= greatest; ++code) {
      const long double before = std::fabs(magnitude - exact(best));
      const long double now = std::fabs(magnitude - exact(code));
      if (now < before || (now == before && code % 2 == 0)) best = code;
    }
    return sign | best;
  }
};

// Numbers at the edges of both formats: each code, the middles between neighbours, and their neighbours;
// values far out of range; and random numbers, most of them in range.
template <class From>
std::vector<From> float8_inputs(u32 random) {
  std::vector<From> result = values_of<From>(random);
  const auto add = [&](double x) {
    result.push_back(static_cast<From>(x));
    result.push_back(static_cast<From>(-x));
  };
  const auto beside = [&](long double exact) {
    const auto x = static_cast<double>(exact);
    for (const double at : {x, std::nextafter(x, 0.0), std::nextafter(x, 1e300)}) add(at);
    const auto single = static_cast<float>(x);
    for (const float at : {std::nextafter(single, 0.0f), std::nextafter(single, 1e30f)})
      add(static_cast<double>(at));
  };
  if constexpr (!std::is_integral_v<From>) {
    const auto all = [&]<class T>(T) {
      for (u32 code = 0; code < float8_model<T>::greatest; ++code) {
        beside(float8_model<T>::exact(code));
        beside((float8_model<T>::exact(code) + float8_model<T>::exact(code + 1)) / 2);
      }
      beside(float8_model<T>::exact(float8_model<T>::greatest));
      beside(float8_model<T>::exact(float8_model<T>::greatest) * 1.04L);
    };
    all(e4m3{});
    all(e5m2{});
    add(1e-45);
    add(std::numeric_limits<double>::infinity());
    add(std::numeric_limits<double>::quiet_NaN());
  }
  std::mt19937 engine(7);
  for (u32 i = 0; i < random; ++i)
    add(std::ldexp(static_cast<double>(engine()) / 4294967296.0, static_cast<int>(engine() % 40) - 20));
  return result;
}

}  // namespace kaio::tests
