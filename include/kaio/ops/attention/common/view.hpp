#pragma once
// Views of an attention without their types in their type, for what is compiled once.

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The element types of Q, K, V and O.
enum class attention_type : std::uint8_t { f32, f16, bf16 };

constexpr std::uint32_t bytes_of(attention_type type) { return type == attention_type::f32 ? 4 : 2; }

namespace detail {

template <class T>
inline constexpr bool is_attention_element =
    std::is_same_v<T, f32> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

template <class T>
constexpr attention_type attention_type_of() {
  return std::is_same_v<T, f32>   ? attention_type::f32
         : std::is_same_v<T, f16> ? attention_type::f16
                                  : attention_type::bf16;
}

}  // namespace detail

// A view without its type in its type: up to four dimensions of one of attention_type. Made of a tensor_view.
struct attention_view {
  attention_type type = attention_type::f32;
  std::uint32_t rank = 0;  // 0: there is none
  std::uint32_t element_bytes = 4;
  std::uint64_t address = 0, bytes = 0;
  const void* device = nullptr;
  std::array<std::int64_t, 4> extents{}, strides{};

  attention_view() = default;
  template <class T, std::size_t Rank>
  attention_view(const tensor_view<T, Rank>& view)
      : type(detail::attention_type_of<std::remove_const_t<T>>()),
        rank(Rank),
        element_bytes(sizeof(T)),
        address(view.address()),
        bytes(view.bytes()),
        device(view.device()) {
    static_assert(detail::is_attention_element<std::remove_const_t<T>>,
                  "kaio: the elements of an attention are f32, f16 or bf16");
    static_assert(Rank <= 4, "kaio: an attention takes views of four dimensions at most");
    for (std::size_t d = 0; d < Rank; ++d) {
      extents[d] = view.extent(d);
      strides[d] = view.stride(d);
    }
  }
  bool exists() const noexcept { return rank != 0; }
  detail::view_facts facts() const noexcept {
    return {address, bytes, device, element_bytes, rank, extents.data(), strides.data()};
  }
};

namespace detail {
// A view of numbers that are no elements of an attention: of their size alone.
template <class T, std::size_t Rank>
attention_view view_of_numbers(const tensor_view<T, Rank>& v) {
  attention_view view;
  view.rank = Rank;
  view.element_bytes = sizeof(T);
  view.address = v.address();
  view.bytes = v.bytes();
  view.device = v.device();
  for (std::size_t d = 0; d < Rank; ++d) {
    view.extents[d] = v.extent(d);
    view.strides[d] = v.stride(d);
  }
  return view;
}
}  // namespace detail

}  // namespace kaio::ops
