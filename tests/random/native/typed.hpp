#pragma once
// The language's functions and operators on one type, called for the nodes of a random program. An operand is
// a val of its own, except in operations that are one expression of several operators.

#include "tests/random/native/machine.hpp"

namespace kaio::tests::random {
namespace detail {

template <class T>
class trace_of {
 public:
  explicit trace_of(machine& m) : m_(m) {}

  val<T> number(const expression& e) {
    const auto at = [&](std::size_t k) { return number(e.operands[k]); };
    switch (e.what) {
      case op::literal: return literal(e);
      case op::read: return m_.get<T>(e.name);
      case op::convert: return convert(e.operands[0]);
      case op::from_condition: return cast<T>(m_.condition(e.operands[0]));
      case op::select: {
        const val c = m_.condition(e.operands[0]);
        const val a = at(1);
        const val b = at(2);
        return select(c, a, b);
      }
      case op::neg:
      case op::abs:
      case op::bit_not:
      case op::brev:
      case op::sqrt:
      case op::shift_left_by:
      case op::shift_right_by:
      case op::rotate_left: return unary(e, at(0));
      default: break;
    }
    const val a = at(0);
    if constexpr (!is_float<T>)
      if (e.what == op::shift_left || e.what == op::shift_right) return shift(e, a);
    const val b = at(1);
    return e.operands.size() == 2 ? binary(e, a, b) : several(e, a, b);
  }

  val<bool> compare(const expression& e) {
    const val a = number(e.operands[0]);
    const val b = number(e.operands[1]);
    switch (e.what) {
      case op::less: return a < b;
      case op::less_equal: return a <= b;
      case op::greater: return a > b;
      case op::greater_equal: return a >= b;
      case op::equal: return a == b;
      default: return a != b;
    }
  }

  void run(const statement& s) {
    switch (s.what) {
      case action::bind: return m_.bind<T>(s.name, number(s.operands[0]));
      case action::rearrange: return rearrange(s);
      case action::shuffle:
      case action::reduce: return exchange(s);
      case action::range:
      case action::rounds:
        if constexpr (!is_float<T>) range(s);
        return;
      case action::or_with:
        if constexpr (!is_float<T>) m_.variable<T>(s.name) |= number(s.operands[0]);
        return;
      case action::shift_by:
        if constexpr (!is_float<T>) m_.variable<T>(s.name) >>= typed<u32>::number(m_, s.operands[0]);
        return;
      default: return keep(s);
    }
  }

 private:
  val<T> literal(const expression& e) {
    if constexpr (is_float<T>)
      return m_.thread.let(val<T, dsl::literal<T>>(static_cast<float>(e.real)));
    else
      return m_.thread.let(val<T, dsl::literal<T>>(static_cast<T>(e.whole)));
  }

  val<T> convert(const expression& e) {
    return with_type(e.type, [&]<class From>(std::type_identity<From>) -> val<T> {
      const val x = typed<From>::number(m_, e);
      if constexpr (std::is_same_v<From, T>) {
        return x;
      } else if constexpr (is_float<From> && !is_float<T>) {
        return cast<T>(select(x == x, x, 1.0f));
      } else {
        return cast<T>(x);
      }
    });
  }

  val<T> unary(const expression& e, const val<T>& a) {
    const auto by = static_cast<u32>(e.whole);
    if constexpr (is_float<T>) {
      if (e.what == op::neg) return -a;
      if (e.what == op::abs) return abs(a);
      return sqrt(a);
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (e.what == op::neg) return -a;
        if (e.what == op::abs) return abs(a);
      }
      switch (e.what) {
        case op::bit_not: return ~a;
        case op::brev: return brev(a);
        case op::shift_left_by: return a << by;
        case op::shift_right_by: return a >> by;
        default: return rotate_left(a, by);
      }
    }
  }

  val<T> shift(const expression& e, const val<T>& a) {
    const val by = typed<u32>::number(m_, e.operands[1]);
    if (e.what == op::shift_left) return a << (by & 63);
    return a >> (by & 63);
  }

  val<T> binary(const expression& e, const val<T>& a, const val<T>& b) {
    switch (e.what) {
      case op::add: return a + b;
      case op::sub: return a - b;
      case op::mul: return a * b;
      case op::quotient: return a / b;
      case op::minimum: return min(a, b);
      case op::maximum: return max(a, b);
      default: break;
    }
    if constexpr (!is_float<T>) {
      switch (e.what) {
        case op::remainder: return a % b;
        case op::bit_and: return a & b;
        case op::bit_or: return a | b;
        case op::bit_xor: return a ^ b;
        case op::mul_hi: return mul_hi(a, b);
        case op::add_sat: return add_sat(a, b);
        case op::sub_sat: return sub_sat(a, b);
        default: return (a << static_cast<u32>(e.whole)) + b;  // shifted_sum
      }
    }
    return a;
  }

