#include "emulator/sanitizer/watcher.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/program/module.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kaio::emulator::sanitizing {
namespace {

// The value of a pointer parameter.
u64 pointer_of(const grid& g, std::size_t parameter) {
  const layout& where = g.kernel.parameters[parameter];
  u64 value = 0;
  if (where.bytes == sizeof value) std::memcpy(&value, g.parameters.data() + where.offset, sizeof value);
  return value;
}

}  // namespace

watched::watched(const grid& g, reporter& r, causality& c, record_pool& p, line_store& s)
    : launched(g), reports(r), order(c), pool(p), store(s), uses(g.kernel), start(c.now++) {
  const bool races = r.wants(check::races) || r.wants(check::async);
  std::vector<const std::byte*> live;
  for (const region& b : g.snapshot->regions) live.push_back(b.data);
  std::sort(live.begin(), live.end());
  store.keep_only(live);
  for (const region& b : g.snapshot->regions) {
    piece p_of;
    p_of.data = b.data;
    p_of.bytes = b.bytes;
    p_of.address = b.address;
    p_of.defined = b.defined;
    p_of.lines = races ? store.lines_of(b.data, b.bytes) : nullptr;
    p_of.origin = start;
    buffers.push_back(p_of);
  }
  // A buffer that is an input and nothing else.
  if (g.image != nullptr)
    for (const bool inputs : {true, false})
      for (std::size_t i = 0; i < g.image->parameter_count && i < g.kernel.parameters.size(); ++i) {
        const ptx::access a = g.image->parameters[i].access;
        if (a == ptx::access::scalar || (a == ptx::access::in) != inputs) continue;
        const u64 at = pointer_of(g, i);
        for (piece& b : buffers)
          if (at - b.address < b.bytes) b.input = inputs ? g.kernel.parameters[i].name.c_str() : nullptr;
      }
  std::sort(buffers.begin(), buffers.end(), [](const piece& a, const piece& b) { return a.data < b.data; });
}

watcher::watcher(watched& g, block& b) : grid_(g), block_(b), warps_(b.launched.warps()) {
  const grid& launched = b.launched;
  views_.resize(warps_);
  site_pieces_.resize(std::max<std::size_t>(launched.kernel.sites, 1));
  register_count_ = launched.kernel.register_rows.size();
  registers_.resize(register_count_ * warps_);
  cluster_waiting_.resize(warps_);
  shared_.data = b.shared.data();
  shared_.bytes = b.shared.size();
  shared_.space = state_space::shared;
  shared_.home = this;
  shared_defined_.resize(b.shared.size() / 8 + 1);
  shared_.defined = shared_defined_.data();
  if (grid_.reports.wants(check::races) || grid_.reports.wants(check::async)) {
    shared_lines_ = zeroed_bytes((b.shared.size() / (words_of_a_line * 4) + 1) * sizeof(line));
    shared_.lines = reinterpret_cast<line*>(shared_lines_.data());
  }
  local_.data = b.local.data();
  local_.bytes = b.local.size();
  local_.space = state_space::local;
  local_.home = this;
  local_defined_ = zeroed_bytes(b.local.size() / 8 + 1);
  local_.defined = reinterpret_cast<u8*>(local_defined_.data());
  const auto multiplies = [](const instruction& i) { return i.op == operation::wgmma_mma; };
  if (std::any_of(launched.kernel.code.begin(), launched.kernel.code.end(), multiplies) &&
      grid_.reports.wants(check::async)) {
    matrix_fences_.resize(warps_);
    matrix_touched_.resize(register_count_ * warps_);
  }
  grid_.watchers.emplace(&b, this);
}

watcher::~watcher() { grid_.watchers.erase(&block_); }

void watcher::start(block& b) {
  if (b.rank == 0) ++grid_.clusters;
  number_ = static_cast<u32>(grid_.blocks.size());
  first_actor_ = number_ * warps_;
  grid_.blocks.push_back({b.index, grid_.clusters});
  origin_ = floor_ = grid_.order.now++;
  shared_.origin = origin_;
  known_.clear();
  std::fill(shared_defined_.begin(), shared_defined_.end(), u8{0});
  local_defined_.clear();
  std::fill(registers_.begin(), registers_.end(), 0u);
  for (u32 index = 0; index < warps_; ++index) {
    views_[index] = {};
    views_[index].actor = number_ * warps_ + index;
    views_[index].floor = floor_;
  }
  for (barrier_view& v : barriers_) v = {};
  cluster_arrivals_.clear();
  std::fill(cluster_waiting_.begin(), cluster_waiting_.end(), 0u);
  phases_.clear();
  operations_.clear();
  groups_.clear();
  multiplied_.clear();
  copied_.clear();
  copies_.clear();
  std::fill(matrix_fences_.begin(), matrix_fences_.end(), 1u);
  std::fill(matrix_touched_.begin(), matrix_touched_.end(), 1u);  // the first product needs a fence
  stores_undefined_ = false;
}

void watcher::finish(block&) {
  report_unread_at_end();
  grid_.tell_early_reads(number_);
}

void watcher::before(warp& w, const instruction& i, u32 mask) {
  if (grid_.reports.wants(check::uninitialised)) check_registers(w, i, mask);
  if (mask == 0) return;
  if (!matrix_fences_.empty()) check_matrix_registers(w, i);
  switch (i.op) {
    case operation::fence: fence(w, i, mask); break;
    case operation::proxy_fence:
      if (static_cast<proxy_form>(i.form) == proxy_form::async) fence_proxy(w, mask);
      break;
    case operation::cluster_wait: {
      const u32 open = mask & w.cluster_arrived;
      cluster_waiting_[w.index] |= open;
      if ((mask & ~open) != 0) acquire(w, mask & ~open, cluster_phase_);
      break;
    }
    default: break;
  }
}

void watcher::fence_proxy(const warp& w, u32 lanes) {
  warp_view& v = views_[w.index];
  for_lanes(lanes, [&](unsigned lane) {
    v.proxy_fenced[lane] = grid_.order.now;
    v.proxy_own[lane] = v.floor;
    v.proxy_block[lane] = floor_;
  });
}

}  // namespace kaio::emulator::sanitizing
