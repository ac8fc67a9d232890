// A service (tests/threads/service.hpp) on two GPUs. In each shift but the first some driver call fails with some code.

#include <cstdlib>
#include <random>

#include "driver/driver_support.hpp"
#include "driver_abi/types.hpp"
#include "threads/service.hpp"

using namespace driver_test;
using namespace kaio::driver_abi;
using service_test::outcome;

namespace {

constexpr CUresult codes[] = {CUDA_ERROR_INVALID_VALUE,   CUDA_ERROR_OUT_OF_MEMORY,
                              CUDA_ERROR_INVALID_IMAGE,   CUDA_ERROR_OPERATING_SYSTEM,
                              CUDA_ERROR_INVALID_HANDLE,  CUDA_ERROR_ILLEGAL_ADDRESS,
                              CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_LAUNCH_FAILED};

}  // namespace

TEST_CASE("a service on two GPUs whose driver fails now and then") {
  const char* const streams = std::getenv("KAIO_STREAMS");
  if (streams != nullptr && std::string_view(streams) == "delayed")
    return;  // after an error a thread does not wait, as it must before its memory goes
  const char* const turn = std::getenv("KAIO_TURN");
  std::mt19937 random(turn != nullptr ? static_cast<unsigned>(std::atol(turn)) : 0);
  const fresh_driver driver;
  driver.be(2);
  long calls = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    driver.reset();
    long call = -1;
    CUresult code = CUDA_SUCCESS;
    if (calls != 0) {
      call = static_cast<long>(random() % static_cast<unsigned>(calls));
      code = codes[random() % std::size(codes)];
      driver.fail(call, code);
    }
    outcome found;
    service_test::run_shift({"cuda:0", "cuda:1"}, found, 6, seed, [](service_test::shift&) {});
    if (calls == 0) {
      calls = driver.calls();
      CHECK(found.errors() == 0);
      CHECK(driver.counted().misuses == 0);
    }
    driver.recover();
    INFO("shift " << seed << ": call " << call << " of " << calls << " fails with " << code << "; "
                  << found.wrong() << "; " << found.first_error());
    CHECK(found.wrong().empty());
    CHECK(driver.alive() == 0);
  }
  driver.reset();  // a call that fails with "invalid handle" counts as a misuse
}
