#pragma once
// A pipeline: a ring of Stages buffers that producers fill and consumers use. Each stage has two mbarriers: its fill
// completes `full`, its consumers' releases complete `empty`. Producers and consumers go round the ring, each with a
// state of its own: the stage, and the parity of the round.
//
//   pipeline<4> ring(t);
//   shared_tiles<f16, 64, 64, swizzled<128>, 4> tiles(t);
//   if (auto one = t.when(t.thread_rank() == 0)) ring.init(1, 2);      // 1 arrival fills, 2 warpgroups release
//   t.barrier();                                                       // cluster_barrier(t) in a cluster
//   if (auto producer = t.when(is_producer & elect_one(t))) {
//     auto to = ring.producer(t);
//     for (auto k : t.range(0u, steps)) {
//       to.acquire_expect(tiles.tile_bytes);                           // free, and these bytes are expected
//       copy_tensor(tiles[to.stage()], map, coordinates(64u * k, row), to.full());
//       to.advance();
//     }
//   }
//   if (auto consumer = t.otherwise()) {
//     auto from = ring.consumer(t);
//     for (auto k : t.range(0u, steps)) {
//       from.wait();                                                   // the bytes have arrived
//       ... tiles[from.stage()] ...
//       if (auto first = t.when(t.thread_rank() % 128 == 0)) from.release();
//       from.advance();
//     }
//   }
//
// All threads that hold a state call advance() equally often. A guard that only some of them enter must not contain it,
// unless they alone use the state from then on. If a consumer releases a stage some rounds after reading it, it keeps a
// second state, `auto done = ring.consumer(t)`, and advances that once for each done.release().
//
// Consumers may share out the stages: consumer i of n starts with ring.consumer_from(t, i), calls advance<n>(), and
// releases its stages alone. If n does not divide Stages, a stage changes its consumer every round. A parity
// distinguishes only two phases. So a consumer may wait for a stage only after the consumer of the previous round has;
// consumers that take turns do so.
//
// A launch may use fewer stages: ring.producer(t, stages) and ring.consumer(t, stages) go round the first `stages`.
//
// If the copies in a cluster are multicast, the consumers of all blocks that they reach must release a stage before it
// is free: init(1, consumers * blocks). Each consumer then calls release_to(rank) for every block that sends to it.
// A block must not end while threads may still arrive at its barriers: end with cluster_barrier(t), or with to.drain()
// in the producer.

#include <kaio/dsl/async/fence.hpp>
#include <kaio/dsl/async/mbarrier.hpp>
#include <kaio/dsl/expression/operators.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::dsl {

// All stages of a ring are used.
struct all_stages {};

// A position in a ring of Stages stages: the stage, and the parity of its phase. Used: all_stages, or val<u32>, the
// number of the first stages that are used.
template <std::uint32_t Stages, class Used = all_stages>
class ring_state {
 public:
  template <class S>
  constexpr ring_state(const thread& t, const S& stage, std::uint32_t parity, const Used& used,
                       std::uint32_t line, const char* file)
      : stage_(t, stage, line, file), parity_(t, parity, line, file), used_(used), trace_(&t.trace()) {}

  // The number of the stage, 0 to Stages - 1.
  constexpr val<u32> stage() const { return val<u32>(stage_, 0, nullptr); }
  // The parity of its phase, 0 or 1.
  constexpr val<u32> parity() const { return val<u32>(parity_, 0, nullptr); }

  // Goes on by By stages.
  template <std::uint32_t By = 1>
  constexpr void advance(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    static_assert(By >= 1 && By <= Stages, "kaio: a state goes on by at most one round");
    static_assert(By == 1 || uses_all, "kaio: with stages of the launch, a state goes on by one stage");
    trace_->statement(line, file);
    trace_->begin_lowering();
    if constexpr (By == Stages) {
      parity_ ^= 1u;
    } else {
      const val next = stage_ + By;
      if constexpr (By == 1) {
        const val wraps = next == used();
        stage_ = select(wraps, 0u, next);
        parity_ ^= cast<u32>(wraps);
      } else {
        const val wraps = next >= Stages;
        stage_ = select(wraps, next - Stages, next);
        parity_ ^= cast<u32>(wraps);
      }
    }
    trace_->end_lowering();
  }

 protected:
  static constexpr bool uses_all = std::is_same_v<Used, all_stages>;
  constexpr tracer& trace() const { return *trace_; }

 private:
  constexpr auto used() const {
    if constexpr (uses_all)
      return Stages;
    else
      return used_;
  }

  var<u32> stage_;
  var<u32> parity_;
  [[no_unique_address]] Used used_;
  tracer* trace_;
};

// The side that fills: one thread, or several that each arrive.
template <std::uint32_t Stages, class Used = all_stages>
class pipeline_producer : public ring_state<Stages, Used> {
 public:
  constexpr pipeline_producer(const thread& t, const mbarriers<Stages>& full, const mbarriers<Stages>& empty,
                              const Used& used, std::uint32_t line, const char* file)
      : ring_state<Stages, Used>(t, 0u, 1, used, line, file), full_(full), empty_(empty) {}

  // The barrier that the copies into this stage complete on.
  constexpr mbarrier full() const { return full_[this->stage()]; }

  // Waits until the consumers have released the stage; in the first round it is free.
  constexpr void acquire(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    empty_[this->stage()].wait(this->parity(), no_policy{}, line, file);
  }

  // As acquire(); then arrives at the stage's full barrier, which expects `bytes` from copies.
  template <class N>
    requires(!std::is_pointer_v<N>)
  constexpr void acquire_expect(const N& bytes, std::uint32_t line = __builtin_LINE(),
                                const char* file = __builtin_FILE()) const {
    acquire(line, file);
    full().arrive_expect_tx(bytes, line, file);
  }

