#pragma once
// The host's model of matrices in fragments: elements of every type as bits and as numbers, and the registers
// of the lanes that hold a matrix.

#include "tests/kernels/mma/mma_kernels.hpp"
#include "tests/kernels/support.hpp"

namespace kaio::tests {

// The bits of a number as an element of type T, and back.
template <class T>
u64 encoded(double x) {
  if constexpr (std::is_same_v<T, tf32> || std::is_same_v<T, f32>)
    return std::bit_cast<u32>(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, f64>)
    return std::bit_cast<u64>(x);
  else if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16> || std::is_same_v<T, e4m3> ||
                     std::is_same_v<T, e5m2>)
    return T(x).bits();
  else {
    constexpr u32 bits = dsl::matrix_element<T>::bits;
    return static_cast<u64>(static_cast<i64>(x)) & ((u64{1} << bits) - 1);
  }
}

template <class T>
double decoded(u64 bits) {
  if constexpr (std::is_same_v<T, f32>)
    return std::bit_cast<float>(static_cast<u32>(bits));
  else if constexpr (std::is_same_v<T, tf32>)
    return std::bit_cast<float>(static_cast<u32>(bits) & 0xffffe000u);
  else if constexpr (std::is_same_v<T, f64>)
    return std::bit_cast<double>(bits);
  else if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>)
    return static_cast<double>(T::from_bits(static_cast<u16>(bits)));
  else if constexpr (std::is_same_v<T, e4m3> || std::is_same_v<T, e5m2>)
    return static_cast<double>(T::from_bits(static_cast<u8>(bits)));
  else if constexpr (std::is_same_v<T, i32>)
    return static_cast<i32>(static_cast<u32>(bits));
  else if constexpr (std::is_same_v<T, i8>)
    return static_cast<i8>(bits);
  else if constexpr (std::is_same_v<T, i4>)
    return static_cast<double>(static_cast<i64>(bits << 60) >> 60);
  else
    return static_cast<double>(bits);
}

template <class T>
u64 word_of(const T& x) {
  u64 bits = 0;
  std::memcpy(&bits, &x, sizeof(T));
  return bits;
}

// A matrix, or four of them, as numbers; and the registers of a fragment that hold it.
template <class F>
struct matrices {
  using T = typename F::element_type;
  using R = typename F::register_type;
  static constexpr u32 count = 32 * F::size / (F::rows * F::columns);
  std::vector<u64> bits = std::vector<u64>(count * F::rows * F::columns);

  static u32 matrix_of(u32 lane) { return count == 1 ? 0 : lane % 16 / 4; }
  u64& at(u32 matrix, u32 row, u32 column) { return bits[(matrix * F::rows + row) * F::columns + column]; }
  double number(u32 matrix, u32 row, u32 column) { return decoded<T>(at(matrix, row, column)); }

  std::vector<R> registers() {
    std::vector<R> words(32 * F::register_count);
    for (u32 lane = 0; lane < 32; ++lane)
      for (u32 r = 0; r < F::register_count; ++r) {
        u64 word = 0;
        for (u32 e = 0; e < F::per_register; ++e) {
          const auto place = F::layout::place(lane, r * F::per_register + e);
          word |= at(matrix_of(lane), place.row, place.column) << (e * dsl::matrix_element<T>::bits);
        }
        std::memcpy(static_cast<void*>(&words[lane * F::register_count + r]), &word, sizeof(R));
      }
    return words;
  }
  void take(const std::vector<R>& words) {
    constexpr u32 width = dsl::matrix_element<T>::bits;
    for (u32 lane = 0; lane < 32; ++lane)
      for (u32 i = 0; i < F::size; ++i) {
        const u64 word = word_of(words[lane * F::register_count + i / F::per_register]);
        const auto place = F::layout::place(lane, i);
        const u64 shifted = word >> (i % F::per_register * width);
        at(matrix_of(lane), place.row, place.column) =
            width == 64 ? shifted : shifted & ((u64{1} << width) - 1);
      }
  }
  template <class Draw>
  void fill(const Draw& draw) {
    for (u64& x : bits) x = draw();
  }
};

template <class T>
inline constexpr bool is_whole = std::is_same_v<T, i8> || std::is_same_v<T, u8> || std::is_same_v<T, i4> ||
                                 std::is_same_v<T, u4> || std::is_same_v<T, b1>;

template <class T>
u64 small_element(std::mt19937_64& engine) {
  if constexpr (is_whole<T>)
    return engine() & ((u64{1} << dsl::matrix_element<T>::bits) - 1);
  else
    return encoded<T>(static_cast<double>(engine() % 9) - 4);
}

// Numbers around 1 with the type's own precision; those of tf32 also have bits that are not read.
template <class T>
u64 random_element(std::mt19937_64& engine) {
  if constexpr (is_whole<T>)
    return engine() & ((u64{1} << dsl::matrix_element<T>::bits) - 1);
  else
    return encoded<T>(std::ldexp(static_cast<double>(static_cast<i64>(engine() >> 20)) * 0x1p-43 - 1,
                                 static_cast<int>(engine() % 4) - 2));
}

}  // namespace kaio::tests
