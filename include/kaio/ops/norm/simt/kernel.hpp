#pragma once
// rms_norm in one launch. A group of 1 to 256 neighbouring threads, the lanes, handles a row; a block of 256
// threads handles 256 / lanes rows. A thread takes every lanes-th run of eight elements:
//
//   f16, size 4096, 128 lanes     thread 0: elements 0..7, 1024..1031, ...     thread 1: 8..15, ...     ...
//
// A thread's first runs stay in registers between the sum and the result. Further runs are read twice, and so
// are rows that are not whole runs at multiples of 16 bytes. The number of lanes depends on the row's size
// and type alone.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/norm/common/problem.hpp>
#include <kaio/ops/shared/row_elements.hpp>
#include <kaio/ops/shared/row_of_thread.hpp>
#include <kaio/ops/shared/row_sum.hpp>

#include <cstdint>

namespace kaio::ops {

// end(place, exists, results) takes the rows' results. results(f) calls f(piece, offset, y) for each piece of
// the row that this thread has, 8 elements or one:
//
//   piece     its number in the row
//   offset    bytes from the row's first element, with elements of T
//   y         its elements, normed; with Rounded, rounded to T
//
// With Rounded, y replaces x in registers, so that results() may be called again.
template <dsl::scalar T, std::uint32_t Sm, bool Rounded = false>
struct rms_norm_body {
  using elements = row_elements<T, Sm>;
  static constexpr u32 held = held_runs(sizeof(T));  // runs in registers
  static constexpr u32 words = held * elements::words;

  struct row_addresses {
    val<u64> x, residual, residual_out, weight;
  };

  // problem: an rms_norm_problem, or a member that is one.
  template <class Problem, class End>
  static constexpr void run(thread t, const Problem& problem, const End& end) {
    const row_sums of_warps(t);
    const row_place place = place_of_thread(t, t.let(problem[&rms_norm_problem::lanes_log]));
    const val exists = t.let(place.row < problem[&rms_norm_problem::rows]);
    const row_addresses at = find_row(t, problem, place.row);
    const val size = t.let(problem[&rms_norm_problem::size]);
    const val runs = t.let(size / run_size);
    const val whole = t.let(all_of(exists, problem[&rms_norm_problem::aligned] != 0u));
    const val single = t.let(all_of(exists, problem[&rms_norm_problem::aligned] == 0u));
    const val first_far = t.let(place.lane + (place.lanes << (held == 4 ? 2u : 1u)));
    const auto run_at = [&](const auto& r) { return t.let(place.lane + place.lanes * r); };
    // Calls f(run, its first word) for each run in registers, in order. `arrays` names every array that f
    // reads. Before sm_90 a loop keeps one copy of the instructions: each step rotates the arrays by one run,
    // and the last restores them.
    const auto each_held = [&](const auto& f, auto&... arrays) {
      if constexpr (Sm >= 90) {
        for (u32 r = 0; r < held; ++r) f(run_at(r), r * elements::words);
      } else {
        for (auto r : t.range(0u, held).no_unroll()) {
          f(run_at(r), 0u);
          (turn(t, arrays), ...);
        }
      }
    };
    if constexpr (Sm >= 90) {
      launch_dependents(t);
      grid_dependency_wait(t);
    }

    var sum(t, 0.0f);
    // Words as in memory. The sum with the residual is rounded to T, so they lose nothing.
    auto x = array_of<words>([&](u32) { return var(t, 0u); });
    auto weights = array_of<words>([&](u32) { return var(t, 0u); });
    if (auto by_runs = t.when(whole)) {
      const auto load_held = [&](const val<u64>& row, auto& to) {
        for (u32 r = 0; r < held; ++r) {
          const val address = t.let(row + cast<u64>(run_at(r)) * u64{run_size * sizeof(T)});
          if (auto inside = t.when(run_at(r) < runs))
            elements::load_words(t, address, to, r * elements::words);
        }
      };
      // All loads come before the first use. The weights arrive while the row's sum is reduced.
      load_held(at.x, x);
      if (auto some = t.when(at.residual != 0u)) {
        auto residual = array_of<words>([&](u32) { return var(t, 0u); });
        load_held(at.residual, residual);
        each_held(
            [&](const val<u32>& run, u32 first) {
              const auto y = array_of<run_size>([&](u32 i) {
                const val own = elements::value(t, x, first, i);
                const val more = elements::value(t, residual, first, i);
                return t.let(own + more);
              });
              const auto rounded = elements::rounded_words(t, y);
              for (u32 i = 0; i < elements::words; ++i) x[first + i] = rounded[i];
              const val to = t.let(at.residual_out + cast<u64>(run) * u64{run_size * sizeof(T)});
              if (auto stores = t.when(all_of(at.residual_out != 0u, run < runs)))
                elements::store_words(t, to, rounded);
            },
            x, residual);
      }
      each_held(
          [&](const val<u32>&, u32 first) {
            for (u32 i = 0; i < run_size; ++i) {
              const val one = elements::value(t, x, first, i);
              sum = fma(one, one, sum);
            }
          },
          x);
      add_squares<run_size>(t, at, first_far, runs, place.lanes, sum);
      load_held(at.weight, weights);
    }
    if (auto one_by_one = t.when(single)) add_squares<1>(t, at, place.lane, size, place.lanes, sum);

    const val total = sum_of_row(t, t.let(sum), place, of_warps);
    const val inverse = t.let(rsqrt(total / cast<f32>(size) + problem[&rms_norm_problem::epsilon]));
    const val offset = t.let(problem[&rms_norm_problem::weight_offset]);
    const auto norm_of = [&](u32 first) {
      return array_of<run_size>([&](u32 i) {
        const val own = elements::value(t, x, first, i);
        const val weight = elements::value(t, weights, first, i);
        return t.let(own * inverse * (offset + weight));
      });
    };
    if constexpr (Rounded)
      if (auto by_runs = t.when(whole))
        each_held(
            [&](const val<u32>&, u32 first) {
              const auto y = elements::rounded_words(t, norm_of(first));
              for (u32 i = 0; i < elements::words; ++i) x[first + i] = y[i];
            },
            x, weights);
    const auto held_result = [&](u32 first) {
      if constexpr (Rounded)
        return array_of<run_size>([&](u32 i) { return elements::value(t, x, first, i); });
      else
        return norm_of(first);
    };
    end(place, exists, [&](const auto& f) {
      if (auto by_runs = t.when(whole)) {
        each_held(
            [&](const val<u32>& run, u32 first) {
              if (auto inside = t.when(run < runs)) {
                const auto y = held_result(first);
                f(run, t.let(cast<u64>(run) * u64{run_size * sizeof(T)}), y);
              }
            },
            x, weights);
        each_result<run_size>(t, at, first_far, runs, place.lanes, inverse, offset, f);
      }
      if (auto one_by_one = t.when(single))
        each_result<1>(t, at, place.lane, size, place.lanes, inverse, offset, f);
    });
  }

