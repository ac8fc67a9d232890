#pragma once
// Calls are counted, and the one that KAIO_CUDA_FAIL or the C interface names fails.

#include "driver_emulator/state/entry.hpp"

namespace kaio::driver_emulator {

// Counts a call; CUDA_SUCCESS unless it is the one that has to fail.
CUresult injected_failure(function_id id) noexcept;
// Dead handles and missing contexts are counted by the results of calls.
void count_misuse(CUresult result) noexcept;
// `jit_level` is the CU_JIT_OPTIMIZATION_LEVEL that was asked for, or -1.
void count_load(int jit_level) noexcept;
// Remembers an accepted launch.
void note_launch(const kernel_work& launch, CUstream where, CUcontext in);

// The name of a function, as the library exports it.
const char* name_of(function_id id);
// The number of a name; function_id::count where there is none.
function_id find_function_id(const char* name);

}  // namespace kaio::driver_emulator
