#include "host/system/private_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>

#include "host/posix/size_limit.hpp"
#include "host/system/rights.hpp"

namespace kaio::host {
namespace {

// A file descriptor that closes itself.
class descriptor {
 public:
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_;
};

// Whether it is ours, and no other user can write to it.
bool is_safe(int fd, bool folder) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return false;
  return (folder ? S_ISDIR(facts.st_mode) : S_ISREG(facts.st_mode)) && facts.st_uid == ::geteuid() &&
         (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// The value of a variable that names a folder, an absolute path. A program that runs elevated has its user's environment.
std::string folder_variable(const char* name) {
  std::string value = runs_elevated() ? std::string() : environment_text(name);
  return value.starts_with('/') ? value : std::string();
}

// The user's folder for caches, an absolute path.
std::string cache_home() {
  std::string wanted = folder_variable("XDG_CACHE_HOME");
  if (!wanted.empty()) return wanted;
  const std::string home = folder_variable("HOME");
  return home.empty() ? home : home + "/.cache";
}

descriptor open_folder(int at, const char* name, bool create, bool must_be_ours) {
  if (create && ::mkdirat(at, name, S_IRWXU) != 0 && errno != EEXIST) return descriptor(-1);
  const int follow = must_be_ours ? O_NOFOLLOW : 0;
  descriptor result(::openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow));
  if (result && must_be_ours && !is_safe(result.get(), true)) return descriptor(-1);
  return result;
}

// Each folder below the user's own is checked.
descriptor open_whole(const std::string& home, const std::string& name, bool create) {
  if (home.empty()) return descriptor(-1);
  const descriptor base = open_folder(AT_FDCWD, home.c_str(), create, false);
  if (!base) return descriptor(-1);
  const descriptor ours = open_folder(base.get(), "kaio", create, true);
  if (!ours) return descriptor(-1);
  return open_folder(ours.get(), name.c_str(), create, true);
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ::ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Takes the lock of the folder's writers. Gives up after five seconds, because a program must not hang.
bool lock(int fd) {
  constexpr int attempts = 1000;
  for (int i = 0; i < attempts; ++i) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace

struct private_folder::inside {
  descriptor folder;
  std::string path;
};

private_folder::private_folder(const std::string& name, bool create) {
  const std::string home = cache_home();
  descriptor folder = open_whole(home, name, create);
  if (folder) inside_ = std::make_unique<inside>(inside{std::move(folder), home + "/kaio/" + name});
}
private_folder::~private_folder() = default;
private_folder::private_folder(private_folder&&) noexcept = default;

std::string private_folder::path() const { return is_open() ? inside_->path : std::string(); }

std::string private_folder::read(const std::string& file_name) const {
  if (!is_open()) return {};
  constexpr int how = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const descriptor file(::openat(inside_->folder.get(), file_name.c_str(), how));
  if (!file || !is_safe(file.get(), false)) return {};
  std::string text;
  std::array<char, 16384> piece{};
  for (;;) {
    const ::ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > most_bytes) return {};
  }
  return text;
}

bool private_folder::update(const std::string& file_name,
                            const std::function<std::string(const std::string&)>& change) const {
  if (!is_open()) return false;
  const int folder = inside_->folder.get();
  const descriptor gate(
      ::openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!gate || !is_safe(gate.get(), false) || !lock(gate.get())) return false;
  // No other process writes now: a temporary file here comes from a writer that was killed.
  const std::string temporary = file_name + ".new", text = change(read(file_name));
  if (text.empty() || text.size() > most_bytes) return false;
  const size_limit_is_an_error guard;
  ::unlinkat(folder, temporary.c_str(), 0);
  bool written = false;
  {
    const descriptor file(::openat(folder, temporary.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
    written = file && write_all(file.get(), text) && ::fsync(file.get()) == 0;
  }
  if (written && ::renameat(folder, temporary.c_str(), folder, file_name.c_str()) == 0) return true;
  ::unlinkat(folder, temporary.c_str(), 0);
  return false;
}

}  // namespace kaio::host
