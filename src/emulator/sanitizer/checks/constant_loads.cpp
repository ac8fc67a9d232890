#include "emulator/sanitizer/checks/constant_loads.hpp"

#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace kaio::emulator::sanitizing {
namespace {

// A word's last access of a kind: the instruction plus one; above it the accessed bytes of the word.
constexpr u32 bytes_shift = 28;
constexpr u32 instruction_mask = (1u << bytes_shift) - 1;

bool reads_texture(const instruction& i) { return i.op == operation::tex || i.op == operation::tld4; }

}  // namespace

void constant_load_check::access(const warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind,
                                 const piece& p, const std::byte* const (&at)[warp_lanes]) {
  if (p.writes == nullptr) return;
  const bool loads = kind == access_kind::read;
  if (loads && !i.flags.read_only) return;
  for_lanes(mask,
            [&](unsigned lane) { visit(w, i, lane, p, static_cast<u64>(at[lane] - p.data), bytes, loads); });
}

void constant_load_check::issued(const async_operation& o, const async_range& range, const piece& p,
                                 u64 offset) {
  if (p.writes == nullptr || range.access == access_kind::read) return;
  visit(*o.by, *o.issued, o.lane, p, offset, range.bytes, false);
}

void constant_load_check::visit(const warp& w, const instruction& i, unsigned lane, const piece& p,
                                u64 offset, u64 bytes, bool loads) {
  const u32 mine = static_cast<u32>(&i - w.code) + 1;
  u32* const own = loads ? p.constant_loads : p.writes;
  const u32* const others = loads ? p.writes : p.constant_loads;
  for (u64 word = offset / 4; word * 4 < offset + bytes; ++word) {
    const u64 first = std::max(offset, word * 4), end = std::min(offset + bytes, word * 4 + 4);
    const u32 touched = ((1u << (end - first)) - 1) << (first % 4);
    const u32 other = others[word];
    if ((other >> bytes_shift & touched) != 0)
      report(w, i, lane, p, word, loads, w.code[(other & instruction_mask) - 1]);
    // A later write of a texel that a texture read returned changes nothing; only a read after a write does.
    if (!(loads && reads_texture(i)))
      own[word] = mine | ((own[word] >> bytes_shift | touched) << bytes_shift);
  }
}

void constant_load_check::report(const warp& w, const instruction& i, unsigned lane, const piece& p, u64 word,
                                 bool loads, const instruction& other) {
  if (!grid_.reports.is_new(check::memory, i.line)) return;
  fault_report r;
  r.kind = fault_kind::read_only;
  identify(w, i, lane, r);
  const source_place from = source_of(block_.of.launched, other);
  const std::string where = from.file.empty()
                                ? fmt::format("PTX line {}", other.line)
                                : fmt::format("PTX line {}, from {}:{},", other.line, from.file, from.line);
  if (loads && reads_texture(i)) {
    r.detail = fmt::format(
        "a thread reads through a texture what {} wrote; texture reads need not see writes of the same kernel",
        where);
    r.advice = "write to other memory, or read through a surface or by ld.global";
    block_.describe_place(p, word * 4, 4, access_kind::read, r);
    return grid_.reports.report(check::memory, std::move(r));
  }
  r.detail = loads ? fmt::format("a thread loads {} memory that {} wrote",
                                 grid_.say("through in<T>", "with ld.global.nc"), where)
                   : fmt::format("a thread writes what {} loaded {}", where,
                                 grid_.say("through in<T>", "by ld.global.nc"));
  r.detail += "; such a load is for memory that nobody writes while the kernel runs";
  r.advice =
      grid_.say("read and write the memory through one inout<T>, or let the kernel write to other memory",
                "read and write the memory by ordinary ld.global, or let the kernel write to other memory");
  const u32 element = ptx::size_of(i.type);
  block_.describe_place(p, word * 4, std::max(element, 4u), loads ? access_kind::read : access_kind::write,
                        r);
  grid_.reports.report(check::memory, std::move(r));
}

}  // namespace kaio::emulator::sanitizing
