#pragma once
// How a lane reads, rounds and writes its 16 elements of a row. All three give the same bits.
//
//   any_elements      type known at the launch; any address
//   half_elements     f16 or bf16, known at the launch; any address; sm_80 and later
//   whole_elements    T, known to the kernel; whole runs of 16 bytes; sm_80 and later

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/element_run.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

struct any_elements {
  template <class Vars>
  static constexpr void load(thread t, const val<u32>& type, const element_run& run, Vars& x, u32 first) {
    load_run(t, type, run, x, first);
  }
  template <class Vars>
  static constexpr void store(thread t, const val<u32>& type, const element_run& run, const Vars& x,
                              u32 first) {
    store_run(t, type, run, x, first);
  }
  // Rounds each element to its type in memory.
  template <class Vars>
  static constexpr void round(thread t, const val<u32>& type, Vars& x) {
    with_any_element(t, type, [&]<class A>(A) {
      if constexpr (!std::is_same_v<A, detail::stored_f32>)
        for (u32 i = 0; i < 2 * run_size; ++i) x[i] = A::read(A::write(t, t.let(x[i])));
    });
  }
};

// T is f16 or bf16.
template <class T>
struct whole_elements {
  using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
  using stored = std::conditional_t<std::is_same_v<T, f16>, detail::stored_f16, detail::stored_bf16>;

  template <class Vars>
  static constexpr void load(thread t, const val<u32>&, const element_run& run, Vars& x, u32 first) {
    const val v = pointer_at<inout<u32x4>>(t, run.address)[0];
    read(t, v, x, first);
  }
  template <class Vars>
  static constexpr void store(thread t, const val<u32>&, const element_run& run, const Vars& x, u32 first) {
    const auto word = array_of<4>([&](u32 w) { return word_of(t, x, first, w); });
    pointer_at<out<u32x4>>(t, run.address)[0] = make_vec(word[0], word[1], word[2], word[3]);
  }
  // The elements of four words, and a word of elements.
  template <class Words, class Vars>
  static constexpr void read(thread t, const Words& words, Vars& x, u32 first) {
    for (u32 i = 0; i < run_size; ++i) x[first + i] = detail::number_of_words<stored>(t, words, i);
  }
  template <class Vars>
  static constexpr val<u32> word_of(thread t, const Vars& x, u32 first, u32 w) {
    return t.let(bit_cast<u32>(pack<pair>(x[first + 2 * w], x[first + 2 * w + 1])));
  }
  template <class Vars>
  static constexpr void round(thread t, const val<u32>&, Vars& x) {
    for (u32 i = 0; i < 2 * run_size; i += 2) {
      const val both = t.let(pack<pair>(x[i], x[i + 1]));
      x[i] = cast<f32>(low(both));
      x[i + 1] = cast<f32>(high(both));
    }
  }
};

// The launch chooses f16 or bf16. From sm_80 on conversions are instructions. Before, rounding to bf16 takes
// eleven instructions, half of what the heads' kernel executes.
struct half_elements {
  template <class Vars>
  static constexpr void load(thread t, const val<u32>& type, const element_run& run, Vars& x, u32 first) {
    auto words = array_of<detail::run_words>([&](u32) { return var(t, 0u); });
    detail::load_words_of_run(t, run, words);
    of_type(t, type, [&]<class T>(T) { whole_elements<T>::read(t, words, x, first); });
  }
  template <class Vars>
  static constexpr void store(thread t, const val<u32>& type, const element_run& run, const Vars& x,
                              u32 first) {
    auto words = array_of<detail::run_words>([&](u32) { return var(t, 0u); });
    of_type(t, type, [&]<class T>(T) {
      for (u32 w = 0; w < detail::run_words; ++w) words[w] = whole_elements<T>::word_of(t, x, first, w);
    });
    detail::store_words_of_run(t, run, words);
  }
  template <class Vars>
  static constexpr void round(thread t, const val<u32>& type, Vars& x) {
    of_type(t, type, [&]<class T>(T) { whole_elements<T>::round(t, type, x); });
  }

 private:
  template <class F>
  static constexpr void of_type(thread t, const val<u32>& type, const F& f) {
    if (auto half = t.when(type == static_cast<u32>(element_type::f16))) f(f16{});
    if (auto brain = t.otherwise()) f(bf16{});
  }
};

}  // namespace kaio::ops
