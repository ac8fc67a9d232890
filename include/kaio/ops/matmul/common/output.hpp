#pragma once
// C of a matmul kernel, whose element type is fixed by the kernel or given by the launch. In the second case
// one kernel serves several types, for one branch that is uniform across threads.
//
//   mma_sync_matmul<cut, product, f16, identity>           // out<f16> c
//   mma_sync_matmul<cut, product, any_output, identity>    // val<output_memory> c

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/address_of.hpp>
#include <kaio/ops/matmul/common/finish.hpp>
#include <kaio/ops/matmul/common/store_strip.hpp>

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
  u32 type;  // an output_type
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

template <std::uint32_t Size, class At, class Words>
constexpr void store_elements(thread t, const val<u64>& address, const val<output_lines>& lines, const At& at,
                              const Words& words) {
  const val first = t.let(address + cast<u64>(offset_in(t, lines, at.first)) * u64{Size});
  const val by_four = t.let(lines[&output_lines::by_four] != 0u);
  const auto aligned = [&] {
    if constexpr (exchanges_elements<Size, At>)
      return t.let(all_of(by_four, (lines[&output_lines::columns] & 3u) == 0u));
    else
      return by_four;
  };
  store_words<Size>(t, first, t.let(cast<u64>(lines[&output_lines::pitch])), aligned(), at, words);
}

template <class Out>
struct output_of {
  static constexpr auto name = type_name<Out>;
  template <bool Pointers>
  using parameter = std::conditional_t<Pointers, in<u64>, out<Out>>;

  // C, or the part of it with its own address.
  static constexpr out<Out> bind(thread, const out<Out>& c, const val<u32>&) { return c; }
  static constexpr out<Out> bind(thread t, const in<u64>& addresses, const val<u32>& part) {
    return pointer_at<out<Out>>(t, t.let(addresses[part]));
  }
  // Calls f(c as out<T>), where T is the element type of C.
  template <class F>
  static constexpr void typed(thread, const out<Out>& c, const F& f) {
    f(c);
  }
  template <class At, class Results>
  static constexpr void store(thread t, const out<Out>& c, const val<output_lines>& lines, const At& at,
                              const Results& x) {
    store_elements<sizeof(Out)>(t, address_of(c), lines, at, words_of<Out>(t, x));
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
  // Rounds by element type, stores by element size: types of one size share a store.
  template <class At, class Results>
  static constexpr void store(thread t, const val<output_memory>& c, const val<output_lines>& lines,
                              const At& at, const Results& x) {
    const val address = t.let(c[&output_memory::address]);
    const val type = t.let(c[&output_memory::type]);
    const auto of_size = [&]<std::uint32_t Size>(std::integral_constant<std::uint32_t, Size>) {
      if constexpr (((sizeof(T) == Size) || ...)) {
        const auto is = [&]<class U>(std::type_identity<U>) {
          if constexpr (sizeof(U) == Size)
            return type == static_cast<u32>(number_of_output<U>);
          else
            return val<bool>(false);
        };
        if (auto chosen = t.when(any_of(is(std::type_identity<T>{})...))) {
          auto words = array_of<Results::size() * Size / 4>([&](u32) { return var(t, 0u); });
          const auto round = [&]<class U>(std::type_identity<U> own) {
            if constexpr (sizeof(U) == Size)
              if (auto of_type = t.when(is(own))) {
                const auto rounded = words_of<U>(t, x);
                for (u32 i = 0; i < words.size(); ++i) words[i] = rounded[i];
              }
          };
          (round(std::type_identity<T>{}), ...);
          store_elements<Size>(t, address, lines, at, words);
        }
      }
    };
    of_size(std::integral_constant<std::uint32_t, 4>{});
    of_size(std::integral_constant<std::uint32_t, 2>{});
    of_size(std::integral_constant<std::uint32_t, 1>{});
  }
};

}  // namespace detail

// A strip of four columns; the column of `first` is a multiple of four.
template <std::uint32_t Rows, std::uint32_t Apart, std::uint32_t Lanes>
constexpr strip<Rows, Apart, Lanes> strip_of(thread t, const val<output_lines>& lines, const place& first) {
  const val rows = t.let(lines[&output_lines::rows]), columns = t.let(lines[&output_lines::columns]);
  const val rows_left = t.let(rows - min(first.row, rows));
  const val columns_left = t.let(columns - min(first.column, columns));
  return strip<Rows, Apart, Lanes>::within(t, first, rows_left, columns_left);
}

// Stores the results of a strip to C.
template <class Out, class C, class At, class Results>
constexpr void store_results(thread t, const C& c, const val<output_lines>& lines, const At& at,
                             const Results& x) {
  detail::output_of<Out>::store(t, c, lines, at, x);
}

// C = epilogue(x) for a strip; the epilogue sees places inside of C only. An epilogue that takes strips may have
// a function `stored`, which returns the strip of C where they go.
template <class Epilogue, class Out, class C, class At, class Sums, class... Extra>
constexpr void finish_strip(thread t, const C& c, const val<output_lines>& lines, const At& at, const Sums& x,
                            const Extra&... extra) {
  if constexpr (rows_at_once<Epilogue> != 1) {
    if constexpr (requires { Epilogue::stored(t, at, extra...); }) {
      const auto results = Epilogue::several(t, x, at, extra...);
      store_results<Out>(t, c, lines, Epilogue::stored(t, at, extra...), results);
    } else {
      store_results<Out>(t, c, lines, at, Epilogue::several(t, x, at, extra...));
    }
  } else {
    static_assert(At::rows == 1);
    using number = result_of_epilogue<Epilogue>;
    auto y = array_of<4>([&](u32) { return var(t, number{}); });
    if (auto inside = t.when(all_of(at.exists[0], at.has_columns()))) {
      const auto each = array_of<4>([&](u32 i) {
        return place{at.first.batch, at.first.row, t.let(at.first.column + min(at.columns_left - 1u, i))};
      });
      const auto results = finished<Epilogue>(t, x, each, extra...);
      for (u32 i = 0; i < 4; ++i) y[i] = results[i];
    }
    store_results<Out>(t, c, lines, at, array_of<4>([&](u32 i) { return val<number>(t.let(y[i])); }));
  }
}

}  // namespace kaio::ops
