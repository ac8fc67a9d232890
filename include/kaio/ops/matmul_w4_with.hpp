#pragma once
// matmul_w4 with codes of your own, in the library's kernels of matmul_w4, compiled where they are used.
//
//   // The number of each code, or a class: sixteen numbers (w4_table), or a decoder.
//   using squares = w4_function<"squares_", [](u32 code) { return float(code * code); }>;
//   const w4_shape shape = shape_for<squares>({.n = n, .k = k, .group = 64});
//   repack(s, compressed_tensors_w4{.weight_packed = words, .weight_scale = scales}, w);  // codes as is
//   matmul_w4_with<squares>(s, x, w, y, {.workspace = memory});
//
//   // If a weight is not number * scale: a function of a code and its group's scale, values of the device.
//   using curved = w4_scaled_function<"curved_", [](thread t, const val<u32>& code, const val<f32>& scale) {
//     return t.let((cast<f32>(code) - 8.0f) * scale + scale * scale);
//   }>;
//
// decode.hpp describes a class with more than a table: with its scales, and how it decodes eight codes at
// once. Codes come from any of the sources of words of repack, without zero points. Seven kernels are
// compiled for each element type of x:
//
//   sm_80 and later    8, 32 and 64 rows
//   sm_90 and later    8 rows
//   sm_90a             32, 64 and 128 rows

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/weight_only/choice/variant.hpp>
#include <kaio/ops/weight_only/common/decode_table.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Weights as a function of a code and its group's scale, called for each weight in f32 and rounded once to
// the type of x. The name is part of those of the kernels. Function: val<f32> from (thread, val<u32> of 0 to
// 15, val<f32>).
template <fixed_string Name, auto Function>
struct w4_scaled_function : w4_dequantisation {
  static constexpr auto name = Name;
  static constexpr bool scaled = true;
  static constexpr std::uint32_t slots = 2;  // groups of multiples of 32

  template <scalar T>
  struct decoder {
    using pair = typename w4_pair<T>::type;
    static constexpr f32 unit = 1.0f;
    constexpr decoder(thread, const val<w4_problem>&) {}

    static constexpr auto of_scale(thread t, const val<f32>& scale) { return t.let(bit_cast<u32>(scale)); }

    template <class Words, class Minus, class Registers>
    constexpr void decode(thread t, const Words& words, const Minus& minus, Registers& registers) const {
      for (u32 i = 0; i < 4; ++i) {
        const val scale = t.let(bit_cast<f32>(minus[i % 2]));
        const auto weight = [&](u32 code) -> val<f32> {
          return Function(t, t.let(words[0] >> (4 * code) & 15u), scale);
        };
        const val even = weight(i), odd = weight(i + 4);
        const val both = t.let(pack<pair>(even, odd));
        registers[i] = both;
      }
    }
  };
};

namespace detail {

// Throws invalid_argument if the weights were packed for another shape than the dequantisation's.
void check_own_w4(std::string_view operation, const w4_shape& shape, const w4_shape& wanted);

template <class D>
constexpr void require_w4_dequantisation() {
  static_assert(std::is_base_of_v<w4_dequantisation, D>,
                "kaio: a dequantisation of matmul_w4_with derives from w4_dequantisation, or from w4_table");
  static_assert(!D::zero_points && !D::offsets && D::bits == 4,
                "kaio: a dequantisation of matmul_w4_with has codes of four bits, no zero points and no "
                "offsets");
  static_assert(sizeof(D::name) > 1, "kaio: a dequantisation of matmul_w4_with has a name of its own");
}

template <class D, scalar T>
const auto& own_w4_variants() {
  static const std::array variants{describe_w4_few_rows<D, T, 8, 90>(),
                                   describe_w4_few_rows<D, T, 8, 80>(),
                                   describe_w4<D, T, 32>(),
                                   describe_w4<D, T, 64>(),
                                   describe_w4_sm90<D, T, 32>(),
                                   describe_w4_sm90<D, T, 64>(),
                                   describe_w4_sm90<D, T, 128>()};
  return variants;
}

template <class D, scalar T>
matmul_w4_arguments own_w4_arguments(std::string_view operation, const any_view& x, const any_view& out,
                                     const w4_weights& w, const matmul_w4_options& options);

}  // namespace detail

