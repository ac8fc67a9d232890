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

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/elementwise/common/function.hpp>
#include <kaio/ops/elementwise/common/place.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::ops {

inline constexpr u32 elementwise_tile = 64;

template <class Signature>
struct elementwise_tiles {
  using problem_type = elementwise_tiles_problem<Signature::operands>;
  using tiles_type = elementwise_problem<Signature::operands>;
  // A thread has 32 bytes of a copy.
  static constexpr u32 threads = Signature::tensors == 1 && Signature::bytes_of_largest() <= 2 ? 256 : 512;
  static constexpr u32 lanes = 32, warps = threads / lanes;
  static constexpr u32 across = elementwise_tile / lanes;         // elements of a thread along the lanes
  static constexpr u32 held = across * elementwise_tile / warps;  // elements of a thread

  // Elements from one row of the turned tile to the next: an odd number of banks.
  template <class T>
  static constexpr u32 pitch = elementwise_tile + (sizeof(T) >= 4 ? 1 : 4 / static_cast<u32>(sizeof(T)));
  static constexpr u32 shared_bytes() {
    u32 bytes = 0;
    Signature::each_input([&]<u32 I>(std::integral_constant<u32, I>) {
      const u32 own = elementwise_tile * pitch<stored<I>> * static_cast<u32>(sizeof(stored<I>));
      if (!Signature::template is_number<I> && own > bytes) bytes = own;
    });
    return bytes;
  }

  // The elements of a thread: element k is at (a[k % across], b[k / across]), a along the lanes.
  struct places {
    dsl::register_array<val<u32>, across> a;
    dsl::register_array<val<u32>, held / across> b;
  };

  static constexpr void run(thread t, const val<problem_type>& problem) {
    const auto tiles = problem[&problem_type::tiles];
    const val lane = t.let(thread_idx_x() % lanes), warp = t.let(thread_idx_x() / lanes);
    const places of{array_of<across>([&](u32 i) { return t.let(lane + i * lanes); }),
                    array_of<held / across>([&](u32 i) { return t.let(warp + i * warps); })};

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

    auto x = load(t, problem, at, of, left_0, left_1, std::make_index_sequence<Signature::inputs>());
    Signature::each_input([&]<u32 I>(std::integral_constant<u32, I>) {
      if constexpr (!Signature::template is_number<I>) turn<I>(t, problem, of, part_of<I>(x));
    });
    Signature::with_variant(t, tiles[&tiles_type::addresses], [&](auto variant) {
      const auto results = array_of<held>([&](u32 k) { return compute<variant()>(t, x, k); });
      Signature::each_output([&]<u32 O>(std::integral_constant<u32, O>) {
        store<O>(t, problem, at[O], of, left_0, left_1, results);
      });
    });
  }

 private:
  template <u32 I>
  using stored = detail::stored_operand<typename Signature::template input<I>>;
  template <u32 I>
  static constexpr u32 operand = Signature::outputs + I;
  static constexpr bool only_turned = Signature::tensors == 1;  // a single tensor is turned

