#pragma once
// Moves tensors through memory of all ranks: a slot for each sender in the memory of each receiver.
//
//   rank a   wait: slot a of b is free | copy to slot a of b | signal |
//   rank b                             |                     | wait   | copy from slot a | signal: the slot is free
//
// Larger tensors take several rounds. All of it is queued in the stream of the call.

#include <kaio/ops/distributed/communicator.hpp>
#include <kaio/ops/distributed/peer/signals.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <span>

#include "ops/distributed/common/transport.hpp"

namespace kaio::ops::detail {

class staging {
 public:
  static std::uint32_t words(int ranks) { return 2 + 3 * static_cast<std::uint32_t>(ranks); }

  // memory: of all ranks, with words(ranks) words. time_limit: seconds that a kernel waits for another rank.
  staging(shared_memory_ref memory, const device& on, int ranks, int rank, double time_limit);

  // Moves what goes to other ranks. longest: the most bytes that any rank sends to another one in this call.
  void exchange(const stream& s, std::span<const transfer> sends, std::span<const transfer> receives,
                std::uint64_t longest) const;
  void barrier(const stream& s) const;

 private:
  // Words of signals: counts of rounds, and of barriers.
  std::uint32_t rounds() const { return 0; }
  std::uint32_t arrived() const { return 1; }        // of each rank
  std::uint32_t read() const { return 1 + ranks_; }  // of each rank
  std::uint32_t barriers() const { return 1 + 2 * ranks_; }
  std::uint32_t met() const { return 2 + 2 * ranks_; }  // of each rank

  void publish(const stream& s, std::uint32_t counter, std::uint32_t words, std::uint32_t advance) const;
  void wait(const stream& s, std::uint32_t counter, std::uint32_t words, std::uint32_t lag,
            std::uint32_t advance) const;
  peer_signal_problem problem(std::uint32_t counter, std::uint32_t advance) const;

  const shared_memory_ref memory_;
  const std::uint32_t ranks_, rank_;
  const std::uint64_t slot_;   // bytes
  const std::uint64_t limit_;  // nanoseconds
  const buffer<u64> addresses_;
};

}  // namespace kaio::ops::detail
