#include "emulator/emulator.hpp"

#include "emulator/decode/decoder.hpp"
#include "emulator/instructions/interpreter.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/concurrent_observer.hpp"
#include "emulator/parse/link.hpp"
#include "emulator/parse/parser.hpp"
#include "emulator/run/scheduler.hpp"
#include "emulator/run/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

namespace kaio::emulator {
namespace {

// Shared memory of a block in bytes: the text's declarations, then the dynamic part.
u64 shared_of(const entry& k, u32 dynamic) {
  return dynamic == 0 ? k.shared_bytes : u64{k.dynamic_shared_offset} + dynamic;
}

ptx::dim3 cluster_of(const launch& l) {
  if (l.cluster.x != 0) return l.cluster;
  return l.kernel->required_cluster.x != 0 ? l.kernel->required_cluster : ptx::dim3{1, 1, 1};
}

void check(const launch& l, const architecture& device) {
  const entry& k = *l.kernel;
  const auto refuse = [&](std::string why) {
    throw launch_error(fmt::format("kaio: kernel '{}': {}", k.name, why));
  };
  const auto limit = [&](std::string_view what, u64 have, u64 most) {
    if (have > most) refuse(fmt::format("{} is {}; the device allows {}", what, have, most));
  };
  limit("block.x", l.block.x, device.block_x);
  limit("block.y", l.block.y, device.block_y);
  limit("block.z", l.block.z, device.block_z);
  limit("the number of threads of a block", l.block.count(), device.threads_per_block);
  limit("grid.x", l.grid.x, device.grid_x);
  limit("grid.y", l.grid.y, device.grid_y);
  limit("grid.z", l.grid.z, device.grid_z);
  limit("the shared memory of a block, in bytes,", shared_of(k, l.dynamic_shared), device.shared_per_block);
  if (l.parameters.size() != k.parameter_bytes)
    refuse(fmt::format("it takes {} bytes of parameters, not {}", k.parameter_bytes, l.parameters.size()));
  if (k.required_threads.x != 0 && !(l.block == k.required_threads))
    refuse(fmt::format("it is written for blocks of ({}, {}, {}) threads, not ({}, {}, {})",
                       k.required_threads.x, k.required_threads.y, k.required_threads.z, l.block.x, l.block.y,
                       l.block.z));
  if (k.maximum_threads.x != 0 && l.block.count() > k.maximum_threads.count())
    refuse(fmt::format("its blocks have at most {} threads, not {}", k.maximum_threads.count(),
                       l.block.count()));
  const ptx::dim3 cluster = cluster_of(l);
  const ptx::dim3& required = k.required_cluster;
  if (required.x != 0 && l.cluster.x != 0 && !(l.cluster == required))
    refuse(fmt::format("it is written for clusters of ({}, {}, {}) blocks, not ({}, {}, {})", required.x,
                       required.y, required.z, cluster.x, cluster.y, cluster.z));
  limit("the number of blocks of a cluster", cluster.count(), device.blocks_per_cluster);
  if (cluster.count() == 0 || l.grid.x % cluster.x != 0 || l.grid.y % cluster.y != 0 ||
      l.grid.z % cluster.z != 0)
    refuse(fmt::format("the grid of ({}, {}, {}) blocks is not made of whole clusters of ({}, {}, {})",
                       l.grid.x, l.grid.y, l.grid.z, cluster.x, cluster.y, cluster.z));
  const u64 resident = resident_blocks(k, l.block, l.dynamic_shared, device);
  if (l.cooperative && l.grid.count() > resident)
    refuse(fmt::format("its blocks must all be resident at once; the grid has {}, and the device holds {}",
                       l.grid.count(), resident));
}

// Writes the kernel's text to the standard output stream when the grid ends, also after a fault.
class printed_text {
 public:
  explicit printed_text(const std::string& text) : text_(text) {}
  ~printed_text() {
    if (text_.empty()) return;
    std::fwrite(text_.data(), 1, text_.size(), stdout);
    std::fflush(stdout);
  }
  printed_text(const printed_text&) = delete;
  printed_text& operator=(const printed_text&) = delete;

 private:
  const std::string& text_;
};

// Memory with which cooperative groups synchronise a grid: its size in bytes and a counter from zero.
class grid_workspace {
 public:
  explicit grid_workspace(memory& global) : global_(global), address_(global.allocate(bytes)) {}
  ~grid_workspace() {
    try {
      global_.free(address_);
    } catch (const memory_error&) {
      // It was freed through its address; there is nothing left to free.
    }
  }
  grid_workspace(const grid_workspace&) = delete;
  grid_workspace& operator=(const grid_workspace&) = delete;
  u64 address() const { return address_; }

 private:
  static constexpr u64 bytes = 256;
  memory& global_;
  u64 address_;
};

// Asks the launch's own wait. A grid that waits is announced to its observers, and sees memory that was allocated
// meanwhile.
class wait_of_grid final : public memory_wait {
 public:
  wait_of_grid(memory_wait& own, grid& g, const memory& global) : own_(own), grid_(g), global_(global) {}
  void begin() override { own_.begin(); }
  poll_answer wait(poll_state state, bool wrote) override {
    if (!std::exchange(announced_, true))
      for (grid_observer* o : grid_.observers)
        if (auto* concurrent = dynamic_cast<concurrent_observer*>(o)) concurrent->waits(grid_);
    const poll_answer answer = own_.wait(state, wrote);
    // An observer knows the buffers that the grid began with.
    if (grid_.observers.empty()) {
      auto now = global_.snapshot();
      if (now != grid_.snapshot) before_.push_back(std::exchange(grid_.snapshot, std::move(now)));
    }
    return answer;
  }

