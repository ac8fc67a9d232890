#pragma once
// elementwise where some inputs are contiguous along another dimension than the output. A block has a tile of
// 64 x 64 elements:
//
//                 dimension 0, contiguous in the output
//               +---------------------------------------+
//   dimension 1 |  element k of a thread: a warp has 32 |
//               |  neighbours along dimension 0         |
//               +---------------------------------------+
//
// An input that is contiguous along dimension 1 is loaded in 32 neighbours along that dimension, and turned
// in shared memory. All loads of a thread are in flight before the first input is turned. Elements outside of
// the tensor are loaded from its last row or column, and not stored.
//
// Elements of one and two bytes are moved in pieces (pieces.hpp) if all operands are aligned to them. Otherwise a
// thread moves its elements in two passes. Both ways end in the same words, so that the function is traced once.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/elementwise/common/function.hpp>
#include <kaio/ops/elementwise/common/place.hpp>
#include <kaio/ops/elementwise/simt/pieces.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::ops {

inline constexpr u32 elementwise_tile = 64;

template <class Signature, u32 Sm>
struct elementwise_tiles {
  using problem_type = elementwise_tiles_problem<Signature::operands>;
  using tiles_type = elementwise_problem<Signature::operands>;
  static constexpr bool only_staged = Signature::tensors == 1;  // a single tensor is staged
  using pieces = elementwise_pieces<Signature, elementwise_tile>;
  static constexpr bool has_pieces = pieces::exist;
  static constexpr u32 threads = pieces::threads;
  static constexpr u32 lanes = 32, warps = threads / lanes;
  static constexpr u32 across = elementwise_tile / lanes;  // elements of a thread along the lanes
  static constexpr u32 passes = has_pieces ? 2 : 1;
  static constexpr u32 held = across * elementwise_tile / warps / passes;  // elements of a thread in a pass
  static_assert(!has_pieces || held == pieces::width);

  // Elements from one row of the turned tile to the next: an odd number of banks.
  template <class T>
  static constexpr u32 pitch = elementwise_tile + (sizeof(T) >= 4 ? 1 : 4 / static_cast<u32>(sizeof(T)));
  static constexpr u32 shared_bytes() {
    u32 bytes = has_pieces ? pieces::shared_bytes() : 0;
    Signature::each_input([&]<u32 I>(std::integral_constant<u32, I>) {
      const u32 own = elementwise_tile * pitch<stored<I>> * static_cast<u32>(sizeof(stored<I>));
      if (!Signature::template is_number<I> && own > bytes) bytes = own;
    });
    return bytes;
  }

  // The elements of a thread: element k is at (a[k % across], b[k]), a along the lanes.
  struct places {
    dsl::register_array<val<u32>, across> a;
    dsl::register_array<val<u32>, held> b;
  };
  // Two passes have quarters of a tile on its diagonals, which turning leaves where they are:
  //
  //   +---+---+
  //   | 0 | 1 |
  //   +---+---+
  //   | 1 | 0 |
  //   +---+---+
  static constexpr places places_of_pass(thread t, const val<u32>& pass) {
    const val lane = t.let(thread_idx_x() % lanes), warp = t.let(thread_idx_x() / lanes);
    const val first = t.let(warp + pass * lanes), second = t.let(warp + (passes - 1) * lanes - pass * lanes);
    return {array_of<across>([&](u32 i) { return t.let(lane + i * lanes); }), array_of<held>([&](u32 k) {
              return t.let((k % across == 0 ? first : second) + k / across * warps);
            })};
  }

