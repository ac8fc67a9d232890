#pragma once
// A mark in the work of a stream: other streams wait for it, and two marks measure the time between them.
//
//   event begin = gpu.create_event(), end = gpu.create_event();
//   s.record(begin);
//   saxpy.launch(s, over(n), x, y, a, n);
//   s.record(end);
//   double ms = elapsed_ms(begin, end);       // waits for `end`
//
// Several threads may record, wait for and query an event at once. A wait is for the last mark at the time of
// its call. If another thread records at the same time, the program must order the two calls. Only one thread
// may move or destroy it (docs/threads.md).

#include <kaio/runtime/detail/context_ref.hpp>

namespace kaio::runtime {

class device;
class stream;

// Move-only; an event that was moved from is null, and its use throws invalid_argument.
class event {
 public:
  event() = default;
  event(event&& other) noexcept;
  event& operator=(event&& other) noexcept;
  ~event();

  // Waits until the work before the mark is done. Returns at once if the event was never recorded.
  void synchronize() const;
  // Whether the work before the mark is done; true if the event was never recorded.
  bool is_done() const;
  // The driver's CUevent, or the emulator's own handle.
  void* native_handle() const noexcept { return native_; }

 private:
  friend class device;
  friend class stream;
  friend double elapsed_ms(const event& begin, const event& end);
  event(detail::context_ref context, void* native) noexcept : context_(std::move(context)), native_(native) {}
  void destroy() noexcept;
  bool was_recorded() const noexcept;
  void note_record() noexcept;

  detail::context_ref context_;
  void* native_ = nullptr;
  bool recorded_ = false;  // only the two functions above access it: threads may use it at once
};

// Milliseconds between two recorded events of one device; waits for both. The GPU's clock resolves about 0.5
// us. Throws invalid_argument where one was never recorded.
double elapsed_ms(const event& begin, const event& end);

}  // namespace kaio::runtime

namespace kaio {
using runtime::elapsed_ms;
using runtime::event;
}  // namespace kaio