  val<T> several(const expression& e, const val<T>& a, const val<T>& b) {
    const val c = number(e.operands[2]);
    switch (e.what) {
      case op::product_plus: return a * b + c;
      case op::plus_product: return c + a * b;
      case op::product_minus: return a * b - c;
      case op::minus_product: return c - a * b;
      case op::clamped: return min(max(a, b), c);
      case op::masked:
        if constexpr (!is_float<T>) return (a & b) ^ c;
        break;
      default: break;
    }
    const val d = number(e.operands[3]);
    if (e.what == op::two_products) return a * b + c * d;
    if (e.what == op::lesser) return select(a < b, c + d, b);
    const val x = number(e.operands[4]);
    return (a * b + c) * d + x;
  }

  // Calls f with the root of an expression as an expression of the language, for functions that may compute
  // it in place.
  template <class F>
  void with_root(const expression& e, const F& f) {
    if (e.what != op::add && e.what != op::mul && e.what != op::product_plus) return f(number(e));
    const val a = number(e.operands[0]);
    const val b = number(e.operands[1]);
    if (e.what == op::add) return f(a + b);
    if (e.what == op::mul) return f(a * b);
    const val c = number(e.operands[2]);
    return f(a * b + c);
  }

  void keep(const statement& s) {
    with_root(s.operands[0], [&](const auto& tree) {
      switch (s.what) {
        case action::declare: return m_.declare<T>(s.name, tree);
        case action::assign: m_.variable<T>(s.name) = tree; return;
        case action::add_to: m_.variable<T>(s.name) += tree; return;
        case action::sub_from: m_.variable<T>(s.name) -= tree; return;
        case action::mul_by: m_.variable<T>(s.name) *= tree; return;
        default: m_.output<T>(s.output)[m_.index + s.number * threads] = tree;
      }
    });
  }

  void rearrange(const statement& s) {
    shared<T, threads> array(m_.thread);
    array[m_.index] = m_.get<T>(s.source);
    m_.thread.barrier();
    m_.bind<T>(s.name, array[(m_.index * s.number + 3) % threads]);
    m_.thread.barrier();
  }

  void exchange(const statement& s) {
    if constexpr (sizeof(T) >= 4) {
      const val x = m_.get<T>(s.source);
      if (s.what == action::shuffle) return m_.bind<T>(s.name, shfl_xor(x, s.number));
      if constexpr (is_float<T>)  // the order of a floating sum is tested elsewhere
        m_.bind<T>(s.name, block_reduce(m_.thread, x, maximum{}));
      else
        m_.bind<T>(s.name, block_reduce(m_.thread, x, plus{}));
    }
  }

  void range(const statement& s) {
    const val first = number(s.operands[0]);
    const val last = number(s.operands[1]);
    const val step = number(s.operands[2]);
    const auto run = [&](auto&& loop) {
      for (auto k : loop) {
        m_.loops.push_back(std::addressof(k));
        m_.bind<T>(s.name, k);
        m_.run(s.body);
        m_.loops.pop_back();
      }
    };
    auto loop = m_.thread.range(first, last, step);
    if (s.copies == 1) return run(loop);
    if (s.copies == no_unroll) return run(loop.no_unroll());
    if (s.copies == 0) return run(loop.unroll());
    run(loop.unroll(s.copies));
  }

  machine& m_;
};

}  // namespace detail

// Each is instantiated in one file alone.
extern template struct typed<i8>;
extern template struct typed<i16>;
extern template struct typed<i32>;
extern template struct typed<i64>;
extern template struct typed<u8>;
extern template struct typed<u16>;
extern template struct typed<u32>;
extern template struct typed<u64>;
extern template struct typed<f16>;
extern template struct typed<bf16>;
extern template struct typed<f32>;
extern template struct typed<f64>;

template <class T>
val<T> typed<T>::number(machine& m, const expression& e) {
  return detail::trace_of<T>(m).number(e);
}
template <class T>
val<bool> typed<T>::compare(machine& m, const expression& e) {
  return detail::trace_of<T>(m).compare(e);
}
template <class T>
void typed<T>::run(machine& m, const statement& s) {
  detail::trace_of<T>(m).run(s);
}

}  // namespace kaio::tests::random