  static constexpr void run(thread t, const val<problem_type>& problem) {
    const auto tiles = problem[&problem_type::tiles];
    const val block = t.let(block_idx_x());
    const quotient by_0 = divide(t, block, tiles[&tiles_type::extents][0]);
    const quotient by_1 = divide(t, by_0.whole, tiles[&tiles_type::extents][1]);
    const val left_0 = t.let(problem[&problem_type::extents][0] - by_0.rest * elementwise_tile);
    const val left_1 = t.let(problem[&problem_type::extents][1] - by_1.rest * elementwise_tile);
    auto moved =
        array_of<Signature::operands>([&](u32 i) { return var(t, t.let(tiles[&tiles_type::addresses][i])); });
    detail::move_places<tiles_type>(t, tiles, by_0.rest, 0, moved);
    detail::move_places<tiles_type>(t, tiles, by_1.rest, 1, moved);
    var rest(t, by_1.whole);
    detail::place_outer<tiles_type, 2>(t, tiles, moved, rest);
    const val outermost = t.let(rest);
    detail::move_places<tiles_type>(t, tiles, outermost, elementwise_dimensions - 1, moved);
    const auto at = array_of<Signature::operands>([&](u32 i) { return t.let(moved[i]); });

    if constexpr (has_pieces) {
      const tile_edges edges{left_0, left_1};
      const val whole = t.let(problem[&problem_type::whole] != 0u);
      auto x = pieces::make(t, at);
      if (auto aligned = t.when(whole)) pieces::load(t, problem, at, edges, x);
      var row(t, pieces::first_row(t));
      for (auto pass : t.range(0u, passes)) {
        const places of = places_of_pass(t, pass);
        if (auto single = t.when(!whole)) {
          auto elements =
              load(t, problem, at, of, left_0, left_1, std::make_index_sequence<Signature::inputs>());
          turn_all(t, problem, of, elements);
          pieces::pack(t, elements, x);
        }
        Signature::with_variant(t, tiles[&tiles_type::addresses], [&](auto variant) {
          pieces::template compute<variant(), Sm>(
              t, x, [&]<u32 O>(std::integral_constant<u32, O>, const auto& words) {
                if (auto aligned = t.when(whole))
                  pieces::template store<O>(t, problem, at[O], edges, t.let(row), words);
                if (auto single = t.otherwise()) {
                  using type = typename Signature::template output<O>;
                  const auto y = array_of<held>([&](u32 k) {
                    return t.let(bit_cast<type>(detail::element_of_words<bits_of<type>>(t, words, k)));
                  });
                  store<O>(t, problem, at[O], of, left_0, left_1, y);
                }
              });
        });
        pieces::next(t, x);
        row += elementwise_tile / passes;
      }
    } else {
      const places of = places_of_pass(t, t.let(0u));
      auto x = load(t, problem, at, of, left_0, left_1, std::make_index_sequence<Signature::inputs>());
      turn_all(t, problem, of, x);
      Signature::with_variant(t, tiles[&tiles_type::addresses], [&](auto variant) {
        const auto results = array_of<held>([&](u32 k) { return compute<variant()>(t, x, k); });
        Signature::each_output([&]<u32 O>(std::integral_constant<u32, O>) {
          const auto y = array_of<held>([&](u32 k) {
            return detail::rounded_to<typename Signature::template output<O>>(t, t.let(results[k][O]));
          });
          store<O>(t, problem, at[O], of, left_0, left_1, y);
        });
      });
    }
  }

