#include "emulator/sanitizer/checks/races.hpp"

#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace kaio::emulator::sanitizing {
namespace {

constexpr std::size_t most_records = 64;  // per word; beyond it the oldest are forgotten

strength strength_of(const instruction& i, access_kind kind) {
  if (kind == access_kind::atomic &&
      (i.op == operation::atom || i.op == operation::red || i.op == operation::sured))
    return strength::atomic;
  return i.order == memory_order::weak ? strength::weak : strength::strong;
}

bool covers(const record& newer, const record& older) {
  return newer.actor == older.actor && newer.write == older.write &&
         newer.strength_bits == older.strength_bits && newer.reach_bits == older.reach_bits &&
         (older.lanes & ~newer.lanes) == 0 && (older.bytes & ~newer.bytes & 15u) == 0;
}

std::string how_of(const record& r, bool of_kaio) {
  const std::string_view scope = r.scope() == reach::block ? (of_kaio ? "scope::block" : "scope .cta")
                                 : r.scope() == reach::cluster
                                     ? (of_kaio ? "scope::cluster" : "scope .cluster")
                                     : (of_kaio ? "scope::device" : "scope .gpu");
  const std::string_view what = r.write != 0 ? "write" : "read";
  if ((r.actor & asynchronous_actor) != 0) return fmt::format("asynchronous {}", what);
  switch (r.how()) {
    case strength::weak: return fmt::format("{}{}", of_kaio ? "" : "weak ", what);
    case strength::strong: return fmt::format("strong {} at {}", what, scope);
    default: return fmt::format("atomic operation at {}", scope);
  }
}

}  // namespace

void race_check::access(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind, const piece& p,
                        const std::byte* const (&at)[warp_lanes]) {
  access_view a{w, i, {}, kind};
  a.what.time = grid_.order.now;
  a.what.actor = block_.actor_of(w);
  a.what.pc = static_cast<u32>(&i - w.code) & pc_mask;
  a.what.write = kind != access_kind::read;
  const strength how = strength_of(i, kind);
  a.what.strength_bits = static_cast<u32>(how) & 3u;
  if (how != strength::weak) a.what.reach_bits = static_cast<u32>(reach_of(i.scope)) & 3u;
  if (kind == access_kind::write && (mask & (mask - 1)) != 0 && grid_.reports.wants(check::races))
    check_same_place(w, i, mask, bytes, p, at);
  u32 left = mask;
  if (how == strength::weak && kind != access_kind::atomic) left &= ~visit_lines(a, mask, bytes, p, at);
  while (left != 0) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    u32 lanes = 1u << lane;
    if (a.what.write == 0)
      for (unsigned next = lane + 1; next < warp_lanes && (left >> next & 1) != 0 && at[next] == at[lane];
           ++next)
        lanes |= 1u << next;
    left &= ~lanes;
    a.what.lanes = lanes;
    a.offset = static_cast<u64>(at[lane] - p.data);
    visit(a, p, a.offset, bytes);
    if (how != strength::weak) {
      cell& c = cell_at(p, a.offset / 4);
      for_lanes(lanes, [&](unsigned one) { order_.synchronise(w, i, one, kind, at[one], c); });
    } else if (a.what.write != 0 && cell_at(p, a.offset / 4).synchronises != 0) {
      grid_.published.forget(at[lane]);
    }
  }
  if (a.what.write != 0) ++grid_.order.now;  // the next execution is another write
}

// ---- words ----

// Remembers a read: in `first` if its record need not be kept, else in the list. Each warp has its own place
// there, unless another actor already holds it.
void race_check::note_read(record& first, u32& more, const record& mine, const piece& p, bool of_line) {
  const auto takes = [&](record& old) {
    if (old.time == 0 || is_past(old, p)) {
      old = mine;
      return true;
    }
    if (old.actor != mine.actor) return false;
    if (of_line ? old.lanes == mine.lanes : covers(mine, old)) {
      old = mine;
      return true;
    }
    // Reads of several lanes at one time are one record.
    if (of_line || old.time != mine.time || old.bytes != mine.bytes || old.write != 0 ||
        old.strength_bits != mine.strength_bits || old.reach_bits != mine.reach_bits)
      return false;
    old.lanes |= mine.lanes;
    old.pc = mine.pc;
    return true;
  };
  if (takes(first)) return;
  if (more == 0) more = grid_.pool.allocate();
  record_pool::list& list = grid_.pool.at(more);
  const std::size_t own = mine.actor % block_.warps;
  if (list.size() <= own) list.resize(own + 1);
  if (takes(list[own])) return;
  for (record& old : list)
    if (takes(old)) return;
  if (list.size() >= most_records) list.erase(list.begin());
  list.push_back(mine);
}

