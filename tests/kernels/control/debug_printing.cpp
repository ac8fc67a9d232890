// Output and assertions of kernels, as the host sees them.
#include "tests/kernels/control/debug_kernels.hpp"

#include "tests/kernels/support.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

using namespace kaio;
using namespace kaio::tests;

#if __has_include(<unistd.h>)

namespace {

// The text that the process writes to its standard output while `work` runs.
template <class Work>
std::string printed_by(const Work& work) {
  std::fflush(stdout);
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int before = dup(1);
  dup2(fileno(file), 1);
  work();
  std::fflush(stdout);
  dup2(before, 1);
  close(before);
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

template <class... A>
std::string formatted(const char* format, A... arguments) {
  char text[256];
  std::snprintf(text, sizeof text, format, arguments...);
  return text;
}

}  // namespace

TEST_CASE("device_print writes what printf does", "[debug]") {
  const std::vector<f32> x = {1.25f, -2.5f, 3.0f};
  const std::vector<f16> h = {f16(0.375f)};
  const i32 i = -42;
  const u32 u = 3000000000u;
  const i64 l = -5000000000;
  const u64 m = 0x123456789abcdef0u;
  const f64 d = 12345.678;
  auto in_x = under_test().upload(x);
  auto in_h = under_test().upload(h);
  const std::string got = printed_by([&] {
    prints_everything.launch(under_test().stream(), grid(2), in_x, in_h, i, u, l, m, d, 37u);
    under_test().stream().synchronize();
  });
  const auto lm = static_cast<long long>(l);
  const auto um = static_cast<unsigned long long>(m);
  std::string want = "plain text, 100%\n";
  want += formatted("%d %i|%5d|%-5d|%05d|%+d\n", i, i, i, i, i, i);
  want += formatted("%u %x %X %o %#x\n", u, u, u, u, u);
  want += formatted("%lld %lld %llu %llu %llx 0x%llx\n", lm, lm, um, um, um, um);
  want += formatted("%f %.3f %10.2f %e %g %a\n", 1.25, -2.5, 1.25, d, d, d);
  want += "0.375000 1.250000\n";
  want += formatted("%d %d %u %u ko\n", -42, -42, u & 0xff, u & 0xffff);
  f64 total = 0;
  for (u32 k = 0; k < 3; ++k) {
    total += static_cast<f64>(x[k]);
    want += formatted("%u: %lld of %g\n", k, lm + k, total);
  }
  want += "-3 0.500000 1099511627776\n";
  REQUIRE(got == want);
}

TEST_CASE("every thread prints its own line", "[debug]") {
  const u32 n = 100;
  std::istringstream lines(printed_by([&] {
    prints_by_lane.launch(under_test().stream(), grid(2), n);
    under_test().stream().synchronize();
  }));
  std::vector<std::string> got, want;
  for (std::string line; std::getline(lines, line);) got.push_back(line);
  for (u32 i = 0; i < n; ++i) want.push_back("thread " + std::to_string(i));
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  REQUIRE(got == want);
}

#endif

TEST_CASE("an assertion that holds changes nothing", "[debug]") {
  std::vector<u32> x(128);
  for (u32 i = 0; i < 128; ++i) x[i] = i;
  auto in = under_test().upload(x);
  auto y = poisoned<u32>(128);
  asserts.launch(under_test().stream(), grid(2), in, y, 128u);
  const std::vector<u32> got = y.download();
  for (u32 i = 0; i < 128; ++i) REQUIRE(got[i] == i + 1);
  auto z = poisoned<u32>(128);
  asserts_nothing.launch(under_test().stream(), grid(2), in, z);
  REQUIRE(z.download() == x);
}

// A failed assertion loses a device, so it has one of its own, which a GPU cannot have within one process.
TEST_CASE("an assertion that fails stops the kernel and names itself", "[debug]") {
  const device machine = device::open("emulator");
  std::vector<u32> x(128);
  for (u32 i = 0; i < 128; ++i) x[i] = i;
  auto in = machine.upload(x);
  auto y = machine.upload(x);
  try {
    asserts.launch(machine.stream(), grid(2), in, y, 100u);
    machine.stream().synchronize();
    FAIL("the assertion held");
  } catch (const assertion_failed& e) {
    const std::string text = e.what();
    INFO(text);
    REQUIRE(e.code() == errc::device_assert);
    REQUIRE(text.find("an odd value is below the limit") != std::string::npos);
    REQUIRE(text.find("debug_kernels.hpp") != std::string::npos);
    REQUIRE(text.find("asserts") != std::string::npos);
  }
}
