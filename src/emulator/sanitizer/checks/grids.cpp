#include "emulator/sanitizer/checks/grids.hpp"

#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace kaio::emulator::sanitizing {

void grid_check::access(const warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind,
                        const piece& p, const std::byte* const (&at)[warp_lanes]) {
  if (p.users == nullptr) return;
  for_lanes(mask,
            [&](unsigned lane) { visit(w, i, lane, kind, p, static_cast<u64>(at[lane] - p.data), bytes); });
}

void grid_check::issued(const async_operation& o, const async_range& range, const piece& p, u64 offset) {
  if (p.users != nullptr) visit(*o.by, *o.issued, o.lane, range.access, p, offset, range.bytes);
}

void grid_check::visit(const warp& w, const instruction& i, unsigned lane, access_kind kind, const piece& p,
                       u64 offset, u64 bytes) {
  const preceding_grids& others = grid_.preceding;
  for (u64 word = offset / 4; word * 4 < offset + bytes; ++word) {
    const u64 first = std::max(offset, word * 4), end = std::min(offset + bytes, word * 4 + 4);
    const u32 touched = ((1u << (end - first)) - 1) << (first % 4);
    word_users& users = p.users[word];
    const auto meets = [&](const word_users::user& other, std::string_view uses) {
      if ((other.bytes & touched) == 0 || !others.may_run(other.grid)) return;
      const bool has_waited = order_.knows_grids(w, lane);
      if (!has_waited || (i.flags.read_only && i.op == operation::ld))
        report(w, i, lane, kind, p, word,
               fmt::format("{}, a grid before it, {}", others.name_of(other.grid), uses), has_waited);
    };
    const auto note = [&](word_users::user& own) {
      own.bytes = (own.grid == others.present() ? own.bytes | touched : touched) & 15u;
      own.grid = others.present() & (~u32{0} >> 4);
    };
    meets(users.writer, "writes");
    if (kind != access_kind::read) meets(users.reader, "reads");
    if (kind != access_kind::write) note(users.reader);
    if (kind != access_kind::read) note(users.writer);
  }
}

void grid_check::report(const warp& w, const instruction& i, unsigned lane, access_kind kind, const piece& p,
                        u64 word, const std::string& what, bool has_waited) {
  if (!grid_.reports.wants(check::races) || !grid_.reports.is_new(check::races, i.line)) return;
  fault_report r;
  r.kind = fault_kind::race;
  identify(w, i, lane, r);
  r.detail =
      fmt::format("a race between grids: this kernel was launched programmatically, and {} what {}",
                  has_waited ? std::string("loads by ld.global.nc")
                             : fmt::format("{} before its {}", kind == access_kind::read ? "reads" : "writes",
                                           grid_.say("grid_dependency_wait(t)", "griddepcontrol.wait")),
                  what);
  r.advice =
      has_waited
          ? std::string(grid_.say(
                "call grid_dependency_wait(t) before the first use of the in<T>, which is read by ordinary loads after it",
                "load it by an ordinary ld.global: nothing orders such a load after griddepcontrol.wait, and ptxas moves it above"))
          : fmt::format(
                "call {} before, in this thread or in one that it meets at a barrier, or launch the kernel without {}",
                grid_.say("grid_dependency_wait(t)", "griddepcontrol.wait"),
                grid_.say(".programmatic()", "programmatic stream serialization"));
  const u32 element = ptx::size_of(i.type);
  block_.describe_place(p, word * 4, std::max(element, 4u), kind, r);
  grid_.reports.report(check::races, std::move(r));
}

}  // namespace kaio::emulator::sanitizing
