#pragma once
// The values that threads can exchange: a device value, or an aggregate of vals, so that a struct of the
// user's travels as one value. An aggregate is taken apart into the numbers of its values; aggregate
// initialisation puts it together again. Its at most 8 members are vals, such aggregates, and arrays in
// registers (array_of).
//
//   struct moments { val<f32> mean, m2, count; };
//   const moments neighbour = shfl_down(mine, 1);

#include <kaio/dsl/expression/array.hpp>
#include <kaio/dsl/expression/val.hpp>
#include <kaio/dsl/memory/record.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::dsl {

// A class whose members are device values, or such classes.
template <class S>
concept aggregate = std::is_class_v<S> && std::is_aggregate_v<S> && !device<S>;

template <class S>
concept exchangeable = device<S> || aggregate<S> || record_source<S>;

namespace detail {

// The numbers of the values of an aggregate, in the order of its members.
template <std::uint32_t N>
struct value_list {
  value ids[N] = {};
};

struct any_member {
  template <class T>
  operator T() const;
};

template <class S, std::uint32_t... I>
constexpr bool takes(index_list<I...>) {
  return requires { S{(static_cast<void>(I), any_member{})...}; };
}

// vals have no default, so an aggregate of them takes one initialiser for each member.
template <class S, std::uint32_t Try = 8>
constexpr std::uint32_t count_members() {
  if constexpr (Try == 0 || takes<S>(indices<Try>{}))
    return Try;
  else
    return count_members<S, Try - 1>();
}

// f(the members of s)
template <class S, class F>
constexpr auto with_members(const S& s, const F& f) {
  constexpr std::uint32_t count = count_members<S>();
  static_assert(count != 0,
                "kaio: an aggregate of vals has 1 to 8 members; nest aggregates, or use array_of, for more");
  if constexpr (count == 1) {
    const auto& [a] = s;
    return f(a);
  } else if constexpr (count == 2) {
    const auto& [a, b] = s;
    return f(a, b);
  } else if constexpr (count == 3) {
    const auto& [a, b, c] = s;
    return f(a, b, c);
  } else if constexpr (count == 4) {
    const auto& [a, b, c, d] = s;
    return f(a, b, c, d);
  } else if constexpr (count == 5) {
    const auto& [a, b, c, d, e] = s;
    return f(a, b, c, d, e);
  } else if constexpr (count == 6) {
    const auto& [a, b, c, d, e, g] = s;
    return f(a, b, c, d, e, g);
  } else if constexpr (count == 7) {
    const auto& [a, b, c, d, e, g, h] = s;
    return f(a, b, c, d, e, g, h);
  } else if constexpr (count == 8) {
    const auto& [a, b, c, d, e, g, h, i] = s;
    return f(a, b, c, d, e, g, h, i);
  }
}

// Takes a value apart, and puts it together.
template <class S>
struct composition {
  static_assert(never<S>, "kaio: a member of an aggregate is neither a val nor an aggregate of vals");
  using result = S;
  static constexpr std::uint32_t leaves = 0;
  static constexpr tracer* context(const S&) { return nullptr; }
  static constexpr void flatten(tracer&, const S&, value*&) {}
  static constexpr result rebuild(tracer&, const value*&) { return {}; }
};

template <device E>
struct composition<E> {
  static_assert(node_of<E>::bound, "kaio: the value knows no kernel yet; bind it with t.let(value)");
  using result = val<element<E>>;
  static constexpr std::uint32_t leaves = 1;
  static constexpr tracer* context(const E& e) { return e.node().context(); }
  static constexpr void flatten(tracer& t, const E& e, value*& next) { *next++ = lower(t, e.node()); }
  static constexpr result rebuild(tracer& t, const value*& next) { return result(t, *next++); }
};

template <class S, class... M>
struct aggregate_of {
  using result = S;
  static constexpr std::uint32_t leaves = (composition<M>::leaves + ... + 0);
  static constexpr void flatten(tracer& t, const S& s, value*& next) {
    with_members(s, [&](const M&... m) { (composition<M>::flatten(t, m, next), ...); });
  }
  static constexpr S rebuild(tracer& t, const value*& next) { return S{composition<M>::rebuild(t, next)...}; }
  static constexpr tracer* context(const S& s) {
    return with_members(s, [](const M&... m) {
      tracer* t = nullptr;  // some members may be literals
      ((t = t != nullptr ? t : composition<M>::context(m)), ...);
      return t;
    });
  }
};

template <class S>
struct aggregate_with {
  template <class... M>
  constexpr aggregate_of<S, M...> operator()(const M&...) const {
    return {};
  }
};

template <aggregate S>
struct composition<S> : decltype(with_members(imagine<S>(), aggregate_with<S>{})) {};

// A struct of the host, in a val, a var or memory.
template <record_source E>
struct composition<E> {
  using record_type = typename E::record_type;
  using result = val<record_type>;
  static constexpr std::uint32_t leaves = fields_of<record_type>.size;
  static constexpr tracer* context(const E& e) { return e.context(); }
  static constexpr void flatten(tracer& t, const E& e, value*& next) {
    if (!t.probing()) e.read(t, next);
    next += leaves;
  }
  static constexpr result rebuild(tracer& t, const value*& next) {
    const result whole(t, next);
    next += leaves;
    return whole;
  }
};

template <exchangeable V, std::uint32_t N>
struct composition<register_array<V, N>> {
  using result = register_array<typename composition<V>::result, N>;
  static constexpr std::uint32_t leaves = N * composition<V>::leaves;
  static constexpr tracer* context(const register_array<V, N>& a) {
    tracer* t = nullptr;
    for (const V& v : a.values) t = t != nullptr ? t : composition<V>::context(v);
    return t;
  }
  static constexpr void flatten(tracer& t, const register_array<V, N>& a, value*& next) {
    for (const V& v : a.values) composition<V>::flatten(t, v, next);
  }
  static constexpr result rebuild(tracer& t, const value*& next) { return rebuild(t, next, indices<N>{}); }

