#include "weights/base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "weights/base/failure.hpp"

namespace kaio::weights {
namespace {

class descriptor {
 public:
  // A pipe must not wait for its other end: it is refused below.
  explicit descriptor(const std::string& path)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const noexcept { return number_; }

 private:
  int number_;
};

// A clone has such a pointer in place of a large file whose contents were not fetched.
bool is_lfs_pointer(int file) {
  constexpr std::string_view beginning = "version https://git-lfs.github.com/spec/";
  char first[beginning.size()];
  return pread(file, first, sizeof first, 0) == static_cast<ssize_t>(sizeof first) &&
         std::string_view(first, sizeof first) == beginning;
}

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

mapped_file::mapped_file(std::string_view path) {
  if (path.find('\0') != std::string_view::npos) fail_unreadable(path, "its path has a character of value 0");
  const std::string name(path);
  const descriptor file(name);
  struct stat facts {};
  if (file.number() < 0 || fstat(file.number(), &facts) != 0) fail_unreadable(path, reason());
  if (!S_ISREG(facts.st_mode)) fail_unreadable(path, "it is not a regular file");
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (size == 0) return;
  if (is_lfs_pointer(file.number()))
    fail_unreadable(path,
                    "it is a pointer of Git LFS in place of the file; fetch the file with git lfs pull");
  if (size > SIZE_MAX / 2) fail_unreadable(path, "it is larger than the address space");
  void* const at = mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (at == MAP_FAILED) fail_unreadable(path, reason());
  bytes_ = {static_cast<const std::byte*>(at), static_cast<std::size_t>(size)};
}

mapped_file::mapped_file(mapped_file&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

mapped_file::~mapped_file() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace kaio::weights
