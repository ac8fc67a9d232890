// The execution of streams' work.

#include "driver_emulator/state/copies.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/streams.hpp"
#include "runtime/emulator/environment.hpp"

#include <cstdio>
#include <cstring>
#include <new>

namespace kaio::driver_emulator {
namespace {

CUresult result_of(emulator::fault_kind kind) {
  using enum emulator::fault_kind;
  switch (kind) {
    case out_of_bounds:
    case use_after_free:
    case read_only: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case misaligned: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case device_assert: return CUDA_ERROR_ASSERT;
    case deadlock:
    case instruction_limit:
    case time_limit: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case stack_overflow: return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case invalid_pc: return CUDA_ERROR_INVALID_PC;
    case barrier:
    case mbarrier:
    case bulk_copy: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    default: return CUDA_ERROR_LAUNCH_FAILED;
  }
}

// Keeps the first failure, which every later call on the context returns. The report is for people to read.
void lose(context& c, CUresult result, const char* report) {
  driver_state& s = state();
  const std::lock_guard lock(s.mutex);
  if (c.lost != CUDA_SUCCESS) return;
  c.lost = result;
  std::fprintf(stderr, "%s\n", report);
  std::fflush(stderr);
}

struct executor {
  const std::shared_ptr<context>& owner;
  bool must_end;

  bool operator()(const empty_work&) const { return true; }
  // The awaited work has run before.
  bool operator()(const wait_work&) const {
    state().memory.note_host_step();
    return true;
  }
  bool operator()(const std::shared_ptr<graph>&) const { return true; }
  bool operator()(const allocate_work&) const { return true; }

  bool operator()(const kernel_work& w) const {
    emulator::launch l;
    const function& f = *w.code;
    l.mod = &f.module->code;
    l.kernel = f.entry;
    l.grid = w.grid;
    l.block = w.block;
    l.cluster = w.cluster;
    l.dynamic_shared = w.shared;
    l.cooperative = w.cooperative;
    l.programmatic = w.programmatic;
    l.parameters = w.parameters;
    l.instance = &f.module->variables;
    runtime::apply_environment(l);
    emulator::run(l, state().memory);
    return true;
  }
  bool operator()(const copy_work& w) const {
    copy(w.shape);
    return true;
  }
  bool operator()(const fill_work& w) const {
    fill(w.shape);
    return true;
  }
  bool operator()(const host_work& w) const {
    const program_callback scope;
    w.function(w.data);
    return true;
  }
  bool operator()(const callback_work& w) const {
    const program_callback scope;
    w.function(w.where, owner->lost, w.data);
    return true;
  }
  bool operator()(const record_work& w) const {
    driver_state& s = state();
    const std::lock_guard lock(s.mutex);
    w.target->when = std::chrono::steady_clock::now();
    return true;
  }
  bool operator()(const word_work& w) const {
    emulator::memory& memory = state().memory;
    if (!w.waits) {
      memory.write(w.address, &w.value, w.bytes);
      return true;
    }
    for (;;) {
      std::uint64_t now = 0;
      memory.read(&now, w.address, w.bytes);
      if (word_is_reached(w, now)) return true;
      if (!must_end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  bool operator()(const free_work& w) const {
    driver_state& s = state();
    const std::lock_guard lock(s.mutex);
    free_allocation(w.address);
    return true;
  }
  bool operator()(const std::shared_ptr<graph_run_work>& w) const {
    for (const work& step : w->steps) std::visit(*this, step);
    return true;
  }
};

}  // namespace

bool execute(const work& what, const std::shared_ptr<context>& owner, bool must_end) {
  if (owner == nullptr) return true;
  // After a failure nothing runs any more, except the callbacks, which get the code.
  if (owner->lost != CUDA_SUCCESS && !std::holds_alternative<callback_work>(what)) return true;
  try {
    return std::visit(executor{owner, must_end}, what);
  } catch (const emulator::fault& e) {
    lose(*owner, result_of(e.report().kind), e.what());
  } catch (const emulator::launch_error& e) {
    lose(*owner, CUDA_ERROR_LAUNCH_FAILED, e.what());
  } catch (const emulator::memory_error& e) {
    lose(*owner, CUDA_ERROR_ILLEGAL_ADDRESS, e.what());
  } catch (const std::bad_alloc&) {
    lose(*owner, CUDA_ERROR_OUT_OF_MEMORY,
         "kaio: the host has not enough memory to run the work of a stream");
  }
  return true;
}

}  // namespace kaio::driver_emulator
