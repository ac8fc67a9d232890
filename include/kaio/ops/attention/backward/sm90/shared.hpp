#pragma once
// What the warps of a block of the backward for sm_90a share, and the barriers by which they pass it on.
//
//   own_full      K, V have come
//   steps         full: Q of a step has come; empty: both consumers have read Q, dO and the numbers
//   dout_full     dO and the numbers of a step have come
//   dq_full       named, of two stages: both consumers have put dQ of a step
//   dq_empty      named, of two stages: it has been read

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/backward/sm90/config.hpp>
#include <kaio/ops/attention/common/place.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_backward_sm90_config C, scalar T>
struct backward_sm90_shared {
  template <std::uint32_t Rows, std::uint32_t Columns>
  using tile = shared_tile<T, Rows, Columns, dsl::swizzled<128>>;
  template <std::uint32_t Rows, std::uint32_t Columns>
  using ring = shared_tiles<T, Rows, Columns, dsl::swizzled<128>, C.stages>;

  tile<C.keys, C.depth_qk> k;       // keys x depth_qk
  tile<C.keys, C.depth_v> v;        // keys x depth_v
  ring<C.queries, C.depth_qk> q;    // queries x depth_qk
  ring<C.queries, C.depth_v> dout;  // queries x depth_v
  ring<C.keys, C.queries> ds;       // keys x queries: dS^T
  // For each consumer 64 x 64 of dQ: registers 4 i to 4 i + 3 of its threads are row i.
  shared_tiles<f32, 8 * C.consumers, 512, dsl::row_major, C.stages> dq;
  shared_tiles<f32, 2, C.queries, dsl::row_major, C.stages> numbers;  // shifts, deltas negated
  mbarriers<2> own_full;
  pipeline<C.stages> steps;
  mbarriers<C.stages> dout_full;
  shared<u32, 1> ticket;

  constexpr explicit backward_sm90_shared(thread t)
      : k(t),
        v(t),
        q(t),
        dout(t),
        ds(t),
        dq(t),
        numbers(t),
        own_full(t),
        steps(t),
        dout_full(t),
        ticket(t),
        t_(t) {}

  // By one thread; a barrier of the block follows.
  constexpr void init() const {
    for (u32 i = 0; i < 2; ++i) own_full[i].init(1);
    steps.init(1, C.consumers);
    for (u32 i = 0; i < C.stages; ++i) dout_full[i].init(2);  // the copies, the numbers
    fence_mbarrier_init(t_);
  }
  constexpr auto dq_full(const val<u32>& stage) const { return named(2, stage, 128 * C.consumers + 32); }
  constexpr auto dq_empty(const val<u32>& stage) const { return named(4, stage, 128 * C.consumers + 32); }
  constexpr auto consumer(const val<u32>& warpgroup) const { return named(6, warpgroup, 128); }
  constexpr auto consumers() const { return named_barrier<1>(t_, 128 * C.consumers); }

 private:
  constexpr auto named(u32 first, const val<u32>& number, std::uint32_t threads) const {
    return named_barrier(t_, t_.let(number + first), threads);
  }
  thread t_;
};

}  // namespace kaio::ops
