#include "emulator/instructions/memory/reduction.hpp"

#include "emulator/program/floating.hpp"
#include "emulator/program/half.hpp"

#include <cstring>
#include <type_traits>

namespace kaio::emulator {
namespace {

template <class T>
T add(T a, T b) {
  if constexpr (half_format<T>) {
    return nearest<T>(odd_sum(value_of(a), value_of(b)));
  } else if constexpr (std::is_same_v<T, f32>) {
    return result<true, false>(operand<true>(a) + operand<true>(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    return canonical(a + b);
  } else {
    using word = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<word>(a) + static_cast<word>(b));
  }
}

// A number wins over NaN, and -0 is below +0.
template <bool Least, class T>
T extreme(T a, T b) {
  if constexpr (half_format<T>) {
    if (is_nan(a)) return is_nan(b) ? T{half_nan} : b;
    if (is_nan(b)) return a;
    const f64 x = value_of(a), y = value_of(b);
    const bool less = y < x || (!(x < y) && (b.bits & half_sign) != 0);
    return less == Least ? b : a;
  } else {
    return (b < a) == Least ? b : a;
  }
}

template <class T>
T least(T a, T b) {
  return extreme<true>(a, b);
}
template <class T>
T greatest(T a, T b) {
  return extreme<false>(a, b);
}
u32 increment(u32 a, u32 b) { return a >= b ? 0 : a + 1; }
u32 decrement(u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; }
template <class T>
T both(T a, T b) {
  return a & b;
}
template <class T>
T either(T a, T b) {
  return a | b;
}
template <class T>
T one(T a, T b) {
  return a ^ b;
}

template <auto Function, class T>
void each(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t k = 0; k < bytes; k += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + k, sizeof a);
    std::memcpy(&b, from + k, sizeof b);
    a = Function(a, b);
    std::memcpy(to + k, &a, sizeof a);
  }
}

template <class T>
reduction arithmetic(atomic_form form) {
  switch (form) {
    case atomic_form::add: return &each<&add<T>, T>;
    case atomic_form::min:
      if constexpr (!std::is_floating_point_v<T>) return &each<&least<T>, T>;
      return nullptr;
    case atomic_form::max:
      if constexpr (!std::is_floating_point_v<T>) return &each<&greatest<T>, T>;
      return nullptr;
    default: break;
  }
  if constexpr (std::is_same_v<T, u32>) {
    if (form == atomic_form::inc) return &each<&increment, u32>;
    if (form == atomic_form::dec) return &each<&decrement, u32>;
  }
  return nullptr;
}

template <class T>
reduction bitwise(atomic_form form) {
  switch (form) {
    case atomic_form::and_: return &each<&both<T>, T>;
    case atomic_form::or_: return &each<&either<T>, T>;
    case atomic_form::xor_: return &each<&one<T>, T>;
    default: return nullptr;
  }
}

}  // namespace

reduction reduction_of(atomic_form form, ptx::type type) {
  switch (type) {
    case ptx::type::u32: return arithmetic<u32>(form);
    case ptx::type::s32: return arithmetic<s32>(form);
    case ptx::type::u64: return arithmetic<u64>(form);
    case ptx::type::s64: return arithmetic<s64>(form);
    case ptx::type::f32: return arithmetic<f32>(form);
    case ptx::type::f64: return arithmetic<f64>(form);
    case ptx::type::f16: return arithmetic<f16>(form);
    case ptx::type::bf16: return arithmetic<bf16>(form);
    case ptx::type::b32: return bitwise<u32>(form);
    case ptx::type::b64: return bitwise<u64>(form);
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
