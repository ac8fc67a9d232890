#pragma once
// The steps from the sums of a row of a head to its destination, shared by all kernels of qkv_project. A
// group of lanes has a row; each lane has a unit of 16 elements (cache/common/rotate.hpp) in registers:
//
//   y = sum + bias                        rounded to the element type
//   y = y / rms(y) * (offset + norm)      Q and K; rounded
//   y = rotated by position               Q and K; rounded
//   y = y * scale                         Q; rounded
//
// A head function (head_function.hpp) may run before or after the rotation. The result goes to a tensor, or
// into a cache as in append_kv. Each step is in f32 and rounded, so the bits are those of separate
// operations.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/append/quantise.hpp>
#include <kaio/ops/qkv_project/common/elements.hpp>
#include <kaio/ops/qkv_project/common/head_function.hpp>
#include <kaio/ops/qkv_project/common/problem.hpp>
#include <kaio/ops/qkv_project/common/row.hpp>
#include <kaio/ops/qkv_project/common/terms.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

namespace detail {

// The address of the scale of a row in a cache.
template <class Problem>
constexpr val<u64> scale_address(thread t, const Problem& problem, const head_row& row,
                                 const head_target& target) {
  const auto of_rows = [&](auto member) {
    return of_split(t, problem, row, [&](const auto& split) { return split[&qkv_part::to][member]; });
  };
  const val of_page = of_rows(&cache_rows::scale_page);
  const val of_row = of_rows(&cache_rows::scale_row);
  const val of_head = of_rows(&cache_rows::scale_head);
  const val first = of_rows(&cache_rows::scale);
  const val at = t.let(cast<u64>(cast<i64>(target.page) * of_page + cast<i64>(target.line) * of_row +
                                 cast<i64>(row.head) * of_head));
  return t.let(first + at * sizeof(f32));
}

// y / rms(y) * (offset + norm). All lanes of a warp call it.
template <class Elements, class Vars, class Problem, class Terms>
constexpr void normalise(thread t, const Problem& problem, const head_row& row, const head_steps& steps,
                         const val<bool>& has_unit, const Terms& terms, Vars& x) {
  var sum(t, 0.0f);
  for (u32 i = 0; i < 2 * run_size; ++i) sum = fma(x[i], x[i], sum);
  for (u32 distance = 16; distance != 0; distance /= 2) {
    const val other = shfl_xor(sum, distance);
    sum = select(row.lanes > distance, sum + other, sum);
  }
  if (auto some = t.when(all_of(has_unit, steps.norm != 0u))) {
    const val inverse = t.let(rsqrt(sum / cast<f32>(steps.size) + problem[&qkv_problem::epsilon]));
    auto weight = array_of<2 * run_size>([&](u32) { return var(t, 0.0f); });
    terms.norm(steps, weight);
    const val offset = t.let(problem[&qkv_problem::norm_offset]);
    for (u32 i = 0; i < 2 * run_size; ++i) {
      const val y = t.let(x[i] * inverse);
      x[i] = y * (offset + weight[i]);
    }
    Elements::round(t, steps.type, x);
  }
}

struct no_step {
  constexpr void operator()(qkv_row&) const {}
};

// Runs a head function: call(row) is its invocation. All lanes of a warp call it.
template <class Elements, class Vars, class Call>
constexpr void run_head_function(thread t, const head_row& row, const head_target& target,
                                 const val<u32>& type, const val<u32>& size, const row_unit& unit,
                                 const val<bool>& has_unit, Vars& x, const Call& call) {
  const auto is_element = [&](u32 i) {
    const u32 r = i / run_size;
    return t.let(unit.first[r] + i % run_size < unit.limit[r]);
  };
  qkv_row of{target.writes,
             row.is_q,
             row.is_v,
             t.let(select(target.writes, row.batch, 0u)),
             t.let(select(target.writes, row.token, 0u)),
             row.head,
             t.let(select(target.writes, target.position, 0u)),
             size,
             has_unit,
             {unit.first[0], unit.first[1]},
             {is_element(0), is_element(1), is_element(2), is_element(3), is_element(4), is_element(5),
              is_element(6), is_element(7), is_element(8), is_element(9), is_element(10), is_element(11),
              is_element(12), is_element(13), is_element(14), is_element(15)},
             x,
             row.lanes};
  call(of);
  if (auto rounds = t.when(has_unit)) Elements::round(t, type, x);
}

}  // namespace detail

// What `load` of finish_head gives: sums in f32, or sums already rounded to the element type.
enum class sums_are : std::uint8_t { f32, elements };

// load(unit, x) fills x[0] to x[15] with the sums of a unit of the row. `terms` is a type of terms.hpp;
// own_step(row) is a head function Own.
template <class Elements, sums_are Sums, class Own = no_head_function, class Problem, class Load, class Terms,
          class Call = detail::no_step>
