#pragma once
// The threads' knowledge of each other (happens-before). All threads of a block know each other up to their
// last common barrier; the lanes of a warp up to their last meeting. Beyond that a thread knows what it
// learned from events (state/causality.hpp): barriers of some threads, mbarriers, and words of memory through
// which others publish.
//
// A word publishes its writer's knowledge: all of it if the write releases, up to the writer's last fence if
// the write is relaxed. A reader learns it if the read acquires, or with its next fence. After an atomic
// operation the next barrier suffices too, as in the usual "last block" of a reduction. Each side's scope
// must reach the other.
//
//   const event_number e = order.release(w, lanes);   // at an mbarrier, for example
//   order.acquire(other, other_lanes, e);
//   if (!order.follows(other, lane, r)) ...           // r: what a lane of w did before

#include "emulator/sanitizer/state/watched.hpp"

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace kaio::emulator::sanitizing {

class happens_before {
 public:
  explicit happens_before(watched_block& b);

  void start();

  // True if everything in the record happened before this lane's current access.
  bool follows(const warp& w, unsigned lane, const record& r);
  // All threads of the block know each other up to this time.
  u32 floor() const { return floor_; }
  // All lanes of the warp know each other up to this time.
  u32 floor_of(const warp& w) const { return views_[w.index].floor; }

  // One event with everything that these lanes did and know.
  event_number release(const warp& w, u32 lanes);
  void acquire(const warp& w, u32 lanes, event_number e);
  // The lanes learn of each other, and what each of them knew.
  void join_lanes(const warp& w, u32 lanes);
  // All threads of the block learn of each other, and what each of them knew.
  void join_block();

  // The lanes wait for the preceding grids to end.
  void wait_for_grids(const warp& w, u32 lanes);
  bool knows_grids(const warp& w, unsigned lane);

  void fence(const warp& w, const instruction& i, u32 lanes);
  // Lanes arrive at a barrier, which takes over the sightings of their atomic operations.
  void arrive(const warp& w, u32 lanes);
  // A strong access: the lane learns what the word publishes, and publishes its own knowledge.
  void synchronise(const warp& w, const instruction& i, unsigned lane, access_kind kind, const std::byte* at,
                   cell& c);

 private:
  // A publication that a lane has seen and learns with its next fence.
  struct sighting {
    event_number event;
    reach far;    // distance at which it was published
    bool update;  // seen by an atomic operation: a barrier suffices too
  };

  struct warp_view {
    u32 actor = 0;
    u32 floor = 0;  // its lanes know each other up to this time
    // Later, after meetings of some lanes: [lane][other].
    std::unique_ptr<std::array<std::array<u32, warp_lanes>, warp_lanes>> met;
    knowledge known;  // common to all lanes
    std::unique_ptr<std::array<knowledge, warp_lanes>> lane_known;
    u32 lanes_that_know = 0;
    std::array<std::array<u32, warp_lanes>, reaches> fenced{};      // time of each lane's last fence
    std::array<std::array<u32, warp_lanes>, reaches> fenced_own{};  // the warp's and the block's floor then
    std::array<std::array<u32, warp_lanes>, reaches> fenced_block{};
    std::array<std::vector<sighting>, warp_lanes> sightings;
    u32 lanes_that_saw = 0;
    std::pair<u32, u32> last_known{0,
                                   0};  // actor and time of the last fact that all lanes were found to know
  };

  warp_view& view(const warp& w) { return views_[w.index]; }
  bool knows(warp_view& v, unsigned lane, u64 key, u32 time);
  void take_sightings(warp_view& v, u32 lanes, reach within, bool at_barrier);
  event_number fenced_event(const warp& w, unsigned lane, reach far);

  watched_grid& grid_;
  watched_block& block_;
  u32 floor_ = 0;
  knowledge known_;  // common to all threads
  std::vector<warp_view> views_;
};

}  // namespace kaio::emulator::sanitizing