void race_check::visit(const access_view& a, const piece& p, u64 offset, u32 bytes) {
  if (bytes < 4) {
    visit_cell(a, p, offset / 4, static_cast<u8>(((1u << bytes) - 1) << offset % 4));
    return;
  }
  for (u64 word = offset / 4; word < (offset + bytes + 3) / 4; ++word) visit_cell(a, p, word, 0xf);
}

void race_check::visit_cell(const access_view& a, const piece& p, u64 word, u8 bytes) {
  cell& c = cell_at(p, word);
  record mine = a.what;
  mine.bytes = bytes & 15u;
  const auto meets = [&](const record& r) {
    if (r.time <= p.origin || (r.bytes & bytes) == 0 || (r.write == 0 && mine.write == 0)) return;
    if (is_past(r, p)) return;
    // Lanes of one instruction are checked together (check_same_place).
    if (r.time == mine.time && r.actor == mine.actor && r.pc == mine.pc) return;
    const bool both_strong = r.how() != strength::weak && mine.how() != strength::weak;
    if (both_strong) {
      const reach far =
          (r.actor & asynchronous_actor) != 0 ? reach::block : block_.distance(block_.block_of(r.actor));
      if (r.scope() >= far && mine.scope() >= far) return;
    }
    for (u32 left = mine.lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      if (order_.follows(a.by, lane, r)) continue;
      if (!both_strong && a.kind == access_kind::write && r.write != 0 && same_value(a, p, word, bytes) &&
          (r.actor & asynchronous_actor) == 0 && !grid_.reports.wants(check::same_value))
        return;
      report(a, p, word, r, lane);
      return;
    }
  };
  meets(c.write);
  if (mine.write == 0) {
    if (c.more != 0)
      for (const record& r : grid_.pool.at(c.more))
        if (r.write != 0) meets(r);
    note_read(c.read, c.more, mine, p, false);
    return;
  }
  meets(c.read);
  if (c.more != 0) {
    record_pool::list& more = grid_.pool.at(c.more);
    for (const record& r : more) meets(r);
    // Accesses before this write need not be remembered with it.
    bool any = false;
    for (record& r : more) {
      if ((r.bytes & ~u32{bytes} & 15u) == 0) r = {};
      any = any || r.time != 0;
    }
    if (!any) grid_.pool.release(c.more);
  }
  if ((c.write.bytes & ~u32{bytes} & 15u) != 0 && !is_past(c.write, p)) {
    if (c.more == 0) c.more = grid_.pool.allocate();
    record_pool::list& more = grid_.pool.at(c.more);
    if (more.size() >= most_records) more.erase(more.begin());
    more.push_back(c.write);
  }
  c.write = mine;
  if ((c.read.bytes & ~u32{bytes} & 15u) == 0) c.read = {};
}

// ---- values ----

// True if the store writes the value that is already there.
bool race_check::same_value(const access_view& a, const piece& p, u64 word, u8 bytes) const {
  if (a.i.op != operation::st) return false;
  const auto lane = static_cast<unsigned>(std::countr_zero(a.what.lanes));
  const u32 element = ptx::size_of(a.i.type);
  // Compares each byte of the word with the register that it comes from.
  for (u32 k = 0; k < 4; ++k) {
    if ((bytes >> k & 1) == 0) continue;
    const u64 at = word * 4 + k - a.offset;
    const std::byte* const row = a.by.file + a.i.to[at / element];
    const u32 width = element == 16 ? 16 : a.i.to_bytes;
    if (row[lane * width + at % element] != p.data[word * 4 + k]) return false;
  }
  return true;
}

// Finds lanes of one instruction that write different values to one place.
void race_check::check_same_place(warp& w, const instruction& i, u32 mask, u32 bytes, const piece& p,
                                  const std::byte* const (&at)[warp_lanes]) {
  if (i.op != operation::st || i.order != memory_order::weak) return;
  // Usually the addresses rise from lane to lane.
  const std::byte* last = nullptr;
  bool rising = true;
  for_lanes(mask, [&](unsigned lane) {
    rising = rising && (last == nullptr || at[lane] >= last + bytes);
    last = at[lane];
  });
  if (rising) return;
  std::array<unsigned, warp_lanes> lanes{};
  unsigned count = 0;
  for_lanes(mask, [&](unsigned lane) { lanes[count++] = lane; });
  std::sort(lanes.begin(), lanes.begin() + count,
            [&](unsigned a, unsigned b) { return at[a] != at[b] ? at[a] < at[b] : a < b; });
  const u32 element = ptx::size_of(i.type);
  const u32 width = element == 16 ? 16 : i.to_bytes;
  for (unsigned k = 1; k < count; ++k) {
    const unsigned one = lanes[k - 1], other = lanes[k];
    if (at[one] != at[other]) continue;
    bool same = true;
    for (u32 e = 0; e < i.count; ++e) {
      const std::byte* const row = w.file + i.to[e];
      same = same && std::memcmp(row + one * width, row + other * width, element) == 0;
    }
    if (same && !grid_.reports.wants(check::same_value)) continue;
    access_view a{w, i, {}, access_kind::write};
    record r;
    r.time = grid_.order.now;
    r.actor = block_.actor_of(w);
    r.lanes = 1u << one;
    r.pc = static_cast<u32>(&i - w.code) & pc_mask;
    r.write = 1;
    a.what = r;
    a.what.lanes = 1u << other;
    a.offset = static_cast<u64>(at[other] - p.data);
    report(a, p, static_cast<u64>(at[other] - p.data) / 4, r, other);
    return;
  }
}

