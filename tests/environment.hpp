#pragma once
// Sets an environment variable for a scope; a null value removes it.

#include <cstdlib>
#include <string>

#include "host/system/process.hpp"

namespace kaio::tests {

class environment {
 public:
  environment(const char* variable, const char* value) : name_(variable) {
    const char* now = std::getenv(variable);
    had_ = now != nullptr;
    if (had_) before_ = now;
    value ? kaio::host::set_environment(variable, value) : kaio::host::unset_environment(variable);
  }
  ~environment() {
    had_ ? kaio::host::set_environment(name_, before_.c_str()) : kaio::host::unset_environment(name_);
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  const char* name_;
  bool had_ = false;
  std::string before_;
};

}  // namespace kaio::tests
