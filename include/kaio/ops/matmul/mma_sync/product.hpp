#pragma once
// How a warp multiplies: an instruction, and the preparation of its fragments. A product has the shape m x n
// x k that a warp computes at once, parts of A and B (a fragment as loaded, and as multiplied), and
// multiply(c, a, b).
//
//   instruction_product<mma_m16n8k16<f32, f16>>      // sm_80: f16
//   tf32_product, tf32x3_product                      // sm_80: f32, as tf32; as three products of tf32
//   quad_product<matrix_order::row, matrix_order::row>    // sm_70: f16
//   int8_quarters_product                             // sm_75: i8

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::ops {

using dsl::fragment;
using dsl::matrix_order;
using dsl::matrix_role;

namespace detail {

// A fragment that is multiplied as it is.
template <class Fragment>
struct plain_part {
  using fragment_type = Fragment;
  Fragment f;
  constexpr explicit plain_part(thread t) : f(t) {}
  constexpr void prepare() {}
};

// f32 elements that are rounded to the nearest tf32 in place.
template <class Fragment>
struct rounded_part {
  using fragment_type = Fragment;
  Fragment f;
  constexpr explicit rounded_part(thread t) : f(t) {}
  constexpr void prepare() {
    for (auto& r : f.registers) r = round_to_tf32(bit_cast<f32>(r));
  }
};

// f32 elements, each split into two tf32 whose sum has 21 bits of the mantissa. `f` becomes the larger.
template <class Fragment>
struct split_part {
  using fragment_type = Fragment;
  Fragment f, rest;
  constexpr explicit split_part(thread t) : f(t), rest(t) {}
  constexpr void prepare() {
    for (u32 i = 0; i < Fragment::register_count; ++i) {
      const val whole = bit_cast<f32>(f.registers[i]);
      const val large = round_to_tf32(whole);
      f.registers[i] = large;
      rest.registers[i] = round_to_tf32(whole - bit_cast<f32>(large));
    }
  }
};

// A fragment whose registers are fragments of a smaller instruction.
template <class Fragment, class Quarter>
struct part_in_quarters {
  using fragment_type = Fragment;
  static_assert(Quarter::register_count == 1);
  Fragment f;
  dsl::register_array<Quarter, Fragment::register_count> quarters;
  constexpr explicit part_in_quarters(thread t)
      : f(t), quarters(array_of<Fragment::register_count>([&](u32) { return Quarter(t); })) {}
  constexpr void prepare() {
    for (u32 r = 0; r < Fragment::register_count; ++r) quarters[r].registers[0] = f.registers[r];
  }
};

}  // namespace detail

template <class Mma>
struct instruction_product {
  static constexpr auto name = dsl::element_name<typename Mma::a_element> + "_" +
                               dsl::element_name<typename Mma::b_element> + "_k" + decimal<Mma::k>;
  static constexpr std::uint32_t m = Mma::m, n = Mma::n, k = Mma::k;
  static constexpr std::uint16_t sm = Mma::sm;
  using a_element = typename Mma::a_element;
  using b_element = typename Mma::b_element;
  using a_part = detail::plain_part<typename Mma::a_fragment>;
  using b_part = detail::plain_part<typename Mma::b_fragment>;
  using accumulator = typename Mma::accumulator;
  static constexpr bool is_quad = false;

  static constexpr void multiply(accumulator& c, const a_part& a, const b_part& b) {
    Mma::multiply_add(c, a.f, b.f);
  }
};

// f32 operands, rounded to the 11 significant bits of tf32.
struct tf32_product {
  using mma = dsl::mma_m16n8k8<f32, tf32>;
  static constexpr fixed_string name = "tf32";
  static constexpr std::uint32_t m = mma::m, n = mma::n, k = mma::k;
  static constexpr std::uint16_t sm = mma::sm;
  using a_element = f32;
  using b_element = f32;
  using a_part = detail::rounded_part<mma::a_fragment>;
  using b_part = detail::rounded_part<mma::b_fragment>;
  using accumulator = mma::accumulator;
  static constexpr bool is_quad = false;

  static constexpr void multiply(accumulator& c, const a_part& a, const b_part& b) {
    mma::multiply_add(c, a.f, b.f);
  }
};

// f32 operands, each the sum of two tf32. The product of the two remainders, below 2^-22 of the whole, is
// left out. An element that is infinite, or rounds to infinity, has no remainder: its sums are NaN.
struct tf32x3_product {
  using mma = dsl::mma_m16n8k8<f32, tf32>;
  static constexpr fixed_string name = "tf32x3";
  static constexpr std::uint32_t m = mma::m, n = mma::n, k = mma::k;
  static constexpr std::uint16_t sm = mma::sm;
  using a_element = f32;
  using b_element = f32;
  using a_part = detail::split_part<mma::a_fragment>;
  using b_part = detail::split_part<mma::b_fragment>;
  using accumulator = mma::accumulator;
  static constexpr bool is_quad = false;

  // The small products first.
  static constexpr void multiply(accumulator& c, const a_part& a, const b_part& b) {
    mma::multiply_add(c, a.rest, b.f);
    mma::multiply_add(c, a.f, b.rest);
    mma::multiply_add(c, a.f, b.f);
  }
};

// i8 on sm_75: a product of 16 x 8 x 32 as four of 8 x 8 x 16. Each of these is a whole fragment of the small
// instruction:
//
//   A             register 2 j + i               rows from 8 i on, K from 16 j on
//   B             register j                     K from 16 j on
//   accumulators  registers 2 i and 2 i + 1      rows from 8 i on
struct int8_quarters_product {
  using whole = dsl::mma_m16n8k32<i32, i8>;
  using quarter = dsl::mma_m8n8k16<i32, i8>;
  static constexpr fixed_string name = "i8_quarters";
  static constexpr std::uint32_t m = whole::m, n = whole::n, k = whole::k;
  static constexpr std::uint16_t sm = quarter::sm;
  using a_element = i8;
  using b_element = i8;
  using a_part = detail::part_in_quarters<whole::a_fragment, quarter::a_fragment>;
  struct b_part : detail::part_in_quarters<whole::b_fragment, quarter::b_fragment> {
    quarter::accumulator sums;  // eight rows
    constexpr explicit b_part(thread t) : part_in_quarters(t), sums(t) {}
  };
  using accumulator = whole::accumulator;
  static constexpr bool is_quad = false;

  static constexpr void multiply(accumulator& c, const a_part& a, b_part& b) {
    for (u32 i = 0; i < 2; ++i) {
      for (u32 e = 0; e < 2; ++e) b.sums.registers[e] = c.registers[2 * i + e];
      for (u32 j = 0; j < 2; ++j) quarter::multiply_add(b.sums, a.quarters[2 * j + i], b.quarters[j]);
      for (u32 e = 0; e < 2; ++e) c.registers[2 * i + e] = b.sums.registers[e];
    }
  }
};

// f16 on sm_70: four products of 8 x 8 x 4, which make one of 16 x 16. Quad q (lanes with lane / 4 % 4 == q)
// has rows from 8 (q % 2) on and columns from 8 (q / 2) on.
template <matrix_order OrderA, matrix_order OrderB>
struct quad_product {
  using mma = dsl::mma_m8n8k4<f32, f16, f16, f32, OrderA, OrderB>;
  static constexpr fixed_string name = "f16_quads";
  static constexpr std::uint32_t m = 16, n = 16, k = 4;
  static constexpr std::uint16_t sm = mma::sm;
  using a_element = f16;
  using b_element = f16;
  using a_part = detail::plain_part<typename mma::a_fragment>;
  using b_part = detail::plain_part<typename mma::b_fragment>;
  using accumulator = typename mma::accumulator;
  static constexpr bool is_quad = true;

  static constexpr void multiply(accumulator& c, const a_part& a, const b_part& b) {
    mma::multiply_add(c, a.f, b.f);
  }
};

// Where a lane's accumulators begin in the m x n of its product.
template <class Product>
constexpr auto accumulator_row(const val<u32>& lane) {
  using layout = typename Product::accumulator::layout;
  if constexpr (Product::is_quad)
    return layout::lane_row(lane) + lane / 4u % 2u * 8u;
  else
    return layout::lane_row(lane);
}
template <class Product>
constexpr auto accumulator_column(const val<u32>& lane) {
  using layout = typename Product::accumulator::layout;
  if constexpr (Product::is_quad)
    return layout::lane_column(lane) + lane / 8u % 2u * 8u;
  else
    return layout::lane_column(lane);
}

}  // namespace kaio::ops