constexpr void finish_row(thread t, const Problem& problem, const head_steps& steps, const head_row& row,
                          const Load& load, const Terms& terms, const Call& own_step = {}) {
  const auto append = problem[&qkv_problem::append];
  const auto tables = append[&append_problem::tables];
  const val<u32>&type = steps.type, &kept = steps.kept;
  const val<bool>& is_same = steps.is_same;
  const val<f32>& last_scale = steps.last_scale;
  const row_unit& unit = steps.unit;
  const val has_lane = t.let(row.lane < steps.units);
  const val shift = t.let(1u);
  // -0 + x is x for every x.
  auto x = array_of<2 * run_size>([&](u32) { return var(t, -0.0f); });
  // The loads of the sums are in flight while the destination of the row is found.
  if (auto loads = t.when(all_of(row.exists, has_lane))) load(unit, x);
  const head_target target = terms.target();
  const val has_unit = t.let(all_of(target.writes, has_lane));
  if (auto adds = t.when(all_of(has_unit, steps.bias != 0u))) {
    auto addends = array_of<2 * run_size>([&](u32) { return var(t, -0.0f); });
    terms.bias(steps, row, addends);
    for (u32 i = 0; i < 2 * run_size; ++i) x[i] = x[i] + addends[i];
    if constexpr (Sums == sums_are::elements) Elements::round(t, type, x);
  }
  if constexpr (Sums == sums_are::f32)
    if (auto rounds = t.when(has_unit)) Elements::round(t, type, x);
  if (auto some = t.when(problem[&qkv_problem::has_norms] != 0u))
    detail::normalise<Elements>(t, problem, row, steps, has_unit, terms, x);
  const auto run_own = [&] {
    detail::run_head_function<Elements>(t, row, target, steps.type, steps.size, steps.unit, has_unit, x,
                                        own_step);
  };
  constexpr bool has_own = !std::is_same_v<Own, no_head_function>;
  constexpr bool own_is_last = has_own && !runs_before_rotary<Own>;
  if constexpr (has_own && !own_is_last) run_own();
  if (auto turns = t.when(all_of(has_unit, unit.rotated))) {
    terms.rotate(tables, target, steps, x);
    if constexpr (own_is_last) {
      Elements::round(t, type, x);
    } else {
      // If the store comes next, it rounds.
      if (auto rounds = t.when(any_of(last_scale != 1.0f, !is_same))) Elements::round(t, type, x);
    }
  }
  if constexpr (own_is_last) run_own();
  if (auto scales = t.when(all_of(has_unit, last_scale != 1.0f))) {
    // Only Q is scaled, and it goes to a tensor: its store rounds.
    for (u32 i = 0; i < 2 * run_size; ++i) x[i] = x[i] * last_scale;
  }

  var scale(t, 1.0f);
  const val computed = t.let(steps.source == static_cast<u32>(scale_source::computed));
  if (auto any = t.when(append[&append_problem::computes_scales] != 0u)) {
    const val of_row_itself = scale_of_row(t, kept, x, row.lanes);
    scale = select(computed, of_row_itself, scale);
  }
  if (auto written = t.when(target.writes)) {
    if (auto scaled = t.when(steps.source != static_cast<u32>(scale_source::none))) {
      const val at = detail::scale_address(t, problem, row, target);
      if (auto own = t.when(all_of(computed, row.lane == 0u))) pointer_at<out<f32>>(t, at)[0] = scale;
      if (auto given = t.when(!computed)) scale = pointer_at<in<f32>>(t, at)[0];
    }
    if (auto stores = t.when(has_lane)) {
      const val kept_shift = t.let(select(is_same, shift, 0u));
      const element_run run0 = run_of(t, target.to, kept_shift, unit.first[0], unit.limit[0], steps.aligned);
      const element_run run1 = run_of(t, target.to, kept_shift, unit.first[1], unit.limit[1], steps.aligned);
      if (auto same = t.when(is_same)) {
        Elements::store(t, type, run0, x, 0);
        Elements::store(t, type, run1, x, run_size);
      }
      if (auto little = t.otherwise()) store_quantised(t, kept, run0, run1, x, t.let(scale));
    }
  }
}

// finish_row with the destination that find() gives, as find_target does.
template <class Elements, sums_are Sums, class Own = no_head_function, class Problem, class Load, class Find,
          class Call = detail::no_step>
constexpr void finish_head_at(thread t, const Problem& problem, const head_row& row, const Load& load,
                              const Find& find, const Call& own_step = {}) {
  finish_row<Elements, Sums, Own>(t, problem, steps_of(t, problem, row), row, load,
                                  head_terms_in_memory<Elements, Find>{t, find}, own_step);
}
template <class Elements, sums_are Sums, class Own = no_head_function, class Problem, class Load,
          class Call = detail::no_step>
constexpr void finish_head(thread t, const Problem& problem, const head_row& row, const Load& load,
                           const Call& own_step = {}) {
  finish_head_at<Elements, Sums, Own>(
      t, problem, row, load, [&] { return find_target(t, problem, row); }, own_step);
}

}  // namespace kaio::ops
