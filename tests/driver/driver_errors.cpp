// Errors made of the driver's failures. failures/each_call.cpp makes each call of many flows fail.

#include <kaio/runtime/budget.hpp>

#include "driver/driver_support.hpp"
#include "driver_abi/types.hpp"
#include "host/system/process.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

using namespace driver_test;
using namespace kaio::driver_abi;

TEST_CASE("the driver's codes become kaio's") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  driver.fail_next("cuCtxSynchronize", CUDA_ERROR_OPERATING_SYSTEM);
  CHECK(catch_error([&] { gpu.synchronize(); }).code == kaio::errc::driver_error);
  driver.fail_next("cuCtxSynchronize", CUDA_ERROR_INVALID_VALUE);
  CHECK(catch_error([&] { gpu.synchronize(); }).code == kaio::errc::invalid_argument);
  driver.fail_next("cuCtxSynchronize", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(catch_error([&] { gpu.synchronize(); }).code == kaio::errc::stream_capturing);
  driver.fail_next("cuCtxSynchronize", CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  const thrown large = catch_error([&] { gpu.synchronize(); });
  CHECK(large.code == kaio::errc::invalid_argument);
  CHECK(large.says("resident_blocks"));
  driver.fail_next("cuCtxSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS);
  const thrown illegal = catch_error([&] { gpu.synchronize(); });
  CHECK(illegal.code == kaio::errc::illegal_access);
  CHECK(illegal.says("CUDA_ERROR_ILLEGAL_ADDRESS from cuCtxSynchronize"));
  CHECK(illegal.says("KAIO_DEVICE=emulator"));
}

TEST_CASE("a failed assertion has a code of its own") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  driver.fail_next("cuCtxSynchronize", CUDA_ERROR_ASSERT);
  const thrown failed = catch_error([&] { gpu.synchronize(); });
  CHECK(failed.code == kaio::errc::device_assert);
  CHECK(failed.says("standard error"));
  driver.recover();
  CHECK(catch_error([&] { gpu.synchronize(); }).code == kaio::errc::device_assert);
}

TEST_CASE("a device that was lost gives the cause to every later call; another that is opened works") {
  fresh_driver driver;
  {
    kaio::device gpu = kaio::device::open("cuda:0");
    auto x = gpu.upload(std::vector<float>(1024, 1.0f));
    driver.fail_next("cuStreamSynchronize", CUDA_ERROR_LAUNCH_FAILED);
    CHECK(catch_error([&] { gpu.stream().synchronize(); }).code == kaio::errc::launch_failed);
    driver.recover();
    const long before = driver.calls();
    for (const thrown& later :
         {catch_error([&] { launch_scale(gpu.stream(), x); }), catch_error([&] { x.download(); }),
          catch_error([&] { gpu.allocate<float>(1); }), catch_error([&] { gpu.warmup(scale); }),
          catch_error([&] { gpu.create_event(); })}) {
      CHECK(later.code == kaio::errc::launch_failed);
      CHECK(later.says("is unusable since an earlier failure"));
      CHECK(later.says("CUDA_ERROR_LAUNCH_FAILED from cuStreamSynchronize"));
    }
    CHECK(driver.calls() == before);
  }
  kaio::device again = kaio::device::open("cuda:0");
  again.synchronize();
}

TEST_CASE("the error of too large an allocation has its size and what is free") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  const thrown full = catch_error([&] { gpu.allocate<float>(std::size_t{1} << 40); });
  CHECK(full.code == kaio::errc::out_of_memory);
  CHECK(full.says("4.40 TB"));
  CHECK(full.says("1.07 GB of 1.07 GB free"));
}

TEST_CASE("a refused text comes with the log, the PTX lines, the C++ lines and a file") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  const auto folder = std::filesystem::temp_directory_path() / "kaio_keep_ptx_test";
  std::filesystem::remove_all(folder);
  kaio::host::set_environment("KAIO_KEEP_PTX", folder.string());
  auto x = gpu.allocate<float>(1024);
  try {
    gpu.warmup(broken);
    FAIL("nothing was thrown");
  } catch (const kaio::jit_error& e) {
    const std::string_view message = e.what();
    CHECK(message.starts_with("kaio: kernel scale cannot be loaded on kaio emulator sm_90a"));
    CHECK(message.find("CUDA_ERROR_INVALID_PTX") != message.npos);
    CHECK(e.kernel() == "scale");
    CHECK(e.log().find("line 6; error   : ") != e.log().npos);
    CHECK(e.excerpt().find(">     6 |   rett;    // scale.hpp:12") != e.excerpt().npos);
  }
  kaio::host::unset_environment("KAIO_KEEP_PTX");
  REQUIRE(std::filesystem::exists(folder));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CHECK(entry.path().filename().string().starts_with("scale."));
    std::ifstream file(entry.path());
    std::string first;
    std::getline(file, first);
    CHECK(first == ".version 6.0");
  }
  std::filesystem::remove_all(folder);
  launch_scale(gpu.stream(), x);  // a failure is not kept
  CHECK(driver.launches() == 1);
}

