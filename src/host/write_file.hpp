#pragma once
// Writes a whole file so that nothing is lost: what was there stays until the new content is complete.
//
//   host::write_file("y.npy", {header, elements});
//
// The content goes to a temporary file in the folder of the target, is flushed, and takes the target's name by a
// rename. A full disk, a limit on file sizes or a signal in between leaves the old file as it was; on file systems
// that have files without a name (O_TMPFILE of Linux) it leaves no temporary file either.
//
// A symbolic link is followed, and what it names is replaced. The permissions of the old file are kept, its owner
// and group as far as the process may give files away; access lists and other hard links are not. A file that may
// not be written to is refused, though its folder would permit the rename. What is not a file (a device, a pipe,
// /dev/stdout) is written directly.

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace kaio::host {

// A file that could not be written. Its message has the path and the system's reason.
class write_error : public std::runtime_error {
 public:
  write_error(const std::string& path, std::error_code reason);
  const std::string& path() const noexcept { return path_; }
  const std::error_code& code() const noexcept { return code_; }

 private:
  std::string path_;
  std::error_code code_;
};

// Whether the new content has to be on the disk before it takes the old one's place. Without, a loss of power
// soon afterwards may leave an empty file, which is enough for what can be made again, and much faster.
enum class durability { survives_power_loss, made_again };

// Replaces or creates the file `path` with the pieces, one after the other. Throws write_error.
void write_file(const std::string& path, std::initializer_list<std::string_view> pieces,
                durability wanted = durability::survives_power_loss);

}  // namespace kaio::host
