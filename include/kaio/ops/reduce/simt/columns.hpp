#pragma once
// Reduces along an axis that is strided, where another dimension has neighbouring elements, the columns. A
// thread has as many neighbouring columns as 16 bytes hold. A block of 256 threads is divided in three ways:
//
//   thread = (row of the kept indices * depth + place along the axis) * lanes + place along the columns
//
// `depth` threads share a column: each takes every depth-th element of the axis. Then they add up in shared
// memory, in halves. Long axes are divided into chunks, one for each block along y. The order depends on the
// size of the axis and the number of columns.

#include <kaio/ops/reduce/simt/elements.hpp>
#include <kaio/ops/reduce/simt/rows.hpp>

namespace kaio::ops {

template <class T, class Acc, class Combine, class Map, class Finish>
struct reduce_columns_body {
  using elements = reduce_elements<T, Acc, Combine, Map, Finish>;
  static constexpr u32 width = elements::width;

  template <class Problem>
  static constexpr void run(thread t, const Problem& problem, const val<Acc>& identity) {
    shared<Acc, width, reduce_threads> of_threads(t);
    const val lanes_log = t.let(problem[&reduce_problem::lanes_log]);
    const val depth_log = t.let(problem[&reduce_problem::depth_log]);
    const val rank = t.let(t.thread_rank());
    const val lane = t.let(rank & ((val<u32>(1u) << lanes_log) - 1u));
    const val depth = t.let(val<u32>(1u) << depth_log);
    const val place = t.let((rank >> lanes_log) & (depth - 1u));
    const quotient block = divide(t, t.let(block_idx_x()), problem[&reduce_problem::column_blocks]);
    const val of_threads_log = t.let(lanes_log + depth_log);
    const val row =
        t.let(block.whole * (val<u32>(reduce_threads) >> of_threads_log) + (rank >> of_threads_log));
    const val column = t.let(((block.rest << lanes_log) + lane) * width);
    const val columns = t.let(problem[&reduce_problem::columns]);
    const val exists = t.let(all_of(row < problem[&reduce_problem::rows], column < columns));
    const kept_offsets offsets = offsets_of(t, row, problem[&reduce_problem::kept]);
    const val split = t.let(block_idx_y());
    const val begin = t.let(cast<u64>(split) * cast<u64>(problem[&reduce_problem::chunk]));
    const val rest = t.let(problem[&reduce_problem::size] - begin);
    const val chunk = t.let(problem[&reduce_problem::chunk]);
    const val count = t.let(select(rest < cast<u64>(chunk), cast<u32>(rest), chunk));
    const val pitch = t.let(cast<u64>(problem[&reduce_problem::stride]) * u64{sizeof(T)});
    const val from =
        t.let(problem[&reduce_problem::from] + cast<u64>(offsets.from + cast<i64>(column)) * u64{sizeof(T)} +
              (begin + cast<u64>(place)) * pitch);
    const val step = t.let(pitch << depth_log);

    auto sums = elements::sums_of(t, identity);
    if (auto some = t.when(all_of(exists, place < count))) {
      const val of_thread = t.let((count - place + (depth - 1u)) >> depth_log);
      const val is_whole = t.let(all_of(problem[&reduce_problem::aligned] != 0u, columns - column >= width));
      if (auto whole = t.when(is_whole)) add_vectors(t, from, step, of_thread, sums);
      if (auto part = t.otherwise()) {
        var at(t, from);
        for ([[maybe_unused]] auto r : t.range(0u, of_thread).no_unroll()) {
          const auto memory = pointer_at<in<T>>(t, t.let(at));
          for (u32 i = 0; i < width; ++i)
            if (auto inside = t.when(columns - column > i)) {
              const val x = t.let(memory[i]);
              elements::add(t, sums[i], elements::mapped(t, x));
            }
          at += step;
        }
      }
    }

    var half(t, depth >> 1u);
    for (auto l : t.loop()) {
      l.break_if(half == 0u);
      for (u32 i = 0; i < width; ++i) of_threads[i][rank] = sums[i];
      t.barrier();
      if (auto first = t.when(place < half)) {
        const val other = t.let(rank + (half << lanes_log));
        for (u32 i = 0; i < width; ++i) {
          const val x = t.let(of_threads[i][other]);
          elements::add(t, sums[i], x);
        }
      }
      t.barrier();
      half = half >> 1u;
    }

    if (auto one = t.when(all_of(exists, place == 0u))) {
      const val is_finished = t.let(problem[&reduce_problem::finished] != 0u);
      const val splits = t.let(cast<i64>(problem[&reduce_problem::splits]));
      const val partial =
          t.let((cast<i64>(row) * cast<i64>(columns) + cast<i64>(column)) * splits + cast<i64>(split));
      const val result = t.let(offsets.to + cast<i64>(column) * problem[&reduce_problem::to_column]);
      const val first = t.let(select(is_finished, result, partial));
      const val next = t.let(select(is_finished, problem[&reduce_problem::to_column], splits));
      var at(t, first);
      // One copy of the instructions: the accumulators turn.
      for ([[maybe_unused]] auto i : t.range(0u, t.let(min(columns - column, width))).no_unroll()) {
        const val sum = t.let(sums[0]);
        elements::write(t, problem, t.let(at), sum);
        at += next;
        for (u32 k = 0; k + 1 < width; ++k) sums[k] = sums[k + 1];
      }
    }
  }

 private:
  static constexpr void add_vectors(thread t, const val<u64>& from, const val<u64>& step,
                                    const val<u32>& count, auto& sums) {
    using vector = typename elements::vector;
    var at(t, from);
    const auto load = [&](u32 i) {
      const val address = t.let(at + step * u64{i});
      const auto memory = pointer_at<in<vector>>(t, address);
      val x = memory[0];
      return x;
    };
    for ([[maybe_unused]] auto r : t.range(0u, t.let(count / reduce_vectors)).no_unroll()) {
      const auto x = array_of<reduce_vectors>(load);
      for (u32 i = 0; i < reduce_vectors; ++i) elements::add_vector(t, sums, x[i]);
      at += step * u64{reduce_vectors};
    }
    for ([[maybe_unused]] auto r : t.range(0u, t.let(count % reduce_vectors)).no_unroll()) {
      const val x = load(0);
      elements::add_vector(t, sums, x);
      at += step;
    }
  }
};

// Launched with grid(blocks, splits): blocks of columns for each block of rows. Without min_blocks, ptxas takes
// 32 registers on sm_90 and spills.
template <class T, class Acc, class Combine, class Map, class Finish>
inline constexpr auto reduce_columns =
    kaio::kernel<"reduce_columns_" + reduce_name<Combine> + "_" + type_name<T>, reduce_threads,
                 kernel_options{.target = {70}, .min_blocks = 5}>(
        [](thread t, val<reduce_problem> problem, val<Acc> identity) {
          reduce_columns_body<T, Acc, Combine, Map, Finish>::run(t, problem, identity);
        });

}  // namespace kaio::ops
