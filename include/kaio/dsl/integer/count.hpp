#pragma once
// Counting and finding bits. Each takes any integer type and looks at its own width: clz(u8(1)) is 7. The
// result is u32.
//
//   val free_lanes = popc(~taken);
//   val first = ctz(mask);          // the lowest bit that is set

#include <kaio/dsl/integer/support.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

template <integer T>
constexpr value count(tracer& t, opcode op, value a, modifier m = modifier::none) {
  const ptx::type type = op == opcode::bfind ? computed_in<T> : ptx::bits_of(computed_in<T>);
  return t.pure({op, in_order(m), type, ptx::type::none, ptx::type::u32}, a);
}

template <integer T>
constexpr value reversed(tracer& t, value a) {
  const ptx::type type = computed_in<T>;
  return t.pure({opcode::brev, 0, ptx::bits_of(type), ptx::type::none, type}, a);
}

constexpr value amount(tracer& t, std::uint32_t n) { return t.constant(ptx::type::u32, n); }

template <integer T>
struct popc_rule {
  static constexpr value apply(tracer& t, value a) {
    if (t.is_constant(a))
      return amount(t, static_cast<std::uint32_t>(__builtin_popcountll(unsigned_bits<T>(t.bits_of(a)))));
    return count<T>(t, opcode::popc, without_sign<T>(t, a));
  }
};

template <integer T>
struct clz_rule {
  static constexpr value apply(tracer& t, value a) {
    const value all = count<T>(t, opcode::clz, without_sign<T>(t, a));
    if constexpr (is_small<T>)
      return t.binary(operation::sub, ptx::type::u32, all, amount(t, 32 - width_of<T>));
    else
      return all;
  }
};

template <integer T>
struct ctz_rule {
  static constexpr value apply(tracer& t, value a) {
    // If no bit of the small value is set, the bit above it ends the search.
    if constexpr (is_small<T>)
      a = t.pure({opcode::or_, 0, ptx::type::b32, ptx::type::none, computed_in<T>}, a,
                 t.constant(computed_in<T>, 1u << width_of<T>));
    return count<T>(t, opcode::clz, reversed<T>(t, a));
  }
};

// bfind.shiftamt of the reversed bits is the place of the lowest one; 2^32 - 1 if there is none.
template <integer T>
struct ffs_rule {
  static constexpr value apply(tracer& t, value a) {
    const value turned = reversed<T>(t, a);
    const ptx::type type = sizeof(T) == 8 ? ptx::type::u64 : ptx::type::u32;
    const value place =
        t.pure({opcode::bfind, in_order(modifier::shiftamt), type, ptx::type::none, ptx::type::u32}, turned);
    return t.binary(operation::add, ptx::type::u32, place, amount(t, 1));
  }
};

template <integer T>
struct bfind_rule {
  static constexpr value apply(tracer& t, value a) { return count<T>(t, opcode::bfind, a); }
};

// The reversed bits of a small number are at the top of the register.
template <integer T>
struct brev_rule {
  static constexpr value apply(tracer& t, value a) {
    const value turned = reversed<T>(t, a);
    if constexpr (is_small<T>)
      return t.pure({opcode::shr, 0, computed_in<T>, ptx::type::none, ptx_type<T>}, turned,
                    amount(t, 32 - width_of<T>));
    else
      return turned;
  }
};

template <class Result, template <integer> class Rule, device A>
constexpr auto of_bits(const A& a) {
  using T = element<A>;
  require_integer<T>();
  if constexpr (integer<T>)
    return make_pure<Result, Rule<T>>(a.node());
  else
    return refused{};
}

}  // namespace detail

// The number of set bits (popc).
template <device A>
constexpr auto popc(const A& a) {
  return detail::of_bits<u32, detail::popc_rule>(a);
}

// The number of zeros above the highest set bit (clz); the width for 0.
template <device A>
constexpr auto clz(const A& a) {
  return detail::of_bits<u32, detail::clz_rule>(a);
}

// The number of zeros below the lowest set bit (brev, clz); the width for 0.
template <device A>
constexpr auto ctz(const A& a) {
  return detail::of_bits<u32, detail::ctz_rule>(a);
}

// The place of the lowest set bit, counted from 1; 0 for 0 (brev, bfind).
template <device A>
constexpr auto ffs(const A& a) {
  return detail::of_bits<u32, detail::ffs_rule>(a);
}

// The place of the highest set bit, counted from 0. For a negative number: of the highest bit that differs from the
// sign. 2^32 - 1 if there is none (bfind).
template <device A>
constexpr auto bfind(const A& a) {
  return detail::of_bits<u32, detail::bfind_rule>(a);
}

// The bits in the opposite order (brev).
template <device A>
constexpr auto brev(const A& a) {
  return detail::of_bits<element<A>, detail::brev_rule>(a);
}

}  // namespace kaio::dsl
