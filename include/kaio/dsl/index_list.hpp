#pragma once
// The numbers 0 to N - 1 as a parameter pack; std::index_sequence for unsigned numbers of 32 bits, without
// <utility>.

#include <cstdint>

namespace kaio::dsl {

// 0, 1, ... N - 1.
template <std::uint32_t... I>
struct index_list {};
template <std::uint32_t N, std::uint32_t... I>
struct make_indices : make_indices<N - 1, N - 1, I...> {};
template <std::uint32_t... I>
struct make_indices<0, I...> {
  using type = index_list<I...>;
};
template <std::uint32_t N>
using indices = typename make_indices<N>::type;

}  // namespace kaio::dsl
