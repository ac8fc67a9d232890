#pragma once
// Elements in memory and as values. A kernel computes with f16, bf16, e4m3 and e5m2 as f32, and with all
// other types as they are.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// An input that is a number of the host.
template <dsl::scalar T>
struct elementwise_number {};

namespace detail {

template <class T>
inline constexpr bool computed_as_f32 = std::is_same_v<T, f16> || std::is_same_v<T, bf16> || dsl::float8<T>;

template <class T>
struct element_of_operand {
  static constexpr bool is_number = false;
  using stored = T;
  using value = std::conditional_t<computed_as_f32<T>, f32, T>;
};
template <class T>
struct element_of_operand<elementwise_number<T>> {
  static constexpr bool is_number = true;
  using stored = T;
  using value = std::conditional_t<computed_as_f32<T>, f32, T>;
};
template <class T>
using value_of_operand = typename element_of_operand<T>::value;
template <class T>
using stored_operand = typename element_of_operand<T>::stored;

template <class Stored>
constexpr auto value_of_stored(thread t, const val<Stored>& x) {
  return t.let(cast<value_of_operand<Stored>>(x));
}

// A number of the host from its bits.
template <class T>
constexpr auto value_of_bits(thread t, const val<u64>& bits) {
  if constexpr (sizeof(T) == 8)
    return t.let(bit_cast<T>(bits));
  else if constexpr (sizeof(T) == 4)
    return t.let(bit_cast<T>(cast<u32>(bits)));
  else if constexpr (sizeof(T) == 2)
    return value_of_stored<T>(t, t.let(bit_cast<T>(cast<u16>(bits))));
  else
    return value_of_stored<T>(t, t.let(bit_cast<T>(cast<u8>(bits))));
}

// The values of `Width` neighbours, 2, 4 or 8, in words as memory has them.
template <class T, u32 Width>
struct element_words {
  static constexpr u32 count = Width * static_cast<u32>(sizeof(T)) / 4;
  static_assert(count == 1 || count == 2 || count == 4 || count == 8);
  static constexpr u32 chunk = count < 4 ? count : 4;  // words of an access

