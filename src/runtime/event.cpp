#include <kaio/runtime/event.hpp>

#include <kaio/runtime/error.hpp>

#include <atomic>
#include <utility>

#include "runtime/context.hpp"
#include "runtime/trace/work.hpp"

namespace kaio::runtime {

namespace {

backend& device_of(const detail::context_ref& context) {
  if (!context) {
    throw invalid_argument(
        "kaio: use of a null event; it was default-constructed or moved from: use gpu.create_event()");
  }
  return context->use();
}

}  // namespace

event::event(event&& other) noexcept
    : context_(std::move(other.context_)),
      native_(std::exchange(other.native_, nullptr)),
      recorded_(std::exchange(other.recorded_, false)) {}

event& event::operator=(event&& other) noexcept {
  event taken(std::move(other));
  std::swap(context_, taken.context_);
  std::swap(native_, taken.native_);
  std::swap(recorded_, taken.recorded_);
  return *this;
}

event::~event() { destroy(); }

// std::atomic<bool> would cost every user's file its header.
bool event::was_recorded() const noexcept {
  return std::atomic_ref(const_cast<bool&>(recorded_)).load(std::memory_order_acquire);
}
void event::note_record() noexcept { std::atomic_ref(recorded_).store(true, std::memory_order_release); }

void event::destroy() noexcept {
  if (context_) context_->device().destroy_event(native_);
}

void event::synchronize() const {
  backend& device = device_of(context_);
  const trace::call traced("synchronize event");
  if (was_recorded()) device.synchronize_event(native_);
}

bool event::is_done() const {
  backend& device = device_of(context_);
  return !was_recorded() || device.event_is_done(native_);
}

double elapsed_ms(const event& begin, const event& end) {
  backend& device = device_of(begin.context_);
  device_of(end.context_);
  if (begin.context_.get() != end.context_.get()) {
    throw invalid_argument("kaio: elapsed_ms between events of two devices; record both on one device");
  }
  if (!begin.was_recorded() || !end.was_recorded()) {
    throw invalid_argument(
        "kaio: elapsed_ms of an event that was never recorded; record both with stream::record");
  }
  device.synchronize_event(begin.native_);
  device.synchronize_event(end.native_);
  return device.elapsed_ms(begin.native_, end.native_);
}

}  // namespace kaio::runtime