// The shape, completed by the dequantisation. If it has scales of f16 or bf16, the given one of these types
// stays, else f16.
template <class D>
constexpr w4_shape shape_for(w4_shape shape) {
  detail::require_w4_dequantisation<D>();
  shape.codes = w4_codes::own;
  shape.own_neighbours = D::neighbours;
  shape.own_slots = static_cast<std::uint8_t>(D::slots);
  if constexpr (D::scales != w4_scales_in_kernel::f16_or_bf16)
    shape.scales = D::scales == w4_scales_in_kernel::f32    ? w4_scale_type::f32
                   : D::scales == w4_scales_in_kernel::e8m0 ? w4_scale_type::e8m0
                                                            : w4_scale_type::e4m3;
  else if (bytes_of(shape.scales) != 2)
    shape.scales = w4_scale_type::f16;
  return shape;
}

template <class D, scalar T>
detail::matmul_w4_arguments detail::own_w4_arguments(std::string_view operation, const any_view& x,
                                                     const any_view& out, const w4_weights& w,
                                                     const matmul_w4_options& options) {
  check_own_w4(operation, w.shape, shape_for<D>(w.shape));
  const auto& variants = own_w4_variants<D, T>();
  return {operation, x, out, &w, &options, variants.data(), variants.size()};
}

// matmul_w4 without rounding of weights. Only weights of w4_scaled_function are rounded, once to the type of
// x.
template <class D, class X, class Out>
void matmul_w4_with(const stream& s, const tensor_view<X, 2>& x, const w4_weights& w,
                    const tensor_view<Out, 2>& out, const matmul_w4_options& options = {}) {
  detail::require_w4_types<X, Out>();
  detail::run_matmul_w4(
      s, detail::own_w4_arguments<D, std::remove_const_t<X>>("matmul_w4_with", x, out, w, options));
}

template <class D, class X>
std::uint64_t matmul_w4_with_workspace_bytes(const stream& s, const tensor_view<X, 2>& x, const w4_weights& w,
                                             const matmul_w4_options& options = {}) {
  detail::require_w4_types<X, f32>();
  return detail::workspace_of_matmul_w4(s, detail::own_w4_arguments<D, std::remove_const_t<X>>(
                                               "matmul_w4_with_workspace_bytes", x, {}, w, options));
}

// Like matmul_w4_choice: one of the seven kernels, and the number of parts of K.
template <class D, class X>
kernel_choice matmul_w4_with_choice(const stream& s, const tensor_view<X, 2>& x, const w4_weights& w,
                                    const matmul_w4_options& options = {}) {
  detail::require_w4_types<X, f32>();
  return detail::choice_of_matmul_w4(
      s, detail::own_w4_arguments<D, std::remove_const_t<X>>("matmul_w4_with_choice", x, {}, w, options));
}

// Like matmul_w4_warmup: loads the kernel for these rows of x, and the one that adds up parts of K if the
// call has parts.
template <class D, class X>
void matmul_w4_with_warmup(const runtime::device& gpu, const tensor_view<X, 2>& x, const w4_weights& w,
                           const matmul_w4_options& options = {}) {
  detail::require_w4_types<X, f32>();
  detail::warm_up_matmul_w4(
      gpu, detail::own_w4_arguments<D, std::remove_const_t<X>>("matmul_w4_with_warmup", x, {}, w, options));
}

}  // namespace kaio::ops

namespace kaio {
using ops::matmul_w4_with;
using ops::matmul_w4_with_warmup;
using ops::matmul_w4_with_workspace_bytes;
using ops::shape_for;
using ops::w4_dequantisation;
using ops::w4_function;
using ops::w4_scaled_function;
using ops::w4_table;
}  // namespace kaio
