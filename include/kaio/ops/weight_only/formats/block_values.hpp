#pragma once
// Decodes eight neighbours of a block (block_layout.hpp) to f32.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/formats/block_layout.hpp>
#include <kaio/ops/weight_only/formats/eight_bytes.hpp>

#include <cstdint>

namespace kaio::ops {

namespace detail {

constexpr val<u32> byte_at(thread t, const val<u64>& address) {
  return t.let(cast<u32>(pointer_at<in<u8>>(t, address)[0]));
}
constexpr val<f32> half_at(thread t, const val<u64>& address) {
  return t.let(cast<f32>(bit_cast<f16>(pointer_at<in<u16>>(t, address)[0])));
}

// Replaces each byte of `codes`, a nibble, by its entry in the table of 16 bytes.
template <class Layout>
constexpr val<u32> looked_up(thread t, const Layout& layout, const val<u32>& codes) {
  // The low three bits of each nibble, packed as a selector, choose among eight bytes.
  const val low = t.let(codes & 0x07070707u);
  const val pairs = t.let(low | low >> 4);
  const val selector = t.let((pairs & 0xffu) | (pairs >> 8 & 0xff00u));
  const auto table = layout[&block_layout::table];
  const auto among = [&](u32 one, u32 other) {
    const val low_bytes = t.let(table[one]), high_bytes = t.let(table[other]);
    return t.let(byte_perm(low_bytes, high_bytes, selector));
  };
  const val first = among(0, 1), second = among(2, 3);
  const val upper = t.let((codes >> 3 & 0x01010101u) * 0xffu);
  return t.let((second & upper) | (first & ~upper));
}

// Spreads the low four bits, one per byte.
constexpr val<u32> spread(thread t, const val<u32>& four) {
  return t.let((four & 15u) * 0x00204081u & 0x01010101u);
}

}  // namespace detail

// The scale that multiplies eight neighbours' codes, and the offset that is subtracted from the products.
struct scale_and_offset {
  var<f32> scale, offset;
};

// For neighbours 8 j .. 8 j + 7 of the block at `block`.
template <class Layout>
constexpr scale_and_offset load_scales(thread t, const Layout& layout, const val<u64>& block,
                                       const val<u32>& j) {
  scale_and_offset result{var(t, 0.0f), var(t, 0.0f)};
  const val kind = t.let(layout[&block_layout::scales]);
  const auto field = [&](auto member) { return t.let(block + cast<u64>(layout[member])); };
  const auto is = [&](u32 one) { return t.let(kind == one); };
  if (auto has_d = t.when(all_of(kind != u32{block_scales::e8m0}, kind != u32{block_scales::ue4m3})))
    result.scale = detail::half_at(t, field(&block_layout::d_at));
  if (auto minimum = t.when(is(block_scales::d_m)))
    result.offset = -detail::half_at(t, field(&block_layout::m_at));
  // 2^(b - 128), half the scale: the table has twice the numbers.
  if (auto power = t.when(is(block_scales::e8m0))) {
    const val b = detail::byte_at(t, block);
    const val bits = t.let(select(b < 2u, 0x00200000u << b, (b - 1u) << 23));
    result.scale = bit_cast<f32>(t.let(select(b == 255u, 0x7fc00000u, bits)));
  }
  if (auto little = t.when(is(block_scales::ue4m3))) {
    const val code = detail::byte_at(t, t.let(block + cast<u64>(j >> 1)));
    const val magnitude = t.let(code & 0x7fu);
    // As an f16 these bits are the scale / 256, even if subnormal. The table has twice the numbers.
    const val number = t.let(cast<f32>(bit_cast<f16>(cast<u16>(magnitude << 7))) * 128.0f);
    result.scale = select(code == 0x7fu, 0.0f, number);
  }
  if (auto nibbles = t.when(is(block_scales::two_nibbles))) {
    const val both = detail::byte_at(t, t.let(block + cast<u64>(j >> 1)));
    const val m = detail::half_at(t, field(&block_layout::m_at));
    result.scale = result.scale * cast<f32>(both & 15u);
    result.offset = m * cast<f32>(both >> 4);
  }
  if (auto three = t.when(is(block_scales::six_bits_3))) {
    const val at = field(&block_layout::scales_at);
    const val i = t.let(j >> 1);
    const val low = detail::byte_at(t, t.let(at + cast<u64>(i & 7u)));
    const val high = detail::byte_at(t, t.let(at + u64{8} + cast<u64>(i & 3u)));
    const val number = t.let((low >> ((i >> 3) * 4u) & 15u) | (high >> ((i >> 2) * 2u) & 3u) << 4);
    result.scale = result.scale * cast<f32>(cast<i32>(number) - 32);
  }
  if (auto four = t.when(is(block_scales::six_bits_4))) {
    const val at = field(&block_layout::scales_at);
    const val i = t.let(j >> 2);
    const val upper = t.let(i >> 2);  // 1: the last four of the eight pairs
    const val own = detail::byte_at(t, t.let(at + cast<u64>(i)));
    const val next = detail::byte_at(t, t.let(at + cast<u64>(i + 4u)));
    const val before = detail::byte_at(t, t.let(at + cast<u64>(i & 3u)));
    const val m = detail::half_at(t, field(&block_layout::m_at));
    const val is_upper = t.let(upper != 0u);
    const val scale = t.let(select(is_upper, (next & 15u) | (before >> 6) << 4, own & 63u));
    const val minimum = t.let(select(is_upper, next >> 4 | (own >> 6) << 4, next & 63u));
    result.scale = result.scale * cast<f32>(scale);
    result.offset = m * cast<f32>(minimum);
  }
  if (auto eight = t.when(is(block_scales::eight_bits))) {
    const val at = field(&block_layout::scales_at);
    const val number = t.let(pointer_at<in<i8>>(t, t.let(at + cast<u64>(j >> 1)))[0]);
    result.scale = result.scale * cast<f32>(number);
  }
  if (auto iq4 = t.when(is(block_scales::iq4))) {
    const val at = field(&block_layout::scales_at);
    const val i = t.let(j >> 2);
    const val high = t.let(cast<u32>(pointer_at<in<u16>>(t, at)[0]));
    const val low = detail::byte_at(t, t.let(at + u64{2} + cast<u64>(i >> 1)));
    const val number = t.let((low >> ((i & 1u) * 4u) & 15u) | (high >> (i * 2u) & 3u) << 4);
    result.scale = result.scale * cast<f32>(cast<i32>(number) - 32);
  }
  return result;
}

// The eight values: codes are assembled as bytes, then scaled in f32.
template <class Layout>
constexpr auto block_values(thread t, const Layout& layout, const val<u64>& block, const val<u32>& j,
                            const val<u32>& codes_alignment, const val<u32>& high_alignment) {
  const auto number = [&](auto member) { return t.let(layout[member]); };
  const scale_and_offset by = load_scales(t, layout, block, j);
  const val plane_at = number(&block_layout::plane_at), plane_bits = number(&block_layout::plane_bits);
  const val bits = number(&block_layout::bits);
  const val one = t.let(1u);
  const val below = t.let(j & ((one << plane_at) - 1u));
  const val plane = t.let(j >> plane_at & ((one << plane_bits) - 1u));
  const val eighth = t.let(below | j >> (plane_at + plane_bits) << plane_at);
  const val codes_at = t.let(block + cast<u64>(number(&block_layout::codes_at) + eighth * 8u));
  const eight_bytes codes = load_eight(t, codes_at, codes_alignment);
  const val shift = t.let(plane * bits);
  const val mask = t.let(((one << bits) - 1u) * 0x01010101u);
  var low(t, codes.low >> shift & mask), high(t, codes.high >> shift & mask);
  const val kind = number(&block_layout::high);
  if (auto has_bytes = t.when(kind == u32{high_codes::bytes})) {
    const val width = number(&block_layout::high_bits), planes = number(&block_layout::high_plane_bits);
    const val of_plane = t.let(j >> 2 & ((one << planes) - 1u));
    const val which = t.let((j & 3u) | j >> (planes + 2u) << 2);
    const val at = t.let(block + cast<u64>(number(&block_layout::high_at) + which * 8u));
    const eight_bytes further = load_eight(t, at, high_alignment);
    const val by_plane = t.let(of_plane * width);
    const val high_mask = t.let(((one << width) - 1u) * 0x01010101u);
    const val to = number(&block_layout::high_to);
    low |= (further.low >> by_plane & high_mask) << to;
    high |= (further.high >> by_plane & high_mask) << to;
  }
  if (auto has_bits = t.when(kind == u32{high_codes::bits})) {
    const val eight = detail::byte_at(t, t.let(block + cast<u64>(number(&block_layout::high_at) + j)));
    low |= detail::spread(t, eight) << 4;
    high |= detail::spread(t, t.let(eight >> 4)) << 4;
  }
  if (auto table = t.when(layout[&block_layout::has_table] != 0u)) {
    low = detail::looked_up(t, layout, t.let(low));
    high = detail::looked_up(t, layout, t.let(high));
  }
  if (auto whole_bytes = t.when(bits == 8u)) {  // from two's complement to code + 128
    low = low ^ 0x80808080u;
    high = high ^ 0x80808080u;
  }
  // A byte in the low mantissa of 2^23 reads as exactly 2^23 + byte.
  const val bias = t.let(8388608.0f + cast<f32>(number(&block_layout::bias)));
  const val scale = t.let(by.scale), offset = t.let(by.offset);
  return array_of<8>([&](u32 i) {
    const val word = t.let(i < 4 ? low : high);
    const val biased = t.let(bit_cast<f32>(byte_perm(word, 0x4b000000u, 0x7440u | i % 4)));
    const val code = t.let(biased - bias);
    return t.let(scale * code - offset);
  });
}

}  // namespace kaio::ops
