#pragma once
// What a call on a GPU does around its driver calls: it makes the device's context current, and it lets the thread
// allocate, load and wait while another stream is captured.

#include <new>

#include "runtime/driver/cuda_backend.hpp"

namespace kaio::runtime::driver {

// The driver may report a failure of earlier work in place of what was asked for: then it is asked again.
template <class Call>
CUresult twice(Call call) noexcept {
  const CUresult first = call();
  return first == CUDA_SUCCESS ? first : call();
}

// Makes the device's context current for the scope. Querying the current one costs some nanoseconds and is
// always right; a thread-local copy would miss changes by others.
class cuda_backend::current {
 public:
  explicit current(cuda_backend& device) : call_(device.call_) {
    CUcontext now = nullptr;
    device.check(call_.cuCtxGetCurrent(&now), "cuCtxGetCurrent", "using");
    if (now != device.context_) {
      device.check(call_.cuCtxSetCurrent(device.context_), "cuCtxSetCurrent", "using");
      previous_ = now;
    }
  }
  current(cuda_backend& device, std::nothrow_t) noexcept : call_(device.call_) {
    CUcontext now = nullptr;
    if (twice([&] { return call_.cuCtxGetCurrent(&now); }) != CUDA_SUCCESS) {
      is_current_ = false;
      return;
    }
    if (now == device.context_) return;
    const CUresult set = twice([&] { return call_.cuCtxSetCurrent(device.context_); });
    if (set == CUDA_SUCCESS) previous_ = now;
    is_current_ = set == CUDA_SUCCESS;
    is_gone_ = !device.owns_context_ &&
               (set == CUDA_ERROR_INVALID_CONTEXT || set == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  }
  current(const current&) = delete;
  current& operator=(const current&) = delete;
  ~current() {
    if (previous_) [[unlikely]]
      twice([this] { return call_.cuCtxSetCurrent(previous_); });
  }
  // False: calls that mean the current context, or a default stream of it, would mean another one.
  bool is_current() const noexcept { return is_current_; }
  // The owner of the context destroyed it, and everything in it went with it. What has its handles or addresses now
  // is another's.
  bool is_gone() const noexcept { return is_gone_; }

 private:
  const functions& call_;
  CUcontext previous_ = nullptr;
  bool is_current_ = true, is_gone_ = false;
};

// Lets this thread allocate, free, load, wait and ask while another stream is captured. None of these is part of
// a graph, but the driver would end a capture over them: one of this thread, or one of any thread in global mode.
// A call on the captured stream itself is refused all the same.
class cuda_backend::relaxed_capture {
 public:
  explicit relaxed_capture(const functions& call) noexcept : call_(call) {
    changed_ = call_.cuThreadExchangeStreamCaptureMode(&mode_) == CUDA_SUCCESS;
  }
  relaxed_capture(const relaxed_capture&) = delete;
  relaxed_capture& operator=(const relaxed_capture&) = delete;
  ~relaxed_capture() {
    if (changed_) twice([this] { return call_.cuThreadExchangeStreamCaptureMode(&mode_); });
  }

 private:
  const functions& call_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool changed_ = false;
};

inline CUstream stream_of(void* native) { return static_cast<CUstream>(native); }

}  // namespace kaio::runtime::driver
