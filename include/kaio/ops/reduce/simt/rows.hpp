#pragma once
// Reduces along an axis with any stride; fast if its elements are neighbours. A group of 1 to 256 threads, the
// lanes, has a row, or a chunk of a long row. A thread takes every lanes-th vector of 16 bytes and has an
// accumulator for each place in it:
//
//   f32, 4 lanes     thread 0: elements 0..3, 16..19, ...     thread 1: 4..7, 20..23, ...
//
// Rows that do not begin at multiples of 16 bytes are read element by element, in the same order. It depends on
// the size of the row alone.

#include <kaio/ops/reduce/simt/elements.hpp>
#include <kaio/ops/shared/row_of_thread.hpp>

namespace kaio::ops {

template <class T, class Acc, class Combine, class Map, class Finish>
struct reduce_rows_body {
  using elements = reduce_elements<T, Acc, Combine, Map, Finish>;
  static constexpr u32 width = elements::width, warps = reduce_threads / 32;

  template <class Problem>
  static constexpr void run(thread t, const Problem& problem, const val<Acc>& identity) {
    shared<Acc, warps> of_warps(t);
    const row_place place = place_of_thread(t, t.let(problem[&reduce_problem::lanes_log]));
    const val exists = t.let(place.row < problem[&reduce_problem::rows]);
    const val split = t.let(block_idx_y());
    const kept_offsets offsets = offsets_of(t, place.row, problem[&reduce_problem::kept]);
    const val begin = t.let(cast<u64>(split) * cast<u64>(problem[&reduce_problem::chunk]));
    const val rest = t.let(problem[&reduce_problem::size] - begin);
    const val chunk = t.let(problem[&reduce_problem::chunk]);
    const val count = t.let(select(rest < cast<u64>(chunk), cast<u32>(rest), chunk));
    const val stride = t.let(problem[&reduce_problem::stride]);
    const val from = t.let(problem[&reduce_problem::from] +
                           cast<u64>(offsets.from + cast<i64>(begin) * stride) * u64{sizeof(T)});

    auto sums = elements::sums_of(t, identity);
    if (auto row = t.when(exists)) {
      const val whole = t.let(count / width);
      const val aligned = t.let(problem[&reduce_problem::aligned] != 0u);
      // The vectors that remain: of a strided row all, else incomplete batches and the last, incomplete vector.
      var first(t, place.lane);
      if (auto by_vectors = t.when(aligned)) {
        add_vectors(t, from, whole, place, sums);
        first = whole + ((place.lane - whole) & (place.lanes - 1u));
      }
      if (auto unaligned = t.when(all_of(!aligned, stride == 1)))
        add_neighbours(t, from, whole, place, first, sums);
      add_elements(t, from, stride, t.let(first), count, place, sums);
    }

    const val sum = sum_of_row(t, elements::sum_of(t, sums), place, identity, of_warps);
    if (auto one = t.when(all_of(exists, place.lane == 0u))) {
      const val splits = t.let(problem[&reduce_problem::splits]);
      const val partial = t.let(cast<i64>(place.row) * cast<i64>(splits) + cast<i64>(split));
      const val is_finished = t.let(problem[&reduce_problem::finished] != 0u);
      elements::write(t, problem, t.let(select(is_finished, offsets.to, partial)), sum);
    }
  }

