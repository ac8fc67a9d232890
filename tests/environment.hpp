#pragma once
// Sets an environment variable for a scope; a null value removes it.

#include <cstdlib>
#include <string>

namespace kaio::tests {

class environment {
 public:
  environment(const char* variable, const char* value) : name_(variable) {
    const char* now = std::getenv(variable);
    had_ = now != nullptr;
    if (had_) before_ = now;
    value ? ::setenv(variable, value, 1) : ::unsetenv(variable);
  }
  ~environment() { had_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  const char* name_;
  bool had_ = false;
  std::string before_;
};

}  // namespace kaio::tests
