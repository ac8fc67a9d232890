#pragma once
// The function that a kernel of elementwise applies: its operands' types, and its call with one value of each
// input.

#include <kaio/ops/elementwise/common/element.hpp>
#include <kaio/ops/elementwise/common/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kaio::ops {

template <class... T>
struct elementwise_types {
  static constexpr u32 size = sizeof...(T);
};

namespace detail {

template <u32 I, class First, class... Rest>
struct type_at_place : type_at_place<I - 1, Rest...> {};
template <class First, class... Rest>
struct type_at_place<0, First, Rest...> {
  using type = First;
};

// Values of different types, made from left to right by braces.
template <std::size_t I, class V>
struct value_part {
  V value;
};
template <u32 I, class V>
constexpr const V& part_of(const value_part<I, V>& part) {
  return part.value;
}
template <u32 I, class V>
constexpr V& part_of(value_part<I, V>& part) {
  return part.value;
}
template <class Indices, class... V>
struct value_list;
template <std::size_t... I, class... V>
struct value_list<std::index_sequence<I...>, V...> : value_part<I, V>... {
  template <class Function, u32 Variant>
  constexpr auto apply(thread t) const {
    if constexpr (requires { Function::variants; })
      return Function::template apply<Variant>(t, static_cast<const value_part<I, V>&>(*this).value...);
    else
      return Function::apply(t, static_cast<const value_part<I, V>&>(*this).value...);
  }
};

// One value, or an array of them: the results of a function with one output or several.
template <class R>
constexpr auto results_of(thread t, const R& result) {
  if constexpr (dsl::device<R>)
    return array_of<1>([&](u32) { return t.let(result); });
  else
    return result;
}

}  // namespace detail

// Function::apply(t, value...) returns the value of the output, or an array of values for several outputs. A
// value is a val<T> of value_of_operand. Inputs may be elementwise_number<T>. A function may have
//
//   copies         true: the output is the input's bits
//   variants       a number N of functions. The last input is a number of u32, which chooses one: it calls
//                  apply<V>(t, value...), without that number
template <class Function, class Outputs, class Inputs>
struct elementwise_signature;
template <class Function, class... Out, class... In>
struct elementwise_signature<Function, elementwise_types<Out...>, elementwise_types<In...>> {
  static constexpr u32 outputs = sizeof...(Out), inputs = sizeof...(In), operands = outputs + inputs;
  static_assert(outputs >= 1 && inputs >= 1 && inputs <= elementwise_inputs);
  template <u32 I>
  using output = typename detail::type_at_place<I, Out...>::type;
  template <u32 I>
  using input = typename detail::type_at_place<I, In...>::type;
  template <u32 I>
  static constexpr bool is_number = detail::element_of_operand<input<I>>::is_number;

  static constexpr u32 bytes_of_largest() {
    u32 result = 1;
    for (const u32 bytes :
         {static_cast<u32>(sizeof(Out))..., detail::element_of_operand<In>::is_number
                                                ? 1u
                                                : static_cast<u32>(sizeof(detail::stored_operand<In>))...})
      result = bytes > result ? bytes : result;
    return result;
  }
  static constexpr u32 bytes_of_smallest() {
    u32 result = 8;
    for (const u32 bytes :
         {static_cast<u32>(sizeof(Out))..., detail::element_of_operand<In>::is_number
                                                ? 8u
                                                : static_cast<u32>(sizeof(detail::stored_operand<In>))...})
      result = bytes < result ? bytes : result;
    return result;
  }
  // Inputs that are no numbers of the host.
  static constexpr u32 tensors = ((detail::element_of_operand<In>::is_number ? 0u : 1u) + ...);
  // Neighbours that a thread moves at once, by accesses of at most 16 bytes: neighbouring threads access
  // neighbouring memory if one access is enough.
  static constexpr u32 width = bytes_of_largest() <= 2 ? 8 : bytes_of_smallest() == 8 ? 2 : 4;
  static constexpr bool copies = requires { Function::copies; };
  static constexpr bool has_variants = requires { Function::variants; };
  static constexpr bool rounds_to_bf16 = (std::is_same_v<Out, bf16> || ...);

  // Calls f(index) for each output or input, in order; the index is a std::integral_constant.
  template <class F>
  static constexpr void each_output(const F& f) {
    each(f, std::make_index_sequence<outputs>());
  }
  template <class F>
  static constexpr void each_input(const F& f) {
    each(f, std::make_index_sequence<inputs>());
  }

  // Calls f(variant) for the variant that the launch chose, in a uniform branch. addresses: of the problem.
  template <class Addresses, class F>
  static constexpr void with_variant(thread t, const Addresses& addresses, const F& f) {
    if constexpr (has_variants)
      with_variants(t, t.let(cast<u32>(addresses[operands - 1])), f,
                    std::make_index_sequence<Function::variants>());
    else
      f(std::integral_constant<u32, 0>{});
  }
  // The results for the values value(index) of the inputs, in an array of `outputs` values.
  template <u32 Variant, class Value>
  static constexpr auto apply(thread t, const Value& value) {
    return apply<Variant>(t, value, std::make_index_sequence<inputs - (has_variants ? 1 : 0)>());
  }

 private:
  template <class F, std::size_t... I>
  static constexpr void each(const F& f, std::index_sequence<I...>) {
    (f(std::integral_constant<u32, I>{}), ...);
  }
  template <class F, std::size_t... V>
  static constexpr void with_variants(thread t, const val<u32>& chosen, const F& f,
                                      std::index_sequence<V...>) {
    const auto one = [&]<u32 Variant>(std::integral_constant<u32, Variant> variant) {
      if (auto is = t.when(chosen == Variant)) f(variant);
    };
    (one(std::integral_constant<u32, V>{}), ...);
  }
  template <u32 Variant, class Value, std::size_t... I>
  static constexpr auto apply(thread t, const Value& value, std::index_sequence<I...> places) {
    using list = detail::value_list<decltype(places), val<detail::value_of_operand<input<I>>>...>;
    const list values{{value(std::integral_constant<u32, I>{})}...};
    return detail::results_of(t, values.template apply<Function, Variant>(t));
  }
};

}  // namespace kaio::ops