 private:
  template <u32 I>
  using stored = detail::stored_operand<typename Signature::template input<I>>;
  template <u32 I>
  static constexpr u32 operand = Signature::outputs + I;
  static constexpr val<bool> is_staged(thread t, const val<problem_type>& problem, u32 i) {
    return t.let((problem[&problem_type::staged] >> i & 1u) != 0u);
  }
  // Loads the elements of input I: (a, b) along dimensions 0 and 1, or 1 and 0 if the input is staged. If rows
  // are equal, only the first one.
  template <u32 I, class At>
  static constexpr auto load_one(thread t, const val<problem_type>& problem, const At& at, const places& of,
                                 const val<u32>& left_0, const val<u32>& left_1) {
    const val step_0 = t.let(problem[&problem_type::steps][2 * operand<I>]);
    const val step_1 = t.let(problem[&problem_type::steps][2 * operand<I> + 1]);
    if constexpr (Signature::template is_number<I>) {
      return detail::value_of_bits<stored<I>>(t, at[operand<I>]);
    } else if constexpr (only_staged) {
      const val last_0 = t.let(left_0 - 1u), last_1 = t.let(left_1 - 1u);
      const auto along = array_of<across>(
          [&](u32 i) { return t.let(mad_wide(min(of.a[i], last_1), step_1, at[operand<I>])); });
      const auto x = array_of<held>([&](u32 k) {
        const val column = t.let(min(of.b[k], last_0));
        const val one =
            pointer_at<inout<bits_of<stored<I>>>>(t, t.let(mad_wide(column, step_0, along[k % across])))[0];
        return t.let(one);
      });
      const staged_tile<I> tile(t);
      write_staged<I>(t, tile, of, x);
      return array_of<held>([&](u32 k) { return read_staged<I>(t, tile, of, k); });
    } else {
      const val staged = is_staged(t, problem, operand<I>);
      const val step_a = t.let(select(staged, step_1, step_0)),
                step_b = t.let(select(staged, step_0, step_1));
      const val left_a = t.let(select(staged, left_1, left_0)),
                left_b = t.let(select(staged, left_0, left_1));
      const val last_a = t.let(left_a - 1u), last_b = t.let(left_b - 1u);
      const auto along = array_of<across>(
          [&](u32 i) { return t.let(mad_wide(min(of.a[i], last_a), step_a, at[operand<I>])); });
      auto x = array_of<held>([&](u32) { return var(t, bits_of_zero<stored<I>>(t)); });
      const auto load_row = [&](u32 j) {
        for (u32 i = 0; i < across; ++i) {
          const val from = t.let(mad_wide(min(of.b[j * across + i], last_b), step_b, along[i]));
          x[j * across + i] = pointer_at<inout<bits_of<stored<I>>>>(t, from)[0];
        }
      };
      load_row(0);
      if (auto differ = t.when(step_b != 0u))
        for (u32 j = 1; j < held / across; ++j) load_row(j);
      return x;
    }
  }
  template <class At, std::size_t... I>
  static constexpr auto load(thread t, const val<problem_type>& problem, const At& at, const places& of,
                             const val<u32>& left_0, const val<u32>& left_1,
                             std::index_sequence<I...> sequence) {
    using list =
        detail::value_list<decltype(sequence),
                           decltype(load_one<static_cast<u32>(I)>(t, problem, at, of, left_0, left_1))...>;
    return list{{load_one<static_cast<u32>(I)>(t, problem, at, of, left_0, left_1)}...};
  }
  template <u32 I>
  using staged_tile = dynamic_shared<detail::element_bits<stored<I>>>;
  template <u32 I, class X>
  static constexpr void write_staged(thread t, const staged_tile<I>& tile, const places& of, const X& x) {
    t.barrier();
    for (u32 k = 0; k < held; ++k) tile[of.b[k] * pitch<stored<I>> + of.a[k % across]] = x[k];
    t.barrier();
  }
  template <u32 I>
  static constexpr auto read_staged(thread t, const staged_tile<I>& tile, const places& of, u32 k) {
    const val one = tile[of.a[k % across] * pitch<stored<I>> + of.b[k]];
    return t.let(one);
  }
  // Turns the staged inputs of several.
  template <class X>
  static constexpr void turn_all(thread t, const val<problem_type>& problem, const places& of, X& x) {
    if constexpr (!only_staged)
      Signature::each_input([&]<u32 I>(std::integral_constant<u32, I>) {
        if constexpr (!Signature::template is_number<I>) turn<I>(t, problem, of, detail::part_of<I>(x));
      });
  }
  template <u32 I, class X>
  static constexpr void turn(thread t, const val<problem_type>& problem, const places& of, X& x) {
    if (auto some = t.when(is_staged(t, problem, operand<I>))) {
      const staged_tile<I> tile(t);
      write_staged<I>(t, tile, of, x);
      for (u32 k = 0; k < held; ++k) x[k] = read_staged<I>(t, tile, of, k);
    }
    if (auto equal = t.when(problem[&problem_type::steps][2 * operand<I> + 1] == 0u))
      for (u32 k = across; k < held; ++k) x[k] = t.let(x[k % across]);
  }
  template <u32 Variant, class X>
  static constexpr auto compute(thread t, const X& x, u32 k) {
    return Signature::template apply<Variant>(t, [&]<u32 I>(std::integral_constant<u32, I>) {
      const auto& one = detail::part_of<I>(x);
      if constexpr (Signature::template is_number<I>)
        return t.let(one);
      else
        return detail::value_of_stored<stored<I>>(t, t.let(bit_cast<stored<I>>(one[k])));
    });
  }
  // Stores y[k], element k of the thread, for all k.
  template <u32 O, class Y>
  static constexpr void store(thread t, const val<problem_type>& problem, const val<u64>& at,
                              const places& of, const val<u32>& left_0, const val<u32>& left_1, const Y& y) {
    using type = typename Signature::template output<O>;
    const val step_0 = t.let(problem[&problem_type::steps][2 * O]);
    const val step_1 = t.let(problem[&problem_type::steps][2 * O + 1]);
    const auto along = array_of<across>([&](u32 i) { return t.let(mad_wide(of.a[i], step_0, at)); });
    for (u32 k = 0; k < Y::size(); ++k) {
      const val to = t.let(mad_wide(of.b[k], step_1, along[k % across]));
      if (auto exists = t.when(all_of(of.a[k % across] < left_0, of.b[k] < left_1)))
        pointer_at<out<type>>(t, to)[0] = y[k];
    }
  }

  // Elements are turned as integers of their size.
  template <class T>
  using bits_of = detail::element_bits<T>;
  template <class T>
  static constexpr val<bits_of<T>> bits_of_zero(thread t) {
    return t.let(bits_of<T>{0});
  }
};

template <dsl::fixed_string Name, class Signature, u32 Sm>
inline constexpr auto elementwise_tiles_kernel =
    kaio::kernel<Name + "_tiles_sm" + decimal<Sm>, elementwise_tiles<Signature, Sm>::threads,
                 kernel_options{.target = {Sm, false},
                                // More blocks are resident; a function of several inputs needs its registers.
                                .min_blocks = elementwise_tiles<Signature, Sm>::only_staged &&
                                                      elementwise_tiles<Signature, Sm>::has_pieces
                                                  ? 4u
                                                  : 0u}>(
        [](thread t, val<elementwise_tiles_problem<Signature::operands>> problem) {
          elementwise_tiles<Signature, Sm>::run(t, problem);
        });

}  // namespace kaio::ops
