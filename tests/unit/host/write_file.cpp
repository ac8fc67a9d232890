// A file has its old content or its new one, whatever happens while it is written, and no temporary file is left.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "catch.hpp"
#include "host/write_file.hpp"
#include "tool/temporary_folder.hpp"

namespace fs = std::filesystem;
using kaio::host::durability;
using kaio::host::write_error;
using kaio::host::write_file;

namespace {

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

mode_t rights(const fs::path& file) {
  struct stat facts {};
  REQUIRE(::stat(file.c_str(), &facts) == 0);
  return facts.st_mode & 07777;
}

// A folder with one file, which has an old content.
class folder_of_one {
  kaio::tool::temporary_folder folder_;

 public:
  fs::path file = folder_.path() / "x.npy";
  folder_of_one() { std::ofstream(file) << "old"; }
  const fs::path& path() const { return folder_.path(); }
  bool has_nothing_else() const {
    return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()) == 1;
  }
  // A complete file may have been about to be renamed.
  bool has_no_part_of(std::uintmax_t bytes) const {
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      if (entry.path() != file && entry.file_size() != bytes) return false;
    return true;
  }
};

// The limit on file sizes in a scope, in bytes.
class size_limit {
 public:
  explicit size_limit(rlim_t bytes) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit lower{bytes, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &lower) == 0);
  }
  ~size_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  size_limit(const size_limit&) = delete;
  size_limit& operator=(const size_limit&) = delete;

 private:
  rlimit before_{};
};

std::error_code refusal(const std::string& path, std::string_view content) {
  try {
    write_file(path, {content});
  } catch (const write_error& e) {
    CHECK(e.path() == path);
    CHECK(std::string_view(e.what()).starts_with("kaio: '" + path +
                                                 "' cannot be written: " + e.code().message() + "; "));
    return e.code();
  }
  return {};
}

}  // namespace

TEST_CASE("a file is created, and replaced as a whole") {
  const folder_of_one folder;
  write_file(folder.file.string(), {"one", "", " two"});
  CHECK(contents(folder.file) == "one two");
  CHECK(folder.has_nothing_else());
  const mode_t mask = ::umask(027);
  write_file((folder.path() / "new").string(), {"n"}, durability::made_again);
  ::umask(mask);
  CHECK(contents(folder.path() / "new") == "n");
  CHECK(rights(folder.path() / "new") == 0640);
  // The usual way of a relative path.
  const fs::path here = fs::current_path();
  fs::current_path(folder.path());
  write_file("new", {"m"});
  fs::current_path(here);
  CHECK(contents(folder.path() / "new") == "m");
}

TEST_CASE("the rights of the old file are kept") {
  const folder_of_one folder;
  for (const mode_t mode : {0600u, 0644u, 0666u, 0640u, 0755u}) {
    REQUIRE(::chmod(folder.file.c_str(), mode) == 0);
    write_file(folder.file.string(), {"new"});
    CHECK(rights(folder.file) == mode);
  }
  if (::geteuid() == 0) {  // and its owner, where one may give files away
    REQUIRE(::chown(folder.file.c_str(), 12345, 54321) == 0);
    write_file(folder.file.string(), {"newer"});
    struct stat facts {};
    REQUIRE(::stat(folder.file.c_str(), &facts) == 0);
    CHECK(facts.st_uid == 12345);
    CHECK(facts.st_gid == 54321);
  } else {
    REQUIRE(::chmod(folder.file.c_str(), 0444) == 0);
    CHECK(refusal(folder.file.string(), "newer") == std::errc::permission_denied);
    CHECK(contents(folder.file) == "new");
  }
}

TEST_CASE("a symbolic link is followed, and stays") {
  const folder_of_one folder, other;
  fs::create_symlink(folder.file, other.path() / "absolute");
  fs::create_symlink("absolute", other.path() / "link");
  write_file((other.path() / "link").string(), {"new"});
  CHECK(contents(folder.file) == "new");
  CHECK(fs::is_symlink(other.path() / "absolute"));
  // One that names nothing yet: its target is made.
  fs::create_symlink("not/there", other.path() / "dangling");
  CHECK(refusal((other.path() / "dangling").string(), "x") == std::errc::no_such_file_or_directory);
  fs::create_directory(other.path() / "not");
  write_file((other.path() / "dangling").string(), {"x"});
  CHECK(contents(other.path() / "not/there") == "x");
  fs::create_symlink("round", other.path() / "round");
  CHECK(refusal((other.path() / "round").string(), "x") == std::errc::too_many_symbolic_link_levels);
}

TEST_CASE("what is no file is written directly") {
  const folder_of_one folder;
  const fs::path pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::string read;
  std::thread reader([&] { read = contents(pipe); });
  write_file(pipe.string(), {"through ", "the pipe"});
  reader.join();
  CHECK(read == "through the pipe");
  CHECK(fs::is_fifo(pipe));
  write_file("/dev/null", {"gone"});
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(refusal("/dev/full", "x") == std::errc::no_space_on_device);
  CHECK(refusal(folder.path().string(), "x") == std::errc::is_a_directory);
  CHECK(refusal((folder.path() / "no/such").string(), "x") == std::errc::no_such_file_or_directory);
  // /dev/fd/N is the descriptor itself: what it has got before stays.
  const int fd = ::open(folder.file.c_str(), O_WRONLY | O_TRUNC);
  REQUIRE(::write(fd, "first ", 6) == 6);
  write_file("/dev/fd/" + std::to_string(fd), {"second"});
  ::close(fd);
  CHECK(contents(folder.file) == "first second");
}

TEST_CASE("a limit on file sizes leaves the old file, and the program") {
  const folder_of_one folder;
  const std::string large(100'000, 'x');
  {
    const size_limit limit(4096);
    CHECK(refusal(folder.file.string(), large) == std::errc::file_too_large);
    write_file((folder.path() / "small").string(), {"fits"});
  }
  CHECK(contents(folder.file) == "old");
  fs::remove(folder.path() / "small");
  CHECK(folder.has_nothing_else());
  write_file(folder.file.string(), {large});
  CHECK(contents(folder.file) == large);
}

TEST_CASE("a process that is killed leaves the old file or the new one") {
  const folder_of_one folder;
  const std::string large(std::size_t{24} << 20, 'n');
  const int probe = ::open(folder.path().c_str(), O_TMPFILE | O_WRONLY, 0600);
  const bool nameless = probe >= 0;  // the file system has files without a name
  if (nameless) ::close(probe);
  int killed_before = 0;
  // Later and later, until one gets to its end.
  for (auto delay = std::chrono::microseconds(0);; delay = delay * 2 + std::chrono::microseconds(300)) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      write_file(folder.file.string(), {large, large}, durability::made_again);
      ::_exit(0);
    }
    std::this_thread::sleep_for(delay);
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    const std::string found = contents(folder.file);
    if (nameless) CHECK(folder.has_no_part_of(2 * large.size()));
    if (found.size() == 2 * large.size() && found.front() == 'n' && found.back() == 'n') break;
    REQUIRE(found == "old");
    ++killed_before;
  }
  CHECK(killed_before > 0);
}

TEST_CASE("writers of one file do not mix") {
  const folder_of_one folder;
  const std::string a(300'000, 'a'), b(200'000, 'b');
  const auto write = [&](const std::string& text) {
    for (int i = 0; i < 20; ++i) write_file(folder.file.string(), {text}, durability::made_again);
  };
  std::thread other([&] { write(a); });
  write(b);
  other.join();
  const std::string found = contents(folder.file);
  CHECK((found == a || found == b));
  CHECK(folder.has_nothing_else());
}
