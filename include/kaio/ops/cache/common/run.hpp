#pragma once
// Runs of up to eight neighbouring elements of a row in registers, as f32, whatever their type in memory is:
// one access of 16 bytes (f32: two) where a run is whole and aligned, element by element elsewhere.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/any_element.hpp>
#include <kaio/ops/cache/common/problem.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

struct element_run {
  val<u64> address;  // of its first element
  val<u32> count;    // 0 to 8
  val<bool> whole;   // eight, aligned to 16 bytes
};

// Of elements `first` to before `limit`, eight at most, of a row; they have 1 << shift bytes.
constexpr element_run run_of(thread t, const val<u64>& row, const val<u32>& shift, const val<u32>& first,
                             const val<u32>& limit, const val<bool>& aligned) {
  const val count = t.let(select(first < limit, min(limit - first, run_size), 0u));
  return {t.let(row + (cast<u64>(first) << shift)), count, t.let(all_of(aligned, count == run_size))};
}

namespace detail {

template <class A, class Vars>
constexpr void load_whole_run(thread t, const val<u64>& address, Vars& x, std::uint32_t first) {
  if constexpr (std::is_same_v<A, stored_f32>) {
    const auto memory = pointer_at<inout<f32x4>>(t, address);
    for (u32 half = 0; half < 2; ++half) {
      const val v = memory[half];
      for (u32 i = 0; i < 4; ++i) x[first + 4 * half + i] = v[i];
    }
  } else {
    const val v = pointer_at<inout<u32x4>>(t, address)[0];
    for (u32 i = 0; i < 4; ++i) {
      if constexpr (std::is_same_v<A, stored_f16>) {
        const val both = t.let(bit_cast<f16x2>(v[i]));
        x[first + 2 * i] = cast<f32>(low(both));
        x[first + 2 * i + 1] = cast<f32>(high(both));
      } else {
        x[first + 2 * i] = bit_cast<f32>(v[i] << 16);
        x[first + 2 * i + 1] = bit_cast<f32>(v[i] & 0xffff0000u);
      }
    }
  }
}

template <class A, class Vars>
constexpr void store_whole_run(thread t, const val<u64>& address, const Vars& x, std::uint32_t first) {
  if constexpr (std::is_same_v<A, stored_f32>) {
    const auto memory = pointer_at<out<f32x4>>(t, address);
    for (u32 half = 0; half < 2; ++half) {
      const auto v = array_of<4>([&](u32 i) { return t.let(x[first + 4 * half + i]); });
      memory[half] = make_vec(v[0], v[1], v[2], v[3]);
    }
  } else {
    const auto word = array_of<4>([&](u32 i) {
      if constexpr (std::is_same_v<A, stored_f16>) {
        return t.let(bit_cast<u32>(pack<f16x2>(x[first + 2 * i], x[first + 2 * i + 1])));
      } else {
        const val even = A::write(t, t.let(x[first + 2 * i]));
        const val odd = A::write(t, t.let(x[first + 2 * i + 1]));
        return t.let(cast<u32>(even) | cast<u32>(odd) << 16);
      }
    });
    pointer_at<out<u32x4>>(t, address)[0] = make_vec(word[0], word[1], word[2], word[3]);
  }
}

// Element by element.
template <class A, class Vars>
constexpr void load_part_run(thread t, const element_run& run, Vars& x, std::uint32_t first) {
  const auto memory = pointer_at<inout<typename A::stored>>(t, run.address);
  for (u32 i = 0; i < run_size; ++i)
    if (auto exists = t.when(run.count > i)) x[first + i] = A::read(t.let(memory[i]));
}
template <class A, class Vars>
constexpr void store_part_run(thread t, const element_run& run, const Vars& x, std::uint32_t first) {
  const auto memory = pointer_at<out<typename A::stored>>(t, run.address);
  for (u32 i = 0; i < run_size; ++i)
    if (auto exists = t.when(run.count > i)) memory[i] = A::write(t, t.let(x[first + i]));
}

}  // namespace detail

// The run into x[first], x[first + 1], ...; what does not exist stays as it is. `type` is an element_type.
template <class Vars>
constexpr void load_run(thread t, const val<u32>& type, const element_run& run, Vars& x,
                        std::uint32_t first) {
  with_any_element(t, type, [&]<class A>(A) {
    if (auto whole = t.when(run.whole)) detail::load_whole_run<A>(t, run.address, x, first);
    if (auto part = t.otherwise()) detail::load_part_run<A>(t, run, x, first);
  });
}

// The other way round: rounded once, to the nearest, ties to even.
template <class Vars>
constexpr void store_run(thread t, const val<u32>& type, const element_run& run, const Vars& x,
                         std::uint32_t first) {
  with_any_element(t, type, [&]<class A>(A) {
    if (auto whole = t.when(run.whole)) detail::store_whole_run<A>(t, run.address, x, first);
    if (auto part = t.otherwise()) detail::store_part_run<A>(t, run, x, first);
  });
}

// Bytes of a row by `lanes` threads, of which this one is `lane`: 16 at a time where both rows allow it, else
// elements of 1 << shift bytes.
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
