#include "emulator/run/fingerprint.hpp"

#include <cstddef>
#include <cstring>
#include <span>

namespace kaio::emulator {
namespace {

struct mixer {
  u64 state = 0x9e3779b97f4a7c15ull;
  void add(u64 value) {
    state = (state ^ value) * 0xff51afd7ed558ccdull;
    state ^= state >> 32;
  }
};

}  // namespace

u64 fingerprint(const block& b) {
  mixer m;
  const std::span<const std::byte> files = b.register_files();
  for (std::size_t at = 0; at < files.size(); at += sizeof(u64)) {
    u64 word;
    std::memcpy(&word, files.data() + at, sizeof word);
    m.add(word);
  }
  for (const warp& w : b.warps) {
    m.add(u64{w.live} << 32 | w.active);
    m.add(u64{w.pc} << 32 | w.limit);
    m.add(u64{w.parked} << 1 | (w.rotate ? 1 : 0));
    m.add(u64{w.cluster_arrived} << 32 | w.cluster_owed);
    for (const call_stack& c : w.calls)
      for (const call_stack::frame& f : c.frames) m.add(f.base << 32 | f.return_pc);
    for (u32 k = 0; k < w.parked; ++k) {
      const lane_group& f = w.lane_groups[k];
      m.add(u64{f.lanes} << 32 | f.pc);
      m.add(u64{f.key} << 8 | static_cast<u64>(f.reason));
    }
  }
  for (const barrier& at : b.barriers) {
    if (!at.open) continue;
    m.add(u64{at.arrivals} << 32 | at.true_count);
    for (const u32 lanes : at.arrived) m.add(lanes);
  }
  return m.state;
}

u64 fingerprint(const cluster& c) {
  u64 state = c.async.fingerprint();
  for (const auto& b : c.blocks) state = state * 0x9e3779b97f4a7c15ull + fingerprint(*b);
  return state;
}

}  // namespace kaio::emulator
