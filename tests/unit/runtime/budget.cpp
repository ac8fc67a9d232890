// A launch that does not end cannot hang its program: budgets of a device and of the environment, and a thread that
// cancels it.

#include <kaio/runtime/budget.hpp>

#include "host/system/process.hpp"
#include "unit/runtime/support.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

using namespace runtime_test;
using namespace std::chrono_literals;
using kaio::errc;
using kaio::ptx::argument;
using kaio::ptx::kernel_image;

namespace {

constexpr kaio::ptx::parameter one_buffer[] = {{kaio::ptx::type::u32, kaio::ptx::access::inout}};

constexpr std::string_view spin_text[] = {R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 p)
{
  .reg .b64 %d<2>; .reg .b32 %r<2>;
  ld.param.u64 %d1, [p];
AGAIN:
  atom.global.add.u32 %r1, [%d1], 1;
  bra AGAIN;
}
)"};
constexpr kernel_image spin{
    .name = "spin",
    .segments = spin_text,
    .segment_count = 1,
    .parameters = one_buffer,
    .parameter_count = 1,
    .block = {1, 1, 1},
    .needs = {
        .target = {70, false}, .version = {6, 0}, .shared_bytes = 0, .max_threads = 1, .instructions = 3}};

constexpr std::string_view increment_text[] = {R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry increment(.param .u64 p)
{
  .reg .b64 %d<2>; .reg .b32 %r<2>;
  ld.param.u64 %d1, [p];
  atom.global.add.u32 %r1, [%d1], 1;
  ret;
}
)"};
constexpr kernel_image increment{
    .name = "increment",
    .segments = increment_text,
    .segment_count = 1,
    .parameters = one_buffer,
    .parameter_count = 1,
    .block = {1, 1, 1},
    .needs = {
        .target = {70, false}, .version = {6, 0}, .shared_bytes = 0, .max_threads = 1, .instructions = 3}};

void launch(const kaio::device& gpu, const kernel_image& kernel, const kaio::buffer<std::uint32_t>& x) {
  const argument a = x.as_argument();
  gpu.stream().launch(kernel, {1, 1, 1}, &a, 1);
}

// Pages of this process in memory, 4 KiB or more each.
std::uint64_t resident_pages() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t pages = 0;
  in >> pages >> pages;
  return pages;
}

// An environment variable while it exists.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) { kaio::host::set_environment(name, value); }
  ~variable() { kaio::host::unset_environment(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("a launch beyond its device's budget is a timeout, and the device is lost") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.allocate<std::uint32_t>(1);
  gpu.set_budget({.launch_time = 50ms});
  launch(gpu, increment, x);
  const thrown late = catch_error([&] { launch(gpu, spin, x); });
  CHECK(late.code == errc::launch_timeout);
  CHECK(late.says(
      "kaio: kernel 'spin': the launch took longer than 0.05 s, the budget that device::set_budget sets"));
  CHECK(late.says("PTX line"));
  const thrown later = catch_error([&] { (void)x.download(); });
  CHECK(later.code == errc::launch_timeout);
  CHECK(later.says("open the emulator again"));
}

TEST_CASE("a device's budgets count launches one by one, or all from now on") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.allocate<std::uint32_t>(1);
  gpu.set_budget({.launch_instructions = 3});
  for (int i = 0; i < 5; ++i) launch(gpu, increment, x);
  gpu.set_budget({.total_instructions = 9});
  for (int i = 0; i < 3; ++i) launch(gpu, increment, x);
  gpu.set_budget({.total_instructions = 9, .total_time = 1h});
  for (int i = 0; i < 3; ++i) launch(gpu, increment, x);
  gpu.set_budget({});
  for (int i = 0; i < 5; ++i) launch(gpu, increment, x);
  gpu.set_budget({.total_instructions = 9});
  for (int i = 0; i < 3; ++i) launch(gpu, increment, x);
  const thrown late = catch_error([&] { launch(gpu, increment, x); });
  CHECK(late.code == errc::launch_timeout);
  CHECK(late.says("the launches on this device together executed more than 9 warp instructions"));
  CHECK(catch_error([&] { gpu.set_budget({}); }).code == errc::launch_timeout);
}

TEST_CASE("a budget of negative time is refused") {
  const kaio::device gpu = kaio::device::open("emulator");
  CHECK(catch_error([&] { gpu.set_budget({.launch_time = -1ns}); }).code == errc::invalid_argument);
  CHECK(catch_error([&] { gpu.set_budget({.total_time = -1h}); }).code == errc::invalid_argument);
}

TEST_CASE("an endless launch does not keep another thread from another buffer, and is cancelled by it") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.allocate<std::uint32_t>(1), y = gpu.allocate<std::uint32_t>(1);
  std::atomic<int> running{0};
  thrown first, second;
  std::thread a([&] {
    ++running;
    first = catch_error([&] { launch(gpu, spin, x); });
  });
  // It waits for its turn.
  std::thread b([&] {
    ++running;
    second = catch_error([&] { launch(gpu, spin, y); });
  });
  // A launch during a copy would follow the copy in the stream's queue, and the next copy would wait for it.
  while (running != 2) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(50ms);
  while (x.download()[0] == 0 && y.download()[0] == 0) std::this_thread::sleep_for(10ms);
  gpu.cancel();
  a.join();
  b.join();
  for (const thrown& t : {first, second}) {
    CHECK(t.code == errc::cancelled);
    CHECK(t.says("kernel 'spin': the launch was cancelled"));
  }
  // The device is as usable as before: only launches of that time were cancelled.
  const std::uint32_t before = y.download()[0];
  launch(gpu, increment, y);
  CHECK(y.download()[0] == before + 1);
  CHECK_NOTHROW(gpu.synchronize());
}

