#pragma once
// A step of the user's own in the heads of qkv_project. A head function is a class without members. Its
// operator() takes the thread, a row of a head, and then parameters of its own, which the launch takes after
// the others.
//
//   struct unit_length {                                             // y / |y| of Q and K
//     static constexpr fixed_string name = "unit_length";
//     static constexpr bool before_rotary = true;
//     constexpr void operator()(thread t, ops::qkv_row& row) const {
//       const val square = row.sum(t, [&](const val<f32>& x, const val<u32>&) { return t.let(x * x); });
//       const val inverse = t.let(select(row.is_v, 1.0f, rsqrt(square)));
//       row.each(t, [&](const val<f32>& x, const val<u32>&) { return t.let(x * inverse); });
//     }
//   };
//
// It runs after the norms: before the rotation if `before_rotary` is true, else after it and before q_scale.
// Its results are rounded to the element type, like those of every step. All threads of a warp call it
// together. sum() and largest() exchange numbers among them: call these, and each(), outside of when().
// `name` becomes a split of the kernel's name.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/common/rotate.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kaio::ops {

// A row of a head. A group of threads has it, each thread up to 16 elements.
struct qkv_row {
  // If the row does not exist or has no destination, all numbers are still within those of the call.
  val<bool> exists;
  val<bool> is_q, is_v;      // neither: a row of K
  val<u32> batch, token;     // batch and token of x
  val<u32> head;             // number among the heads of Q, K or V
  val<u32> position;         // as in qkv_rotary, also without tables; given positions may be any number
  val<u32> size;             // elements of the row
  val<bool> has_elements;    // this thread has elements of the row
  val<u32> first[2];         // first elements of its two runs of eight
  val<bool> is_element[16];  // whether each value is an element
  dsl::register_array<var<f32>, 16>& values;

  // The index in the row of value i; if value i is no element, the row's last index.
  constexpr val<u32> element(thread t, u32 i) const { return t.let(min(first[i / 8] + i % 8, size - 1u)); }

  // x = f(x, element) for each element of the row. f may read memory by the numbers of the row.
  template <class F>
  constexpr void each(thread t, const F& f) {
    if (auto some = t.when(has_elements))
      for (u32 i = 0; i < 16; ++i) {
        const val x = t.let(values[i]);
        const val at = element(t, i);
        const val y = t.let(f(x, at));
        values[i] = select(is_element[i], y, x);
      }
  }
  // The sum of f(x, element) over the row, and the largest: 0 and the lowest f32 if the row has no elements.
  // The order of the additions depends only on the size of the row.
  template <class F>
  constexpr val<f32> sum(thread t, const F& f) const {
    return reduce(t, f, 0.0f, [](const auto& a, const auto& b) { return a + b; });
  }
  template <class F>
  constexpr val<f32> largest(thread t, const F& f) const {
    return reduce(t, f, std::numeric_limits<f32>::lowest(),
                  [](const auto& a, const auto& b) { return max(a, b); });
  }

  val<u32> lanes;  // threads of the group

 private:
  template <class F, class Join>
  constexpr val<f32> reduce(thread t, const F& f, f32 start, const Join& join) const {
    var result(t, start);
    if (auto some = t.when(has_elements))
      for (u32 i = 0; i < 16; ++i) {
        const val x = t.let(values[i]);
        const val at = element(t, i);
        const val y = t.let(f(x, at));
        result = select(is_element[i], join(result, y), result);
      }
    for (u32 distance = 16; distance != 0; distance /= 2) {
      const val other = shfl_xor(result, distance);
      result = select(lanes > distance, join(result, other), result);
    }
    return t.let(result);
  }
};

// The parameters that a head function adds to its kernel.
template <class... Extra>
struct qkv_head_parameters {};

namespace detail {
template <class Call>
struct head_signature {
  static_assert(dsl::never<Call>,
                "kaio: a head function is called as void operator()(thread t, ops::qkv_row& row, ...) const");
};
template <class H, class... Extra>
struct head_signature<void (H::*)(thread, qkv_row&, Extra...) const> {
  static_assert((dsl::is_parameter<Extra> && ...),
                "kaio: the further parameters of a head function are in<T>, inout<T> and val<T>, by value");
  using parameters = qkv_head_parameters<Extra...>;
};

template <class H>
constexpr auto name_of_head_function() {
  if constexpr (requires { H::name; })
    return H::name;
  else
    return fixed_string("custom");
}
}  // namespace detail

template <class H>
using parameters_of_head = typename detail::head_signature<decltype(&H::operator())>::parameters;

template <class H>
concept qkv_head_function = std::is_empty_v<H> && requires { typename parameters_of_head<H>; };

template <class H>
inline constexpr auto head_function_name = detail::name_of_head_function<H>();

template <class H>
inline constexpr bool runs_before_rotary = [] {
  if constexpr (requires { H::before_rotary; })
    return H::before_rotary;
  else
    return false;
}();

// No step of the user's own.
struct no_head_function {
  constexpr void operator()(thread, qkv_row&) const {}
};

}  // namespace kaio::ops