 private:
  static constexpr void add_vectors(thread t, const val<u64>& from, const val<u32>& whole,
                                    const row_place& place, auto& sums) {
    using vector = typename elements::vector;
    const auto memory = pointer_at<in<vector>>(t, from);
    const val step = t.let(place.lanes * reduce_vectors);
    const val all = t.let(
        select(whole > place.lanes * (reduce_vectors - 1), whole - place.lanes * (reduce_vectors - 1), 0u));
    var next(t, place.lane);
    for (auto v : t.range(place.lane, all, step).no_unroll()) {
      const auto x = array_of<reduce_vectors>([&](u32 i) {
        val one = memory[v + place.lanes * i];
        return one;
      });
      for (u32 i = 0; i < reduce_vectors; ++i) elements::add_vector(t, sums, x[i]);
      next = v + step;
    }
    for (auto v : t.range(t.let(next), whole, place.lanes).no_unroll()) {
      const val x = memory[v];
      elements::add_vector(t, sums, x);
    }
  }
  // Batches of whole vectors that begin anywhere. `first` becomes the first vector that remains.
  static constexpr void add_neighbours(thread t, const val<u64>& from, const val<u32>& whole,
                                       const row_place& place, var<u32>& first, auto& sums) {
    constexpr u32 batch = width > 8 ? 1 : 16 / width;
    const val step = t.let(place.lanes * batch);
    const val before = t.let(place.lanes * (batch - 1));
    const val all = t.let(select(whole > before, whole - before, 0u));
    for (auto v : t.range(place.lane, all, step).no_unroll()) {
      const auto x = array_of<batch>([&](u32 b) {
        const val address = t.let(from + cast<u64>(v + place.lanes * b) * u64{16});
        const auto memory = pointer_at<in<T>>(t, address);
        return array_of<width>([&](u32 i) { return t.let(memory[i]); });
      });
      for (u32 b = 0; b < batch; ++b) elements::add_vector(t, sums, x[b]);
      first = v + step;
    }
  }
  // Vectors first, first + lanes, ..., element by element: all loads of a vector before the first use.
  static constexpr void add_elements(thread t, const val<u64>& from, const val<i64>& stride,
                                     const val<u32>& first, const val<u32>& count, const row_place& place,
                                     auto& sums) {
    const val pitch = t.let(cast<u64>(stride) * u64{sizeof(T)});
    for (auto v : t.range(first, t.let((count + (width - 1)) / width), place.lanes).no_unroll()) {
      auto x = array_of<width>([&](u32) { return var(t, T{}); });
      const val element = t.let(v * width);
      var at(t, from + cast<u64>(element) * pitch);
      for (u32 i = 0; i < width; ++i) {
        if (auto inside = t.when(element + i < count)) x[i] = pointer_at<in<T>>(t, t.let(at))[0];
        if (i + 1 < width) at += pitch;
      }
      for (u32 i = 0; i < width; ++i)
        if (auto inside = t.when(element + i < count))
          elements::add(t, sums[i], elements::mapped(t, t.let(x[i])));
    }
  }
  // All threads of the block call it. The result is in lane 0.
  static constexpr val<Acc> sum_of_row(thread t, const val<Acc>& own, const row_place& place,
                                       const val<Acc>& identity, const shared<Acc, warps>& of_warps) {
    var sum(t, own);
    for (u32 distance = 16; distance != 0; distance /= 2) {
      const val before = t.let(sum);
      const val other = shfl_xor(before, distance);
      sum = select(place.lanes > distance, elements::combined(t, before, other), before);
    }
    if (auto several = t.when(place.lanes > 32u)) {
      const val warp = t.let(t.warp_rank());
      const val of_warp = t.let(sum);
      if (auto one = t.when(t.lane_rank() == 0u)) of_warps[warp] = of_warp;
      t.barrier();
      const val count = t.let(place.lanes / 32u);
      var all(t, identity);
      for (auto w : t.range(warp, t.let(warp + count)).no_unroll()) {
        const val other = t.let(of_warps[min(w, warps - 1)]);
        elements::add(t, all, other);
      }
      sum = all;
    }
    return t.let(sum);
  }
};

// A part of a kernel's name.
template <class Combine>
inline constexpr auto reduce_name = [] {
  if constexpr (requires { Combine::name; })
    return Combine::name;
  else
    return dsl::fixed_string("own");
}();

// Launched with grid(row_blocks(rows, lanes_log), splits). With min_blocks, ptxas keeps the loads of a batch together.
template <class T, class Acc, class Combine, class Map, class Finish>
inline constexpr auto reduce_rows =
    kaio::kernel<"reduce_rows_" + reduce_name<Combine> + "_" + type_name<T>, reduce_threads,
                 kernel_options{.target = {70}, .min_blocks = 5}>(
        [](thread t, val<reduce_problem> problem, val<Acc> identity) {
          reduce_rows_body<T, Acc, Combine, Map, Finish>::run(t, problem, identity);
        });

}  // namespace kaio::ops
