// What captures and graphs of the emulator do when a stream or a device of theirs is gone.

#include <kaio/runtime/runtime.hpp>

#include <optional>
#include <thread>
#include <vector>

#include "unit/runtime/support.hpp"

using namespace runtime_test;

TEST_CASE("a capture ends with the stream that it began on") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.upload(counted(10));
  const auto y = gpu.allocate<float>(10);
  gpu.warmup(scale);
  kaio::stream first = gpu.create_stream();
  const kaio::stream second = gpu.create_stream();
  kaio::event fork = gpu.create_event();
  {
    const kaio::capture recording(first);
    first.record(fork);
    second.wait(fork);
    CHECK(second.is_capturing());
    first = kaio::stream();
    CHECK_FALSE(second.is_capturing());
  }
  launch_scale(second, x, y, 1.0f, 10);
  CHECK(y.download(second) == counted(10));
}

TEST_CASE("a graph that copies between devices keeps what it copies from") {
  for (const auto& [mine, other] : {std::pair{"emulator:0", "emulator:1"}, {"emulator", "emulator"}}) {
    const kaio::device gpu = kaio::device::open(mine);
    auto y = gpu.allocate<float>(10);
    const kaio::stream s = gpu.create_stream();
    std::optional<kaio::device> theirs = kaio::device::open(other);
    auto x = theirs->upload(counted(10));
    const kaio::executable_graph step = capture_graph(s, [&] { copy(s, y.view(), x.view()); }).instantiate();
    step.launch(s);
    CHECK(y.download(s) == counted(10));
    x.release();
    theirs.reset();
    // The buffer is gone, so a replay is an error, and no more than that.
    const thrown freed = catch_error([&] { step.launch(s); });
    CHECK(freed.code == kaio::errc::illegal_access);
    CHECK(freed.says("freed"));
  }
}
