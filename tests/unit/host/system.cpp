// What differs between systems does the same on each of them: libraries, memory, files, processes, the terminal, and the
// environment.

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "environment.hpp"
#include "host/system/files.hpp"
#include "host/system/library.hpp"
#include "host/system/memory.hpp"
#include "host/system/private_folder.hpp"
#include "host/system/process.hpp"
#include "host/system/rights.hpp"
#include "host/system/terminal.hpp"
#include "host/write_file.hpp"
#include "tool/temporary_folder.hpp"

namespace fs = std::filesystem;
namespace host = kaio::host;

namespace {

// A path with spaces and letters of several scripts, in UTF-8.
const std::string odd_name = "a folder \xc3\xa9\xc3\xbc \xe6\xbc\xa2\xe5\xad\x97";

fs::path path_in_utf8(const std::string& text) { return host::path_of(text); }

std::string contents(const std::string& file) {
  std::ifstream in(path_in_utf8(file), std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A folder of that name.
class odd_folder {
  kaio::tool::temporary_folder parent_;

 public:
  odd_folder() { fs::create_directory(path_in_utf8(path())); }
  std::string path() const { return parent_.path().string() + "/" + odd_name; }
  std::string file(const std::string& name) const { return path() + "/" + name; }
};

std::error_code refusal(const std::string& path) {
  try {
    host::write_file(path, {"text"});
  } catch (const host::write_error& e) {
    return e.code();
  }
  return {};
}

// Adds a character to a file of a private folder.
bool add_one(const host::private_folder& folder) {
  return folder.update("counted", [](const std::string& old) { return old + "x"; });
}

}  // namespace

TEST_CASE("pages of zeros are far more than the machine has, and are zero again after they are cleared") {
  const std::size_t bytes = std::size_t{64} << 30;
  auto* const pages = static_cast<unsigned char*>(host::reserve_zeros(bytes));
  REQUIRE(pages != nullptr);
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{65535}, std::size_t{65536}, bytes / 3, bytes - 1}) {
    CHECK(pages[at] == 0);
    pages[at] = 7;
    CHECK(pages[at] == 7);
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i)
    threads.emplace_back(
        [&, i] { std::memset(pages + bytes / 2 + i * 100000, static_cast<int>(i + 1), 100000); });
  for (std::thread& t : threads) t.join();
  CHECK(pages[bytes / 2 + 99999] == 1);
  CHECK(pages[bytes / 2 + 399999] == 4);
  REQUIRE(host::clear_zeros(pages, bytes));
  CHECK(pages[0] == 0);
  CHECK(pages[bytes / 2 + 99999] == 0);
  host::release_zeros(pages, bytes);
}

TEST_CASE("shared memory is one memory at two addresses, and is hidden again") {
  const std::uint64_t bytes = std::uint64_t{4} << 20, alignment = std::uint64_t{2} << 20;
  host::shared_memory memory;
  REQUIRE(memory.is_ready());
  const std::uint64_t pages = memory.take(bytes);
  REQUIRE(pages != host::shared_memory::none);
  auto* const at = static_cast<char*>(host::reserve_addresses(4 * bytes, alignment));
  REQUIRE(at != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(at) % alignment == 0);
  REQUIRE(memory.show(at + bytes, pages, 0, bytes));
  REQUIRE(memory.show(at + 3 * bytes, pages, alignment, bytes - alignment));
  CHECK(at[bytes] == 0);
  at[bytes + alignment + 5] = 'a';
  CHECK(at[3 * bytes + 5] == 'a');
  REQUIRE(host::hide_addresses(at + bytes, bytes));
  REQUIRE(memory.show(at + bytes, pages, 0, bytes));
  CHECK(at[bytes + alignment + 5] == 'a');
  host::release_addresses(at, 4 * bytes);
  memory.give_back(pages, bytes);
  CHECK(host::reserve_addresses(~std::uint64_t{0} - 4, alignment) == nullptr);
}

TEST_CASE("a page-aligned allocation is zero") {
  auto* const pages = static_cast<unsigned char*>(host::allocate_pages(5000));
  REQUIRE(pages != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(pages) % 4096 == 0);
  CHECK(pages[4999] == 0);
  host::free_pages(pages);
  CHECK(host::physical_memory() > std::uint64_t{64} << 20);
  CHECK(host::available_memory() > 0);
}

