// Buffers hold the data put into them, own their memory, and refuse invalid calls.

#include "unit/runtime/support.hpp"

#include <array>
#include <limits>
#include <utility>

using namespace runtime_test;

TEST_CASE("an upload comes back unchanged") {
  const kaio::device gpu = kaio::device::open("emulator");
  for (const std::size_t n : {0u, 1u, 31u, 1000u}) {
    const auto values = counted(n);
    const auto x = gpu.upload(values);
    CHECK(x.size() == n);
    CHECK(x.bytes() == n * sizeof(float));
    CHECK(x.download() == values);
    CHECK(x.download(gpu.stream()) == values);
  }
  CHECK(gpu.upload(std::array{1.5, 2.5}).download() == std::vector{1.5, 2.5});
  const std::int64_t plain[] = {1, -2, 3};
  CHECK(gpu.upload(plain).download() == std::vector<std::int64_t>{1, -2, 3});
  CHECK(gpu.upload(plain, 2).download() == std::vector<std::int64_t>{1, -2});
}

TEST_CASE("booleans are bytes on the device and bits in the vector") {
  const kaio::device gpu = kaio::device::open("emulator");
  const std::vector<bool> values{true, false, true};
  const auto x = gpu.upload(values);
  CHECK(x.bytes() == 3);
  CHECK(x.download() == values);
}

TEST_CASE("allocated memory is zero unless asked otherwise") {
  const kaio::device gpu = kaio::device::open("emulator");
  for (int round = 0; round < 3; ++round) {
    gpu.upload(std::vector<std::uint32_t>(500, 0xdeadbeef));  // freed at once
    CHECK(gpu.allocate<std::uint32_t>(500).download() == std::vector<std::uint32_t>(500, 0));
  }
  auto raw = gpu.allocate<std::uint32_t>(10, kaio::uninitialised);
  CHECK(raw.size() == 10);
  raw.fill_zero(gpu.stream());
  CHECK(raw.download() == std::vector<std::uint32_t>(10, 0));
}

TEST_CASE("a buffer that was moved from or released is null") {
  const kaio::device gpu = kaio::device::open("emulator");
  auto x = gpu.upload(counted(8));
  auto y = std::move(x);
  CHECK(x.is_null());
  CHECK(x.size() == 0);
  CHECK(x.address() == 0);
  CHECK(y.download() == counted(8));
  const thrown moved = catch_error([&] { x.download(); });
  CHECK(moved.code == kaio::errc::invalid_argument);
  CHECK(moved.says("download of a null buffer"));
  x = std::move(y);
  CHECK(x.download() == counted(8));
  x.release();
  x.release();
  CHECK(x.is_null());
  float value = 0;
  CHECK(catch_error([&] { x.copy_from(&value, 1, gpu.stream()); }).says("copy_from of a null buffer"));
  CHECK(catch_error([&] { x.copy_to(&value, 1, gpu.stream()); }).says("copy_to of a null buffer"));
  CHECK(catch_error([&] { x.fill_zero(gpu.stream()); }).says("fill_zero of a null buffer"));
  CHECK_THROWS_AS(kaio::buffer<int>().download(), kaio::invalid_argument);
}

TEST_CASE("a size that overflows is an invalid argument, one that is too large is out of memory") {
  const kaio::device gpu = kaio::device::open("emulator");
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t n : {most, most / 2, most / 8 + 1, (std::size_t{1} << 61) + 1}) {
    INFO(n);
    const thrown e = catch_error([&] { gpu.allocate<double>(n); });
    CHECK(e.code == kaio::errc::invalid_argument);
    CHECK(e.says(std::to_string(n) + " elements of 8 bytes"));
  }
  const thrown large = catch_error([&] { gpu.allocate<double>(std::size_t{1} << 50); });
  CHECK(large.code == kaio::errc::out_of_memory);
  CHECK(gpu.allocate<double>(4).size() == 4);  // the device is still usable
}

