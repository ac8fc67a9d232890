// A GPU through the emulated driver: what is opened, what a launch hands over, what stays current, what is
// given back.

#include "driver/driver_support.hpp"
#include "host/system/process.hpp"

#include <thread>
#include <vector>

using namespace driver_test;

TEST_CASE("a GPU reports what it is") {
  fresh_driver driver;
  driver.be(2);
  CHECK(kaio::device::count() == 2);
  kaio::device gpu = kaio::device::open("cuda:1");
  CHECK(gpu.name() == "kaio emulator sm_90a");
  CHECK_FALSE(gpu.is_emulator());
  CHECK(gpu.description().starts_with("kaio emulator sm_90a, sm_90, 132 SMs, driver 13.0"));
  CHECK(gpu.properties().ordinal == 1);
  CHECK(gpu.properties().target == kaio::ptx::target{90, true});
  CHECK(gpu.properties().ptx_version == kaio::ptx::isa_version{9, 0});
  CHECK(gpu.memory_info().total == std::uint64_t{1} << 30);
  const auto all = kaio::device::available();
  REQUIRE(all.size() == 3);
  CHECK(all[1].ordinal == 1);
  CHECK(all[2].is_emulator());
}

TEST_CASE("the default device is the first GPU") {
  fresh_driver driver;
  kaio::host::unset_environment("KAIO_DEVICE");
  CHECK(kaio::device::open().properties().ordinal == 0);
  kaio::host::set_environment("KAIO_DEVICE", "cuda:0");
  CHECK(kaio::device::open().properties().ordinal == 0);
  kaio::host::set_environment("KAIO_DEVICE", "emulator");
  CHECK(kaio::device::open().is_emulator());
  kaio::host::unset_environment("KAIO_DEVICE");
}

TEST_CASE("without a GPU the default is the emulator, and a named GPU is an error") {
  fresh_driver driver;
  driver.be(-1);
  CHECK(kaio::device::count() == 0);
  CHECK(kaio::device::open().is_emulator());
  const thrown none = catch_error([] { kaio::device::open("cuda:0"); });
  CHECK(none.code == kaio::errc::no_device);
  CHECK(none.says("KAIO_DEVICE=emulator"));
  driver.be(1);
  const thrown beyond = catch_error([] { kaio::device::open("cuda:7"); });
  CHECK(beyond.code == kaio::errc::no_device);
  CHECK(beyond.says("cuda:7"));
}

TEST_CASE("all handles of a GPU are one device, opened once") {
  fresh_driver driver;
  kaio::device a = kaio::device::open("cuda:0"), b = kaio::device::open("cuda:0");
  CHECK(a == b);
  CHECK(driver.counted().contexts == 1);
  auto x = a.allocate<float>(1024);
  launch_scale(b.stream(), x);
  CHECK(driver.launches() == 1);
}

TEST_CASE("a launch hands the driver the grid, the block, the stream and the bits of the arguments") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  kaio::stream s = gpu.create_stream();
  auto x = gpu.allocate<float>(1024);
  launch_scale(s, x, 4);
  const kaio_emulator_launch last = driver.last();
  CHECK(last.grid[0] == 4);
  CHECK(last.block[0] == 256);
  CHECK(last.stream == s.native_handle());
  CHECK(value_at<std::uint64_t>(last, 0) == x.address());
  CHECK(value_at<std::uint32_t>(last, 8) == 0x40000000u);
  CHECK(value_at<std::uint32_t>(last, 12) == 1024);
}

TEST_CASE("a kernel is loaded once, whatever number of threads launch it first") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  auto x = gpu.allocate<float>(1024);
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) launch_scale(gpu.stream(), x);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(driver.loads() == 1);
  CHECK(driver.launches() == 1600);
}

TEST_CASE("a launch that was made before costs the driver one launch and one question") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  auto x = gpu.allocate<float>(1024);
  launch_scale(gpu.stream(), x);
  const long before = driver.calls();
  for (int i = 0; i < 10; ++i) launch_scale(gpu.stream(), x);
  CHECK(driver.calls() - before == 20);  // cuCtxGetCurrent and cuLaunchKernel
}

TEST_CASE("the context that another user made current is current again after each call") {
  fresh_driver driver;
  void* const other = driver.create_context();
  {
    kaio::device gpu = kaio::device::open("cuda:0");
    CHECK(driver.current() == other);
    auto x = gpu.upload(std::vector<float>(1024, 1.0f));
    launch_scale(gpu.stream(), x);
    CHECK(driver.last().context != other);
    CHECK(x.download() == std::vector<float>(1024, 2.0f));
    CHECK(driver.current() == other);
  }
  CHECK(driver.current() == other);
  driver.destroy_context(other);
}

TEST_CASE("a closed device leaves no dead context current") {
  fresh_driver driver;
  { kaio::device gpu = kaio::device::open("cuda:0"); }
  CHECK(driver.current() == nullptr);
}

TEST_CASE("buffers, streams and events keep the device open") {
  fresh_driver driver;
  {
    kaio::buffer<float> x;
    kaio::event e;
    {
      kaio::device gpu = kaio::device::open("cuda:0");
      x = gpu.upload(std::vector<float>{1, 2, 3});
      e = gpu.create_event();
    }
    CHECK(driver.counted().contexts == 1);
    CHECK(x.download() == std::vector<float>{1, 2, 3});
    x.release();
    x.release();
    CHECK(driver.counted().allocations == 0);
  }
  CHECK(driver.counted().contexts == 0);
}

TEST_CASE("page-locked memory is zero-filled and given back") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  auto staging = gpu.allocate_host<float>(100);
  CHECK(driver.counted().host_allocations == 1);
  CHECK(staging[99] == 0.0f);
  auto moved = std::move(staging);
  CHECK(staging.empty());
  CHECK(moved.size() == 100);
}
