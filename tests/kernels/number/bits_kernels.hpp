#pragma once
// Kernels that run every operation on integers and every rounding, one row of results for each. The meaning
// of a row is in the host's model next to the test, in the same order.

#include <kaio/dsl/dsl.hpp>

#include <array>
#include <cstdint>
#include <limits>

namespace kaio::tests {

// --- integers: results of any integer type, extended to 64 bits

template <class T, class Out>
constexpr void bit_operations(const val<T>& a, const val<T>& b, const val<T>& c, const Out& out) {
  const val n = cast<u32>(b) % 80;
  const val m = cast<u32>(c) % 80;
  out(popc(a));
  out(clz(a));
  out(ctz(a));
  out(ffs(a));
  out(bfind(a));
  out(brev(a));
  out(mul_hi(a, b));
  out(mad_hi(a, b, c));
  out(abs_diff(a, b));
  out(sad(a, b, cast<std::make_unsigned_t<T>>(c)));
  out(add_sat(a, b));
  out(sub_sat(a, b));
  out(bit_extract(a, n, m));
  out(bit_extract(a, 3, 4));
  out(bit_insert(a, b, n, m));
  out(bit_insert(a, b, 2, 5));
  out(lop3<0xE8>(a, b, c));
  out(lop3(a, b, c, [](auto x, auto y, auto z) { return ~(x ^ y) | (z & ~x); }));
  out(rotate_left(a, n));
  out(rotate_right(a, n));
  out(rotate_left(a, 5));
  out(rotate_right(a, m + 33));
}
inline constexpr std::uint32_t bit_operation_count = 22;

template <class T, class Out>
constexpr void wide_operations(const val<T>& a, const val<T>& b, const val<T>& c, const Out& out) {
  out(mul_wide(a, b));
  out(mul_wide(a, T{3}));
  out(mad_wide(a, b, mul_wide(c, c)));
}
inline constexpr std::uint32_t wide_operation_count = 3;

template <class T, class Out>
constexpr void word_operations(const val<T>& a, const val<T>& b, const val<T>& c, const Out& out) {
  const val n = cast<u32>(b) % 80;
  out(funnel_shift_left(a, c, n));
  out(funnel_shift_right(a, c, n));
  out(funnel_shift_left_clamped(a, c, n));
  out(funnel_shift_right_clamped(a, c, n));
  out(dp4a(a, b, c));
  out(dp2a_lo(a, b, c));
  out(dp2a_hi(a, b, c));
  out(dp4a(bit_cast<u32>(a), bit_cast<i32>(b), bit_cast<i32>(c)));
  out(dp2a_hi(bit_cast<i32>(a), bit_cast<u32>(b), 5));
  out(byte_perm(bit_cast<u32>(a), bit_cast<u32>(b), bit_cast<u32>(c)));
}
inline constexpr std::uint32_t word_operation_count = 10;

template <class T>
inline constexpr std::uint32_t integer_row_count =
    bit_operation_count + (sizeof(T) < 8 ? wide_operation_count : 0) +
    (sizeof(T) == 4 ? word_operation_count : 0);

template <dsl::integer T>
inline constexpr auto every_bit_operation = kernel<"every_bit_operation_" + type_name<T>, 128>(
    [](thread t, in<T> x, in<T> y, in<T> z, out<u64> results, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        val a = x[i];
        val b = y[i];
        val c = z[i];
        u32 row = 0;
        const auto out = [&](const auto& result) { results[i + n * row++] = cast<u64>(result); };
        bit_operations<T>(a, b, c, out);
        if constexpr (sizeof(T) < 8) wide_operations<T>(a, b, c, out);
        if constexpr (sizeof(T) == 4) word_operations<T>(a, b, c, out);
      }
    });

// Literals and constants: folded, or given to the device. i is 0.
inline constexpr auto bit_constants = kernel<"bit_constants", 32>([](thread t, out<u64> y, val<u32> zero) {
  val word = 0x00f0u;
  val byte = i8{-3};
  val large = u64{1} << 40;
  u32 row = 0;
  const auto out = [&](const auto& result) { y[zero + row++] = cast<u64>(t.let(result)); };
  out(popc(word));
  out(popc(byte));
  out(clz(word));
  out(ctz(word));
  out(ffs(large));
  out(bfind(byte));
  out(brev(byte));
  out(mul_hi(large, large));
  out(mul_wide(word, word));
  out(abs_diff(byte, 5));
  out(add_sat(byte, -127));
  out(bit_extract(word, 4, 2));
  out(bit_insert(word, 3u, 16, 2));
  out(rotate_left(word, 28));
  out(rotate_left(large, 30));
  out(byte_perm(word, 7u, 0x4040u));
  out(dp4a(word, word, 1));
  out(cast_sat<u8>(byte));
  out(cast_sat<i16>(large));
  out(cast_sat<i8>(t.let(cast<i32>(byte) * 100)));
});
inline constexpr std::uint64_t bit_constant_results[] = {
    4,
    7,
    24,
    4,
    41,
    1,
    static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(0xbf)}),
    65536,
    0xe100,
    8,
    static_cast<std::uint64_t>(std::int64_t{-128}),
    3,
    0x300f0,
    0xf,
    std::uint64_t{1} << 6,
    0x07f007f0,
    0xe101,
    0,
    32767,
    static_cast<std::uint64_t>(std::int64_t{-128}),
};

