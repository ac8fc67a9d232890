#pragma once
// What a peer_workspace refers to: the memory of one rank that all ranks use, and how it is divided.

#include <kaio/ops/distributed/peer/experts.hpp>
#include <kaio/ops/distributed/peer/signals.hpp>
#include <kaio/ops/distributed/peer_workspace.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>
#include <kaio/runtime/event.hpp>
#include <kaio/runtime/stream.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ops/distributed/common/call.hpp"

namespace kaio::ops::detail {

// Words of signals: those of the sums, of each half of the products, of rows for experts.
struct signal_words {
  std::uint32_t ranks, blocks;

  std::uint32_t sum_counter() const { return 0; }                    // of each block
  std::uint32_t sum_first() const { return blocks; }                 // of each block and rank
  std::uint32_t sum_second() const { return blocks * (1 + ranks); }  // of each block and rank
  std::uint32_t product_counter(std::uint32_t half) const {
    return blocks * (1 + 2 * ranks) + half * (1 + 2 * ranks);
  }
  std::uint32_t arrived(std::uint32_t half) const { return product_counter(half) + 1; }       // of each rank
  std::uint32_t done(std::uint32_t half) const { return product_counter(half) + 1 + ranks; }  // of each rank
  std::uint32_t experts_counter() const { return product_counter(2); }
  std::uint32_t experts_first() const { return experts_counter() + 1; }           // of each rank
  std::uint32_t experts_send_counter() const { return experts_first() + ranks; }  // of each block
  std::uint32_t experts_send() const { return experts_send_counter() + blocks; }  // of each block and rank
  std::uint32_t count() const { return experts_send() + blocks * ranks; }
};

class peer_memory {
 public:
  peer_memory(const communicator& c, const peer_workspace_options& given);

  peer_table table() const {
    return {addresses_.address(), static_cast<u64>(group.time_limit() * 1e9), static_cast<u32>(group.ranks()),
            static_cast<u32>(group.rank())};
  }
  peer_segments segments() const;
  // Compares a call of this rank with those of the others. checks() returns the numbers that all ranks share; if it
  // throws invalid_argument, all ranks do. False: the stream only loads.
  template <class Checks>
  bool agree(std::string_view operation, const stream& s, const Checks& checks) {
    std::vector<std::int64_t> numbers;
    std::string refusal;
    try {
      check_stream(operation, s);
      numbers = checks();
    } catch (const runtime::invalid_argument& e) {
      refusal = e.message();
    }
    return agree_on(operation, s, numbers, refusal);
  }

  const communicator group;
  const peer_workspace_options options;
  const signal_words words;
  std::uint64_t sum_slot, sum_gathered,
      sum_half;  // bytes: of a rank's slot, from a half's begin to its sums, of a half
  std::uint64_t product_half;
  std::uint64_t experts_begin, experts_half;  // bytes: where counts of experts are, of a half
  const peer_buffer memory;                   // two halves of sums, of products, of counts of experts
  const stream copies;                        // of the products: copies to other ranks
  event ready, sent;
  std::uint64_t products = 0;  // calls of products

 private:
  void check_stream(std::string_view operation, const stream& s) const;
  bool agree_on(std::string_view operation, const stream& s, const std::vector<std::int64_t>& numbers,
                const std::string& refusal);

  friend void retain(peer_memory* m) noexcept;
  friend void release(peer_memory* m) noexcept;
  buffer<u64> addresses_;
  const buffer<u64> segments_;
  std::set<std::vector<std::int64_t>> agreed_;
  std::atomic<std::size_t> references_{1};
};

class peer_memory_access {
 public:
  // Throws invalid_argument: the workspace is null.
  static peer_memory& of(const peer_workspace& w, std::string_view operation);
  // In the memory of rank `rank`: the addresses of the buffer's memory on all ranks.
  static std::uint64_t addresses_of(const peer_buffer& b, int rank);
  static peer_workspace make(peer_memory_ref memory) { return peer_workspace(std::move(memory)); }
};

}  // namespace kaio::ops::detail
