// The video instructions (PTX ISA, "Video Instructions"). Intermediate results are exact. Saturation clamps
// them to the written part of the destination; otherwise the low bits are taken.

#include "emulator/instructions/arithmetic/video.hpp"
#include "emulator/instructions/execute.hpp"
#include "emulator/machine/lanes.hpp"

#include <algorithm>

namespace kaio::emulator {
namespace {

__extension__ using s128 = __int128;

// The low bits of a register, extended according to their type.
s64 extended(u32 value, unsigned bits, bool is_signed) {
  const unsigned up = 64 - bits;
  return is_signed ? static_cast<s64>(u64{value} << up) >> up : static_cast<s64>(u64{value} << up >> up);
}

struct place {
  unsigned shift, bits;
};

place address_operand_of(video_part part) {
  switch (part) {
    case video_part::word: return {0, 32};
    case video_part::h0: return {0, 16};
    case video_part::h1: return {16, 16};
    default: return {(static_cast<unsigned>(part) - static_cast<unsigned>(video_part::b0)) * 8, 8};
  }
}

s64 selected(u32 value, u16 part, bool is_signed) {
  const place p = address_operand_of(static_cast<video_part>(part));
  return extended(value >> p.shift, p.bits, is_signed);
}

s128 clamped(s128 value, unsigned bits, bool is_signed) {
  const s128 most = (s128{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::clamp<s128>(value, is_signed ? -most - 1 : 0, most);
}

bool compared(comparison compare, s64 a, s64 b) {
  switch (compare) {
    case comparison::eq: return a == b;
    case comparison::ne: return a != b;
    case comparison::lt: return a < b;
    case comparison::le: return a <= b;
    case comparison::gt: return a > b;
    default: return a >= b;
  }
}

s128 outcome(const instruction& i, s64 a, s64 b) {
  switch (static_cast<video_form>(i.form)) {
    case video_form::add: return a + b;
    case video_form::sub: return a - b;
    case video_form::absolute_difference: return a < b ? b - a : a - b;
    case video_form::min: return std::min(a, b);
    case video_form::max: return std::max(a, b);
    case video_form::average: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case video_form::shl:
    case video_form::shr: {
      const auto by = static_cast<unsigned>(i.flags.clamp ? std::min<s64>(b, 32) : b & 31);
      return static_cast<video_form>(i.form) == video_form::shl ? static_cast<s128>(a) * (s128{1} << by)
                                                                : static_cast<s128>(a >> by);
    }
    default: return compared(i.compare, a, b) ? 1 : 0;
  }
}

u32 single(const instruction& i, u32 a, u32 b, u32 c) {
  const video_details v = details_of(i);
  const bool is_signed = i.type == ptx::type::s32;
  const place to = address_operand_of(static_cast<video_part>(v.into));
  s128 value = outcome(i, selected(a, v.select_a, i.source_type == ptx::type::s32),
                       selected(b, v.select_b, v.signed_b));
  if (i.flags.sat) value = clamped(value, to.bits, is_signed);
  const s128 third = extended(c, 32, is_signed);
  switch (v.second) {
    case video_second::none: break;
    case video_second::add: value += third; break;
    case video_second::min: value = std::min(value, third); break;
    case video_second::max: value = std::max(value, third); break;
  }
  const u32 mask = to.bits == 32 ? ~u32{0} : ((u32{1} << to.bits) - 1) << to.shift;
  return (static_cast<u32>(value) << to.shift & mask) | (c & ~mask);
}

// Negates the product or the third source as complement plus one.
u32 multiply_add(const instruction& i, u32 a, u32 b, u32 c) {
  const video_details v = details_of(i);
  const bool signed_a = i.source_type == ptx::type::s32;
  const bool is_signed = signed_a || v.signed_b || v.negate_product || v.negate_c;
  s128 value = static_cast<s128>(selected(a, v.select_a, signed_a)) * selected(b, v.select_b, v.signed_b);
  if (v.negate_product) value = ~value;
  value += extended(v.negate_c ? ~c : c, 32, is_signed);
  if (v.plus_one || v.negate_product || v.negate_c) value += 1;
  value >>= v.shift;
  const s128 result = is_signed ? s128{static_cast<s64>(value)} : s128{static_cast<u64>(value)};
  return static_cast<u32>(i.flags.sat ? clamped(result, 32, is_signed) : result);
}

u32 several(const instruction& i, u32 a, u32 b, u32 c) {
  const video_details v = details_of(i);
  const unsigned bits = 32u / i.count;
  const bool is_signed = i.type == ptx::type::s32, signed_a = i.source_type == ptx::type::s32;
  const u64 both = u64{b} << 32 | a;
  const auto element = [&](u16 select, unsigned k, bool sign) {
    const unsigned from = (select >> (4 * k) & 15u) * bits;
    return extended(static_cast<u32>(both >> from), bits, sign);
  };
  u32 sum = c, merged = c;
  for (unsigned k = 0; k < i.count; ++k) {
    if ((v.into >> k & 1) == 0) continue;
    s128 value = outcome(i, element(v.select_a, k, signed_a), element(v.select_b, k, v.signed_b));
    if (i.flags.sat) value = clamped(value, bits, is_signed);
    const u32 mask = ((u32{1} << bits) - 1) << (k * bits);
    sum += static_cast<u32>(value);
    merged = (merged & ~mask) | (static_cast<u32>(value) << (k * bits) & mask);
  }
  return v.second == video_second::add ? sum : merged;
}

}  // namespace

handler video_handler(const instruction& i) {
  if (i.op != operation::video) return nullptr;
  if (i.count > 1) return each_lane<&several>;
  return static_cast<video_form>(i.form) == video_form::mad ? each_lane<&multiply_add> : each_lane<&single>;
}

}  // namespace kaio::emulator
