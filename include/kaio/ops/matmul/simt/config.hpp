#pragma once
// The tile shape of the f32 matmul kernel with ordinary multiply-adds, and its problem at run time.
//
//   constexpr simt_config large{.m = 128, .n = 128, .k = 16, .thread_m = 16, .thread_n = 8};
//   static_assert(large.threads() == 128);

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/tile_scheduler.hpp>

#include <bit>
#include <cstdint>

namespace kaio::ops {

using dsl::major;

// A block computes m x n of C in steps of k, a warp 4 * thread_m x 8 * thread_n, a thread thread_m x
// thread_n. Copies have `vector` numbers: 4 needs addresses and leading dimensions that are multiples of 16
// bytes, 1 takes any.
struct simt_config {
  std::uint32_t m = 128;
  std::uint32_t n = 128;
  std::uint32_t k = 16;
  std::uint32_t thread_m = 8;
  std::uint32_t thread_n = 8;
  std::uint32_t stages = 3;      // tiles of A and B in shared memory
  std::uint32_t min_blocks = 1;  // resident blocks per multiprocessor
  major a = major::k;            // k: A is row-major (M x K); mn: column-major
  major b = major::mn;           // mn: B is row-major (K x N); k: column-major
  std::uint32_t vector_a = 4;
  std::uint32_t vector_b = 4;
  bool pointers = false;     // each batch has its own address, from an array of addresses
  bool async = true;         // copies are cp.async (sm_80); false: go through registers, number by number
  std::uint32_t groups = 1;  // groups of warps share a tile, each with a part of every K step; needs clusters
  // The blocks of a cluster share a tile, each with a part of K; the launch gives their number. The kernel
  // begins while the previous one ends. sm_90.
  bool clusters = false;

  static constexpr std::uint32_t lanes_m = 4, lanes_n = 8;  // lanes of a warp along M and N
  constexpr std::uint32_t warp_m() const { return lanes_m * thread_m; }
  constexpr std::uint32_t warp_n() const { return lanes_n * thread_n; }
  constexpr std::uint32_t warps_m() const { return m / warp_m(); }
  constexpr std::uint32_t warps_n() const { return n / warp_n(); }
  constexpr std::uint32_t group_threads() const { return 32 * warps_m() * warps_n(); }
  constexpr std::uint32_t threads() const { return groups * group_threads(); }
  constexpr bool valid() const {
    return m % warp_m() == 0 && n % warp_n() == 0 && threads() <= 1024 && k % (4 * groups) == 0 &&
           stages >= 2 && thread_m % 4 == 0 && thread_n % 4 == 0 && (vector_a == 1 || vector_a == 4) &&
           (vector_b == 1 || vector_b == 4) && (async || (vector_a == 1 && vector_b == 1)) &&
           (async || !clusters) && (!pointers || !clusters) &&
           (groups == 1 || (clusters && thread_m % groups == 0));
  }
  friend constexpr bool operator==(const simt_config&, const simt_config&) = default;
};

// For lines that begin anywhere: elements are copied one by one.
inline constexpr simt_config simt_anywhere{.m = 64,
                                           .n = 64,
                                           .k = 16,
                                           .thread_m = 8,
                                           .thread_n = 4,
                                           .stages = 3,
                                           .min_blocks = 2,
                                           .vector_a = 1,
                                           .vector_b = 1};

// The largest number of blocks in a cluster.
inline constexpr std::uint32_t most_simt_splits = 16;

// The problem as the kernel takes it. Extents of C above 0; leading dimensions and batch strides in elements.
struct simt_problem {
  i64 lda, ldb, ldc;
  i64 batch_a, batch_b, batch_c;  // from one batch to the next; batch_c: from one split to the next
  u32 m, n, k;
  tile_scheduler scheduler;  // over the tiles of all splits: `splits` for each batch
  divisor splits;            // parts of K; each is a batch of C of its own
  u32 k_of_split;            // K of a split, or of a block of a cluster; a multiple of the step
  u32 cluster_bits;          // a cluster has 1 << cluster_bits blocks
  u32 exchanged;             // 1: rows and columns of C are exchanged for the epilogue
  u32 vector_stores;         // 1: C's address, leading dimension and batch stride are multiples of 4 elements
};

// The problem of an m x n x k product whose batches are contiguous; callers change the members for others.
// `splits`: blocks of a cluster that share a tile, a power of two.
template <simt_config C>
constexpr simt_problem simt_problem_of(u32 m, u32 n, u32 k, u32 splits = 1) {
  simt_problem p{};
  p.m = m;
  p.n = n;
  p.k = k;
  p.lda = C.a == major::k ? k : m;
  p.ldb = C.b == major::k ? k : n;
  p.ldc = n;
  p.batch_a = i64{m} * k;
  p.batch_b = i64{k} * n;
  p.batch_c = i64{m} * n;
  const auto ceil = [](u32 x, u32 by) { return x / by + (x % by != 0 ? 1 : 0); };
  p.scheduler = tile_scheduler::over(ceil(m, C.m), ceil(n, C.n), 1, 8);
  p.splits = divisor::of(1);
  const u32 step = C.k * splits;
  p.k_of_split = ceil(k, step) * C.k;
  p.cluster_bits = static_cast<u32>(std::countr_zero(splits));
  p.vector_stores = n % 4 == 0;
  return p;
}

}  // namespace kaio::ops
