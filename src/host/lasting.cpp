#include "host/lasting.hpp"

#include <cstdlib>
#include <mutex>

#include "host/constant_mutex.hpp"
#include "host/system/library.hpp"

namespace kaio::host {
namespace {

struct last_call {
  void (*function)();
  last_call* before;
};

constinit constant_mutex changing;
constinit detail::lasting* first = nullptr;
constinit detail::lasting** end = &first;
constinit last_call* latest = nullptr;

void call_latest() {
  last_call* call = nullptr;
  {
    const std::scoped_lock lock(changing);
    call = latest;
    if (call != nullptr) latest = call->before;
  }
  if (call == nullptr) return;
  call->function();
  delete call;
}

// exit() calls what was registered after the program began, then ends the libraries one after another. When a library
// is closed, what it registered is called after functions such as close_library. Whether this object is gone therefore
// distinguishes the two cases. It is made with the first lasting object: an object that a preloaded library makes as it
// is loaded is registered before the program begins, and goes too late.
// Sources: Itanium C++ ABI, 3.3.5 "DSO Object Destruction API"; glibc, elf/dl-fini.c.
constinit bool process_ends = false;
struct end_of_process {
  end_of_process() { keep_library(&process_ends); }
  ~end_of_process() { process_ends = true; }
};

[[gnu::destructor]] void close_library() {
  if (process_ends) return;
  while (latest != nullptr) call_latest();
  while (detail::lasting* const one = first) {
    first = one->next;
    if (one->object != nullptr) one->destroy(one->object);
    delete one;
  }
}

}  // namespace

detail::lasting& detail::next_lasting() {
  static const end_of_process witness;
  auto* const place = new lasting;
  const std::scoped_lock lock(changing);
  *end = place;
  end = &place->next;
  return *place;
}

void at_end(void (*function)()) {
  {
    const std::scoped_lock lock(changing);
    latest = new last_call{function, latest};
  }
  static_cast<void>(std::atexit(call_latest));
}

}  // namespace kaio::host
