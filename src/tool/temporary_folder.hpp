#pragma once
// A folder for files that a program writes for another one to read.

#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace kaio::tool {

// A new folder for this user alone, which is removed with its contents at the end. Throws runtime_error where none can be
// made.
class temporary_folder {
 public:
  temporary_folder() {
    const std::filesystem::path parent = std::filesystem::temp_directory_path();
    if (!make_in(parent))
      throw std::runtime_error("kaio: no folder can be made in " + parent.string() + "; set " + variable +
                               " to one that you may write to");
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
#if defined(_WIN32)
  static constexpr const char* variable = "TMP";
  // The user's folder for temporary files is the user's alone, and so is what is made in it.
  bool make_in(const std::filesystem::path& parent) {
    unsigned number = static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count());
    std::error_code failed;
    for (int attempts = 0; attempts < 100 && !failed; ++attempts) {
      path_ = parent / ("kaio-" + std::to_string(number++));
      if (std::filesystem::create_directory(path_, failed)) return true;
    }
    return false;
  }
#else
  static constexpr const char* variable = "TMPDIR";
  bool make_in(const std::filesystem::path& parent) {
    std::string pattern = (parent / "kaio-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) return false;
    path_ = pattern;
    return true;
  }
#endif
  std::filesystem::path path_;
};

}  // namespace kaio::tool
