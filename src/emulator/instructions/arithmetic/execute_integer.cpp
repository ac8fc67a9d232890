// Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer
// Arithmetic").

#include "emulator/instructions/execute.hpp"
#include "emulator/machine/lanes.hpp"

#include <limits>
#include <type_traits>

namespace kaio::emulator {
namespace {

template <class T>
using bits_of = std::make_unsigned_t<T>;

__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

template <class T>
using twice =
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, s32, u32>,
                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, s64, u64>,
                                          std::conditional_t<std::is_signed_v<T>, s128, u128>>>;

// Arithmetic that wraps: in an unsigned type of at least 32 bits, so nothing is promoted to int.
template <class T>
using wide_bits = std::conditional_t<sizeof(T) < 4, u32, bits_of<T>>;

template <class T>
T wrap(wide_bits<T> value) {
  return static_cast<T>(static_cast<bits_of<T>>(value));
}

template <class T>
wide_bits<T> raw(T value) {
  return static_cast<bits_of<T>>(value);
}

template <class T>
struct add {
  static T apply(T a, T b) { return wrap<T>(raw(a) + raw(b)); }
};
template <class T>
struct sub {
  static T apply(T a, T b) { return wrap<T>(raw(a) - raw(b)); }
};
template <class T>
struct mul_lo {
  static T apply(T a, T b) { return wrap<T>(raw(a) * raw(b)); }
};
template <class T>
struct mad_lo {
  static T apply(T a, T b, T c) { return wrap<T>(raw(a) * raw(b) + raw(c)); }
};

template <class T>
T high(T a, T b) {
  return static_cast<T>((static_cast<twice<T>>(a) * static_cast<twice<T>>(b)) >> (sizeof(T) * 8));
}
template <class T>
struct mul_hi {
  static T apply(T a, T b) { return high(a, b); }
};
template <class T>
struct mad_hi {
  static T apply(T a, T b, T c) { return wrap<T>(raw(high(a, b)) + raw(c)); }
};

template <class T>
struct mul_wide {
  static twice<T> apply(T a, T b) {
    return static_cast<twice<T>>(static_cast<twice<T>>(a) * static_cast<twice<T>>(b));
  }
};
template <class T>
struct mad_wide {
  static twice<T> apply(T a, T b, twice<T> c) { return add<twice<T>>::apply(mul_wide<T>::apply(a, b), c); }
};

s32 saturate(s64 value) {
  constexpr s64 least = std::numeric_limits<s32>::min(), most = std::numeric_limits<s32>::max();
  return static_cast<s32>(value < least ? least : value > most ? most : value);
}
s32 add_sat(s32 a, s32 b) { return saturate(s64{a} + b); }
s32 sub_sat(s32 a, s32 b) { return saturate(s64{a} - b); }
s32 mad_hi_sat(s32 a, s32 b, s32 c) { return saturate(s64{high(a, b)} + c); }

// The 48-bit product of both operands' low 24 bits.
template <class T>
twice<T> product24(T a, T b) {
  const auto low = [](T v) { return static_cast<twice<T>>(static_cast<T>(static_cast<u32>(v) << 8) >> 8); };
  return low(a) * low(b);
}
template <class T>
struct mul24_lo {
  static T apply(T a, T b) { return static_cast<T>(product24(a, b)); }
};
template <class T>
struct mul24_hi {
  static T apply(T a, T b) { return static_cast<T>(product24(a, b) >> 16); }
};
template <class T>
struct mad24_lo {
  static T apply(T a, T b, T c) { return add<T>::apply(mul24_lo<T>::apply(a, b), c); }
};
template <class T>
struct mad24_hi {
  static T apply(T a, T b, T c) { return add<T>::apply(mul24_hi<T>::apply(a, b), c); }
};
s32 mad24_hi_sat(s32 a, s32 b, s32 c) { return saturate(s64{mul24_hi<s32>::apply(a, b)} + c); }

// Division by zero gives all ones, as in ptxas's code; the manual leaves it open.
template <class T>
struct div {
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~bits_of<T>{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return wrap<T>(wide_bits<T>{0} - raw(a));
    return static_cast<T>(a / b);
  }
};
template <class T>
struct rem {
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~bits_of<T>{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};

template <class T>
struct neg {
  static T apply(T a) { return wrap<T>(wide_bits<T>{0} - raw(a)); }
};
template <class T>
struct absolute {
  static T apply(T a) { return a < 0 ? neg<T>::apply(a) : a; }
};
template <class T>
struct least {
  static T apply(T a, T b) { return a < b ? a : b; }
};
template <class T>
struct greatest {
  static T apply(T a, T b) { return a > b ? a : b; }
};
template <class T>
struct sad {
  static T apply(T a, T b, T c) { return wrap<T>(raw(c) + (a < b ? raw(b) - raw(a) : raw(a) - raw(b))); }
};

// .relu: below zero to zero.
template <bool Max, class T>
T clamped_extreme(T a, T b) {
  const T d = Max ? greatest<T>::apply(a, b) : least<T>::apply(a, b);
  return d < 0 ? T{0} : d;
}

// ---- pairs of 16 bits ----

template <auto Function, class T>
u32 both_halves(u32 a, u32 b) {
  const auto half = [&](unsigned by) -> u32 {
    return static_cast<u16>(Function(static_cast<T>(a >> by), static_cast<T>(b >> by)));
  };
  return half(16) << 16 | half(0);
}

template <class T>
handler of_pairs(const instruction& i) {
  switch (i.op) {
    case operation::add: return each_lane<&both_halves<&add<T>::apply, T>>;
    case operation::min:
      return i.flags.relu ? each_lane<&both_halves<&clamped_extreme<false, T>, T>>
                          : each_lane<&both_halves<&least<T>::apply, T>>;
    case operation::max:
      return i.flags.relu ? each_lane<&both_halves<&clamped_extreme<true, T>, T>>
                          : each_lane<&both_halves<&greatest<T>::apply, T>>;
    default: return nullptr;
  }
}

// ---- with the condition code ----
//
// As in the adders of GPUs from sm_70 on, a - b is a + ~b + 1, so a subtraction's carry is the absence of a
// borrow. `sub.cc` of 5 and 3, then `addc` of 0 and 0, gives 1.

u32 carry_row(const instruction& i) { return static_cast<u32>(i.immediate); }

enum class chain : u8 { add, sub, mad_lo, mad_hi };

template <class T, chain Op>
void chained(warp& w, const instruction& i, u32 mask) {
  const u32 in = i.flags.carry_in ? get_mask(w, carry_row(i)) : Op == chain::sub ? all_lanes : 0;
  u32 out = 0;
  for_lanes(mask, [&](unsigned lane) {
    const T x = get<T>(w.file + i.from[0], lane), y = get<T>(w.file + i.from[1], lane);
    const bits_of<T> c = in >> lane & 1;
    bits_of<T> a = static_cast<bits_of<T>>(x), b = static_cast<bits_of<T>>(y);
    if constexpr (Op == chain::mad_lo || Op == chain::mad_hi) {
      a = Op == chain::mad_lo ? a * b : static_cast<bits_of<T>>(high(x, y));
      b = get<bits_of<T>>(w.file + i.from[2], lane);
    }
    if constexpr (Op == chain::sub) b = static_cast<bits_of<T>>(~b);
    const bits_of<T> partial = a + b, result = partial + c;
    if (partial < a || result < partial) out |= 1u << lane;
    put(w.file + i.to[0], lane, result);
  });
  if (i.flags.carry_out) put_mask(w, carry_row(i), out, mask);
}

template <chain Op>
handler chained_of(ptx::type type) {
  switch (type) {
    case ptx::type::u32: return &chained<u32, Op>;
    case ptx::type::s32: return &chained<s32, Op>;
    case ptx::type::u64: return &chained<u64, Op>;
    case ptx::type::s64: return &chained<s64, Op>;
    default: return nullptr;
  }
}

// ---- choice by type ----

template <auto Function, bool Slow>
constexpr handler mapped = Slow ? each_active_lane<Function> : each_lane<Function>;

template <template <class> class Op, bool Slow = false>
handler of_integer(ptx::type type) {
  switch (type) {
    case ptx::type::u16: return mapped<&Op<u16>::apply, Slow>;
    case ptx::type::u32: return mapped<&Op<u32>::apply, Slow>;
    case ptx::type::u64: return mapped<&Op<u64>::apply, Slow>;
    case ptx::type::s16: return mapped<&Op<s16>::apply, Slow>;
    case ptx::type::s32: return mapped<&Op<s32>::apply, Slow>;
    case ptx::type::s64: return mapped<&Op<s64>::apply, Slow>;
    default: return nullptr;
  }
}

template <template <class> class Op>
handler of_signed(ptx::type type) {
  switch (type) {
    case ptx::type::s16: return each_lane<&Op<s16>::apply>;
    case ptx::type::s32: return each_lane<&Op<s32>::apply>;
    case ptx::type::s64: return each_lane<&Op<s64>::apply>;
    default: return nullptr;
  }
}

template <template <class> class Op>
handler of_narrow(ptx::type type) {
  switch (type) {
    case ptx::type::u16: return each_lane<&Op<u16>::apply>;
    case ptx::type::u32: return each_lane<&Op<u32>::apply>;
    case ptx::type::s16: return each_lane<&Op<s16>::apply>;
    case ptx::type::s32: return each_lane<&Op<s32>::apply>;
    default: return nullptr;
  }
}

template <template <class> class Op>
handler of_word(ptx::type type) {
  return type == ptx::type::s32   ? each_lane<&Op<s32>::apply>
         : type == ptx::type::u32 ? each_lane<&Op<u32>::apply>
                                  : nullptr;
}

}  // namespace

handler integer_handler(const instruction& i) {
  if (!ptx::is_integer(i.type)) return nullptr;
  if (i.count == 2) return i.type == ptx::type::s16 ? of_pairs<s16>(i) : of_pairs<u16>(i);
  if (i.flags.relu)
    return i.op == operation::min   ? each_lane<&clamped_extreme<false, s32>>
           : i.op == operation::max ? each_lane<&clamped_extreme<true, s32>>
                                    : nullptr;
  if (i.flags.carry_in || i.flags.carry_out) {
    switch (i.op) {
      case operation::add: return chained_of<chain::add>(i.type);
      case operation::sub: return chained_of<chain::sub>(i.type);
      case operation::mad_lo: return chained_of<chain::mad_lo>(i.type);
      case operation::mad_hi: return chained_of<chain::mad_hi>(i.type);
      default: return nullptr;
    }
  }
  if (i.flags.sat) {
    switch (i.op) {
      case operation::add: return each_lane<&add_sat>;
      case operation::sub: return each_lane<&sub_sat>;
      case operation::mad_hi: return each_lane<&mad_hi_sat>;
      case operation::mad24_hi: return each_lane<&mad24_hi_sat>;
      default: return nullptr;
    }
  }
  switch (i.op) {
    case operation::add: return of_integer<add>(i.type);
    case operation::sub: return of_integer<sub>(i.type);
    case operation::mul_lo: return of_integer<mul_lo>(i.type);
    case operation::mul_hi: return of_integer<mul_hi>(i.type);
    case operation::mul_wide: return of_narrow<mul_wide>(i.type);
    case operation::mad_lo: return of_integer<mad_lo>(i.type);
    case operation::mad_hi: return of_integer<mad_hi>(i.type);
    case operation::mad_wide: return of_narrow<mad_wide>(i.type);
    case operation::mul24_lo: return of_word<mul24_lo>(i.type);
    case operation::mul24_hi: return of_word<mul24_hi>(i.type);
    case operation::mad24_lo: return of_word<mad24_lo>(i.type);
    case operation::mad24_hi: return of_word<mad24_hi>(i.type);
    case operation::div: return of_integer<div, true>(i.type);
    case operation::rem: return of_integer<rem, true>(i.type);
    case operation::abs: return of_signed<absolute>(i.type);
    case operation::neg: return of_signed<neg>(i.type);
    case operation::min: return of_integer<least>(i.type);
    case operation::max: return of_integer<greatest>(i.type);
    case operation::sad: return of_integer<sad>(i.type);
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
