#pragma once
// The declarations of the exported functions, and their numbers, which count calls and make them fail. Both follow
// driver_abi/functions.def, as do the answers of cuGetProcAddress; tests/driver_emulator/abi.cpp compares the list
// with cuda.h.

#include "driver_emulator/abi/types.hpp"

#include <cstdint>

#if defined(_WIN32)
#define KAIO_CUDA_API extern "C" __declspec(dllexport)
#else
#define KAIO_CUDA_API extern "C" __attribute__((visibility("default")))
#endif

namespace kaio::driver_emulator {

#define KAIO_DRIVER_FUNCTION(symbol, types) KAIO_CUDA_API CUresult KAIO_CUDAAPI symbol types;
#define KAIO_DRIVER_PER_THREAD_FUNCTION(symbol, base, types) KAIO_DRIVER_FUNCTION(symbol, types)
#include "driver_abi/functions.def"

// The number of a function, in the order of the list.
enum class function_id : std::uint16_t {
#define KAIO_DRIVER_FUNCTION(symbol, types) symbol,
#include "driver_abi/functions.def"
  count
};

}  // namespace kaio::driver_emulator
