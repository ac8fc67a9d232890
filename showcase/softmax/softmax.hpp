#pragma once
// The softmax of each row of a matrix, for rows of any length: y[r][c] = exp(x[r][c] - m) / sum of
// exp(x[r][k] - m) over k, with m the largest element of row r.
//
// One block a row. The first 4096 elements of a row stay in shared memory, so shorter rows are read from
// global memory once; the rest is read again. Each thread handles the same elements in every step, so
// only the two reductions synchronise the block.

#include <kaio/dsl/dsl.hpp>

#include <limits>

namespace kaio::showcase {

inline constexpr u32 softmax_threads = 256;
inline constexpr u32 softmax_cached = 4096;

inline constexpr auto softmax =
    kernel<"softmax", softmax_threads>([](thread t, in<f32> x, out<f32> y, val<u32> columns) {
      shared<f32, softmax_cached> cache(t);
      val row = cast<u64>(block_idx_x()) * cast<u64>(columns);
      val cached = min(columns, softmax_cached);
      val first = t.thread_rank();
      val rest = first + softmax_cached;

      var largest(t, -std::numeric_limits<f32>::infinity());
      for (auto c : t.range(first, cached, softmax_threads)) {
        val v = x[row + cast<u64>(c)];
        cache[c] = v;
        largest = max(largest, v);
      }
      for (auto c : t.range(rest, columns, softmax_threads)) largest = max(largest, x[row + cast<u64>(c)]);
      val m = block_reduce(t, largest, maximum{});

      var sum(t, 0.0f);
      for (auto c : t.range(first, cached, softmax_threads)) {
        val e = exp(cache[c] - m);
        cache[c] = e;
        sum += e;
      }
      for (auto c : t.range(rest, columns, softmax_threads)) sum += exp(x[row + cast<u64>(c)] - m);
      val scale = 1.0f / block_reduce(t, sum, plus{});

      for (auto c : t.range(first, cached, softmax_threads)) y[row + cast<u64>(c)] = cache[c] * scale;
      for (auto c : t.range(rest, columns, softmax_threads)) {
        val i = row + cast<u64>(c);
        y[i] = exp(x[i] - m) * scale;
      }
    });

}  // namespace kaio::showcase
