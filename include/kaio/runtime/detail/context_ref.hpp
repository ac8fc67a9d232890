#pragma once
// The handle through which the runtime's objects share a state that counts its references itself: including
// <memory> would add a third of a second to every user's file. context_ref shares one open device: devices,
// streams, events, buffers and graphs have one, and the last to go closes the device.

#include <kaio/ptx/standard.hpp>

#include <utility>

namespace kaio::runtime::detail {

class context;
void retain(context* c) noexcept;
void release(context* c) noexcept;

class pool;
void retain(pool* p) noexcept;
void release(pool* p) noexcept;

template <class State>
class counted_ref {
 public:
  counted_ref() = default;
  // Takes over a reference that was counted before.
  explicit counted_ref(State* counted) noexcept : state_(counted) {}
  counted_ref(const counted_ref& other) noexcept : state_(other.state_) {
    if (state_) retain(state_);
  }
  counted_ref(counted_ref&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  counted_ref& operator=(counted_ref other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~counted_ref() {
    if (state_) release(state_);
  }

  State* get() const noexcept { return state_; }
  State* operator->() const noexcept { return state_; }
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  State* state_ = nullptr;
};

using context_ref = counted_ref<context>;
using pool_ref = counted_ref<pool>;

}  // namespace kaio::runtime::detail
