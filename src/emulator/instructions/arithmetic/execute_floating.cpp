// Floating-point arithmetic with a rounding mode: IEEE exact (PTX ISA, "Floating-Point Instructions"). All
// files of the emulator are compiled with -ffp-contract=off: a product and a sum round twice, unless the
// instruction is fma.

#include "emulator/instructions/execute.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/program/floating.hpp"

#include <cmath>

namespace kaio::emulator {
namespace {

// If several operands are NaN in double precision, the last one is kept, as in the hardware.
template <class T>
T unless_both_nan(T value, T a, T b) {
  if constexpr (sizeof(T) == 8) return is_nan(a) && is_nan(b) ? quieted(b) : value;
  return value;
}
template <class T>
T unless_nan(T value, T b, T c) {
  if constexpr (sizeof(T) == 8) return is_nan(b) ? quieted(b) : is_nan(c) ? quieted(c) : value;
  return value;
}

template <class T, bool Ftz, bool Sat>
struct add {
  static T apply(T a, T b) {
    return unless_both_nan(result<Ftz, Sat>(operand<Ftz>(a) + operand<Ftz>(b)), a, b);
  }
};
template <class T, bool Ftz, bool Sat>
struct sub {
  static T apply(T a, T b) {
    return unless_both_nan(result<Ftz, Sat>(operand<Ftz>(a) - operand<Ftz>(b)), a, b);
  }
};
template <class T, bool Ftz, bool Sat>
struct mul {
  static T apply(T a, T b) {
    return unless_both_nan(result<Ftz, Sat>(operand<Ftz>(a) * operand<Ftz>(b)), a, b);
  }
};
template <class T, bool Ftz, bool Sat>
struct div {
  static T apply(T a, T b) { return result<Ftz, Sat>(operand<Ftz>(a) / operand<Ftz>(b)); }
};
template <class T, bool Ftz, bool Sat>
struct root {
  static T apply(T a) { return result<Ftz, Sat>(std::sqrt(operand<Ftz>(a))); }
};
template <class T, bool Ftz, bool Sat>
struct reciprocal {
  static T apply(T a) {
    // A result too small before rounding is flushed, even if it rounds to the least normal number.
    if constexpr (Ftz && sizeof(T) == 4)
      if (std::fabs(a) > 0x1p126f) return std::copysign(T{0}, a);
    return result<Ftz, Sat>(T{1} / operand<Ftz>(a));
  }
};
template <class T, bool Ftz, bool Sat>
struct fused {
  static T apply(T a, T b, T c) {
    return unless_nan(result<Ftz, Sat>(std::fma(operand<Ftz>(a), operand<Ftz>(b), operand<Ftz>(c))), b, c);
  }
};

// Rounds in a mode other than to nearest. The values pass through the register file. The compiler must assume
// that the mode change reads and writes it, so no operation moves across.
template <handler Nearest>
void rounded(warp& w, const instruction& i, u32 mask) {
  const rounding_scope scope(i.round);
  Nearest(w, i, mask);
}

// ---- fma of 32 lanes: with the host's instruction if it has one ----

template <class T>
using fma_function = void (*)(const T* a, const T* b, const T* c, T* d);

template <class T>
void fma_portable(const T* a, const T* b, const T* c, T* d) {
  for (unsigned lane = 0; lane < warp_lanes; ++lane) d[lane] = std::fma(a[lane], b[lane], c[lane]);
}

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
__attribute__((target("avx2,fma"))) void fma_instruction(const f32* a, const f32* b, const f32* c, f32* d) {
  for (unsigned lane = 0; lane < warp_lanes; ++lane) d[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
}
__attribute__((target("avx2,fma"))) void fma_instruction(const f64* a, const f64* b, const f64* c, f64* d) {
  for (unsigned lane = 0; lane < warp_lanes; ++lane) d[lane] = __builtin_fma(a[lane], b[lane], c[lane]);
}
template <class T>
fma_function<T> best_fma() {
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) return &fma_instruction;
  return &fma_portable<T>;
}
#else
template <class T>
fma_function<T> best_fma() {
  return &fma_portable<T>;
}
#endif

template <class T, bool Ftz, bool Sat>
void fma_nearest(warp& w, const instruction& i, u32 mask) {
  static const fma_function<T> compute = best_fma<T>();
  T source[3][warp_lanes], d[warp_lanes];
  for (unsigned s = 0; s < 3; ++s) {
    std::memcpy(source[s], w.file + i.from[s], sizeof source[s]);
    if constexpr (Ftz)
      for (T& value : source[s]) value = flushed(value);
  }
  compute(source[0], source[1], source[2], d);
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    d[lane] = unless_nan(result<Ftz, Sat>(d[lane]), source[1][lane], source[2][lane]);
  commit(w.file + i.to[0], d, mask);
}

// ---- signs, extremes, properties ----

template <class T, bool Ftz>
struct negation {
  static T apply(T a) { return is_nan(a) ? canonical(a) : -operand<Ftz>(a); }
};
template <class T, bool Ftz>
struct absolute {
  static T apply(T a) { return is_nan(a) ? canonical(a) : std::bit_cast<T>(magnitude(operand<Ftz>(a))); }
};

template <class T>
T copy_sign(T sign, T value) {  // copysign d, a, b: the sign of a, the rest of b
  return std::bit_cast<T>(
      static_cast<float_bits<T>>((std::bit_cast<float_bits<T>>(sign) & sign_bit<T>) | magnitude(value)));
}

// A number that orders values as PTX does, -0 below +0. NaN is not allowed.
template <class T>
auto order_of(T value) {
  using signed_bits = std::make_signed_t<float_bits<T>>;
  const auto bits = std::bit_cast<signed_bits>(value);
  return bits < 0 ? static_cast<signed_bits>(std::bit_cast<signed_bits>(sign_bit<T>) - bits - 1) : bits;
}

template <class T, bool Ftz, bool Nan, bool Xor, bool Max>
struct extreme {
  static T apply(T x, T y) {
    T a = operand<Ftz>(x), b = operand<Ftz>(y);
    const float_bits<T> sign =
        (std::bit_cast<float_bits<T>>(a) ^ std::bit_cast<float_bits<T>>(b)) & sign_bit<T>;
    if constexpr (Xor) a = std::bit_cast<T>(magnitude(a)), b = std::bit_cast<T>(magnitude(b));
    T d;
    if constexpr (Nan) {
      d = is_nan(a) ? a : is_nan(b) ? b : (order_of(a) < order_of(b)) != Max ? a : b;
    } else {
      d = is_nan(a) ? b : is_nan(b) ? a : (order_of(a) < order_of(b)) != Max ? a : b;
    }
    d = canonical(d);
    if constexpr (Xor)
      if (!is_nan(d))
        d = std::bit_cast<T>(static_cast<float_bits<T>>(std::bit_cast<float_bits<T>>(d) | sign));
    return d;
  }
};

// A zero counts as normal.
template <class T>
bool has_property(test_form property, T a) {
  const float_bits<T> m = magnitude(a);
  switch (property) {
    case test_form::finite: return m < infinity_bits<T>;
    case test_form::infinite: return m == infinity_bits<T>;
    case test_form::number: return m <= infinity_bits<T>;
    case test_form::notanumber: return m > infinity_bits<T>;
    case test_form::normal: return m == 0 || (m >= least_normal_bits<T> && m < infinity_bits<T>);
    default: return m != 0 && m < least_normal_bits<T>;
  }
}

template <class T>
void test_property(warp& w, const instruction& i, u32 mask) {
  u32 where = 0;
  for_lanes(mask, [&](unsigned lane) {
    if (has_property(static_cast<test_form>(i.form), get<T>(w.file + i.from[0], lane))) where |= 1u << lane;
  });
  put_mask(w, i.to[0], where, mask);
}

// ---- choice ----

template <auto Function>
handler in_mode(const instruction& i) {
  return i.round == rounding::rn ? each_lane<Function> : &rounded<each_lane<Function>>;
}

template <template <class, bool, bool> class Op>
handler arithmetic(const instruction& i) {
  if (i.type == ptx::type::f64) return in_mode<&Op<f64, false, false>::apply>(i);
  if (i.flags.ftz)
    return i.flags.sat ? in_mode<&Op<f32, true, true>::apply>(i) : in_mode<&Op<f32, true, false>::apply>(i);
  return i.flags.sat ? in_mode<&Op<f32, false, true>::apply>(i) : in_mode<&Op<f32, false, false>::apply>(i);
}

handler fma_handler(const instruction& i) {
  if (i.round != rounding::rn) return arithmetic<fused>(i);
  if (i.type == ptx::type::f64) return &fma_nearest<f64, false, false>;
  if (i.flags.ftz) return i.flags.sat ? &fma_nearest<f32, true, true> : &fma_nearest<f32, true, false>;
  return i.flags.sat ? &fma_nearest<f32, false, true> : &fma_nearest<f32, false, false>;
}

template <template <class, bool> class Op>
handler sign(const instruction& i) {
  if (i.type == ptx::type::f64) return each_lane<&Op<f64, false>::apply>;
  return i.flags.ftz ? each_lane<&Op<f32, true>::apply> : each_lane<&Op<f32, false>::apply>;
}

template <bool Max, bool Ftz>
handler single_extreme(const instruction& i) {
  if (i.flags.nan)
    return i.flags.xorsign ? each_lane<&extreme<f32, Ftz, true, true, Max>::apply>
                           : each_lane<&extreme<f32, Ftz, true, false, Max>::apply>;
  return i.flags.xorsign ? each_lane<&extreme<f32, Ftz, false, true, Max>::apply>
                         : each_lane<&extreme<f32, Ftz, false, false, Max>::apply>;
}

template <bool Max>
handler extreme_handler(const instruction& i) {
  if (i.type == ptx::type::f64) return each_lane<&extreme<f64, false, false, false, Max>::apply>;
  return i.flags.ftz ? single_extreme<Max, true>(i) : single_extreme<Max, false>(i);
}

}  // namespace

handler floating_handler(const instruction& i) {
  if (i.type != ptx::type::f32 && i.type != ptx::type::f64) return nullptr;
  const bool exact = !i.flags.approx && !i.flags.full;
  switch (i.op) {
    case operation::add: return arithmetic<add>(i);
    case operation::sub: return arithmetic<sub>(i);
    case operation::mul: return arithmetic<mul>(i);
    case operation::fma: return fma_handler(i);
    case operation::div: return exact ? arithmetic<div>(i) : nullptr;
    case operation::sqrt: return exact ? arithmetic<root>(i) : nullptr;
    case operation::rcp: return exact ? arithmetic<reciprocal>(i) : nullptr;
    case operation::neg: return sign<negation>(i);
    case operation::abs: return sign<absolute>(i);
    case operation::min: return extreme_handler<false>(i);
    case operation::max: return extreme_handler<true>(i);
    case operation::copysign:
      return i.type == ptx::type::f32 ? each_lane<&copy_sign<f32>> : each_lane<&copy_sign<f64>>;
    case operation::testp: return i.type == ptx::type::f32 ? &test_property<f32> : &test_property<f64>;
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
