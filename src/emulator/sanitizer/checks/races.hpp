#pragma once
// Finds races: two accesses to a byte, at least one of them a write, that nothing orders. Strong accesses
// whose scopes reach each other do not race, in any order (PTX ISA, "Memory Consistency Model"). The shadow
// memory (state/shadow.hpp) has the last write of each word and the reads since. A new access must follow the
// accesses that it conflicts with (order.hpp).
//
// If a half warp accesses a whole line, lane after lane, this is checked as one access (lines.cpp) and is
// nearly always ordered. If it is not, or an access covers a part of a line, each word is checked separately
// (races.cpp).

#include "emulator/sanitizer/checks/order.hpp"
#include "emulator/sanitizer/state/watched.hpp"

namespace kaio::emulator::sanitizing {

// An access to a word by lanes that do it together.
struct access_view {
  warp& by;
  const instruction& i;
  record what;
  access_kind kind;
  u64 offset = 0;  // within the piece
};

class race_check {
 public:
  race_check(watched_block& b, happens_before& order) : grid_(b.grid), block_(b), order_(order) {}

  // The lanes of `mask` access this piece.
  void access(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind, const piece& p,
              const std::byte* const (&at)[warp_lanes]);
  // One access to some bytes of a word; bit k: byte k.
  void visit_cell(const access_view& a, const piece& p, u64 word, u8 bytes);
  record last_write(const piece& p, u64 word);
  // Fills in the other side of a report: the thread that made this record, and its place.
  void describe_other(const record& r, unsigned lane, fault_report& report) const;

 private:
  // ---- races.cpp ----
  void check_same_place(warp& w, const instruction& i, u32 mask, u32 bytes, const piece& p,
                        const std::byte* const (&at)[warp_lanes]);
  void visit(const access_view& a, const piece& p, u64 offset, u32 bytes);
  void note_read(record& first, u32& more, const record& mine, const piece& p, bool of_line);
  // True if every actor that may access the memory knows of it.
  bool is_past(const record& r, const piece& p) const {
    return r.time <= p.origin ||
           (r.time <= order_.floor() && p.home == &block_ && r.actor - block_.first_actor < block_.warps);
  }
  bool same_value(const access_view& a, const piece& p, u64 word, u8 bytes) const;
  std::string advice_of_barrier(const race_row& row, const instruction& from, const instruction& to,
                                bool both_write) const;
  void report(const access_view& a, const piece& p, u64 word, const record& r, unsigned lane);

  // ---- lines.cpp ----
  u32 visit_lines(access_view a, u32 mask, u32 bytes, const piece& p,
                  const std::byte* const (&at)[warp_lanes]);
  bool visit_line(const access_view& a, const piece& p, u64 number);
  bool line_follows(const access_view& a, const piece& p, const record& r);
  line& line_at(const piece& p, u64 number);
  cell& cell_at(const piece& p, u64 word);
  void split(line& l);

  watched_grid& grid_;
  watched_block& block_;
  happens_before& order_;
};

}  // namespace kaio::emulator::sanitizing