  // Loads them into to[first], to[first + 1], ...
  template <class Words>
  static constexpr void load(thread t, const val<u64>& address, Words& to, u32 first) {
    if constexpr (count == 1) {
      to[first] = pointer_at<inout<u32>>(t, address)[0];
    } else {
      const auto memory = pointer_at<inout<vec<u32, chunk>>>(t, address);
      for (u32 c = 0; c < count / chunk; ++c) {
        const val words = memory[c];
        for (u32 i = 0; i < chunk; ++i) to[first + c * chunk + i] = words[i];
      }
    }
  }
  // One element, repeated.
  template <class Words>
  static constexpr void load_repeated(thread t, const val<u64>& address, Words& to, u32 first) {
    if constexpr (sizeof(T) == 8) {
      const val both = pointer_at<inout<u32x2>>(t, address)[0];
      for (u32 i = 0; i < count; ++i) to[first + i] = both[i % 2];
    } else if constexpr (sizeof(T) == 4) {
      const val word = pointer_at<inout<u32>>(t, address)[0];
      for (u32 i = 0; i < count; ++i) to[first + i] = word;
    } else {
      using bits = std::conditional_t<sizeof(T) == 2, u16, u8>;
      const val one = pointer_at<inout<bits>>(t, address)[0];
      const val word = t.let(cast<u32>(one) * (sizeof(T) == 2 ? 0x10001u : 0x1010101u));
      for (u32 i = 0; i < count; ++i) to[first + i] = word;
    }
  }
  template <class Words>
  static constexpr void store(thread t, const val<u64>& address, const Words& from) {
    if constexpr (count == 1) {
      pointer_at<out<u32>>(t, address)[0] = from[0];
    } else {
      const auto memory = pointer_at<out<vec<u32, chunk>>>(t, address);
      for (u32 c = 0; c < count / chunk; ++c)
        if constexpr (chunk == 2)
          memory[c] = make_vec(from[2 * c], from[2 * c + 1]);
        else
          memory[c] = make_vec(from[4 * c], from[4 * c + 1], from[4 * c + 2], from[4 * c + 3]);
    }
  }
  // Element i of the words from `first` on.
  template <class Words>
  static constexpr auto value(thread t, const Words& from, u32 first, u32 i) {
    if constexpr (sizeof(T) == 8) {
      const val high = t.let(cast<u64>(from[first + 2 * i + 1]) << 32);
      return t.let(bit_cast<T>(high | cast<u64>(from[first + 2 * i])));
    } else if constexpr (sizeof(T) == 4) {
      return t.let(bit_cast<T>(from[first + i]));
    } else if constexpr (std::is_same_v<T, f16>) {
      const val both = t.let(bit_cast<f16x2>(from[first + i / 2]));
      return i % 2 == 0 ? t.let(cast<f32>(low(both))) : t.let(cast<f32>(high(both)));
    } else if constexpr (std::is_same_v<T, bf16>) {
      return i % 2 == 0 ? t.let(bit_cast<f32>(from[first + i / 2] << 16))
                        : t.let(bit_cast<f32>(from[first + i / 2] & 0xffff0000u));
    } else {
      constexpr u32 bits = 8 * static_cast<u32>(sizeof(T));
      using unsigned_bits = std::conditional_t<sizeof(T) == 2, u16, u8>;
      const val part = t.let(cast<unsigned_bits>(from[first + i * bits / 32] >> (i * bits % 32)));
      return value_of_stored<T>(t, t.let(bit_cast<T>(part)));
    }
  }
};

// A value, rounded to T.
template <class T, class Value>
constexpr val<T> rounded_to(thread t, const val<Value>& x) {
  return t.let(cast<T>(x));
}

// Stores x[0], x[1], ... rounded to T. Sm: architectures from this one on.
template <class T, u32 Sm, class X>
constexpr void store_elements(thread t, const val<u64>& address, const X& x) {
  constexpr u32 width = X::size();
  if constexpr (std::is_same_v<T, f16> || (std::is_same_v<T, bf16> && Sm >= 80)) {
    using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
    const auto words =
        array_of<width / 2>([&](u32 i) { return t.let(bit_cast<u32>(pack<pair>(x[2 * i], x[2 * i + 1]))); });
    if constexpr (width == 4)
      pointer_at<out<u32x2>>(t, address)[0] = make_vec(words[0], words[1]);
    else
      pointer_at<out<u32x4>>(t, address)[0] = make_vec(words[0], words[1], words[2], words[3]);
  } else {
    const auto y = array_of<width>([&](u32 i) { return rounded_to<T>(t, x[i]); });
    constexpr u32 chunk = width * sizeof(T) <= 16 ? width : 16 / static_cast<u32>(sizeof(T));
    const auto memory = pointer_at<out<vec<T, chunk>>>(t, address);
    for (u32 c = 0; c < width / chunk; ++c) {
      const u32 f = c * chunk;
      if constexpr (chunk == 2)
        memory[c] = make_vec(y[f], y[f + 1]);
      else if constexpr (chunk == 4)
        memory[c] = make_vec(y[f], y[f + 1], y[f + 2], y[f + 3]);
      else
        memory[c] = make_vec(y[f], y[f + 1], y[f + 2], y[f + 3], y[f + 4], y[f + 5], y[f + 6], y[f + 7]);
    }
  }
}

// The unsigned integer of T's size.
template <class T>
using element_bits =
    std::conditional_t<sizeof(T) == 8, u64,
                       std::conditional_t<sizeof(T) == 4, u32, std::conditional_t<sizeof(T) == 2, u16, u8>>>;

// Word `w` of elements of one or two bytes, as element_bits.
template <class Elements>
constexpr val<u32> word_of_elements(thread t, const Elements& elements, u32 w) {
  constexpr u32 size = sizeof(dsl::element<std::remove_cvref_t<decltype(elements[0])>>), count = 4 / size;
  const auto part = [&](u32 i) { return t.let(cast<u32>(elements[w * count + i])); };
  if constexpr (count == 2) {
    return t.let(byte_perm(part(0), part(1), 0x5410u));
  } else {
    const val low = t.let(byte_perm(part(0), part(1), 0x40u)),
              high = t.let(byte_perm(part(2), part(3), 0x40u));
    return t.let(byte_perm(low, high, 0x5410u));
  }
}
// Element k of words, of one or two bytes.
template <class Bits, class Words>
constexpr val<Bits> element_of_words(thread t, const Words& words, u32 k) {
  constexpr u32 size = sizeof(Bits);
  return t.let(cast<Bits>(words[k * size / 4] >> (k * size % 4 * 8)));
}

// Width values value(0), value(1), ... rounded to T, in words as memory has them. Sm: architectures from this
// one on.
template <class T, u32 Sm, u32 Width, class Value>
constexpr auto words_of(thread t, const Value& value) {
  constexpr u32 size = sizeof(T);
  return array_of<Width * size / 4>([&](u32 i) {
    if constexpr (std::is_same_v<T, f16> || (std::is_same_v<T, bf16> && Sm >= 80)) {
      using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
      return t.let(bit_cast<u32>(pack<pair>(value(2 * i), value(2 * i + 1))));
    } else if constexpr (size == 8) {
      return t.let(cast<u32>(bit_cast<u64>(rounded_to<T>(t, value(i / 2))) >> (i % 2 * 32)));
    } else if constexpr (size == 4) {
      return t.let(bit_cast<u32>(rounded_to<T>(t, value(i))));
    } else {
      using bits = std::conditional_t<size == 2, u16, u8>;
      const auto part = [&](u32 k) {
        return t.let(cast<u32>(bit_cast<bits>(rounded_to<T>(t, value(i * (4 / size) + k))))
                     << (8 * size * k));
      };
      if constexpr (size == 2)
        return t.let(part(0) | part(1));
      else
        return t.let(part(0) | part(1) | part(2) | part(3));
    }
  });
}

}  // namespace detail
}  // namespace kaio::ops
