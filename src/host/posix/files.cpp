#include "host/system/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "host/posix/size_limit.hpp"

namespace kaio::host {
namespace {

namespace files = std::filesystem;

[[noreturn]] void fail(int reason = errno) { throw std::system_error(reason, std::generic_category()); }

// A name for a temporary file next to `target`; another one each time.
files::path temporary_name(const files::path& target) {
  static std::atomic<unsigned> count{0};
  return target.parent_path() / (".kaio-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
}

constexpr int most_links = 40;    // as Linux follows
constexpr int most_names = 1000;  // of temporary files that others left

// A file descriptor that closes itself.
class descriptor {
 public:
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() { close(); }
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  // False with errno: some file systems report only now that the disk is full.
  bool close() noexcept {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0 || errno == EINTR;
  }

 private:
  int fd_;
};

bool write_all(int fd, std::initializer_list<std::string_view> pieces) {
  constexpr std::size_t most_at_once = std::size_t{1} << 30;  // macOS refuses 2 GiB and more
  for (std::string_view rest : pieces) {
    while (!rest.empty()) {
      const ::ssize_t count = ::write(fd, rest.data(), std::min(rest.size(), most_at_once));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  return true;
}

bool flush(int fd) {
  // A file that cannot be flushed at all, as on some network file systems, reports EINVAL.
  return ::fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
}

// The descriptor that a path names, such as /dev/stdout. Opening such a path would open its file again, from the
// beginning.
std::optional<int> named_descriptor(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int fd = -1;
    const auto [end, error] = std::from_chars(path.data() + folder.size(), path.data() + path.size(), fd);
    if (error == std::errc() && end == path.data() + path.size() && fd >= 0) return fd;
  }
  return std::nullopt;
}

constexpr mode_t all_rights = S_IRWXU | S_IRWXG | S_IRWXO;

// The path without symbolic links in its last place, and what is there.
struct place {
  files::path path;
  std::optional<int> fd;              // it names this descriptor
  std::optional<struct stat> status;  // not there: nothing has this name
};

place find_place(const std::string& path) {
  place found{path, {}, {}};
  for (int links = 0; links < most_links; ++links) {
    found.fd = named_descriptor(found.path.native());
    if (found.fd) return found;
    struct stat status {};
    if (::lstat(found.path.c_str(), &status) != 0) {
      if (errno != ENOENT) fail();
      return found;
    }
    if (!S_ISLNK(status.st_mode)) {
      found.status = status;
      return found;
    }
    std::error_code failed;
    const files::path named = files::read_symlink(found.path, failed);
    if (failed) throw std::system_error(failed);
    found.path = found.path.parent_path() / named;
  }
  fail(ELOOP);
}

// Gives the new file the old one's group, owner and rights, as far as the process may. If it cannot give the group, the
// file's group has no more rights than everybody.
bool keep_rights(int fd, const struct stat& old) {
  struct stat now {};
  if (::fstat(fd, &now) != 0) return false;
  mode_t rights = old.st_mode & all_rights;
  constexpr auto unchanged_user = static_cast<uid_t>(-1);
  constexpr auto unchanged_group = static_cast<gid_t>(-1);
  const bool has_group = now.st_gid == old.st_gid || ::fchown(fd, unchanged_user, old.st_gid) == 0;
  if (!has_group) rights = (rights & ~mode_t{S_IRWXG}) | ((rights & S_IRWXO) << 3);
  if (::fchmod(fd, rights) != 0) return false;
  // The last step: a process that gave a file away may not change it any more. The call may well be refused.
  [[maybe_unused]] const bool has_owner =
      now.st_uid == old.st_uid || ::fchown(fd, old.st_uid, unchanged_group) == 0;
  return true;
}

// A file in the target's folder that is not visible yet. If possible it has no name until it is complete: if the process
// is killed, the system removes it.
class temporary_file {
 public:
  temporary_file(files::path target, mode_t mode) : target_(std::move(target)), file_(open(mode)) {}
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  explicit operator bool() const noexcept { return static_cast<bool>(file_); }
  int get() const noexcept { return file_.get(); }

  // Takes the target's name. False with errno.
  bool publish() {
    if (name_.empty() && !give_name()) return false;
    if (!file_.close() || ::rename(name_.c_str(), target_.c_str()) != 0) return false;
    name_.clear();
    return true;
  }

 private:
  int open(mode_t mode) {
#if defined(O_TMPFILE)
    // A name is given through /proc.
    if (::access("/proc/self/fd", X_OK) == 0) {
      const files::path folder = target_.has_parent_path() ? target_.parent_path() : files::path(".");
      const int fd = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
      if (fd >= 0) return fd;
    }
#endif
    int fd = -1;
    for (int i = 0; i < most_names; ++i) {
      name_ = temporary_name(target_);
      fd = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
      if (fd >= 0 || errno != EEXIST) break;
    }
    if (fd < 0) name_.clear();
    return fd;
  }

  bool give_name() {
    const std::string self = "/proc/self/fd/" + std::to_string(file_.get());
    for (int i = 0; i < most_names; ++i) {
      const files::path name = temporary_name(target_);
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        name_ = name;
        return true;
      }
      if (errno != EEXIST) break;
    }
    return false;
  }

  files::path target_, name_;
  descriptor file_;
};

}  // namespace

std::FILE* open_to_read(const std::string& path) { return std::fopen(path.c_str(), "rbe"); }

std::filesystem::path path_of(const std::string& path) { return path; }

void replace_file(const std::string& path, std::initializer_list<std::string_view> pieces, bool flushed) {
  const size_limit_is_an_error guard;
  const place target = find_place(path);
  if (target.fd) {
    std::fflush(stdout);
    if (!write_all(*target.fd, pieces)) fail();
    return;
  }
  if (target.status && !S_ISREG(target.status->st_mode)) {
    descriptor direct(::open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!direct || !write_all(direct.get(), pieces) || !direct.close()) fail();
    return;
  }
  if (target.status && ::faccessat(AT_FDCWD, target.path.c_str(), W_OK, AT_EACCESS) != 0) fail();
  // A new file has the rights that the umask leaves. Only its owner may read a replacement until it has the old rights.
  constexpr mode_t usual = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  temporary_file file(target.path, target.status ? target.status->st_mode & (S_IRUSR | S_IWUSR) : usual);
  if (!file || !write_all(file.get(), pieces)) fail();
  if (target.status && !keep_rights(file.get(), *target.status)) fail();
  if (flushed && !flush(file.get())) fail();
  if (!file.publish()) fail();
}

}  // namespace kaio::host
