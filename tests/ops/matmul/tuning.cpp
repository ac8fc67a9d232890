// tune measures on memory of its own and remembers. It is believed only where its file is whole, safe and
// of this device; concurrent and killed writers leave a file that is one or the other.
#include <kaio/ops/parity/matmul.hpp>
#include <kaio/ops/tune.hpp>

#include "ops/choice/tune_file.hpp"
#include "tests/ops/matmul/support.hpp"
#include "tests/ops/tune_support.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kaio;
using namespace kaio::tests;
namespace fs = std::filesystem;

namespace {

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
void replace(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

constexpr const char* device_words = "some_device sm_90 132 driver 13000";

}  // namespace

TEST_CASE("tune: finds, remembers, and leaves the caller's data alone", "[ops][matmul][tune]") {
  const own_cache cache;
  device& gpu = under_test();
  matrices<f16> a(1, 40, 64, false), b(1, 64, 48, false);
  matrices<f16> c(1, 40, 48, false);
  a.fill(content::random, 1);
  b.fill(content::random, 2);
  auto da = upload(a.host), db = upload(b.host), dc = upload(c.host);
  const auto va = view_of<const f16>(da, a), vb = view_of<const f16>(db, b);
  const auto vc = view_of<f16>(dc, c);
  const auto before = ops::matmul_choice(gpu.stream(), va, vb, vc).name;
  const ops::tune_report report = tune_matmul(gpu, va, vb, vc, {}, {.repetitions = 1});
  REQUIRE(same_bits(dc.download(), c.host));
  REQUIRE(same_bits(da.download(), a.host));
  REQUIRE(report.variant_before == before);
  REQUIRE(report.saved);
  REQUIRE(report.entries.size() > 1);
  REQUIRE(report.entries.front().variant == report.variant);
  REQUIRE(ops::matmul_choice(gpu.stream(), va, vb, vc).name == report.variant);
  // Another process would read it from the file.
  ops::forget_tuning();
  REQUIRE(ops::matmul_choice(gpu.stream(), va, vb, vc).name == report.variant);
  // Another shape is not concerned, and results keep their bounds.
  check_matmul<f16, f16>({1, 40, 48, 64}, {}, content::random);
  // An unknown name is a miss.
  fs::remove_all(cache.folder());
  ops::forget_tuning();
  REQUIRE(ops::matmul_choice(gpu.stream(), va, vb, vc).name == before);
}

TEST_CASE("tune: what is added is C itself on memory of its own too", "[ops][matmul][tune]") {
  const own_cache cache;
  device& gpu = under_test();
  auto x = gpu.allocate<f16>(64 * 64), y = gpu.allocate<f16>(64 * 64);
  const tensor_view<const f16, 2> a(x, 40, 64), b(x, 64, 48);
  const tensor_view<f16, 2> c(y, 40, 48);
  const ops::matmul_options options{.beta = 1};
  const ops::tune_report report = tune_matmul(gpu, a, b, c, options, {.repetitions = 1});
  // Every kernel that was measured takes the call.
  for (const auto& v : ops::matmul_variants(gpu.stream(), a, b, c, options)) {
    CAPTURE(v.name);
    CHECK(has(report, v.name) == v.refusal.empty());
  }
  REQUIRE(ops::matmul_choice(gpu.stream(), a, b, c, options).name == report.variant);
}

TEST_CASE("tune: what is not remembered changes nothing", "[ops][matmul][tune]") {
  const own_cache cache;
  device& gpu = under_test();
  auto x = gpu.allocate<f16>(64 * 64), y = gpu.allocate<f16>(64 * 64);
  const tensor_view<const f16, 2> a(x, 64, 64);
  const tensor_view<f16, 2> c(y, 64, 64);
  const auto before = ops::matmul_choice(gpu.stream(), a, a, c).name;
  const auto report = tune_matmul(gpu, a, a, c, {}, {.repetitions = 1, .remember = false});
  REQUIRE_FALSE(report.saved);
  REQUIRE(ops::matmul_choice(gpu.stream(), a, a, c).name == before);
  REQUIRE_FALSE(fs::exists(cache.folder()));
  // For this process alone.
  tune_matmul(gpu, a, a, c, {}, {.repetitions = 1, .use_files = false});
  REQUIRE_FALSE(fs::exists(cache.folder()));
  REQUIRE_FALSE(ops::tune_matmul(gpu, 8, 8, 8).empty());
}

TEST_CASE("tune: the folder is the user's alone", "[ops][matmul][tune]") {
  const own_cache cache;
  REQUIRE(ops::write_tuning(device_words, "key", "variant"));
  struct stat facts {};
  REQUIRE(::stat(cache.folder().c_str(), &facts) == 0);
  REQUIRE((facts.st_mode & 0777) == 0700);
  REQUIRE(ops::tuning_folder() == cache.folder().string());
  // Writable by others: neither read nor written.
  fs::permissions(cache.folder(), fs::perms::owner_all | fs::perms::others_write);
  REQUIRE(ops::read_tuning(device_words).empty());
  REQUIRE_FALSE(ops::write_tuning(device_words, "key", "other"));
  REQUIRE(ops::tuning_folder().empty());
  fs::permissions(cache.folder(), fs::perms::owner_all);
  REQUIRE(ops::read_tuning(device_words).at("key") == "variant");
  // So is a file that others may write, and one that is a link.
  const fs::path file = cache.file();
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_write);
  REQUIRE(ops::read_tuning(device_words).empty());
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::rename(file, cache.home() / "elsewhere");
  fs::create_symlink(cache.home() / "elsewhere", file);
  REQUIRE(ops::read_tuning(device_words).empty());
  // A relative path is not used.
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", cache.home().c_str(), 1);
  REQUIRE(ops::tuning_folder().empty());
  REQUIRE_FALSE(fs::exists("relative"));
  ::setenv("XDG_CACHE_HOME", cache.home().c_str(), 1);
}

