#pragma once
// Elements of a row in registers, as memory has them: neighbours, 16 bytes in four words, or N single ones.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/row_elements.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <dsl::scalar T, std::uint32_t Sm>
struct row_words {
  using elements = row_elements<T, Sm>;
  using element = typename elements::element;                      // as memory has it
  using bits = std::conditional_t<elements::is_single, u32, u16>;  // of an element
  static constexpr u32 width = 16 / sizeof(T);

  static constexpr auto zeros(thread t) {
    return array_of<4>([&](u32) { return var(t, 0u); });
  }
  // Element i of the piece.
  template <class Words>
  static constexpr val<f32> value(thread t, const Words& words, u32 i) {
    return elements::value(t, words, 0, i);
  }
  template <class Words>
  static constexpr auto values(thread t, const Words& words) {
    return array_of<width>([&](u32 i) { return value(t, words, i); });
  }
  // x[0] to x[width - 1], rounded to T.
  template <class X>
  static constexpr auto rounded(thread t, const X& x) {
    return array_of<4>([&](u32 i) -> val<u32> {
      if constexpr (elements::is_single) {
        return t.let(bit_cast<u32>(x[i]));
      } else if constexpr (elements::packs) {
        return t.let(bit_cast<u32>(pack<typename elements::pair>(x[2 * i], x[2 * i + 1])));
      } else {
        const val even = elements::stored::write(t, t.let(x[2 * i]));
        const val odd = elements::stored::write(t, t.let(x[2 * i + 1]));
        return t.let(cast<u32>(even) | cast<u32>(odd) << 16);
      }
    });
  }

  // Whether one instruction adds two pairs of elements, or compares them.
  static constexpr bool has_pairs = elements::packs && Sm >= 90;
  using pair = typename elements::pair;

  // to += more, each sum rounded to T. One rounding to T has the bits of a sum in f32 that is rounded again: f32 has at
  // least twice the digits of T, and two more. Source: Figueroa, "When is double rounding innocuous?", 1995.
  template <class To, class Words>
  static constexpr void add(thread t, To& to, const Words& more) {
    if constexpr (has_pairs) {
      for (u32 i = 0; i < 4; ++i) to[i] = bit_cast<u32>(bit_cast<pair>(to[i]) + bit_cast<pair>(more[i]));
    } else {
      const auto sums = rounded(t, array_of<width>([&](u32 i) {
                                  const val own = value(t, to, i), other = value(t, more, i);
                                  return t.let(own + other);
                                }));
      for (u32 i = 0; i < 4; ++i) to[i] = sums[i];
    }
  }

  template <class Words>
  static constexpr void load(thread t, const val<u64>& address, Words& to) {
    const val four = pointer_at<inout<u32x4>>(t, address)[0];
    for (u32 i = 0; i < 4; ++i) to[i] = four[i];
  }
  template <class Words>
  static constexpr void store(thread t, const val<u64>& address, const Words& from) {
    pointer_at<out<u32x4>>(t, address)[0] = make_vec(from[0], from[1], from[2], from[3]);
  }

  // Every stride-th element of a row at any address, from `first` on; those beyond the row's end are 0.
  template <class Words>
  static constexpr void gather(thread t, const val<u64>& row, const val<u32>& first, const val<u32>& stride,
                               const val<u32>& size, Words& to) {
    const auto memory = pointer_at<inout<bits>>(t, row);
    auto all = array_of<width>([&](u32) { return var(t, bits{0}); });
    for (u32 i = 0; i < width; ++i) {
      const val at = t.let(first + stride * i);
      if (auto inside = t.when(at < size)) all[i] = memory[at];
    }
    for (u32 i = 0; i < 4; ++i)
      if constexpr (elements::is_single)
        to[i] = all[i];
      else
        to[i] = cast<u32>(all[2 * i]) | cast<u32>(all[2 * i + 1]) << 16;
  }
  template <class Words>
  static constexpr void scatter(thread t, const val<u64>& row, const val<u32>& first, const val<u32>& stride,
                                const val<u32>& size, const Words& from) {
    const auto memory = pointer_at<out<bits>>(t, row);
    for (u32 i = 0; i < width; ++i) {
      const val at = t.let(first + stride * i);
      if (auto inside = t.when(at < size)) {
        if constexpr (elements::is_single)
          memory[at] = from[i];
        else
          memory[at] = cast<u16>(i % 2 == 0 ? t.let(from[i / 2] + 0u) : t.let(from[i / 2] >> 16));
      }
    }
  }
};