TEST_CASE("parts are copied on a stream, inside the buffer only") {
  const kaio::device gpu = kaio::device::open("emulator");
  const kaio::stream& s = gpu.stream();
  auto x = gpu.allocate<float>(8);
  const float values[] = {1, 2, 3};
  x.copy_from(values, 3, s, 5);
  float back[4] = {};
  x.copy_to(back, 4, s, 4);
  s.synchronize();
  CHECK(back[0] == 0);
  CHECK(back[3] == 3);
  CHECK_NOTHROW(x.copy_from(values, 0, s, 8));
  CHECK_NOTHROW(x.copy_from(nullptr, 0, s));
  for (const auto& [count, first] : {std::pair<std::size_t, std::size_t>{3, 6},
                                     {9, 0},
                                     {1, 8},
                                     {0, 9},
                                     {std::numeric_limits<std::size_t>::max(), 2},
                                     {2, std::numeric_limits<std::size_t>::max()}}) {
    INFO(count << " from " << first);
    CHECK(catch_error([&] { x.copy_from(values, count, s, first); }).says("the range must be inside"));
    CHECK(catch_error([&] { x.copy_to(back, count, s, first); }).says("the range must be inside"));
  }
  CHECK(catch_error([&] { x.copy_from(nullptr, 2, s); }).says("null host pointer"));
  CHECK(catch_error([&] { gpu.upload<float>(nullptr, 2); }).says("null host pointer"));
}

TEST_CASE("buffers are copied to buffers of the same size, in a stream of their device") {
  const kaio::device gpu = kaio::device::open("emulator"), other = kaio::device::open("emulator");
  const auto x = gpu.upload(counted(16));
  auto y = gpu.allocate<float>(16);
  y.copy_from(x, gpu.stream());
  y.copy_from(y, gpu.stream());
  CHECK(y.download() == counted(16));
  auto small = gpu.allocate<float>(15);
  CHECK(catch_error([&] { small.copy_from(x, gpu.stream()); }).says("same size"));
  auto far = other.allocate<float>(16);
  far.copy_from(x, other.stream());
  CHECK(far.download() == counted(16));
  CHECK(catch_error([&] { y.copy_from(x, other.stream()); }).says("stream of another device"));
  CHECK(catch_error([&] { y.copy_from(x, kaio::stream()); }).says("null stream"));
}

TEST_CASE("a view is a part of a buffer, cut to it") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.upload(counted(16));
  const auto part = x.slice(4, 8);
  CHECK(part.address == x.address() + 16);
  CHECK(part.count == 8);
  CHECK(part.device == gpu.identity());
  CHECK(x.slice(16, 0).count == 0);
  CHECK(catch_error([&] {
          x.slice(12, 5);
        }).says("slice of 5 elements from element 12 of a buffer of 16 elements"));
  CHECK(catch_error([&] { x.slice(17, 0); }).says("from element 17"));
  CHECK(catch_error([&] { part.slice(8, 1); }).says("of a buffer of 8 elements"));
  const auto argument = part.as_argument();
  CHECK(argument.bits == part.address);
  CHECK(argument.bytes == 32);
}

TEST_CASE("host buffers are zero-filled memory that a device copies to and from") {
  const kaio::device gpu = kaio::device::open("emulator");
  auto staging = gpu.allocate_host<float>(4);
  for (const float value : staging) CHECK(value == 0);
  const auto x = gpu.upload(counted(4));
  x.copy_to(staging.data(), staging.size(), gpu.stream());
  gpu.stream().synchronize();
  CHECK(staging[3] == 3);
  auto moved = std::move(staging);
  CHECK(staging.empty());
  CHECK(moved[3] == 3);
  CHECK(gpu.upload(moved).download() == counted(4));
  moved.release();
  CHECK(moved.empty());
  CHECK_THROWS_AS(gpu.allocate_host<double>(std::numeric_limits<std::size_t>::max()), kaio::invalid_argument);
}

TEST_CASE("what was freed is free again") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto before = gpu.memory_info().free;
  { const auto x = gpu.allocate<float>(1 << 16); }
  auto y = gpu.allocate<float>(1 << 16);
  y = gpu.allocate<float>(1 << 10);
  y.release();
  CHECK(gpu.memory_info().free >= before);  // more, where another program gave memory back
}
