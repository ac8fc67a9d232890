#pragma once
// Finds and loads the CUDA driver library at run time. It is loaded by its soname from the system's search
// path, so that neither the current directory nor an empty element of LD_LIBRARY_PATH can put another file in
// its place, and it is never unloaded.
//
//   const driver::library& cuda = driver::process_library();
//   cuda.call.cuDriverGetVersion(&version);

#include <string>
#include <string_view>

#include "runtime/driver/functions.hpp"

namespace kaio::runtime::driver {

#if defined(_WIN32)
inline constexpr std::string_view system_library = "nvcuda.dll";
#else
inline constexpr std::string_view system_library = "libcuda.so.1";
#endif

struct library {
  functions call;
  std::string file;  // what it was loaded as
};

// The library of this process: KAIO_CUDA_LIBRARY, or the system's. Loaded on the first call; a failure is
// tried again by the next call. Throws driver_missing, or invalid_argument for a KAIO_CUDA_LIBRARY that is no
// absolute path.
const library& process_library();

// The file to load for a value of KAIO_CUDA_LIBRARY (null when unset). It is ignored in a program that runs
// with more rights than its caller has. Throws invalid_argument where it is no absolute path.
std::string library_file(const char* override_path, bool elevated);

// Loads a file and finds every function in it. Throws driver_missing.
library load_library(const std::string& file);

// The first element of a search path (as LD_LIBRARY_PATH has them) that is empty or relative and in whose
// directory there is a file of this name: what the loader would take it from. Empty where there is none.
std::string unsafe_search_element(std::string_view search_path, std::string_view file);

}  // namespace kaio::runtime::driver
