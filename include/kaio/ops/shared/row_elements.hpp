#pragma once
// Loads, rounds and stores neighbours of a row: runs of eight, in registers as memory has them or as f32; or
// single elements, if rows begin at any address.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/any_element.hpp>
#include <kaio/ops/shared/rows.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Elements of T. Before sm_80 there are no conversions to bf16.
template <dsl::scalar T, std::uint32_t Sm>
struct row_elements {
  using stored =
      std::conditional_t<std::is_same_v<T, f32>, detail::stored_f32,
                         std::conditional_t<std::is_same_v<T, f16>, detail::stored_f16, detail::stored_bf16>>;
  using element = typename stored::stored;
  static constexpr bool is_single = std::is_same_v<T, f32>;
  static constexpr u32 words = is_single ? 8 : 4;  // per run
  using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
  static constexpr bool packs = !is_single && (std::is_same_v<T, f16> || Sm >= 80);

  // Loads the words of a run into to[first], to[first + 1], ...
  template <class Words>
  static constexpr void load_words(thread t, const val<u64>& address, Words& to, u32 first) {
    const auto memory = pointer_at<inout<u32x4>>(t, address);
    for (u32 quad = 0; quad < words / 4; ++quad) {
      const val four = memory[quad];
      for (u32 i = 0; i < 4; ++i) to[first + 4 * quad + i] = four[i];
    }
  }
  // Element i of the run whose words begin at `first`.
  template <class Words>
  static constexpr val<f32> value(thread t, const Words& from, u32 first, u32 i) {
    if constexpr (is_single) {
      return t.let(bit_cast<f32>(from[first + i]));
    } else if constexpr (std::is_same_v<T, f16>) {
      const val both = t.let(bit_cast<f16x2>(from[first + i / 2]));
      return i % 2 == 0 ? t.let(cast<f32>(low(both))) : t.let(cast<f32>(high(both)));
    } else {
      return i % 2 == 0 ? t.let(bit_cast<f32>(from[first + i / 2] << 16))
                        : t.let(bit_cast<f32>(from[first + i / 2] & 0xffff0000u));
    }
  }
  // x[0] to x[7], rounded to T, as words.
  template <class X>
  static constexpr auto rounded_words(thread t, const X& x) {
    return array_of<words>([&](u32 i) -> val<u32> {
      if constexpr (is_single) {
        return t.let(bit_cast<u32>(x[i]));
      } else if constexpr (packs) {
        return t.let(bit_cast<u32>(pack<pair>(x[2 * i], x[2 * i + 1])));
      } else {
        const val even = stored::write(t, t.let(x[2 * i]));
        const val odd = stored::write(t, t.let(x[2 * i + 1]));
        return t.let(cast<u32>(even) | cast<u32>(odd) << 16);
      }
    });
  }
  template <class Words>
  static constexpr void store_words(thread t, const val<u64>& address, const Words& from) {
    const auto memory = pointer_at<out<u32x4>>(t, address);
    for (u32 quad = 0; quad < words / 4; ++quad)
      memory[quad] = make_vec(from[4 * quad], from[4 * quad + 1], from[4 * quad + 2], from[4 * quad + 3]);
  }
};

// The piece of a row that a thread handles at once: a run of eight, or one element.
template <class Elements, std::uint32_t Width>
struct row_piece {
  static_assert(Width == 1 || Width == run_size);
  static constexpr u32 width = Width;

  static constexpr auto load(thread t, const val<u64>& address) {
    if constexpr (Width == 1) {
      const auto memory = pointer_at<inout<typename Elements::element>>(t, address);
      const val one = t.let(memory[0]);
      return array_of<1>([&](u32) { return t.let(Elements::stored::read(one)); });
    } else {
      auto words = array_of<Elements::words>([&](u32) { return var(t, 0u); });
      Elements::load_words(t, address, words, 0);
      return array_of<Width>([&](u32 i) { return Elements::value(t, words, 0, i); });
    }
  }
  // Rounds x to T.
  template <class X>
  static constexpr void store(thread t, const val<u64>& address, const X& x) {
    if constexpr (Width == 1) {
      const val one = t.let(Elements::stored::write(t, t.let(x[0])));
      pointer_at<out<typename Elements::element>>(t, address)[0] = one;
    } else {
      const auto rounded = Elements::rounded_words(t, x);
      Elements::store_words(t, address, rounded);
    }
  }
  template <class X>
  static constexpr auto rounded(thread t, const X& x) {
    if constexpr (Width == 1) {
      const val one = t.let(Elements::stored::write(t, t.let(x[0])));
      return array_of<1>([&](u32) { return t.let(Elements::stored::read(one)); });
    } else {
      const auto words = Elements::rounded_words(t, x);
      return array_of<Width>([&](u32 i) { return Elements::value(t, words, 0, i); });
    }
  }
};

}  // namespace kaio::ops
