#pragma once
// Stores a strip of results to C. If four neighbours begin at a multiple of their size, a lane stores them
// together:
//
//   lane     0          1          2
//   stores   0 1 2 3    4 5 6 7    8 9 10 11
//
// If rows of 16-bit elements begin elsewhere, lanes exchange elements and still store vectors. `shift`: the
// distance of a lane's four elements from a multiple of their size, here 1. Each lane passes its last `shift`
// elements to the next lane, the last lane to the first:
//
//   stores   11, 0 1 2  3 4 5 6    7 8 9 10     the first lane one by one
//
// All other elements are stored one by one.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/strip.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Rounds a result to an element of C. An epilogue may return a type of its own, with functions of these names
// next to it.
template <scalar Out>
constexpr val<Out> rounded(thread t, const val<f32>& x) {
  return t.let(cast<Out>(x));
}
constexpr const val<f32>& number_in(const val<f32>& x) { return x; }

namespace detail {

// Packs results as elements of C into 32-bit words; a row of four has sizeof(Out) words.
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
      const auto element = array_of<4>([&](u32 j) { return rounded<Out>(t, x[4 * i + j]); });
      const auto byte = [&](u32 j) { return cast<u32>(bit_cast<u8>(element[j])) << (8 * j); };
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

// Whether lanes exchange elements of a strip that does not begin at a multiple of its size.
template <std::uint32_t Size, class At>
inline constexpr bool exchanges_elements = Size == 2 && At::lanes != 1;

// Stores one row of 16-bit elements by all of its lanes. `exist`: bits 0 to 3 are for the elements of the
// lane before (for the first lane: of the last one), bits 4 to 7 for those of this lane.
template <std::uint32_t Lanes>
constexpr void store_shifted(thread t, const val<u64>& address, const dsl::register_array<val<u32>, 2>& four,
                             const val<u32>& exist, const val<bool>& row_exists) {
  const val shift = t.let(cast<u32>(address) / 2u % 4u);
  const val lane_before = t.let(lane_id() - 1u);
  const auto before = array_of<2>([&](u32 i) { return t.let(shfl_idx<Lanes>(four[i], lane_before)); });
  const val by_two = t.let((shift & 2u) != 0u), by_one = t.let((shift & 1u) != 0u);
  const auto x = array_of<3>([&](u32 i) {
    const val<u32>& at_two = i == 2 ? four[0] : before[i];
    const val<u32>& at_none = i == 0 ? before[1] : four[i - 1];
    return t.let(select(by_two, at_two, at_none));
  });
  const auto moved = array_of<2>(
      [&](u32 i) { return t.let(select(by_one, funnel_shift_right(x[i], x[i + 1], 16u), x[i + 1])); });
  const val there = t.let(exist >> (4u - shift) & 15u);
  const val is_first = t.let(lane_id() % Lanes == 0u);
  const val to = t.let(address - cast<u64>(shift * 2u));
  if (auto stores = t.when(row_exists)) {
    if (auto at_once = t.when(all_of(there == 15u, any_of(!is_first, shift == 0u))))
      store_vec(memory_at<4>(t, to)[0], make_vec(moved[0], moved[1]));
    if (auto one_by_one = t.otherwise()) {
      // The first lane's elements from the last lane go after the last lane's vector.
      const val to_before = t.let(to + select(is_first, u64{Lanes * 8}, u64{0}));
      for (u32 j = 0; j < 4; ++j)
        if (auto exists = t.when((there >> j & 1u) != 0u)) {
          const val element = element_of<2>(t, moved, j);
          const out place = memory_at<2>(t, j == 3 ? to : t.let(select(shift > j, to_before, to)));
          place[j] = element;
        }
    }
  }
}

// `words`: all rows, as words_of packs them. `aligned`: each strip begins at a multiple of its size. If lanes
// exchange elements, it must be the same for all of them, and then no strip has a part of its columns.
template <std::uint32_t Size, class At, class Words>
constexpr void store_words(thread t, const val<u64>& first, const val<u64>& pitch, const val<bool>& aligned,
                           const At& at, const Words& words) {
  constexpr std::uint32_t rows = At::rows, count = Size;  // words per row
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
  // Calls f(address, words, exists) for each row. Registers have constant numbers, so selects pick the row's
  // words.
  const auto each_row = [&](const auto& f) {
    if constexpr (rows == 1) {
      f(first, array_of<count>([&](u32 w) { return val<u32>(t.let(words[w])); }), at.exists[0]);
      return;
    }
    var exist(t, 0u);
    for (u32 i = 0; i < rows; ++i) exist = exist | select(at.exists[i], 1u << i, 0u);
    for (auto i : t.range(0u, rows).no_unroll()) {
      const auto four = array_of<count>([&](u32 w) {
        var chosen(t, words[w]);
        for (u32 known = 1; known < rows; ++known)
          chosen = select(i == known, words[count * known + w], chosen);
        return val<u32>(t.let(chosen));
      });
      const val address = t.let(first + step * cast<u64>(i));
      f(address, four, t.let((exist >> i & 1u) != 0u));
    }
  };
  if constexpr (exchanges_elements<Size, At>) {
    if (auto by_four = t.when(aligned))
      if (auto whole = t.when(at.is_whole)) vectors();
    if (auto shifted = t.otherwise()) {
      const val own = t.let((t.let(1u) << min(at.columns_left, 4u)) - 1u);
      const val exist = t.let(own << 4u | shfl_idx<At::lanes>(own, t.let(lane_id() - 1u)));
      each_row([&](const val<u64>& address, const auto& four, const val<bool>& row_exists) {
        store_shifted<At::lanes>(t, address, four, exist, row_exists);
      });
    }
  } else {
    if (auto whole = t.when(all_of(aligned, at.is_whole))) vectors();
    if (auto one_by_one = t.otherwise())
      each_row([&](const val<u64>& address, const auto& four, const val<bool>& row_exists) {
        if (auto row = t.when(row_exists))
          for (u32 j = 0; j < 4; ++j)
            if (auto column = t.when(at.columns_left > j))
              memory_at<Size>(t, address)[j] = element_of<Size>(t, four, j);
      });
  }
}

}  // namespace detail

}  // namespace kaio::ops
