// Logic, shifts, counts, fields, permutations and packed dot products (PTX ISA, "Logic and Shift
// Instructions" and the bit instructions of "Integer Arithmetic Instructions").

#include "emulator/instructions/execute.hpp"
#include "emulator/machine/lanes.hpp"

#include <bit>
#include <type_traits>

namespace kaio::emulator {
namespace {

template <class T>
struct bit_and {
  static T apply(T a, T b) { return static_cast<T>(a & b); }
};
template <class T>
struct bit_or {
  static T apply(T a, T b) { return static_cast<T>(a | b); }
};
template <class T>
struct bit_xor {
  static T apply(T a, T b) { return static_cast<T>(a ^ b); }
};
template <class T>
struct bit_not {
  static T apply(T a) { return static_cast<T>(~a); }
};
template <class T>
struct logical_not {
  static T apply(T a) { return a == 0 ? T{1} : T{0}; }
};

// Shifts by the width or more give zero, or the sign.
template <class T>
struct shift_left {
  static T apply(T a, u32 by) {
    const u64 wide = static_cast<u64>(a) << (by & 63);
    return by < sizeof(T) * 8 ? static_cast<T>(wide) : T{0};
  }
};
template <class T>
struct shift_right {
  static T apply(T a, u32 by) {
    constexpr u32 width = sizeof(T) * 8;
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(a >> (by < width ? by : width - 1));
    else
      return by < width ? static_cast<T>(a >> by) : T{0};
  }
};

u32 funnel_left(u64 pair, u32 by) { return static_cast<u32>((pair << by) >> 32); }
u32 funnel_right(u64 pair, u32 by) { return static_cast<u32>(pair >> by); }
u64 pair_of(u32 low, u32 high) { return u64{high} << 32 | low; }
u32 shf_l_clamp(u32 a, u32 b, u32 c) { return funnel_left(pair_of(a, b), c < 32 ? c : 32); }
u32 shf_l_wrap(u32 a, u32 b, u32 c) { return funnel_left(pair_of(a, b), c & 31); }
u32 shf_r_clamp(u32 a, u32 b, u32 c) { return funnel_right(pair_of(a, b), c < 32 ? c : 32); }
u32 shf_r_wrap(u32 a, u32 b, u32 c) { return funnel_right(pair_of(a, b), c & 31); }

template <class T>
struct popc {
  static u32 apply(T a) { return static_cast<u32>(std::popcount(a)); }
};
template <class T>
struct clz {
  static u32 apply(T a) { return static_cast<u32>(std::countl_zero(a)); }
};

// The highest bit that differs from the sign; all ones if there is none.
template <class T, bool ShiftAmount>
struct bfind {
  static u32 apply(T value) {
    const auto a = static_cast<std::make_unsigned_t<T>>(std::is_signed_v<T> && value < 0 ? ~value : value);
    if (a == 0) return 0xffffffffu;
    const auto zeros = static_cast<u32>(std::countl_zero(a));
    return ShiftAmount ? zeros : static_cast<u32>(sizeof(T) * 8 - 1) - zeros;
  }
};

template <class T>
struct brev {
  static T apply(T a) {
    u64 v = a;
    v = (v >> 1 & 0x5555555555555555ull) | (v & 0x5555555555555555ull) << 1;
    v = (v >> 2 & 0x3333333333333333ull) | (v & 0x3333333333333333ull) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0full) | (v & 0x0f0f0f0f0f0f0f0full) << 4;
    v = (v >> 8 & 0x00ff00ff00ff00ffull) | (v & 0x00ff00ff00ff00ffull) << 8;
    v = (v >> 16 & 0x0000ffff0000ffffull) | (v & 0x0000ffff0000ffffull) << 16;
    v = v >> 32 | v << 32;
    return static_cast<T>(v >> (64 - sizeof(T) * 8));
  }
};

// The positions and lengths of bfe and bfi are bytes (PTX ISA). GPUs from sm_70 on ignore the further bits for
// 32-bit values, but shift 64-bit values by the whole number: ptxas 13.0 makes such code of bfe.u64.
template <class T>
constexpr u32 bit_count(u32 operand) {
  return sizeof(T) == 8 ? operand : operand & 0xff;
}

template <class T>
constexpr T low_ones(u32 count) {
  return count >= sizeof(T) * 8 ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
}

// Bits pos to pos + len - 1, extended by the field's highest bit. If the field ends beyond the value, the
// value's sign bit extends it.
template <class T>
struct bfe {
  static T apply(T a, u32 position, u32 length) {
    using word = std::make_unsigned_t<T>;
    constexpr u32 width = sizeof(T) * 8;
    const u32 pos = bit_count<T>(position), len = bit_count<T>(length);
    const word value = static_cast<word>(a);
    bool sign = false;
    if constexpr (std::is_signed_v<T>) {
      const u64 highest = u64{pos} + len - 1;
      if (len != 0) sign = (value >> (highest < width ? highest : width - 1) & 1) != 0;
    }
    const word shifted = pos < width ? static_cast<word>(value >> pos) : word{0};
    const u32 have = pos < width ? width - pos : 0;
    const word mask = low_ones<word>(len < have ? len : have);
    return static_cast<T>(static_cast<word>((shifted & mask) | (sign ? static_cast<word>(~mask) : word{0})));
  }
};

template <class T>
struct bfi {
  static T apply(T from, T into, u32 position, u32 length) {
    constexpr u32 width = sizeof(T) * 8;
    const u32 pos = bit_count<T>(position), len = bit_count<T>(length);
    if (pos >= width) return into;
    const T mask = static_cast<T>(low_ones<T>(len) << pos);
    return static_cast<T>((into & ~mask) | ((from << pos) & mask));
  }
};

// Ones in the bits a to a + b - 1.
u32 bmsk_of(u32 first, u32 count) {
  const u64 ones = count >= 64 ? ~u64{0} : (u64{1} << count) - 1;
  return first >= 32 ? 0u : static_cast<u32>(ones << first);
}
u32 bmsk_clamp(u32 a, u32 b) { return bmsk_of(a < 32 ? a : 32, b < 32 ? b : 32); }
u32 bmsk_wrap(u32 a, u32 b) { return bmsk_of(a & 31, b & 31); }

// The low `count` bits, extended by zero or by the highest of them.
template <class T, bool Clamp>
struct szext {
  static T apply(T a, u32 b) {
    const u32 count = Clamp ? (b < 32 ? b : 32) : b & 31;
    if (count == 0) return 0;
    const u32 up = 32 - count;
    return static_cast<T>(static_cast<T>(static_cast<u32>(a) << up) >> up);
  }
};

// The index of the n-th set bit from bit `base` on: upwards, downwards, or `base` itself.
u32 find_nth_set(u32 bits, u32 base, s32 n) {
  constexpr u32 none = 0xffffffff;
  if (base > 31) return none;
  if (n == 0) return (bits >> base & 1) != 0 ? base : none;
  const s32 step = n > 0 ? 1 : -1;
  u32 left = n > 0 ? static_cast<u32>(n) : 0 - static_cast<u32>(n);
  for (s32 at = static_cast<s32>(base); at >= 0 && at < 32; at += step)
    if ((bits >> at & 1) != 0 && --left == 0) return static_cast<u32>(at);
  return none;
}

u32 permute(const instruction& i, u32 a, u32 b, u32 c) {
  const u64 bytes = pair_of(a, b);
  const auto byte = [&](u32 n) { return static_cast<u32>(bytes >> ((n & 7) * 8)) & 0xffu; };
  const u32 n = c & 3;
  u32 selected[4] = {};
  for (u32 k = 0; k < 4; ++k) {
    switch (static_cast<permute_form>(i.form)) {
      case permute_form::f4e: selected[k] = byte(n + k); break;
      case permute_form::b4e: selected[k] = byte(n + 8 - k); break;
      case permute_form::rc8: selected[k] = byte(n); break;
      case permute_form::ecl: selected[k] = byte(k > n ? k : n); break;
      case permute_form::ecr: selected[k] = byte(k < n ? k : n); break;
      case permute_form::rc16: selected[k] = byte((n & 1) * 2 + (k & 1)); break;
      case permute_form::index: {
        const u32 nibble = c >> (k * 4) & 0xf;
        const u32 value = byte(nibble);
        selected[k] = (nibble & 8) != 0 ? ((value & 0x80) != 0 ? 0xffu : 0u) : value;
        break;
      }
    }
  }
  return selected[0] | selected[1] << 8 | selected[2] << 16 | selected[3] << 24;
}

// Bit (a, b, c) of the table, for all 32 bits at a time.
u32 lookup(const instruction& i, u32 a, u32 b, u32 c) {
  const auto table = static_cast<u32>(i.immediate);
  u32 d = 0;
  for (u32 row = 0; row < 8; ++row) {
    const u32 chosen = (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    d |= (table >> row & 1) != 0 ? chosen : 0u;
  }
  return d;
}

void lookup_and_combine(warp& w, const instruction& i, u32 mask) {
  const u32 other = condition(w, i, 3);
  u32 nonzero = 0;
  for_lanes(mask, [&](unsigned lane) {
    const u32 d = lookup(i, get<u32>(w.file + i.from[0], lane), get<u32>(w.file + i.from[1], lane),
                         get<u32>(w.file + i.from[2], lane));
    put(w.file + i.to[0], lane, d);
    if (d != 0) nonzero |= 1u << lane;
  });
  put_mask(w, i.to[1], i.combine == combination::and_ ? nonzero & other : nonzero | other, mask);
}

template <bool SignedA, bool SignedB>
struct dot {
  template <class Element, bool Signed>
  static s64 element(u32 value) {
    return Signed ? s64{static_cast<std::make_signed_t<Element>>(value)} : s64{static_cast<Element>(value)};
  }
  static u32 four(u32 a, u32 b, u32 c) {
    s64 sum = c;
    for (u32 k = 0; k < 32; k += 8) sum += element<u8, SignedA>(a >> k) * element<u8, SignedB>(b >> k);
    return static_cast<u32>(sum);
  }
  template <u32 Half>
  static u32 two(u32 a, u32 b, u32 c) {
    s64 sum = c;
    for (u32 k = 0; k < 2; ++k)
      sum += element<u16, SignedA>(a >> (k * 16)) * element<u8, SignedB>(b >> (Half * 16 + k * 8));
    return static_cast<u32>(sum);
  }
};

// ---- predicates ----

void predicate_logic(warp& w, const instruction& i, u32 mask) {
  const u32 a = get_mask(w, i.from[0]) ^ ((i.immediate & 1) != 0 ? all_lanes : 0);
  const u32 b = get_mask(w, i.from[1]) ^ ((i.immediate & 2) != 0 ? all_lanes : 0);
  put_mask(w, i.to[0], i.op == operation::and_ ? a & b : i.op == operation::or_ ? a | b : a ^ b, mask);
}

void predicate_not(warp& w, const instruction& i, u32 mask) {
  // `not p, !q` is q.
  put_mask(w, i.to[0], i.flags.negated ? get_mask(w, i.from[0]) : ~get_mask(w, i.from[0]), mask);
}

// ---- choice ----

template <template <class> class Op>
handler of_bits(ptx::type type) {
  switch (ptx::size_of(type)) {
    case 2: return each_lane<&Op<u16>::apply>;
    case 4: return each_lane<&Op<u32>::apply>;
    case 8: return each_lane<&Op<u64>::apply>;
    default: return nullptr;
  }
}

template <template <class> class Op>
handler of_words(ptx::type type) {
  return ptx::size_of(type) == 4 ? each_lane<&Op<u32>::apply> : each_lane<&Op<u64>::apply>;
}

template <template <class> class Op>
handler of_signs(ptx::type type) {
  switch (type) {
    case ptx::type::s16: return each_lane<&Op<s16>::apply>;
    case ptx::type::s32: return each_lane<&Op<s32>::apply>;
    case ptx::type::s64: return each_lane<&Op<s64>::apply>;
    default: return of_bits<Op>(type);
  }
}

template <bool ShiftAmount>
handler bfind_handler(ptx::type type) {
  switch (type) {
    case ptx::type::u32: return each_lane<&bfind<u32, ShiftAmount>::apply>;
    case ptx::type::s32: return each_lane<&bfind<s32, ShiftAmount>::apply>;
    case ptx::type::u64: return each_lane<&bfind<u64, ShiftAmount>::apply>;
    default: return each_lane<&bfind<s64, ShiftAmount>::apply>;
  }
}

template <bool A, bool B>
handler dot_handler(operation op) {
  return op == operation::dp4a      ? each_lane<&dot<A, B>::four>
         : op == operation::dp2a_lo ? each_lane<&dot<A, B>::template two<0>>
                                    : each_lane<&dot<A, B>::template two<1>>;
}

handler szext_handler(const instruction& i) {
  if (i.type == ptx::type::u32)
    return i.flags.clamp ? each_lane<&szext<u32, true>::apply> : each_lane<&szext<u32, false>::apply>;
  return i.flags.clamp ? each_lane<&szext<s32, true>::apply> : each_lane<&szext<s32, false>::apply>;
}

}  // namespace

handler bit_handler(const instruction& i) {
  const bool predicate = i.type == ptx::type::pred;
  switch (i.op) {
    case operation::and_: return predicate ? &predicate_logic : of_bits<bit_and>(i.type);
    case operation::or_: return predicate ? &predicate_logic : of_bits<bit_or>(i.type);
    case operation::xor_: return predicate ? &predicate_logic : of_bits<bit_xor>(i.type);
    case operation::not_: return predicate ? &predicate_not : of_bits<bit_not>(i.type);
    case operation::cnot: return of_bits<logical_not>(i.type);
    case operation::shl: return of_bits<shift_left>(i.type);
    case operation::shr: return of_signs<shift_right>(i.type);
    case operation::shf_l: return i.flags.clamp ? each_lane<&shf_l_clamp> : each_lane<&shf_l_wrap>;
    case operation::shf_r: return i.flags.clamp ? each_lane<&shf_r_clamp> : each_lane<&shf_r_wrap>;
    case operation::popc: return of_words<popc>(i.type);
    case operation::clz: return of_words<clz>(i.type);
    case operation::brev: return of_words<brev>(i.type);
    case operation::bfind:
      return i.flags.shiftamt ? bfind_handler<true>(i.type) : bfind_handler<false>(i.type);
    case operation::bfe:
      return i.type == ptx::type::s32   ? each_lane<&bfe<s32>::apply>
             : i.type == ptx::type::s64 ? each_lane<&bfe<s64>::apply>
                                        : of_words<bfe>(i.type);
    case operation::bfi: return of_words<bfi>(i.type);
    case operation::bmsk: return i.flags.clamp ? each_lane<&bmsk_clamp> : each_lane<&bmsk_wrap>;
    case operation::szext: return szext_handler(i);
    case operation::fns: return each_lane<&find_nth_set>;
    case operation::prmt: return each_lane<&permute>;
    case operation::lop3: return i.flags.has_second ? &lookup_and_combine : each_lane<&lookup>;
    case operation::dp4a:
    case operation::dp2a_lo:
    case operation::dp2a_hi: {
      const bool a = i.type == ptx::type::s32, b = i.source_type == ptx::type::s32;
      if (a) return b ? dot_handler<true, true>(i.op) : dot_handler<true, false>(i.op);
      return b ? dot_handler<false, true>(i.op) : dot_handler<false, false>(i.op);
    }
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
