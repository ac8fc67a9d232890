// Half warps that access a whole line, and the cells for the words of other lines.

#include "emulator/machine/lanes.hpp"
#include "emulator/sanitizer/checks/races.hpp"

#include <algorithm>

namespace kaio::emulator::sanitizing {

line& race_check::line_at(const piece& p, u64 number) {
  line& l = p.lines[number];
  const u32 newest = std::max(l.write.time, l.read.time);
  if (newest > p.origin || newest == 0) return l;
  // The contents belong to an earlier owner. Lists and cells belong to this grid only if a record does.
  if (newest > grid_.start) {
    grid_.pool.release(l.more);
    grid_.pool.release_cells(l.cells);
  }
  l = {};
  return l;
}

// Gives each word of a line its own cell.
void race_check::split(line& l) {
  l.cells = grid_.pool.allocate_cells();
  record_pool::cells& cells = grid_.pool.cells_at(l.cells);
  for (u32 word = 0; word < words_of_a_line; ++word) {
    cell& c = cells[word];
    const auto of_word = [&](record r) {
      if (r.time != 0) r.lanes = pattern::lanes_of(r.lanes, word);
      return r;
    };
    c.write = of_word(l.write);
    c.read = of_word(l.read);
    if (l.more == 0) continue;
    c.more = grid_.pool.allocate();
    for (const record& r : grid_.pool.at(l.more))
      if (r.time != 0) grid_.pool.at(c.more).push_back(of_word(r));
  }
  grid_.pool.release(l.more);
  l.write = {};
  l.read = {};
}

cell& race_check::cell_at(const piece& p, u64 word) {
  line& l = line_at(p, word / words_of_a_line);
  if (l.cells == 0) split(l);
  l.read.time = grid_.order.now;
  return grid_.pool.cells_at(l.cells)[word % words_of_a_line];
}

record race_check::last_write(const piece& p, u64 word) {
  line& l = line_at(p, word / words_of_a_line);
  if (l.cells != 0) return grid_.pool.cells_at(l.cells)[word % words_of_a_line].write;
  record r = l.write;
  if (r.time != 0) r.lanes = pattern::lanes_of(r.lanes, static_cast<u32>(word % words_of_a_line));
  return r;
}

// Handles half warps that access whole lines. Returns the lanes that are done.
u32 race_check::visit_lines(access_view a, u32 mask, u32 bytes, const piece& p,
                            const std::byte* const (&at)[warp_lanes]) {
  if (bytes != 4 && bytes != 8 && bytes != 16) return 0;
  constexpr u32 half = warp_lanes / 2;
  bool whole[2] = {};
  u64 first[2] = {};
  for (u32 h = 0; h < 2; ++h) {
    if ((mask >> h * half & 0xffffu) != 0xffffu) continue;
    const std::byte* const begin = at[h * half];
    first[h] = static_cast<u64>(begin - p.data);
    u64 apart = first[h] % (words_of_a_line * 4);
    for (u32 lane = 1; lane < half; ++lane)
      apart |= static_cast<u64>(at[h * half + lane] - begin) ^ u64 { lane } * bytes;
    whole[h] = apart == 0;
  }
  const u32 shift = bytes == 4 ? 0u : bytes == 8 ? 1u : 2u;
  const u32 lines = bytes / 4, lanes_of_a_line = words_of_a_line >> shift;
  const bool both = whole[0] && whole[1] && first[0] == first[1];
  if (both && a.what.write != 0) return 0;
  u32 done = 0;
  a.what.bytes = 15;
  for (u32 h = 0; h < 2; ++h) {
    if (!whole[h] || (both && h == 1)) continue;
    const u64 number = first[h] / (words_of_a_line * 4);
    for (u32 k = 0; k < lines; ++k) {
      a.what.lanes = pattern{h * half + k * lanes_of_a_line, shift, both}.encoded();
      if (!visit_line(a, p, number + k)) continue;
      const u32 lanes = ((1u << lanes_of_a_line) - 1) << (h * half + k * lanes_of_a_line);
      done |= both ? lanes | lanes << half : lanes;
    }
  }
  return done;
}

// True if the access of the line's record came before this access.
bool race_check::line_follows(const access_view& a, const piece& p, const record& r) {
  if (r.time == 0 || is_past(r, p)) return true;
  if (r.actor == a.what.actor) {
    if (r.time <= order_.floor_of(a.by)) return true;
    if (r.lanes == a.what.lanes && (r.lanes >> 16 & 1) == 0) return true;  // each lane follows its own access
  }
  record of_word = r;
  for (u32 word = 0; word < words_of_a_line; ++word) {
    of_word.lanes = pattern::lanes_of(r.lanes, word);
    bool all = true;
    for_lanes(pattern::lanes_of(a.what.lanes, word),
              [&](unsigned lane) { all = all && order_.follows(a.by, lane, of_word); });
    if (!all) return false;
  }
  return true;
}

// False if each word must be checked separately.
bool race_check::visit_line(const access_view& a, const piece& p, u64 number) {
  line& l = line_at(p, number);
  if (l.cells != 0 || !line_follows(a, p, l.write)) return false;
  if (a.what.write == 0) {
    note_read(l.read, l.more, a.what, p, true);
    return true;
  }
  if (!line_follows(a, p, l.read)) return false;
  if (l.more != 0) {
    for (const record& r : grid_.pool.at(l.more))
      if (!line_follows(a, p, r)) return false;
    grid_.pool.release(l.more);
  }
  l.write = a.what;
  l.read = {};
  return true;
}

}  // namespace kaio::emulator::sanitizing