TEST_CASE("tune: a limit on file sizes leaves what was found before, and the program",
          "[ops][matmul][tune]") {
  const own_cache cache;
  REQUIRE(ops::write_tuning(device_words, "key", "variant"));
  const std::string before = contents(cache.file());
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const rlimit small{before.size(), limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const bool written = ops::write_tuning(device_words, "another_key", "variant");
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  REQUIRE_FALSE(written);
  REQUIRE(contents(cache.file()) == before);
  const auto files = std::distance(fs::directory_iterator(cache.folder()), fs::directory_iterator());
  REQUIRE(files == 2);  // that, and the lock
}

TEST_CASE("tune: a folder that belongs to another, or cannot be written", "[ops][matmul][tune]") {
  const own_cache cache;
  if (::geteuid() == 0) {
    REQUIRE(ops::write_tuning(device_words, "key", "variant"));
    REQUIRE(::chown(cache.folder().c_str(), 12345, 12345) == 0);
    REQUIRE(ops::read_tuning(device_words).empty());
    REQUIRE_FALSE(ops::write_tuning(device_words, "key", "variant"));
  } else {
    fs::permissions(cache.home(), fs::perms::owner_read | fs::perms::owner_exec);
    REQUIRE_FALSE(ops::write_tuning(device_words, "key", "variant"));
    REQUIRE(ops::read_tuning(device_words).empty());
  }
  // A file where the folder should be.
  std::error_code ignored;
  fs::permissions(cache.home(), fs::perms::owner_all);
  fs::remove_all(cache.home() / "kaio", ignored);
  replace(cache.home() / "kaio", "no folder");
  REQUIRE_FALSE(ops::write_tuning(device_words, "key", "variant"));
  REQUIRE(ops::read_tuning(device_words).empty());
}

TEST_CASE("tune: truncated, flipped and foreign files are misses", "[ops][matmul][tune]") {
  const own_cache cache;
  for (int i = 0; i < 4; ++i)
    REQUIRE(ops::write_tuning(device_words, "key" + std::to_string(i), "variant" + std::to_string(i)));
  const fs::path file = cache.file();
  const std::string whole = contents(file);
  const auto right = [&](const ops::tune_map& map) {
    for (const auto& [key, variant] : map) {
      REQUIRE(key.size() == 4);
      REQUIRE(variant == "variant" + key.substr(3));
    }
    return map.size();
  };
  REQUIRE(right(ops::read_tuning(device_words)) == 4);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    replace(file, whole.substr(0, length));
    REQUIRE(right(ops::read_tuning(device_words)) < 4);
  }
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    replace(file, flipped);
    REQUIRE(right(ops::read_tuning(device_words)) < 4);
  }
  // The file of another device under this one's name.
  std::string foreign = whole;
  foreign.replace(foreign.find("sm_90"), 5, "sm_80");
  replace(file, foreign);
  REQUIRE(ops::read_tuning(device_words).empty());
  // A damaged file is replaced.
  REQUIRE(ops::write_tuning(device_words, "key0", "variant0"));
  REQUIRE(ops::read_tuning(device_words).size() == 1);
}

TEST_CASE("tune: 16 threads", "[ops][matmul][tune]") {
  const own_cache cache;
  std::vector<std::thread> threads;
  std::atomic<int> bad{0};
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 8; ++k) {
        const std::string key = "key" + std::to_string(i) + "," + std::to_string(k);
        if (!ops::write_tuning(device_words, key, "variant_of_" + key)) ++bad;
        for (const auto& [found, variant] : ops::read_tuning(device_words))
          if (variant != "variant_of_" + found) ++bad;
      }
    });
  for (std::thread& t : threads) t.join();
  REQUIRE(bad == 0);
  REQUIRE(ops::read_tuning(device_words).size() == 16 * 8);
}

TEST_CASE("tune: killed writers", "[ops][matmul][tune]") {
  const own_cache cache;
  REQUIRE(ops::write_tuning(device_words, "first", "variant"));
  for (int round = 0; round < 20; ++round) {
    const ::pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0;; ++i) ops::write_tuning(device_words, "key" + std::to_string(i % 50), "variant");
    }
    ::usleep(static_cast<::useconds_t>(1000 + 700 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    const auto found = ops::read_tuning(device_words);
    REQUIRE(found.count("first") == 1);
    for (const auto& [key, variant] : found) REQUIRE(variant == "variant");
  }
  REQUIRE(ops::write_tuning(device_words, "last", "variant"));
  REQUIRE(ops::read_tuning(device_words).count("last") == 1);
}
