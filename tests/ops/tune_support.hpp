#pragma once
// For tests of tuning: files of their own.

#include <kaio/ops/tune.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

namespace kaio::tests {

// XDG_CACHE_HOME in a folder of the test's own.
class own_cache {
 public:
  own_cache() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kaio-tune-XXXXXX").string();
    home_ = ::mkdtemp(pattern.data());
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    ::setenv("XDG_CACHE_HOME", home_.c_str(), 1);
    ops::forget_tuning();
  }
  ~own_cache() {
    std::filesystem::permissions(home_, std::filesystem::perms::owner_all);
    std::error_code ignored;
    std::filesystem::remove_all(home_, ignored);
    if (before_.empty())
      ::unsetenv("XDG_CACHE_HOME");
    else
      ::setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    ops::forget_tuning();
  }
  std::filesystem::path home() const { return home_; }
  std::filesystem::path folder() const { return home_ / "kaio" / "tune"; }
  // The one file of tuning that is there.
  std::filesystem::path file() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder()))
      if (entry.path().filename().string().rfind("device-", 0) == 0) return entry.path();
    return {};
  }

 private:
  std::filesystem::path home_;
  std::string before_;
};

}  // namespace kaio::tests
