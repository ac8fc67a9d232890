#pragma once
// qk_norm_rotary: the norm of each head of Q and K, then its rotation. A group of lanes has a row and passes
// over its units (common/rotate.hpp) twice: the sum of squares, then the result. The second reading finds the
// row in the cache.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/common/problem.hpp>
#include <kaio/ops/cache/common/rotate.hpp>
#include <kaio/ops/cache/rotary/kernel.hpp>
#include <kaio/ops/shared/row_of_thread.hpp>

#include <cstdint>

namespace kaio::ops {

struct qk_norm {
  u64 weight;  // 0: the heads have no norm
  u32 type;    // an element_type
  u32 aligned;
};

struct qk_norm_problem {
  rotary_problem rotary;  // x, y: of Q; heads: of Q and then of K
  row_strides k, k_out;
  qk_norm q_norm, k_norm;
  u32 q_heads, units;
  u32 first_pass;  // 1: there are no norms
  f32 epsilon, weight_offset;
};

namespace detail {

// Each number of x rounded to `type`.
template <class Vars>
constexpr void round_numbers(thread t, const val<u32>& type, Vars& x) {
  with_any_element(t, type, [&]<class Access>(Access) {
    if constexpr (!std::is_same_v<Access, stored_f32>)
      for (u32 i = 0; i < 2 * run_size; ++i) x[i] = Access::read(Access::write(t, t.let(x[i])));
  });
}

}  // namespace detail

inline constexpr auto qk_norm_rotary_rows =
    kaio::kernel<"qk_norm_rotary", row_threads, kernel_options{.target = {70}, .min_blocks = 3u}>(
        [](thread t, val<qk_norm_problem> problem) {
          using p_ = qk_norm_problem;
          const auto rotary = problem[&p_::rotary];
          const row_place place = place_of_thread(t, t.let(rotary[&rotary_problem::lanes_log]));
          const val exists = t.let(place.row < rotary[&rotary_problem::rows]);
          const val heads = t.let(rotary[&rotary_problem::heads]),
                    tokens = t.let(rotary[&rotary_problem::tokens]);
          const val of_all = t.let(place.row / heads);
          const val of_both = t.let(place.row - of_all * heads);
          const val batch = t.let(of_all / tokens);
          const val token = t.let(of_all - batch * tokens);
          const val q_heads = t.let(problem[&p_::q_heads]);
          const val is_k = t.let(of_both >= q_heads);
          const val head = t.let(select(is_k, of_both - q_heads, of_both));
          const val type = t.let(rotary[&rotary_problem::type]);
          const val shift = t.let(select(type == static_cast<u32>(element_type::f32), 2u, 1u));
          const auto address = [&](const auto& of_q, const auto& of_k) {
            const val q = row_address(t, of_q, batch, token, head, shift);
            const val k = row_address(t, of_k, batch, token, head, shift);
            return t.let(select(is_k, k, q));
          };
          const val from = address(rotary[&rotary_problem::x], problem[&p_::k]);
          const val to = address(rotary[&rotary_problem::y], problem[&p_::k_out]);
          const auto norm = [&](auto member) {
            const val q = t.let(problem[&p_::q_norm][member]), k = t.let(problem[&p_::k_norm][member]);
            return t.let(select(is_k, k, q));
          };
          const val weight = norm(&qk_norm::weight);
          const val weight_type = norm(&qk_norm::type);
          const val weight_aligned = t.let(norm(&qk_norm::aligned) != 0u);
          const val weight_shift = t.let(select(weight_type == static_cast<u32>(element_type::f32), 2u, 1u));
          const val size = t.let(rotary[&rotary_problem::size]);
          const val aligned = t.let(rotary[&rotary_problem::aligned] != 0u);
          const auto tables = rotary[&rotary_problem::tables];
          const val pairs = t.let(tables[&rotary_tables::pairs]);
          const val interleaved = t.let(tables[&rotary_tables::interleaved] != 0u);
          const val has_norm = t.let(weight != u64{0});
          var sum(t, 0.0f);
          var place_of_token(t, 0u);
          var found(t, false);
          if (auto is_row = t.when(exists))
            detail::with_position(t, rotary, batch, token, [&](const val<u32>& position) {
              place_of_token = position;
              found = true;
            });
          const val position = t.let(place_of_token);
          const val belongs = t.let(found);
          const val offset = t.let(problem[&p_::weight_offset]);
          // Pass 0 adds squares, pass 1 writes.
          for (auto pass : t.range(problem[&p_::first_pass], 2u).no_unroll()) {
            const val inverse = t.let(rsqrt(sum / cast<f32>(size) + problem[&p_::epsilon]));
            if (auto in_sequence = t.when(belongs))
              for (auto u : t.range(place.lane, problem[&p_::units], place.lanes).no_unroll()) {
                const row_unit unit = unit_of(t, t.let(u), pairs, size, interleaved);
                auto x = array_of<2 * run_size>([&](u32) { return var(t, 0.0f); });
                for (u32 r = 0; r < 2; ++r)
                  load_run(t, type, run_of(t, from, shift, unit.first[r], unit.limit[r], aligned), x,
                           r * run_size);
                if (auto squares = t.when(pass == 0u))
                  for (u32 i = 0; i < 2 * run_size; ++i) sum = fma(x[i], x[i], sum);
                if (auto writes = t.otherwise()) {
                  if (auto norms = t.when(has_norm)) {
                    auto by = array_of<2 * run_size>([&](u32) { return var(t, 0.0f); });
                    for (u32 r = 0; r < 2; ++r)
                      load_run(t, weight_type,
                               run_of(t, weight, weight_shift, unit.first[r], unit.limit[r], weight_aligned),
                               by, r * run_size);
                    for (u32 i = 0; i < 2 * run_size; ++i) {
                      const val y = t.let(x[i] * inverse);
                      x[i] = y * (offset + by[i]);
                    }
                    detail::round_numbers(t, type, x);
                  }
                  if (auto turns = t.when(unit.rotated)) rotate_unit(t, tables, position, unit, x);
                  for (u32 r = 0; r < 2; ++r)
                    store_run(t, type, run_of(t, to, shift, unit.first[r], unit.limit[r], aligned), x,
                              r * run_size);
                }
              }
            for (u32 distance = 16; distance != 0; distance /= 2) {
              const val other = shfl_xor(sum, distance);
              sum = select(place.lanes > distance, sum + other, sum);
            }
          }
        });

}  // namespace kaio::ops
