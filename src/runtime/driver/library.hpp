#pragma once
// Finds and loads the CUDA driver library at run time, by its soname from the system's search path. The path may
// have an element that depends on the current directory (an empty or a relative one). The loader must then not
// search: it would also look in folders below that one which kaio cannot know (glibc-hwcaps, tls). The library
// then comes from the absolute elements and the system's own folders only. It is never unloaded.
//
//   const driver::library& cuda = driver::process_library();
//   cuda.call.cuDriverGetVersion(&version);

#include <string>
#include <string_view>
#include <vector>

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
  long process = 0;  // the number of the process that loaded it; 0 where there are no forks
};

// This process's number; 0 where there are no forks.
long process_number() noexcept;

// The library of this process: KAIO_CUDA_LIBRARY, or the system's. It is loaded on the first call; after a
// failure, the next call tries again. Throws driver_missing, or invalid_argument for a KAIO_CUDA_LIBRARY that
// is not an absolute path.
const library& process_library();

// The file to load for a value of KAIO_CUDA_LIBRARY (empty when unset). Throws invalid_argument if it is not an
// absolute path.
std::string library_file(std::string_view override_path);

// Loads a file and finds every function in it. Throws driver_missing.
library load_library(const std::string& file);

// A search path, as LD_LIBRARY_PATH has them; an empty one has no elements.
struct search_path {
  explicit search_path(std::string_view text);
  std::vector<std::string> folders;  // the absolute ones, in order
  std::string
      unsafe;  // the first other one: "." for an empty one; $ORIGIN and its like count too. Empty: none
};

}  // namespace kaio::runtime::driver
