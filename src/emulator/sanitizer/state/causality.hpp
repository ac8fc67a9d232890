#pragma once
// The actors' knowledge of each other: the happens-before order of a grid. Time is one count for the whole
// grid; it advances whenever an actor publishes its actions. A thread's actions up to a time are one fact,
// `known_until`. Facts that are published together are an event. An event refers to the preceding events by
// number, without copies. So publishing costs the same however much is known. A query expands what was
// learned (knowledge::knows).
//
//   const event_number e = order.add({{lane_key(warp, 3), order.now}}, {});   // lane 3 releases
//   ++order.now;
//   mine.learn(e);                                                            // an actor acquires
//   if (mine.knows(order, lane_key(warp, 3), time)) ...

#include "emulator/program/scalar.hpp"

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kaio::emulator::sanitizing {

using event_number = u32;  // 0: none

// Actors are warps, by their number in the grid, or operations concurrent with the threads.
inline constexpr u64 block_key(u32 block) { return u64{1} << 62 | block; }
inline constexpr u64 actor_key(u32 actor) { return u64{2} << 62 | actor; }
inline constexpr u64 grids_key = 0;  // the preceding grids, until the time 1
inline constexpr u64 lane_key(u32 actor, unsigned lane) { return u64{3} << 62 | u64{actor} << 5 | lane; }

struct known_until {
  u64 key;
  u32 time;
};

class causality {
 public:
  causality() { clear(); }
  void clear();
  event_number add(std::span<const known_until> facts, std::span<const event_number> before);

  std::span<const known_until> facts(event_number e) const {
    return std::span(facts_).subspan(events_[e].first_fact, events_[e].facts);
  }
  std::span<const event_number> before(event_number e) const {
    return std::span(before_).subspan(events_[e].first_before, events_[e].before);
  }

  u32 now = 1;

 private:
  struct event {
    u64 first_fact, first_before;
    u32 facts, before;
  };
  std::vector<event> events_;
  std::vector<known_until> facts_;
  std::vector<event_number> before_;
};

class knowledge {
 public:
  bool empty() const { return events_.empty(); }
  void clear();
  void learn(event_number e);
  // Moves the knowledge of another one here, and leaves that one empty.
  void take(knowledge& other);
  bool knows(const causality& order, u64 key, u32 time);
  // One event with everything learned; 0 if there is nothing.
  event_number summary(causality& order);

 private:
  void spread(const causality& order);

  std::vector<event_number> events_;  // the learned events
  std::size_t spread_ = 0;            // events already expanded into `until_`
  std::unordered_set<event_number> seen_;
  std::unordered_map<u64, u32> until_;
};

}  // namespace kaio::emulator::sanitizing
