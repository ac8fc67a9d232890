#include "host/system/rights.hpp"

#include <cstdlib>

#if defined(__linux__)
#include <sys/auxv.h>
#else
#include <unistd.h>
#endif

namespace kaio::host {

bool runs_elevated() noexcept {
#if defined(__linux__)
  return getauxval(AT_SECURE) != 0;
#else
  return getuid() != geteuid() || getgid() != getegid();
#endif
}

std::string environment_text(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace kaio::host
