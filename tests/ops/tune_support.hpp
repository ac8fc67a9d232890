#pragma once
// For tests of tuning: files of their own, and what a report has.

#include <kaio/ops/tune.hpp>

#include "ops/choice/tune_file.hpp"
#include "tests/environment.hpp"
#include "tool/temporary_folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace kaio::tests {

// Whether a variant was measured.
inline bool has(const ops::tune_report& report, const std::string& variant) {
  return std::any_of(report.entries.begin(), report.entries.end(),
                     [&](const ops::tune_entry& e) { return e.variant == variant; });
}

// The user's folder for caches is a folder of the test's own.
class own_cache {
 public:
  own_cache() : home_(folder_.path()), variable_(cache_variable, home_.string().c_str()) {
    ops::forget_tuning();
  }
  ~own_cache() {
    std::filesystem::permissions(home_, std::filesystem::perms::owner_all);
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
  // As if tuning had found this variant for every call in the file.
  void replace_variants(const std::string& variant) const {
    std::string device;
    std::getline(std::ifstream(file(), std::ios::binary), device);
    device.erase(0, std::string("kaio-tune 1 ").size());
    for (const auto& [key, found] : ops::read_tuning(device)) ops::write_tuning(device, key, variant);
    ops::forget_tuning();
  }

 private:
#if defined(_WIN32)
  static constexpr const char* cache_variable = "LOCALAPPDATA";
#else
  static constexpr const char* cache_variable = "XDG_CACHE_HOME";
#endif
  tool::temporary_folder folder_;
  std::filesystem::path home_;
  environment variable_;
};

}  // namespace kaio::tests
