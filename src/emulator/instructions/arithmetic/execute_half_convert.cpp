// Conversions from and to f16, bf16, tf32 and the packed formats, and cvt.pack (PTX ISA, "cvt" and
// "cvt.pack").

#include "emulator/instructions/arithmetic/conversion.hpp"
#include "emulator/instructions/execute.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/program/half.hpp"

#include <algorithm>
#include <cmath>

namespace kaio::emulator {
namespace {

// Applies .sat and .relu before rounding.
f64 limited(f64 value, const instruction& i) {
  if (i.flags.sat) return value > 0 ? (value < 1 ? value : 1.0) : 0.0;
  if (i.flags.relu && value <= 0) return 0;
  return value;
}

// A source as a double that needs only one more rounding. .ftz flushes subnormal f32 values only.
template <class From>
f64 source_value(From value, const instruction& i) {
  if constexpr (half_format<From>)
    return value_of(value);
  else if constexpr (std::is_integral_v<From>)
    return odd_value(value);
  else
    return static_cast<f64>(i.flags.ftz ? flushed(value) : value);
}

// ---- one value ----

template <class Half, class From>
void to_half(warp& w, const instruction& i, u32 mask) {
  convert_lanes<Half, From>(w, i, mask, [&](From source) {
    f64 value = source_value(source, i);
    if (i.round >= rounding::rni && i.round <= rounding::rpi) value = to_integral(value, i.round);
    return rounded<Half>(limited(value, i), i.round, i.flags.satfinite);
  });
}

template <class To, class Half>
void from_half(warp& w, const instruction& i, u32 mask) {
  convert_lanes<To, Half>(w, i, mask, [&](Half source) {
    const f32 value = single_of(source);
    if constexpr (std::is_integral_v<To>) {
      return integer_from<To>(value, i.round);
    } else {
      const f32 kept = i.flags.ftz ? flushed(value) : value;
      return canonical(static_cast<To>(i.flags.sat ? saturated(kept) : kept));
    }
  });
}

// The two commonest: f32 to the nearest half, and back, in registers of their own width.
template <class Half>
struct plain {
  static Half to(f32 value) { return nearest<Half>(static_cast<f64>(value)); }
  // A bf16 is the upper half of an f32; this holds for NaN too.
  static f32 from(Half value) {
    const f32 single = single_of(value);
    return std::is_same_v<Half, bf16> ? single : canonical(single);
  }
};

bool unmodified(const instruction& i) {
  return !i.flags.sat && !i.flags.ftz && !i.flags.relu && !i.flags.satfinite;
}

template <class Half>
handler to_half_from(const instruction& i) {
  switch (i.source_type) {
    case ptx::type::u8: return &to_half<Half, u8>;
    case ptx::type::u16: return &to_half<Half, u16>;
    case ptx::type::u32: return &to_half<Half, u32>;
    case ptx::type::u64: return &to_half<Half, u64>;
    case ptx::type::s8: return &to_half<Half, s8>;
    case ptx::type::s16: return &to_half<Half, s16>;
    case ptx::type::s32: return &to_half<Half, s32>;
    case ptx::type::s64: return &to_half<Half, s64>;
    case ptx::type::f16: return &to_half<Half, f16>;
    case ptx::type::bf16: return &to_half<Half, bf16>;
    case ptx::type::f32:
      if (i.round == rounding::rn && unmodified(i) && i.to_bytes == 2 && i.from_bytes == 4)
        return each_lane<&plain<Half>::to>;
      return &to_half<Half, f32>;
    case ptx::type::f64: return &to_half<Half, f64>;
    default: return nullptr;
  }
}

template <class Half>
handler from_half_to(const instruction& i) {
  switch (i.type) {
    case ptx::type::u8: return &from_half<u8, Half>;
    case ptx::type::u16: return &from_half<u16, Half>;
    case ptx::type::u32: return &from_half<u32, Half>;
    case ptx::type::u64: return &from_half<u64, Half>;
    case ptx::type::s8: return &from_half<s8, Half>;
    case ptx::type::s16: return &from_half<s16, Half>;
    case ptx::type::s32: return &from_half<s32, Half>;
    case ptx::type::s64: return &from_half<s64, Half>;
    case ptx::type::f32:
      if (unmodified(i) && i.to_bytes == 4 && i.from_bytes == 2) return each_lane<&plain<Half>::from>;
      return &from_half<f32, Half>;
    case ptx::type::f64: return &from_half<f64, Half>;
    default: return nullptr;
  }
}

// .rna adds half a unit and drops the rest, as in ptxas's code. For a NaN or infinity it only drops the rest.
u32 to_tf32_away(const instruction& i, f32 source) {
  u32 bits = std::bit_cast<u32>(source);
  if (magnitude(source) < infinity_bits<f32>) bits += 0x1000;
  bits &= 0xffffe000u;
  if (i.flags.satfinite && (bits & ~sign_bit<f32>) >= infinity_bits<f32>) bits -= 0x2000;
  return bits;
}

u32 to_tf32(const instruction& i, f32 source) {
  const f64 value = limited(static_cast<f64>(source), i);
  if (std::isnan(value)) return 0x7fffe000u;
  const u32 code = rounded_code<tf32>(value, i.round, i.flags.satfinite) << 13;
  return code | (std::signbit(value) ? sign_bit<f32> : 0u);
}

// ---- two values and a pair; the first source is the upper half ----

template <class Half>
u32 twin_of_halves(const instruction& i, f32 high, f32 low) {
  const auto one = [&](f32 value) -> u32 {
    return rounded<Half>(limited(static_cast<f64>(value), i), i.round, i.flags.satfinite).bits;
  };
  return one(high) << 16 | one(low);
}

// .rn.satfinite: to nearest; values beyond the greatest become the greatest, NaN becomes 0x7f.
template <class Eighth>
u32 eighth_of(f64 value) {
  if (std::isnan(value)) return 0x7f;
  const bool negative = std::signbit(value);
  const f64 magnitude = std::min(std::fabs(value), 65536.0);  // beyond the range of both formats
  const u64 code = code_of<Eighth>(magnitude, negative, rounding::rn);
  return static_cast<u32>(std::min<u64>(code, Eighth::greatest)) | (negative ? 0x80u : 0u);
}

template <class Eighth>
u16 twin_of_singles(const instruction& i, f32 high, f32 low) {
  return static_cast<u16>(eighth_of<Eighth>(limited(static_cast<f64>(high), i)) << 8 |
                          eighth_of<Eighth>(limited(static_cast<f64>(low), i)));
}

template <class Eighth>
u16 twin_of_twin(const instruction& i, twin<f16> source) {
  return static_cast<u16>(eighth_of<Eighth>(limited(value_of(source.high), i)) << 8 |
                          eighth_of<Eighth>(limited(value_of(source.low), i)));
}

f16 half_of(e4m3, u32 code) {
  constexpr int places = e4m3::precision - 1;
  const u32 magnitude = code & 0x7f, exponent = magnitude >> places, mantissa = magnitude & 7;
  if (magnitude == 0x7f) return {half_nan};
  const f64 value =
      exponent == 0
          ? std::ldexp(mantissa, e4m3::least_exponent - places)
          : std::ldexp(mantissa + 8, static_cast<int>(exponent) - 1 + e4m3::least_exponent - places);
  return nearest<f16>((code & 0x80) != 0 ? -value : value);
}
// e5m2 is the upper half of f16.
f16 half_of(e5m2, u32 code) {
  const f16 h{static_cast<u16>(code << 8)};
  return is_nan(h) ? f16{half_nan} : h;
}

template <class Eighth>
twin<f16> halves_of(const instruction& i, u16 source) {
  const auto one = [&](u32 code) {
    const f16 h = half_of(Eighth{}, code);
    return i.flags.relu && (h.bits & half_sign) != 0 ? f16{0} : h;
  };
  return {one(source & 0xffu), one(source >> 8)};
}

// The registers of f16x2 and of its sources may be wider.
template <class Half>
void twin_to_register(warp& w, const instruction& i, u32 mask) {
  const std::byte* const high = w.file + i.from[0];
  const std::byte* const low = w.file + i.from[1];
  const auto low_bytes = static_cast<unsigned>(i.immediate);
  for_lanes(mask, [&](unsigned lane) {
    f32 a, b;
    std::memcpy(&a, high + lane * i.from_bytes, sizeof a);
    std::memcpy(&b, low + lane * low_bytes, sizeof b);
    const u64 pair = twin_of_halves<Half>(i, a, b);
    std::memcpy(w.file + i.to[0] + lane * i.to_bytes, &pair, i.to_bytes);
  });
}

template <class Eighth>
handler eighths(const instruction& i) {
  if (i.type == ptx::type::f16x2) return each_lane<&halves_of<Eighth>>;
  return i.source_type == ptx::type::f32 ? each_lane<&twin_of_singles<Eighth>>
                                         : each_lane<&twin_of_twin<Eighth>>;
}

handler twin_handler(const instruction& i) {
  switch (static_cast<twin_form>(i.form)) {
    case twin_form::e4m3x2: return eighths<e4m3>(i);
    case twin_form::e5m2x2: return eighths<e5m2>(i);
    default: return i.type == ptx::type::f16x2 ? &twin_to_register<f16> : &twin_to_register<bf16>;
  }
}

// ---- cvt.pack: a and b saturated to `count` bits; below them the low bits of c ----

u32 packed(const instruction& i, s32 a, s32 b, u32 c) {
  const unsigned bits = i.count;
  const s64 least = i.type == ptx::type::s32 ? -(s64{1} << (bits - 1)) : 0;
  const s64 most = i.type == ptx::type::s32 ? (s64{1} << (bits - 1)) - 1 : (s64{1} << bits) - 1;
  const auto one = [&](s32 value) {
    return static_cast<u64>(std::clamp<s64>(value, least, most)) & ((u64{1} << bits) - 1);
  };
  return static_cast<u32>(u64{c} << (2 * bits) | one(a) << bits | one(b));
}

}  // namespace

handler half_convert_handler(const instruction& i) {
  switch (i.op) {
    case operation::cvt_twin: return twin_handler(i);
    case operation::cvt_tf32:
      return i.round == rounding::rna ? each_lane<&to_tf32_away> : each_lane<&to_tf32>;
    case operation::cvt_pack: return each_lane<&packed>;
    case operation::cvt: break;
    default: return nullptr;
  }
  if (i.type == ptx::type::f16) return to_half_from<f16>(i);
  if (i.type == ptx::type::bf16) return to_half_from<bf16>(i);
  if (i.source_type == ptx::type::f16) return from_half_to<f16>(i);
  if (i.source_type == ptx::type::bf16) return from_half_to<bf16>(i);
  return nullptr;
}

}  // namespace kaio::emulator
