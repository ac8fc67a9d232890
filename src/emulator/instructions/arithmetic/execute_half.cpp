// Arithmetic of f16 and bf16, alone and in pairs (PTX ISA, "Half Precision Floating-Point Instructions"):
// computed in double precision, exactly or rounded to odd, and rounded once.

#include "emulator/instructions/execute.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/program/half.hpp"

#include <cmath>

namespace kaio::emulator {
namespace {

enum class clamp : u8 { none, sat, relu };

template <bool Ftz, class Half>
f64 operand(Half h) {
  return value_of(Ftz ? flushed(h) : h);
}

// .sat: to [0, 1], NaN to +0. .relu: negative values, and -0, to +0; NaN stays.
template <clamp Clamp>
f64 clamped(f64 value) {
  if constexpr (Clamp == clamp::sat) return value > 0 ? (value < 1 ? value : 1.0) : 0.0;
  if constexpr (Clamp == clamp::relu) return value <= 0 ? 0.0 : value;
  return value;
}

template <class Half, bool Ftz, clamp Clamp>
Half result(f64 value) {
  const Half h = nearest<Half>(clamped<Clamp>(value));
  return Ftz ? flushed(h) : h;
}

template <class Half, bool Ftz, clamp Clamp>
struct add {
  static Half apply(Half a, Half b) {
    return result<Half, Ftz, Clamp>(odd_sum(operand<Ftz>(a), operand<Ftz>(b)));
  }
};
template <class Half, bool Ftz, clamp Clamp>
struct sub {
  static Half apply(Half a, Half b) {
    return result<Half, Ftz, Clamp>(odd_sum(operand<Ftz>(a), -operand<Ftz>(b)));
  }
};
template <class Half, bool Ftz, clamp Clamp>
struct mul {
  static Half apply(Half a, Half b) { return result<Half, Ftz, Clamp>(operand<Ftz>(a) * operand<Ftz>(b)); }
};
template <class Half, bool Ftz, clamp Clamp>
struct fma {
  static Half apply(Half a, Half b, Half c) {
    return result<Half, Ftz, Clamp>(odd_sum(operand<Ftz>(a) * operand<Ftz>(b), operand<Ftz>(c)));
  }
};

// bf16 in a mode other than to nearest. Toward minus infinity, a sum that cancels is -0.
template <clamp Clamp>
struct directed_fma {
  static bf16 apply(const instruction& i, bf16 a, bf16 b, bf16 c) {
    const f64 product = value_of(a) * value_of(b), addend = value_of(c);
    f64 sum = odd_sum(product, addend);
    if (sum == 0 && i.round == rounding::rm && std::signbit(product) != std::signbit(addend)) sum = -0.0;
    return rounded<bf16>(clamped<Clamp>(sum), i.round);
  }
};

template <class Half>
Half canonical(Half h) {
  return is_nan(h) ? Half{half_nan} : h;
}

template <class Half, bool Ftz>
struct negation {
  static Half apply(Half a) {
    const Half h = Ftz ? flushed(a) : a;
    return canonical(Half{static_cast<u16>(h.bits ^ half_sign)});
  }
};
template <class Half, bool Ftz>
struct absolute {
  static Half apply(Half a) { return canonical(Half{magnitude_of(Ftz ? flushed(a) : a)}); }
};

// A number that orders values as PTX does, -0 below +0. NaN is not allowed.
template <class Half>
s32 order_of(Half h) {
  const s32 magnitude = magnitude_of(h);
  return (h.bits & half_sign) != 0 ? -magnitude - 1 : magnitude;
}

template <class Half, bool Ftz, bool Nan, bool Xor, bool Max>
struct extreme {
  static Half apply(Half x, Half y) {
    Half a = Ftz ? flushed(x) : x, b = Ftz ? flushed(y) : y;
    const u32 sign = Xor ? (a.bits ^ b.bits) & half_sign : 0u;
    if constexpr (Xor) a.bits = magnitude_of(a), b.bits = magnitude_of(b);
    if (is_nan(a) || is_nan(b)) {
      const Half other = is_nan(a) ? b : a;
      if (Nan || is_nan(other)) return {half_nan};
      return {static_cast<u16>(other.bits | sign)};
    }
    const Half d = (order_of(a) < order_of(b)) != Max ? a : b;
    return {static_cast<u16>(d.bits | sign)};
  }
};

template <class Half, bool Ftz>
struct exponential {
  static Half apply(Half a) { return result<Half, Ftz, clamp::none>(std::exp2(operand<Ftz>(a))); }
};
template <class Half>
struct tangent {
  static Half apply(Half a) { return nearest<Half>(std::tanh(value_of(a))); }
};

// ---- pairs ----

template <auto Function, class Signature>
struct both;

template <auto Function, class Half, class... Halves>
struct both<Function, Half (*)(Halves...)> {
  static twin<Half> apply(twin<Halves>... sources) {
    return {Function(sources.low...), Function(sources.high...)};
  }
};

template <auto Function, class Half, class... Halves>
struct both<Function, Half (*)(const instruction&, Halves...)> {
  static twin<Half> apply(const instruction& i, twin<Halves>... sources) {
    return {Function(i, sources.low...), Function(i, sources.high...)};
  }
};

template <auto Function>
handler one_or_two(const instruction& i) {
  return ptx::is_packed(i.type) ? each_lane<&both<Function, decltype(Function)>::apply> : each_lane<Function>;
}

template <auto Function>
handler one_or_two_slow(const instruction& i) {
  return ptx::is_packed(i.type) ? each_active_lane<&both<Function, decltype(Function)>::apply>
                                : each_active_lane<Function>;
}

// ---- choice ----

template <template <class, bool, clamp> class Op, class Half, bool Ftz>
handler clamping(const instruction& i) {
  if (i.flags.sat) return one_or_two<&Op<Half, Ftz, clamp::sat>::apply>(i);
  if (i.flags.relu) return one_or_two<&Op<Half, Ftz, clamp::relu>::apply>(i);
  return one_or_two<&Op<Half, Ftz, clamp::none>::apply>(i);
}

template <template <class, bool, clamp> class Op, class Half>
handler arithmetic(const instruction& i) {
  return i.flags.ftz ? clamping<Op, Half, true>(i) : clamping<Op, Half, false>(i);
}

template <class Half>
handler fma_handler(const instruction& i) {
  if (i.round == rounding::rn) return arithmetic<fma, Half>(i);
  return i.flags.relu ? one_or_two<&directed_fma<clamp::relu>::apply>(i)
                      : one_or_two<&directed_fma<clamp::none>::apply>(i);
}

template <template <class, bool> class Op, class Half>
handler unary(const instruction& i) {
  return i.flags.ftz ? one_or_two<&Op<Half, true>::apply>(i) : one_or_two<&Op<Half, false>::apply>(i);
}

template <bool Max, class Half, bool Ftz>
handler extreme_form(const instruction& i) {
  if (i.flags.nan)
    return i.flags.xorsign ? one_or_two<&extreme<Half, Ftz, true, true, Max>::apply>(i)
                           : one_or_two<&extreme<Half, Ftz, true, false, Max>::apply>(i);
  return i.flags.xorsign ? one_or_two<&extreme<Half, Ftz, false, true, Max>::apply>(i)
                         : one_or_two<&extreme<Half, Ftz, false, false, Max>::apply>(i);
}

template <bool Max, class Half>
handler extreme_handler(const instruction& i) {
  return i.flags.ftz ? extreme_form<Max, Half, true>(i) : extreme_form<Max, Half, false>(i);
}

template <class Half>
handler half_operation(const instruction& i) {
  switch (i.op) {
    case operation::add: return arithmetic<add, Half>(i);
    case operation::sub: return arithmetic<sub, Half>(i);
    case operation::mul: return arithmetic<mul, Half>(i);
    case operation::fma: return fma_handler<Half>(i);
    case operation::neg: return unary<negation, Half>(i);
    case operation::abs: return unary<absolute, Half>(i);
    case operation::min: return extreme_handler<false, Half>(i);
    case operation::max: return extreme_handler<true, Half>(i);
    case operation::ex2:
      return i.flags.ftz ? one_or_two_slow<&exponential<Half, true>::apply>(i)
                         : one_or_two_slow<&exponential<Half, false>::apply>(i);
    case operation::tanh: return one_or_two_slow<&tangent<Half>::apply>(i);
    default: return nullptr;
  }
}

}  // namespace

handler half_handler(const instruction& i) {
  switch (i.type) {
    case ptx::type::f16:
    case ptx::type::f16x2: return half_operation<f16>(i);
    case ptx::type::bf16:
    case ptx::type::bf16x2: return half_operation<bf16>(i);
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
