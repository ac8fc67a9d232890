#include "ops/distributed/program/staging.hpp"

#include <kaio/runtime/copy.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include "ops/distributed/peer/kernels.hpp"

namespace kaio::ops::detail {

namespace {

buffer<u64> table_of(const shared_memory& memory, const device& on, int ranks) {
  std::vector<u64> addresses;
  for (int r = 0; r < ranks; ++r) {
    addresses.push_back(memory.of(r).memory.address);
    addresses.push_back(memory.of(r).signals.address);
  }
  return on.upload(addresses);
}

// Calls each(memory, place) for the parts of bytes [first, first + count) of the transfers with a rank, which follow each
// other. place: in these bytes.
template <class Each>
void for_parts(std::span<const transfer> transfers, int rank, std::uint64_t first, std::uint64_t count,
               const Each& each) {
  std::uint64_t begin = 0;
  for (const transfer& t : transfers) {
    if (t.rank != rank) continue;
    const std::uint64_t bytes = bytes_of(t.memory);
    const std::uint64_t from = std::max(first, begin), to = std::min(first + count, begin + bytes);
    if (from < to)
      each(runtime::device_pointer<u8>{t.memory.address + (from - begin), static_cast<std::size_t>(to - from),
                                       t.memory.device},
           from - first);
    begin += bytes;
  }
}

}  // namespace

staging::staging(shared_memory_ref memory, const device& on, int ranks, int rank, double time_limit)
    : memory_(std::move(memory)),
      ranks_(static_cast<std::uint32_t>(ranks)),
      rank_(static_cast<std::uint32_t>(rank)),
      slot_(memory_->bytes() / ranks_ / 256 * 256),
      limit_(static_cast<std::uint64_t>(time_limit * 1e9)),
      addresses_(table_of(*memory_.get(), on, ranks)) {}

peer_signal_problem staging::problem(std::uint32_t counter, std::uint32_t advance) const {
  peer_signal_problem p{};
  p.peers = {addresses_.address(), limit_, ranks_, rank_};
  p.counter = counter;
  p.advance = advance;
  return p;
}

void staging::publish(const stream& s, std::uint32_t counter, std::uint32_t words,
                      std::uint32_t advance) const {
  peer_signal_problem p = problem(counter, advance);
  p.publishes = 1;
  p.publish = words + rank_;
  launch_peer_signal(s, p);
}

void staging::wait(const stream& s, std::uint32_t counter, std::uint32_t words, std::uint32_t lag,
                   std::uint32_t advance) const {
  peer_signal_problem p = problem(counter, advance);
  p.words = words;
  p.first = (rank_ + 1) % ranks_;
  p.count = ranks_ - 1;
  p.lag = lag;
  launch_peer_signal(s, p);
}

void staging::exchange(const stream& s, std::span<const transfer> sends, std::span<const transfer> receives,
                       std::uint64_t longest) const {
  const int own = static_cast<int>(rank_);
  for (std::uint64_t first = 0; first < longest; first += slot_) {
    wait(s, rounds(), read(), 1, 1);
    for (int step = 1; step < static_cast<int>(ranks_); ++step) {
      const int to = (own + step) % static_cast<int>(ranks_);
      for_parts(sends, to, first, slot_, [&](const auto& from, std::uint64_t place) {
        copy(s, memory_->of(to).memory.slice(static_cast<std::size_t>(rank_ * slot_ + place), from.count),
             from);
      });
    }
    publish(s, rounds(), arrived(), 0);
    wait(s, rounds(), arrived(), 0, 0);
    for (std::uint32_t r = 0; r < ranks_; ++r)
      if (r != rank_)
        for_parts(receives, static_cast<int>(r), first, slot_, [&](const auto& to, std::uint64_t place) {
          copy(s, to, memory_->of(own).memory.slice(static_cast<std::size_t>(r * slot_ + place), to.count));
        });
    publish(s, rounds(), read(), 0);
  }
}

void staging::barrier(const stream& s) const {
  publish(s, barriers(), met(), 1);
  wait(s, barriers(), met(), 0, 0);
}

}  // namespace kaio::ops::detail