TEST_CASE("a cancelled launch is an error of its own type") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.allocate<std::uint32_t>(1);
  std::atomic<bool> ended{false};
  std::thread other([&] {
    for (; !ended; std::this_thread::sleep_for(1ms)) gpu.cancel();
  });
  CHECK_THROWS_AS(launch(gpu, spin, x), kaio::launch_cancelled);
  ended = true;
  other.join();
  gpu.cancel();  // nothing runs: without effect
  launch(gpu, increment, x);
  gpu.set_budget({.launch_time = 1ms});
  CHECK_THROWS_AS(launch(gpu, spin, x), kaio::launch_timeout);
}

TEST_CASE("the environment limits each launch of a program") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.allocate<std::uint32_t>(1);
  {
    const variable seconds("KAIO_LAUNCH_SECONDS", "0.05");
    const thrown late = catch_error([&] { launch(gpu, spin, x); });
    CHECK(late.code == errc::launch_timeout);
    CHECK(late.says("the launch took longer than 0.05 s, the budget that KAIO_LAUNCH_SECONDS sets"));
  }
  const kaio::device next = kaio::device::open("emulator");
  const auto y = next.allocate<std::uint32_t>(1);
  const variable instructions("KAIO_LAUNCH_INSTRUCTIONS", "3");
  for (int i = 0; i < 5; ++i) launch(next, increment, y);
  const thrown late = catch_error([&] { launch(next, spin, y); });
  CHECK(late.says(
      "the launch executed more than 3 warp instructions, the budget that KAIO_LAUNCH_INSTRUCTIONS"));
}

TEST_CASE("the environment limits all launches of a program together, on all its devices") {
  const variable instructions("KAIO_PROGRAM_INSTRUCTIONS", "30");
  int launches = 0;
  const thrown late = catch_error([&] {
    for (;; ++launches) {
      const kaio::device gpu = kaio::device::open("emulator");
      launch(gpu, increment, gpu.allocate<std::uint32_t>(1));
    }
  });
  CHECK(launches == 10);
  CHECK(late.code == errc::launch_timeout);
  CHECK(late.says("the launches of this program together executed more than 30 warp instructions"));

  const variable more("KAIO_PROGRAM_INSTRUCTIONS", "1000000000000");
  const variable seconds("KAIO_PROGRAM_SECONDS", "0.05");
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.allocate<std::uint32_t>(1);
  CHECK(catch_error([&] {
          launch(gpu, spin, x);
        }).says("took longer than 0.05 s, the budget that KAIO_PROGRAM_SECONDS"));
}

TEST_CASE("a budget of the environment that means nothing is refused before the launch") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.allocate<std::uint32_t>(1);
  for (const char* name : {"KAIO_LAUNCH_SECONDS", "KAIO_LAUNCH_INSTRUCTIONS", "KAIO_PROGRAM_SECONDS",
                           "KAIO_PROGRAM_INSTRUCTIONS"})
    for (const char* value : {"0", "-1", "soon", "1s", "nan", "inf", "1e300", "99999999999999999999"}) {
      INFO(name << "=" << value);
      const variable set(name, value);
      const thrown refused = catch_error([&] { launch(gpu, increment, x); });
      CHECK(refused.code == errc::invalid_argument);
      CHECK(refused.says(std::string("kaio: ") + name + " is '" + value + "'; write "));
    }
  const variable progress("KAIO_PROGRESS", "loud");
  CHECK(catch_error([&] { launch(gpu, increment, x); }).says("KAIO_PROGRESS is 'loud'"));
  CHECK(x.download()[0] == 0);
}

TEST_CASE("KAIO_EMULATOR_THREADS is a number of host threads") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.allocate<std::uint32_t>(1);
  for (const char* value : {"many", "-1", "2 ", "257", "99999999999999999999"}) {
    INFO(value);
    const variable set("KAIO_EMULATOR_THREADS", value);
    CHECK(catch_error([&] {
            launch(gpu, increment, x);
          }).says(std::string("KAIO_EMULATOR_THREADS is '") + value + "'; it may be "));
  }
  CHECK(x.download()[0] == 0);
  for (const char* value : {"0", "1", "2", "256"}) {
    const variable set("KAIO_EMULATOR_THREADS", value);
    launch(gpu, increment, x);
  }
  CHECK(x.download()[0] == 4);
}

TEST_CASE(
    "memory of the emulator and of its host costs nothing until it is touched, and ends in a typed error") {
  const kaio::device gpu = kaio::device::open("emulator");
  const kaio::device other = kaio::device::open("emulator");
  const kaio::memory_info before = gpu.memory_info();
  CHECK(before.free <= before.total);
  {
    const std::uint64_t touched = resident_pages(), eighth = before.free / 8;
    auto large = std::make_optional(gpu.allocate<std::uint8_t>(eighth));
    const auto host = gpu.allocate_host<std::uint8_t>(eighth);
    CHECK(resident_pages() < touched + 4096);
    const thrown full = catch_error([&] { (void)other.allocate<std::uint8_t>(before.total); });
    CHECK(full.code == errc::out_of_memory);
    CHECK(full.says("free on emulator (sm_90a) failed; free buffers, or use smaller ones"));
    // All emulated devices share the host's memory. What other programs give back meanwhile is seen by allocations
    // alone, so only numbers without an allocation between them are compared exactly.
    const std::uint64_t held = other.memory_info().free;
    large.reset();
    CHECK(other.memory_info().free == held + eighth);
  }
  CHECK(gpu.memory_info().free >= before.free);
}
