#pragma once
// Access to elements whose type the launch chooses, for kernels that compute in f32: f32, f16 and bf16 are
// read and written on every architecture.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/element_type.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The `element` of scores if the kernel does not know the operands' type.
struct any_element {};

// The element type of kernels whose operands are f16 or bf16, as the launch chooses. Global and shared memory
// hold 16 bits; only products and conversions ask for the type.
struct any_half {};

// The element type of kernels that compute in f32 on every architecture: f32 or f16, as the launch chooses.
struct f32_or_f16 {};

// The type in memory of a tensor of T. f32_or_f16: the type of its address only.
template <class T>
using stored_element = std::conditional_t<std::is_same_v<T, any_half>, f16,
                                          std::conditional_t<std::is_same_v<T, f32_or_f16>, f32, T>>;

namespace detail {
struct stored_f32 {
  using stored = f32;
  template <class X>
  static constexpr auto read(const X& x) {
    return cast<f32>(x);
  }
  static constexpr val<f32> write(thread t, const val<f32>& x) { return t.let(x); }
};
struct stored_f16 {
  using stored = f16;
  template <class X>
  static constexpr auto read(const X& x) {
    return cast<f32>(x);
  }
  static constexpr val<f16> write(thread t, const val<f32>& x) { return t.let(cast<f16>(x)); }
};
// The upper half of an f32, to the nearest, ties to even: before sm_80 there is no conversion to bf16.
struct stored_bf16 {
  using stored = u16;
  template <class X>
  static constexpr auto read(const X& x) {
    return bit_cast<f32>(cast<u32>(x) << 16);
  }
  static constexpr val<u16> write(thread t, const val<f32>& x) {
    const val bits = t.let(bit_cast<u32>(x));
    const val rounded = t.let((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    return t.let(cast<u16>(select(isnan(x), 0x7fffu, rounded)));
  }
};
}  // namespace detail

// Calls f(access) for this element_type, in a uniform branch:
//
//   access::stored          the type in memory
//   access::read(x)         from stored to f32
//   access::write(t, x)     from f32 to stored
template <class F>
constexpr void with_any_element(thread t, const val<u32>& type, const F& f) {
  if (auto single = t.when(type == static_cast<u32>(element_type::f32))) f(detail::stored_f32{});
  if (auto half = t.when(type == static_cast<u32>(element_type::f16))) f(detail::stored_f16{});
  if (auto brain = t.when(type == static_cast<u32>(element_type::bf16))) f(detail::stored_bf16{});
}

// A part of a kernel's name.
template <class T>
inline constexpr auto half_name = [] {
  if constexpr (std::is_same_v<T, any_half>)
    return dsl::fixed_string("16bit");
  else
    return dsl::type_name<T>;
}();

// Calls f(T{}) for the type of a kernel's operands, or for the launch's type, in a uniform branch.
template <class T, class F>
constexpr void with_operands(thread t, const val<u32>& type, const F& f) {
  if constexpr (std::is_same_v<T, f32_or_f16>) {
    if (auto half = t.when(type == static_cast<u32>(element_type::f16))) f(f16{});
    if (auto single = t.otherwise()) f(f32{});
  } else {
    f(T{});
  }
}
// Calls f(T{}) for f16 or bf16, in a uniform branch.
template <class F>
constexpr void with_half(thread t, const val<bool>& is_bf16, const F& f) {
  if (auto brain = t.when(is_bf16)) f(bf16{});
  if (auto half = t.otherwise()) f(f16{});
}

}  // namespace kaio::ops
