#pragma once
// Tiles of elementwise for elements of one and two bytes, where all operands are aligned to pieces of `width`
// neighbours, of at most 16 bytes. A thread has two of them, of rows y and y + tile / 2 of the output:
//
//                 dimension 0, contiguous in the output
//               +---------------------------------------+
//   dimension 1 |  piece of thread 0 | 1 | 2 | ...      |   row 0
//               |  ...                                  |
//
// An input that is contiguous along dimension 1 is loaded in pieces along that dimension, of two neighbours along
// dimension 0, and turned in shared memory. All loads of a thread are in flight before the first input is turned.
// A thread keeps its elements in words as memory has them: the first piece, then the second.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/elementwise/common/function.hpp>
#include <kaio/ops/elementwise/simt/turned_tile.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kaio::ops {

// Elements of the tensor from a tile on, along dimensions 0 and 1.
struct tile_edges {
  val<u32> left_0, left_1;
};

template <class Signature, u32 Tile>
struct elementwise_pieces {
  using problem_type = elementwise_tiles_problem<Signature::operands>;
  static constexpr bool exist = Signature::bytes_of_largest() <= 2;
  static constexpr u32 width = exist ? 8 : 4;
  static constexpr u32 threads = Tile * Tile / (2 * width);
  static constexpr u32 shared_bytes() { return Tile * Tile * Signature::bytes_of_largest(); }

  // Variables for the words of each input; a number of the host as its value.
  template <class At>
  static constexpr auto make(thread t, const At& at) {
    return make(t, at, std::make_index_sequence<Signature::inputs>());
  }

  // Loads the pieces of all inputs. at: the operands' addresses in this tile.
  template <class At, class X>
  static constexpr void load(thread t, const val<problem_type>& problem, const At& at,
                             const tile_edges& edges, X& x) {
    Signature::each_input([&]<u32 I>(std::integral_constant<u32, I>) {
      if constexpr (!Signature::template is_number<I>)
        load_one<I>(t, problem, at[operand<I>], edges, detail::part_of<I>(x));
    });
    bool is_first = true;
    Signature::each_input([&]<u32 I>(std::integral_constant<u32, I>) {
      if constexpr (!Signature::template is_number<I>) {
        turn<I>(t, problem, is_first, detail::part_of<I>(x));
        is_first = false;
      }
    });
  }
  // Packs single elements, element k of a thread at place k.
  template <class Elements, class X>
  static constexpr void pack(thread t, const Elements& elements, X& x) {
    Signature::each_input([&]<u32 I>(std::integral_constant<u32, I>) {
      if constexpr (!Signature::template is_number<I>) {
        auto& words = detail::part_of<I>(x);
        for (u32 w = 0; w < words_of<I>::count; ++w)
          words[w] = detail::word_of_elements(t, detail::part_of<I>(elements), w);
      }
    });
  }
  // The results of the first half of the elements: store(output, words) for each output.
  template <u32 Variant, u32 Sm, class X, class Store>
  static constexpr void compute(thread t, const X& x, const Store& store) {
    if constexpr (Signature::copies) {
      store(std::integral_constant<u32, 0>{},
            array_of<words_of<0>::count>([&](u32 w) { return t.let(detail::part_of<0>(x)[w]); }));
    } else {
      const auto results = array_of<width>([&](u32 k) {
        return Signature::template apply<Variant>(t, [&]<u32 I>(std::integral_constant<u32, I>) {
          if constexpr (Signature::template is_number<I>)
            return t.let(detail::part_of<I>(x));
          else
            return words_of<I>::value(t, detail::part_of<I>(x), 0, k);
        });
      });
      Signature::each_output([&]<u32 O>(std::integral_constant<u32, O> output) {
        store(output, detail::words_of<typename Signature::template output<O>, Sm, width>(
                          t, [&](u32 k) { return t.let(results[k][O]); }));
      });
    }
  }
  // Makes the second half of the elements the first.
  template <class X>
  static constexpr void next(thread t, X& x) {
    Signature::each_input([&]<u32 I>(std::integral_constant<u32, I>) {
      if constexpr (!Signature::template is_number<I>) {
        auto& words = detail::part_of<I>(x);
        for (u32 w = 0; w < words_of<I>::count; ++w) words[w] = t.let(words[words_of<I>::count + w]);
      }
    });
  }
  // The row of a thread's first piece.
  static constexpr val<u32> first_row(thread t) { return t.let(thread_idx_x() / pieces); }
  // Stores a piece of output O.
  template <u32 O, class Words>
  static constexpr void store(thread t, const val<problem_type>& problem, const val<u64>& at,
                              const tile_edges& edges, const val<u32>& row, const Words& words) {
    using type = typename Signature::template output<O>;
    const val begin = t.let(thread_idx_x() % pieces * width);
    if (auto exists = t.when(all_of(begin < edges.left_0, row < edges.left_1))) {
      const val to = t.let(mad_wide(row, step_of(t, problem, O, 1), at) +
                           cast<u64>(begin * static_cast<u32>(sizeof(type))));
      detail::element_words<type, width>::store(t, to, words);
    }
  }