// ---- reports ----

void race_check::describe_other(const record& r, unsigned lane, fault_report& report) const {
  const grid& g = block_.of.launched;
  u32 actor = r.actor;
  if ((actor & asynchronous_actor) != 0) {
    actor &= ~asynchronous_actor;
    if ((actor & single_operation) != 0) {
      const auto found = grid_.issuers.find(actor);
      actor = found == grid_.issuers.end() ? 0 : found->second;
    } else {
      actor /= 4;
    }
  }
  const instruction& i = g.kernel.code[r.pc];
  other_access& o = report.other;
  o.ptx_line = i.line;
  o.ptx_text = std::string(text_of(block_.of.launched, i));
  if (const source_place from = source_of(g, i); !from.file.empty()) {
    o.file = from.file;
    o.line = from.line;
  }
  o.block = grid_.blocks[block_.block_of(actor)].index;
  o.warp = actor % block_.warps;
  o.lane = lane;
  o.thread = thread_of(g, o.warp, lane);
  o.access = r.how() == strength::atomic ? access_kind::atomic
             : r.write != 0              ? access_kind::write
                                         : access_kind::read;
  o.how = how_of(r, grid_.of_kaio);
}

// The advice for two accesses that a barrier of the block, or of the warp, would order.
std::string race_check::advice_of_barrier(const race_row& row, const instruction& from, const instruction& to,
                                          bool both_write) const {
  if (!grid_.of_kaio)
    return row.within_warp
               ? "the lanes of a warp run independently: put bar.warp.sync (__syncwarp) between the accesses"
               : "put a barrier (bar.sync, __syncthreads) that both threads take part in between the accesses";
  const std::string_view barrier = row.within_warp ? "sync_warp(t)" : "t.barrier()";
  const std::string_view who = row.within_warp ? "the lanes of a warp run independently: " : "";
  // A barrier between the two is there: what one turn of a loop does last races with what the next one does first.
  if (row.first != row.second && !row.within_warp &&
      std::any_of(&from + 1, &to, [](const instruction& i) { return i.op == operation::bar_sync; }))
    return fmt::format("one turn of a loop races with the next one: put {} after {}, at the end of the turn",
                       barrier, grid_.place_of(to));
  if (row.first != row.second)
    return fmt::format("{}put {} between {} and {}, where all threads of the {} pass", who, barrier,
                       grid_.place_of(from), grid_.place_of(to), row.within_warp ? "warp" : "block");
  if (both_write) return fmt::format("end each turn of the loop with {}, or let one thread write", barrier);
  return fmt::format(
      "the statement reads what another thread writes in it: end each turn of its loop with {}; if threads race within a turn, read into a val first and call {} before the write too",
      barrier, barrier);
}

