#pragma once
// The steps of a row of a head as one lane sees them, and their terms: destination, bias, norm, cosines and
// sines. Terms are loaded where they are used, or all of them before the sums exist.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/common/rotate.hpp>
#include <kaio/ops/qkv_project/common/row.hpp>
#include <kaio/ops/shared/element_run.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// Values that all rows of a head share.
struct head_steps {
  val<u32> type, size, kept;
  val<u32> units;   // units of a row; a lane has one or none
  val<u32> source;  // source of the row's scale
  val<bool> is_same, aligned, terms_aligned;
  val<u64> bias, norm;  // addresses, for all heads of Q, K or V; 0: none
  val<f32> last_scale;
  row_unit unit;
};

template <class Problem>
constexpr head_steps steps_of(thread t, const Problem& problem, const head_row& row) {
  const auto append = problem[&qkv_problem::append];
  const auto tables = append[&append_problem::tables];
  const auto of = [&](auto member) {
    return of_split(t, problem, row, [&](const auto& split) { return split[member]; });
  };
  const auto of_rows = [&](auto member) {
    return of_split(t, problem, row, [&](const auto& split) { return split[&qkv_part::to][member]; });
  };
  const val type = t.let(append[&append_problem::type]);
  const val size = of_rows(&cache_rows::size);
  const val kept = of_rows(&cache_rows::kept);
  const val aligned = t.let(of_rows(&cache_rows::aligned) != 0u);
  const val is_same = t.let(kept == static_cast<u32>(kept_type::same));
  const val pairs = t.let(select(row.is_v, 0u, tables[&rotary_tables::pairs]));
  const val interleaved = t.let(tables[&rotary_tables::interleaved] != 0u);
  const val units =
      t.let((pairs + (run_size - 1)) / run_size + (size - pairs * 2u + (2 * run_size - 1)) / (2 * run_size));
  const row_unit unit = unit_of(t, row.lane, pairs, size, interleaved);
  const val terms_aligned = t.let(of(&qkv_part::terms_aligned) != 0u);
  const val source = of_rows(&cache_rows::scales_are);
  const val bias = of(&qkv_part::bias), norm = of(&qkv_part::norm);
  const val last_scale = of(&qkv_part::scale);
  return {type, size, kept, units, source, is_same, aligned, terms_aligned, bias, norm, last_scale, unit};
}

namespace detail {

// Loads the elements of a unit, of a head that begins at address `head`.
template <class Elements, class Vars>
constexpr void load_unit(thread t, const head_steps& steps, const val<u64>& head, Vars& to) {
  const val shift = t.let(1u);
  for (u32 r = 0; r < 2; ++r) {
    const element_run run =
        run_of(t, head, shift, steps.unit.first[r], steps.unit.limit[r], steps.terms_aligned);
    Elements::load(t, steps.type, run, to, r * run_size);
  }
}
template <class Elements, class Vars>
constexpr void load_bias(thread t, const head_steps& steps, const head_row& row, Vars& to) {
  const val of_head = t.let(steps.bias + (cast<u64>(row.head * steps.size) << 1u));
  load_unit<Elements>(t, steps, of_head, to);
}

}  // namespace detail

// Terms loaded where they are used. find() gives the destination of the row, as find_target does.
template <class Elements, class Find>
struct head_terms_in_memory {
  thread t;
  Find find;

  constexpr head_target target() const { return find(); }
  template <class Vars>
  constexpr void bias(const head_steps& steps, const head_row& row, Vars& to) const {
    detail::load_bias<Elements>(t, steps, row, to);
  }
  template <class Vars>
  constexpr void norm(const head_steps& steps, Vars& to) const {
    detail::load_unit<Elements>(t, steps, steps.norm, to);
  }
  template <class Tables, class Vars>
  constexpr void rotate(const Tables& tables, const head_target& target, const head_steps& steps,
                        Vars& x) const {
    rotate_unit(t, tables, target.position, steps.unit, x);
  }
};

// All terms loaded at once into registers, before the sums exist. Elements have 16 bits and are kept in
// pairs.
template <class Elements>
class head_terms_in_registers {
  using pair = typename Elements::pair;
  using pairs = dsl::register_array<var<u32>, run_size>;
  using numbers = dsl::register_array<var<f32>, run_size>;

 public:
  template <class Problem>
  constexpr head_terms_in_registers(thread t, const Problem& problem, const head_row& row,
                                    const head_steps& steps)
      : t_(t),
        target_(find_target(t, problem, row)),
        bias_(array_of<run_size>([&](u32) { return var(t, 0u); })),
        norm_(array_of<run_size>([&](u32) { return var(t, 0u); })),
        cosine_(array_of<run_size>([&](u32) { return unknown(); })),
        sine_(array_of<run_size>([&](u32) { return unknown(); })) {
    const val has_unit = t.let(all_of(target_.writes, row.lane < steps.units));
    if (auto turns = t.when(all_of(has_unit, steps.unit.rotated)))
      load_rotation(t, problem[&qkv_problem::append][&append_problem::tables], target_.position,
                    steps.unit.first_pair, cosine_, sine_);
    const auto keep = [&](pairs& to, const auto& load) {
      auto x = array_of<2 * run_size>([&](u32) { return var(t, 0.0f); });
      load(x);
      for (u32 i = 0; i < run_size; ++i) to[i] = bit_cast<u32>(pack<pair>(x[2 * i], x[2 * i + 1]));
    };
    if (auto adds = t.when(all_of(has_unit, steps.bias != 0u)))
      keep(bias_, [&](auto& x) { detail::load_bias<Elements>(t, steps, row, x); });
    if (auto has_norm = t.when(all_of(has_unit, steps.norm != 0u)))
      keep(norm_, [&](auto& x) { detail::load_unit<Elements>(t, steps, steps.norm, x); });
  }

  constexpr const head_target& target() const { return target_; }
  template <class Vars>
  constexpr void bias(const head_steps&, const head_row&, Vars& to) const {
    unpack(bias_, to);
  }
  template <class Vars>
  constexpr void norm(const head_steps&, Vars& to) const {
    unpack(norm_, to);
  }
  template <class Tables, class Vars>
  constexpr void rotate(const Tables& tables, const head_target&, const head_steps&, Vars& x) const {
    rotate_by(t_, tables, cosine_, sine_, x);
  }

 private:
  // Positions that the tables do not have give NaN.
  constexpr var<f32> unknown() const { return var(t_, std::numeric_limits<f32>::quiet_NaN()); }
  template <class Vars>
  constexpr void unpack(const pairs& from, Vars& to) const {
    for (u32 i = 0; i < run_size; ++i) {
      const val both = t_.let(bit_cast<pair>(from[i]));
      to[2 * i] = cast<f32>(low(both));
      to[2 * i + 1] = cast<f32>(high(both));
    }
  }

  thread t_;
  head_target target_;
  pairs bias_, norm_;
  numbers cosine_, sine_;
};

}  // namespace kaio::ops
