#include "runtime/base/elevated.hpp"

#include "host/system/rights.hpp"

namespace kaio::runtime {

std::string file_variable(const char* name) {
  return host::runs_elevated() ? std::string() : host::environment_text(name);
}

}  // namespace kaio::runtime
