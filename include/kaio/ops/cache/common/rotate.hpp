#pragma once
// Rotary position embedding of a row in registers. A lane has a unit: eight pairs of a row, in two runs of
// eight elements. Pair i turns by the angle whose cosine and sine are in the tables, in the row of its
// position:
//
//   y0 = x0 cos - x1 sin        y1 = x1 cos + x0 sin
//
// in f32, as fma(x0, cos, -(x1 sin)) and fma(x1, cos, x0 sin).
//
//   pairing          unit u's runs of a row of 2 P rotated elements
//   half             8u .. 8u + 7 and P + 8u .. P + 8u + 7           pairs (i, i + P): GPT-NeoX, Llama
//   interleaved      16u .. 16u + 7 and 16u + 8 .. 16u + 15          pairs (2i, 2i + 1): GPT-J
//
// Elements from 2 P on are not rotated. The units after the rotated ones have runs of consecutive elements.
// Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/common/problem.hpp>
#include <kaio/ops/shared/element_run.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// The two runs of a unit, as ranges of elements.
struct row_unit {
  val<bool> rotated;
  val<u32> first_pair;
  val<u32> first[2], limit[2];
};

// Unit `unit` of a row of `size` elements, where the first 2 * `pairs` are rotated.
constexpr row_unit unit_of(thread t, const val<u32>& unit, const val<u32>& pairs, const val<u32>& size,
                           const val<bool>& interleaved) {
  const val rotated_units = t.let((pairs + (run_size - 1)) / run_size);
  const val rotated = t.let(unit < rotated_units);
  const val pair = t.let(unit * run_size);
  const val both = t.let(pairs * 2u);
  const val halves = t.let(all_of(rotated, !interleaved));
  const val neighbour = t.let(select(rotated, pair * 2u, both + (unit - rotated_units) * (2 * run_size)));
  const val end = t.let(select(rotated, both, size));
  return {rotated,
          pair,
          {t.let(select(halves, pair, neighbour)), t.let(select(halves, pairs + pair, neighbour + run_size))},
          {t.let(select(halves, pairs, end)), end}};
}

// Loads the cosines and sines of eight pairs of `position`, from `first_pair` on. If the tables have no such
// row, nothing changes.
template <class Tables, class Vars>
constexpr void load_rotation(thread t, const Tables& tables, const val<u32>& position,
                             const val<u32>& first_pair, Vars& cosine, Vars& sine) {
  const val pairs = t.let(tables[&rotary_tables::pairs]);
  if (auto known = t.when(position < tables[&rotary_tables::rows])) {
    const val type = t.let(tables[&rotary_tables::type]);
    const val shift = t.let(select(type == static_cast<u32>(element_type::f32), 2u, 1u));
    const val aligned = t.let(tables[&rotary_tables::aligned] != 0u);
    const auto load = [&](auto address, auto stride, auto& to) {
      const val row = t.let(tables[address] + (cast<u64>(cast<i64>(position) * tables[stride]) << shift));
      load_run(t, type, run_of(t, row, shift, first_pair, pairs, aligned), to, 0);
    };
    load(&rotary_tables::cos, &rotary_tables::cos_row, cosine);
    load(&rotary_tables::sin, &rotary_tables::sin_row, sine);
  }
}

// Turns the pairs of a unit in x[0..15].
template <class Tables, class Numbers, class Vars>
constexpr void rotate_by(thread t, const Tables& tables, const Numbers& cosine, const Numbers& sine,
                         Vars& x) {
  const val interleaved = t.let(tables[&rotary_tables::interleaved] != 0u);
  const val inverse = t.let(tables[&rotary_tables::inverse] != 0u);
  const auto first = array_of<run_size>([&](u32 i) { return t.let(select(interleaved, x[2 * i], x[i])); });
  const auto second =
      array_of<run_size>([&](u32 i) { return t.let(select(interleaved, x[2 * i + 1], x[run_size + i])); });
  const auto s = array_of<run_size>([&](u32 i) { return t.let(select(inverse, -sine[i], sine[i])); });
  const auto low = array_of<run_size>([&](u32 i) {
    const val crossed = t.let(second[i] * s[i]);
    return t.let(fma(first[i], cosine[i], -crossed));
  });
  const auto high = array_of<run_size>([&](u32 i) {
    const val crossed = t.let(first[i] * s[i]);
    return t.let(fma(second[i], cosine[i], crossed));
  });
  for (u32 j = 0; j < 2 * run_size; ++j)
    x[j] = select(interleaved, j % 2 == 0 ? low[j / 2] : high[j / 2],
                  j < run_size ? low[j] : high[j - run_size]);
}

// rotate_by with the row of the tables of `position`; NaN if they have none.
template <class Tables, class Vars>
constexpr void rotate_unit(thread t, const Tables& tables, const val<u32>& position, const row_unit& unit,
                           Vars& x) {
  const auto unknown = [&](u32) { return var(t, std::numeric_limits<f32>::quiet_NaN()); };
  auto cosine = array_of<run_size>(unknown), sine = array_of<run_size>(unknown);
  load_rotation(t, tables, position, unit.first_pair, cosine, sine);
  rotate_by(t, tables, cosine, sine, x);
}

}  // namespace kaio::ops
