#pragma once
// Reads packed weights as f32. Only the launch knows their codes and scales, so that one kernel serves all of
// them.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/any_element.hpp>
#include <kaio/ops/weight_only/common/codes.hpp>
#include <kaio/ops/weight_only/common/place.hpp>
#include <kaio/ops/weight_only/common/scales_and_zeros.hpp>

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

// Reads the eight weights of a word: number * scale + offset in f32, without column factors. Weights beyond K
// have the scale of the last group.
class w4_weight_reader {
 public:
  template <class Packed>
  constexpr w4_weight_reader(thread t, const Packed& w)
      : t_(t),
        k_(t.let(w[&w4_packed::k])),
        pitch_(t.let(w[&w4_packed::tiles_n] * w4_tile_n)),
        group_{t.let(w[&w4_packed::group])},
        codes_type_(t.let(w[&w4_packed::codes_type])),
        scale_type_(t.let(w[&w4_packed::scale_type])),
        all_codes_(t.let(w[&w4_packed::codes])),
        zeros_(t.let(w[&w4_packed::zeros])),
        has_offsets_(t.let(w[&w4_packed::offsets] != 0u)),
        has_zeros_(t.let(all_of(zeros_ != u64{0}, !has_offsets_))),
        own_zero_(t.let(w[&w4_packed::zero])),
        scales_(t.let(w[&w4_packed::scales])),
        neighbours_(t.let(w[&w4_packed::neighbours] != 0u)),
        numbers_(t, detail::w4_numbers) {}

  constexpr dsl::register_array<val<f32>, 8> weights(const w4_word& word) const {
    const val bytes = t_.let(codes_type_ >= static_cast<u32>(w4_codes::int8));
    var first(t_, 0u), second(t_, 0u);
    if (auto two = t_.when(bytes)) {
      const val at = first_of_two_words(t_, word);
      first = pointer_at<in<u32>>(t_, all_codes_)[at];
      second = pointer_at<in<u32>>(t_, all_codes_)[at + u64{1}];
    }
    if (auto one = t_.otherwise()) first = pointer_at<in<u32>>(t_, all_codes_)[word.at];
    const val low = t_.let(first), high = t_.let(second);
    return array_of<8>([&](u32 i) {
      const val own_k = t_.let(min(word.k + w4_word::further_k(i), k_ - 1u));
      const val group = divide(t_, own_k, group_).whole;
      const val own_n = t_.let(word.n + w4_word::further_n(i));
      const val place = t_.let(cast<u64>(group) * cast<u64>(pitch_) + cast<u64>(own_n));
      const val nibble = t_.let(low >> t_.let(select(neighbours_, 4 * i, 4 * w4_word::nibble(i))) & 15u);
      const val byte = t_.let((i < 4 ? low : high) >> (8 * (w4_word::byte(i) % 4)) & 0xffu);
      const val number = number_of(nibble, byte, place, i);
      var result(t_, number * detail::scale_at(t_, scale_type_, scales_, place));
      // For codes of few bits the product is exact, so that a fused addition gives the same bits.
      if (auto some = t_.when(has_offsets_)) result += pointer_at<in<f32>>(t_, zeros_)[place];
      return t_.let(result);
    });
  }

 private:
  constexpr val<f32> number_of(const val<u32>& nibble, const val<u32>& byte, const val<u64>& place,
                               u32 i) const {
    const auto is = [&](w4_codes one) { return codes_type_ == static_cast<u32>(one); };
    var number(t_, 0.0f);
    if (auto integer = t_.when(is(w4_codes::int4))) {
      var zero(t_, own_zero_);
      if (auto some = t_.when(has_zeros_)) {
        const val both = t_.let(cast<u32>(pointer_at<in<u8>>(t_, zeros_)[place / u64{2}]));
        zero = both >> (4 * w4_word::further_n(i)) & 15u;
      }
      number = cast<f32>(cast<i32>(nibble) - cast<i32>(zero));
    }
    if (auto table = t_.when(all_of(codes_type_ >= static_cast<u32>(w4_codes::nf4),
                                    codes_type_ <= static_cast<u32>(w4_codes::e2m1))))
      number = numbers_[(codes_type_ - static_cast<u32>(w4_codes::nf4)) * 16u + nibble];
    if (auto integer = t_.when(is(w4_codes::int8))) {
      var zero(t_, 128u);
      if (auto some = t_.when(has_zeros_)) zero = cast<u32>(pointer_at<in<u8>>(t_, zeros_)[place]);
      number = cast<f32>(cast<i32>(byte) - cast<i32>(zero));
    }
    if (auto little = t_.when(is(w4_codes::e4m3))) number = detail::number_of_e4m3(t_, byte);
    return t_.let(number);
  }

  thread t_;
  val<u32> k_, pitch_;
  val<divisor> group_;
  val<u32> codes_type_, scale_type_;
  val<u64> all_codes_, zeros_;
  val<bool> has_offsets_, has_zeros_;
  val<u32> own_zero_;
  val<u64> scales_;
  val<bool> neighbours_;
  constant<f32, 48> numbers_;
};

}  // namespace kaio::ops
