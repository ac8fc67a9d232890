#pragma once
// The steps from the sums of a row of a head to where it goes, which all kernels of qkv_project share. A
// group of lanes has a row, each lane a unit of 16 elements (cache/common/rotate.hpp) in registers:
//
//   y = sum + bias                        rounded to the element type
//   y = y / rms(y) * (offset + norm)      Q and K; rounded
//   y = rotated by position               Q and K; rounded
//   y = y * scale                         Q; rounded
//
// with a head function (head_function.hpp) before or after the rotation, and then to a tensor, or into a
// cache as append_kv has it. Each step is in f32, so that the bits are those of an operation for each.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/append/kernel.hpp>
#include <kaio/ops/cache/append/place.hpp>
#include <kaio/ops/cache/append/quantise.hpp>
#include <kaio/ops/cache/common/rotate.hpp>
#include <kaio/ops/cache/common/rows.hpp>
#include <kaio/ops/qkv/elements.hpp>
#include <kaio/ops/qkv/head_function.hpp>
#include <kaio/ops/qkv/problem.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// A row of a head. By all lanes of a warp, those of rows that are not there too.
struct head_row {
  val<bool> exists;
  val<u32> batch, token;
  val<bool> is_q, is_v;
  val<u32> head;
  val<u32> lane, lanes;
};

// Head `index` of those of Q, K and V together.
template <class Problem>
constexpr head_row find_head(thread t, const Problem& problem, const val<bool>& exists, const val<u32>& batch,
                             const val<u32>& token, const val<u32>& index, const val<u32>& lane,
                             const val<u32>& lanes) {
  const val of_q = t.let(problem[&qkv_problem::q][&qkv_part::heads]);
  const val before_v = t.let(of_q + problem[&qkv_problem::k][&qkv_part::heads]);
  const val is_q = t.let(index < of_q), is_v = t.let(index >= before_v);
  const val head = t.let(index - select(is_q, 0u, select(is_v, before_v, of_q)));
  return {exists, batch, token, is_q, is_v, head, lane, lanes};
}

// read(part) of Q, K or V, as the row is.
template <class Problem, class Read>
constexpr auto of_part(thread t, const Problem& problem, const head_row& row, const Read& read) {
  const val q = t.let(read(problem[&qkv_problem::q]));
  const val k = t.let(read(problem[&qkv_problem::k]));
  const val v = t.let(read(problem[&qkv_problem::v]));
  return t.let(select(row.is_q, q, select(row.is_v, v, k)));
}

// Where a row goes: the address of its elements, and the place in the cache that its scale has too.
struct head_target {
  val<bool> writes;
  val<u64> to;
  val<u32> page, line, position;
};

template <class Problem>
constexpr head_target find_target(thread t, const Problem& problem, const head_row& row) {
  const auto append = problem[&qkv_problem::append];
  var writes(t, false);
  var page(t, row.batch), line(t, row.token), position(t, row.token);
  if (auto exists = t.when(row.exists)) {
    if (auto cached = t.when(problem[&qkv_problem::cached] != 0u)) {
      const append_place of = place_of_token(t, append, row.batch, row.token, row.is_q);
      writes = select(row.is_q, of.exists, of.has_place);
      page = select(row.is_q, row.batch, of.page);
      line = select(row.is_q, row.token, of.row);
      position = of.position;
    }
    if (auto of_tensors = t.otherwise()) {
      writes = true;
      var sequence(t, row.batch);
      const val cu = t.let(append[&append_problem::cu]);
      if (auto packed = t.when(cu != 0u)) {
        const token_place of = find_sequence(t, cu, t.let(append[&append_problem::sequences]), row.token);
        writes = of.found;
        sequence = select(of.found, of.sequence, 0u);
        position = row.token - of.first;
      }
      const val offsets = t.let(problem[&qkv_problem::offsets]);
      if (auto shifted = t.when(all_of(offsets != 0u, writes)))
        position += cast<u32>(pointer_at<in<i32>>(t, offsets)[t.let(sequence)]);
      const auto positions = append[&append_problem::positions];
      if (auto given = t.when(positions[&token_numbers::address] != 0u))
        position = as_index(t, number_of_token(t, positions, row.batch, row.token));
    }
  }
  const auto stride = [&](auto member) {
    return of_part(t, problem, row,
                   [&](const auto& part) { return part[&qkv_part::to][&cache_rows::at][member]; });
  };
  const val of_page = stride(&page_strides::page);
  const val of_line = stride(&page_strides::row);
  const val of_head = stride(&page_strides::head);
  const val at =
      t.let(cast<u64>(cast<i64>(page) * of_page + cast<i64>(line) * of_line + cast<i64>(row.head) * of_head));
  const val kept =
      of_part(t, problem, row, [](const auto& part) { return part[&qkv_part::to][&cache_rows::kept]; });
  const val is_same = t.let(kept == static_cast<u32>(kept_type::same));
  const val base = stride(&page_strides::address);
  return {t.let(writes), t.let(base + (at << select(is_same, 1u, 0u))), t.let(page), t.let(line),
          t.let(position)};
}

