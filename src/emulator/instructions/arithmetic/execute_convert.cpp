// Moves and conversions (PTX ISA, "Data Movement and Conversion Instructions").

#include "emulator/instructions/arithmetic/conversion.hpp"
#include "emulator/instructions/execute.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/program/floating.hpp"

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

namespace kaio::emulator {
namespace {

// ---- mov ----

template <unsigned Bytes>
void move(warp& w, const instruction& i, u32 mask) {
  std::byte* const to = w.file + i.to[0];
  const std::byte* const from = w.file + i.from[0];
  if (mask == all_lanes) {
    std::memmove(to, from, Bytes * warp_lanes);
  } else {
    for_lanes(mask, [&](unsigned lane) { std::memmove(to + lane * Bytes, from + lane * Bytes, Bytes); });
  }
}

void move_predicate(warp& w, const instruction& i, u32 mask) {
  put_mask(w, i.to[0], get_mask(w, i.from[0]), mask);
}

// Packs several registers into one value, the first in the low bits.
void pack(warp& w, const instruction& i, u32 mask) {
  const unsigned part = ptx::size_of(i.source_type);
  const unsigned whole = part * i.count;
  for_lanes(mask, [&](unsigned lane) {
    std::byte value[16];
    for (unsigned k = 0; k < i.count; ++k)
      std::memcpy(value + k * part, w.file + i.from[k] + lane * part, part);
    std::memcpy(w.file + i.to[0] + lane * whole, value, whole);
  });
}

void unpack(warp& w, const instruction& i, u32 mask) {
  const unsigned part = ptx::size_of(i.source_type);
  const unsigned whole = part * i.count;
  for_lanes(mask, [&](unsigned lane) {
    std::byte value[16];
    std::memcpy(value, w.file + i.from[0] + lane * whole, whole);
    for (unsigned k = 0; k < i.count; ++k)
      std::memcpy(w.file + i.to[k] + lane * part, value + k * part, part);
  });
}

void read_special(warp& w, const instruction& i, u32 mask) {
  u64 value = 0;
  const auto now = [] {
    return static_cast<u64>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                std::chrono::system_clock::now().time_since_epoch())
                                .count());
  };
  switch (static_cast<special_form>(i.form)) {
    case special_form::clock:
    case special_form::clock64: value = w.clock(); break;
    case special_form::clock_hi: value = w.clock() >> 32; break;
    case special_form::globaltimer_hi: value = now() >> 32; break;
    default: value = now(); break;
  }
  for_lanes(mask, [&](unsigned lane) {
    if (i.to_bytes == 8)
      put(w.file + i.to[0], lane, value);
    else
      put(w.file + i.to[0], lane, static_cast<u32>(value));
  });
}

// ---- cvt ----

