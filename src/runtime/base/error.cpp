#include <kaio/runtime/error.hpp>

#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "host/printable.hpp"
#include "runtime/base/failure.hpp"
#include "runtime/base/text.hpp"

namespace kaio::runtime {

namespace detail {

struct shared_text::block {
  std::atomic<std::size_t> references{1};
  std::size_t size = 0;
  char* characters() { return reinterpret_cast<char*>(this + 1); }
};

// Makes the text printable: a program shows it to its user, and logs and lines of PTX come from elsewhere.
shared_text::shared_text(std::string_view given) {
  if (given.empty()) return;
  const std::string text = host::printable(given);
  void* memory = ::operator new(sizeof(block) + text.size() + 1);
  block_ = new (memory) block;
  block_->size = text.size();
  std::memcpy(block_->characters(), text.data(), text.size());
  block_->characters()[text.size()] = '\0';
}

shared_text::shared_text(const shared_text& other) noexcept : block_(other.block_) {
  if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
}

shared_text& shared_text::operator=(const shared_text& other) noexcept {
  shared_text copy(other);
  block* const mine = block_;
  block_ = copy.block_;
  copy.block_ = mine;
  return *this;
}

shared_text::~shared_text() {
  if (block_ && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    block_->~block();
    ::operator delete(block_);
  }
}

std::string_view shared_text::view() const noexcept {
  return block_ ? std::string_view(block_->characters(), block_->size) : std::string_view();
}

const char* shared_text::c_str() const noexcept { return block_ ? block_->characters() : ""; }

}  // namespace detail

std::string_view to_string(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument: return "invalid_argument";
    case errc::out_of_memory: return "out_of_memory";
    case errc::driver_missing: return "driver_missing";
    case errc::no_device: return "no_device";
    case errc::unsupported_device: return "unsupported_device";
    case errc::jit_failed: return "jit_failed";
    case errc::launch_failed: return "launch_failed";
    case errc::illegal_access: return "illegal_access";
    case errc::device_lost: return "device_lost";
    case errc::stream_capturing: return "stream_capturing";
    case errc::device_assert: return "device_assert";
    case errc::launch_timeout: return "launch_timeout";
    case errc::cancelled: return "cancelled";
    case errc::driver_error: return "driver_error";
    case errc::unreadable_file: return "unreadable_file";
    case errc::damaged_file: return "damaged_file";
    case errc::unsupported_format: return "unsupported_format";
    case errc::communication_failed: return "communication_failed";
  }
  return "unknown";
}

// Out of line, so that each type's vtable is in one place.
error::~error() = default;
invalid_argument::~invalid_argument() = default;
out_of_memory::~out_of_memory() = default;
driver_missing::~driver_missing() = default;
no_device::~no_device() = default;
unsupported_device::~unsupported_device() = default;
launch_error::~launch_error() = default;
illegal_access::~illegal_access() = default;
assertion_failed::~assertion_failed() = default;
launch_timeout::~launch_timeout() = default;
launch_cancelled::~launch_cancelled() = default;
device_lost::~device_lost() = default;
stream_capturing::~stream_capturing() = default;
driver_error::~driver_error() = default;
communication_error::~communication_error() = default;
jit_error::~jit_error() = default;
file_error::~file_error() = default;

void throw_error(errc code, const std::string& message) {
  switch (code) {
    case errc::invalid_argument: throw invalid_argument(message);
    case errc::out_of_memory: throw out_of_memory(message);
    case errc::driver_missing: throw driver_missing(message);
    case errc::no_device: throw no_device(message);
    case errc::unsupported_device: throw unsupported_device(message);
    case errc::jit_failed: throw jit_error(message, {}, {}, {});
    case errc::launch_failed: throw launch_error(message);
    case errc::illegal_access: throw illegal_access(message);
    case errc::device_lost: throw device_lost(message);
    case errc::stream_capturing: throw stream_capturing(message);
    case errc::device_assert: throw assertion_failed(message);
    case errc::launch_timeout: throw launch_timeout(message);
    case errc::cancelled: throw launch_cancelled(message);
    case errc::unreadable_file:
    case errc::damaged_file:
    case errc::unsupported_format: throw file_error(code, message, {}, {});
    case errc::communication_failed: throw communication_error(message);
    case errc::driver_error: break;
  }
  throw driver_error(message);
}

void throw_mistake_in_capture(std::string_view first, std::string_view device) {
  throw stream_capturing(text("kaio: the capture on ", device,
                              " has no graph: a call in it was not allowed, and ended it. ",
                              without_prefix(first)));
}

failure_latch::~failure_latch() {
  delete first_.load(std::memory_order_acquire);
  for (failure* f = forgotten_.load(std::memory_order_acquire); f != nullptr;)
    delete std::exchange(f, f->before);
}

void failure_latch::begin_recoverable_call() {
  const std::scoped_lock lock(recoverable_);
  if (recoverable_calls_++ == 0) forget();
}

void failure_latch::end_recoverable_call() noexcept {
  const std::scoped_lock lock(recoverable_);
  --recoverable_calls_;
}

void failure_latch::forget() noexcept {
  if (!first_.load(std::memory_order_acquire)) return;
  failure* const old = first_.exchange(nullptr, std::memory_order_acq_rel);
  if (old == nullptr) return;
  old->before = forgotten_.load(std::memory_order_acquire);
  while (!forgotten_.compare_exchange_weak(old->before, old, std::memory_order_acq_rel)) {
  }
}

void failure_latch::remember(errc code, const std::string& message) {
  if (first_.load(std::memory_order_acquire)) return;
  auto* mine = new failure{.code = code, .message = message};
  failure* none = nullptr;
  if (!first_.compare_exchange_strong(none, mine, std::memory_order_acq_rel)) delete mine;
}

void failure_latch::throw_first(const failure& first, std::string_view device, std::string_view remedy) {
  throw_error(first.code, text("kaio: ", device, " is unusable since an earlier failure; ", remedy,
                               ". The first cause: ", without_prefix(first.message)));
}

}  // namespace kaio::runtime
