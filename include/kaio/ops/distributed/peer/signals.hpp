#pragma once
// Signals between the kernels of ranks: words in the memory of each rank that only grow, and are compared by their
// distance, so that they may wrap. A kernel finds the memory of all ranks in a table:
//
//   table[2 r]       address of the data of rank r
//   table[2 r + 1]   address of its signals

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

struct peer_table {
  u64 table;
  u64 limit;  // nanoseconds that a kernel waits for a signal
  u32 ranks, rank;
};

// The signals of the parts that other ranks send for one call of a product.
struct peer_arrivals {
  peer_table peers;
  u32 counter;  // word of this rank: the number of the call
  u32 words;    // words of this rank, one for each rank: the last call whose part has come
};

// The memory of all ranks, as a kernel sees it.
class peer_access {
 public:
  constexpr peer_access(thread t, const val<peer_table>& peers)
      : t_(t),
        ranks_(t.let(peers[&peer_table::ranks])),
        rank_(t.let(peers[&peer_table::rank])),
        limit_(t.let(peers[&peer_table::limit])),
        table_(t.let(peers[&peer_table::table])) {}

  constexpr const val<u32>& ranks() const { return ranks_; }
  constexpr const val<u32>& rank() const { return rank_; }
  constexpr val<u64> data(const val<u32>& rank) const { return entry(t_.let(rank * 2u)); }
  constexpr val<u64> signals(const val<u32>& rank) const { return entry(t_.let(rank * 2u + 1u)); }

  // Publishes what this thread wrote, and what the threads of its block wrote before a barrier.
  constexpr void signal(const val<u64>& signals, const val<u32>& word, const val<u32>& number) const {
    store(at(signals, word)[0], number, order::release, scope::system);
  }
  // Waits until a word of this rank is `number` or later, or the time limit has passed: false.
  constexpr val<bool> wait(const val<u32>& word, const val<u32>& number) const {
    thread t = t_;
    const inout<u32> flag = at(signals(rank_), word);
    const val begin = t.let(t.globaltimer());
    var came(t, true);
    for (auto l : t.loop()) {
      const val seen = t.let(load(flag[0], order::acquire, scope::system));
      came = t.let(bit_cast<i32>(t.let(seen - number))) >= 0;
      const val now = t.let(t.globaltimer());
      l.break_if(any_of(came, t.let(now - begin) >= limit_));
    }
    return t.let(came);
  }
  // Stops the kernel unless all came. Called at its end: the call of a function takes registers from what is in use.
  constexpr void require(const val<bool>& came) const {
    device_assert(t_, came, "the other ranks come within the time limit");
  }
  // All ranks meet, block by block: each sees what the others wrote before. words: ranks for each block. Returns whether
  // the rank of this thread came.
  constexpr val<bool> meet(const val<u32>& words, const val<u32>& number) const {
    thread t = t_;
    const val lane = t.let(t.thread_rank());
    var came(t, true);
    t.barrier();
    if (auto of_rank = t.when(lane < ranks_)) {
      const val first = t.let(words + block_idx_x() * ranks_);
      const val word = t.let(first + rank_);
      signal(signals(lane), word, number);
      came = wait(t.let(first + lane), number);
    }
    t.barrier();
    return t.let(came);
  }

 private:
  constexpr val<u64> entry(const val<u32>& index) const {
    return t_.let(load(pointer_at<in<u64>>(t_, table_)[index]));
  }
  constexpr inout<u32> at(const val<u64>& signals, const val<u32>& word) const {
    return pointer_at<inout<u32>>(t_, t_.let(signals + cast<u64>(word) * u64{4}));
  }

  thread t_;
  val<u32> ranks_, rank_;
  val<u64> limit_, table_;
};

struct peer_signal_problem {
  peer_table peers;
  u32 counter;  // word of this rank that counts calls
  u32 advance;  // added to it
  u32 words;    // waits for words[first], words[first + 1], ... modulo ranks
  u32 first, count;
  u32 lag;                 // until they are `lag` less than the counter
  u32 publishes, publish;  // then stores the counter into word `publish` of all other ranks
};

inline constexpr u32 peer_signal_threads = 64;

// One block: the steps between products and copies that need signals.
inline constexpr auto peer_signal =
    kaio::kernel<"distributed_peer_signal", peer_signal_threads, kernel_options{.target = {70}}>(
        [](thread t, val<peer_signal_problem> problem) {
          using p = peer_signal_problem;
          const val peers = t.let(problem[&p::peers]);
          const peer_access at(t, peers);
          const val ranks = at.ranks(), rank = at.rank();
          const val lane = t.let(t.thread_rank());
          const val own = t.let(at.signals(rank) + cast<u64>(problem[&p::counter]) * u64{4});
          const inout<u32> counter = pointer_at<inout<u32>>(t, own);
          const val number = t.let(counter[0] + problem[&p::advance]);
          t.barrier();
          if (auto counts = t.when(all_of(lane == 0u, problem[&p::advance] != 0u))) counter[0] = number;
          var came(t, true);
          if (auto waits = t.when(lane < problem[&p::count])) {
            const val place = t.let(problem[&p::first] + lane);
            const val since = t.let(number - problem[&p::lag]);
            came = at.wait(t.let(problem[&p::words] + select(place >= ranks, place - ranks, place)), since);
          }
          t.barrier();
          if (auto publishes = t.when(all_of(problem[&p::publishes] != 0u, lane < ranks, lane != rank))) {
            const val word = t.let(problem[&p::publish]);
            at.signal(at.signals(lane), word, number);
          }
          at.require(t.let(came));
        });

}  // namespace kaio::ops