  // Whether the stage is free; waits only for a short while.
  constexpr val<bool> peek(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    return empty_[this->stage()].try_wait(this->parity(), no_policy{}, line, file);
  }

  // Arrives at the stage's full barrier: this thread's stores have filled its part.
  constexpr void commit(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    full().arrive(line, file);
  }

  // Waits until every filled stage is released: afterwards no consumer arrives at this block any more.
  constexpr void drain(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE())
    requires std::is_same_v<Used, all_stages>
  {
    for (std::uint32_t i = 0; i < Stages; ++i) {
      acquire(line, file);
      this->advance(line, file);
    }
  }

 private:
  mbarriers<Stages> full_;
  mbarriers<Stages> empty_;
};

// The side that uses full stages.
template <std::uint32_t Stages, class Used = all_stages>
class pipeline_consumer : public ring_state<Stages, Used> {
 public:
  template <class S>
  constexpr pipeline_consumer(const thread& t, const S& stage, const mbarriers<Stages>& full,
                              const mbarriers<Stages>& empty, const Used& used, std::uint32_t line,
                              const char* file)
      : ring_state<Stages, Used>(t, stage, 0, used, line, file), full_(full), empty_(empty) {}

  // Waits until the stage is full.
  constexpr void wait(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    full_[this->stage()].wait(this->parity(), no_policy{}, line, file);
  }

  // Whether the stage is full; waits only for a short while. Ask before other work, and pass the answer to
  // wait_unless().
  constexpr val<bool> peek(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    return full_[this->stage()].try_wait(this->parity(), no_policy{}, line, file);
  }
  template <device_of<bool> C>
  constexpr void wait_unless(const C& ready, std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) const {
    full_[this->stage()].wait_unless(ready, this->parity(), no_policy{}, line, file);
  }

  // Arrives once at the stage's empty barrier: this consumer no longer reads it.
  constexpr void release(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    empty_[this->stage()].arrive(line, file);
  }

  // Releases the stage in block `rank` of the cluster, by one arrival at its empty barrier there. The arrival says
  // that this consumer has read the stage. It publishes nothing that the consumer wrote: that would cost a fence of
  // the cluster's scope.
  template <class R>
  constexpr void release_to(const R& rank, std::uint32_t line = __builtin_LINE(),
                            const char* file = __builtin_FILE()) const {
    empty_[this->stage()].arrive_remote(rank, scope::block, line, file);
  }

 private:
  mbarriers<Stages> full_;
  mbarriers<Stages> empty_;
};

// The barriers of a ring of Stages stages, and the states of its producers and consumers.
template <std::uint32_t Stages>
class pipeline {
  static_assert(Stages >= 1, "kaio: a pipeline has at least one stage");

 public:
  static constexpr std::uint32_t stages = Stages;

  template <is_thread Thread>
  constexpr explicit pipeline(const Thread& t) : thread_(t), full_(t), empty_(t) {}

  // Initialises the barriers; one thread of the block calls it. `fills` arrivals, and the bytes of copies, make a stage
  // full; `releases` arrivals make it empty. A barrier of the block, or of the cluster, must follow.
  template <class F, class R>
  constexpr void init(const F& fills, const R& releases, std::uint32_t line = __builtin_LINE(),
                      const char* file = __builtin_FILE()) const {
    for (std::uint32_t i = 0; i < Stages; ++i) {
      full_[i].init(fills, line, file);
      empty_[i].init(releases, line, file);
    }
    if (thread_.trace().target.sm >= 90) fence_mbarrier_init(thread_, line, file);
  }

  // A state that starts at stage 0, for one thread or for several that fill or use stages together.
  constexpr pipeline_producer<Stages> producer(const thread& t, std::uint32_t line = __builtin_LINE(),
                                               const char* file = __builtin_FILE()) const {
    return {t, full_, empty_, all_stages{}, line, file};
  }
  constexpr pipeline_consumer<Stages> consumer(const thread& t, std::uint32_t line = __builtin_LINE(),
                                               const char* file = __builtin_FILE()) const {
    return {t, 0u, full_, empty_, all_stages{}, line, file};
  }
  // States that use the first `used` stages, 1 to Stages. All states of the ring have the same number.
  constexpr pipeline_producer<Stages, val<u32>> producer(const thread& t, const val<u32>& used,
                                                         std::uint32_t line = __builtin_LINE(),
                                                         const char* file = __builtin_FILE()) const {
    return {t, full_, empty_, used, line, file};
  }
  constexpr pipeline_consumer<Stages, val<u32>> consumer(const thread& t, const val<u32>& used,
                                                         std::uint32_t line = __builtin_LINE(),
                                                         const char* file = __builtin_FILE()) const {
    return {t, 0u, full_, empty_, used, line, file};
  }
  // The state of one of several consumers that take turns; it starts at stage `first`.
  constexpr pipeline_consumer<Stages> consumer_from(const thread& t, const val<u32>& first,
                                                    std::uint32_t line = __builtin_LINE(),
                                                    const char* file = __builtin_FILE()) const {
    return {t, first, full_, empty_, all_stages{}, line, file};
  }

  constexpr const mbarriers<Stages>& full() const { return full_; }
  constexpr const mbarriers<Stages>& empty() const { return empty_; }

 private:
  thread thread_;
  mbarriers<Stages> full_;
  mbarriers<Stages> empty_;
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::pipeline;
using dsl::pipeline_consumer;
using dsl::pipeline_producer;
}  // namespace kaio
