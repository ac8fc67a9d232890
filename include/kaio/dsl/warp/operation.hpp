#pragma once
// Operators for reductions and scans. A lambda serves as well. These are known to commute, and to the
// hardware (redux.sync), so they cost less. An operator of the user's states by a member that it commutes:
//
//   struct larger {
//     static constexpr bool is_commutative = true;
//     template <class A, class B>
//     constexpr auto operator()(const A& a, const B& b) const { return select(a > b, a, b); }
//   };

#include <kaio/dsl/math/basic.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::dsl {

// A NaN propagates.
struct plus {
  static constexpr bool is_commutative = true;
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b) const {
    return a + b;
  }
};
// A NaN loses against a number; -0 is smaller than +0.
struct minimum {
  static constexpr bool is_commutative = true;
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b) const {
    return min(a, b);
  }
};
// A NaN loses against a number; +0 is larger than -0.
struct maximum {
  static constexpr bool is_commutative = true;
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b) const {
    return max(a, b);
  }
};
// For integers and bool, like the next two.
struct bit_and {
  static constexpr bool is_commutative = true;
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b) const {
    return a & b;
  }
};
struct bit_or {
  static constexpr bool is_commutative = true;
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b) const {
    return a | b;
  }
};
struct bit_xor {
  static constexpr bool is_commutative = true;
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b) const {
    return a ^ b;
  }
};

namespace detail {

template <class Op>
constexpr bool commutes() {
  if constexpr (requires { Op::is_commutative; })
    return Op::is_commutative;
  else
    return false;
}

// The name of an operator in redux.sync, or none.
template <class Op>
inline constexpr modifier redux_operation = modifier::none;
template <>
inline constexpr modifier redux_operation<plus> = modifier::add;
template <>
inline constexpr modifier redux_operation<minimum> = modifier::min;
template <>
inline constexpr modifier redux_operation<maximum> = modifier::max;
template <>
inline constexpr modifier redux_operation<bit_and> = modifier::and_;
template <>
inline constexpr modifier redux_operation<bit_or> = modifier::or_;
template <>
inline constexpr modifier redux_operation<bit_xor> = modifier::xor_;

// Whether redux.sync reduces an S, from sm_80 on: integers of up to 32 bits.
template <class S, class Op>
inline constexpr bool redux_reduces = false;
template <device S, class Op>
  requires(integer<element<S>> && sizeof(element<S>) <= 4)
inline constexpr bool redux_reduces<S, Op> = redux_operation<Op> != modifier::none;

}  // namespace detail

}  // namespace kaio::dsl

namespace kaio {
using dsl::bit_and;
using dsl::bit_or;
using dsl::bit_xor;
using dsl::maximum;
using dsl::minimum;
using dsl::plus;
}  // namespace kaio
