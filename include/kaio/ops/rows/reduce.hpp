#pragma once
// Sums, or any f32 combination, over the threads of a row: lanes of a warp, then warps of a block, then blocks of
// a cluster. The order depends on their numbers alone.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/rows/division.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The threads of a row. Each use of a reduction takes the other half of its shared memory, so that one barrier
// between two uses is enough.
//
// Async: sums() sends the blocks' numbers by store_async, which the next row's loads and stores need not wait for.
// A cluster's barrier waits until all that the threads stored is visible. The arrival of numbers says nothing of what
// their sender did before, so a block says by a barrier of its own that a half was read.
//
// Source of the two barriers of a half: T. Dao and others, quack, the backward of rms_norm, 2025.
template <std::uint32_t Sm, u32 Most = 1, bool Async = false>
class row_reducer {
  static_assert(!Async || Sm >= 90);
  // By turn: the numbers of the cluster's blocks came, and all blocks have read theirs. The parity of the first's phase.
  struct arrivals {
    constexpr explicit arrivals(thread t) : of_turn(t), read(t), parity(t, 0u) {}
    mbarriers<2> of_turn, read;
    var<u32> parity;
  };
  struct nothing {
    constexpr explicit nothing(thread) {}
  };
  static constexpr u32 warps = row_threads / 32;
  static_assert(warps == 8);  // a row with several has 2, 4 or 8

 public:
  constexpr row_reducer(thread t, const val<u32>& lanes, const val<u32>& blocks)
      : t_(t),
        lanes_(t.let(lanes)),
        blocks_(t.let(blocks)),
        of_warps_(t),
        of_blocks_(t),
        arrived_(t),
        turn_(t, 0u),
        has_started_(t, 0u) {
    if constexpr (Async) {
      if (auto cluster = t.when(blocks_ > 1u)) {
        if (auto one = t.when(t.thread_rank() == 0u)) {
          for (u32 i = 0; i < 2; ++i) arrived_.of_turn[i].init(1);
          for (u32 i = 0; i < 2; ++i) arrived_.read[i].init(blocks_);
          fence_mbarrier_init(t);
        }
        cluster_arrive(t);
      }
    } else if constexpr (Sm >= 90) {
      if (auto cluster = t.when(blocks_ > 1u)) cluster_arrive_relaxed(t);
    }
  }

