#include "weights/base/failure.hpp"

#include "host/printable.hpp"
#include "runtime/base/text.hpp"

namespace kaio::weights {
namespace {

std::string of_tensor(std::string_view tensor) {
  return tensor.empty() ? std::string() : runtime::text("tensor '", host::printable(tensor), "' ");
}

}  // namespace

void fail_damaged(std::string_view file, std::string_view tensor, std::string_view what) {
  throw file_error(errc::damaged_file,
                   runtime::text("kaio: '", file, "' is damaged: ", of_tensor(tensor), what,
                                 "; copy or make the file again"),
                   file, tensor);
}

void fail_foreign(std::string_view file, std::string_view what) {
  throw file_error(
      errc::damaged_file,
      runtime::text("kaio: '", file, "' is ", what, "; give a file of weights, or copy it again"), file, {});
}

void fail_unsupported(std::string_view file, std::string_view tensor, std::string_view what) {
  throw file_error(errc::unsupported_format, runtime::text("kaio: '", file, "': ", of_tensor(tensor), what),
                   file, tensor);
}

void fail_unreadable(std::string_view file, std::string_view why) {
  throw file_error(errc::unreadable_file, runtime::text("kaio: '", file, "' cannot be read: ", why), file,
                   {});
}

}  // namespace kaio::weights
