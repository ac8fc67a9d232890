#pragma once
// The tile shape of a matmul kernel with the matrix instructions of a warp, and its problem at run time.
//
//   constexpr mma_sync_config large{.m = 128, .n = 128, .k = 32, .warp_m = 64, .warp_n = 64, .stages = 4};
//   static_assert(large.threads() == 128);

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/finish.hpp>
#include <kaio/ops/shared/tile_scheduler.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

using dsl::major;

// How tiles of an operand are copied to shared memory.
enum class copy_form : std::uint8_t {
  async,     // cp.async of 16 bytes; addresses, leading dimension, batch stride: multiples of 16 bytes; sm_80
  vectors,   // loads of 16 bytes through registers; alignment as for async, lines a multiple of 16 bytes long
  elements,  // element by element through registers: any address
  shifted,   // aligned vectors of 16 bytes that are shifted in registers: any address, elements of 16 bits
  async_words,  // cp.async of 4 bytes; address, leading dimension, batch stride: multiples of 4 bytes; sm_80
};

// A block computes m x n of C in steps of k, a warp warp_m x warp_n of them.
struct mma_sync_config {
  std::uint32_t m = 128;
  std::uint32_t n = 128;
  std::uint32_t k = 32;
  std::uint32_t warp_m = 64;
  std::uint32_t warp_n = 64;
  std::uint32_t stages = 4;      // tiles of A and B in shared memory
  std::uint32_t min_blocks = 1;  // resident blocks per multiprocessor
  major a = major::k;            // k: A is row-major (M x K); mn: column-major
  major b = major::mn;           // mn: B is row-major (K x N); k: column-major
  copy_form copy_a = copy_form::async;
  copy_form copy_b = copy_form::async;
  bool pointers = false;  // each batch has its own address, from an array of addresses
  // Blocks of a cluster that share a tile, each with a part of K. 0: the launch gives the number, 8 or 16.
  // sm_90.
  std::uint32_t cluster_splits = 1;

  constexpr std::uint32_t warps_m() const { return m / warp_m; }
  constexpr std::uint32_t warps_n() const { return n / warp_n; }
  constexpr std::uint32_t threads() const { return 32 * warps_m() * warps_n(); }
  constexpr bool has_cluster() const { return cluster_splits != 1; }
  constexpr bool by_launch() const { return cluster_splits == 0; }
  constexpr std::uint32_t least_splits() const { return by_launch() ? 8 : cluster_splits; }
  constexpr bool valid() const {
    return m % warp_m == 0 && n % warp_n == 0 && warp_m % 16 == 0 && warp_n % 16 == 0 && threads() <= 1024 &&
           stages >= 2;
  }
  friend constexpr bool operator==(const mma_sync_config&, const mma_sync_config&) = default;
};

// The problem as the kernel takes it. Leading dimensions and batch strides in elements.
struct mma_sync_problem {
  tile_scheduler scheduler;  // over the tiles of all splits: `splits` for each batch
  divisor splits;            // number of parts of K
  i64 lda, ldb;
  i64 batch_a, batch_b;  // elements from one batch to the next
  output_lines c;        // batch_pitch: elements from one split to the next
  u32 k;
  u32 k_of_split;  // a multiple of the step
};

// The problem of `batches` compact products of m x n x k, all above 0 except k; callers with other operands
// change the members. `cluster_splits`: used if the launch gives the number.
template <mma_sync_config C>
constexpr mma_sync_problem mma_sync_problem_of(u32 m, u32 n, u32 k, u32 batches = 1, u32 splits = 1,
                                               u32 cluster_splits = C.least_splits()) {
  const auto ceil = [](u32 x, u32 by) { return x / by + (x % by != 0 ? 1 : 0); };
  mma_sync_problem p{};
  p.scheduler = tile_scheduler::over(ceil(m, C.m), ceil(n, C.n), batches * splits, 8);
  p.splits = divisor::of(splits);
  p.lda = C.a == major::k ? k : m;
  p.ldb = C.b == major::k ? k : n;
  p.batch_a = i64{m} * k;
  p.batch_b = i64{k} * n;
  p.c = {n, i64{m} * n, m, n, n % 4 == 0 ? 1u : 0u};
  p.k = k;
  p.k_of_split = std::max(ceil(ceil(k, splits * cluster_splits), C.k), 1u) * C.k;
  return p;
}

}  // namespace kaio::ops