// --- division by constants

template <class T>
constexpr auto divisors() {
  using limits = std::numeric_limits<T>;
  std::array<T, 96> result{};
  std::size_t n = 0;
  const auto add = [&](T d) {
    if (d != 0) result[n++] = d;
  };
  for (const int d : {1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 25, 100, 125, 127}) {
    add(static_cast<T>(d));
    if (limits::is_signed) add(static_cast<T>(-d));
  }
  for (const int d : {641, 1000, 65537})
    if (static_cast<std::int64_t>(static_cast<T>(d)) == d) add(static_cast<T>(d));
  for (unsigned k = 4; k < sizeof(T) * 8; k += sizeof(T) < 4 ? 1 : 9) {
    const std::uint64_t power = std::uint64_t{1} << k;
    add(static_cast<T>(power));
    add(static_cast<T>(power - 1));
    add(static_cast<T>(power + 1));
  }
  add(limits::max());
  add(limits::min());
  add(static_cast<T>(limits::max() - 1));
  add(static_cast<T>(limits::max() / 2 + 1));
  add(static_cast<T>(limits::min() + 1));
  while (n < result.size()) result[n++] = T{7};
  return result;
}

// Quotients and remainders by the divisors First to Last.
template <dsl::integer T, u32 First, u32 Last>
inline constexpr auto constant_division =
    kernel<"constant_division_" + type_name<T> + "_" + decimal<First>, 128>(
        [](thread t, in<T> x, out<T> quotient, out<T> remainder, val<u32> n) {
          val i = t.global_id();
          if (auto in_range = t.when(i < n)) {
            val a = x[i];
            constexpr auto table = divisors<T>();
            for (u32 k = First; k < Last; ++k) {
              quotient[i + n * k] = a / table[k];
              remainder[i + n * k] = a % table[k];
            }
          }
        });

// --- roundings

template <class T, class Mode, class Out>
constexpr void rounded_operations(const val<T>& a, const val<T>& b, const Mode& mode, const Out& out) {
  out(add(a, b, mode));
  out(sub(a, b, mode));
  out(mul(a, b, mode));
  out(div(a, b, mode));
  out(fma(a, b, a, mode));
  out(sqrt(a, mode));
  out(rcp(a, mode));
  out(add(1, a, mode));
}
inline constexpr std::uint32_t rounded_operation_count = 8;

template <dsl::host_floating T>
inline constexpr auto every_rounding =
    kernel<"every_rounding_" + type_name<T>, 128>([](thread t, in<T> x, in<T> y, out<T> results, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        val a = x[i];
        val b = y[i];
        u32 row = 0;
        const auto out = [&](const auto& result) { results[i + n * row++] = result; };
        rounded_operations<T>(a, b, round_nearest, out);
        rounded_operations<T>(a, b, round_toward_zero, out);
        rounded_operations<T>(a, b, round_down, out);
        rounded_operations<T>(a, b, round_up, out);
      }
    });

// --- results clamped to [0, 1]

template <dsl::floating T, u32 Sm>
inline constexpr auto every_saturation =
    kernel<"every_saturation_" + type_name<T> + "_" + decimal<Sm>, 128, kernel_options{.target = {Sm}}>(
        [](thread t, in<T> x, in<T> y, out<T> results, val<u32> n) {
          val i = t.global_id();
          if (auto in_range = t.when(i < n)) {
            val a = x[i];
            val b = y[i];
            results[i] = saturate(a);
            results[i + n] = add_sat(a, b);
            results[i + n * 2] = sub_sat(a, b);
            results[i + n * 3] = mul_sat(a, b);
            if constexpr (Sm >= 80 || !std::is_same_v<T, bf16>)
              results[i + n * 4] = fma_sat(a, b, 0.25f);
            else
              results[i + n * 4] = saturate(a * b + 0.25f);
          }
        });

// --- packed pairs

template <dsl::packed P, u32 Sm>
inline constexpr auto every_packed_operation =
    kernel<"every_packed_operation_" + type_name<P> + "_" + decimal<Sm>, 128, kernel_options{.target = {Sm}}>(
        [](thread t, in<P> x, in<P> y, in<f32> f, out<P> results, val<u32> n) {
          val i = t.global_id();
          if (auto in_range = t.when(i < n)) {
            val a = x[i];
            val b = y[i];
            u32 row = 0;
            const auto out = [&](const auto& result) { results[i + n * row++] = result; };
            out(a + b);
            out(a - b);
            out(a * b);
            out(a / b);
            out(min(a, b));
            out(max(a, b));
            out(-a);
            out(abs(a));
            out(a * b + a);
            out(a * 0.5f);
            out(2 - a);
            out(pack(low(b), high(a)));
            out(pack(high(a) + low(b), 1.5f));
            out(swap_halves(a));
            out(pack<P>(f[i], f[i] * 3.0f));
            out(bit_cast<P>(bit_cast<u32>(a) ^ 1));
          }
        });
inline constexpr std::uint32_t packed_operation_count = 16;

}  // namespace kaio::tests
