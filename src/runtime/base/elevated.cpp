#include "runtime/base/elevated.hpp"

#include <cstdlib>

#if defined(__linux__)
#include <sys/auxv.h>
#elif !defined(_WIN32)
#include <unistd.h>
#endif

namespace kaio::runtime {

bool runs_elevated() noexcept {
#if defined(__linux__)
  return getauxval(AT_SECURE) != 0;
#elif defined(_WIN32)
  return false;
#else
  return getuid() != geteuid() || getgid() != getegid();
#endif
}

std::string file_variable(const char* name) {
  const char* const value = runs_elevated() ? nullptr : std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace kaio::runtime
