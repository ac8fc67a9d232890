#include "ops/tune/tune_file.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
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
#endif

namespace kaio::ops {

#if defined(_WIN32)

// Without POSIX's rights there is no folder that is known to be safe: tuning holds for the process.
std::string tune_folder(bool) { return {}; }
tune_map read_tuning(std::string_view) { return {}; }
bool write_tuning(std::string_view, std::string_view, std::string_view) { return false; }

#else

namespace {

constexpr std::string_view first_words = "kaio-tune 1 ";
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

// FNV-1a.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325u) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  return hash;
}

std::string hexadecimal(std::uint64_t value) {
  std::string result(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) result[i] = "0123456789abcdef"[value & 15];
  return result;
}

std::string checksum(std::string_view device, std::string_view key, std::string_view variant) {
  std::uint64_t hash = hash_of(device);
  for (const std::string_view part : {std::string_view("\n"), key, std::string_view(" "), variant})
    hash = hash_of(part, hash);
  return hexadecimal(hash);
}

// One word of printable characters, as keys and variants are.
bool is_word(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text)
    if (c <= ' ' || c > '~') return false;
  return true;
}

// Ours, and no other user can write to it.
bool is_safe(int fd, bool folder) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return false;
  return (folder ? S_ISDIR(facts.st_mode) : S_ISREG(facts.st_mode)) && facts.st_uid == ::geteuid() &&
         (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// The user's folder for caches, an absolute path.
std::string cache_home() {
  const std::string wanted = runtime::file_variable("XDG_CACHE_HOME");
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

// The folder of the files, each step of it below the user's own checked.
descriptor open_tune_folder(bool create) {
  const std::string home = cache_home();
  if (home.empty()) return descriptor(-1);
  const descriptor base = open_folder(AT_FDCWD, home.c_str(), create, false);
  if (!base) return descriptor(-1);
  const descriptor ours = open_folder(base.get(), "kaio", create, true);
  if (!ours) return descriptor(-1);
  return open_folder(ours.get(), "tune", create, true);
}

std::string file_name(std::string_view device) { return "matmul-" + hexadecimal(hash_of(device)); }

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

tune_map parse(std::string_view text, std::string_view device) {
  tune_map result;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // a line that was cut off
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (first) {
      if (line.substr(0, first_words.size()) != first_words || line.substr(first_words.size()) != device)
        return {};
      first = false;
      continue;
    }
    const std::size_t one = line.find(' '),
                      two = line.find(' ', one == std::string_view::npos ? one : one + 1);
    if (one != 16 || two == std::string_view::npos) continue;
    const std::string_view key = line.substr(one + 1, two - one - 1), variant = line.substr(two + 1);
    if (is_word(key) && is_word(variant) && line.substr(0, one) == checksum(device, key, variant))
      result.insert_or_assign(std::string(key), std::string(variant));
  }
  return result;
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

// The lock of the folder's writers; given up after a second, because tuning must not hang.
bool lock(int fd) {
  constexpr int attempts = 200;
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
  return folder ? parse(read_all(folder.get(), file_name(device)), device) : tune_map{};
}

bool write_tuning(std::string_view device, std::string_view key, std::string_view variant) {
  if (!is_word(key) || !is_word(variant) || device.find('\n') != std::string_view::npos) return false;
  const descriptor folder = open_tune_folder(true);
  if (!folder) return false;
  const descriptor gate(
      ::openat(folder.get(), "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!gate || !is_safe(gate.get(), false) || !lock(gate.get())) return false;
  // No other process writes now: a temporary file here is of a writer that was killed.
  const std::string name = file_name(device), temporary = name + ".new";
  tune_map all = parse(read_all(folder.get(), name), device);
  all.insert_or_assign(std::string(key), std::string(variant));
  std::string text(first_words);
  text.append(device).append("\n");
  for (const auto& [k, v] : all)
    text.append(checksum(device, k, v)).append(" ").append(k).append(" ").append(v).append("\n");
  if (text.size() > most_bytes) return false;
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
