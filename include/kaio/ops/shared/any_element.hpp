#pragma once
// Elements in memory whose type is chosen at the launch, for kernels that compute in f32: they read and write
// f32, f16 and bf16 on every architecture.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/element_type.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The `element` of scores whose operands are of no type that the kernel knows.
struct any_element {};

// The element type of kernels whose operands are f16 or bf16 by a number of the launch: in memory and in shared memory
// they are 16 bits, and only products and conversions ask which.
struct any_half {};

// Kernels that compute in f32 on every architecture: f32 or f16.
struct f32_or_f16 {};

// What a tensor of T is in memory; f32_or_f16: where it begins.
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
// Conversions to bf16 came with sm_80: it is the upper half of an f32, to the nearest, ties to even.
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

// f(access) for the access of this element_type, in a branch that all threads take alike: access::stored is
// what memory has, access::read(x) it as f32, access::write(t, x) the other way round.
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

// f(T{}) for the type of a kernel's operands, or that of the launch, in a branch that all threads take alike.
template <class T, class F>
constexpr void with_operands(thread t, const val<u32>& type, const F& f) {
  if constexpr (std::is_same_v<T, f32_or_f16>) {
    if (auto half = t.when(type == static_cast<u32>(element_type::f16))) f(f16{});
    if (auto single = t.otherwise()) f(f32{});
  } else {
    f(T{});
  }
}
// f(T{}) for f16 or bf16, in a branch that all threads take alike.
template <class F>
constexpr void with_half(thread t, const val<bool>& is_bf16, const F& f) {
  if (auto brain = t.when(is_bf16)) f(bf16{});
  if (auto half = t.otherwise()) f(f16{});
}

}  // namespace kaio::ops
