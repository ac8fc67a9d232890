#pragma once
// Runs of up to eight consecutive elements of a row, in registers as f32, whatever their type in memory. A
// whole and aligned run takes one access of 16 bytes (f32: two). Any other run goes element by element.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/any_element.hpp>
#include <kaio/ops/shared/rows.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

struct element_run {
  val<u64> address;  // of the first element
  val<u32> count;    // 0 to 8
  val<bool> whole;   // eight, aligned to 16 bytes
};

// The run of elements `first` to before `limit` of a row, eight at most. Elements have 1 << shift bytes.
constexpr element_run run_of(thread t, const val<u64>& row, const val<u32>& shift, const val<u32>& first,
                             const val<u32>& limit, const val<bool>& aligned) {
  const val count = t.let(select(first < limit, min(limit - first, run_size), 0u));
  return {t.let(row + (cast<u64>(first) << shift)), count, t.let(all_of(aligned, count == run_size))};
}

namespace detail {

inline constexpr u32 run_words = run_size / 2;  // words of a run of 16-bit elements

// Element i of words of 16-bit elements, as f32.
template <class A, class Words>
constexpr val<f32> number_of_words(thread t, const Words& words, u32 i) {
  if constexpr (std::is_same_v<A, stored_f16>) {
    const val both = t.let(bit_cast<f16x2>(words[i / 2]));
    return i % 2 == 0 ? t.let(cast<f32>(low(both))) : t.let(cast<f32>(high(both)));
  } else {
    return i % 2 == 0 ? t.let(bit_cast<f32>(words[i / 2] << 16))
                      : t.let(bit_cast<f32>(words[i / 2] & 0xffff0000u));
  }
}
// Word w of the elements from x[first] on.
template <class A, class Vars>
constexpr val<u32> word_of_numbers(thread t, const Vars& x, std::uint32_t first, u32 w) {
  if constexpr (std::is_same_v<A, stored_f16>) {
    return t.let(bit_cast<u32>(pack<f16x2>(x[first + 2 * w], x[first + 2 * w + 1])));
  } else {
    const val even = A::write(t, t.let(x[first + 2 * w]));
    const val odd = A::write(t, t.let(x[first + 2 * w + 1]));
    return t.let(cast<u32>(even) | cast<u32>(odd) << 16);
  }
}

template <class Vars>
constexpr void load_single_run(thread t, const element_run& run, Vars& x, std::uint32_t first) {
  if (auto whole = t.when(run.whole)) {
    const auto memory = pointer_at<inout<f32x4>>(t, run.address);
    for (u32 half = 0; half < 2; ++half) {
      const val v = memory[half];
      for (u32 i = 0; i < 4; ++i) x[first + 4 * half + i] = v[i];
    }
  }
  if (auto part = t.otherwise()) {
    const auto memory = pointer_at<inout<f32>>(t, run.address);
    for (u32 i = 0; i < run_size; ++i)
      if (auto exists = t.when(run.count > i)) x[first + i] = memory[i];
  }
}
template <class Vars>
constexpr void store_single_run(thread t, const element_run& run, const Vars& x, std::uint32_t first) {
  if (auto whole = t.when(run.whole)) {
    const auto memory = pointer_at<out<f32x4>>(t, run.address);
    for (u32 half = 0; half < 2; ++half) {
      const auto v = array_of<4>([&](u32 i) { return t.let(x[first + 4 * half + i]); });
      memory[half] = make_vec(v[0], v[1], v[2], v[3]);
    }
  }
  if (auto part = t.otherwise()) {
    const auto memory = pointer_at<out<f32>>(t, run.address);
    for (u32 i = 0; i < run_size; ++i)
      if (auto exists = t.when(run.count > i)) memory[i] = x[first + i];
  }
}

// Loads the words of a run of 16-bit elements. Elements beyond the run stay as they are.
template <class Words>
constexpr void load_words_of_run(thread t, const element_run& run, Words& words) {
  if (auto whole = t.when(run.whole)) {
    const val v = pointer_at<inout<u32x4>>(t, run.address)[0];
    for (u32 w = 0; w < run_words; ++w) words[w] = v[w];
  }
  if (auto part = t.otherwise()) {
    const auto memory = pointer_at<inout<u16>>(t, run.address);
    for (u32 i = 0; i < run_size; ++i)
      if (auto exists = t.when(run.count > i)) words[i / 2] |= cast<u32>(memory[i]) << (i % 2 * 16);
  }
}
template <class Words>
constexpr void store_words_of_run(thread t, const element_run& run, const Words& words) {
  if (auto whole = t.when(run.whole))
    pointer_at<out<u32x4>>(t, run.address)[0] = make_vec(words[0], words[1], words[2], words[3]);
  if (auto part = t.otherwise()) {
    const auto memory = pointer_at<out<u16>>(t, run.address);
    for (u32 i = 0; i < run_size; ++i)
      if (auto exists = t.when(run.count > i)) memory[i] = cast<u16>(words[i / 2] >> (i % 2 * 16));
  }
}

}  // namespace detail