TEST_CASE("files have their bytes as they are, under names with spaces and letters of any script") {
  const odd_folder folder;
  const std::string file = folder.file("\xd1\x84.txt"), text = "one\r\ntwo\nthree\x1a\r\n";
  host::write_file(file, {text.substr(0, 5), text.substr(5)});
  CHECK(contents(file) == text);
  const host::file_view view = host::view_file(file);
  CHECK(view.reason.empty());
  REQUIRE(view.bytes.size() == text.size());
  CHECK(std::memcmp(view.bytes.data(), text.data(), text.size()) == 0);
  host::end_view(view.bytes);
  std::FILE* const opened = host::open_to_read(file);
  REQUIRE(opened != nullptr);
  char first[8] = {};
  CHECK(std::fread(first, 1, 5, opened) == 5);
  CHECK(std::string(first) == "one\r\n");
  std::fclose(opened);
  host::write_file(file, {"shorter"});
  CHECK(contents(file) == "shorter");
  host::write_file(file, {});
  const host::file_view empty = host::view_file(file);
  CHECK((empty.bytes.empty() && empty.reason.empty()));
}

TEST_CASE("what cannot be seen as memory is refused with a reason") {
  const odd_folder folder;
  CHECK_FALSE(host::view_file(folder.path()).reason.empty());
  CHECK(host::view_file(folder.file("missing")).reason ==
        std::make_error_code(std::errc::no_such_file_or_directory).message());
  CHECK(host::open_to_read(folder.file("missing")) == nullptr);
}

TEST_CASE("a path of more than 260 characters works") {
  const odd_folder folder;
  std::vector<std::string> folders;
  std::string deep = folder.path();
  for (int i = 0; i < 6; ++i) {
    deep += "/" + std::string(60, static_cast<char>('a' + i));
    fs::create_directory(path_in_utf8(deep));
    folders.push_back(deep);
  }
  const std::string file = deep + "/file";
  host::write_file(file, {"far"});
  host::write_file(file, {"far away"});
  CHECK(contents(file) == "far away");
  const host::file_view view = host::view_file(file);
  CHECK(view.bytes.size() == 8);
  host::end_view(view.bytes);
  // What removes a tree of folders knows no long paths on Windows.
  CHECK(fs::remove(path_in_utf8(file)));
  for (auto f = folders.rbegin(); f != folders.rend(); ++f) CHECK(fs::remove(path_in_utf8(*f)));
}

TEST_CASE("a file that cannot be written says why") {
  const odd_folder folder;
  CHECK(refusal(folder.file("no/such/folder")) == std::errc::no_such_file_or_directory);
  CHECK(refusal(folder.path()) == std::errc::is_a_directory);
  const std::string file = folder.file("kept");
  host::write_file(file, {"kept"});
  fs::permissions(path_in_utf8(file), fs::perms::owner_read);
#if defined(_WIN32)
  CHECK(refusal(file) == std::errc::permission_denied);  // on other systems the administrator may write it
  CHECK(contents(file) == "kept");
#endif
  fs::permissions(path_in_utf8(file), fs::perms::owner_all);
  CHECK(std::distance(fs::directory_iterator(path_in_utf8(folder.path())), fs::directory_iterator()) == 1);
}

TEST_CASE("writers of a private folder wait for one another") {
  const odd_folder home;
#if defined(_WIN32)
  const kaio::tests::environment variable("LOCALAPPDATA", home.path().c_str());
#else
  const kaio::tests::environment variable("XDG_CACHE_HOME", home.path().c_str());
#endif
  CHECK_FALSE(host::private_folder("tests", false).is_open());
  const host::private_folder folder("tests", true);
  REQUIRE(folder.is_open());
  CHECK(folder.read("counted").empty());
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const host::private_folder mine("tests", false);
      // A writer gives up after five seconds, which a busy disk may take for the others.
      for (int k = 0, tries = 0; k < 8 && tries < 100; ++tries)
        if (add_one(mine)) ++done, ++k;
    });
  for (std::thread& t : threads) t.join();
  CHECK(done == 32);
  CHECK(folder.read("counted") == std::string(32, 'x'));
  CHECK_FALSE(folder.update("counted", [](const std::string&) { return std::string(); }));
  CHECK(folder.read("counted").size() == 32);
}

