#pragma once
// C of a matmul kernel whose element type the kernel fixes, or whose launch gives it: then one kernel serves
// several, for a branch that all threads take alike.
//
//   mma_sync_matmul<cut, product, f16, identity>           // out<f16> c
//   mma_sync_matmul<cut, product, any_output, identity>    // val<output_memory> c

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/finish.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// One of these types.
template <class... T>
struct output_among {};
using any_output = output_among<f32, f16, bf16>;

// The element type of a C, given at the launch.
enum class output_type : u32 { f32, f16, bf16, e4m3, i8 = 5, i32 };
constexpr u32 bytes_of(output_type type) {
  if (type == output_type::i8 || type == output_type::e4m3) return 1;
  return type == output_type::f32 || type == output_type::i32 ? 4 : 2;
}
struct output_memory {
  u64 address;
  u32 type;  // of output_type
  u32 unused = 0;
};

namespace detail {

template <class Out>
inline constexpr bool is_output_among = false;
template <class... T>
inline constexpr bool is_output_among<output_among<T...>> = true;

template <class T>
inline constexpr output_type number_of_output = std::is_same_v<T, f32>    ? output_type::f32
                                                : std::is_same_v<T, f16>  ? output_type::f16
                                                : std::is_same_v<T, bf16> ? output_type::bf16
                                                : std::is_same_v<T, e4m3> ? output_type::e4m3
                                                : std::is_same_v<T, i8>   ? output_type::i8
                                                                          : output_type::i32;

template <class Out>
struct output_of {
  static constexpr auto name = type_name<Out>;
  template <bool Pointers>
  using parameter = std::conditional_t<Pointers, in<u64>, out<Out>>;

  // C, or the part of it that has an address of its own.
  static constexpr out<Out> bind(thread, const out<Out>& c, const val<u32>&) { return c; }
  static constexpr out<Out> bind(thread t, const in<u64>& addresses, const val<u32>& part) {
    return pointer_at<out<Out>>(t, t.let(addresses[part]));
  }
  // f(c as out<T>), T the element type of C.
  template <class F>
  static constexpr void typed(thread, const out<Out>& c, const F& f) {
    f(c);
  }
};

template <class... T>
struct output_of<output_among<T...>> {
  static constexpr fixed_string name = "any";
  template <bool Pointers>
  using parameter = val<output_memory>;

  static constexpr const val<output_memory>& bind(thread, const val<output_memory>& c, const val<u32>&) {
    return c;
  }
  template <class F>
  static constexpr void typed(thread t, const val<output_memory>& c, const F& f) {
    const val address = t.let(c[&output_memory::address]);
    const val type = t.let(c[&output_memory::type]);
    const auto one = [&]<class U>(std::type_identity<U>) {
      if (auto chosen = t.when(type == static_cast<u32>(number_of_output<U>)))
        f(pointer_at<out<U>>(t, address));
    };
    (one(std::type_identity<T>{}), ...);
  }
};

}  // namespace detail

// Results of four neighbours from `first` on, whose column is a multiple of four, into C. What is outside of C is
// dropped: make(), which is called for a place inside C, gives them.
template <class Out, class C, class Make>
constexpr void store_results(thread t, const C& c, const val<output_lines>& lines, const place& first,
                             const Make& make) {
  const val rows = t.let(lines[&output_lines::rows]);
  const val columns = t.let(lines[&output_lines::columns]);
  if (auto inside = t.when(all_of(first.row < rows, first.column < columns))) {
    const auto y = make(columns);
    const val offset = offset_in(t, lines, first);
    detail::output_of<Out>::typed(
        t, c, [&](const auto& memory) { store_four(t, memory, lines, first, offset, y); });
  }
}

// C = epilogue(x[i]) for these neighbours; the epilogue sees places inside of C only.
template <class Epilogue, class Out, class C, class Sum, class... Extra>
constexpr void finish_four(thread t, const C& c, const val<output_lines>& lines, const place& first,
                           const dsl::register_array<val<Sum>, 4>& x, const Extra&... extra) {
  store_results<Out>(t, c, lines, first, [&](const val<u32>& columns) {
    const auto at = array_of<4>([&](u32 i) {
      return place{first.batch, first.row, t.let(min(first.column + i, columns - 1u))};
    });
    return finished<Epilogue>(t, x, at, extra...);
  });
}

}  // namespace kaio::ops
