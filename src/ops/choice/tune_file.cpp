#include "ops/choice/tune_file.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "runtime/base/elevated.hpp"

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/size_limit.hpp"
#endif

namespace kaio::ops {

#if defined(_WIN32)

// Without POSIX permissions no folder is known to be safe. Tuning holds for the process alone.
std::string tune_folder(bool) { return {}; }
tune_map read_tuning(std::string_view) { return {}; }
bool write_tuning(std::string_view, std::string_view, std::string_view) { return false; }

#else

namespace {

constexpr std::size_t most_bytes = std::size_t{8} << 20;

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

// The user's folder for caches, an absolute path.
std::string cache_home() {
  std::string wanted = runtime::file_variable("XDG_CACHE_HOME");
  if (wanted.starts_with('/')) return wanted;
  const std::string home = runtime::file_variable("HOME");
  return home.starts_with('/') ? home + "/.cache" : std::string();
}

descriptor open_folder(int at, const char* name, bool create, bool must_be_ours) {
  if (create && ::mkdirat(at, name, S_IRWXU) != 0 && errno != EEXIST) return descriptor(-1);
  const int follow = must_be_ours ? O_NOFOLLOW : 0;
  descriptor result(::openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow));
  if (result && must_be_ours && !is_safe(result.get(), true)) return descriptor(-1);
  return result;
}

// The folder of the files. Each folder below the user's own is checked.
descriptor open_tune_folder(bool create) {
  const std::string home = cache_home();
  if (home.empty()) return descriptor(-1);
  const descriptor base = open_folder(AT_FDCWD, home.c_str(), create, false);
  if (!base) return descriptor(-1);
  const descriptor ours = open_folder(base.get(), "kaio", create, true);
  if (!ours) return descriptor(-1);
  return open_folder(ours.get(), "tune", create, true);
}

std::string file_name(std::string_view device) { return "device-" + tune_digest(device); }

std::string read_all(int folder, const std::string& name) {
  const descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
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

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ::ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Takes the lock of the folder's writers. Gives up after five seconds, because tuning must not hang.
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

std::string tune_folder(bool create) {
  return open_tune_folder(create) ? cache_home() + "/kaio/tune" : std::string();
}

tune_map read_tuning(std::string_view device) {
  const descriptor folder = open_tune_folder(false);
  return folder ? parse_tuning(read_all(folder.get(), file_name(device)), device) : tune_map{};
}

bool write_tuning(std::string_view device, std::string_view key, std::string_view variant) {
  if (!is_tune_word(key) || !is_tune_word(variant) || device.find('\n') != std::string_view::npos)
    return false;
  const descriptor folder = open_tune_folder(true);
  if (!folder) return false;
  const descriptor gate(
      ::openat(folder.get(), "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!gate || !is_safe(gate.get(), false) || !lock(gate.get())) return false;
  // No other process writes now: a temporary file here comes from a writer that was killed.
  const std::string name = file_name(device), temporary = name + ".new";
  tune_map all = parse_tuning(read_all(folder.get(), name), device);
  all.insert_or_assign(std::string(key), std::string(variant));
  const std::string text = print_tuning(all, device);
  if (text.size() > most_bytes) return false;
  const host::size_limit_is_an_error guard;
  ::unlinkat(folder.get(), temporary.c_str(), 0);
  bool written = false;
  {
    const descriptor file(::openat(folder.get(), temporary.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
    written = file && write_all(file.get(), text) && ::fsync(file.get()) == 0;
  }
  if (written && ::renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) == 0) return true;
  ::unlinkat(folder.get(), temporary.c_str(), 0);
  return false;
}

#endif

}  // namespace kaio::ops
