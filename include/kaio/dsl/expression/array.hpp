#pragma once
// Arrays in registers. An element is what a function returns for its index: a val, a var, another array. The indices are
// the host's, so a loop over them unrolls.
//
//   const auto xi = array_of<4>([&](u32 k) { return t.let(x[first + k * 256]); });      // four loads in flight
//   auto sums = array_of<4>([&](u32) { return var(t, 0.0f); });
//   for (u32 k = 0; k < 4; ++k) sums[k] += xi[k] * 2.0f;

#include <kaio/dsl/number/diagnostic.hpp>
#include <kaio/dsl/number/index_list.hpp>
#include <kaio/dsl/number/scalar.hpp>

#include <cstdint>

namespace kaio::dsl {

template <class V, std::uint32_t N>
struct register_array {
  V values[N];
  constexpr V& operator[](std::uint32_t i) { return values[i < N ? i : beyond()]; }
  constexpr const V& operator[](std::uint32_t i) const { return values[i < N ? i : beyond()]; }
  constexpr V* begin() { return values; }
  constexpr V* end() { return values + N; }
  constexpr const V* begin() const { return values; }
  constexpr const V* end() const { return values + N; }
  static constexpr std::uint32_t size() { return N; }

  // Reports an index outside the array, to the kernel that the elements know. Returns the index to use instead.
  constexpr std::uint32_t beyond() const {
    constexpr const char* fault =
        "kaio: an index is outside its array; those of array_of<N> go from 0 to N - 1";
    if constexpr (requires { values[0].node().context(); }) {
      values[0].node().context()->fail_next(fault);
    } else if constexpr (requires { values[0].vector_node().context(); }) {
      values[0].vector_node().context()->fail_next(fault);
    } else if constexpr (requires { values[0].beyond(); }) {
      values[0].beyond();
    } else {
      kernel_error(fault);
    }
    return 0;
  }
};

namespace detail {
template <class F, std::uint32_t... I>
constexpr auto fill(const F& f, index_list<I...>) {
  using V = decltype(f(std::uint32_t{0}));
  return register_array<V, sizeof...(I)>{{f(I)...}};
}
}  // namespace detail

// f(0), f(1), ... f(N - 1), in that order.
template <std::uint32_t N, class F>
constexpr auto array_of(const F& f) {
  static_assert(N != 0);
  return detail::fill(f, indices<N>{});
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::array_of;
}
