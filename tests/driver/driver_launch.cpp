// Requests of a launch to the driver besides grid, block and arguments: dynamic shared memory, cooperative
// grids, structs as arguments.

#include "driver/driver_support.hpp"

#include <thread>
#include <vector>

using namespace driver_test;

namespace {

void launch(const kaio::device& gpu, const kaio::ptx::kernel_image& kernel, const kaio::buffer<float>& x,
            kaio::ptx::launch_grid grid = {1, 1, 1}) {
  const kaio::ptx::argument arguments[] = {x.as_argument(), {0x40000000u}, {1024}};
  gpu.stream().launch(kernel, grid, arguments, 3);
}

}  // namespace

TEST_CASE("dynamic shared memory is what the kernel needs and what the launch adds") {
  fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto x = gpu.allocate<float>(1024);
  kaio::ptx::kernel_image kernel = scale;
  launch(gpu, kernel, x);
  CHECK(driver.last().shared_bytes == 0);
  launch(gpu, kernel, x, {1, 1, 1, 512});
  CHECK(driver.last().shared_bytes == 512);
  kernel.needs.dynamic_shared_bytes = 1024;
  launch(gpu, kernel, x, {1, 1, 1, 512});
  CHECK(driver.last().shared_bytes == 1536);
  CHECK(driver.calls_of("cuFuncSetAttribute") == 0);
}

TEST_CASE("a kernel is given more than 48 KB once, and never less again") {
  fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto x = gpu.allocate<float>(1024);
  kaio::ptx::kernel_image kernel = scale;
  kernel.needs.shared_bytes = 16 * 1024;
  launch(gpu, kernel, x, {1, 1, 1, 32 * 1024});
  CHECK(driver.calls_of("cuFuncSetAttribute") == 0);
  launch(gpu, kernel, x, {1, 1, 1, 100 * 1024});
  CHECK(driver.calls_of("cuFuncSetAttribute") == 1);
  const long before = driver.calls();
  launch(gpu, kernel, x, {1, 1, 1, 100 * 1024});
  launch(gpu, kernel, x, {1, 1, 1, 90 * 1024});
  CHECK(driver.calls() - before == 4);  // cuCtxGetCurrent and cuLaunchKernel
  CHECK(driver.last().shared_bytes == 90 * 1024);
  launch(gpu, kernel, x, {1, 1, 1, 211 * 1024});
  CHECK(driver.calls_of("cuFuncSetAttribute") == 2);
  launch(gpu, kernel, x, {1, 1, 1, 150 * 1024});
  CHECK(driver.calls_of("cuFuncSetAttribute") == 2);
}

TEST_CASE("threads may launch with different amounts of shared memory at a time") {
  fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto x = gpu.allocate<float>(1024);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t k = 0; k < 100; ++k)
        launch(gpu, scale, x, {1, 1, 1, (50 + (t * 37 + k) % 150) * 1024});
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(driver.launches() == 800);  // the driver refuses a launch beyond what was allowed
}

TEST_CASE("more shared memory than a block can have is refused before anything is loaded") {
  fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto x = gpu.allocate<float>(1024);
  kaio::ptx::kernel_image kernel = scale;
  kernel.needs.shared_bytes = 1024;
  const thrown over = catch_error([&] { launch(gpu, kernel, x, {1, 1, 1, 227 * 1024}); });
  CHECK(over.code == kaio::errc::unsupported_device);
  CHECK(over.says(
      "kernel scale needs 233472 bytes of shared memory for a block (1024 static, 232448 dynamic)"));
  CHECK(over.says("at most 232448"));
  CHECK(driver.loads() == 0);
  kernel.needs.dynamic_shared_bytes = 0xffffffff;
  CHECK(catch_error([&] {
          launch(gpu, kernel, x, {1, 1, 1, 0xffffffff});
        }).code == kaio::errc::unsupported_device);
  CHECK(catch_error([&] { gpu.resident_blocks(kernel, 1); }).code == kaio::errc::unsupported_device);
}

TEST_CASE("a cooperative kernel is launched as one, and only as large as the GPU holds") {
  fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto x = gpu.allocate<float>(1024);
  kaio::ptx::kernel_image kernel = scale;
  kernel.needs.cooperative = true;
  CHECK(gpu.resident_blocks(kernel) == 8 * 132);
  CHECK(gpu.resident_blocks(kernel, 100 * 1024) == 2 * 132);
  CHECK(driver.calls_of("cuFuncSetAttribute") == 1);
  launch(gpu, kernel, x, {7, 2, 1, 2048});
  CHECK(driver.last().cooperative);
  CHECK(driver.last().grid[0] == 7);
  CHECK(driver.last().grid[1] == 2);
  CHECK(driver.last().block[0] == 256);
  CHECK(driver.last().shared_bytes == 2048);
  CHECK(value_at<std::uint64_t>(driver.last(), 0) == x.address());
  CHECK(driver.last().stream != nullptr);
  const thrown large = catch_error([&] { launch(gpu, kernel, x, {1057, 1, 1}); });
  CHECK(large.code == kaio::errc::invalid_argument);
  CHECK(large.says("kernel scale with 1057 blocks"));
  CHECK(large.says("device::resident_blocks"));
  launch(gpu, scale, x, {1057, 1, 1});
  CHECK_FALSE(driver.last().cooperative);
}

TEST_CASE("a struct is handed over by its bytes, and its size is checked") {
  fresh_driver driver;
  struct pair {
    std::uint64_t first, second;
  };
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto x = gpu.allocate<float>(16);
  const kaio::ptx::parameter parameters[] = {
      {kaio::ptx::type::f32, kaio::ptx::access::inout},
      {.bytes = sizeof(pair), .alignment = alignof(pair)},
  };
  CHECK(parameters[1].size() == 16);
  constexpr std::string_view text[] = {
      ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry taking(.param .u64 x, .param .align 8 "
      ".b8 "
      "two[16])\n{\n  ret;\n}\n"};
  kaio::ptx::kernel_image kernel = scale;
  kernel.name = "taking";
  kernel.segments = text;
  kernel.segment_count = 1;
  kernel.parameters = parameters;
  kernel.parameter_count = 2;
  const pair value{0x0123456789abcdef, 7};
  const auto launch_with = [&](const kaio::ptx::argument& second) {
    const kaio::ptx::argument arguments[] = {x.as_argument(), second};
    gpu.stream().launch(kernel, {1, 1, 1}, arguments, 2);
  };
  launch_with({.bytes = sizeof value, .data = &value});
  CHECK(value_at<std::uint64_t>(driver.last(), 8) == value.first);
  const thrown small = catch_error([&] { launch_with({.bytes = 8, .data = &value}); });
  CHECK(small.code == kaio::errc::invalid_argument);
  CHECK(small.says("argument 2 of kernel taking is a struct of 16 bytes, and 8 bytes were given"));
  const thrown none = catch_error([&] { launch_with({.bits = 5}); });
  CHECK(none.code == kaio::errc::invalid_argument);
  CHECK(none.says("none was given"));
  CHECK(driver.launches() == 1);
}