 private:
  static constexpr u32 pieces = Tile / width;                   // of a row
  static constexpr bool only_staged = Signature::tensors == 1;  // a single tensor is staged
  template <u32 I>
  using stored = detail::stored_operand<typename Signature::template input<I>>;
  template <u32 I>
  using words_of = detail::element_words<stored<I>, width>;
  template <u32 I>
  using tile_of = detail::turned_tile<stored<I>, width, Tile>;
  template <u32 I>
  static constexpr u32 operand = Signature::outputs + I;

  template <u32 I, class At>
  static constexpr auto make_one(thread t, const At& at) {
    if constexpr (Signature::template is_number<I>)
      return detail::value_of_bits<stored<I>>(t, at[operand<I>]);
    else
      return array_of<2 * words_of<I>::count>([&](u32) { return var(t, 0u); });
  }
  template <class At, std::size_t... I>
  static constexpr auto make(thread t, const At& at, std::index_sequence<I...> sequence) {
    using list = detail::value_list<decltype(sequence), decltype(make_one<static_cast<u32>(I)>(t, at))...>;
    return list{{make_one<static_cast<u32>(I)>(t, at)}...};
  }
  static constexpr val<u32> step_of(thread t, const val<problem_type>& problem, u32 i, u32 dimension) {
    return t.let(problem[&problem_type::steps][2 * i + dimension]);
  }
  static constexpr val<bool> is_staged(thread t, const val<problem_type>& problem, u32 i) {
    return t.let((problem[&problem_type::staged] & 1u << i) != 0u);
  }
  // The part of a staged input that a thread loads: rows y to y + width - 1 of columns 2 pair and 2 pair + 1.
  struct staged_part {
    val<u32> pair, y;
  };
  static constexpr staged_part staged_part_of(thread t) {
    return {t.let(thread_idx_x() / pieces), t.let(thread_idx_x() % pieces * width)};
  }

  template <u32 I, class X>
  static constexpr void load_one(thread t, const val<problem_type>& problem, const val<u64>& at,
                                 const tile_edges& edges, X& x) {
    using words = words_of<I>;
    constexpr u32 size = sizeof(stored<I>);
    const staged_part part = staged_part_of(t);
    const val last_0 = t.let(edges.left_0 - 1u), last_1 = t.let(edges.left_1 - 1u);
    const val step_0 = step_of(t, problem, operand<I>, 0), step_1 = step_of(t, problem, operand<I>, 1);
    const auto column = [&](u32 p) { return t.let(min(part.pair * 2u + p, last_0)); };
    if constexpr (only_staged) {
      const val from = t.let(mad_wide(min(part.y, edges.left_1 - width), size, at));
      for (u32 p = 0; p < 2; ++p)
        words::load(t, t.let(mad_wide(column(p), step_0, from)), x, p * words::count);
    } else {
      // Both ways, the pieces of a thread begin at the same element of their lines.
      const val staged = is_staged(t, problem, operand<I>);
      const val begin = t.let(min(part.y, select(staged, edges.left_1, edges.left_0) - width));
      const val step = t.let(select(staged, step_0, step_1));
      const val from = t.let(mad_wide(begin, size, at));
      for (u32 p = 0; p < 2; ++p) {
        const val row = t.let(min(first_row(t) + p * (Tile / 2), last_1));
        words::load(t, t.let(mad_wide(select(staged, column(p), row), step, from)), x, p * words::count);
      }
    }
  }
  // Turns input I, if it is staged.
  template <u32 I, class X>
  static constexpr void turn(thread t, const val<problem_type>& problem, bool is_first, X& x) {
    using tile = tile_of<I>;
    const staged_part part = staged_part_of(t);
    const val to = tile::place_of_pair(t, part.pair, part.y);
    const val piece = t.let(thread_idx_x() % pieces), row = first_row(t);
    const auto from = array_of<2>([&](u32 p) { return tile::place(t, piece, t.let(row + p * (Tile / 2))); });
    const auto exchange = [&] {
      if (!is_first) t.barrier();
      tile::store(t, to, x);
      t.barrier();
      for (u32 p = 0; p < 2; ++p) tile::load(t, from[p], x, p * words_of<I>::count);
    };
    if constexpr (only_staged) {
      exchange();
    } else {
      if (auto some = t.when(is_staged(t, problem, operand<I>))) exchange();
    }
  }
};

}  // namespace kaio::ops
