#pragma once
// The shared memory of a block of attention for sm_90a, and the barriers with which its warpgroups pass data
// on.
//
//   q_stages    full: Q of a stage and the record of its tile have arrived; empty: its consumers have read Q
//   k_stages    full: K and the record of a step have arrived; empty: all consumers have S
//   v_stages    full: V of a step has arrived; empty: all consumers have added P V
//   own_turn    named, per consumer: the consumer before has issued its products
//   own_group   named, per consumer: its threads meet

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/forward/sm90/cluster.hpp>
#include <kaio/ops/attention/forward/sm90/config.hpp>
#include <kaio/ops/attention/forward/sm90/records.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <attention_sm90_config C, scalar T>
struct attention_sm90_shared {
  template <std::uint32_t Rows, std::uint32_t Columns, std::uint32_t Stages>
  using ring = shared_tiles<T, Rows, Columns, dsl::swizzled<128>, Stages>;
  struct undivided_rows {
    constexpr explicit undivided_rows(thread) {}
  };
  using divided_rows =
      typename std::conditional_t<(C.most_parts() > 1), std::type_identity<cluster_rows<T, C.depth_v>>,
                                  std::type_identity<undivided_rows>>::type;

  ring<C.stage_queries(), C.depth_qk, C.query_stages> q;  // queries of one or all consumers x depth_qk
  ring<C.keys, C.depth_qk, C.stages> k;                   // keys x depth_qk
  ring<C.keys, C.depth_v, C.stages> v;                    // keys x depth_v
  pipeline<C.query_stages> q_stages;
  pipeline<C.stages> k_stages, v_stages;
  query_records queries;
  key_records<C.stages> steps;
  divided_rows divided;

  constexpr explicit attention_sm90_shared(thread t)
      : q(t), k(t), v(t), q_stages(t), k_stages(t), v_stages(t), queries(t), steps(t), divided(t), t_(t) {}

  // Called by one thread; a barrier of the block follows.
  constexpr void init() const {
    q_stages.init(1, C.stage_consumers());
    k_stages.init(1, C.consumers);
    v_stages.init(1, C.consumers);
    fence_mbarrier_init(t_);
  }
  // The turn of consumer `warpgroup` to issue products: it syncs, and the consumer before arrives.
  constexpr auto turn(const val<u32>& warpgroup) const {
    return named_barrier(t_, t_.let(warpgroup + 1u), 256);
  }
  constexpr auto next_turn(const val<u32>& warpgroup) const {
    return named_barrier(t_, t_.let((warpgroup + 1u) % C.consumers + 1u), 256);
  }
  constexpr auto group(const val<u32>& warpgroup) const {
    return named_barrier(t_, t_.let(warpgroup + (1 + C.consumers)), 128);
  }

 private:
  thread t_;
};

}  // namespace kaio::ops
