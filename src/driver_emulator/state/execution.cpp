// The execution of streams' work.

#include "driver_emulator/state/copies.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/streams.hpp"
#include "emulator/waiting/memory_activity.hpp"
#include "runtime/emulator/environment.hpp"

#include <algorithm>
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

// Reads a word that other threads may write meanwhile. Throws memory_error.
std::uint64_t word_at(const emulator::memory& memory, CUdeviceptr address, unsigned bytes) {
  const auto snapshot = memory.snapshot();
  const emulator::region* const r = snapshot->at_or_below(address);
  if (r == nullptr || address - r->address + bytes > r->bytes) {
    std::uint64_t none = 0;
    memory.read(&none, address, bytes);
    return none;
  }
  const std::byte* const at = r->data + (address - r->address);
  return bytes == 8 ? __atomic_load_n(reinterpret_cast<const std::uint64_t*>(at), __ATOMIC_ACQUIRE)
                    : __atomic_load_n(reinterpret_cast<const std::uint32_t*>(at), __ATOMIC_ACQUIRE);
}

struct executor {
  const std::shared_ptr<context>& owner;
  emulator::memory_wait* wait;
  const bool at_end = emulator::memory_activity::shared().ended();

  // After a kernel's failure the others of its context end too, and so does what runs when the process ends.
  bool is_over() const {
    return owner->lost != CUDA_SUCCESS || (!at_end && emulator::memory_activity::shared().ended());
  }

  void operator()(const empty_work&) const {}
  // The awaited work has run before.
  void operator()(const wait_work&) const { state().memory.note_host_step(); }
  void operator()(const std::shared_ptr<graph>&) const {}
  void operator()(const allocate_work&) const {}

  void operator()(const kernel_work& w) const {
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
    l.wait = wait;
    if (wait != nullptr) l.cancelled = [this] { return is_over(); };
    emulator::run(l, state().memory);
  }
  void operator()(const copy_work& w) const { copy(w.shape); }
  void operator()(const fill_work& w) const { fill(w.shape); }
  void operator()(const host_work& w) const {
    const program_callback scope;
    w.function(w.data);
  }
  void operator()(const callback_work& w) const {
    const program_callback scope;
    w.function(w.where, owner->lost, w.data);
  }
  void operator()(const record_work& w) const {
    driver_state& s = state();
    const std::lock_guard lock(s.mutex);
    w.target->when = std::chrono::steady_clock::now();
  }
  void operator()(const word_work& w) const {
    emulator::memory& memory = state().memory;
    if (!w.waits) {
      memory.write(w.address, &w.value, w.bytes);
      return;
    }
    const auto is_reached = [&] { return word_is_reached(w, word_at(memory, w.address, w.bytes)); };
    if (is_reached()) return;
    for (wait->begin(); !is_reached() && !is_over();)
      if (wait->wait(emulator::poll_state::forever, false) == emulator::poll_answer::fault)
        return lose(*owner, CUDA_ERROR_LAUNCH_TIMEOUT,
                    "kaio: a stream waits for ever for a value in memory that nobody writes "
                    "(cuStreamWaitValue); write it, or set KAIO_LIVELOCK_SECONDS to a longer time");
  }
  void operator()(const free_work& w) const {
    driver_state& s = state();
    const std::lock_guard lock(s.mutex);
    free_allocation(w.address);
  }
  void operator()(const std::shared_ptr<graph_run_work>& w) const {
    for (const work& step : w->steps) std::visit(*this, step);
  }
};

}  // namespace

bool may_poll(const work& what) {
  if (const auto* kernel = std::get_if<kernel_work>(&what)) return emulator::may_wait(*kernel->code->entry);
  if (const auto* word = std::get_if<word_work>(&what)) return word->waits;
  const auto* run = std::get_if<std::shared_ptr<graph_run_work>>(&what);
  return run != nullptr && std::any_of((*run)->steps.begin(), (*run)->steps.end(), may_poll);
}

void execute(const work& what, const std::shared_ptr<context>& owner, emulator::memory_wait* wait) {
  if (owner == nullptr) return;
  // After a failure nothing runs any more, except the callbacks, which get the code.
  if (owner->lost != CUDA_SUCCESS && !std::holds_alternative<callback_work>(what)) return;
  try {
    std::visit(executor{owner, wait}, what);
  } catch (const emulator::fault& e) {
    // A kernel that polls at the end of the process has not failed.
    if (e.report().kind != emulator::fault_kind::cancelled)
      lose(*owner, result_of(e.report().kind), e.what());
  } catch (const emulator::launch_error& e) {
    lose(*owner, CUDA_ERROR_LAUNCH_FAILED, e.what());
  } catch (const emulator::memory_error& e) {
    lose(*owner, CUDA_ERROR_ILLEGAL_ADDRESS, e.what());
  } catch (const std::bad_alloc&) {
    lose(*owner, CUDA_ERROR_OUT_OF_MEMORY,
         "kaio: the host has not enough memory to run the work of a stream");
  }
}

}  // namespace kaio::driver_emulator
