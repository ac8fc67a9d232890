#include "emulator/machine/block.hpp"

#include "emulator/machine/special_registers.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace kaio::emulator {
namespace {

constexpr std::size_t file_alignment = 64;

}  // namespace

void block::free_file::operator()(std::byte* p) const {
  ::operator delete(p, std::align_val_t{file_alignment});
}

block::block(const grid& g, cluster& within, u32 rank_of_block)
    : launched(g), group(within), rank(rank_of_block) {
  file_stride_ = (g.initial_file.size() + file_alignment - 1) / file_alignment * file_alignment;
  const std::size_t bytes = file_stride_ * g.warps();
  files_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{file_alignment})));
  // `start` fills a warp's file; the fingerprint of a state also reads what is after it.
  const std::size_t used = g.initial_file.size();
  for (u32 i = 0; i < g.warps(); ++i)
    std::memset(files_.get() + i * file_stride_ + used, 0, file_stride_ - used);
  warps.resize(g.warps());
  shared.resize(g.reads_reserved_offset() ? g.reserved_offset() + grid::reserved_bytes : g.shared_bytes);
  local = zeroed_bytes(std::size_t{g.kernel.local_bytes} * g.warps() * warp_lanes);
  site_regions.resize(g.kernel.sites, nullptr);
  for (grid_observer* o : g.observers)
    if (std::unique_ptr<observer> own = o->watch(*this)) observers.push_back(std::move(own));
}

void block::start(const ptx::dim3& at) {
  index = at;
  executed = 0;
  finished = false;
  // A barrier that completed is already in its start state.
  for (barrier& b : barriers)
    if (b.open) b = {};
  std::fill(shared.begin(), shared.end(), std::byte{0});
  local.clear();
  const u64 threads = launched.threads.count();
  for (u32 i = 0; i < warps.size(); ++i) {
    warp& w = warps[i];
    w.file = files_.get() + i * file_stride_;
    w.code = launched.kernel.code.data();
    w.owner = this;
    w.index = i;
    const u64 left = threads - u64{i} * warp_lanes;
    w.start(left >= warp_lanes ? all_lanes : (1u << left) - 1, launched.kernel.start);
    std::memcpy(w.file, launched.initial_file.data(), launched.initial_file.size());
    fill_specials(w, launched, index, rank);
  }
  for (const auto& o : observers) o->start(*this);
}

std::span<const std::byte> block::register_files() const {
  return {files_.get(), file_stride_ * warps.size()};
}

bool has_ended(const block& b) {
  return std::none_of(b.warps.begin(), b.warps.end(), [](const warp& w) { return w.live != 0; });
}

bool is_ready(const block& b) {
  return std::any_of(b.warps.begin(), b.warps.end(), [](const warp& w) { return w.live != 0 && w.ready(); });
}

}  // namespace kaio::emulator
