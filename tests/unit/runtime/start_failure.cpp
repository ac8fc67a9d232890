// A result code of the driver's start that has several causes: the message names the likely one first, and the others.
#include "runtime/driver/start_failure.hpp"

#include "catch.hpp"

using kaio::errc;
using namespace kaio::driver_abi;
using kaio::runtime::driver::start_conditions;
using kaio::runtime::driver::start_failure;
using kaio::runtime::driver::start_failure_of;

namespace {

// A machine whose driver works.
start_conditions sound() {
  return {.has_module = true, .has_device_file = true, .library = "/usr/lib/libcuda.so.1"};
}

bool begins_with(const start_failure& f, std::string_view text) {
  return std::string_view(f.what).starts_with(text);
}
bool says(const start_failure& f, std::string_view text) {
  return (f.what + f.what_to_do).find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("a driver that is not initialised: a fork, or the end of the program") {
  start_conditions seen = sound();
  const start_failure unknown = start_failure_of(CUDA_ERROR_NOT_INITIALIZED, seen);
  CHECK(unknown.code == errc::device_lost);
  CHECK(begins_with(unknown, "this process was forked from one that used CUDA, or the program is ending"));
  CHECK(says(unknown, "set_start_method('spawn')"));
  CHECK(says(unknown, "until main() returns"));
  seen.forked = true;
  const start_failure known = start_failure_of(CUDA_ERROR_NOT_INITIALIZED, seen);
  CHECK(begins_with(known, "this process was forked from one that used CUDA, and"));
  CHECK(!says(known, "main()"));
}

TEST_CASE("no GPU: hidden by a variable, left out of a container, or not there") {
  start_conditions seen = sound();
  CHECK(begins_with(start_failure_of(CUDA_ERROR_NO_DEVICE, seen), "the driver sees no GPU"));
  seen.has_device_file = false;
  CHECK(begins_with(start_failure_of(CUDA_ERROR_NO_DEVICE, seen), "the container was started without a GPU"));
  seen.visible_devices = "3";
  const start_failure hidden = start_failure_of(CUDA_ERROR_NO_DEVICE, seen);
  CHECK(hidden.code == errc::no_device);
  CHECK(begins_with(hidden, "CUDA_VISIBLE_DEVICES is '3', which may hide every GPU"));
  CHECK(says(hidden, "unset it"));
}

TEST_CASE("the driver fails without a reason: the device files") {
  start_conditions seen = sound();
  CHECK(begins_with(start_failure_of(CUDA_ERROR_UNKNOWN, seen),
                    "the driver failed for a reason that it does not give"));
  seen.has_device_file = false;
  CHECK(says(start_failure_of(CUDA_ERROR_UNKNOWN, seen), "modprobe nvidia"));
  seen.in_container = true;
  CHECK(says(start_failure_of(CUDA_ERROR_OPERATING_SYSTEM, seen), "docker run --gpus all"));
  CHECK(start_failure_of(CUDA_ERROR_OPERATING_SYSTEM, seen).code == errc::no_device);
}

TEST_CASE("the toolkit's stub is named, whatever it returns") {
  start_conditions seen = sound();
  seen.library = "/usr/local/cuda/lib64/stubs/libcuda.so.1";
  for (const CUresult result : {CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_NO_DEVICE, CUDA_ERROR_UNKNOWN}) {
    const start_failure stub = start_failure_of(result, seen);
    CHECK(stub.code == errc::driver_missing);
    CHECK(begins_with(stub, "/usr/local/cuda/lib64/stubs/libcuda.so.1 is the toolkit's stub"));
    CHECK(says(stub, "LD_LIBRARY_PATH"));
  }
  CHECK(says(start_failure_of(CUDA_ERROR_STUB_LIBRARY, sound()), "stub"));
}

TEST_CASE("a code with one cause keeps its meaning") {
  const start_failure mismatch = start_failure_of(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, sound());
  CHECK(mismatch.code == errc::driver_missing);
  CHECK(says(mismatch, "do not fit together"));
}
