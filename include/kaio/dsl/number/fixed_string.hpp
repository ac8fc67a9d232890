#pragma once
// Strings as template arguments, for the names of kernels. A kernel template gives each instance its own
// name:
//
//   template <scalar T, u32 Tile>
//   inline constexpr auto matmul = kernel<"matmul_" + type_name<T> + "_" + decimal<Tile>, 256>([](thread t, ...) { ... });

#include <kaio/dsl/number/scalar.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::dsl {

template <std::size_t N>
struct fixed_string {
  char data[N] = {};  // with the terminating zero
  constexpr fixed_string() = default;
  constexpr fixed_string(const char (&s)[N]) {
    for (std::size_t i = 0; i < N; ++i) data[i] = s[i];
  }
  constexpr std::string_view view() const { return {data, N - 1}; }
};

template <std::size_t N, std::size_t M>
constexpr fixed_string<N + M - 1> operator+(const fixed_string<N>& a, const fixed_string<M>& b) {
  fixed_string<N + M - 1> joined;
  for (std::size_t i = 0; i + 1 < N; ++i) joined.data[i] = a.data[i];
  for (std::size_t i = 0; i < M; ++i) joined.data[N - 1 + i] = b.data[i];
  return joined;
}
template <std::size_t N, std::size_t M>
constexpr auto operator+(const char (&a)[N], const fixed_string<M>& b) {
  return fixed_string<N>(a) + b;
}
template <std::size_t N, std::size_t M>
constexpr auto operator+(const fixed_string<N>& a, const char (&b)[M]) {
  return a + fixed_string<M>(b);
}

// "f32", "u64", ...
template <scalar T>
inline constexpr auto type_name = [] {
  constexpr std::string_view name = std::is_same_v<T, bool>   ? ".bool"
                                    : std::is_same_v<T, e4m3> ? ".e4m3"
                                    : std::is_same_v<T, e5m2> ? ".e5m2"
                                                              : ptx::suffix(ptx_type<T>);
  fixed_string<name.size()> result;
  for (std::size_t k = 0; k + 1 < name.size(); ++k) result.data[k] = name[k + 1];
  if constexpr (integer<T>) result.data[0] = ptx::is_signed(ptx_type<T>) ? 'i' : 'u';
  return result;
}();

// "256"
template <std::uint32_t Value>
inline constexpr auto decimal = [] {
  constexpr std::size_t digits = [] {
    std::size_t n = 1;
    for (std::uint32_t rest = Value; rest >= 10; rest /= 10) ++n;
    return n;
  }();
  fixed_string<digits + 1> text;
  std::size_t at = digits;
  for (std::uint32_t rest = Value; at != 0; rest /= 10) text.data[--at] = static_cast<char>('0' + rest % 10);
  return text;
}();

}  // namespace kaio::dsl

namespace kaio {
using dsl::decimal;
using dsl::fixed_string;
using dsl::type_name;
}  // namespace kaio
