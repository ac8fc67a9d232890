// Comparison and selection (PTX ISA, "Comparison and Selection Instructions").

#include "emulator/instructions/execute.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/program/floating.hpp"

#include <type_traits>

namespace kaio::emulator {
namespace {

// With a NaN operand, ordered comparisons of floating point are false; `.equ` and the like are true.
template <comparison Compare, bool Ftz, class T>
bool holds(T x, T y) {
  T a = x, b = y;
  bool unordered = false;
  if constexpr (std::is_floating_point_v<T>) {
    a = operand<Ftz>(x), b = operand<Ftz>(y);
    unordered = a != a || b != b;
  }
  using enum comparison;
  if constexpr (Compare == eq)
    return a == b;
  else if constexpr (Compare == ne)
    return std::is_floating_point_v<T> ? a < b || a > b : a != b;
  else if constexpr (Compare == lt || Compare == lo)
    return a < b;
  else if constexpr (Compare == le || Compare == ls)
    return a <= b;
  else if constexpr (Compare == gt || Compare == hi)
    return a > b;
  else if constexpr (Compare == ge || Compare == hs)
    return a >= b;
  else if constexpr (Compare == equ)
    return unordered || a == b;
  else if constexpr (Compare == neu)
    return unordered || a != b;
  else if constexpr (Compare == ltu)
    return unordered || a < b;
  else if constexpr (Compare == leu)
    return unordered || a <= b;
  else if constexpr (Compare == gtu)
    return unordered || a > b;
  else if constexpr (Compare == geu)
    return unordered || a >= b;
  else if constexpr (Compare == num)
    return !unordered;
  else
    return unordered;
}

// Stores the outcome of a comparison: in predicates, or in values.
template <comparison Compare, bool Ftz, class T>
void set_predicate(warp& w, const instruction& i, u32 mask) {
  const u32 outcome = lanes_where<&holds<Compare, Ftz, T>>(w, i);
  const u32 p = combined(w, i, outcome);
  const u32 q = i.flags.has_second ? combined(w, i, ~outcome) : 0;
  put_mask(w, i.to[0], p, mask);
  if (i.flags.has_second) put_mask(w, i.to[1], q, mask);
}

template <comparison Compare, bool Ftz, class T>
void set_value(warp& w, const instruction& i, u32 mask) {
  const u32 outcome = combined(w, i, lanes_where<&holds<Compare, Ftz, T>>(w, i));
  std::byte* const to = w.file + i.to[0];
  const auto store = [&](auto yes) {
    for_lanes(mask,
              [&](unsigned lane) { put(to, lane, (outcome >> lane & 1) != 0 ? yes : decltype(yes){0}); });
  };
  switch (i.type) {
    case ptx::type::f32: store(u32{0x3f800000}); break;
    case ptx::type::f16: store(u16{0x3c00}); break;
    case ptx::type::bf16: store(u16{0x3f80}); break;
    default: store(~u32{0}); break;
  }
}

template <comparison Compare, bool Ftz, class T>
handler consumer(const instruction& i) {
  return i.op == operation::setp ? &set_predicate<Compare, Ftz, T> : &set_value<Compare, Ftz, T>;
}

template <bool Ftz, class T>
handler comparing(const instruction& i) {
  using enum comparison;
  switch (i.compare) {
    case eq: return consumer<eq, Ftz, T>(i);
    case ne: return consumer<ne, Ftz, T>(i);
    case lt:
    case lo: return consumer<lt, Ftz, T>(i);
    case le:
    case ls: return consumer<le, Ftz, T>(i);
    case gt:
    case hi: return consumer<gt, Ftz, T>(i);
    case ge:
    case hs: return consumer<ge, Ftz, T>(i);
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (i.compare) {
      case equ: return consumer<equ, Ftz, T>(i);
      case neu: return consumer<neu, Ftz, T>(i);
      case ltu: return consumer<ltu, Ftz, T>(i);
      case leu: return consumer<leu, Ftz, T>(i);
      case gtu: return consumer<gtu, Ftz, T>(i);
      case geu: return consumer<geu, Ftz, T>(i);
      case num: return consumer<num, Ftz, T>(i);
      case nan: return consumer<nan, Ftz, T>(i);
      default: break;
    }
  }
  return nullptr;
}

handler comparing_type(const instruction& i, ptx::type type) {
  switch (type) {
    case ptx::type::b16:
    case ptx::type::u16: return comparing<false, u16>(i);
    case ptx::type::b32:
    case ptx::type::u32: return comparing<false, u32>(i);
    case ptx::type::b64:
    case ptx::type::u64: return comparing<false, u64>(i);
    case ptx::type::s16: return comparing<false, s16>(i);
    case ptx::type::s32: return comparing<false, s32>(i);
    case ptx::type::s64: return comparing<false, s64>(i);
    case ptx::type::f32: return i.flags.ftz ? comparing<true, f32>(i) : comparing<false, f32>(i);
    case ptx::type::f64: return comparing<false, f64>(i);
    default: return nullptr;
  }
}

template <class T>
void select(warp& w, const instruction& i, u32 mask) {
  const u32 p = condition(w, i, 2);
  const std::byte* const yes = w.file + i.from[0];
  const std::byte* const no = w.file + i.from[1];
  T d[warp_lanes];
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const T pick = static_cast<T>(T{0} - static_cast<T>(p >> lane & 1));
    d[lane] = static_cast<T>((get<T>(yes, lane) & pick) | (get<T>(no, lane) & static_cast<T>(~pick)));
  }
  commit(w.file + i.to[0], d, mask);
}

// c >= 0 selects a; NaN selects b; -0 counts as 0.
template <class T>
struct by_sign {
  static T apply(T a, T b, s32 c) { return c >= 0 ? a : b; }
};
template <class T>
struct by_float {
  static T apply(T a, T b, f32 c) { return c >= 0.0f ? a : b; }
};
template <class T>
struct by_flushed {
  static T apply(T a, T b, f32 c) { return flushed(c) >= 0.0f ? a : b; }
};

template <template <class> class Op>
handler of_width(ptx::type type) {
  switch (ptx::size_of(type)) {
    case 2: return each_lane<&Op<u16>::apply>;
    case 4: return each_lane<&Op<u32>::apply>;
    default: return each_lane<&Op<u64>::apply>;
  }
}

}  // namespace

handler compare_handler(const instruction& i) {
  switch (i.op) {
    case operation::setp: return comparing_type(i, i.type);
    case operation::set: return comparing_type(i, i.source_type);
    case operation::selp:
      switch (ptx::size_of(i.type)) {
        case 2: return &select<u16>;
        case 4: return &select<u32>;
        default: return &select<u64>;
      }
    case operation::slct:
      if (i.source_type == ptx::type::s32) return of_width<by_sign>(i.type);
      return i.flags.ftz ? of_width<by_flushed>(i.type) : of_width<by_float>(i.type);
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
