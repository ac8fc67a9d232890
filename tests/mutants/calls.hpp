#pragma once
// Mutants of the kernels that calls of operations launch, on an emulated device: at each launch of a kernel its mutants
// run first, on the memory that the kernel is about to run on, under the sanitizer. A mutant is killed by a report, or
// where it leaves other contents in any buffer. The calls are those of the operation's own tests, which compare what
// the kernel itself computes.
//
//   mutants_of_calls mutants({{"attention_backward_mma_", 40}}, without_effect);
//   mutants.on("sm_80", [] { check_backward<f16>({}); });
//   const tally found = mutants.result();

#include "mutants/killing.hpp"
#include "mutants/run.hpp"
#include "runtime/emulator/launch_watch.hpp"
#include "tests/ops/support.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::tests::mutants {

// Kernels whose names begin so, and how many mutants of each are drawn.
struct watched_kernels {
  std::string_view names;
  std::size_t sample;
};

namespace detail {

// The contents of all buffers at one moment.
class saved_memory {
 public:
  explicit saved_memory(const emulator::memory& global) : buffers_(global.snapshot()) {
    for (const emulator::region& r : buffers_->regions) contents_.emplace_back(r.data, r.data + r.bytes);
  }
  bool equals_current() const {
    for (std::size_t i = 0; i < contents_.size(); ++i)
      if (std::memcmp(contents_[i].data(), buffers_->regions[i].data, contents_[i].size()) != 0) return false;
    return true;
  }
  void restore() const {
    for (std::size_t i = 0; i < contents_.size(); ++i)
      std::memcpy(buffers_->regions[i].data, contents_[i].data(), contents_[i].size());
  }

 private:
  std::shared_ptr<const emulator::memory_snapshot> buffers_;
  std::vector<std::vector<std::byte>> contents_;
};

// One kernel and those of its mutants that no launch has killed yet.
struct kernel_mutants {
  const ptx::kernel_image* image;
  std::string text;
  std::vector<mutation> alive;
  std::size_t count, launches = 0;
  double seconds = 0;
};

// Whether the launch runs to its end with another text; how many instructions of warps that took.
inline std::optional<u64> run_as(const emulator::launch& original, emulator::memory& global,
                                 std::string_view text, const emulator::schedule& order, u64 limit) {
  try {
    const emulator::module mod = emulator::parse_module(text, emulator::architecture{});
    std::atomic<u64> executed{0};
    emulator::sanitizer checks{emulator::sanitizer_options{}};
    emulator::launch l;
    l.mod = &mod;
    l.kernel = mod.find(original.image->name);
    l.grid = original.grid;
    l.block = original.block;
    l.parameters = original.parameters;
    l.dynamic_shared = original.dynamic_shared;
    l.cooperative = original.cooperative;
    l.cluster = original.cluster;
    l.image = original.image;
    l.order = order;
    l.instruction_limit = limit;
    l.executed = &executed;
    l.observers.push_back(&checks);
    emulator::run(l, global);
    return executed.load();
  } catch (const emulator::fault&) {
    return {};
  } catch (const emulator::ptx_error&) {
    return {};
  }
}

}  // namespace detail

class mutants_of_calls {
 public:
  mutants_of_calls(std::vector<watched_kernels> watched, std::span<const harmless_statement> without_effect)
      : watched_(std::move(watched)), without_effect_(without_effect) {
    runtime::watch_launches([this](const emulator::launch& l, emulator::memory& global) { at(l, global); });
  }
  mutants_of_calls(const mutants_of_calls&) = delete;
  mutants_of_calls& operator=(const mutants_of_calls&) = delete;
  ~mutants_of_calls() { runtime::watch_launches({}); }

  // The calls on an emulated device of the architecture.
  template <class Calls>
  void on(const char* architecture, const Calls& calls) {
    setenv("KAIO_DEVICE", "emulator", 1);
    setenv("KAIO_EMULATOR_ARCH", architecture, 1);
    under_test() = device::open("emulator");
    calls();
  }

  // Prints the survivors, and a line for each kernel.
  tally result() const {
    tally all;
    for (const auto& [name, kernel] : kernels_) {
      tally found{kernel.count - kernel.alive.size(), kernel.count - kernel.alive.size()};
      for (const mutation& m : kernel.alive) found.add(*kernel.image, m, false);
      std::cout << name << ": " << found.killed << " of " << found.count << " mutants, " << kernel.launches
                << " launches, " << kernel.seconds << " s\n";
      all += found;
    }
    for (const watched_kernels& one : watched_) {
      INFO(one.names);
      CHECK(std::any_of(kernels_.begin(), kernels_.end(),
                        [&](const auto& kernel) { return kernel.first.starts_with(one.names); }));
    }
    return all;
  }

 private:
  void at(const emulator::launch& l, emulator::memory& global) {
    const std::string name(l.image->name);
    const auto watched = std::find_if(watched_.begin(), watched_.end(), [&](const watched_kernels& one) {
      return name.starts_with(one.names);
    });
    if (watched == watched_.end()) return;
    const auto begin = std::chrono::steady_clock::now();
    auto found = kernels_.find(name);
    if (found == kernels_.end()) {
      std::string text = text_of(*l.image);
      auto sample = sample_of(*l.image, text, watched->sample, without_effect_);
      const std::size_t count = sample.size();
      found =
          kernels_.emplace(name, detail::kernel_mutants{l.image, std::move(text), std::move(sample), count})
              .first;
    }
    detail::kernel_mutants& kernel = found->second;
    ++kernel.launches;
    if (kernel.alive.empty()) return;
    const detail::saved_memory before(global);
    const auto executed = detail::run_as(l, global, kernel.text, {}, u64{1} << 30);
    INFO(name);
    REQUIRE(executed.has_value());
    const detail::saved_memory right(global);
    const auto differs = [&](const mutation& m, const emulator::schedule& order) {
      before.restore();
      // What runs for much longer does not end.
      return !detail::run_as(l, global, mutated(kernel.text, m), order, 2 * *executed + 10000) ||
             !right.equals_current();
    };
    std::erase_if(kernel.alive, [&](const mutation& m) {
      bool dead = differs(m, {});
      // Of the first launches, where the order is at fault, in other orders too.
      if (m.kind == fault_of::order && kernel.launches <= 2)
        for (std::size_t o = 1; o < std::size(orders) && !dead; ++o) dead = differs(m, orders[o]);
      return dead;
    });
    before.restore();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    kernel.seconds += seconds.count();
  }

  std::vector<watched_kernels> watched_;
  std::span<const harmless_statement> without_effect_;
  std::map<std::string, detail::kernel_mutants> kernels_;
};

}  // namespace kaio::tests::mutants
