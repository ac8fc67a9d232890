#pragma once
// A cache whose elements are 8-bit codes times a scale: reads one element at a time, in f32.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/decode/common/problem.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// f(type{}) for e4m3, e5m2 or i8, in a branch that all threads take alike.
template <class F>
constexpr void with_code_type(thread t, const val<u32>& kept, const F& f) {
  if (auto four = t.when(kept == static_cast<u32>(cache_elements::e4m3))) f(e4m3{});
  if (auto five = t.when(kept == static_cast<u32>(cache_elements::e5m2))) f(e5m2{});
  if (auto integer = t.when(kept == static_cast<u32>(cache_elements::i8))) f(i8{});
}

// The offset of a key's scale from the first scale.
template <class Scale, class Page, class Row>
constexpr val<i64> scale_offset(thread t, const Scale& scale, const Page& page, const Row& row,
                                const val<u32>& head) {
  return t.let(cast<i64>(page) * scale[&cache_scale::page] + cast<i64>(row) * scale[&cache_scale::row] +
               cast<i64>(head) * scale[&cache_scale::head]);
}

template <class Scale, class Page, class Row>
constexpr val<f32> scale_at(thread t, const Scale& scale, const val<u32>& sequence, const Page& page,
                            const Row& row, const val<u32>& head) {
  const val address = t.let(scale[&cache_scale::address]);
  var result(t, 1.0f);
  if (auto given = t.when(address != u64{0})) {
    const val place = t.let(select(scale[&cache_scale::by_key] != 0u, page, sequence));
    result = pointer_at<in<f32>>(t, address)[scale_offset(t, scale, place, row, head)];
  }
  return t.let(result);
}

// The exact value of a code of any format. The magnitude of e5m2 is the upper byte of an f16. The magnitude
// of e4m3, shifted one place further down, is the f16 of its value / 256.
constexpr val<f32> value_of_code(thread t, const val<u32>& kept, const val<u32>& code) {
  const val is_e4m3 = t.let(kept == static_cast<u32>(cache_elements::e4m3));
  const val magnitude = t.let(code & 0x7fu);
  const val half = t.let(cast<u16>(magnitude << select(is_e4m3, 7u, 8u)));
  const val finite = t.let(cast<f32>(bit_cast<f16>(half)) * select(is_e4m3, 256.0f, 1.0f));
  const val number =
      t.let(select(all_of(is_e4m3, magnitude == 0x7fu), std::numeric_limits<f32>::quiet_NaN(), finite));
  const val floating = t.let(select((code & 0x80u) != 0u, -number, number));
  const val integer = t.let(cast<f32>(cast<i32>(code ^ 0x80u) - 128));
  return t.let(select(kept == static_cast<u32>(cache_elements::i8), integer, floating));
}

// A row of codes.
struct row_of_codes {
  thread t;
  val<u32> kept;
  val<u64> address;
  val<f32> scale;

  constexpr val<f32> operator[](const auto& column) const {
    const val at = t.let(cast<u64>(column));
    const val code = t.let(cast<u32>(pointer_at<in<u8>>(t, address)[at]));
    return t.let(value_of_code(t, kept, code) * scale);
  }
};

}  // namespace kaio::ops
