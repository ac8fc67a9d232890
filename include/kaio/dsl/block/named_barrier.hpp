#pragma once
// Named barriers: a block has 16 hardware barriers. Number 0 is that of t.barrier(), the others are for parts of the
// block. `threads` threads, whole warps, take part in a round: sync() waits for all of them, arrive() goes on at once.
// Both order memory among the participants. Source: PTX ISA, "bar.sync", "bar.arrive".
//
//   named_barrier<1> both(t, 256);
//   if (auto producer = t.when(warpgroup_rank(t) == 0)) both.arrive();
//   if (auto consumer = t.when(warpgroup_rank(t) == 1)) both.sync();
//   named_barrier own(t, 2 + warpgroup_rank(t), 128);      // a number that the device computes
//
// All lanes of a warp must reach the call together.

#include <kaio/dsl/control/thread.hpp>
#include <kaio/dsl/memory/location.hpp>

#include <cstdint>

namespace kaio::dsl {

inline constexpr std::uint32_t run_time_barrier = 16;

template <std::uint32_t Id = run_time_barrier>
class named_barrier {
  static_assert(Id >= 1 && Id <= 16,
                "kaio: named barriers have the numbers 1 to 15; number 0 is the block's: t.barrier()");

 public:
  template <is_thread Thread>
  constexpr named_barrier(const Thread& t, std::uint32_t threads) : trace_(&t.trace()), threads_(threads) {
    static_assert(Id != run_time_barrier || never<Thread>,
                  "kaio: a named barrier has a number: named_barrier<1> name(t, threads)");
    require_threads(t);
  }

  template <is_thread Thread, device_of<u32> I>
  constexpr named_barrier(const Thread& t, const I& id, std::uint32_t threads)
      : trace_(&t.trace()), threads_(threads), id_(lower(*trace_, id.node())), scope_(trace_->scope()) {
    static_assert(Id == run_time_barrier || never<Thread>,
                  "kaio: the number of this barrier is a template argument already");
    require_threads(t);
  }

  // Waits for all `threads` threads.
  constexpr void sync(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    emit(opcode::bar_sync, line, file);
  }
  // Takes part without waiting.
  constexpr void arrive(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    emit(opcode::bar_arrive, line, file);
  }

 private:
  constexpr auto require_threads(const thread& t) const {
    if (threads_ == 0 || threads_ % 32 != 0)
      t.trace().fail_next("kaio: a named barrier is for whole warps: a multiple of 32 threads");
    if (threads_ > (t.block_size() + 31) / 32 * 32)
      t.trace().fail_next("kaio: a named barrier waits for more threads than the block has");
  }
  constexpr void emit(opcode op, std::uint32_t line, const char* file) const {
    trace_->statement(line, file);
    if (trace_->probing()) {
      trace_->see(static_cast<unsigned>(op));
      trace_->see(threads_);
      return trace_->see(id_);
    }
    if (!trace_->is_open(scope_))
      trace_->fail("kaio: a named barrier was used outside the guarded body or loop that made its number");
    trace_->begin(op, 0, ptx::type::none);
    if constexpr (Id == run_time_barrier)
      trace_->use(id_);
    else
      trace_->add({operand_kind::immediate, ptx::type::u32, 0, Id});
    trace_->add({operand_kind::immediate, ptx::type::u32, 0, threads_});
  }

  tracer* trace_;
  std::uint32_t threads_;
  value id_ = 0;
  std::uint32_t scope_ = 0;
};

template <class Thread>
named_barrier(const Thread&, std::uint32_t) -> named_barrier<run_time_barrier>;
template <class Thread, class I>
named_barrier(const Thread&, const I&, std::uint32_t) -> named_barrier<run_time_barrier>;

}  // namespace kaio::dsl

namespace kaio {
using dsl::named_barrier;
}
