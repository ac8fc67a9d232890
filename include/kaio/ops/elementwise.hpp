#pragma once
// A function of your own on all elements of tensors, in one launch at the speed of memory.
//
//   elementwise(s, [](thread, const val<f32>& x, const val<f32>& g) { return x * sigmoid(g); }, y, x, gate);
//   elementwise(s, [](const val<f32>& x, const val<f32>& a) { return x * a; }, y, x.transposed(), 0.5f);
//
// The function captures nothing. It takes the value of each input, with or without `thread t` before them,
// and returns the value of the output. f16, bf16, e4m3 and e5m2 arrive as f32, all other types as they are.
// The result has the output's type, or is an f32 that is rounded once to f16, bf16, e4m3 or e5m2.
//
// Inputs are broadcast as in NumPy: to the extents of the output, from an extent of 1 or missing first
// dimensions. They have any strides. An input may be a number of the host instead (f32, i32, ...), which the
// launch passes by value. The kernels are compiled where the call is: one for contiguous operands, one for
// transposed inputs, one for all other strides; a call launches the one that it needs. Nothing is allocated,
// read back or waited for, so a call may be captured into a graph once its kernel is loaded
// (elementwise_warmup). Throws invalid_argument, which names the argument, before anything runs; and what a
// launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/elementwise/call/call.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/stream.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace kaio::ops {

namespace detail {

// Calls F with or without the thread.
template <class F>
struct elementwise_function {
  template <class... V>
  static constexpr auto apply(thread t, const V&... x) {
    if constexpr (std::is_invocable_v<const F&, thread, const V&...>)
      return t.let(F{}(t, x...));
    else
      return t.let(F{}(x...));
  }
};

template <class I>
struct elementwise_input {
  static_assert(std::is_arithmetic_v<I> || std::is_same_v<I, f16> || std::is_same_v<I, bf16>,
                "kaio: an input of elementwise is a tensor_view of up to five dimensions, or a number");
  using type = elementwise_number<I>;
  static elementwise_operand operand(std::string_view name, const I& number) {
    u64 bits = 0;
    __builtin_memcpy(&bits, &number, sizeof(number));
    return {name, {}, bits};
  }
};
template <class T, std::size_t Rank>
struct elementwise_input<tensor_view<T, Rank>> {
  using type = std::remove_const_t<T>;
  static elementwise_operand operand(std::string_view name, const tensor_view<T, Rank>& view) {
    return {name, view, 0};
  }
};

template <class T>
concept elementwise_element = dsl::scalar<T> && !std::is_same_v<T, bool> && !dsl::packed<T>;

template <class F, class Out, class... In>
using elementwise_signature_of =
    elementwise_signature<elementwise_function<F>, elementwise_types<Out>,
                          elementwise_types<typename elementwise_input<In>::type...>>;

inline constexpr std::array<std::string_view, elementwise_inputs> elementwise_input_names{
    "input 0", "input 1", "input 2", "input 3", "input 4", "input 5", "input 6", "input 7"};

// The checks of F: what it captures, takes and returns. Compilers stop here, in the user's call.
template <class F, class Out, class... V>
constexpr auto require_elementwise_function() {
  constexpr bool is_free = std::is_class_v<F> && std::is_empty_v<F>;
  static_assert(
      is_free, "kaio: the function of elementwise is a lambda that captures nothing; pass numbers as inputs");
  if constexpr (is_free) {
    constexpr bool with_thread = std::is_invocable_v<const F&, thread, const V&...>;
    constexpr bool takes_values = with_thread || std::is_invocable_v<const F&, const V&...>;
    static_assert(takes_values,
                  "kaio: the function of elementwise takes `thread t`, or none, and a value of each input: "
                  "[](thread t, const val<f32>& x) { return x * 2.0f; }; f16 and bf16 arrive as f32");
    if constexpr (takes_values) {
      using result =
          typename std::conditional_t<with_thread, std::invoke_result<const F&, thread, const V&...>,
                                      std::invoke_result<const F&, const V&...>>::type;
      static_assert(dsl::device<result>, "kaio: the function of elementwise returns a value of the device");
      if constexpr (dsl::device<result>) {
        using value = dsl::element<result>;
        constexpr bool fits =
            std::is_same_v<value, Out> || (std::is_same_v<value, f32> && computed_as_f32<Out>);
        static_assert(fits,
                      "kaio: the function of elementwise returns the output's type, or an f32 for f16, bf16, "
                      "e4m3 and e5m2; write cast<T>(x)");
        return std::bool_constant<fits>{};
      } else {
        return std::false_type{};
      }
    } else {
      return std::false_type{};
    }
  } else {
    return std::false_type{};
  }
}

template <class F, class Out, std::size_t Rank, class... In>
constexpr auto require_elementwise() {
  static_assert(sizeof...(In) >= 1 && sizeof...(In) <= elementwise_inputs,
                "kaio: elementwise takes one to eight inputs");
  static_assert(Rank <= elementwise_dimensions, "kaio: elementwise takes views of up to five dimensions");
  static_assert(!std::is_const_v<Out>,
                "kaio: the output of elementwise is a view of elements that are not const");
  static_assert(elementwise_element<std::remove_const_t<Out>>,
                "kaio: the elements of elementwise are numbers of 1 to 8 bytes, not bool and no pairs");
  return require_elementwise_function<F, Out,
                                      val<value_of_operand<typename elementwise_input<In>::type>>...>();
}

}  // namespace detail

// out: 1 to 5 dimensions, any strides by which no two elements share a place. inputs: tensor_views of at most
// these dimensions, with extents of 1 or those of out; or numbers. An input may be out itself, element by
// element; otherwise it is apart from out. If out is empty, nothing runs. Any number of elements. Fastest if
// operands are contiguous along one dimension, and begin at multiples of 16 bytes.
template <class F, class Out, std::size_t Rank, class... In>
auto elementwise(const stream& s, F, const tensor_view<Out, Rank>& out, const In&... inputs) {
  if constexpr (decltype(detail::require_elementwise<F, Out, Rank, In...>())::value) {
    using kernels =
        detail::elementwise_kernels_of<"elementwise", detail::elementwise_signature_of<F, Out, In...>>;
    u32 i = 0;
    const detail::elementwise_operand operands[1 + sizeof...(In)] = {
        {"out", out, 0},
        detail::elementwise_input<In>::operand(detail::elementwise_input_names[i++], inputs)...};
    detail::run_elementwise(s, "elementwise", operands, 1, sizeof...(In), kernels::for_device(s));
  }
}

// Refuses an output that is no view.
template <class F, class Out, class... In>
  requires(!detail::views<0, Out>)
void elementwise(const stream&, F, const Out&, const In&...) {
  detail::refuse_views<Out>();
}

// Loads the kernels of a call ahead of their first use; arguments as for elementwise.
template <class F, class Out, std::size_t Rank, class... In>
auto elementwise_warmup(const runtime::device& gpu, F, const tensor_view<Out, Rank>&, const In&...) {
  if constexpr (decltype(detail::require_elementwise<F, Out, Rank, In...>())::value) {
    using kernels =
        detail::elementwise_kernels_of<"elementwise", detail::elementwise_signature_of<F, Out, In...>>;
    std::vector<const ptx::kernel_image*> images;
    kernels::list(images);
    for (const ptx::kernel_image* image : images)
      if (runs_on(*image, gpu.properties())) gpu.warmup(*image);
  }
}

}  // namespace kaio::ops

namespace kaio {
using ops::elementwise;
using ops::elementwise_warmup;
}  // namespace kaio