 private:
  template <std::uint32_t... I>
  static constexpr result rebuild(tracer& t, const value*& next, index_list<I...>) {
    return {{(static_cast<void>(I), composition<V>::rebuild(t, next))...}};
  }
};

// The type that exchanging an S gives.
template <exchangeable S>
using exchanged = typename composition<S>::result;

template <exchangeable S>
using values_of = value_list<composition<S>::leaves>;

template <exchangeable S>
constexpr values_of<S> flatten(tracer& t, const S& s) {
  values_of<S> list;
  value* next = list.ids;
  composition<S>::flatten(t, s, next);
  return list;
}

// S is the type of a result.
template <exchangeable S>
constexpr S rebuild(tracer& t, const values_of<S>& list) {
  const value* next = list.ids;
  return composition<S>::rebuild(t, next);
}

template <exchangeable S>
constexpr tracer& kernel_of_members(const S& s) {
  tracer* const t = composition<S>::context(s);
  if (t == nullptr) kernel_error("kaio: literals alone know no kernel; bind one of them: t.let(1.0f)");
  return *t;
}

template <class X>
constexpr void see_part(tracer& t, const X& x) {
  if constexpr (exchangeable<X>)
    flatten(t, x);
  else
    see_operand(t, x);
}

// One statement of the kernel that gives a value: `make(tracer)` emits and returns it from these operands.
template <exchangeable S, class Make, class... Operand>
constexpr S emit(tracer& t, std::uint32_t line, const char* file, const Make& make,
                 const Operand&... operands) {
  t.statement(line, file);
  if (t.probing()) {
    (see_part(t, operands), ...);
    values_of<S> named;
    for (value& id : named.ids) id = t.new_identity();
    return rebuild<S>(t, named);
  }
  t.begin_lowering();
  const values_of<S> list = make(t);
  t.end_lowering();
  return rebuild<S>(t, list);
}

template <std::uint32_t N>
constexpr value_list<N> select(tracer& t, value condition, const value_list<N>& a, const value_list<N>& b) {
  value_list<N> result;
  for (std::uint32_t k = 0; k < N; ++k)
    result.ids[k] = t.select(t.type_of(a.ids[k]), condition, a.ids[k], b.ids[k]);
  return result;
}

// The type of op(a, b) for two S; void if it cannot be called.
template <class Op, class S>
struct operator_result {
  using type = void;
};
template <class Op, class S>
  requires requires(const Op& op, const S& s) { op(s, s); }
struct operator_result<Op, S> {
  using type = std::remove_cvref_t<decltype(imagine<Op>()(imagine<S>(), imagine<S>()))>;
};
template <class Op, class S>
using result_of = typename operator_result<Op, S>::type;

// op(a, b) on an S.
template <exchangeable S, class Op>
constexpr values_of<S> combine(tracer& t, const Op& op, const values_of<S>& a, const values_of<S>& b) {
  const S left = rebuild<S>(t, a);
  const S right = rebuild<S>(t, b);
  using returned = result_of<Op, S>;
  static_assert(
      !std::is_void_v<returned>,
      "kaio: the operator of a reduction or a scan takes two values and returns one: [](auto a, auto b) { return a + b; }");
  if constexpr (std::is_void_v<returned>)
    return {};
  else if constexpr (device<S>) {
    const auto result = op(left, right);
    static_assert(
        device_of<returned, element<S>>,
        "kaio: the operator of a reduction or a scan returns the type of its operands; write cast<T>(x)");
    if constexpr (device_of<returned, element<S>>)
      return {{lower(t, result.node())}};
    else
      return {};
  } else {
    static_assert(std::is_same_v<returned, S>,
                  "kaio: the operator of a reduction or a scan returns the type of its operands");
    if constexpr (std::is_same_v<returned, S>)
      return flatten(t, op(left, right));
    else
      return {};
  }
}

}  // namespace detail

}  // namespace kaio::dsl
