#include "runtime/driver/result.hpp"

#include "runtime/base/text.hpp"

namespace kaio::runtime::driver {

namespace {
constexpr std::string_view find_the_thread =
    "run it with KAIO_DEVICE=emulator, which names the kernel, the thread, the address and the buffer";
constexpr std::string_view find_the_assertion =
    "the standard error stream has its text, file, line and thread; KAIO_DEVICE=emulator puts them into the error";
constexpr std::string_view update = "install a newer NVIDIA driver";
}  // namespace

result_meaning meaning_of(CUresult result) noexcept {
  switch (result) {
    case CUDA_ERROR_INVALID_VALUE: return {errc::invalid_argument, false, "the driver refused a value", ""};
    case CUDA_ERROR_OUT_OF_MEMORY:
      return {errc::out_of_memory, false, "there is not enough memory", "free buffers, or use smaller ones"};
    case CUDA_ERROR_NOT_INITIALIZED:
      return {errc::device_lost, true,
              "this process was forked from one that used CUDA, or the driver is shutting down",
              "start such a child by spawn or exec, and use devices only until main() returns"};
    case CUDA_ERROR_DEINITIALIZED:
      return {errc::device_lost, true, "the driver is shutting down",
              "use devices only until main() returns"};
    case CUDA_ERROR_STUB_LIBRARY:
      return {errc::driver_missing, false, "the library found is the toolkit's stub, not a driver",
              "take the toolkit's stubs folder out of LD_LIBRARY_PATH"};
    case CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return {errc::driver_missing, false, "the driver library and the kernel driver do not fit together",
              "install both from one release of the NVIDIA driver, and restart the machine"};
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return {errc::driver_missing, false, "the machine's GPU services are not ready",
              "start them (nvidia-fabricmanager where there is an NVSwitch) and try again"};
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
      return {errc::no_device, false, "the GPU is in use by another process in exclusive mode",
              "wait for that process, or use another GPU"};
    case CUDA_ERROR_NO_DEVICE:
      return {errc::no_device, false, "the driver sees no GPU",
              "check nvidia-smi and CUDA_VISIBLE_DEVICES, or set KAIO_DEVICE=emulator"};
    case CUDA_ERROR_INVALID_DEVICE:
      return {errc::no_device, false, "there is no such GPU", "see nvidia-smi and CUDA_VISIBLE_DEVICES"};
    case CUDA_ERROR_DEVICE_NOT_LICENSED:
      return {errc::no_device, false, "the virtual GPU has no licence", "ask the administrator for one"};
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return {errc::unsupported_device, false, "the text holds no code for this GPU", ""};
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return {errc::unsupported_device, false, "the driver is older than the kernel's PTX ISA version",
              update};
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_SOURCE:
      return {errc::jit_failed, false, "the driver's compiler refused the text", ""};
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
      return {errc::jit_failed, false, "the driver's compiler, libnvidia-ptxjitcompiler, is missing",
              "install it with the driver (in containers: NVIDIA_DRIVER_CAPABILITIES=compute,utility)"};
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
      return {errc::jit_failed, false, "the driver's compiler is disabled", "unset CUDA_DISABLE_PTX_JIT"};
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
      return {errc::launch_failed, false, "a block needs more registers or shared memory than there is",
              "use fewer threads in a block"};
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
      return {errc::invalid_argument, false,
              "the blocks of a cooperative kernel do not all fit on the GPU at once",
              "launch at most device::resident_blocks(kernel) blocks"};
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
      return {errc::invalid_argument, false, "the GPU cannot hold a cluster of that many such blocks",
              "use a smaller cluster, or less shared memory in a block"};
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
      return {errc::illegal_access, true, "a kernel accessed memory that it does not own", find_the_thread};
    case CUDA_ERROR_MISALIGNED_ADDRESS:
      return {errc::illegal_access, true, "a kernel accessed memory at a misaligned address",
              find_the_thread};
    case CUDA_ERROR_ASSERT:
      return {errc::device_assert, true, "an assertion failed in a kernel", find_the_assertion};
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return {errc::launch_timeout, true,
              "a kernel ran longer than the system allows on a GPU with a display",
              "split the work, or use a GPU without a display"};
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
      return {errc::launch_failed, true, "a kernel failed while it ran", find_the_thread};
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
      return {errc::device_lost, true, "the hardware reported an error that it could not correct",
              "restart the program, and look into the system's log (dmesg, Xid) if it comes again"};
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      return {errc::device_lost, true,
              "the GPU's primary context was destroyed by another part of the program",
              "do not reset the device while kaio uses it"};
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
      return {errc::device_lost, true, "the MPS server ended this client", "restart the program"};
    case CUDA_ERROR_UNKNOWN:
      return {errc::driver_error, true, "the driver failed for a reason that it does not give",
              "restart the program, and look into the system's log (dmesg, Xid) if it comes again"};
    case CUDA_ERROR_ILLEGAL_STATE:
      return {errc::stream_capturing, false, "the stream is captured already, or its capture has ended",
              "end that capture first, or insert its graph as a node"};
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
      return {errc::stream_capturing, false,
              "the call is not allowed while a stream is captured into a graph",
              "make it before the capture begins"};
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
      return {errc::stream_capturing, false,
              "the capture was ended by a call that is not allowed while a stream is captured into a graph",
              "move calls that wait, allocate or ask a stream before the capture"};
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
      return {errc::stream_capturing, false, "the call would join two captures",
              "record the event in the capture that waits for it"};
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
      return {errc::stream_capturing, false, "no capture was begun on this stream",
              "end a capture on the stream that it began on"};
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
      return {errc::stream_capturing, false,
              "a stream that joined the capture has work that the captured stream does not wait for",
              "record an event in it, and let the captured stream wait for it before the end"};
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
      return {errc::stream_capturing, false, "the captured stream would wait for work outside of the capture",
              "record the event within the capture, or wait before it begins"};
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return {errc::stream_capturing, false,
              "the legacy default stream would wait for a stream that is captured into a graph",
              "use a stream of your own; the legacy default stream cannot be captured"};
    case CUDA_ERROR_CAPTURED_EVENT:
      return {errc::stream_capturing, false,
              "the event was recorded in a stream that is captured into a graph, and has no time of its own",
              "ask and wait for events that are recorded outside of captures"};
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD:
      return {errc::stream_capturing, false, "the capture was begun by another thread",
              "end it on that thread"};
    case CUDA_ERROR_INVALID_HANDLE:
      return {errc::invalid_argument, false,
              "a stream, event or graph is not valid: its owner destroyed it, or it is of another context",
              "keep what is lent to kaio alive while kaio uses it"};
    case CUDA_ERROR_INVALID_CONTEXT:
      return {errc::device_lost, false, "the CUDA context is not valid",
              "keep a context that kaio was opened in alive while kaio uses it"};
    default: return {errc::driver_error, false, "the driver failed", ""};
  }
}

std::string name_of(const functions& call, CUresult result) {
  const char* name = nullptr;
  if (call.cuGetErrorName(result, &name) == CUDA_SUCCESS && name) return name;
  return text("CUDA error ", static_cast<int>(result));
}

}  // namespace kaio::runtime::driver
