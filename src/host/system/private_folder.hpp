#pragma once
// A folder of the user's own for small files that can be made again, such as results of measurements. Other users cannot
// write to it: on POSIX the folders and files must belong to the user, who alone may write; on Windows they are below
// %LOCALAPPDATA%, which the system protects.
//
//   private_folder folder("tune", true);
//   if (folder.is_open()) folder.update("device-1", [](const std::string& old) { return old + "more\n"; });

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace kaio::host {

class private_folder {
 public:
  // The folder `name` in the user's folder of kaio. create: makes it if it is missing. The folder is not open if it may not
  // be used, or if the environment names no folder of the user's.
  private_folder(const std::string& name, bool create);
  ~private_folder();
  private_folder(private_folder&&) noexcept;
  private_folder& operator=(private_folder&&) = delete;

  bool is_open() const { return inside_ != nullptr; }
  std::string path() const;
  // The content of a file; empty: there is none, it is unsafe, or it is larger than most_bytes.
  std::string read(const std::string& file) const;
  // Replaces a file by a new one with the text that `change` makes of the old one, under a lock that all processes take.
  // Readers see the old file or the new one. False: this is not possible, or the text is empty or too large.
  bool update(const std::string& file, const std::function<std::string(const std::string&)>& change) const;

  static constexpr std::size_t most_bytes = std::size_t{8} << 20;

 private:
  struct inside;
  std::unique_ptr<inside> inside_;
};

}  // namespace kaio::host
