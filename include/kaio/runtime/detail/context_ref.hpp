#pragma once
// The handle through which devices, streams, events and buffers share the state of one device. It counts
// references itself: including <memory> would add a third of a second to every user's file. The last handle
// to go closes the device.

#include <kaio/ptx/standard.hpp>

#include <utility>

namespace kaio::runtime::detail {

class context;
void retain(context* c) noexcept;
void release(context* c) noexcept;

class context_ref {
 public:
  context_ref() = default;
  // Takes over a reference that was counted before.
  explicit context_ref(context* counted) noexcept : context_(counted) {}
  context_ref(const context_ref& other) noexcept : context_(other.context_) {
    if (context_) retain(context_);
  }
  context_ref(context_ref&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  context_ref& operator=(context_ref other) noexcept {
    std::swap(context_, other.context_);
    return *this;
  }
  ~context_ref() {
    if (context_) release(context_);
  }

  context* get() const noexcept { return context_; }
  context* operator->() const noexcept { return context_; }
  explicit operator bool() const noexcept { return context_ != nullptr; }

 private:
  context* context_ = nullptr;
};

}  // namespace kaio::runtime::detail