TEST_CASE("a text without its entry is refused") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  kaio::ptx::kernel_image renamed = scale;
  renamed.name = "other";
  const thrown missing = catch_error([&] { gpu.warmup(renamed); });
  CHECK(missing.code == kaio::errc::jit_failed);
  CHECK(missing.says("no .entry of that name"));
  CHECK(driver.counted().modules == 0);
}

TEST_CASE("a kernel is compared with the device and the driver before it is loaded") {
  fresh_driver driver;
  driver.be(1, "sm_86", 12000);
  kaio::device gpu = kaio::device::open("cuda:0");
  kaio::ptx::kernel_image kernel = scale;
  kernel.needs.target = {90, false};
  const thrown newer = catch_error([&] { gpu.warmup(kernel); });
  CHECK(newer.code == kaio::errc::unsupported_device);
  CHECK(newer.says("sm_90 or newer"));
  CHECK(newer.says("sm_86"));
  kernel.needs.target = {80, true};
  CHECK(catch_error([&] { gpu.warmup(kernel); }).says("exactly sm_80a"));
  kernel.needs.target = {80, false};
  kernel.needs.version = {8, 5};
  const thrown version = catch_error([&] { gpu.warmup(kernel); });
  CHECK(version.code == kaio::errc::unsupported_device);
  CHECK(version.says("PTX ISA 8.5"));
  CHECK(version.says("driver 12.0"));
  CHECK(version.says("PTX ISA 8.0"));
  kernel.needs.version = {8, 0};
  gpu.warmup(kernel);
  CHECK(driver.loads() == 1);
}

TEST_CASE("a block that the registers do not allow is refused when the kernel is loaded") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  constexpr std::string_view text[] = {
      ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry narrow() .maxntid 128, 1, 1\n{\n  "
      "ret;\n}\n"};
  const kaio::ptx::kernel_image narrow{
      .name = "narrow", .segments = text, .segment_count = 1, .block = {256, 1, 1}, .needs = {}};
  const thrown registers = catch_error([&] { gpu.warmup(narrow); });
  CHECK(registers.code == kaio::errc::launch_failed);
  CHECK(registers.says("at most 128"));
}

TEST_CASE("a kernel is not loaded while its stream is captured") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  auto x = gpu.allocate<float>(1024);
  void* const stream = gpu.stream().native_handle();
  driver.begin_capture(stream);
  const thrown capture = catch_error([&] { launch_scale(gpu.stream(), x); });
  CHECK(capture.code == kaio::errc::stream_capturing);
  CHECK(capture.says("warmup"));
  driver.end_capture(stream);
  gpu.warmup(scale);
  driver.begin_capture(stream);
  launch_scale(gpu.stream(), x);
  CHECK(driver.launches() == 1);
  driver.end_capture(stream);
}

TEST_CASE("KAIO_JIT_LEVEL sets how much the driver optimises") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  kaio::host::set_environment("KAIO_JIT_LEVEL", "9");
  const thrown wrong = catch_error([&] { gpu.warmup(scale); });
  CHECK(wrong.code == kaio::errc::invalid_argument);
  CHECK(wrong.says("KAIO_JIT_LEVEL"));
  kaio::host::set_environment("KAIO_JIT_LEVEL", "0");
  gpu.warmup(scale);
  kaio::host::unset_environment("KAIO_JIT_LEVEL");
  CHECK(driver.counted().jit_level == 0);
}

TEST_CASE("a kernel that ran longer than the system allows is a timeout") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  driver.fail_next("cuCtxSynchronize", CUDA_ERROR_LAUNCH_TIMEOUT);
  CHECK(catch_error([&] { gpu.synchronize(); }).code == kaio::errc::launch_timeout);
  driver.recover();
  CHECK(catch_error([&] { gpu.synchronize(); }).code == kaio::errc::launch_timeout);
}

TEST_CASE("a GPU, which runs a kernel to its end, takes no budget and cancels nothing") {
  fresh_driver driver;
  kaio::device gpu = kaio::device::open("cuda:0");
  const thrown limited = catch_error([&] { gpu.set_budget({.launch_instructions = 1}); });
  CHECK(limited.code == kaio::errc::unsupported_device);
  CHECK(limited.says("set_budget on " + std::string(gpu.description()) + ": a GPU runs a kernel to its end"));
  CHECK(catch_error([&] { gpu.set_budget({.total_time = std::chrono::seconds(1)}); }).code ==
        kaio::errc::unsupported_device);
  CHECK(catch_error([&] { gpu.cancel(); }).code == kaio::errc::unsupported_device);
  gpu.set_budget({});  // no limit is what it has
  gpu.synchronize();
}
