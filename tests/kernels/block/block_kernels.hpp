#pragma once
// The kernels that test cooperation of the threads of a block, and of the blocks of a grid.

#include "tests/kernels/warp/warp_kernels.hpp"

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::tests {

// Reductions and scans over blocks of any size and shape; rows of a and of b.
template <u32 X, u32 Y = 1, u32 Z = 1>
inline constexpr auto block_folds =
    kernel<"block_folds_" + decimal<X> + "_" + decimal<Y> + "_" + decimal<Z>, block_size{X, Y, Z}>(
        [](thread t, in<u32> a, in<u32> b, in<f32> x, out<u32> y, out<f32> z) {
          constexpr u32 threads = X * Y * Z;
          val i = t.thread_rank();
          const affine mine{a[i], b[i]};
          u32 row = 0;
          const auto put = [&](const affine& r) {
            y[i + row++ * threads] = r.a;
            y[i + row++ * threads] = r.b;
          };
          const affine all = block_reduce(t, mine, compose{});
          put(all);
          const affine first = block_reduce_to_first(t, mine, compose{});
          put(first);
          const affine up_to = block_inclusive_scan(t, mine, compose{});
          put(up_to);
          const affine start{t.let(a[i] * 0 + 3), t.let(a[i] * 0 + 5)};
          const affine before = block_exclusive_scan(t, mine, compose{}, start);
          put(before);
          z[i] = block_reduce(t, x[i], plus{});
          z[i + threads] = block_reduce(t, x[i], [](const auto& p, const auto& q) { return p + q; });
          z[i + threads * 2] = block_reduce(t, x[i], maximum{});
          z[i + threads * 3] = block_exclusive_scan(t, x[i], minimum{}, 1e30f);
        });

// Exchanges in straight code, in guarded bodies and in loops, of several sizes, in turns: no thread may write
// memory that a slower one still reads.
inline constexpr auto exchanges_in_turn =
    kernel<"exchanges_in_turn", 160>([](thread t, in<u32> x, out<u64> y, val<u32> rounds) {
      val i = t.thread_rank();
      val v = x[i];
      var sum = cast<u64>(block_reduce(t, v, plus{}));
      sum = sum * 31 + cast<u64>(block_inclusive_scan(t, v, plus{}));
      for (auto k : t.range(0u, rounds)) {
        sum = sum * 31 + block_reduce(t, sum + cast<u64>(k), plus{});
        if (auto even = t.when(k % 2 == 0)) {
          sum = sum * 31 + cast<u64>(block_exclusive_scan(t, v ^ k, maximum{}, 0u));
          sum = sum * 31 + block_reduce(t, sum, maximum{});
          sum = sum * 31 + block_inclusive_scan(t, sum, plus{});
        }
        val seen = block_reduce_to_first(t, v + k, minimum{});
        if (auto first = t.when(i == 0)) sum += cast<u64>(seen);
      }
      if (auto many = t.when(rounds > 3)) {
        sum = sum * 31 + block_reduce(t, sum, plus{});
        sum = sum * 31 + block_reduce(t, sum, bit_xor{});
        sum = sum * 31 + block_reduce(t, sum, plus{});
      }
      sum = sum * 31 + block_reduce(t, sum, plus{});
      y[i] = sum;
    });

inline constexpr auto block_votes = kernel<"block_votes", 100>([](thread t, in<u32> x, out<u32> y) {
  val i = t.thread_rank();
  val v = x[i];
  y[i] = block_count(t, v % 3 == 0);
  y[i + 100] = cast<u32>(block_all(t, v < 1000)) + cast<u32>(block_any(t, v == 7)) * 2 +
               cast<u32>(block_all(t, v != 7)) * 4 + cast<u32>(block_any(t, v > 5000)) * 8;
});

// Each round every block takes its neighbour's value of the round before.
inline constexpr auto ring =
    kernel<"ring", 64>([](thread t, inout<u32> x, inout<u32> state, val<u32> rounds) {
      val i = t.global_id();
      val n = grid_dim_x() * 64;
      for ([[maybe_unused]] auto k : t.range(0u, rounds)) {
        val next = x[(i + 64) % n];
        grid_barrier(t, state);
        x[i] = next + 1;
        grid_barrier(t, state);
      }
    });

}  // namespace kaio::tests
