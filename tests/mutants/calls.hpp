#pragma once
// Mutants of the kernels that calls of operations launch, on an emulated device. Before each launch of a
// kernel, the mutants that this launch reaches (reached.hpp) run on the memory that the kernel is about to
// run on. A mutant is killed if it leaves other contents in any buffer, or by a report of the sanitizer. The
// calls are those of the operation's own tests, which compare what the kernel itself computes.
//
//   mutants_of_calls mutants({{"attention_backward_mma_", 40}}, without_effect);
//   mutants.on("sm_80", [] { check_backward<f16>({}); });
//   const tally found = mutants.result();

#include "mutants/killing.hpp"
#include "mutants/reached.hpp"
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
  struct survivor {
    mutation fault;
    std::size_t launches = 0;  // that came to it
  };
  std::vector<survivor> alive;
  std::size_t count, launches = 0;
  double seconds = 0;
};

// Runs the launch with another text. Returns its number of warp instructions, or nothing if it does not end.
inline std::optional<u64> run_as(const emulator::launch& original, emulator::memory& global,
                                 std::string_view text, const emulator::schedule& order, u64 limit,
                                 std::vector<emulator::grid_observer*> observers) {
  try {
    const emulator::module mod = emulator::parse_module(text, emulator::architecture{});
    std::atomic<u64> executed{0};
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
    l.threads = 1;
    l.observers = std::move(observers);
    emulator::run(l, global);
    return executed.load();
  } catch (const emulator::fault&) {
    return {};
  } catch (const emulator::ptx_error&) {
    return {};
  }
}
// `run_as` under the sanitizer.
inline std::optional<u64> run_sanitized(const emulator::launch& original, emulator::memory& global,
                                        std::string_view text, const emulator::schedule& order, u64 limit) {
  emulator::sanitizer checks{emulator::sanitizer_options{}};
  return run_as(original, global, text, order, limit, {&checks});
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
      for (const auto& one : kernel.alive)
        found.add(*kernel.image, one.fault, false, std::to_string(one.launches) + " launches came to it");
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
  static constexpr std::size_t most_sanitized_launches = 12;

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
      std::vector<detail::kernel_mutants::survivor> all;
      for (mutation& m : sample_of(*l.image, text, watched->sample, without_effect_))
        all.push_back({std::move(m)});
      const std::size_t count = all.size();
      found = kernels_.emplace(name, detail::kernel_mutants{l.image, std::move(text), std::move(all), count})
                  .first;
    }
    detail::kernel_mutants& kernel = found->second;
    ++kernel.launches;
    if (kernel.alive.empty()) return;
    const detail::saved_memory before(global);
    reached_lines reached(kernel.text);
    const auto executed = detail::run_as(l, global, kernel.text, {}, u64{1} << 30, {&reached});
    INFO(name);
    REQUIRE(executed.has_value());
    const detail::saved_memory right(global);
    // A run that takes much longer counts as one that does not end.
    const u64 limit = 2 * *executed + 10000;
    bool is_clean = false;  // the kernel itself, which is asked as soon as the sanitizer's word counts
    const auto dies_sanitized = [&](const std::string& faulty, const emulator::schedule& order) {
      before.restore();
      if (!is_clean) {
        REQUIRE(detail::run_sanitized(l, global, kernel.text, {}, limit).has_value());
        before.restore();
        is_clean = true;
      }
      return !detail::run_sanitized(l, global, faulty, order, limit) || !right.equals_current();
    };
    std::erase_if(kernel.alive, [&](detail::kernel_mutants::survivor& one) {
      if (!reached.by(one.fault)) return false;
      ++one.launches;
      const std::string faulty = mutated(kernel.text, one.fault);
      before.restore();
      if (!detail::run_as(l, global, faulty, {}, limit, {}) || !right.equals_current()) return true;
      // A wait that many launches can do without will not be missed by the next one.
      if (one.launches > most_sanitized_launches) return false;
      bool dead = dies_sanitized(faulty, {});
      if (one.fault.kind == fault_of::order && one.launches <= 2)
        for (std::size_t o = 1; o < std::size(orders) && !dead; ++o) dead = dies_sanitized(faulty, orders[o]);
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
