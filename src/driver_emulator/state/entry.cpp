#include "driver_emulator/state/entry.hpp"

#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/fault_injection.hpp"
#include "emulator/program/error.hpp"

#include <exception>
#include <new>

namespace kaio::driver_emulator {
namespace {

// The lock of the call that this thread is in.
thread_local std::unique_lock<std::mutex>* held = nullptr;
thread_local bool made_to_fail = false;

CUresult result_of(const emulator::memory_error& e) {
  return e.kind() == emulator::memory_error_kind::out_of_memory ? CUDA_ERROR_OUT_OF_MEMORY
                                                                : CUDA_ERROR_INVALID_VALUE;
}

CUresult checked(call_kind kind, const detail::body& b, CUresult injected) {
  driver_state& s = state();
  if (program_callback::active()) return CUDA_ERROR_NOT_PERMITTED;
  std::unique_lock lock(s.mutex);
  if (kind != call_kind::anytime && !s.initialised)
    return injected != CUDA_SUCCESS ? injected : CUDA_ERROR_NOT_INITIALIZED;
  struct holding {
    explicit holding(std::unique_lock<std::mutex>& l) { held = &l; }
    ~holding() { held = nullptr; }
  };
  const holding scope(lock);
  made_to_fail = injected != CUDA_SUCCESS;
  if (kind != call_kind::in_context) {
    const CUresult result = b.invoke(b.object, nullptr);
    return injected != CUDA_SUCCESS ? injected : result;
  }
  const std::shared_ptr<context> current = current_context();
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!current->active) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (current->lost != CUDA_SUCCESS) return current->lost;
  return b.invoke(b.object, current.get());
}

}  // namespace

void refuse(CUresult code) { throw failure{code}; }

bool is_made_to_fail() { return made_to_fail; }

unlocked_state::unlocked_state() { held->unlock(); }
unlocked_state::~unlocked_state() { held->lock(); }

locked_state::locked_state() : lock_(state().mutex) { held = &lock_; }
locked_state::~locked_state() { held = nullptr; }

CUresult detail::run(function_id id, call_kind kind, const body& b) noexcept {
  CUresult result = CUDA_ERROR_UNKNOWN;
  const CUresult injected = injected_failure(id);
  if (injected != CUDA_SUCCESS && kind != call_kind::releasing) return injected;
  try {
    result = checked(kind, b, injected);
  } catch (const failure& f) {
    result = injected != CUDA_SUCCESS ? injected : f.code;
  } catch (const emulator::memory_error& e) {
    result = result_of(e);
  } catch (const std::bad_alloc&) {
    result = CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception&) {
    result = CUDA_ERROR_UNKNOWN;
  }
  count_misuse(result);
  return result;
}

}  // namespace kaio::driver_emulator
