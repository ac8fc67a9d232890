#include "c/call/host_memory.hpp"

#include <kaio/runtime/stream.hpp>

#include <utility>

#include "runtime/base/backend.hpp"
#include "runtime/context.hpp"
#include "runtime/stream_access.hpp"

namespace kaio::c {

namespace {

runtime::backend& backend_of(const runtime::device& emulator) {
  return runtime::detail::stream_access::owner(emulator.stream()).get()->device();
}

}  // namespace

std::uint64_t host_memory::use(const runtime::device& emulator, std::uint64_t address, std::uint64_t bytes) {
  runtime::backend& backend = backend_of(emulator);
  auto* const memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  ranges_.reserve(ranges_.size() + 1);
  if (emulator_ == nullptr) {
    backend.failures().begin_recoverable_call();
    emulator_ = &emulator;
  }
  const std::uint64_t on_device = backend.attach_host(memory, bytes);
  ranges_.push_back(memory);
  return on_device;
}

void host_memory::finish() {
  if (ranges_.empty() || !std::exchange(runs_, false)) return;
  runtime::stream::borrow(*emulator_, stream_).synchronize();
}

host_memory::~host_memory() {
  if (emulator_ == nullptr) return;
  try {
    finish();
  } catch (...) {  // the call has failed already
  }
  runtime::backend& backend = backend_of(*emulator_);
  for (void* memory : ranges_) backend.detach_host(memory);
  backend.failures().end_recoverable_call();
}

}  // namespace kaio::c
