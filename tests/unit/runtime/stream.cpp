// Streams and events: handles move, order is kept, time is measured, misuse is named.

#include "unit/runtime/support.hpp"

#include <utility>

using namespace runtime_test;

TEST_CASE("the device's own stream survives being moved from") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.upload(counted(64));
  const auto y = gpu.allocate<float>(64);
  const kaio::stream taken = std::move(gpu.stream());
  launch_scale(taken, x, y, 1.0f, 64);
  launch_scale(gpu.stream(), x, y, 2.0f, 64);
  CHECK(y.download()[1] == 2.0f);
}

TEST_CASE("a stream that was moved from is null") {
  const kaio::device gpu = kaio::device::open("emulator");
  kaio::stream a = gpu.create_stream();
  kaio::stream b = std::move(a);
  CHECK(a.device_identity() == nullptr);
  CHECK(b.device_identity() == gpu.identity());
  CHECK(catch_error([&] { a.synchronize(); }).says("synchronize on a null stream"));
  CHECK(catch_error([&] { a.is_done(); }).says("is_done on a null stream"));
  CHECK(catch_error([&] { a.properties(); }).says("null stream"));
  a = std::move(b);
  CHECK_NOTHROW(a.synchronize());
  CHECK(a.is_done());
  CHECK(a.properties().is_emulator());
  CHECK(a.native_handle() != nullptr);
  CHECK(b.native_handle() == nullptr);
}

TEST_CASE("two events measure the time between") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.upload(counted(5000));
  const auto y = gpu.allocate<float>(5000);
  const kaio::stream s = gpu.create_stream();
  kaio::event begin = gpu.create_event(), end = gpu.create_event();
  s.record(begin);
  launch_scale(s, x, y, 1.0f, 5000);
  s.record(end);
  gpu.stream().wait(end);
  const double ms = kaio::elapsed_ms(begin, end);
  CHECK(ms > 0);
  CHECK(ms < 10000);
  CHECK(end.is_done());
}

TEST_CASE("an event that was never recorded is no wait, and cannot be measured with") {
  const kaio::device gpu = kaio::device::open("emulator");
  kaio::event a = gpu.create_event();
  const kaio::event b = gpu.create_event();
  CHECK(a.is_done());
  CHECK_NOTHROW(a.synchronize());
  CHECK_NOTHROW(gpu.stream().wait(a));
  gpu.stream().record(a);
  CHECK(catch_error([&] { kaio::elapsed_ms(a, b); }).says("never recorded"));
  CHECK(kaio::elapsed_ms(a, a) == 0);
}

TEST_CASE("null events and events of another device are named") {
  const kaio::device gpu = kaio::device::open("emulator"), other = kaio::device::open("emulator");
  kaio::event a = gpu.create_event(), far = other.create_event();
  const kaio::event b = std::move(a);
  CHECK(catch_error([&] { gpu.stream().record(a); }).says("null event"));
  CHECK(catch_error([&] { gpu.stream().wait(a); }).says("null event"));
  CHECK(catch_error([&] { a.synchronize(); }).says("null event"));
  CHECK(catch_error([&] { kaio::elapsed_ms(a, b); }).says("null event"));
  CHECK(catch_error([&] { gpu.stream().record(far); }).says("another device"));
  other.stream().record(far);
  kaio::event near = gpu.create_event();
  gpu.stream().record(near);
  CHECK(catch_error([&] { kaio::elapsed_ms(near, far); }).says("two devices"));
}
