#pragma once
// Packed weights (layout.hpp) as a matrix.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/any_element.hpp>
#include <kaio/ops/quantised/w4/codes.hpp>
#include <kaio/ops/quantised/w4/facts.hpp>
#include <kaio/ops/quantised/w4/place.hpp>

#include <array>
#include <cstdint>

namespace kaio::ops {

namespace detail {

// nf4, fp4, e2m1, in the order of w4_codes.
inline constexpr auto w4_numbers = [] {
  std::array<f32, 48> all{};
  for (u32 i = 0; i < 16; ++i) {
    all[i] = nf4_numbers[i];
    all[16 + i] = fp4_numbers[i];
    all[32 + i] = e2m1_numbers[i];
  }
  return all;
}();

// e4m3 as f32.
constexpr val<f32> number_of_e4m3(thread t, const val<u32>& code) {
  const val magnitude = scale_of_e4m3(t, code);
  const val number = t.let(bit_cast<u32>(magnitude) | (code & 0x80u) << 24);
  return t.let(bit_cast<f32>(select((code & 0x7fu) == 0x7fu, 0x7fffffffu, number)));
}

// A scale of this type at an address, as f32.
constexpr val<f32> scale_at(thread t, const val<u32>& type, const val<u64>& address, const val<u64>& place) {
  const auto is = [&](w4_scale_type one) { return type == static_cast<u32>(one); };
  var result(t, 0.0f);
  if (auto half = t.when(is(w4_scale_type::f16)))
    result = stored_f16::read(pointer_at<in<f16>>(t, address)[place]);
  if (auto brain = t.when(is(w4_scale_type::bf16)))
    result = stored_bf16::read(pointer_at<in<u16>>(t, address)[place]);
  if (auto single = t.when(is(w4_scale_type::f32))) result = pointer_at<in<f32>>(t, address)[place];
  if (auto e8m0 = t.when(is(w4_scale_type::e8m0)))
    result = scale_of_e8m0(t, t.let(cast<u32>(pointer_at<in<u8>>(t, address)[place])));
  if (auto e4m3 = t.when(is(w4_scale_type::e4m3)))
    result = scale_of_e4m3(t, t.let(cast<u32>(pointer_at<in<u8>>(t, address)[place])));
  return t.let(result);
}

}  // namespace detail

// Launched with a block for each tile. Each weight is computed in f32, number by scale and the offset, or by
// the factor of the column, and rounded once.
inline constexpr auto dequantise_w4_tiles =
    kaio::kernel<"dequantise_w4", block_size{w4_tile_threads}>([](thread t, val<w4_matrix> matrix) {
      const auto w = matrix[&w4_matrix::w];
      const val tiles_n = t.let(w[&w4_packed::tiles_n]);
      const val n = t.let(w[&w4_packed::n]), k = t.let(w[&w4_packed::k]);
      const w4_word word = find_word(t, t.let(block_idx_x()), t.let(w[&w4_packed::tiles_k]));
      const val codes_type = t.let(w[&w4_packed::codes_type]);
      const val bytes = t.let(codes_type >= static_cast<u32>(w4_codes::int8));
      const val all_codes = t.let(w[&w4_packed::codes]);
      var first(t, 0u), second(t, 0u);
      if (auto two = t.when(bytes)) {
        const val at = first_of_two_words(t, word);
        first = pointer_at<in<u32>>(t, all_codes)[at];
        second = pointer_at<in<u32>>(t, all_codes)[at + u64{1}];
      }
      if (auto one = t.otherwise()) first = pointer_at<in<u32>>(t, all_codes)[word.at];
      const val low = t.let(first), high = t.let(second);
      const val neighbours = t.let(w[&w4_packed::neighbours] != 0u);
      const val zeros = t.let(w[&w4_packed::zeros]), rows = t.let(w[&w4_packed::rows]);
      const val factors = t.let(w[&w4_packed::factors]);
      const val offsets = t.let(w[&w4_packed::offsets] != 0u);
      const val has_zeros = t.let(all_of(zeros != u64{0}, !offsets));
      const val own_zero = t.let(w[&w4_packed::zero]);
      const val pitch = t.let(tiles_n * w4_tile_n);
      const val scale_type = t.let(w[&w4_packed::scale_type]);
      const val scales = t.let(w[&w4_packed::scales]);
      const constant<f32, 48> numbers(t, detail::w4_numbers);
      const auto weight = array_of<8>([&](u32 i) {
        const val own_k = t.let(min(word.k + w4_word::further_k(i), k - 1u));
        const val group = divide(t, own_k, w[&w4_packed::group]).whole;
        const val own_n = t.let(word.n + w4_word::further_n(i));
        const val place = t.let(cast<u64>(group) * cast<u64>(pitch) + cast<u64>(own_n));
        const val nibble = t.let(low >> t.let(select(neighbours, 4 * i, 4 * w4_word::nibble(i))) & 15u);
        const val byte = t.let((i < 4 ? low : high) >> (8 * (w4_word::byte(i) % 4)) & 0xffu);
        var number(t, 0.0f);
        if (auto integer = t.when(codes_type == static_cast<u32>(w4_codes::int4))) {
          var zero(t, own_zero);
          if (auto some = t.when(has_zeros)) {
            const val both = t.let(cast<u32>(pointer_at<in<u8>>(t, zeros)[place / u64{2}]));
            zero = both >> (4 * w4_word::further_n(i)) & 15u;
          }
          number = cast<f32>(cast<i32>(nibble) - cast<i32>(zero));
        }
        if (auto table = t.when(all_of(codes_type >= static_cast<u32>(w4_codes::nf4),
                                       codes_type <= static_cast<u32>(w4_codes::e2m1))))
          number = numbers[(codes_type - static_cast<u32>(w4_codes::nf4)) * 16u + nibble];
        if (auto integer = t.when(codes_type == static_cast<u32>(w4_codes::int8))) {
          var zero(t, 128u);
          if (auto some = t.when(has_zeros)) zero = cast<u32>(pointer_at<in<u8>>(t, zeros)[place]);
          number = cast<f32>(cast<i32>(byte) - cast<i32>(zero));
        }
        if (auto small = t.when(codes_type == static_cast<u32>(w4_codes::e4m3)))
          number = detail::number_of_e4m3(t, byte);
        var result(t, number * detail::scale_at(t, scale_type, scales, place));
        // Of codes of few bits the product is exact.
        if (auto some = t.when(offsets)) result += pointer_at<in<f32>>(t, zeros)[place];
        if (auto some = t.when(factors != u64{0})) result *= pointer_at<in<f32>>(t, factors)[own_n];
        return t.let(result);
      });
      const auto source_of = array_of<8>([&](u32 i) {
        const val own_k = t.let(min(word.k + w4_word::further_k(i), k - 1u));
        var row(t, own_k);
        if (auto ordered = t.when(rows != u64{0})) row = cast<u32>(pointer_at<in<i32>>(t, rows)[own_k]);
        return t.let(row);
      });
      with_any_element(t, t.let(matrix[&w4_matrix::type]), [&]<class A>(A) {
        const auto to = pointer_at<out<typename A::stored>>(t, t.let(matrix[&w4_matrix::out]));
        for (u32 i = 0; i < 8; ++i) {
          const val own_n = t.let(word.n + w4_word::further_n(i));
          if (auto exists = t.when(all_of(own_n < n, word.k + w4_word::further_k(i) < k))) {
            const val at = t.let(cast<i64>(own_n) * matrix[&w4_matrix::out_n] +
                                 cast<i64>(source_of[i]) * matrix[&w4_matrix::out_k]);
            to[at] = A::write(t, weight[i]);
          }
        }
      });
    });

}  // namespace kaio::ops
