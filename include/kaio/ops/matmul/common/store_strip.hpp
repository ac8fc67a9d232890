#pragma once
// The store of a strip of results to C. Where four neighbours begin at a multiple of their size, together:
//
//   lane     0          1          2
//   stores   0 1 2 3    4 5 6 7    8 9 10 11
//
// Elements of 16 bits of rows that begin elsewhere are stored as vectors too, by lanes that hand on to the next lane
// what is before its vector. `shift`: how many elements a lane's four begin after a multiple of their size, here 1.
//
//   stores   0 1 2      3 4 5 6    7 8 9 10     and the last lane of a row what is left of its own four
//
// Otherwise one by one.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/strip.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// A result as an element of C. An epilogue may give results of a type of its own, with functions of these names next
// to it.
template <scalar Out>
constexpr val<Out> rounded(thread t, const val<f32>& x) {
  return t.let(cast<Out>(x));
}
constexpr const val<f32>& number_in(const val<f32>& x) { return x; }

namespace detail {

// Results as elements of C, in words of 32 bits: as many of a row of four as an element has bytes.
template <class Out, class Results>
constexpr auto words_of(thread t, const Results& x) {
  constexpr std::uint32_t size = sizeof(Out), words = Results::size() * size / 4;
  return array_of<words>([&](u32 i) {
    if constexpr (size == 4) {
      return t.let(bit_cast<u32>(rounded<Out>(t, x[i])));
    } else if constexpr (size == 2) {
      using pair = std::conditional_t<std::is_same_v<Out, f16>, f16x2, bf16x2>;
      return t.let(bit_cast<u32>(pack<pair>(number_in(x[2 * i]), number_in(x[2 * i + 1]))));
    } else {
      const auto byte = [&](u32 j) {
        return cast<u32>(bit_cast<u8>(rounded<Out>(t, x[4 * i + j]))) << (8 * j);
      };
      return t.let(byte(0) | byte(1) | byte(2) | byte(3));
    }
  });
}

template <std::uint32_t Size>
using word_of_size = std::conditional_t<Size == 4, u32, std::conditional_t<Size == 2, u16, u8>>;

// Element j of four.
template <std::uint32_t Size, class Words>
constexpr val<word_of_size<Size>> element_of(thread t, const Words& four, u32 j) {
  return t.let(cast<word_of_size<Size>>(four[j * Size / 4] >> (j * Size % 4 * 8)));
}

template <std::uint32_t Size>
constexpr out<word_of_size<Size>> memory_at(thread t, const val<u64>& address) {
  return pointer_at<out<word_of_size<Size>>>(t, address);
}

// A lane's four elements of 16 bits, and a vector of four from the multiple of their size on that is `shift` elements before
// them: what the lane before has there, and their first ones.
struct shifted_four {
  dsl::register_array<val<u32>, 2> own, moved;
  val<u32> shift;
  val<u64> address, to;  // of `own` and of `moved`
};
constexpr shifted_four shift_four(thread t, const val<u64>& address,
                                  const dsl::register_array<val<u32>, 2>& four) {
  const val shift = t.let(cast<u32>(address) / 2u % 4u);
  const auto before = array_of<2>([&](u32 i) { return t.let(shfl_up(four[i], 1u)); });
  const val by_two = t.let((shift & 2u) != 0u), by_one = t.let((shift & 1u) != 0u);
  const auto x = array_of<3>([&](u32 i) {
    const val<u32>& at_two = i == 2 ? four[0] : before[i];
    const val<u32>& at_none = i == 0 ? before[1] : four[i - 1];
    return t.let(select(by_two, at_two, at_none));
  });
  return {four, array_of<2>([&](u32 i) {
            return val<u32>(t.let(select(by_one, funnel_shift_right(x[i], x[i + 1], 16u), x[i + 1])));
          }),
          shift, address, t.let(address - cast<u64>(shift * 2u))};
}

// A row of a strip all of whose columns exist. The first lane stores the upper part of its vector, the last one also the
// lower part of the next: a pair of elements, one element, or both.
template <std::uint32_t Lanes>
constexpr void store_whole_row(thread t, const shifted_four& x) {
  const val lane = t.let(lane_id() % Lanes);
  const val is_first = t.let(lane == 0u), has_odd = t.let((x.shift & 1u) != 0u);
  if (auto together = t.when(any_of(x.shift == 0u, lane != 0u)))
    store_vec(memory_at<4>(t, x.to)[0], make_vec(x.moved[0], x.moved[1]));
  if (auto parts = t.when(all_of(x.shift != 0u, any_of(is_first, lane == Lanes - 1)))) {
    // shift         1       2       3
    // first lane    . 1 23  . . 23  . . . 3       of its own vector
    // last lane     0       01      01 2          of the next one
    const val to = t.let(x.to + select(is_first, u64{0}, u64{8}));
    const val pair = t.let(
        select(is_first, x.moved[1], select(has_odd, funnel_shift_right(x.own[0], x.own[1], 16u), x.own[1])));
    if (auto has_pair = t.when(select(is_first, 4u - x.shift, x.shift) >= 2u))
      memory_at<4>(t, to)[select(is_first, 1u, 0u)] = pair;
    if (auto has_single = t.when(has_odd)) {
      const val place = t.let(x.shift - select(is_first, 0u, 1u));
      const val word =
          t.let(select(is_first & (x.shift == 1u), x.moved[0], select(is_first, x.moved[1], x.own[1])));
      memory_at<2>(t, to)[place] = cast<u16>(word >> 16);
    }
  }
}

// Any row. `left`, `left_before`: how many of this lane's four exist, and of those of the lane before it.
template <std::uint32_t Lanes>
constexpr void store_any_row(thread t, const shifted_four& x, const val<u32>& left,
                             const val<u32>& left_before) {
  const val<u32>& shift = x.shift;
  const val whole = t.let(all_of(any_of(shift == 0u, left_before >= 4u), left + shift >= 4u));
  if (auto together = t.when(whole)) store_vec(memory_at<4>(t, x.to)[0], make_vec(x.moved[0], x.moved[1]));
  if (auto one_by_one = t.otherwise())
    for (u32 j = 0; j < 4; ++j) {
      const val of_before = t.let(all_of(shift > j, left_before + shift > 4u + j));
      const val own = t.let(all_of(shift <= j, left + shift > j));
      if (auto there = t.when(any_of(of_before, own)))
        memory_at<2>(t, x.to)[j] = element_of<2>(t, x.moved, j);
    }
  if (auto is_last = t.when(lane_id() % Lanes == Lanes - 1))
    for (u32 j = 1; j < 4; ++j)
      if (auto rest = t.when(all_of(shift + j >= 4u, left > j)))
        memory_at<2>(t, x.address)[j] = element_of<2>(t, x.own, j);
}

// `words`: of all rows, as words_of has them.
template <std::uint32_t Size, class At, class Words>
constexpr void store_words(thread t, const val<u64>& first, const val<u64>& pitch, const val<bool>& aligned,
                           const At& at, const Words& words) {
  constexpr std::uint32_t rows = At::rows, count = Size;  // words of a row
  const val step = t.let(pitch * u64{At::apart * Size});
  const auto vectors = [&] {
    for (u32 i = 0; i < rows; ++i)
      if (auto exists = t.when(at.exists[i])) {
        const out row = memory_at<4>(t, i == 0 ? first : t.let(first + step * u64{i}));
        const auto word = [&](u32 w) { return t.let(words[count * i + w]); };
        if constexpr (count == 4)
          store_vec(row[0], make_vec(word(0), word(1), word(2), word(3)));
        else if constexpr (count == 2)
          store_vec(row[0], make_vec(word(0), word(1)));
        else
          row[0] = word(0);
      }
  };
  // f(address, words, whether it exists) for each row; registers have constant numbers, so the loop chooses.
  const auto each_row = [&](const auto& f) {
    var exist(t, 0u);
    for (u32 i = 0; i < rows; ++i) exist = exist | select(at.exists[i], 1u << i, 0u);
    for (auto i : t.range(0u, rows).no_unroll()) {
      const auto four = array_of<count>([&](u32 w) {
        var chosen(t, words[w]);
        for (u32 known = 1; known < rows; ++known)
          chosen = select(i == known, words[count * known + w], chosen);
        return val<u32>(t.let(chosen));
      });
      f(t.let(first + step * cast<u64>(i)), four, t.let((exist >> i & 1u) != 0u));
    }
  };
  const auto one_by_one = [&] {
    each_row([&](const val<u64>& address, const auto& four, const val<bool>& exists) {
      if (auto row = t.when(exists))
        for (u32 j = 0; j < 4; ++j)
          if (auto column = t.when(at.columns_left > j))
            memory_at<Size>(t, address)[j] = element_of<Size>(t, four, j);
    });
  };
  if (auto by_four = t.when(aligned)) {
    if (auto whole = t.when(at.is_whole)) vectors();
    if (auto part = t.otherwise()) one_by_one();
  }
  if (auto shifted = t.otherwise()) {
    if constexpr (Size == 2 && At::lanes != 1) {
      const auto each_shifted = [&](const auto& store) {
        each_row([&](const val<u64>& address, const auto& four, const val<bool>& exists) {
          const shifted_four x = shift_four(t, address, four);
          if (auto row = t.when(exists)) store(x);
        });
      };
      const val left_of_last = shfl_idx(at.columns_left, t.let(lane_id() | (At::lanes - 1)));
      if (auto whole = t.when(left_of_last >= 4u))
        each_shifted([&](const shifted_four& x) { store_whole_row<At::lanes>(t, x); });
      if (auto part = t.otherwise()) {
        const val of_lane_before = shfl_up(at.columns_left, 1u);
        const val left_before = t.let(select(lane_id() % At::lanes == 0u, 0u, of_lane_before));
        each_shifted(
            [&](const shifted_four& x) { store_any_row<At::lanes>(t, x, at.columns_left, left_before); });
      }
    } else {
      one_by_one();
    }
  }
}

}  // namespace detail

}  // namespace kaio::ops
