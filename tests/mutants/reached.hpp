#pragma once
// Finds the mutants that a launch comes to: in it their faulty instruction would do something else than the right
// one. Any other mutant runs as the kernel itself, so nobody need run it.
//
//   reached_lines reached(text);
//   l.observers.push_back(&reached);
//   emulator::run(l, global);
//   if (reached.by(m)) ... // run the mutant on the same launch

#include "emulator/machine/block.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/program/program.hpp"
#include "mutants/mutation.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace kaio::tests::mutants {

class reached_lines final : public emulator::grid_observer {
 public:
  explicit reached_lines(std::string_view text)
      : lines_(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 2) {}

  std::unique_ptr<emulator::observer> watch(emulator::block&) override {
    return std::make_unique<watcher>(lines_);
  }

  // Whether the launch has come to a fault. Order and addresses: it executed the instruction. A guard: the guard kept
  // a lane from it. A comparison: the operands were equal.
  bool by(const mutation& m) const {
    const unsigned seen = lines_.at(m.line).load(std::memory_order_relaxed);
    switch (m.kind) {
      case fault_of::guard: return (seen & guarded) != 0;
      case fault_of::comparison: return (seen & equal) != 0;
      default: return (seen & executed) != 0;
    }
  }

 private:
  static constexpr unsigned executed = 1, guarded = 2, equal = 4;
  using seen_of_lines = std::vector<std::atomic<unsigned>>;

  class watcher final : public emulator::observer {
   public:
    explicit watcher(seen_of_lines& lines) : lines_(lines) {}
    void before(emulator::warp& w, const emulator::instruction& i, emulator::u32 mask) override {
      if (i.line >= lines_.size()) return;
      std::atomic<unsigned>& line = lines_[i.line];
      unsigned seen = line.load(std::memory_order_relaxed);
      const unsigned before = seen;
      if (mask != 0) seen |= executed;
      if (mask != w.active) seen |= guarded;
      if ((seen & equal) == 0 && i.op == emulator::operation::setp && has_equal_operands(w, i, mask))
        seen |= equal;
      if (seen != before) line.fetch_or(seen, std::memory_order_relaxed);
    }

   private:
    template <class T>
    static bool are_equal(const emulator::warp& w, const emulator::instruction& i, emulator::u32 mask) {
      bool any = false;
      emulator::for_lanes(mask, [&](unsigned lane) {
        any = any || emulator::get<T>(w.file + i.from[0], lane) == emulator::get<T>(w.file + i.from[1], lane);
      });
      return any;
    }
    static bool has_equal_operands(const emulator::warp& w, const emulator::instruction& i,
                                   emulator::u32 mask) {
      switch (i.type) {
        case ptx::type::u32:
        case ptx::type::s32: return are_equal<emulator::u32>(w, i, mask);
        case ptx::type::u64:
        case ptx::type::s64: return are_equal<emulator::u64>(w, i, mask);
        default: return true;
      }
    }

    seen_of_lines& lines_;
  };

  seen_of_lines lines_;
};

}  // namespace kaio::tests::mutants
