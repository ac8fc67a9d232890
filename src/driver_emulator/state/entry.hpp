#pragma once
// Every function of the library enters here. The call is counted and may be made to fail. The driver must be
// initialised, and a context current if one is needed. No exception leaves the function, and the state is
// locked while its body runs.
//
//   CUresult cuMemFree_v2(CUdeviceptr address) {
//     return release_call(function_id::cuMemFree_v2, [&] { free_device(address); });
//   }

#include "driver_emulator/abi/functions.hpp"
#include "driver_emulator/state/objects.hpp"

#include <concepts>
#include <type_traits>
#include <utility>

namespace kaio::driver_emulator {

// Thrown if a function cannot do its work; the function returns the code.
struct failure {
  CUresult code;
};
[[noreturn]] void refuse(CUresult code);
inline void require(bool condition, CUresult code = CUDA_ERROR_INVALID_VALUE) {
  if (!condition) refuse(code);
}

enum class call_kind {
  anytime,  // before cuInit too
  plain,
  in_context,  // a context must be current, and no kernel may have failed in it
  releasing,   // frees, destroys or waits, even if it is made to fail
};

namespace detail {
struct body {
  void* object;
  CUresult (*invoke)(void* object, context* current);
};
CUresult run(function_id id, call_kind kind, const body& b) noexcept;

template <class Body>
CUresult run(function_id id, call_kind kind, Body& b) noexcept {
  return run(id, kind, body{&b, [](void* object, [[maybe_unused]] context* current) -> CUresult {
                              Body& f = *static_cast<Body*>(object);
                              if constexpr (std::invocable<Body&, context&>) {
                                if constexpr (std::is_void_v<std::invoke_result_t<Body&, context&>>)
                                  return f(*current), CUDA_SUCCESS;
                                else
                                  return f(*current);
                              } else if constexpr (std::is_void_v<std::invoke_result_t<Body&>>) {
                                return f(), CUDA_SUCCESS;
                              } else {
                                return f();
                              }
                            }});
}
}  // namespace detail

// `b` takes nothing, or the current context, which must then exist. It returns nothing or a CUresult, and
// runs with the state locked.
template <class Body>
CUresult call(function_id id, Body b) noexcept {
  return detail::run(id, std::invocable<Body&, context&> ? call_kind::in_context : call_kind::plain, b);
}
template <class Body>
CUresult anytime_call(function_id id, Body b) noexcept {
  return detail::run(id, call_kind::anytime, b);
}
template <class Body>
CUresult release_call(function_id id, Body b) noexcept {
  return detail::run(id, call_kind::releasing, b);
}

// Unlocks the state for a scope within the body of a call, for example while work of a stream runs.
class unlocked_state {
 public:
  unlocked_state();
  ~unlocked_state();
  unlocked_state(const unlocked_state&) = delete;
  unlocked_state& operator=(const unlocked_state&) = delete;
};

// Locks the state for a scope in a thread of the emulator, which is in no call.
class locked_state {
 public:
  locked_state();
  ~locked_state();
  locked_state(const locked_state&) = delete;
  locked_state& operator=(const locked_state&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
};

// While one lives, stream 0 of this thread's calls is the thread's own.
class per_thread_default_stream {
 public:
  per_thread_default_stream() : before_(std::exchange(inside, true)) {}
  ~per_thread_default_stream() { inside = before_; }
  per_thread_default_stream(const per_thread_default_stream&) = delete;
  per_thread_default_stream& operator=(const per_thread_default_stream&) = delete;
  static bool active() { return inside; }

 private:
  static inline thread_local bool inside = false;
  bool before_;
};

// Whether the call of this thread is made to fail after its work: a capture does not keep it from that.
bool is_made_to_fail();

// Marks a function of the program that a stream calls: the thread may not call the driver meanwhile.
class program_callback {
 public:
  program_callback() : before_(std::exchange(inside, true)) {}
  ~program_callback() { inside = before_; }
  program_callback(const program_callback&) = delete;
  program_callback& operator=(const program_callback&) = delete;
  static bool active() { return inside; }

 private:
  static inline thread_local bool inside = false;
  bool before_;
};

}  // namespace kaio::driver_emulator
