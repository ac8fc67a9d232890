// What a trace asks of the driver, apart from its events.

#include "runtime/driver/cuda_scopes.hpp"
#include "runtime/trace/recording.hpp"

namespace kaio::runtime::driver {

// Events know their context: none has to be current.
measured cuda_backend::measure(native_event from, native_event to, bool wait, double& milliseconds) noexcept {
  const relaxed_capture relaxed(call_);
  const auto begin = static_cast<CUevent>(from), end = static_cast<CUevent>(to);
  const CUresult is_done = wait ? call_.cuEventSynchronize(end) : call_.cuEventQuery(end);
  if (is_done == CUDA_ERROR_NOT_READY) return measured::not_yet;
  float between = 0;
  if (is_done != CUDA_SUCCESS || call_.cuEventElapsedTime(&between, begin, end) != CUDA_SUCCESS)
    return measured::never;
  milliseconds = double{between};
  return measured::yes;
}

void cuda_backend::note_code(loaded_kernel& code, CUfunction function, bool precompiled) const noexcept {
  if (!trace::is_on()) return;
  code.precompiled = precompiled;
  int value = 0;
  if (call_.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS)
    code.registers = static_cast<std::uint32_t>(value);
  if (call_.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function) == CUDA_SUCCESS)
    code.local_bytes = static_cast<std::uint32_t>(value);
}

}  // namespace kaio::runtime::driver
