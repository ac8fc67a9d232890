#include "driver_emulator/state/streams.hpp"

#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "emulator/waiting/launch_threads.hpp"
#include "emulator/waiting/memory_activity.hpp"
#include "host/lasting.hpp"

#include <algorithm>

namespace kaio::driver_emulator {
namespace {

// One piece of work runs at a time, whichever thread puts it in: a kernel has all cores anyway. Work that polls is the
// exception: other work runs meanwhile.
std::mutex& one_at_a_time() {
  static auto* const m = host::make_lasting<std::mutex>();
  return *m;
}

// A kernel that runs longer becomes asynchronous though it does not poll: it may wait for others in a way that is not
// recognised, for example while it counts in memory.
constexpr std::chrono::seconds longest_launch{2};

std::shared_ptr<stream> new_stream(context& c, stream_kind kind, unsigned flags, int priority) {
  driver_state& s = state();
  auto fresh = std::make_shared<stream>();
  fresh->owner = s.contexts.find(c.handle);
  fresh->kind = kind;
  fresh->flags = flags;
  fresh->priority = priority;
  fresh->id = ++s.last_id;
  return fresh;
}

// The streams of a context that the legacy stream is ordered with.
template <class Visit>
void for_each_blocking(context& c, Visit visit) {
  for (const auto& s : c.streams)
    if (s->blocking()) visit(s);
  for (const auto& [thread, s] : c.per_thread) visit(s);
}

template <class Visit>
void for_each_stream(context& c, Visit visit) {
  if (c.legacy) visit(c.legacy);
  for (const auto& [thread, s] : c.per_thread) visit(s);
  for (const auto& s : c.streams) visit(s);
}

// The work that a new item waits for. The legacy stream waits for all blocking streams, and they for it.
std::vector<stream_point> implicit_order(const std::shared_ptr<stream>& where, context& c) {
  std::vector<stream_point> after;
  const auto wait_for = [&](const std::shared_ptr<stream>& other) {
    if (!other->items.empty()) after.push_back({other, other->last});
  };
  if (where->kind == stream_kind::legacy)
    for_each_blocking(c, wait_for);
  else if (where->blocking() && c.legacy)
    wait_for(c.legacy);
  return after;
}

// Visits the steps of a graph too: the events that it waits for and records are those of its nodes.
template <class Visit>
void for_each_step(const work& what, Visit visit) {
  if (const auto* run = std::get_if<std::shared_ptr<graph_run_work>>(&what)) {
    for (const work& step : (*run)->steps) for_each_step(step, visit);
  } else {
    visit(what);
  }
}

// The point up to which each stream has to run.
using extents = std::map<stream*, stream_point>;
extents needed_for(const std::vector<stream_point>& wanted) {
  extents needed;
  std::vector<stream_point> open = wanted;
  while (!open.empty()) {
    const stream_point point = std::move(open.back());
    open.pop_back();
    stream_point& so_far = needed[point.where.get()];
    if (so_far.where != nullptr && so_far.number >= point.number) continue;
    const std::uint64_t before = so_far.number;
    so_far = point;
    for (const stream_item& item : point.where->items) {
      if (item.number > point.number) break;
      if (item.number > before) open.insert(open.end(), item.after.begin(), item.after.end());
    }
  }
  return needed;
}

bool can_run(const stream_item& item) {
  return !item.running && std::all_of(item.after.begin(), item.after.end(),
                                      [](const stream_point& p) { return p.where->is_done(p.number); });
}

// The stream with the oldest first item, among those that still have to run and can; null: there is none.
std::shared_ptr<stream> next_of(const extents& needed) {
  std::shared_ptr<stream> next;
  for (const auto& [key, point] : needed) {
    const stream& s = *point.where;
    if (s.is_done(point.number) || !can_run(s.items.front())) continue;
    if (next == nullptr || s.items.front().number < next->items.front().number) next = point.where;
  }
  return next;
}

bool are_done(const extents& needed) {
  return std::all_of(needed.begin(), needed.end(),
                     [](const auto& entry) { return entry.second.where->is_done(entry.second.number); });
}

// A destroyed stream goes when its work is done.
void forget_destroyed(context& c) {
  driver_state& s = state();
  std::erase_if(c.streams, [&](const std::shared_ptr<stream>& known) {
    return known->items.empty() && s.streams.find(known->handle) == nullptr;
  });
}

// The first item of a stream has ended.
void end_first(stream& s, const std::shared_ptr<context>& owner) {
  s.items.pop_front();
  if (owner != nullptr && s.items.empty() && s.kind == stream_kind::created) forget_destroyed(*owner);
  emulator::memory_activity::shared().note_event();
}

// Everything that has been asked to run.
extents released() {
  extents all;
  for (const auto& [handle, c] : state().contexts.all())
    for_each_stream(*c, [&](const std::shared_ptr<stream>& s) {
      if (!s->items.empty() && s->items.front().number <= s->released) all[s.get()] = {s, s->released};
    });
  return all;
}

void release_everything() {
  for (const auto& [handle, c] : state().contexts.all())
    for_each_stream(*c, [](const std::shared_ptr<stream>& s) { s->released = s->last; });
}

void run_ready(const extents& needed);

// Runs the first item of a stream, to its end or until it polls.
void run_first(const std::shared_ptr<stream>& s) {
  const std::shared_ptr<context> owner = s->owner.lock();
  stream_item& item = s->items.front();  // stays in place while others are put in after it
  item.running = true;
  try {
    const unlocked_state unlocked;
    if (may_poll(item.what)) {
      const bool ended = emulator::launch_threads::shared().run(
          [&what = item.what, owner](emulator::memory_wait& wait) { execute(what, owner, &wait); },
          [s, owner] {
            const locked_state locked;
            end_first(*s, owner);
            if (!emulator::memory_activity::shared().ended()) run_ready(released());
          },
          longest_launch);
      if (!ended) return;
    } else {
      const emulator::memory_activity::running work;
      execute(item.what, owner, nullptr);
    }
  } catch (...) {
    item.running = false;
    throw;
  }
  end_first(*s, owner);
}

// Runs what can run, one after another.
void run_ready(const extents& needed) {
  std::unique_lock<std::mutex> turn;
  {
    const unlocked_state unlocked;
    turn = std::unique_lock(one_at_a_time());
  }
  while (const std::shared_ptr<stream> next = next_of(needed)) run_first(next);
}

std::vector<stream_point> everything(context& c) {
  std::vector<stream_point> all;
  for_each_stream(c, [&](const std::shared_ptr<stream>& s) {
    if (!s->items.empty()) all.push_back({s, s->last});
  });
  return all;
}

}  // namespace

std::shared_ptr<stream> legacy_stream_of(context& c) {
  if (c.legacy == nullptr) c.legacy = new_stream(c, stream_kind::legacy, CU_STREAM_DEFAULT, 0);
  return c.legacy;
}

std::shared_ptr<stream> make_stream(context& c, unsigned flags, int priority) {
  std::shared_ptr<stream> fresh = new_stream(c, stream_kind::created, flags, priority);
  state().streams.add(fresh);
  c.streams.push_back(fresh);
  return fresh;
}

std::shared_ptr<stream> find_stream(CUstream handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  std::shared_ptr<context> c;
  std::shared_ptr<stream> s;
  if (number <= per_thread_stream) {
    c = current_context();
    require(c != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    require(c->active, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    const bool own = number == per_thread_stream || (number == 0 && per_thread_default_stream::active());
    if (own) {
      std::shared_ptr<stream>& mine = c->per_thread[std::this_thread::get_id()];
      if (mine == nullptr) mine = new_stream(*c, stream_kind::per_thread, CU_STREAM_DEFAULT, 0);
      s = mine;
    } else {
      s = legacy_stream_of(*c);
    }
  } else {
    s = state().streams.find(handle);
    require(s != nullptr, CUDA_ERROR_INVALID_HANDLE);
    c = s->owner.lock();
    require(c != nullptr && c->active, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  }
  if (c->lost != CUDA_SUCCESS) refuse(c->lost);
  return s;
}

stream_point put_in(const std::shared_ptr<stream>& where, work what) {
  driver_state& s = state();
  const std::shared_ptr<context> c = where->owner.lock();
  require(c != nullptr && c->active, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  stream_item item;
  item.number = ++s.last_work;
  item.after = implicit_order(where, *c);
  for_each_step(what, [&](const work& step) {
    if (const auto* wait = std::get_if<wait_work>(&step); wait != nullptr && wait->target->recorded)
      item.after.push_back(wait->target->point);
    if (const auto* record = std::get_if<record_work>(&step)) {
      event& e = *record->target;
      e.recorded = true;
      e.point = {where, item.number};
      e.captured.reset();
    }
  });
  item.what = std::move(what);
  where->last = item.number;
  where->items.push_back(std::move(item));
  return {where, where->last};
}

void run_until(const std::vector<stream_point>& wanted, bool must_end) {
  const extents needed = needed_for(wanted);
  for (const auto& [key, point] : needed) key->released = std::max(key->released, point.number);
  run_ready(needed);
  if (!must_end || are_done(needed)) return;
  // Something polls. Any other work may be what it waits for.
  release_everything();
  run_ready(released());
  emulator::memory_activity& activity = emulator::memory_activity::shared();
  activity.note_event();
  for (emulator::u64 seen = activity.events(); !are_done(needed); seen = activity.events()) {
    {
      const unlocked_state unlocked;
      activity.wait_for_event(seen);
    }
    run_ready(released());
  }
}

void synchronize(const std::shared_ptr<stream>& s) {
  const std::shared_ptr<context> c = s->owner.lock();
  std::vector<stream_point> wanted;
  if (!s->items.empty()) wanted.push_back({s, s->last});
  // The legacy stream is done when the streams that it is ordered with are done, too.
  if (s->kind == stream_kind::legacy && c != nullptr)
    for_each_blocking(*c, [&](const std::shared_ptr<stream>& other) {
      if (!other->items.empty()) wanted.push_back({other, other->last});
    });
  if (!wanted.empty()) run_until(wanted, true);
  state().memory.note_host_step();
  if (c != nullptr && c->lost != CUDA_SUCCESS) refuse(c->lost);
}

void synchronize(context& c) {
  drain(c);
  if (c.lost != CUDA_SUCCESS) refuse(c.lost);
}

void drain(context& c) {
  const std::vector<stream_point> all = everything(c);
  if (!all.empty()) run_until(all, true);
  state().memory.note_host_step();
}

}  // namespace kaio::driver_emulator