template <class To, class From>
To saturated_integer(From value) {
  if constexpr (std::is_signed_v<From>) {
    if (value < 0) {
      if constexpr (!std::is_signed_v<To>)
        return 0;
      else if (value < std::numeric_limits<To>::min())
        return std::numeric_limits<To>::min();
      else
        return static_cast<To>(value);
    }
  }
  using wide = std::make_unsigned_t<From>;
  if (static_cast<u64>(static_cast<wide>(value)) > static_cast<u64>(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

// An integer in floating point, rounded with a mode. Compilers convert with several operations that are only
// right to nearest, so this builds the bits itself.
template <class To, class From>
To float_from(From value, rounding mode) {
  if (mode == rounding::rn || mode == rounding::none || value == 0) return static_cast<To>(value);
  constexpr int mantissa = std::numeric_limits<To>::digits;
  const bool negative = value < From{0};
  const u64 wide = static_cast<u64>(value);
  const u64 size = negative ? 0 - wide : wide;
  const int surplus = 64 - std::countl_zero(size) - mantissa;  // bits that do not fit
  if (surplus <= 0) return static_cast<To>(value);
  u64 kept = size >> surplus;
  const bool away = mode == (negative ? rounding::rm : rounding::rp);
  if (away && kept << surplus != size) ++kept;
  const To result = std::ldexp(static_cast<To>(static_cast<s64>(kept)), surplus);
  return negative ? -result : result;
}

template <class To, class From>
To converted(From value, const instruction& i) {
  constexpr bool to_float = std::is_floating_point_v<To>, from_float = std::is_floating_point_v<From>;
  if constexpr (from_float)
    if (i.flags.ftz && sizeof(From) == 4) value = flushed(value);
  if constexpr (to_float) {
    To result;
    if constexpr (std::is_same_v<To, From>)
      result = to_integral(value, i.round);
    else if constexpr (!from_float)
      result = float_from<To>(value, i.round);
    else
      result = static_cast<To>(value);                                 // in the host's rounding mode
    constexpr bool narrows = sizeof(To) < sizeof(From) && from_float;  // a NaN keeps the upper payload
    result = i.flags.sat ? saturated(result) : narrows ? result : canonical(result);
    return i.flags.ftz && sizeof(To) == 4 ? flushed(result) : result;
  } else if constexpr (from_float) {
    return integer_from<To>(value, i.round);
  } else {
    return i.flags.sat ? saturated_integer<To>(value) : static_cast<To>(value);
  }
}

template <class To, class From>
void convert(warp& w, const instruction& i, u32 mask) {
  std::optional<rounding_scope> scope;
  if constexpr (sizeof(To) < sizeof(From) && std::is_floating_point_v<To> && std::is_floating_point_v<From>)
    scope.emplace(i.round);
  convert_lanes<To, From>(w, i, mask, [&](From value) { return converted<To>(value, i); });
}

// The common case: registers as wide as the types, no modifier that changes the value, rounding to nearest.
template <class To, class From>
To plain(From value) {
  if constexpr (std::is_floating_point_v<To>)
    return canonical(static_cast<To>(value));
  else
    return static_cast<To>(value);
}

template <class To, class From>
handler choose(const instruction& i) {
  if constexpr (!std::is_floating_point_v<From>) {
    const bool own_width = i.to_bytes == sizeof(To) && i.from_bytes == sizeof(From);
    if (own_width && !i.flags.sat && (i.round == rounding::none || i.round == rounding::rn))
      return each_lane<&plain<To, From>>;
  }
  return &convert<To, From>;
}

template <class From>
handler to_type(const instruction& i) {
  switch (i.type) {
    case ptx::type::u8: return choose<u8, From>(i);
    case ptx::type::u16: return choose<u16, From>(i);
    case ptx::type::u32: return choose<u32, From>(i);
    case ptx::type::u64: return choose<u64, From>(i);
    case ptx::type::s8: return choose<s8, From>(i);
    case ptx::type::s16: return choose<s16, From>(i);
    case ptx::type::s32: return choose<s32, From>(i);
    case ptx::type::s64: return choose<s64, From>(i);
    case ptx::type::f32: return choose<f32, From>(i);
    case ptx::type::f64: return choose<f64, From>(i);
    default: return nullptr;
  }
}

handler conversion(const instruction& i) {
  switch (i.source_type) {
    case ptx::type::u8: return to_type<u8>(i);
    case ptx::type::u16: return to_type<u16>(i);
    case ptx::type::u32: return to_type<u32>(i);
    case ptx::type::u64: return to_type<u64>(i);
    case ptx::type::s8: return to_type<s8>(i);
    case ptx::type::s16: return to_type<s16>(i);
    case ptx::type::s32: return to_type<s32>(i);
    case ptx::type::s64: return to_type<s64>(i);
    case ptx::type::f32: return to_type<f32>(i);
    case ptx::type::f64: return to_type<f64>(i);
    default: return nullptr;
  }
}

}  // namespace

handler convert_handler(const instruction& i) {
  switch (i.op) {
    case operation::mov:
      if (i.type == ptx::type::pred) return &move_predicate;
      switch (ptx::size_of(i.type)) {
        case 2: return &move<2>;
        case 4: return &move<4>;
        case 8: return &move<8>;
        default: return &move<16>;
      }
    case operation::pack: return &pack;
    case operation::unpack: return &unpack;
    case operation::read_special: return &read_special;
    case operation::cvt: return conversion(i);
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
