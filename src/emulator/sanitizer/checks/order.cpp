#include "emulator/sanitizer/checks/order.hpp"

#include "emulator/machine/lanes.hpp"

#include <algorithm>
#include <bit>

namespace kaio::emulator::sanitizing {
namespace {

bool acquires(memory_order o) {
  return o == memory_order::acquire || o == memory_order::acq_rel || o == memory_order::sc;
}
bool releases(memory_order o) {
  return o == memory_order::release || o == memory_order::acq_rel || o == memory_order::sc;
}

}  // namespace

happens_before::happens_before(watched_block& b) : grid_(b.grid), block_(b) { views_.resize(b.warps); }

void happens_before::start() {
  floor_ = block_.origin;
  known_.clear();
  for (u32 index = 0; index < block_.warps; ++index) {
    views_[index] = {};
    views_[index].actor = block_.first_actor + index;
    views_[index].floor = floor_;
  }
}

bool happens_before::knows(warp_view& v, unsigned lane, u64 key, u32 time) {
  if (known_.knows(grid_.order, key, time) || v.known.knows(grid_.order, key, time)) return true;
  return (v.lanes_that_know >> lane & 1) != 0 && (*v.lane_known)[lane].knows(grid_.order, key, time);
}

bool happens_before::follows(const warp& w, unsigned lane, const record& r) {
  if (r.time <= grid_.start) return true;
  warp_view& v = views_[w.index];
  const bool is_asynchronous = (r.actor & asynchronous_actor) != 0;
  if (!is_asynchronous && block_.block_of(r.actor) == block_.number) {
    if (r.time <= floor_) return true;
    if (r.actor == v.actor) {
      const u32 others = r.lanes & ~(1u << lane);
      if (others == 0 || r.time <= v.floor) return true;
      if (v.met != nullptr) {
        bool all = true;
        for_lanes(others, [&](unsigned other) { all = all && (*v.met)[lane][other] >= r.time; });
        if (all) return true;
      }
    }
  }
  if (v.last_known.first == r.actor && r.time <= v.last_known.second) return true;
  if (known_.empty() && v.known.empty() && (v.lanes_that_know >> lane & 1) == 0) return false;
  const auto all_know = [&](u64 key) {
    if (!known_.knows(grid_.order, key, r.time) && !v.known.knows(grid_.order, key, r.time)) return false;
    v.last_known = {r.actor, r.time};
    return true;
  };
  if (all_know(actor_key(r.actor))) return true;
  if (!is_asynchronous && all_know(block_key(block_.block_of(r.actor)))) return true;
  if (knows(v, lane, actor_key(r.actor), r.time)) return true;
  if (!is_asynchronous && knows(v, lane, block_key(block_.block_of(r.actor)), r.time)) return true;
  bool all = true;
  const u32 own = !is_asynchronous && r.actor == v.actor ? 1u << lane : 0;
  for_lanes(r.lanes & ~own, [&](unsigned other) {
    const bool met = own != 0 && (r.time <= v.floor || (v.met != nullptr && (*v.met)[lane][other] >= r.time));
    all = all && (met || knows(v, lane, lane_key(r.actor, other), r.time));
  });
  return all;
}

// ---- publishing ----

event_number happens_before::release(const warp& w, u32 lanes) {
  warp_view& v = views_[w.index];
  causality& order = grid_.order;
  std::vector<known_until> facts;
  std::vector<event_number> before;
  if ((w.live & ~lanes) == 0) {
    facts.push_back({actor_key(v.actor), order.now});
  } else {
    if (v.floor > block_.origin) facts.push_back({actor_key(v.actor), v.floor});
    for_lanes(lanes, [&](unsigned lane) { facts.push_back({lane_key(v.actor, lane), order.now}); });
    if (v.met != nullptr)
      for (unsigned other = 0; other < warp_lanes; ++other) {
        u32 until = 0;
        for_lanes(lanes, [&](unsigned lane) { until = std::max(until, (*v.met)[lane][other]); });
        if (until > v.floor) facts.push_back({lane_key(v.actor, other), until});
      }
  }
  if (floor_ > block_.origin) facts.push_back({block_key(block_.number), floor_});
  const auto add = [&](knowledge& k) {
    if (const event_number e = k.summary(order); e != 0) before.push_back(e);
  };
  add(known_);
  add(v.known);
  for_lanes(lanes & v.lanes_that_know, [&](unsigned lane) { add((*v.lane_known)[lane]); });
  const event_number e = order.add(facts, before);
  ++order.now;
  return e;
}

void happens_before::acquire(const warp& w, u32 lanes, event_number e) {
  if (e == 0) return;
  warp_view& v = views_[w.index];
  if ((w.live & ~lanes) == 0) {
    v.known.learn(e);
    return;
  }
  if (v.lane_known == nullptr) v.lane_known = std::make_unique<std::array<knowledge, warp_lanes>>();
  for_lanes(lanes, [&](unsigned lane) { (*v.lane_known)[lane].learn(e); });
  v.lanes_that_know |= lanes;
}

void happens_before::join_lanes(const warp& w, u32 lanes) {
  warp_view& v = views_[w.index];
  const u32 now = grid_.order.now++;
  if ((w.live & ~lanes) == 0) {
    v.floor = now;
    v.met.reset();
    for_lanes(v.lanes_that_know, [&](unsigned lane) { v.known.take((*v.lane_known)[lane]); });
    v.lanes_that_know = 0;
    return;
  }
  if (v.met == nullptr) {
    v.met = std::make_unique<std::array<std::array<u32, warp_lanes>, warp_lanes>>();
    for (auto& row : *v.met) row.fill(v.floor);
  }
  std::array<u32, warp_lanes> all{};
  for_lanes(lanes, [&](unsigned lane) {
    for (unsigned other = 0; other < warp_lanes; ++other)
      all[other] = std::max(all[other], (*v.met)[lane][other]);
  });
  for_lanes(lanes, [&](unsigned lane) { all[lane] = now; });
  for_lanes(lanes, [&](unsigned lane) { (*v.met)[lane] = all; });
  if ((lanes & v.lanes_that_know) == 0) return;
  knowledge together;
  for_lanes(lanes & v.lanes_that_know, [&](unsigned lane) { together.take((*v.lane_known)[lane]); });
  acquire(w, lanes, together.summary(grid_.order));
}

void happens_before::join_block() {
  floor_ = grid_.order.now++;
  for (warp_view& v : views_) {
    v.floor = floor_;
    v.met.reset();
    known_.take(v.known);
    for_lanes(v.lanes_that_know, [&](unsigned lane) { known_.take((*v.lane_known)[lane]); });
    v.lanes_that_know = 0;
  }
}

void happens_before::wait_for_grids(const warp& w, u32 lanes) {
  constexpr known_until ended{grids_key, 1};
  acquire(w, lanes, grid_.order.add(std::span(&ended, 1), {}));
}

bool happens_before::knows_grids(const warp& w, unsigned lane) { return knows(view(w), lane, grids_key, 1); }

// ---- fences ----

void happens_before::take_sightings(warp_view& v, u32 lanes, reach within, bool at_barrier) {
  for_lanes(lanes & v.lanes_that_saw, [&](unsigned lane) {
    std::vector<sighting>& seen = v.sightings[lane];
    std::erase_if(seen, [&](const sighting& s) {
      if (at_barrier ? !s.update : s.far > within) return false;
      if (v.lane_known == nullptr) v.lane_known = std::make_unique<std::array<knowledge, warp_lanes>>();
      (*v.lane_known)[lane].learn(s.event);
      v.lanes_that_know |= 1u << lane;
      return true;
    });
    if (seen.empty()) v.lanes_that_saw &= ~(1u << lane);
  });
}

void happens_before::arrive(const warp& w, u32 lanes) { take_sightings(view(w), lanes, reach::device, true); }

void happens_before::fence(const warp& w, const instruction& i, u32 lanes) {
  warp_view& v = views_[w.index];
  const reach far = reach_of(i.scope);
  if (i.order != memory_order::release) take_sightings(v, lanes, far, false);
  if (i.order == memory_order::acquire) return;
  for (std::size_t r = 0; r <= index_of(far); ++r)
    for_lanes(lanes, [&](unsigned lane) {
      v.fenced[r][lane] = grid_.order.now;
      v.fenced_own[r][lane] = v.floor;
      v.fenced_block[r][lane] = floor_;
    });
  ++grid_.order.now;
}

// The event that a relaxed write of this lane publishes: the lane's actions and knowledge up to its last
// fence, and other threads' actions before their own fences that it knows of now.
event_number happens_before::fenced_event(const warp& w, unsigned lane, reach far) {
  warp_view& v = views_[w.index];
  const std::size_t r = index_of(far);
  std::vector<known_until> facts;
  const u32 own = v.fenced[r][lane];
  if (own != 0) {
    facts.push_back({lane_key(v.actor, lane), own});
    if (v.fenced_own[r][lane] > block_.origin) facts.push_back({actor_key(v.actor), v.fenced_own[r][lane]});
    if (v.fenced_block[r][lane] > block_.origin)
      facts.push_back({block_key(block_.number), v.fenced_block[r][lane]});
  }
  const auto others = [&](const warp_view& o, u32 until, u32 already) {
    if (until <= already) return;
    u32 least = ~u32{0}, most = 0;
    for (const u32 time : o.fenced[r]) least = std::min(least, time), most = std::max(most, time);
    if (most == 0) return;
    if (std::min(least, until) > already) facts.push_back({actor_key(o.actor), std::min(least, until)});
    if (std::min(least, until) == std::min(most, until)) return;
    for (unsigned other = 0; other < warp_lanes; ++other)
      if (const u32 time = std::min(o.fenced[r][other], until); time > already)
        facts.push_back({lane_key(o.actor, other), time});
  };
  others(v, v.floor, own == 0 ? 0 : v.fenced_own[r][lane]);
  for (const warp_view& o : views_) others(o, floor_, own == 0 ? 0 : v.fenced_block[r][lane]);
  if (facts.empty()) return 0;
  std::vector<event_number> before;
  const auto add = [&](knowledge& k) {
    if (const event_number e = k.summary(grid_.order); e != 0) before.push_back(e);
  };
  add(known_);
  add(v.known);
  if ((v.lanes_that_know >> lane & 1) != 0) add((*v.lane_known)[lane]);
  return grid_.order.add(facts, before);
}

// ---- words that publish ----

void happens_before::synchronise(const warp& w, const instruction& i, unsigned lane, access_kind kind,
                                 const std::byte* at, cell& c) {
  warp_view& v = views_[w.index];
  const reach own = reach_of(i.scope);
  const std::vector<publication>* const published = grid_.published.find(at);
  if (kind != access_kind::write && published != nullptr) {
    for (const publication& p : *published) {
      const reach far = p.anywhere ? reach::device : block_.distance(p.block);
      const event_number e = p.events[index_of(far)];
      if (e == 0 || own < far) continue;
      if (acquires(i.order)) {
        acquire(w, 1u << lane, e);
        continue;
      }
      std::vector<sighting>& seen = v.sightings[lane];
      const bool known =
          std::any_of(seen.begin(), seen.end(), [&](const sighting& s) { return s.event == e; });
      if (!known) seen.push_back({e, far, kind == access_kind::atomic});
      v.lanes_that_saw |= 1u << lane;
    }
  }
  if (kind == access_kind::read) return;
  publication p;
  p.block = block_.number;
  if (releases(i.order)) {
    const event_number e = release(w, 1u << lane);
    for (std::size_t r = 0; r <= index_of(own); ++r) p.events[r] = e;
  } else {
    // Usually there was no fence at all.
    for (std::size_t r = 0; r <= index_of(own); ++r) {
      const bool same = r > 0 && v.fenced[r] == v.fenced[r - 1];
      p.events[r] = same && v.fenced_block[r] == v.fenced_block[r - 1]
                        ? p.events[r - 1]
                        : fenced_event(w, lane, static_cast<reach>(r));
    }
  }
  const bool something = p.events[0] != 0 || p.events[1] != 0 || p.events[2] != 0;
  const bool update = kind == access_kind::atomic;
  if (!something) {
    if (!update && published != nullptr) grid_.published.forget(at);
    return;
  }
  c.synchronises = 1;
  grid_.published.add(grid_.order, at, p, update);
}

}  // namespace kaio::emulator::sanitizing
