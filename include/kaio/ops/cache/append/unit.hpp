#pragma once
// A lane's unit of 16 elements of a row of append_kv, in registers from the load to the store, and the scale of
// the row.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/append/problem.hpp>
#include <kaio/ops/cache/append/quantise.hpp>
#include <kaio/ops/cache/append/row.hpp>
#include <kaio/ops/cache/common/rotate.hpp>
#include <kaio/ops/shared/any_element.hpp>
#include <kaio/ops/shared/element_run.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

namespace detail {

// Rounds the elements of x to their type in memory.
template <class Vars>
constexpr void round_to_type(thread t, const val<u32>& type, Vars& x) {
  with_any_element(t, type, [&]<class A>(A) {
    if constexpr (!std::is_same_v<A, stored_f32>)
      for (u32 i = 0; i < 2 * run_size; ++i) x[i] = A::read(A::write(t, t.let(x[i])));
  });
}

}  // namespace detail

struct append_unit {
  row_unit unit;
  val<bool> exists;                               // whether the lane has a unit of a row that is written
  dsl::register_array<var<f32>, 2 * run_size> x;  // its elements
  val<u64> from, to;                              // the row

  static constexpr append_unit of(thread t, const append_row& row, const append_format& format,
                                  const append_ends& ends) {
    const val rotated_units = t.let((format.pairs + (run_size - 1)) / run_size);
    const val units = t.let(
        rotated_units +
        select(format.is_same, 0u, (format.size - format.pairs * 2u + (2 * run_size - 1)) / (2 * run_size)));
    const row_unit unit = unit_of(t, row.place.lane, format.pairs, format.size, format.interleaved);
    const val has_unit = t.let(all_of(ends.writes, row.place.lane < units));
    return {unit, has_unit, array_of<2 * run_size>([&](u32) { return var(t, 0.0f); }), t.let(ends.from),
            t.let(ends.to)};
  }

  // Loads the unit, and rotates and rounds it if it is rotated.
  template <class Tables>
  constexpr void load(thread t, const append_format& format, const Tables& tables, const var<u32>& position) {
    if (auto loads = t.when(exists)) {
      for (u32 r = 0; r < 2; ++r)
        load_run(t, format.type, run_of(t, from, format.shift, unit.first[r], unit.limit[r], format.aligned),
                 x, r * run_size);
      if (auto turns = t.when(unit.rotated)) {
        rotate_unit(t, tables, t.let(position), unit, x);
        detail::round_to_type(t, format.type, x);
      }
    }
  }
  // Stores the unit, quantised by `scale` if the cache keeps elements of 8 bits.
  constexpr void store(thread t, const append_format& format, const var<f32>& scale) const {
    if (auto stores = t.when(exists)) {
      const val same_shift = t.let(select(format.is_same, format.shift, 0u));
      const element_run run0 = run_of(t, to, same_shift, unit.first[0], unit.limit[0], format.aligned);
      const element_run run1 = run_of(t, to, same_shift, unit.first[1], unit.limit[1], format.aligned);
      if (auto same = t.when(format.is_same)) {
        store_run(t, format.type, run0, x, 0);
        store_run(t, format.type, run1, x, run_size);
      }
      if (auto little = t.otherwise()) store_quantised(t, format.kept, run0, run1, x, t.let(scale));
    }
  }
  // Copies the elements after the rotated ones, which no lane has in registers.
  constexpr void copy_rest(thread t, const append_row& row, const append_format& format) const {
    const val first = t.let(cast<u64>(format.pairs * 2u) << format.shift);
    const val rest_from = t.let(from + first), rest_to = t.let(to + first);
    const val bytes = t.let((format.size - format.pairs * 2u) << format.shift);
    copy_row(t, rest_from, rest_to, bytes, format.shift, format.aligned, row.place.lane, row.place.lanes);
  }
};

// The scale of a row.
struct append_scale {
  var<f32> value;
  val<u32> source;  // a scale_source
  val<bool> computed;
  val<u64> address;  // of its f32

  constexpr append_scale(thread t, const val<append_problem>& problem, const append_row& row,
                         const append_ends& ends)
      : value(t, 1.0f),
        source(t.let(select(row.is_query, static_cast<u32>(scale_source::none),
                            row.number(t, problem, &cache_rows::scales_are)))),
        computed(t.let(source == static_cast<u32>(scale_source::computed))),
        address(t.let(ends.scale_at)) {}

  // All lanes of a row call it.
  constexpr void compute(thread t, const append_row& row, const append_format& format,
                         const append_unit& unit) {
    const val of_row = scale_of_row(t, format.kept, unit.x, row.place.lanes);
    value = select(computed, of_row, value);
  }
  // Stores a scale that was computed, and loads one that is given; the row is written.
  constexpr void settle(thread t, const append_row& row) {
    if (auto own = t.when(all_of(computed, row.place.lane == 0u)))
      pointer_at<out<f32>>(t, address)[0] = value;
    const val is_given = t.let(any_of(source == static_cast<u32>(scale_source::given),
                                      source == static_cast<u32>(scale_source::of_sequence)));
    if (auto given = t.when(is_given)) value = pointer_at<in<f32>>(t, address)[0];
  }
};

}  // namespace kaio::ops
