#pragma once
// The source of an operand's elements: memory, or a function of the user's that makes them, such as a
// dequantisation. A function is a class without members, as an epilogue is:
//
//   struct from_int8 {
//     static constexpr fixed_string name = "int8";
//     constexpr val<f16> operator()(thread t, val<u32> batch, val<u32> line, val<u32> k, in<i8> weights,
//                                   in<f32> scales, val<u32> pitch) const {
//       return t.let(cast<f16>(cast<f32>(weights[line * pitch + k]) * scales[line]));
//     }
//   };
//
// `line` is a row of A or a column of B; `line` and `k` are inside the operand. A function that returns
// register_array<val<f16>, W> makes elements k to k + W - 1. W is a power of two, up to 16 bytes of elements,
// and k is a multiple of W. Elements beyond K are dropped, but their memory is read.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/mma_sync/config.hpp>

#include <cstdint>

namespace kaio::ops {

template <class... Parameters>
struct source_parameters {};

// An operand in memory: in<T>, or with Pointers an array of the addresses of its batches.
template <scalar T, bool Pointers = false>
struct in_memory {
  using element_type = T;
  static constexpr bool is_function = false;
  static constexpr fixed_string name = Pointers ? "p" : "b";
  using parameters = source_parameters<std::conditional_t<Pointers, in<u64>, in<T>>>;

  // The batch's first element.
  static constexpr in<T> input(thread t, const val<u32>& batch, const val<i64>& stride, const in<T>& x) {
    return x.from(t.let(cast<i64>(batch) * stride));
  }
  static constexpr in<T> input(thread t, const val<u32>& batch, const val<i64>&, const in<u64>& addresses) {
    return pointer_at<in<T>>(t, t.let(addresses[batch]));
  }
};

namespace detail {

template <class Call>
struct source_signature {
  static_assert(
      dsl::never<Call>,
      "kaio: a function for an operand is called as val<T> operator()(thread t, val<u32> batch, val<u32> line, val<u32> k, ...) const");
};
template <class T, class F, class... Extra>
struct source_signature<val<T> (F::*)(thread, val<u32>, val<u32>, val<u32>, Extra...) const> {
  using element_type = T;
  static constexpr std::uint32_t width = 1;
  using parameters = source_parameters<Extra...>;
};
template <class T, std::uint32_t Width, class F, class... Extra>
struct source_signature<dsl::register_array<val<T>, Width> (F::*)(thread, val<u32>, val<u32>, val<u32>,
                                                                  Extra...) const> {
  static_assert(Width * sizeof(T) <= 16 && (Width & (Width - 1)) == 0,
                "kaio: a function for an operand makes 1, 2, 4 or 8 elements, of at most 16 bytes together");
  using element_type = T;
  static constexpr std::uint32_t width = Width;
  using parameters = source_parameters<Extra...>;
};

}  // namespace detail

// An operand that a function makes.
template <class F>
struct made_by {
  static_assert(std::is_empty_v<F>,
                "kaio: a function for an operand has no members; it takes kernel parameters");
  using signature = detail::source_signature<decltype(&F::operator())>;
  using element_type = typename signature::element_type;
  static constexpr bool is_function = true;
  static constexpr std::uint32_t width = signature::width;
  using parameters = typename signature::parameters;

  // f(line, k) -> the elements from k on.
  template <class... Extra>
  static constexpr auto input(thread t, const val<u32>& batch, const val<i64>&, const Extra&... extra) {
    return [t, &batch, &extra...](const val<u32>& line, const val<u32>& k) {
      if constexpr (width == 1)
        return array_of<1>([&](u32) { return F{}(t, batch, line, k, extra...); });
      else
        return F{}(t, batch, line, k, extra...);
    };
  }
  static constexpr auto name = [] {
    if constexpr (requires { F::name; })
      return F::name;
    else
      return fixed_string("custom");
  }();
};

}  // namespace kaio::ops