  // The address of a row of elements of 2^shift bytes; 0 if there is no such tensor.
  template <class Problem, class Strides>
  static constexpr val<u64> row_of(thread t, const Problem& problem, const Strides& strides,
                                   const val<u32>& row, const val<u32>& shift) {
    const quotient of_heads = divide(t, row, problem[&rms_norm_problem::heads]);
    const quotient of_tokens = divide(t, of_heads.whole, problem[&rms_norm_problem::tokens]);
    const val base = t.let(strides[&row_strides::address]);
    const val place = row_address(t, strides, of_tokens.whole, of_tokens.rest, of_heads.rest, shift);
    return t.let(select(base != 0u, place, u64{0}));
  }
  static constexpr val<u32> shift_of(thread t) { return t.let(val<u32>(sizeof(T) == 4 ? 2u : 1u)); }

 private:
  // Rotates the words by one run: the first run moves to the end.
  template <class Words>
  static constexpr void turn(thread t, Words& x) {
    const auto first = array_of<elements::words>([&](u32 i) { return t.let(x[i]); });
    for (u32 i = elements::words; i < words; ++i) x[i - elements::words] = x[i];
    for (u32 i = 0; i < elements::words; ++i) x[words - elements::words + i] = first[i];
  }
  template <class Problem>
  static constexpr row_addresses find_row(thread t, const Problem& problem, const val<u32>& row) {
    const auto address = [&](auto member) { return row_of(t, problem, problem[member], row, shift_of(t)); };
    const val x = address(&rms_norm_problem::x);
    const val residual = address(&rms_norm_problem::residual);
    const val residual_out = address(&rms_norm_problem::residual_out);
    return {x, residual, residual_out, t.let(problem[&rms_norm_problem::weight])};
  }

