#include "host/write_file.hpp"

#include "host/printable.hpp"
#include "host/system/files.hpp"

namespace kaio::host {
namespace {

std::string what_to_do(std::error_code reason) {
  if (reason == std::errc::no_space_on_device) return "make room there, or name a file on another disk";
  if (reason == std::errc::file_too_large) return "raise the limit on file sizes (ulimit -f)";
  if (reason == std::errc::is_a_directory) return "name a file in it";
  if (reason == std::errc::no_such_file_or_directory) return "make its folder first";
  return "name a file in a folder that you may write to";
}

}  // namespace

write_error::write_error(const std::string& path, std::error_code reason)
    : std::runtime_error("kaio: '" + printable(path) + "' cannot be written: " + reason.message() + "; " +
                         what_to_do(reason)),
      path_(path),
      code_(reason) {}

void write_file(const std::string& path, std::initializer_list<std::string_view> pieces, durability wanted) {
  try {
    replace_file(path, pieces, wanted == durability::survives_power_loss);
  } catch (const std::system_error& e) {
    throw write_error(path, e.code());
  }
}

}  // namespace kaio::host
