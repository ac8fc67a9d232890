#include "runtime/driver/cuda_backend.hpp"

#include <kaio/runtime/error.hpp>

#include <string>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/driver/cuda_devices.hpp"
#include "runtime/driver/cuda_scopes.hpp"
#include "runtime/driver/result.hpp"

namespace kaio::runtime {

std::unique_ptr<backend> open_cuda_backend(int ordinal) {
  return std::make_unique<driver::cuda_backend>(ordinal);
}
std::unique_ptr<backend> open_cuda_backend(int ordinal, void* context) {
  return std::make_unique<driver::cuda_backend>(ordinal, static_cast<driver::CUcontext>(context));
}

namespace driver {

namespace {

[[noreturn]] void throw_runs_to_its_end(std::string_view call, std::string_view device) {
  throw unsupported_device(text("kaio: ", call, " on ", device,
                                ": a GPU runs a kernel to its end; only the emulator can end one, check "
                                "device::is_emulator() before the call"));
}

CUevent event_of(void* native) { return static_cast<CUevent>(native); }

}  // namespace

cuda_backend::cuda_backend(int ordinal, CUcontext foreign)
    : cuda_(initialised_library()), call_(cuda_.call), device_(handle_of(ordinal)), context_(foreign) {
  properties_ = properties_of(ordinal);
  description_ = describe(properties_);
  owns_context_ = foreign == nullptr;
  if (owns_context_)
    check(call_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain", "opening");
}

cuda_backend::~cuda_backend() {
  if (!owns_context_) return;
  CUcontext now = nullptr;
  const bool is_current = call_.cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == context_;
  call_.cuDevicePrimaryCtxRelease_v2(device_);
  // If nothing else holds the context, it is destroyed now, and must not stay current on this thread.
  unsigned flags = 0;
  int active = 0;
  const bool lives_on =
      call_.cuDevicePrimaryCtxGetState(device_, &flags, &active) == CUDA_SUCCESS && active != 0;
  if (is_current && !lives_on) call_.cuCtxSetCurrent(nullptr);
}

std::string cuda_backend::explain(CUresult result, const char* function, std::string_view what) const {
  const result_meaning meaning = meaning_of(result);
  std::string message =
      text("kaio: ", what, properties_.ordinal >= 0 ? text(" cuda:", properties_.ordinal) : std::string(),
           " (", description_, ") failed: ", meaning.what, " (", name_of(call_, result), " from ", function,
           meaning.sticky ? "; it may stem from any work that was launched before)" : ")");
  if (!meaning.what_to_do.empty()) message += text("; ", meaning.what_to_do);
  return message;
}

void cuda_backend::fail(CUresult result, const char* function, std::string_view what) {
  const result_meaning meaning = meaning_of(result);
  const std::string message = explain(result, function, what);
  if (meaning.sticky) failures_.remember(meaning.code, message);
  if (meaning.code == errc::stream_capturing) remember_capture_mistake(message);
  throw_error(meaning.code, message);
}

void cuda_backend::note(CUresult result, const char* function, std::string_view what) noexcept {
  if (result == CUDA_SUCCESS) return;
  try {
    const result_meaning meaning = meaning_of(result);
    if (meaning.sticky) failures_.remember(meaning.code, explain(result, function, what));
  } catch (...) {
    // Without memory for the text, the next call on the device reports the failure.
  }
}

void cuda_backend::set_budget(const budget& limits) {
  if (limits.launch_instructions == 0 && limits.launch_time.count() == 0 && limits.total_instructions == 0 &&
      limits.total_time.count() == 0)
    return;
  throw_runs_to_its_end("set_budget", description_);
}

void cuda_backend::cancel() { throw_runs_to_its_end("cancel", description_); }

// Streams.

backend::native_stream cuda_backend::create_stream(int priority) {
  const current scope(*this);
  CUstream stream = nullptr;
  // The driver clamps the priority to its range.
  check(call_.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, priority),
        "cuStreamCreateWithPriority", "creating a stream on");
  return stream;
}

runtime::stream_priorities cuda_backend::stream_priorities() {
  const current scope(*this);
  runtime::stream_priorities range;
  check(call_.cuCtxGetStreamPriorityRange(&range.lowest, &range.highest), "cuCtxGetStreamPriorityRange",
        "asking for the stream priorities of");
  return range;
}

backend::native_stream cuda_backend::borrowed_stream(void* handle) { return handle; }

void cuda_backend::call_host(native_stream stream, host_function function, void* data) {
  const current scope(*this);
  check(call_.cuLaunchHostFunc(stream_of(stream), function, data), "cuLaunchHostFunc",
        "queueing a host function on");
}

void cuda_backend::destroy_stream(native_stream stream) noexcept {
  const current scope(*this, std::nothrow);
  if (scope.is_gone()) return;
  note(call_.cuStreamDestroy_v2(stream_of(stream)), "cuStreamDestroy", "destroying a stream on");
}

void cuda_backend::synchronize_stream(native_stream stream) {
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  check(call_.cuStreamSynchronize(stream_of(stream)), "cuStreamSynchronize", "waiting for a stream on");
}

bool cuda_backend::stream_is_done(native_stream stream) {
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  const CUresult result = call_.cuStreamQuery(stream_of(stream));
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "cuStreamQuery", "asking a stream on");
  return true;
}

bool cuda_backend::stream_is_capturing(native_stream stream) {
  const current scope(*this);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  check(call_.cuStreamIsCapturing(stream_of(stream), &status), "cuStreamIsCapturing", "asking a stream on");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void cuda_backend::stream_wait(native_stream stream, native_event event) {
  const current scope(*this);
  check(call_.cuStreamWaitEvent(stream_of(stream), event_of(event), 0), "cuStreamWaitEvent",
        "letting a stream wait on");
}

void cuda_backend::synchronize() {
  const current scope(*this);
  check(call_.cuCtxSynchronize(), "cuCtxSynchronize", "waiting for");
}

void cuda_backend::drain() noexcept {
  const current scope(*this, std::nothrow);
  if (!scope.is_current()) return;
  const relaxed_capture relaxed(call_);
  note(call_.cuCtxSynchronize(), "cuCtxSynchronize", "waiting for");
}

void cuda_backend::drain(native_stream stream) noexcept {
  const current scope(*this, std::nothrow);
  if (scope.is_gone()) return;
  const relaxed_capture relaxed(call_);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (call_.cuStreamIsCapturing(stream_of(stream), &status) == CUDA_SUCCESS &&
      status != CU_STREAM_CAPTURE_STATUS_NONE)
    return;
  note(call_.cuStreamSynchronize(stream_of(stream)), "cuStreamSynchronize", "waiting for a stream on");
}

// Events.

backend::native_event cuda_backend::create_event() {
  const current scope(*this);
  CUevent event = nullptr;
  check(call_.cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate", "creating an event on");
  return event;
}

void cuda_backend::destroy_event(native_event event) noexcept {
  const current scope(*this, std::nothrow);
  if (scope.is_gone()) return;
  note(call_.cuEventDestroy_v2(event_of(event)), "cuEventDestroy", "destroying an event on");
}

void cuda_backend::record(native_event event, native_stream stream) {
  const current scope(*this);
  check(call_.cuEventRecord(event_of(event), stream_of(stream)), "cuEventRecord", "recording an event on");
}

void cuda_backend::synchronize_event(native_event event) {
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  check(call_.cuEventSynchronize(event_of(event)), "cuEventSynchronize", "waiting for an event on");
}

bool cuda_backend::event_is_done(native_event event) {
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  const CUresult result = call_.cuEventQuery(event_of(event));
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "cuEventQuery", "asking an event on");
  return true;
}

double cuda_backend::elapsed_ms(native_event begin, native_event end) {
  const current scope(*this);
  float milliseconds = 0;
  check(call_.cuEventElapsedTime(&milliseconds, event_of(begin), event_of(end)), "cuEventElapsedTime",
        "measuring between events on");
  return double{milliseconds};
}

}  // namespace driver
}  // namespace kaio::runtime
