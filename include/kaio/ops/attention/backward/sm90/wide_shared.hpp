#pragma once
// The shared memory of a backward block for sm_90a with long rows, and the barriers with which its warps pass
// data on.
//
//   k_full        K has arrived
//   v_full        V has arrived
//   steps         full: Q of a step has arrived; empty: warps for dV and dK have read Q, dO and the numbers
//   dout_full     dO and the numbers of a step have arrived
//   p_full        named: the warpgroup for dV has written P of a step
//   p_empty       named: the warpgroup for dK has read P
//   ds_full       named, of two stages: the warpgroup for dK has written dS of a step
//   ds_empty      named, of two stages: the warpgroup for dQ has read dS
//   dq_turn       named, of two stages: it is this block's turn to add dQ of a step
//   dq_added      named, of two stages: dQ of a step has been added

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/sm90/wide_config.hpp>
#include <kaio/ops/attention/common/place.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_backward_sm90_wide_config C, scalar T>
struct backward_sm90_wide_shared {
  template <std::uint32_t Rows, std::uint32_t Columns>
  using tile = shared_tile<T, Rows, Columns, dsl::swizzled<128>>;
  template <std::uint32_t Rows, std::uint32_t Columns>
  using ring = shared_tiles<T, Rows, Columns, dsl::swizzled<128>, C.stages>;

  tile<C.keys, C.depth_qk> k;       // keys x depth_qk
  tile<C.keys, C.depth_v> v;        // keys x depth_v
  ring<C.queries, C.depth_qk> q;    // queries x depth_qk
  ring<C.queries, C.depth_v> dout;  // queries x depth_v
  ring<C.keys, C.queries> ds;       // keys x queries: dS^T
  // P^T times the scores' derivatives: row i has registers 4 i to 4 i + 3 of a warpgroup's threads.
  shared_tile<f32, 8, 512, dsl::row_major> p;
  shared_tiles<f32, 2, C.queries, dsl::row_major, C.stages> numbers;  // shifts, deltas negated
  mbarriers<3> own;
  pipeline<C.stages> steps;
  mbarriers<C.stages> of_step;
  shared<u32, 11> owned;  // the keys that the block owns, and its part

  constexpr explicit backward_sm90_wide_shared(thread t)
      : k(t), v(t), q(t), dout(t), ds(t), p(t), numbers(t), own(t), steps(t), of_step(t), owned(t), t_(t) {}

  // Called by one thread; a barrier of the block follows.
  constexpr void init() const {
    k_full().init(1);
    v_full().init(1);
    own_empty().init(1);
    steps.init(1, C.releases);
    for (u32 i = 0; i < C.stages; ++i) of_step[i].init(2);  // the copies, the numbers
    fence_mbarrier_init(t_);
  }
  // Called by one thread; a barrier of the block follows.
  constexpr void put_keys(const attention_key_block& keys, const val<u32>& part) const {
    const val offset = t_.let(bit_cast<u32>(keys.offset));
    u32 i = 0;
    for (const val<u32>* one :
         {&keys.batch, &keys.group, &keys.first_key, &keys.queries, &keys.keys, &keys.query_limit,
          &keys.tensor_batch, &keys.first_q_row, &keys.first_k_row, &offset, &part})
      owned[i++] = *one;
  }
  // Read at each use: registers are scarce.
  constexpr attention_key_block keys() const {
    const auto is = array_of<10>([&](u32 i) { return t_.let(owned[i]); });
    return {is[0], is[1], is[2], is[3], is[4], is[5], is[6], is[7], is[8], t_.let(bit_cast<i32>(is[9]))};
  }
  constexpr val<u32> part() const { return t_.let(owned[10]); }
  constexpr mbarrier dout_full(const val<u32>& stage) const { return of_step[stage]; }
  constexpr mbarrier k_full() const { return own[0]; }
  constexpr mbarrier v_full() const { return own[1]; }
  constexpr mbarrier own_empty() const { return own[2]; }
  constexpr auto p_full() const { return named_barrier<1>(t_, 256); }
  constexpr auto p_empty() const { return named_barrier<2>(t_, 256); }
  constexpr auto flags() const { return named_barrier<3>(t_, 256); }  // between the warpgroups for dV and dK
  constexpr auto ds_full(const val<u32>& stage) const { return named(4, stage, 256); }
  constexpr auto ds_empty(const val<u32>& stage) const { return named(6, stage, 256); }
  constexpr auto dq_turn(const val<u32>& stage) const { return named(8, stage, 128 + 32); }
  constexpr auto dq_added(const val<u32>& stage) const { return named(10, stage, 128 + 32); }

 private:
  constexpr auto named(u32 first, const val<u32>& number, std::uint32_t threads) const {
    return named_barrier(t_, t_.let(number + first), threads);
  }
  thread t_;
};

}  // namespace kaio::ops
