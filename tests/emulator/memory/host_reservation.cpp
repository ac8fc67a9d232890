// Buffers may take the host's free memory, or less if a control group limits it, for all devices together. Memory
// that nobody touched costs nothing.

#include "emulator/memory/host_memory.hpp"
#include "tests/emulator/kernel.hpp"
#include "tool/temporary_folder.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace emulator_test;
namespace files = std::filesystem;

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20, gib = std::uint64_t{1} << 30;
constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// A folder with the files of /proc and /sys that a test writes.
class host {
 public:
  host() {
    put("proc/meminfo",
        "MemTotal:       33554432 kB\nMemFree:         1048576 kB\nMemAvailable:    8388608 kB\n");
  }
  void put(const std::string& file, const std::string& text) const {
    files::create_directories((root_.path() / file).parent_path());
    std::ofstream(root_.path() / file) << text;
  }
  std::uint64_t available() const { return available_host_memory(root_.path().string()); }

 private:
  kaio::tool::temporary_folder root_;
};

// Bytes of this process that are in memory.
std::uint64_t resident() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t pages = 0;
  in >> pages >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("the host has what is available, not what it has in all") { CHECK(host().available() == 8 * gib); }

TEST_CASE("a control group of version 2 limits the host's memory, and so do those around it") {
  host h;
  h.put("proc/self/cgroup", "0::/jobs/job-7\n");
  h.put("sys/fs/cgroup/jobs/job-7/memory.max", "max\n");
  h.put("sys/fs/cgroup/jobs/job-7/memory.current", "1073741824\n");
  CHECK(h.available() == 8 * gib);
  h.put("sys/fs/cgroup/jobs/job-7/memory.max", std::to_string(3 * gib) + "\n");
  CHECK(h.available() == 2 * gib);
  // Memory of files that the system can take back does not count as used.
  h.put("sys/fs/cgroup/jobs/job-7/memory.stat", "anon 536870912\ninactive_file 536870912\nactive_file 7\n");
  CHECK(h.available() == 2 * gib + 512 * mib);
  h.put("sys/fs/cgroup/jobs/memory.max", std::to_string(gib) + "\n");
  h.put("sys/fs/cgroup/jobs/memory.current", std::to_string(900 * mib) + "\n");
  CHECK(h.available() == 124 * mib);
  h.put("sys/fs/cgroup/jobs/memory.current", std::to_string(2 * gib) + "\n");
  CHECK(h.available() == 0);
}

TEST_CASE("a control group of version 1 limits the host's memory, also where its path is not mounted") {
  host h;
  h.put("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n");
  h.put("sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(4 * gib));
  h.put("sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(gib));
  h.put("sys/fs/cgroup/memory/memory.stat", "inactive_file 5\ntotal_inactive_file 1048576\n");
  CHECK(h.available() == 3 * gib + mib);
}

TEST_CASE("reservations of several owners are no more than the host has, less a part for the program") {
  std::uint64_t available = 1600 * mib;
  host_reservation r([&] { return available; });
  CHECK(r.left() == 1500 * mib);
  CHECK_FALSE(r.take(1501 * mib));
  CHECK(r.take(1000 * mib));
  CHECK(r.left() == 500 * mib);
  // Untouched memory is still available to the system, and reserved all the same.
  CHECK_FALSE(r.take(501 * mib));
  CHECK(r.take(500 * mib));
  CHECK_FALSE(r.take(1));
  r.give_back(1000 * mib);
  CHECK(r.left() == 1000 * mib);
  // Another program takes most of the host's memory.
  available = 160 * mib;
  CHECK_FALSE(r.take(200 * mib));
  CHECK(r.take(100 * mib));
  // And ends.
  available = 3200 * mib;
  CHECK(r.take(2000 * mib));
  CHECK(r.left() == 400 * mib);
}

TEST_CASE("a buffer that the host has no memory for is refused, also if another device has the rest") {
  host_reservation h([] { return 16 * gib; });
  memory one(unlimited, h), other(unlimited, h);
  const std::uint64_t left = one.left();
  const auto refused = [](memory& m, std::uint64_t bytes) {
    try {
      m.allocate(bytes);
    } catch (const memory_error& e) {
      CHECK(contains(e.what(), "kaio: the emulator has no memory for"));
      return e.kind() == memory_error_kind::out_of_memory;
    }
    return false;
  };
  CHECK(refused(one, left + 1));
  const std::uint64_t a = one.allocate(gib), b = one.allocate(gib);
  CHECK(other.left() == left - 2 * gib);
  CHECK(refused(other, left - 2 * gib + 1));
  one.free(a);
  one.free(b);
  CHECK(other.left() == left);
}

TEST_CASE("a memory has the host of its process unless another is given") {
  memory m;
  CHECK(m.left() > 0);
  CHECK_THROWS_AS(m.allocate(available_host_memory() * 4 + 64 * gib), memory_error);
}

TEST_CASE("a buffer takes the host's memory where it is touched") {
  memory m;
  const std::uint64_t before = resident();
  const std::uint64_t bytes = m.left() / 8;
  const std::uint64_t a = m.allocate(bytes);
  CHECK(resident() < before + 16 * mib);
  std::uint32_t word = 1;
  m.read(&word, a + bytes / 8 * 4, 4);
  CHECK(word == 0);
  m.write(a + bytes - 4, "end", 4);
  CHECK(resident() < before + 16 * mib);
  m.free(a);
}

TEST_CASE("the storage of a freed buffer is the host's again when no launch uses it") {
  host_reservation h([] { return 16 * gib; });
  memory m(unlimited, h);
  const std::uint64_t left = m.left();
  const std::uint64_t a = m.allocate(64 * mib);
  {
    const auto running = m.snapshot();
    m.free(a);
    CHECK(m.used() == 0);
    CHECK(m.left() == left - 64 * mib);
  }
  CHECK(m.left() == left);
}