void race_check::report(const access_view& a, const piece& p, u64 word, const record& r, unsigned lane) {
  const bool asynchronous = ((r.actor | a.what.actor) & asynchronous_actor) != 0;
  const check what = asynchronous ? check::async : check::races;
  if (!grid_.reports.wants(what)) return;
  const bool same_instruction =
      !asynchronous && r.pc == a.what.pc && r.time == a.what.time && r.actor == a.what.actor;
  const reach far = asynchronous ? reach::block : block_.distance(block_.block_of(r.actor));
  // A barrier of the block would end it.
  const bool held = !asynchronous && !same_instruction && far == reach::block;
  grid_.early.drop(p.data + word * 4);
  const instruction* from = &a.i;
  const instruction* to = &a.i;
  race_row row;
  if (held) {
    (r.pc < a.what.pc ? from : to) = a.by.code + r.pc;
    row = {r.actor == a.what.actor, grid_.statement_of(from->line), grid_.statement_of(to->line)};
  }
  if (held ? grid_.reports.count(row, a.i.line) : !grid_.reports.is_new(what, a.i.line)) return;
  fault_report report;
  report.kind = asynchronous ? fault_kind::asynchronous : fault_kind::race;
  identify(a.by, a.i, lane, report);
  // A lane of the other side that this one does not know of.
  unsigned other_lane = static_cast<unsigned>(std::countr_zero(r.lanes));
  for_lanes(r.lanes, [&](unsigned l) {
    record one = r;
    one.lanes = 1u << l;
    if (!order_.follows(a.by, lane, one)) other_lane = l;
  });
  describe_other(r, other_lane, report);
  const bool both_write = a.what.write && r.write;
  const u32 element = ptx::size_of(a.i.type);
  const u32 bytes = element == 0 ? 4 : element * a.i.count;
  const u8 of_word = bytes < 4 ? static_cast<u8>(((1u << bytes) - 1) << a.offset % 4) : u8{0xf};
  const bool same =
      a.kind == access_kind::write && r.write && !same_instruction && same_value(a, p, word, of_word);
  const bool both_strong = r.how() != strength::weak && a.what.how() != strength::weak;
  if (asynchronous) {
    const bool mine = (a.what.actor & asynchronous_actor) != 0;
    report.detail = fmt::format("{} while an asynchronous operation {} it",
                                mine           ? "an asynchronous operation is started on memory"
                                : a.what.write ? "a thread writes memory"
                                               : "a thread reads memory",
                                r.write ? "may still be writing" : "may still be reading");
    if (mine && (r.actor & asynchronous_actor) == 0)
      report.detail = fmt::format("an asynchronous operation {} memory that a thread {} without order",
                                  a.what.write ? "writes" : "reads", r.write ? "wrote" : "reads");
    report.advice = fmt::format(
        "wait for the operation first ({}, or a wait for its phase of the mbarrier), and let the other threads that use the memory meet the one that waited at {}",
        grid_.say("cp_async_wait_group<N>(t), bulk_wait_group<N>(t), wgmma_wait<N>(t)",
                  "cp.async.wait_group, cp.async.bulk.wait_group, wgmma.wait_group"),
        grid_.say("t.barrier()", "a barrier"));
  } else if (same_instruction) {
    report.detail = "a race: lanes of one instruction write different values to one place";
    report.advice = fmt::format("let one lane write, or use an atomic operation{}",
                                grid_.say(", such as atomic_add(x[i], value)", ""));
  } else {
    const auto name = [](bool atomic, bool write) {
      return atomic ? "an atomic operation" : write ? "a write" : "a read";
    };
    const bool mine_atomic = a.what.how() == strength::atomic, other_atomic = r.how() == strength::atomic;
    const std::string_view other = mine_atomic && other_atomic ? "another one"
                                   : both_write && !other_atomic && !mine_atomic
                                       ? "another write"
                                       : name(other_atomic, r.write != 0);
    report.detail =
        fmt::format("a race in {} memory: {} and {} that nothing orders{}",
                    p.space == state_space::shared ? "shared" : "global",
                    name(mine_atomic, a.what.write != 0), other, same ? "; both write the same value" : "");
    if (both_strong) {
      report.detail += ", as their scopes do not reach each other";
      report.advice = fmt::format("use {} on both sides",
                                  far == reach::device ? grid_.say("scope::device", "scope .gpu")
                                                       : grid_.say("scope::cluster", "scope .cluster"));
    } else if (far == reach::device) {
      report.advice = fmt::format(
          "blocks are ordered by nothing but memory: let the one side write, {} and set a flag by an atomic or a release, and the other acquire the flag (with a fence after a relaxed read); or use atomics, {}two kernels",
          grid_.say("fence(t, order::acq_rel, scope::device)", "fence at scope .gpu"),
          grid_.say("grid_barrier(t, state), or ", "or "));
    } else if (far == reach::cluster) {
      report.advice = fmt::format("put {} between them, or an mbarrier or a flag with {}",
                                  grid_.say("cluster_barrier(t)", "barrier.cluster.arrive and .wait"),
                                  grid_.say("scope::cluster", "scope .cluster"));
    } else {
      report.advice = advice_of_barrier(row, *from, *to, both_write);
    }
  }
  block_.describe_place(p, bytes < 4 ? a.offset : word * 4, bytes, a.kind, report);
  if (!held) {
    grid_.reports.report(what, std::move(report));
    return;
  }
  const auto side = [&](const instruction& i) {
    const access_kind kind = &i == &a.i ? a.kind : report.other.access;
    return fmt::format("the {} at {}",
                       kind == access_kind::read    ? "read"
                       : kind == access_kind::write ? "write"
                                                    : "atomic operation",
                       grid_.place_of(i));
  };
  std::string sides = fmt::format("{} and {}", side(*from), side(*to));
  grid_.reports.hold(
      row, {std::min(r.pc, a.what.pc), std::max(r.pc, a.what.pc), std::move(sides), std::move(report)});
}

}  // namespace kaio::emulator::sanitizing
