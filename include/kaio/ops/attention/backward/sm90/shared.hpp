#pragma once
// The shared memory of a backward block for sm_90a, and the barriers with which its warps pass data on.
//
//   k_full        K has arrived
//   v_full        V has arrived
//   own_empty     each warp of the consumers has read K and V
//   steps         full: Q of a step has arrived; empty: each consumer warp has read Q, dO and the numbers
//   dout_full     dO and the numbers of a step have arrived
//   dq_full       named, of two stages: both consumers have written dQ of a step
//   dq_empty      dQ of a step has been read
//   tiles         the tiles of keys: tile_records.hpp

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/backward/sm90/config.hpp>
#include <kaio/ops/attention/backward/sm90/tile_records.hpp>
#include <kaio/ops/attention/common/place.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_backward_sm90_config C, scalar T>
struct backward_sm90_shared {
  template <std::uint32_t Rows, std::uint32_t Columns>
  using tile = shared_tile<T, Rows, Columns, dsl::swizzled<128>>;
  template <std::uint32_t Rows, std::uint32_t Columns>
  using ring = shared_tiles<T, Rows, Columns, dsl::swizzled<128>, C.stages>;

  static constexpr std::uint32_t consumer_warps = C.consumers * 4;

  tile<C.keys, C.columns_qk()> k;       // keys x columns_qk
  tile<C.keys, C.columns_v()> v;        // keys x columns_v
  ring<C.queries, C.columns_qk()> q;    // queries x columns_qk
  ring<C.queries, C.columns_v()> dout;  // queries x columns_v
  ring<C.keys, C.queries> ds;           // keys x queries: dS^T
  // 64 x 64 of dQ per consumer: row i has registers 4 i to 4 i + 3 of its threads.
  shared_tiles<f32, 8 * C.consumers, 512, dsl::row_major, C.stages> dq;
  shared_tiles<f32, 2, C.queries, dsl::row_major, C.stages> numbers;  // shifts, deltas negated
  mbarriers<3> own;
  pipeline<C.stages> steps;
  mbarriers<2 * C.stages> of_step;
  backward_tile_records<C.queries, C.many_tiles> tiles;

  constexpr explicit backward_sm90_shared(thread t)
      : k(t),
        v(t),
        q(t),
        dout(t),
        ds(t),
        dq(t),
        numbers(t),
        own(t),
        steps(t),
        of_step(t),
        tiles(t, consumer_warps + 3),
        t_(t) {}

  // Called by one thread; a barrier of the block follows.
  constexpr void init() const {
    k_full().init(1);
    v_full().init(1);
    own_empty().init(consumer_warps);
    tiles.init();
    steps.init(1, consumer_warps);
    for (u32 i = 0; i < C.stages; ++i) of_step[i].init(2);  // the copies, the numbers
    for (u32 i = 0; i < C.stages; ++i) of_step[C.stages + i].init(1);
    fence_mbarrier_init(t_);
  }
  constexpr mbarrier dout_full(const val<u32>& stage) const { return of_step[stage]; }
  constexpr mbarrier dq_empty(const val<u32>& stage) const { return of_step[t_.let(stage + C.stages)]; }
  constexpr mbarrier k_full() const { return own[0]; }
  constexpr mbarrier v_full() const { return own[1]; }
  constexpr mbarrier own_empty() const { return own[2]; }
  constexpr auto dq_full(const val<u32>& stage) const { return named(2, stage, 128 * C.consumers + 32); }
  constexpr auto consumer(const val<u32>& warpgroup) const { return named(4, warpgroup, 128); }
  constexpr auto consumers() const { return named_barrier<1>(t_, 128 * C.consumers); }

 private:
  constexpr auto named(u32 first, const val<u32>& number, std::uint32_t threads) const {
    return named_barrier(t_, t_.let(number + first), threads);
  }
  thread t_;
};

}  // namespace kaio::ops
