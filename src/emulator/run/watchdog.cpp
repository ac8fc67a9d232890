#include "emulator/run/watchdog.hpp"

#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <utility>

namespace kaio::emulator {
namespace {

std::string amount_of(const budget& b) {
  if (b.unit == budget_unit::warp_instructions)
    return fmt::format("executed more than {} warp instructions", b.limit);
  return fmt::format("took longer than {} s", static_cast<double>(b.limit) * 1e-9);
}

// The report names the warp's next instruction, or the one it waits at, or its last one.
[[noreturn]] void stop(const warp& w, fault_report report) {
  const bool parked = w.active == 0 && w.parked != 0;
  const u32 pc = parked ? w.lane_groups[0].pc : w.pc;
  const u32 lanes = parked ? w.lane_groups[0].lanes : w.active;
  const bool goes_on = w.live != 0 && (!parked || w.lane_groups[0].reason == wait_reason::none);
  raise_fault(w, w.code[goes_on || pc == 0 ? pc : pc - 1],
              lanes == 0 ? 0 : static_cast<unsigned>(std::countr_zero(lanes)), std::move(report));
}

[[noreturn]] void stop(const warp& w, const budget& b) {
  fault_report report;
  report.kind =
      b.unit == budget_unit::warp_instructions ? fault_kind::instruction_limit : fault_kind::time_limit;
  report.detail = fmt::format("{} {}, the budget that {} sets; this is where one of its warps was", b.scope,
                              amount_of(b), b.origin);
  report.advice = "look for a loop that does not end, or set a larger budget";
  stop(w, std::move(report));
}

}  // namespace

watchdog::watchdog(const grid& g, std::vector<budget> budgets, std::function<bool()> cancelled,
                   std::chrono::nanoseconds progress_after, memory_wait* wait)
    : budgets_(std::move(budgets)),
      cancelled_(std::move(cancelled)),
      line_(g.kernel.name, g.blocks.count(), progress_after),
      wait_(wait) {}

void watchdog::check(const warp& at, u64 instructions, u64 blocks) {
  const u64 done = blocks_.fetch_add(blocks, std::memory_order_relaxed) + blocks;
  const u64 executed = instructions_.fetch_add(instructions, std::memory_order_relaxed) + instructions;
  const std::chrono::nanoseconds since_begin = elapsed();
  const u64 time = static_cast<u64>(since_begin.count());
  // The threads run at the same time, so the time since any thread's last check is charged once.
  u64 charged = charged_.load(std::memory_order_relaxed);
  while (charged < time && !charged_.compare_exchange_weak(charged, time, std::memory_order_relaxed)) {
  }
  const u64 passed = charged < time ? time - charged : 0;

  const budget* exceeded = nullptr;
  for (const budget& b : budgets_) {
    const bool counted = b.unit == budget_unit::warp_instructions;
    const u64 more = counted ? instructions : passed;
    const u64 used = b.used != nullptr ? b.used->fetch_add(more, std::memory_order_relaxed) + more
                     : counted         ? executed
                                       : time;
    if (used > b.limit && exceeded == nullptr) exceeded = &b;
  }
  if (exceeded != nullptr) stop(at, *exceeded);
  if (cancelled_ && cancelled_()) {
    fault_report report;
    report.kind = fault_kind::cancelled;
    report.detail = "the launch was cancelled; this is where one of its warps was";
    stop(at, std::move(report));
  }
  line_.update(done, since_begin);
}

void work_meter::check(const warp& w) {
  work_ = 0;
  guard_.check(w, std::exchange(instructions_, 0), std::exchange(blocks_, 0));
}

}  // namespace kaio::emulator