  static constexpr val<bool> is_staged(thread t, const val<problem_type>& problem, u32 i) {
    return t.let((problem[&problem_type::staged] >> i & 1u) != 0u);
  }
  // Loads the elements of input I: (a, b) along dimensions 0 and 1, or 1 and 0 if the input is staged. If rows
  // are equal, only the first one.
  template <u32 I, class At>
  static constexpr auto load_one(thread t, const val<problem_type>& problem, const At& at, const places& of,
                                 const val<u32>& left_0, const val<u32>& left_1) {
    if constexpr (Signature::template is_number<I>) {
      return detail::value_of_bits<stored<I>>(t, at[operand<I>]);
    } else {
      const val staged = is_staged(t, problem, operand<I>);
      const val step_0 = t.let(problem[&problem_type::steps][2 * operand<I>]);
      const val step_1 = t.let(problem[&problem_type::steps][2 * operand<I> + 1]);
      const val step_a = t.let(select(staged, step_1, step_0)),
                step_b = t.let(select(staged, step_0, step_1));
      const val left_a = t.let(select(staged, left_1, left_0)),
                left_b = t.let(select(staged, left_0, left_1));
      const val last_a = t.let(left_a - 1u), last_b = t.let(left_b - 1u);
      const auto along = array_of<across>(
          [&](u32 i) { return t.let(mad_wide(min(of.a[i], last_a), step_a, at[operand<I>])); });
      auto x = array_of<held>([&](u32) { return var(t, bits_of_zero<stored<I>>(t)); });
      const auto load_row = [&](u32 j) {
        const val b = t.let(min(of.b[j], last_b));
        for (u32 i = 0; i < across; ++i) {
          const val from = t.let(mad_wide(b, step_b, along[i]));
          x[j * across + i] = pointer_at<inout<bits_of<stored<I>>>>(t, from)[0];
        }
      };
      const auto load_others = [&] {
        for (u32 j = 1; j < held / across; ++j) load_row(j);
      };
      load_row(0);
      if constexpr (only_turned) {
        load_others();
      } else {
        if (auto differ = t.when(step_b != 0u)) load_others();
      }
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
  template <u32 I, class X>
  static constexpr void turn(thread t, const val<problem_type>& problem, const places& of, X& x) {
    constexpr u32 row = pitch<stored<I>>;
    const val staged = is_staged(t, problem, operand<I>);
    if (auto some = t.when(staged)) {
      const dynamic_shared<bits_of<stored<I>>> tile(t);
      t.barrier();
      for (u32 k = 0; k < held; ++k) tile[of.b[k / across] * row + of.a[k % across]] = x[k];
      t.barrier();
      for (u32 k = 0; k < held; ++k) x[k] = tile[of.a[k % across] * row + of.b[k / across]];
    }
    if constexpr (!only_turned) {
      if (auto equal = t.when(problem[&problem_type::steps][2 * operand<I> + 1] == 0u))
        for (u32 k = across; k < held; ++k) x[k] = t.let(x[k % across]);
    }
  }
  template <u32 Variant, class X>
  static constexpr auto compute(thread t, const X& x, u32 k) {
    return Signature::template apply<Variant>(t, [&]<u32 I>(std::integral_constant<u32, I>) {
      const auto& one = part_of<I>(x);
      if constexpr (Signature::template is_number<I>)
        return t.let(one);
      else
        return detail::value_of_stored<stored<I>>(t, t.let(bit_cast<stored<I>>(one[k])));
    });
  }
  template <u32 O, class Results>
  static constexpr void store(thread t, const val<problem_type>& problem, const val<u64>& at,
                              const places& of, const val<u32>& left_0, const val<u32>& left_1,
                              const Results& results) {
    using type = typename Signature::template output<O>;
    const val step_0 = t.let(problem[&problem_type::steps][2 * O]);
    const val step_1 = t.let(problem[&problem_type::steps][2 * O + 1]);
    const auto along = array_of<across>([&](u32 i) { return t.let(mad_wide(of.a[i], step_0, at)); });
    for (u32 k = 0; k < held; ++k) {
      const val to = t.let(mad_wide(of.b[k / across], step_1, along[k % across]));
      const val y = t.let(detail::rounded_to<type>(t, results[k][O]));
      if (auto exists = t.when(all_of(of.a[k % across] < left_0, of.b[k / across] < left_1)))
        pointer_at<out<type>>(t, to)[0] = y;
    }
  }

  // Elements are turned as integers of their size.
  template <class T>
  using bits_of = std::conditional_t<
      sizeof(T) == 8, u64,
      std::conditional_t<sizeof(T) == 4, u32, std::conditional_t<sizeof(T) == 2, u16, u8>>>;
  template <class T>
  static constexpr val<bits_of<T>> bits_of_zero(thread t) {
    return t.let(bits_of<T>{0});
  }
  template <u32 I, class V>
  static constexpr const V& part_of(const detail::value_part<I, V>& part) {
    return part.value;
  }
  template <u32 I, class V>
  static constexpr V& part_of(detail::value_part<I, V>& part) {
    return part.value;
  }
};

template <dsl::fixed_string Name, class Signature>
inline constexpr auto elementwise_tiles_kernel =
    kaio::kernel<Name + "_tiles", elementwise_tiles<Signature>::threads>(
        [](thread t, val<elementwise_tiles_problem<Signature::operands>> problem) {
          elementwise_tiles<Signature>::run(t, problem);
        });

}  // namespace kaio::ops
