#pragma once
// The results of the driver's functions in words.

#include "driver_emulator/abi/types.hpp"

namespace kaio::driver_emulator {

// "CUDA_ERROR_OUT_OF_MEMORY" and "out of memory"; null for a number that is no result.
const char* name_of_result(CUresult code);
const char* text_of_result(CUresult code);

}  // namespace kaio::driver_emulator
