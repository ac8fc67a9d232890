// Every kind of failure has a type and a code, keeps its text when it is copied, and is a kaio::error.

#include <kaio/runtime/error.hpp>

#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "runtime/base/failure.hpp"

using kaio::errc;

static_assert(std::is_base_of_v<std::exception, kaio::error>);
static_assert(std::is_base_of_v<kaio::launch_error, kaio::illegal_access>);
static_assert(std::is_nothrow_copy_constructible_v<kaio::jit_error>);
static_assert(std::is_nothrow_copy_assignable_v<kaio::error>);

TEST_CASE("each code is thrown as its own type") {
  using kaio::runtime::throw_error;
  CHECK_THROWS_AS(throw_error(errc::invalid_argument, "kaio: x"), kaio::invalid_argument);
  CHECK_THROWS_AS(throw_error(errc::out_of_memory, "kaio: x"), kaio::out_of_memory);
  CHECK_THROWS_AS(throw_error(errc::driver_missing, "kaio: x"), kaio::driver_missing);
  CHECK_THROWS_AS(throw_error(errc::no_device, "kaio: x"), kaio::no_device);
  CHECK_THROWS_AS(throw_error(errc::unsupported_device, "kaio: x"), kaio::unsupported_device);
  CHECK_THROWS_AS(throw_error(errc::jit_failed, "kaio: x"), kaio::jit_error);
  CHECK_THROWS_AS(throw_error(errc::launch_failed, "kaio: x"), kaio::launch_error);
  CHECK_THROWS_AS(throw_error(errc::illegal_access, "kaio: x"), kaio::illegal_access);
  CHECK_THROWS_AS(throw_error(errc::device_lost, "kaio: x"), kaio::device_lost);
  CHECK_THROWS_AS(throw_error(errc::stream_capturing, "kaio: x"), kaio::stream_capturing);
  CHECK_THROWS_AS(throw_error(errc::communication_failed, "kaio: x"), kaio::communication_error);
  CHECK_THROWS_AS(throw_error(errc::device_assert, "kaio: x"), kaio::assertion_failed);
  CHECK_THROWS_AS(throw_error(errc::launch_timeout, "kaio: x"), kaio::launch_timeout);
  CHECK_THROWS_AS(throw_error(errc::cancelled, "kaio: x"), kaio::launch_cancelled);
  CHECK_THROWS_AS(throw_error(errc::driver_error, "kaio: x"), kaio::driver_error);
}

TEST_CASE("the thrown code is the code asked for, and has a name") {
  for (int i = 0; i <= static_cast<int>(errc::communication_failed); ++i) {
    const auto code = static_cast<errc>(i);
    CHECK(kaio::runtime::to_string(code) != "unknown");
    try {
      kaio::runtime::throw_error(code, "kaio: something");
    } catch (const kaio::error& e) {
      CHECK(e.code() == code);
      CHECK(std::string(e.what()) == "kaio: something");
    }
  }
}

TEST_CASE("an error keeps its text when it is copied and assigned") {
  kaio::error first(errc::no_device, "kaio: first");
  {
    const kaio::error second(errc::device_lost, "kaio: second");
    kaio::error copy(second);
    first = copy;
    const kaio::error& itself = copy;
    copy = itself;
    CHECK(std::string(copy.what()) == "kaio: second");
  }
  CHECK(std::string(first.what()) == "kaio: second");
  CHECK(first.code() == errc::device_lost);
  CHECK(std::string(kaio::error(errc::no_device, "").what()).empty());
}

TEST_CASE("a jit_error carries kernel, log and excerpt") {
  const kaio::jit_error e("kaio: refused", "saxpy", "line 3: no", ">     3 | x");
  const kaio::jit_error copy = e;
  CHECK(copy.kernel() == "saxpy");
  CHECK(copy.log() == "line 3: no");
  CHECK(copy.excerpt() == ">     3 | x");
  CHECK(copy.code() == errc::jit_failed);
}

TEST_CASE("a file_error carries the file and the tensor") {
  const kaio::file_error e(errc::damaged_file, "kaio: damaged", "m.gguf", "blk.0");
  const kaio::file_error copy = e;
  CHECK(copy.file() == "m.gguf");
  CHECK(copy.tensor() == "blk.0");
  CHECK(copy.code() == errc::damaged_file);
}

TEST_CASE("the first failure is kept, whoever comes second") {
  kaio::runtime::failure_latch latch;
  CHECK_NOTHROW(latch.check("gpu", "restart"));
  std::vector<std::thread> threads;
  latch.remember(errc::illegal_access, "kaio: the first");
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { latch.remember(errc::device_lost, "kaio: a later one"); });
  }
  for (auto& thread : threads) thread.join();
  try {
    latch.check("GPU 0", "restart");
    FAIL("nothing was thrown");
  } catch (const kaio::illegal_access& e) {
    const std::string text = e.what();
    CHECK(text.find("kaio: GPU 0 is unusable since an earlier failure; restart.") == 0);
    CHECK(text.find("The first cause: the first") != std::string::npos);
  }
}

TEST_CASE("a failure is forgotten by the next recoverable call, but not while another one runs") {
  kaio::runtime::failure_latch latch;
  latch.begin_recoverable_call();
  latch.remember(errc::illegal_access, "kaio: the first");
  latch.begin_recoverable_call();  // another thread's
  CHECK(latch.has_failed());
  latch.end_recoverable_call();
  CHECK(latch.has_failed());
  latch.end_recoverable_call();
  CHECK(latch.has_failed());
  latch.begin_recoverable_call();
  CHECK_FALSE(latch.has_failed());
  latch.end_recoverable_call();
}
