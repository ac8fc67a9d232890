#pragma once
// The numbers 0 to N - 1 as a parameter pack; std::index_sequence for unsigned numbers of 32 bits, without
// <utility>.

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::dsl {

// 0, 1, ... N - 1. Compilers make the numbers themselves; a recursive template would be instantiated N times.
template <std::uint32_t... I>
struct index_list {};
namespace detail {
#if __has_builtin(__make_integer_seq)
template <class T, T... I>
struct index_list_of {
  using type = index_list<I...>;
};
template <std::uint32_t N>
struct make_indices {
  using type = typename __make_integer_seq<index_list_of, std::uint32_t, N>::type;
};
#else
template <std::uint32_t N>
struct make_indices {
  using type = index_list<__integer_pack(N)...>;
};
#endif
}  // namespace detail
template <std::uint32_t N>
using indices = typename detail::make_indices<N>::type;

}  // namespace kaio::dsl
