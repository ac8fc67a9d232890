#pragma once
// A warp's products in attention: the fragments of an instruction, and where they are loaded from. Shapes are
// rows x columns; slice i begins at element i * k of a row.
//
//   attention_product<f16, 80>       mma.m16n8k16 of f16; also of bf16
//   attention_product<f16, 75>       mma.m16n8k8 of f16
//   attention_product<f32, 80>       mma.m16n8k8 of tf32: each f32 is rounded to 11 significant bits
//   attention_product<any_half, 80>  the f16 product; `as<bf16>` is the bf16 product in the registers of f16

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

using dsl::scalar;

namespace detail {

// Elements of 16 bits. P is S rounded to them: the accumulators of 16 x k are already the registers of A. The
// fragments are those of `Kept`, an instruction of the same shape.
template <class Mma, std::uint32_t Together, class Kept = Mma>
struct attention_product_16 {
  using element = typename Mma::a_element;
  using pair = std::conditional_t<std::is_same_v<element, f16>, f16x2, bf16x2>;
  using a_fragment = typename Kept::a_fragment;
  using b_fragment = typename Kept::b_fragment;
  using accumulator = typename Mma::accumulator;
  using v_layout = dsl::swizzled<128>;
  static constexpr std::uint32_t k = Mma::k;
  static constexpr std::uint32_t at_once = Together;  // fragments of B per load

  static constexpr void multiply_add(accumulator& c, const a_fragment& a, const b_fragment& b) {
    if constexpr (std::is_same_v<Mma, Kept>)
      Mma::multiply_add(c, a, b);
    else
      Mma::multiply_add_bits(c, a, b);
  }
  template <class Tile>
  static constexpr void load_queries(a_fragment& a, const Tile& tile, const val<u32>& row,
                                     std::uint32_t slice) {
    ldmatrix(a, tile, row, k * slice);
  }
  // Loads keys `key` on, 8 per fragment.
  template <class Fragments, class Tile>
  static constexpr void load_keys(Fragments& b, const Tile& tile, std::uint32_t key, std::uint32_t slice) {
    if constexpr (at_once == 2)
      ldmatrix(b[0], b[1], tile, key, k * slice);
    else
      ldmatrix(b[0], b[1], b[2], b[3], tile, key, k * slice);
  }
  // Loads columns `column` on, 8 per fragment, of keys k * slice on.
  template <class Fragments, class Tile>
  static constexpr void load_values(thread, Fragments& b, const Tile& tile, std::uint32_t slice,
                                    std::uint32_t column) {
    if constexpr (at_once == 2)
      ldmatrix_trans(b[0], b[1], tile, k * slice, column);
    else
      ldmatrix_trans(b[0], b[1], b[2], b[3], tile, k * slice, column);
  }
  template <class Scores>
  static constexpr void take_probabilities(a_fragment& p, const Scores& s, std::uint32_t slice) {
    for (std::uint32_t r = 0; r < a_fragment::register_count; ++r) {
      const auto& from = s[k / 8 * slice + r / 2];
      p.registers[r] = packed(from.registers[r % 2 * 2], from.registers[r % 2 * 2 + 1]);
    }
  }
  // Rounds two numbers to a register of the fragments.
  template <class First, class Second>
  static constexpr auto packed(const First& first, const Second& second) {
    if constexpr (std::is_same_v<Mma, Kept>)
      return pack<pair>(first, second);
    else
      return bit_cast<typename a_fragment::register_type>(pack<pair>(first, second));
  }
};

}  // namespace detail

template <class T, std::uint16_t Sm>
struct attention_product : detail::attention_product_16<mma_m16n8k16<f32, T>, 2> {};

template <>
struct attention_product<any_half, 80> : attention_product<f16, 80> {
  template <scalar T>
  using as = detail::attention_product_16<mma_m16n8k16<f32, T>, 2, mma_m16n8k16<f32, f16>>;
};

template <>
struct attention_product<f16, 75> : detail::attention_product_16<mma_m16n8k8<f32, f16>, 4> {};

// f(product{}) for operands of T. For any_half, `type` (an element_type) decides in a uniform branch.
template <class T, std::uint16_t Sm = 80, class F>
constexpr void with_attention_product(thread t, const val<u32>& type, const F& f) {
  if constexpr (std::is_same_v<T, any_half>)
    with_half(t, t.let(type == static_cast<u32>(element_type::bf16)),
              [&]<class U>(U) { f(typename attention_product<any_half, 80>::template as<U>{}); });
  else
    f(attention_product<T, Sm>{});
}

// In lane l of a quad, an accumulator has keys 2 l and 2 l + 1, but A of tf32 has columns l and l + 4. The
// sum may run in any order: columns of A and rows of B are keys 0, 2, 4, 6, 1, 3, 5, 7 of each eight. B is
// therefore read element by element. Its rows have 4 elements more than a multiple of 32, so that all lanes
// read different banks.
template <>
struct attention_product<f32, 80> {
  using mma = mma_m16n8k8<f32, tf32>;
  using a_fragment = mma::a_fragment;
  using b_fragment = mma::b_fragment;
  using accumulator = mma::accumulator;
  using v_layout = dsl::padded<4>;
  static constexpr std::uint32_t k = mma::k;
  static constexpr std::uint32_t at_once = 2;

  static constexpr void multiply_add(accumulator& c, const a_fragment& a, const b_fragment& b) {
    mma::multiply_add(c, a, b);
  }
  template <class Tile>
  static constexpr void load_queries(a_fragment& a, const Tile& tile, const val<u32>& row,
                                     std::uint32_t slice) {
    ldmatrix(a, tile, row, k * slice);
    round(a);
  }
  template <class Fragments, class Tile>
  static constexpr void load_keys(Fragments& b, const Tile& tile, std::uint32_t key, std::uint32_t slice) {
    ldmatrix(b[0], b[1], tile, key, k * slice);
    for (auto& fragment : b) round(fragment);
  }
  template <class Fragments, class Tile>
  static constexpr void load_values(thread t, Fragments& b, const Tile& tile, std::uint32_t slice,
                                    std::uint32_t column) {
    const val lane = t.lane_rank();
    const auto place = tile.lane(lane % 4u * 2u, lane / 4u);
    for (std::uint32_t i = 0; i < at_once; ++i)
      for (std::uint32_t r = 0; r < b_fragment::register_count; ++r)
        b[i].registers[r] = round_to_tf32(tile.at(place, k * slice + r, column + 8 * i));
  }
  template <class Scores>
  static constexpr void take_probabilities(a_fragment& p, const Scores& s, std::uint32_t slice) {
    for (std::uint32_t r = 0; r < a_fragment::register_count; ++r)
      p.registers[r] = round_to_tf32(s[slice].registers[r % 2 * 2 + r / 2]);
  }

 private:
  template <class Fragment>
  static constexpr void round(Fragment& f) {
    for (auto& r : f.registers) r = round_to_tf32(bit_cast<f32>(r));
  }
};

}  // namespace kaio::ops
