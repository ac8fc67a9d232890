#pragma once
// Writes a whole file so that nothing is lost: the old content stays until the new content is complete.
//
//   host::write_file("y.npy", {header, elements});
//
// The content goes to a temporary file in the folder of the target, is flushed, and takes the target's name by a
// rename. A full disk, a limit on file sizes or a signal in between leaves the old file as it was. If the file system
// has files without a name (O_TMPFILE of Linux), no temporary file is left either.
//
// A symbolic link is followed, and its target is replaced. The permissions of the old file are kept. Its owner and group
// are kept as far as the process may give files away; access lists and other hard links are not. A read-only file is
// refused, though its folder would permit the rename. If the target is no file (a device, a pipe, /dev/stdout), it is
// written directly.

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

// Whether the new content must be on the disk before it takes the old one's place. If it need not be, a loss of power
// soon afterwards may leave an empty file. This suffices for what can be made again, and is much faster.
enum class durability { survives_power_loss, made_again };

// Replaces or creates the file `path` with the pieces, one after the other. Throws write_error.
void write_file(const std::string& path, std::initializer_list<std::string_view> pieces,
                durability wanted = durability::survives_power_loss);

}  // namespace kaio::host
