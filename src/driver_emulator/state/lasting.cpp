#include "driver_emulator/state/lasting.hpp"

#include <atomic>

namespace kaio::driver_emulator {
namespace {

struct kept {
  void* object;
  void (*destroy)(void*);
  kept* before;
};

constinit std::atomic<kept*> last{nullptr};

// At the end of a process static objects are destroyed first, and functions such as close_library are called
// afterwards; where a library is closed, it is the other way round. So whether this one is gone is the difference.
// Source: Itanium C++ ABI, 3.3.5 "DSO Object Destruction API".
constinit bool process_ends = false;
const struct end_of_process {
  ~end_of_process() { process_ends = true; }
} witness;

[[gnu::destructor]] void close_library() {
  if (process_ends) return;
  while (kept* const k = last.load()) {
    last = k->before;
    k->destroy(k->object);
    delete k;
  }
}

}  // namespace

void detail::keep_until_closed(void* object, void (*destroy)(void*)) {
  auto* const fresh = new kept{object, destroy, last.load()};
  while (!last.compare_exchange_weak(fresh->before, fresh)) continue;
}

}  // namespace kaio::driver_emulator
