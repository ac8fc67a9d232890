// Atomic operations and reductions in memory (PTX ISA, "atom" and "red"). Lanes act in the order of their
// numbers. In global memory other blocks run concurrently, so the host's atomics are used; shared memory
// belongs to the block. Some atomics are wider than the host's, round, or return the old value. A grid with
// them runs on one thread (entry::blocks_communicate), so they need no host atomics.

#include "emulator/instructions/execute.hpp"
#include "emulator/instructions/memory/address.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/program/floating.hpp"
#include "emulator/program/half.hpp"

#include <array>
#include <type_traits>

namespace kaio::emulator {
namespace {

template <class T>
T wrapped_sum(T a, T b) {
  using word = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<word>(static_cast<word>(a) + static_cast<word>(b)));
}

// The value that replaces `old`. `global`: single-precision sums in global memory flush subnormal
// values.
template <atomic_form Form, class T>
T updated(T old, T operand_value, T replacement, bool global) {
  if constexpr (Form == atomic_form::add) {
    if constexpr (std::is_same_v<T, f32>) {
      if (global) return result<true, false>(operand<true>(old) + operand<true>(operand_value));
      return canonical(old + operand_value);
    } else if constexpr (std::is_same_v<T, f64>) {
      return canonical(old + operand_value);
    } else {
      return wrapped_sum(old, operand_value);
    }
  } else if constexpr (Form == atomic_form::min) {
    return operand_value < old ? operand_value : old;
  } else if constexpr (Form == atomic_form::max) {
    return operand_value > old ? operand_value : old;
  } else if constexpr (Form == atomic_form::exch) {
    return operand_value;
  } else if constexpr (Form == atomic_form::cas) {
    return old == operand_value ? replacement : old;
  } else if constexpr (Form == atomic_form::inc) {
    return old >= operand_value ? T{0} : static_cast<T>(old + 1);
  } else if constexpr (Form == atomic_form::dec) {
    return old == 0 || old > operand_value ? operand_value : static_cast<T>(old - 1);
  } else if constexpr (Form == atomic_form::and_) {
    return static_cast<T>(old & operand_value);
  } else if constexpr (Form == atomic_form::or_) {
    return static_cast<T>(old | operand_value);
  } else {
    return static_cast<T>(old ^ operand_value);
  }
}

template <atomic_form Form, class T>
void update(warp& w, const instruction& i, u32 mask) {
  using bits = std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>;
  std::byte* at[warp_lanes];
  locate(w, i, mask, sizeof(T), access_kind::atomic, at);
  for_lanes(mask, [&](unsigned lane) {
    const T value = get<T>(w.file + i.from[1], lane);
    const T replacement = Form == atomic_form::cas ? get<T>(w.file + i.from[2], lane) : T{};
    const std::byte* const shared = w.owner->shared.data();
    const bool global = at[lane] < shared || at[lane] >= shared + w.owner->shared.size();
    auto* const place = reinterpret_cast<bits*>(at[lane]);
    bits old = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (!global) {
      const bits now = std::bit_cast<bits>(updated<Form>(std::bit_cast<T>(old), value, replacement, false));
      __atomic_store_n(place, now, __ATOMIC_RELAXED);
      if (now != old) ++w.owner->changes;
    }
    for (bool waits = global; waits;) {
      const T now = updated<Form>(std::bit_cast<T>(old), value, replacement, global);
      if (__atomic_compare_exchange_n(place, &old, std::bit_cast<bits>(now), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
        if (std::bit_cast<bits>(now) != old) ++w.owner->changes;
        waits = false;
      }
    }
    if (i.op == operation::atom) put(w.file + i.to[0], lane, old);
  });
}

// ---- operations without host atomics ----

template <atomic_form Form, class Half>
Half updated_half(Half old, Half value) {
  const f64 a = value_of(old), b = value_of(value);
  if constexpr (Form == atomic_form::add) return nearest<Half>(odd_sum(a, b));
  if (is_nan(old) || is_nan(value)) {
    if (!is_nan(old)) return old;
    return is_nan(value) ? Half{half_nan} : value;
  }
  const bool less = b < a || (b == a && (value.bits & half_sign) != 0);  // -0 is below +0
  return less == (Form == atomic_form::min) ? value : old;
}

template <atomic_form Form, class Half>
u16 updated_bits(u16 old, u16 value) {
  return updated_half<Form>(Half{old}, Half{value}).bits;
}

template <atomic_form Form, class Half>
u32 updated_pair(u32 old, u32 value) {
  const u32 low = updated_bits<Form, Half>(static_cast<u16>(old), static_cast<u16>(value));
  const u32 high = updated_bits<Form, Half>(static_cast<u16>(old >> 16), static_cast<u16>(value >> 16));
  return low | high << 16;
}

u32 updated_single(u32 old, u32 value) {
  const f32 sum = updated<atomic_form::add>(std::bit_cast<f32>(old), std::bit_cast<f32>(value), 0.0f, true);
  return std::bit_cast<u32>(sum);
}

// A vector, or one element of a type that exists only in vectors.
template <auto Function, class Bits>
void update_elements(warp& w, const instruction& i, u32 mask) {
  std::byte* at[warp_lanes];
  locate(w, i, mask, static_cast<u32>(sizeof(Bits)) * i.count, access_kind::atomic, at);
  for_lanes(mask, [&](unsigned lane) {
    std::array<Bits, 8> old{};
    for (unsigned e = 0; e < i.count; ++e) {
      std::byte* const place = at[lane] + e * sizeof(Bits);
      old[e] = get<Bits>(place, 0);
      const Bits now = Function(old[e], get<Bits>(w.file + i.from[1 + e], lane));
      if (now != old[e]) ++w.owner->changes;
      put(place, 0, now);
    }
    if (i.op != operation::atom) return;
    for (unsigned e = 0; e < i.count; ++e) put(w.file + i.to[e], lane, old[e]);
  });
}

using wide = std::array<u64, 2>;

template <atomic_form Form>
void update_wide(warp& w, const instruction& i, u32 mask) {
  std::byte* at[warp_lanes];
  locate(w, i, mask, sizeof(wide), access_kind::atomic, at);
  for_lanes(mask, [&](unsigned lane) {
    const wide old = get<wide>(at[lane], 0);
    wide now = get<wide>(w.file + i.from[1], lane);
    if (Form == atomic_form::cas) now = old == now ? get<wide>(w.file + i.from[2], lane) : old;
    if (now != old) ++w.owner->changes;
    put(at[lane], 0, now);
    put(w.file + i.to[0], lane, old);
  });
}

template <class Half>
handler half(atomic_form form) {
  switch (form) {
    case atomic_form::add: return &update_elements<&updated_bits<atomic_form::add, Half>, u16>;
    case atomic_form::min: return &update_elements<&updated_bits<atomic_form::min, Half>, u16>;
    case atomic_form::max: return &update_elements<&updated_bits<atomic_form::max, Half>, u16>;
    default: return nullptr;
  }
}

template <class Half>
handler pair(atomic_form form) {
  switch (form) {
    case atomic_form::add: return &update_elements<&updated_pair<atomic_form::add, Half>, u32>;
    case atomic_form::min: return &update_elements<&updated_pair<atomic_form::min, Half>, u32>;
    case atomic_form::max: return &update_elements<&updated_pair<atomic_form::max, Half>, u32>;
    default: return nullptr;
  }
}

// ---- choice ----

template <class T>
handler bitwise(atomic_form form) {
  switch (form) {
    case atomic_form::and_: return &update<atomic_form::and_, T>;
    case atomic_form::or_: return &update<atomic_form::or_, T>;
    case atomic_form::xor_: return &update<atomic_form::xor_, T>;
    case atomic_form::exch: return &update<atomic_form::exch, T>;
    case atomic_form::cas: return &update<atomic_form::cas, T>;
    default: return nullptr;
  }
}

template <class T>
handler integer(atomic_form form) {
  switch (form) {
    case atomic_form::add: return &update<atomic_form::add, T>;
    case atomic_form::min: return &update<atomic_form::min, T>;
    case atomic_form::max: return &update<atomic_form::max, T>;
    default: break;
  }
  if constexpr (std::is_same_v<T, u32>) {
    if (form == atomic_form::inc) return &update<atomic_form::inc, T>;
    if (form == atomic_form::dec) return &update<atomic_form::dec, T>;
  }
  return nullptr;
}

}  // namespace

handler atomic_handler(const instruction& i) {
  if (i.op != operation::atom && i.op != operation::red) return nullptr;
  const auto form = static_cast<atomic_form>(i.form);
  switch (i.type) {
    case ptx::type::b16: return form == atomic_form::cas ? &update<atomic_form::cas, u16> : nullptr;
    case ptx::type::b32: return bitwise<u32>(form);
    case ptx::type::b64: return bitwise<u64>(form);
    case ptx::type::u32: return integer<u32>(form);
    case ptx::type::s32: return integer<s32>(form);
    case ptx::type::u64: return integer<u64>(form);
    case ptx::type::s64: return integer<s64>(form);
    case ptx::type::b128:
      return form == atomic_form::cas ? &update_wide<atomic_form::cas> : &update_wide<atomic_form::exch>;
    case ptx::type::f16: return half<f16>(form);
    case ptx::type::bf16: return half<bf16>(form);
    case ptx::type::f16x2: return pair<f16>(form);
    case ptx::type::bf16x2: return pair<bf16>(form);
    case ptx::type::f32:
      if (i.count > 1) return &update_elements<&updated_single, u32>;
      return form == atomic_form::add ? &update<atomic_form::add, f32> : nullptr;
    case ptx::type::f64: return form == atomic_form::add ? &update<atomic_form::add, f64> : nullptr;
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
