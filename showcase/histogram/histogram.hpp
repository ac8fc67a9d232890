#pragma once
// How often each of the 256 values of a byte occurs.
//
// Atomic additions to one place wait for each other, and in real data a few values are frequent. So each warp counts in
// bins of its own in shared memory; the block adds up its warps, and makes one addition to global memory for each bin.
// A load brings 16 bytes. Integer sums have the same value in every order: the result is exact.

#include <kaio/dsl/dsl.hpp>

namespace kaio::showcase {

inline constexpr u32 histogram_threads = 256;
inline constexpr u32 histogram_bins = 256;

// counts: zero before the launch. Any grid counts all n bytes; whole vectors of 16 come first, then the rest.
inline constexpr auto histogram =
    kernel<"histogram", histogram_threads>([](thread t, in<u8> x, inout<u32> counts, val<u64> n) {
      constexpr u32 warps = histogram_threads / 32;
      shared<u32, warps, histogram_bins> bins(t);
      val warp = t.warp_rank(), bin = t.thread_rank();
      for (u32 w = 0; w < warps; ++w) bins[w][bin] = 0u;
      t.barrier();

      for (auto i : t.grid_stride(n / 16)) {
        val bytes = load_vec<16>(x[i * 16]);
        for (u32 k = 0; k < 16; ++k) atomic_add(bins[warp][cast<u32>(bytes[k])], 1u);
      }
      val last = n / 16 * 16 + cast<u64>(t.grid_rank());
      if (auto rest = t.when(last < n)) atomic_add(bins[warp][cast<u32>(x[last])], 1u);
      t.barrier();

      var sum(t, 0u);
      for (u32 w = 0; w < warps; ++w) sum += bins[w][bin];
      if (auto some = t.when(sum != 0)) atomic_add(counts[bin], sum);
    });
static_assert(histogram_bins == histogram_threads,
              "a thread has a bin of its own at the begin and at the end");

}  // namespace kaio::showcase
