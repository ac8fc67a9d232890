#pragma once
// The error for an argument that is no tensor_view: a buffer, a pointer, a number, or a view with other dimensions.
// Without it, compilers say only that template arguments cannot be deduced.
//
//   attention(s, q_buffer, k, v, out);     // kaio: an operation takes a tensor_view, ...
//   attention_options{.lse = lse_buffer};  // and an option too

#include <kaio/ptx/standard.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace kaio::ops {

template <class T, std::size_t Rank>
class tensor_view;

namespace detail {

template <class T, std::size_t Rank>
std::integral_constant<std::size_t, Rank> rank_of(const tensor_view<T, Rank>&);

// V is a tensor_view of Rank dimensions. Rank 0: of any number of them.
template <class V, std::size_t Rank>
concept view_of = requires(const V& v) {
  rank_of(v);
  requires Rank == 0 || decltype(rank_of(v))::value == Rank;
};
template <std::size_t Rank, class... V>
concept views = (view_of<V, Rank> && ...);

template <class M>
concept without_view = !view_of<M, 0> && (std::is_arithmetic_v<M> || std::is_pointer_v<M> ||
                                          requires(const M& memory) { memory.as_argument(); });

template <class... V>
constexpr void refuse_views() {
  constexpr bool are_views = views<0, V...>;
  static_assert(are_views,
                "kaio: a buffer, a pointer or a number, but an operation takes a tensor_view; make one: "
                "tensor_view q(buffer, rows, columns);");
  static_assert(
      !are_views,
      "kaio: a tensor_view has another number of dimensions than the operation takes; the comment of the "
      "operation lists the dimensions of its arguments");
}

}  // namespace detail

}  // namespace kaio::ops
