#pragma once
// The sum of n numbers in one launch, with the same bits in every run.
//
//   memory -> a sum for each thread -> warp -> block -> partial[block] -> the last block adds the partial sums
//
// Which block comes last is decided by a ticket: each block writes its sum, then takes a number. The ticket's order
// (acq_rel) makes the sums of all earlier blocks visible to the last one. It adds them in the order of the blocks and
// not in that of their arrival, so the result does not depend on timing. An atomic sum would.

#include <kaio/dsl/dsl.hpp>

namespace kaio::showcase {

inline constexpr u32 reduction_threads = 256;

// partial: one number a block. arrived: 0 before the first launch; each launch leaves 0.
inline constexpr auto reduction = kernel<"reduction", reduction_threads>(
    [](thread t, in<f32> x, inout<f32> partial, inout<u32> arrived, out<f32> sum, val<u64> n) {
      // Four numbers a load, four loads in flight.
      var mine(t, 0.0f);
      for (auto i : t.grid_stride(n / 4).unroll<4>()) {
        val four = load_vec<4>(x[i * 4]);
        mine += (four[0] + four[1]) + (four[2] + four[3]);
      }
      val last = n / 4 * 4 + cast<u64>(t.grid_rank());
      if (auto rest = t.when(last < n)) mine += x[last];
      val of_block = block_reduce_to_first(t, mine, plus{});

      shared<bool, 1> is_last(t);
      if (auto one = t.when(t.thread_rank() == 0)) {
        partial[block_idx_x()] = of_block;
        val ticket = atomic_inc(arrived[0], grid_dim_x() - 1, order::acq_rel, scope::device);
        is_last[0] = ticket == grid_dim_x() - 1;
      }
      t.barrier();
      if (auto all_there = t.when(is_last[0])) {
        var all(t, 0.0f);
        for (auto b : t.block_stride(grid_dim_x())) all += partial[b];
        val total = block_reduce_to_first(t, all, plus{});
        if (auto one = t.when(t.thread_rank() == 0)) sum[0] = total;
      }
    });

static_assert(reduction.ptx().contains("ld.global.nc.v4.f32"));

}  // namespace kaio::showcase
