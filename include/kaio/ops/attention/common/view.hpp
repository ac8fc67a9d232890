#pragma once
// Views of attention's tensors whose C++ type does not depend on the element type, for code that is compiled
// once.

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <cstddef>
#include <type_traits>

namespace kaio::ops {

namespace detail {

template <class T>
inline constexpr bool is_attention_element =
    std::is_same_v<T, f32> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

}  // namespace detail

// A tensor_view of up to four dimensions of f32, f16 or bf16, whose element type and rank are values.
struct attention_view : any_view {
  constexpr attention_view() { type = element_kind::f32; }
  // Numbers that are not elements of an attention: only their size counts.
  explicit attention_view(const any_view& numbers) : any_view(numbers) {}
  template <detail::without_view M>
  attention_view(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  attention_view(const tensor_view<T, Rank>& view) : any_view(view) {
    static_assert(detail::is_attention_element<std::remove_const_t<T>>,
                  "kaio: the elements of an attention are f32, f16 or bf16");
    static_assert(Rank <= 4, "kaio: an attention takes views of four dimensions at most");
  }
};

namespace detail {
template <class T, std::size_t Rank>
attention_view view_of_numbers(const tensor_view<T, Rank>& v) {
  return attention_view(any_view(v));
}
}  // namespace detail

}  // namespace kaio::ops
