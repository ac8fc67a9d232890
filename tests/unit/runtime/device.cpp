// Which device is opened, its properties, and that a handle is cheap and shared.

#include "unit/runtime/support.hpp"

#include <cstdlib>

#include "runtime/device_choice.hpp"

using namespace runtime_test;

TEST_CASE("a device name is emulator, emulator:N or cuda:N") {
  using kaio::runtime::choice_of;
  CHECK_FALSE(choice_of("emulator", "x").is_gpu());
  CHECK(choice_of("emulator", "x").emulator == -1);
  CHECK_FALSE(choice_of("emulator:0", "x").is_gpu());
  CHECK(choice_of("emulator:0", "x").emulator == 0);
  CHECK(choice_of("emulator:15", "x").emulator == 15);
  CHECK(choice_of("cuda:0", "x").is_gpu());
  CHECK(choice_of("cuda:0", "x").ordinal == 0);
  CHECK(choice_of("cuda:12", "x").ordinal == 12);
  for (const char* bad : {"",
                          "cuda",
                          "cuda:",
                          "cuda:-1",
                          "cuda:+1",
                          "cuda: 1",
                          "cuda:1x",
                          "cuda:99999999999",
                          "CUDA:0",
                          "gpu",
                          "emulator ",
                          "cuda:0,1",
                          "emulator:",
                          "emulator:-1",
                          "emulator:+1",
                          "emulator: 1",
                          "emulator:1x",
                          "emulator:16",
                          "emulator:99999999999",
                          "emulator1"}) {
    INFO(bad);
    const thrown e = catch_error([&] { choice_of(bad, "KAIO_DEVICE"); });
    CHECK(e.code == kaio::errc::invalid_argument);
    CHECK(e.says("KAIO_DEVICE is '" + std::string(bad) + "'"));
    CHECK(e.says("cuda:N"));
    CHECK(e.says("from 0 to 15"));
  }
}

TEST_CASE("KAIO_DEVICE decides what open() opens") {
  {
    const environment set("KAIO_DEVICE", "emulator");
    CHECK(kaio::device::open().is_emulator());
  }
  {
    const environment set("KAIO_DEVICE", "cuda:zero");
    CHECK_THROWS_AS(kaio::device::open(), kaio::invalid_argument);
  }
  {
    const environment set("KAIO_DEVICE", "cuda:4000");
    const thrown e = catch_error([] { kaio::device::open(); });
    CHECK((e.code == kaio::errc::driver_missing || e.code == kaio::errc::no_device));
    CHECK(e.says("KAIO_DEVICE=emulator"));
  }
}

TEST_CASE("the emulator says what it is, in the terms of a GPU") {
  const environment set("KAIO_EMULATOR_ARCH", nullptr);
  const kaio::device gpu = kaio::device::open("emulator");
  CHECK(gpu.name() == "emulator");
  CHECK(gpu.description() == "emulator (sm_90a)");
  const kaio::device_properties& p = gpu.properties();
  CHECK(p.target == kaio::ptx::target{90, true});
  CHECK(p.max_threads_per_block == 1024);
  CHECK(p.max_block == kaio::ptx::dim3{1024, 1024, 64});
  CHECK(p.max_grid == kaio::ptx::dim3{0x7fffffff, 65535, 65535});
  CHECK(p.shared_per_block == 48 * 1024);
  CHECK(p.warp_size == 32);
  CHECK(p.total_memory > 0);
  CHECK(gpu.memory_info().total == p.total_memory);
}

TEST_CASE("KAIO_EMULATOR_ARCH is the emulator's architecture") {
  const std::pair<const char*, const char*> cases[] = {
      {"sm_70", "emulator (sm_70)"},   {"sm_80", "emulator (sm_80)"}, {"sm_89", "emulator (sm_89)"},
      {"sm_90a", "emulator (sm_90a)"}, {"sm_87", "emulator (sm_87)"}, {"sm_100a", "emulator (sm_100a)"},
      {"sm_121f", "emulator (sm_121)"}};
  for (const auto& [value, description] : cases) {
    const environment set("KAIO_EMULATOR_ARCH", value);
    CHECK(kaio::device::open("emulator").description() == description);
  }
  for (const char* const wrong : {"sm_12", "sm_89a", "sm_90f", "sm_", "sm_a", "sm_1000", "100", "sm_100b"}) {
    const environment set("KAIO_EMULATOR_ARCH", wrong);
    const thrown e = catch_error([] { kaio::device::open("emulator"); });
    CHECK(e.code == kaio::errc::invalid_argument);
    CHECK(e.says(wrong));
  }
}

TEST_CASE("what can be opened ends with the emulator") {
  const auto all = kaio::device::available();
  REQUIRE(all.size() == static_cast<std::size_t>(kaio::device::count()) + 1);
  CHECK(all.back().is_emulator());
}

TEST_CASE("a copy is the same device; another emulator is another device") {
  const kaio::device a = kaio::device::open("emulator");
  kaio::device b = a;
  CHECK(a == b);
  CHECK(a.identity() == b.identity());
  const kaio::device c = kaio::device::open("emulator");
  CHECK_FALSE(a == c);
  b = c;
  CHECK(b == c);
}

TEST_CASE("what a device made keeps it open") {
  kaio::buffer<float> x, y;
  kaio::stream s;
  {
    const kaio::device gpu = kaio::device::open("emulator");
    x = gpu.upload(counted(100));
    y = gpu.allocate<float>(100);
    s = gpu.create_stream();
  }
  launch_scale(s, x, y, 2.0f, 100);
  s.synchronize();
  CHECK(y.download()[99] == 198.0f);
}
