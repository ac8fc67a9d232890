// Atomic operations and reductions in memory (PTX ISA, "atom" and "red"). Lanes act in the order of their
// numbers. In global memory other blocks run beside this one, so the host's atomics are used; shared memory
// belongs to the block.

#include "runtime/emulator/address.hpp"
#include "runtime/emulator/block.hpp"
#include "runtime/emulator/execute.hpp"
#include "runtime/emulator/floating.hpp"
#include "runtime/emulator/lanes.hpp"

#include <type_traits>

namespace kaio::runtime::emulator {
namespace {

template <class T>
T wrapped_sum(T a, T b) {
  using word = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<word>(static_cast<word>(a) + static_cast<word>(b)));
}

// What is written in the place of `old`. `global`: single-precision sums in global memory flush subnormal
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
    for (;;) {
      const T now = updated<Form>(std::bit_cast<T>(old), value, replacement, global);
      if (__atomic_compare_exchange_n(place, &old, std::bit_cast<bits>(now), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST))
        break;
    }
    if (i.op == operation::atom) put(w.file + i.to[0], lane, old);
  });
}

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
    case ptx::type::f32: return form == atomic_form::add ? &update<atomic_form::add, f32> : nullptr;
    case ptx::type::f64: return form == atomic_form::add ? &update<atomic_form::add, f64> : nullptr;
    default: return nullptr;
  }
}

}  // namespace kaio::runtime::emulator