  // The combination of `own` of all threads of the row. Every thread of the block calls it, of the cluster if a
  // row has several blocks. first: what changes nothing, 0 for a sum.
  template <class Combine>
  constexpr val<f32> operator()(const val<f32>& own, f32 first, const Combine& combine) {
    thread t = t_;
    var result(t, own);
    for (u32 distance = 16; distance != 0; distance /= 2) {
      const val other = shfl_xor(result, distance);
      const val both = t.let(combine(t, t.let(result), other));
      result = select(lanes_ > distance, both, result);
    }
    if (auto several = t.when(lanes_ > 32u)) {
      const val warp = t.let(t.warp_rank());
      const val of_warp = t.let(result);
      const val half = t.let(turn_ * warps);
      if (auto one = t.when(t.lane_rank() == 0u)) of_warps_[half + warp] = of_warp;
      t.barrier();
      const val count = t.let(lanes_ / 32u);
      const val from = t.let(half + (warp & ~(count - 1u)));
      var sum(t, first);
      const auto add = [&](u32 begin, u32 end) {
        for (u32 w = begin; w < end; ++w) {
          const val other = t.let(of_warps_[from + w]);
          sum = combine(t, t.let(sum), other);
        }
      };
      add(0, 2);
      if (auto four = t.when(count > 2u)) add(2, 4);
      if (auto eight = t.when(count > 4u)) add(4, warps);
      result = sum;
    }
    if constexpr (Sm >= 90) {
      if (auto cluster = t.when(blocks_ > 1u)) {
        const val rank = t.let(t.thread_rank());
        const val half = t.let(turn_ * most_row_blocks);
        const val of_block = t.let(result);
        start();
        if (auto sends = t.when(rank < blocks_)) {
          const val mine = t.let(half + cluster_rank(t));
          store(remote(of_blocks_[mine], rank), of_block);
        }
        cluster_barrier(t);
        var sum(t, first);
        for (auto b : t.range(0u, blocks_).no_unroll()) {
          const val other = t.let(of_blocks_[half + b]);
          sum = combine(t, t.let(sum), other);
        }
        result = sum;
      }
    }
    turn_ = 1u - turn_;
    return t.let(result);
  }
  // Async: waits until all blocks of the cluster run. Before sums().
  constexpr void begin() {
    static_assert(Async);
    if (auto cluster = t_.when(blocks_ > 1u)) cluster_wait(t_);
  }
  // Async: after the last sums(), so that a block has not ended when others say what they have read.
  constexpr void end() {
    static_assert(Async);
    if (auto waits = t_.when(all_of(blocks_ > 1u, t_.thread_rank() == 0u)))
      arrived_.read[turn_].wait(read_parity());
  }
  // The sums of N numbers of each thread, N up to Most, with one barrier.
  template <u32 N, class Numbers>
  constexpr auto sums(const Numbers& own) {
    static_assert(N <= Most);
    thread t = t_;
    auto result = array_of<N>([&](u32 n) { return var(t, own[n]); });
    // Adds the numbers of `count` neighbouring lanes, a power of two.
    const auto add = [&](const val<u32>& count) {
      var distance(t, count / 2u);
      for (auto step : t.loop()) {
        step.break_if(distance == 0u);
        for (u32 n = 0; n < N; ++n) {
          const val other = shfl_xor(result[n], t.let(distance + 0u));
          result[n] = result[n] + other;
        }
        distance = distance / 2u;
      }
    };
    add(t.let(min(lanes_, 32u)));
    const val rank = t.let(t.thread_rank()), lane = t.let(t.lane_rank());
    if (auto several = t.when(lanes_ > 32u)) {
      const val warp = t.let(t.warp_rank());
      const val half = t.let(turn_ * warps);
      if (auto one = t.when(lane == 0u))
        for (u32 n = 0; n < N; ++n) of_warps_[half + warp + 2 * warps * n] = result[n];
      t.barrier();
      const val count = t.let(lanes_ / 32u);
      const val from = t.let(half + (warp & ~(count - 1u)) + (lane & (count - 1u)));
      for (u32 n = 0; n < N; ++n) result[n] = of_warps_[from + 2 * warps * n];
      add(count);
    }
    if constexpr (Sm >= 90) {
      if (auto cluster = t.when(blocks_ > 1u)) {
        const val half = t.let(turn_ * most_row_blocks);
        if constexpr (!Async) start();
        if constexpr (Async)
          if (auto one = t.when(rank == 0u))
            arrived_.of_turn[turn_].arrive_expect_tx(blocks_ * u32{N * sizeof(f32)});
        if constexpr (Async) {
          // The barrier of the block came after all its threads had read the other half.
          if (auto says = t.when(rank < blocks_)) arrived_.read[1u - turn_].arrive_remote(rank, scope::block);
          arrived_.read[turn_].wait(read_parity());
        }
        if (auto sends = t.when(rank < blocks_)) {
          const val mine = t.let(half + cluster_rank(t));
          for (u32 n = 0; n < N; ++n) {
            const val of_block = t.let(result[n]);
            const auto to = remote(of_blocks_[mine + 2 * most_row_blocks * n], rank);
            if constexpr (Async)
              store_async(to, of_block, arrived_.of_turn[turn_]);
            else
              store(to, of_block);
          }
        }
        if constexpr (Async) {
          arrived_.of_turn[turn_].wait(arrived_.parity);
          arrived_.parity = arrived_.parity ^ turn_;
        } else {
          cluster_barrier(t);
        }
        const val from = t.let(half + (lane & (blocks_ - 1u)));
        for (u32 n = 0; n < N; ++n) result[n] = of_blocks_[from + 2 * most_row_blocks * n];
        add(blocks_);
      }
    }
    turn_ = 1u - turn_;
    return array_of<N>([&](u32 n) { return t.let(result[n]); });
  }
  constexpr val<f32> sum(const val<f32>& own) {
    return (*this)(own, 0.0f, [](thread, const val<f32>& a, const val<f32>& b) { return a + b; });
  }
  constexpr val<f32> largest(const val<f32>& own, f32 first) {
    return (*this)(own, first, [](thread, const val<f32>& a, const val<f32>& b) { return max(a, b); });
  }

 private:
  // The parity of the phase in which all blocks read this turn's half. For the first turn it is that of a complete phase.
  constexpr val<u32> read_parity() const { return t_.let(arrived_.parity ^ (1u - turn_)); }
  // All blocks of the cluster run before one writes to another.
  constexpr void start() {
    thread t = t_;
    if (auto first = t.when(has_started_ == 0u)) cluster_wait(t);
    has_started_ = 1u;
  }

  thread t_;
  val<u32> lanes_, blocks_;
  shared<f32, 2 * warps * Most> of_warps_;
  shared<f32, 2 * most_row_blocks * Most> of_blocks_;
  [[no_unique_address]] std::conditional_t<Async, arrivals, nothing> arrived_;
  var<u32> turn_, has_started_;
};

}  // namespace kaio::ops
