// Machine code that a program carries is what the driver gets; where it does not take it, the text is compiled.

#include <cstdlib>
#include <string>
#include <vector>

#include "driver/driver_support.hpp"
#include "driver_abi/types.hpp"
#include "host/system/process.hpp"
#include "precompiled_list.hpp"

using namespace driver_test;
using namespace kaio::driver_abi;
using kaio::tests::precompiled_scope;

namespace {

std::string joined(const kaio::ptx::kernel_image& kernel) {
  std::string text;
  for (std::size_t i = 0; i < kernel.segment_count; ++i) text += kernel.segments[i];
  return text;
}

// A stand-in for machine code that the emulated driver can run: the kernel with an addition.
std::string code_that_adds() {
  std::string text = joined(scale);
  const std::string multiply = "mul.f32";
  return text.replace(text.find(multiply), multiply.size(), "add.f32");
}

// 5 if the text ran, 2.5 + 2 if the stand-in ran.
float result_of(const kaio::device& gpu) {
  const auto x = gpu.upload(std::vector<float>(1024, 2.5f));
  launch_scale(gpu.stream(), x);
  return x.download()[1023];
}

struct variable {
  variable(const char* name, const char* value) : name_(name) { kaio::host::set_environment(name, value); }
  ~variable() { kaio::host::unset_environment(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("a kernel's precompiled code is what the driver loads") {
  const fresh_driver driver;
  const precompiled_scope list({{kaio::ptx::hash_of_text(scale), 90, 0, code_that_adds()}});
  const kaio::device gpu = kaio::device::open("cuda:0");
  CHECK(gpu.is_precompiled(scale));
  CHECK_FALSE(gpu.is_precompiled(broken));
  CHECK(result_of(gpu) == 4.5f);
  CHECK(driver.loads() == 1);
}

TEST_CASE("precompiled code for other architectures is left alone") {
  const fresh_driver driver;
  driver.be(1, "sm_80");
  const precompiled_scope list({{kaio::ptx::hash_of_text(scale), 86, 0, code_that_adds()},
                                {kaio::ptx::hash_of_text(scale), 90, 0, code_that_adds()}});
  const kaio::device gpu = kaio::device::open("cuda:0");
  CHECK_FALSE(gpu.is_precompiled(scale));
  CHECK(result_of(gpu) == 5.0f);
}

TEST_CASE("precompiled code that the driver does not take is compiled from its text, and not offered again") {
  const fresh_driver driver;
  const std::string machine_code(
      "\x7f"
      "ELF\2\1\1",
      7);
  const precompiled_scope list({{kaio::ptx::hash_of_text(scale), 90, 0, machine_code}});
  const kaio::device gpu = kaio::device::open("cuda:0");
  const long before = driver.calls_of("cuModuleLoadDataEx");
  CHECK(result_of(gpu) == 5.0f);
  CHECK(driver.calls_of("cuModuleLoadDataEx") - before == 2);
  const precompiled_scope other({{kaio::ptx::hash_of_text(broken), 90, 0, machine_code}});
  CHECK(catch_error([&] { gpu.warmup(broken); }).code == kaio::errc::jit_failed);
  CHECK(driver.calls_of("cuModuleLoadDataEx") - before == 3);
}

TEST_CASE("a driver that runs out of memory over precompiled code is reported, not worked around") {
  const fresh_driver driver;
  const precompiled_scope list({{kaio::ptx::hash_of_text(scale), 90, 0, code_that_adds()}});
  const kaio::device gpu = kaio::device::open("cuda:0");
  driver.fail_next("cuModuleLoadDataEx", CUDA_ERROR_OUT_OF_MEMORY);
  const thrown failure = catch_error([&] { gpu.warmup(scale); });
  driver.recover();
  CHECK(failure.code == kaio::errc::out_of_memory);
  CHECK(failure.says("cuModuleLoadDataEx"));
  CHECK(result_of(gpu) == 4.5f);
}

TEST_CASE("who asks for the driver's compiler gets it") {
  const fresh_driver driver;
  const precompiled_scope list({{kaio::ptx::hash_of_text(scale), 90, 0, code_that_adds()}});
  SECTION("by the driver's own variable") {
    const variable forced("CUDA_FORCE_PTX_JIT", "1");
    CHECK(result_of(kaio::device::open("cuda:0")) == 5.0f);
  }
  SECTION("which may say no") {
    const variable forced("CUDA_FORCE_PTX_JIT", "0");
    CHECK(result_of(kaio::device::open("cuda:0")) == 4.5f);
  }
  SECTION("by a level of optimisation") {
    const variable level("KAIO_JIT_LEVEL", "2");
    CHECK(result_of(kaio::device::open("cuda:0")) == 5.0f);
    CHECK(driver.counted().jit_level == 2);
  }
}