// read_only.py runs it, as a user who may read the folder and not write it.
TEST_CASE("a folder without the right to write is read, and refuses files", "[.read_only]") {
  const std::string folder = host::environment_text("KAIO_TEST_READ_ONLY"), kept = folder + "/kept";
  REQUIRE_FALSE(folder.empty());
  CHECK(contents(kept) == "kept");
  const host::file_view view = host::view_file(kept);
  CHECK(view.bytes.size() == 4);
  host::end_view(view.bytes);
  CHECK(refusal(folder + "/new") == std::errc::permission_denied);
  CHECK(refusal(kept) == std::errc::permission_denied);
  CHECK(contents(kept) == "kept");
#if defined(_WIN32)
  const kaio::tests::environment variable("LOCALAPPDATA", folder.c_str());
#else
  const kaio::tests::environment variable("XDG_CACHE_HOME", folder.c_str());
#endif
  const host::private_folder none("tests", true);
  CHECK_FALSE(none.is_open());
  CHECK_FALSE(none.update("counted", [](const std::string&) { return std::string("x"); }));
}

TEST_CASE("a folder that may not be written has no files, and no private folder") {
  const odd_folder home;
  const std::string file = home.file("a file");
  host::write_file(file, {"kept"});
#if defined(_WIN32)
  const kaio::tests::environment variable("LOCALAPPDATA", file.c_str());
#else
  const kaio::tests::environment variable("XDG_CACHE_HOME", file.c_str());
#endif
  const host::private_folder none("tests", true);
  CHECK_FALSE(none.is_open());
  CHECK(none.read("counted").empty());
  CHECK_FALSE(none.update("counted", [](const std::string&) { return std::string("x"); }));
  CHECK(refusal(file + "/below") != std::error_code());
  CHECK(contents(file) == "kept");
}

TEST_CASE("a library is opened by its path, and a missing one has a reason") {
  const odd_folder folder;
  std::string reason;
  CHECK(host::open_library(folder.file("missing.so"), reason) == nullptr);
  CHECK_FALSE(reason.empty());
  static const int inside = 0;
  CHECK(host::library_of(&inside) != nullptr);
  const fs::path found = fs::path(host::file_of_library_of(&inside)).filename(),
                 here = fs::path(host::program_file()).filename();
  CHECK(found == here);
}

TEST_CASE("a program gets its words and variables as they are, and its lines come back") {
  std::vector<std::string> lines;
  // The tests' program refuses such an order, and names it.
  const std::string word = R"(an "odd\" word\\)";
  const host::outcome o =
      host::run_process({host::program_file(), "--order", word}, {{"KAIO_OF_THIS_TEST", "1"}},
                        [&](std::string_view line) { lines.emplace_back(line); });
  CHECK(o.code == 255);
  CHECK(o.signal == 0);
  bool named = false;
  for (const std::string& line : lines) named = named || line.find(word) != std::string::npos;
  CHECK(named);
  CHECK_THROWS_AS(host::run_process({"kaio-has-no-such-program"}, {}, nullptr), std::system_error);
}

TEST_CASE("the environment, the process and the terminal are known") {
  host::set_environment("KAIO_OF_THIS_TEST", "a value");
  CHECK(host::environment_text("KAIO_OF_THIS_TEST") == "a value");
  CHECK(std::string(std::getenv("KAIO_OF_THIS_TEST")) == "a value");
  host::set_environment("KAIO_OF_THIS_TEST", std::string(1000, 'v'));
  CHECK(host::environment_text("KAIO_OF_THIS_TEST").size() == 1000);
  host::unset_environment("KAIO_OF_THIS_TEST");
  CHECK(host::environment_text("KAIO_OF_THIS_TEST").empty());
  CHECK_FALSE(host::runs_elevated());
  CHECK(host::process_number() > 0);
  const int threads = host::thread_count();
  std::atomic<bool> over = false;
  std::thread one([&] {
    while (!over) std::this_thread::yield();
  });
  CHECK(host::thread_count() == threads + 1);
  over = true;
  one.join();
  CHECK(host::terminal_columns() > 0);
}
