#pragma once
// The driver's functions that the runtime calls, as pointers into the library that it loaded.
//
//   functions call;  // of library::call
//   call.cuMemAlloc_v2(&address, bytes);

#include "driver_abi/types.hpp"

namespace kaio::runtime::driver {

using namespace driver_abi;

struct functions {
#define KAIO_DRIVER_NEEDED_FUNCTION(symbol, types) CUresult(KAIO_CUDAAPI* symbol) types = nullptr;
#define KAIO_DRIVER_OPTIONAL_FUNCTION(symbol, types) CUresult(KAIO_CUDAAPI* symbol) types = nullptr;
#include "driver_abi/functions.def"
};

}  // namespace kaio::runtime::driver