 private:
  memory_wait& own_;
  grid& grid_;
  const memory& global_;
  std::vector<std::shared_ptr<const memory_snapshot>> before_;  // blocks remember buffers of these
  bool announced_ = false;
};

bool uses_workspace(const entry& kernel) {
  return std::any_of(kernel.specials.begin(), kernel.specials.end(),
                     [](const special_row& row) { return row.which == special_form::grid_workspace_high; });
}

// Notifies the observers when the grid ends, also after a fault.
class watched_grid {
 public:
  explicit watched_grid(const grid& g) : grid_(g) {
    for (grid_observer* o : grid_.observers) o->begin(grid_);
  }
  ~watched_grid() {
    for (grid_observer* o : grid_.observers) o->end(grid_);
  }
  watched_grid(const watched_grid&) = delete;
  watched_grid& operator=(const watched_grid&) = delete;

 private:
  const grid& grid_;
};

}  // namespace

u64 resident_blocks(const entry& kernel, const ptx::dim3& block, u32 dynamic_shared,
                    const architecture& device) {
  const u64 warps = (block.count() + warp_lanes - 1) / warp_lanes;
  const u64 shared = shared_of(kernel, dynamic_shared) + device.shared_kept_per_block;
  u64 blocks = device.blocks_per_multiprocessor;
  if (warps != 0) blocks = std::min<u64>(blocks, device.threads_per_multiprocessor / warp_lanes / warps);
  if (shared != 0) blocks = std::min<u64>(blocks, device.shared_per_multiprocessor / shared);
  return blocks * device.multiprocessors;
}

module parse_module(std::string_view text, const architecture& device) {
  return link_modules({text}, device);
}

module link_modules(const std::vector<std::string_view>& texts, const architecture& device) {
  if (texts.empty()) throw ptx_error(1, 1, "there is no text to make a module of");
  std::string text;
  std::vector<std::size_t> starts;
  for (const std::string_view part : texts) {
    if (!text.empty()) text += '\n';
    starts.push_back(text.size());
    text += part;
  }
  std::vector<syntax::module> units;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    const std::string_view before = std::string_view(text).substr(0, starts[k]);
    const auto lines_before = static_cast<u32>(std::count(before.begin(), before.end(), '\n'));
    units.push_back(parse(std::string_view(text).substr(starts[k], texts[k].size()), {}, lines_before + 1));
  }
  std::deque<std::string> names;
  if (units.size() > 1) link_units(units, names);
  decoded_module decoded = decode(units.front(), device);
  bind(decoded);
  return module(std::move(text), device, std::move(decoded));
}

void run(const launch& l, memory& global) {
  const module& mod = *l.mod;
  const entry& kernel = *l.kernel;
  check(l, mod.device());
  if (l.grid.count() == 0 || l.block.count() == 0) return;

  std::optional<module_instance> own;
  const module_instance* instance = l.instance;
  if (instance == nullptr && !mod.decoded().variables.empty()) instance = &own.emplace(mod, global);

  if (std::none_of(l.observers.begin(), l.observers.end(),
                   [](const grid_observer* o) { return o->follows_writes(); }))
    global.assume_defined();
  static std::atomic<u64> grids{0};
  if (kernel.allocates) global.heap().prepare([&](u64 bytes) { return global.allocate(bytes); });
  const auto snapshot = global.snapshot();
  grid g{.kernel = kernel,
         .program = mod,
         .global = global,
         .snapshot = snapshot,
         .blocks = l.grid,
         .threads = l.block,
         .parameters = l.parameters,
         .constants = instance != nullptr ? instance->constants(*snapshot) : std::vector<std::byte>{},
         .initial_file = kernel.initial,
         .shared_bytes = static_cast<u32>(shared_of(kernel, l.dynamic_shared)),
         .dynamic_shared = l.dynamic_shared,
         .multiprocessors = mod.device().multiprocessors,
         .cooperative = l.cooperative,
         .cluster_blocks = cluster_of(l),
         .explicit_cluster = kernel.explicit_cluster || l.cluster.x != 0,
         .programmatic = l.programmatic,
         .order = l.order,
         .observers = l.observers,
         .executed = l.executed,
         .instruction_limit = l.instruction_limit,
         .id = ++grids,
         .image = l.image,
         .kernel_origin = l.kernel_origin};
  for (const relocation& r : kernel.relocations) {
    const u64 value = instance->address(r.variable, r.generic) + r.addend;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      std::memcpy(g.initial_file.data() + r.row + lane * sizeof value, &value, sizeof value);
  }
  std::optional<grid_workspace> workspace;
  if (l.cooperative && uses_workspace(kernel)) {
    g.workspace = workspace.emplace(global).address();
    g.snapshot = global.snapshot();
  }
  std::string text;
  const printed_text at_the_end(text);
  g.heap = &global.heap();
  g.printed = l.printed != nullptr ? l.printed : &text;
  const watched_grid watched(g);
  const bool in_turn = std::any_of(g.observers.begin(), g.observers.end(),
                                   [](const grid_observer* o) { return o->in_turn(); });
  try {
    std::optional<wait_of_grid> wait;
    if (l.wait != nullptr && may_wait(kernel)) wait.emplace(*l.wait, g, global).begin();
    watchdog guard(g, l.budgets, l.cancelled, l.progress_after, wait ? &*wait : nullptr);
    run_grid(g, in_turn ? 1 : l.threads, guard);
  } catch (const fault& f) {
    for (grid_observer* o : g.observers) o->conclude(g, f);
    throw;
  }
  for (grid_observer* o : g.observers) o->conclude(g);
}

}  // namespace kaio::emulator
