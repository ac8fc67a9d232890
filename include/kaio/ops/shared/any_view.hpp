#pragma once
// A view of up to five dimensions whose element type and rank are values, for code that is compiled once for
// all of them.
//
//   any_view v = tensor_view<const f16, 4>(...);    // v.type is element_kind::f16

#include <kaio/dsl/number/float8.hpp>
#include <kaio/dsl/number/half.hpp>
#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

enum class element_kind : std::uint8_t { f32, f16, bf16, e4m3, e5m2, i8, i32, i64, other };

template <class T>
constexpr element_kind element_kind_of() {
  using element = std::remove_const_t<T>;
  return std::is_same_v<element, f32>    ? element_kind::f32
         : std::is_same_v<element, f16>  ? element_kind::f16
         : std::is_same_v<element, bf16> ? element_kind::bf16
         : std::is_same_v<element, e4m3> ? element_kind::e4m3
         : std::is_same_v<element, e5m2> ? element_kind::e5m2
         : std::is_same_v<element, i8>   ? element_kind::i8
         : std::is_same_v<element, i32>  ? element_kind::i32
         : std::is_same_v<element, i64>  ? element_kind::i64
                                         : element_kind::other;
}

constexpr std::uint32_t bytes_of(element_kind kind) {
  switch (kind) {
    case element_kind::f32:
    case element_kind::i32: return 4;
    case element_kind::f16:
    case element_kind::bf16: return 2;
    case element_kind::i64: return 8;
    default: return 1;
  }
}

constexpr bool is_wide(element_kind kind) {
  return kind == element_kind::f32 || kind == element_kind::f16 || kind == element_kind::bf16;
}
constexpr bool is_quantised(element_kind kind) {
  return kind == element_kind::e4m3 || kind == element_kind::e5m2 || kind == element_kind::i8;
}

namespace detail {
// Empty for other types.
constexpr const char* element_name(element_kind kind) {
  switch (kind) {
    case element_kind::f32: return "f32";
    case element_kind::f16: return "f16";
    case element_kind::bf16: return "bf16";
    case element_kind::e4m3: return "e4m3";
    case element_kind::e5m2: return "e5m2";
    case element_kind::i8: return "i8";
    case element_kind::i32: return "i32";
    case element_kind::i64: return "i64";
    default: return "";
  }
}
}  // namespace detail

struct any_view {
  element_kind type = element_kind::other;
  std::uint32_t rank = 0;         // 0: there is none
  std::uint32_t other_bytes = 1;  // size of an element if its type is `other`
  std::uint64_t address = 0, bytes = 0;
  const void* device = nullptr;
  std::array<std::int64_t, 5> extents{}, strides{};

  any_view() = default;
  template <detail::without_view M>
  any_view(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  any_view(const tensor_view<T, Rank>& view)
      : type(element_kind_of<T>()),
        rank(Rank),
        other_bytes(sizeof(T)),
        address(view.address()),
        bytes(view.bytes()),
        device(view.device()) {
    static_assert(Rank <= 5, "kaio: an operation takes views of five dimensions at most");
    for (std::size_t d = 0; d < Rank; ++d) {
      extents[d] = view.extent(d);
      strides[d] = view.stride(d);
    }
  }
  std::uint32_t element_bytes() const noexcept {
    return type == element_kind::other ? other_bytes : bytes_of(type);
  }
  bool exists() const noexcept { return rank != 0; }
  bool empty() const noexcept {
    for (std::uint32_t d = 0; d < rank; ++d)
      if (extents[d] == 0) return true;
    return false;
  }
  detail::view_facts facts() const noexcept {
    detail::view_facts of{address, bytes, device, element_bytes(), rank, extents.data(), strides.data()};
    of.element = detail::element_name(type);
    return of;
  }
};

}  // namespace kaio::ops