// Loads the run into x[first], x[first + 1], ... Elements beyond the run become 0 or stay as they are. `type`
// is an element_type.
template <class Vars>
constexpr void load_run(thread t, const val<u32>& type, const element_run& run, Vars& x,
                        std::uint32_t first) {
  const val is_single = t.let(type == static_cast<u32>(element_type::f32));
  if (auto single = t.when(is_single)) detail::load_single_run(t, run, x, first);
  if (auto two_bytes = t.otherwise()) {
    auto words = array_of<detail::run_words>([&](u32) { return var(t, 0u); });
    detail::load_words_of_run(t, run, words);
    const auto read = [&]<class A>(A) {
      for (u32 i = 0; i < run_size; ++i) x[first + i] = detail::number_of_words<A>(t, words, i);
    };
    const val is_half = t.let(type == static_cast<u32>(element_type::f16));
    if (auto half = t.when(is_half)) read(detail::stored_f16{});
    if (auto brain = t.otherwise()) read(detail::stored_bf16{});
  }
}

// Stores x[first], x[first + 1], ... into the run; rounded once, to the nearest, ties to even.
template <class Vars>
constexpr void store_run(thread t, const val<u32>& type, const element_run& run, const Vars& x,
                         std::uint32_t first) {
  const val is_single = t.let(type == static_cast<u32>(element_type::f32));
  if (auto single = t.when(is_single)) detail::store_single_run(t, run, x, first);
  if (auto two_bytes = t.otherwise()) {
    auto words = array_of<detail::run_words>([&](u32) { return var(t, 0u); });
    const auto write = [&]<class A>(A) {
      for (u32 w = 0; w < detail::run_words; ++w) words[w] = detail::word_of_numbers<A>(t, x, first, w);
    };
    const val is_half = t.let(type == static_cast<u32>(element_type::f16));
    if (auto half = t.when(is_half)) write(detail::stored_f16{});
    if (auto brain = t.otherwise()) write(detail::stored_bf16{});
    detail::store_words_of_run(t, run, words);
  }
}

// Copies `bytes` bytes of a row with `lanes` threads; this one is thread `lane`. With by_16, which both rows
// must allow, it moves 16 bytes at a time; else elements of 1 << shift bytes.
constexpr void copy_row(thread t, const val<u64>& from, const val<u64>& to, const val<u32>& bytes,
                        const val<u32>& shift, const val<bool>& by_16, const val<u32>& lane,
                        const val<u32>& lanes) {
  const auto copy = [&]<class T>(T, u32 size_shift) {
    const auto source = pointer_at<inout<T>>(t, from);
    const auto target = pointer_at<out<T>>(t, to);
    for (auto i : t.range(lane, t.let(bytes >> size_shift), lanes).no_unroll()) {
      const val x = source[i];
      target[i] = x;
    }
  };
  if (auto wide = t.when(by_16)) copy(u32x4{}, 4);
  if (auto narrow = t.otherwise()) {
    if (auto four = t.when(shift == 2u)) copy(u32{}, 2);
    if (auto two = t.when(shift == 1u)) copy(u16{}, 1);
    if (auto one = t.when(shift == 0u)) copy(u8{}, 0);
  }
}

}  // namespace kaio::ops