  // For pieces first, first + lanes, ...: h = x [+ residual], stored to residual_out if given. Adds h's
  // squares to sum.
  template <std::uint32_t Width, class Sum>
  static constexpr void add_squares(thread t, const row_addresses& at, const val<u32>& first,
                                    const val<u32>& pieces, const val<u32>& lanes, Sum& sum) {
    using piece = row_piece<elements, Width>;
    for (auto i : t.range(first, pieces, lanes).no_unroll()) {
      const val offset = t.let(cast<u64>(i) * u64{Width * sizeof(T)});
      const auto x = piece::load(t, t.let(at.x + offset));
      auto h = array_of<Width>([&](u32 e) { return var(t, x[e]); });
      if (auto some = t.when(at.residual != 0u)) {
        const auto residual = piece::load(t, t.let(at.residual + offset));
        const auto both = array_of<Width>([&](u32 e) { return t.let(h[e] + residual[e]); });
        const auto rounded = piece::rounded(t, both);
        for (u32 e = 0; e < Width; ++e) h[e] = rounded[e];
        if (auto stores = t.when(at.residual_out != 0u)) piece::store(t, t.let(at.residual_out + offset), h);
      }
      for (u32 e = 0; e < Width; ++e) sum = fma(h[e], h[e], sum);
    }
  }

  // Calls f with the norm of those pieces. h comes from residual_out, which this thread has written, or is
  // computed again.
  template <std::uint32_t Width, class F>
  static constexpr void each_result(thread t, const row_addresses& at, const val<u32>& first,
                                    const val<u32>& pieces, const val<u32>& lanes, const val<f32>& inverse,
                                    const val<f32>& weight_offset, const F& f) {
    using piece = row_piece<elements, Width>;
    const val is_written = t.let(at.residual_out != 0u);
    const val from = t.let(select(is_written, at.residual_out, at.x));
    const val adds = t.let(all_of(at.residual != 0u, at.residual_out == 0u));
    for (auto i : t.range(first, pieces, lanes).no_unroll()) {
      const val offset = t.let(cast<u64>(i) * u64{Width * sizeof(T)});
      const auto x = piece::load(t, t.let(from + offset));
      auto h = array_of<Width>([&](u32 e) { return var(t, x[e]); });
      if (auto some = t.when(adds)) {
        const auto residual = piece::load(t, t.let(at.residual + offset));
        const auto both = array_of<Width>([&](u32 e) { return t.let(h[e] + residual[e]); });
        const auto rounded = piece::rounded(t, both);
        for (u32 e = 0; e < Width; ++e) h[e] = rounded[e];
      }
      const auto weight = piece::load(t, t.let(at.weight + offset));
      const auto y =
          array_of<Width>([&](u32 e) { return t.let(h[e] * inverse * (weight_offset + weight[e])); });
      if constexpr (Rounded) {
        const auto rounded = piece::rounded(t, y);
        f(t.let(i), offset, rounded);
      } else {
        f(t.let(i), offset, y);
      }
    }
  }

  // All threads of the block call it.
  static constexpr val<f32> sum_of_row(thread t, const val<f32>& own, const row_place& place,
                                       const row_sums& of_warps) {
    var sum(t, sum_in_warp(t, own, place.lanes));
    if (auto several = t.when(place.lanes > 32u)) {
      const val warp = t.let(t.warp_rank());
      const val of_warp = t.let(sum);
      if (auto one = t.when(t.lane_rank() == 0u)) of_warps[warp] = of_warp;
      t.barrier();
      const val count = t.let(place.lanes / 32u);
      sum = sum_of_warps(t, of_warps, t.let(warp - warp % count), count);
    }
    return t.let(sum);
  }
};

// Launched with row_blocks(rows, lanes_log) blocks; from sm_90 on, as a programmatic dependent launch.
template <dsl::scalar T, std::uint32_t Sm>
inline constexpr auto rms_norm_rows =
    kaio::kernel<"rms_norm_" + type_name<T> + "_sm" + decimal<Sm>, row_threads,
                 kernel_options{.target = {Sm, false}}>([](thread t, val<rms_norm_problem> problem) {
      using body = rms_norm_body<T, Sm>;
      body::run(t, problem, [&](const row_place& place, const val<bool>&, const auto& results) {
        const val to =
            body::row_of(t, problem, problem[&rms_norm_problem::out], place.row, body::shift_of(t));
        results([&]<class Y>(const val<u32>&, const val<u64>& offset, const Y& y) {
          row_piece<row_elements<T, Sm>, Y::size()>::store(t, t.let(to + offset), y);
        });
      });
    });

}  // namespace kaio::ops
