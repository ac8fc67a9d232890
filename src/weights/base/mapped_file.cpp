#include "weights/base/mapped_file.hpp"

#include <algorithm>
#include <utility>

#include "host/system/memory.hpp"
#include "weights/base/failure.hpp"

namespace kaio::weights {
namespace {

// A clone has such a pointer in place of a large file whose contents were not fetched.
bool is_lfs_pointer(std::span<const std::byte> bytes) {
  constexpr std::string_view beginning = "version https://git-lfs.github.com/spec/";
  return bytes.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), reinterpret_cast<const char*>(bytes.data()));
}

}  // namespace

mapped_file::mapped_file(std::string_view path) {
  if (path.find('\0') != std::string_view::npos) fail_unreadable(path, "its path has a character of value 0");
  const host::file_view view = host::view_file(std::string(path));
  if (!view.reason.empty()) fail_unreadable(path, view.reason);
  if (is_lfs_pointer(view.bytes)) {
    host::end_view(view.bytes);
    fail_unreadable(path,
                    "it is a pointer of Git LFS in place of the file; fetch the file with git lfs pull");
  }
  bytes_ = view.bytes;
}

mapped_file::mapped_file(mapped_file&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

mapped_file::~mapped_file() {
  if (!bytes_.empty()) host::end_view(bytes_);
}

}  // namespace kaio::weights