namespace detail {

// The address of the scale of a row in a cache.
template <class Problem>
constexpr val<u64> scale_address(thread t, const Problem& problem, const head_row& row,
                                 const head_target& target) {
  const auto of_rows = [&](auto member) {
    return of_part(t, problem, row, [&](const auto& part) { return part[&qkv_part::to][member]; });
  };
  const val of_page = of_rows(&cache_rows::scale_page);
  const val of_row = of_rows(&cache_rows::scale_row);
  const val of_head = of_rows(&cache_rows::scale_head);
  const val first = of_rows(&cache_rows::scale);
  const val at = t.let(cast<u64>(cast<i64>(target.page) * of_page + cast<i64>(target.line) * of_row +
                                 cast<i64>(row.head) * of_head));
  return t.let(first + at * sizeof(f32));
}

// y / rms(y) * (offset + norm), by all lanes of a warp.
template <class Elements, class Vars, class Problem>
constexpr void normalise(thread t, const Problem& problem, const head_row& row, const val<u32>& type,
                         const val<u32>& shift, const val<u32>& size, const row_unit& unit,
                         const val<bool>& has_unit, const val<bool>& aligned, Vars& x) {
  var sum(t, 0.0f);
  for (u32 i = 0; i < 2 * run_size; ++i) sum = fma(x[i], x[i], sum);
  for (u32 distance = 16; distance != 0; distance /= 2) {
    const val other = shfl_xor(sum, distance);
    sum = select(row.lanes > distance, sum + other, sum);
  }
  const val norm = of_part(t, problem, row, [](const auto& part) { return part[&qkv_part::norm]; });
  if (auto some = t.when(all_of(has_unit, norm != 0u))) {
    const val inverse = t.let(rsqrt(sum / cast<f32>(size) + problem[&qkv_problem::epsilon]));
    auto weight = array_of<2 * run_size>([&](u32) { return var(t, 0.0f); });
    for (u32 r = 0; r < 2; ++r) {
      const element_run run = run_of(t, norm, shift, unit.first[r], unit.limit[r], aligned);
      Elements::load(t, type, run, weight, r * run_size);
    }
    const val offset = t.let(problem[&qkv_problem::norm_offset]);
    for (u32 i = 0; i < 2 * run_size; ++i) {
      const val y = t.let(x[i] * inverse);
      x[i] = y * (offset + weight[i]);
    }
    Elements::round(t, type, x);
  }
}

struct no_step {
  constexpr void operator()(qkv_row&) const {}
};

// A head function, by all lanes of a warp. call(row) is it.
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

// What `load` of finish_head gives: sums, or what they are rounded to.
enum class sums_are : std::uint8_t { f32, elements };

// load(unit, x) fills x[0] to x[15] with the sums of a unit of the row; find() is where the row goes, as
// find_target has it; own_step(row) is a head function Own.
template <class Elements, sums_are Sums, class Own = no_head_function, class Problem, class Load, class Find,
          class Call = detail::no_step>
constexpr void finish_head_at(thread t, const Problem& problem, const head_row& row, const Load& load,
                              const Find& find, const Call& own_step = {}) {
  const auto append = problem[&qkv_problem::append];
  const auto tables = append[&append_problem::tables];
  const val type = t.let(append[&append_problem::type]);
  const val shift = t.let(1u);
  const auto of_rows = [&](auto member) {
    return of_part(t, problem, row, [&](const auto& part) { return part[&qkv_part::to][member]; });
  };
  const val size = of_rows(&cache_rows::size);
  const val kept = of_rows(&cache_rows::kept);
  const val aligned = t.let(of_rows(&cache_rows::aligned) != 0u);
  const val is_same = t.let(kept == static_cast<u32>(kept_type::same));
  const val pairs = t.let(select(row.is_v, 0u, tables[&rotary_tables::pairs]));
  const val interleaved = t.let(tables[&rotary_tables::interleaved] != 0u);
  const val units =
      t.let((pairs + (run_size - 1)) / run_size + (size - pairs * 2u + (2 * run_size - 1)) / (2 * run_size));
  const row_unit unit = unit_of(t, row.lane, pairs, size, interleaved);
  // -0 + x is x for every x.
  auto x = array_of<2 * run_size>([&](u32) { return var(t, -0.0f); });
  // Sums are under way while the device finds where the row goes.
  if (auto loads = t.when(all_of(row.exists, row.lane < units))) load(unit, x);
  const head_target target = find();
  const val has_unit = t.let(all_of(target.writes, row.lane < units));
  const val terms_aligned =
      t.let(of_part(t, problem, row, [](const auto& part) { return part[&qkv_part::terms_aligned]; }) != 0u);
  const val bias = of_part(t, problem, row, [](const auto& part) { return part[&qkv_part::bias]; });
  if (auto adds = t.when(all_of(has_unit, bias != 0u))) {
    const val of_head = t.let(bias + (cast<u64>(row.head * size) << shift));
    auto terms = array_of<2 * run_size>([&](u32) { return var(t, -0.0f); });
    for (u32 r = 0; r < 2; ++r) {
      const element_run run = run_of(t, of_head, shift, unit.first[r], unit.limit[r], terms_aligned);
      Elements::load(t, type, run, terms, r * run_size);
    }
    for (u32 i = 0; i < 2 * run_size; ++i) x[i] = x[i] + terms[i];
    if constexpr (Sums == sums_are::elements) Elements::round(t, type, x);
  }
  if constexpr (Sums == sums_are::f32)
    if (auto rounds = t.when(has_unit)) Elements::round(t, type, x);
  if (auto some = t.when(problem[&qkv_problem::has_norms] != 0u))
    detail::normalise<Elements>(t, problem, row, type, shift, size, unit, has_unit, terms_aligned, x);
  const auto run_own = [&] {
    detail::run_head_function<Elements>(t, row, target, type, size, unit, has_unit, x, own_step);
  };
  constexpr bool has_own = !std::is_same_v<Own, no_head_function>;
  constexpr bool own_is_last = has_own && !runs_before_rotary<Own>;
  if constexpr (has_own && !own_is_last) run_own();
  const val last_scale = of_part(t, problem, row, [](const auto& part) { return part[&qkv_part::scale]; });
  if (auto turns = t.when(all_of(has_unit, unit.rotated))) {
    rotate_unit(t, tables, target.position, unit, x);
    if constexpr (own_is_last) {
      Elements::round(t, type, x);
    } else {
      // Where the store is next, it rounds.
      if (auto rounds = t.when(any_of(last_scale != 1.0f, !is_same))) Elements::round(t, type, x);
    }
  }
  if constexpr (own_is_last) run_own();
  if (auto scales = t.when(all_of(has_unit, last_scale != 1.0f))) {
    // Of Q, which goes to a tensor: its store rounds.
    for (u32 i = 0; i < 2 * run_size; ++i) x[i] = x[i] * last_scale;
  }

  var scale(t, 1.0f);
  const val source = of_rows(&cache_rows::scales_are);
  const val computed = t.let(source == static_cast<u32>(scale_source::computed));
  if (auto any = t.when(append[&append_problem::computes_scales] != 0u)) {
    const val of_row_itself = scale_of_row(t, kept, x, row.lanes);
    scale = select(computed, of_row_itself, scale);
  }
  if (auto written = t.when(target.writes)) {
    if (auto scaled = t.when(source != static_cast<u32>(scale_source::none))) {
      const val at = detail::scale_address(t, problem, row, target);
      if (auto own = t.when(all_of(computed, row.lane == 0u))) pointer_at<out<f32>>(t, at)[0] = scale;
      if (auto given = t.when(!computed)) scale = pointer_at<in<f32>>(t, at)[0];
    }
    if (auto stores = t.when(row.lane < units)) {
      const val kept_shift = t.let(select(is_same, shift, 0u));
      const element_run run0 = run_of(t, target.to, kept_shift, unit.first[0], unit.limit[0], aligned);
      const element_run run1 = run_of(t, target.to, kept_shift, unit.first[1], unit.limit[1], aligned);
      if (auto same = t.when(is_same)) {
        Elements::store(t, type, run0, x, 0);
        Elements::store(t, type, run1, x, run_size);
      }
      if (auto small = t.otherwise()) store_quantised(t, kept, run0, run1, x, t.let(scale));
    }
  }
}

// The same, of a row whose place is not known yet.
template <class Elements, sums_are Sums, class Own = no_head_function, class Problem, class Load,
          class Call = detail::no_step>
constexpr void finish_head(thread t, const Problem& problem, const head_row& row, const Load& load,
                           const Call& own_step = {}) {
  finish_head_at<Elements, Sums, Own>(
      t, problem, row, load, [&] { return find_target(t, problem, row); }, own_step);
}

}  // namespace kaio::ops
