#pragma once
// Shared by the kernel tests: the device under test (KAIO_DEVICE), values that meet the edges of each type,
// outputs that are poisoned before a run, and the comparison with the host's results.

#include "catch.hpp"

#include <kaio/kaio.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kaio::tests {

inline device& under_test() {
  static device it = device::open();
  return it;
}

// Whether the emulator runs the kernels, itself or as libkaio_cuda_emulator.so: a GPU is given more values.
inline bool emulated() {
  static const bool it = under_test().is_emulator() ||
                         std::string_view(under_test().properties().name).starts_with("kaio emulator");
  return it;
}

// Memory that no kernel has written yet, recognisable in a result.
template <class T>
buffer<T> poisoned(std::size_t count) {
  std::vector<T> host(count);
  std::memset(static_cast<void*>(host.data()), 0xa5, count * sizeof(T));
  return under_test().upload(host);
}

template <class T>
auto bits(T x) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(x);
}

// Bitwise equality; every NaN equals every other.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  }
  return bits(a) == bits(b);
}

template <class T>
std::vector<T> edges() {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return {T(0),
            T(-0.0),
            T(1),
            T(-1),
            T(0.5),
            T(-2.75),
            T(1e10),
            T(-3e9),
            T(4294967296.0),
            T(-0.75),
            limits::min(),
            limits::denorm_min(),
            -limits::denorm_min(),
            limits::max(),
            limits::lowest(),
            limits::infinity(),
            -limits::infinity(),
            limits::quiet_NaN(),
            T(2147483647.5),
            T(1.8e19)};
  else
    return {T(0),
            T(1),
            T(2),
            T(3),
            T(7),
            T(8),
            T(31),
            T(33),
            T(100),
            limits::max(),
            limits::min(),
            static_cast<T>(limits::max() - 1),
            static_cast<T>(limits::min() + 1),
            static_cast<T>(limits::max() / 2 + 1),
            static_cast<T>(~T(0)),
            static_cast<T>(~T(6))};
}

// Pairs of operands: each edge with each, and random ones.
template <class T>
struct pairs {
  std::vector<T> a, b;
  explicit pairs(std::size_t random) {
    for (const T x : edges<T>())
      for (const T y : edges<T>()) {
        a.push_back(x);
        b.push_back(y);
      }
    std::mt19937_64 engine(7);
    for (std::size_t i = 0; i < random; ++i) {
      a.push_back(draw(engine));
      b.push_back(draw(engine));
    }
  }

 private:
  static T draw(std::mt19937_64& engine) {
    const std::uint64_t raw = engine() >> (engine() % 60);
    if constexpr (std::is_floating_point_v<T>)
      return std::ldexp(static_cast<T>(static_cast<std::int64_t>(raw)), static_cast<int>(engine() % 60) - 90);
    else
      return static_cast<T>(raw);
  }
};

// Distance in units of the last place of the correctly rounded result; NaN and infinities must agree.
template <class T>
double ulps(T got, long double want) {
  const T rounded = static_cast<T>(want);
  if (std::isnan(rounded) || std::isnan(got)) return std::isnan(rounded) == std::isnan(got) ? 0 : 1e30;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (rounded == got) return 0;
    // Just beyond the largest number: an infinity is one step from it.
    return std::abs(want) > 0.999999L * std::numeric_limits<T>::max() &&
                   std::isinf(rounded) != std::isinf(got)
               ? 1
               : 1e30;
  }
  int exponent = 0;
  std::frexp(rounded, &exponent);
  const int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  const int place = std::max(exponent - std::numeric_limits<T>::digits, least);
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) / std::ldexp(1.0L, place));
}

}  // namespace kaio::tests