// N elements that are not neighbours.
template <dsl::scalar T, std::uint32_t Sm, u32 N>
struct single_words {
  using elements = row_elements<T, Sm>;
  using bits = typename row_words<T, Sm>::bits;
  static constexpr u32 width = N;
  static constexpr bool has_pairs = false;

  static constexpr auto zeros(thread t) {
    return array_of<N>([&](u32) { return var(t, bits{0}); });
  }
  template <class Words>
  static constexpr val<f32> value(thread t, const Words& words, u32 i) {
    if constexpr (elements::is_single)
      return t.let(bit_cast<f32>(words[i]));
    else if constexpr (std::is_same_v<T, f16>)
      return t.let(cast<f32>(bit_cast<f16>(words[i])));
    else
      return t.let(bit_cast<f32>(cast<u32>(words[i]) << 16));
  }
  // x[0] to x[N - 1], rounded to T.
  template <class X>
  static constexpr auto rounded(thread t, const X& x) {
    return array_of<N>([&](u32 i) -> val<bits> {
      if constexpr (elements::is_single)
        return t.let(bit_cast<u32>(x[i]));
      else if constexpr (elements::packs)
        return t.let(bit_cast<u16>(cast<T>(x[i])));
      else
        return t.let(bit_cast<u16>(elements::stored::write(t, t.let(x[i]))));
    });
  }
  template <class To, class Words>
  static constexpr void add(thread t, To& to, const Words& more) {
    const auto sums = rounded(t, array_of<N>([&](u32 i) {
                                const val own = value(t, to, i), other = value(t, more, i);
                                return t.let(own + other);
                              }));
    for (u32 i = 0; i < N; ++i) to[i] = sums[i];
  }
};

// The largest |x| of pieces; NaN loses against numbers, and 0 is the least.
template <dsl::scalar T, std::uint32_t Sm>
class largest_of_pieces {
 public:
  constexpr explicit largest_of_pieces(thread t) : t_(t), pair_(t, 0u), single_(t, 0.0f) {}

  // Words: how the piece's elements are held.
  template <class Words, class Bits>
  constexpr void add(const Bits& piece) {
    if constexpr (Words::has_pairs) {
      using pair = typename Words::pair;
      const auto size = array_of<4>([&](u32 i) { return t_.let(abs(bit_cast<pair>(piece[i]))); });
      const val low = t_.let(max(size[0], size[1])), high = t_.let(max(size[2], size[3]));
      pair_ = bit_cast<u32>(max(bit_cast<pair>(pair_), max(low, high)));
    } else {
      for (u32 i = 0; i < Words::width; ++i) single_ = max(single_, abs(Words::value(t_, piece, i)));
    }
  }
  constexpr val<f32> result() const {
    using words = row_words<T, Sm>;
    if constexpr (words::has_pairs) {
      const auto both = array_of<1>([&](u32) { return t_.let(pair_ + 0u); });
      const val even = words::value(t_, both, 0), odd = words::value(t_, both, 1);
      return t_.let(max(single_, max(even, odd)));
    } else {
      return t_.let(single_ + 0.0f);
    }
  }

 private:
  thread t_;
  var<u32> pair_;
  var<f32> single_;
};

}  // namespace kaio::ops
