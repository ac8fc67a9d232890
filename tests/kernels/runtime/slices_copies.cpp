// Parts of buffers are named with checks, and copied, filled and read as other types in the order of a stream.
#include "tests/kernels/runtime/runtime_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::size_t n = 100;

std::vector<f32> counted(std::size_t count) {
  std::vector<f32> result(count);
  std::iota(result.begin(), result.end(), 0.0f);
  return result;
}

template <class T>
void check_fill(T value) {
  stream s = under_test().create_stream();
  for (const auto& [first, count] : {std::pair{0, 13}, std::pair{1, 5}, std::pair{12, 1}, std::pair{13, 0}}) {
    std::vector<T> expected(13);
    auto y = under_test().upload(expected);
    fill(s, y.slice(static_cast<std::size_t>(first), static_cast<std::size_t>(count)), value);
    std::fill_n(expected.begin() + first, count, value);
    CHECK(y.download(s) == expected);
  }
}

}  // namespace

TEST_CASE("a slice is a part of a buffer, and a kernel changes only that", "[memory]") {
  stream s = under_test().create_stream();
  auto y = under_test().upload(all(1, n));
  device_pointer<f32> part = y.slice(10, 20);
  CHECK(part.address == y.address() + 40);
  CHECK(part.count == 20);
  launch_advance(s, part.slice(5, 10), 0, 7);
  auto expected = all(1, n);
  std::fill_n(expected.begin() + 15, 10, 7.0f);
  CHECK(y.download(s) == expected);
  CHECK(y.slice(n, 0).count == 0);
  CHECK(y.slice(0, n).count == n);
  CHECK(y.view().count == n);
  CHECK(buffer<f32>().slice(0, 0).count == 0);
}

TEST_CASE("memory is read as elements of another type", "[memory]") {
  stream s = under_test().create_stream();
  auto y = under_test().upload(std::vector<u32>{0x3f800000u, 0x40000000u, 0, 0});
  CHECK(y.reinterpret<std::uint8_t>().count == 16);
  CHECK(y.reinterpret<f64>().count == 2);
  device_pointer<f32> floats = y.reinterpret<f32>();
  CHECK(floats.count == 4);
  launch_advance(s, floats.slice(0, 2), 2, 1);
  fill(s, y.slice(3, 1).reinterpret<std::uint16_t>(), 0xbeef);
  CHECK(y.download(s) == std::vector<u32>{0x40400000u, 0x40a00000u, 0, 0xbeefbeefu});
}

TEST_CASE("slices and types that do not fit are refused by their numbers", "[memory]") {
  auto y = under_test().upload(counted(n));
  auto bytes = under_test().allocate<std::uint8_t>(15);
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  const wrong_call calls[] = {
      {"one too many", {"slice", "100 elements from element 1", "buffer of 100"}, [&] { y.slice(1, n); }},
      {"begins after the end", {"slice", "from element 101"}, [&] { y.slice(n + 1, 0); }},
      {"wraps", {"slice"}, [&] { y.slice(2, most); }},
      {"wraps the other way", {"slice"}, [&] { y.slice(most, 2); }},
      {"of a slice", {"slice", "of a buffer of 10"}, [&] { y.slice(5, 10).slice(5, 6); }},
      {"of a null buffer", {"slice", "buffer of 0"}, [&] { buffer<f32>().slice(0, 1); }},
      {"misaligned", {"reinterpret", "multiple of 4"}, [&] { bytes.slice(1, 4).reinterpret<f32>(); }},
      {"not whole", {"reinterpret", "15 bytes", "elements of 4"}, [&] { bytes.reinterpret<f32>(); }},
      {"not whole doubles", {"reinterpret", "elements of 8"}, [&] { y.slice(0, 3).reinterpret<f64>(); }},
      {"misaligned doubles", {"reinterpret", "multiple of 8"}, [&] { y.slice(1, 2).reinterpret<f64>(); }},
  };
  for (const wrong_call& wrong : calls) {
    CAPTURE(wrong.what);
    refuses(errc::invalid_argument, wrong.says, wrong.call);
  }
  CHECK(y.download() == counted(n));
}

TEST_CASE("copies between parts of buffers are in the order of the stream", "[memory]") {
  stream s = under_test().create_stream();
  auto x = under_test().upload(counted(n)), y = under_test().allocate<f32>(n);
  launch_advance(s, x, 2, 0);
  copy(s, y.slice(1, 9), x.slice(40, 9));
  launch_advance(s, x, 0, 0);
  copy(s, y.slice(90, 10), y.slice(1, 10));
  copy(s, y.view(), y.view());            // the same memory: nothing to do
  copy(s, y.slice(0, 0), x.slice(n, 0));  // nothing
  const std::vector<f32> got = y.download(s);
  CHECK(got[0] == 0);
  CHECK(got[1] == 80);
  CHECK(got[9] == 96);
  CHECK(got[10] == 0);
  CHECK(got[98] == 96);
  CHECK(got[99] == 0);
}

TEST_CASE("rows of a matrix are copied between pitches", "[memory]") {
  stream s = under_test().create_stream();
  auto from = under_test().upload(counted(35)), to = under_test().upload(all(-1, 24));
  copy_rows(s, pitched<f32>{to.slice(1, 23), 6}, pitched<f32>{from.slice(2, 33), 7}, 3, 4);
  auto expected = all(-1, 24);
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t c = 0; c < 3; ++c) expected[1 + r * 6 + c] = static_cast<f32>(2 + r * 7 + c);
  CHECK(to.download(s) == expected);
  auto bytes = under_test().upload(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7}),
       dense = under_test().allocate<std::uint8_t>(4);
  copy_rows(s, pitched<std::uint8_t>{dense.view(), 1}, pitched<std::uint8_t>{bytes.view(), 2}, 1, 4);
  CHECK(dense.download(s) == std::vector<std::uint8_t>{1, 3, 5, 7});
  copy_rows(s, pitched<std::uint8_t>{dense.view(), 0}, pitched<std::uint8_t>{bytes.view(), 0}, 2, 1);
  copy_rows(s, pitched<std::uint8_t>{dense.view(), 0}, pitched<std::uint8_t>{bytes.view(), 0}, 0, 3);
  copy_rows(s, pitched<std::uint8_t>{dense.view(), 4}, pitched<std::uint8_t>{bytes.view(), 4}, 4, 0);
  CHECK(dense.download(s) == std::vector<std::uint8_t>{1, 2, 5, 7});
}

TEST_CASE("fills write elements of 1, 2 and 4 bytes, and only those", "[memory]") {
  check_fill<std::uint8_t>(0xa7);
  check_fill<std::int8_t>(-3);
  check_fill<std::uint16_t>(0xbeef);
  check_fill<u32>(0xdeadbeef);
  check_fill<i32>(-5);
  check_fill<f32>(-1.5f);
  stream s = under_test().create_stream();
  auto flags = under_test().allocate<bool>(5);
  fill(s, flags.slice(3, 1), true);
  CHECK(flags.download(s) == std::vector<bool>{false, false, false, true, false});
}

TEST_CASE("copies and fills that cannot be done are refused, and change nothing", "[memory]") {
  device& on = under_test();
  const device other = device::open("emulator");
  stream s = on.create_stream(), gone = on.create_stream();
  const stream taken = std::move(gone);
  auto x = on.upload(counted(n)), y = on.upload(counted(n)), released = on.upload(counted(n));
  auto far = other.allocate<f32>(n);
  released.release();
  device_pointer<f32> odd = y.view();
  odd.address += 2;
  using rows = pitched<f32>;
  const wrong_call calls[] = {
      {"sizes", {"copy of 16 bytes into 12", "slice"}, [&] { copy(s, y.slice(0, 3), x.slice(0, 4)); }},
      {"overlap", {"copy", "overlap"}, [&] { copy(s, y.slice(0, 3), y.slice(2, 3)); }},
      {"overlap from below", {"copy", "overlap"}, [&] { copy(s, y.slice(2, 3), y.slice(0, 3)); }},
      {"into null", {"copy into null memory"}, [&] { copy(s, released.view(), x.view()); }},
      {"from null", {"copy from null memory"}, [&] { copy(s, x.view(), released.view()); }},
      {"null stream", {"copy", "null stream"}, [&] { copy(gone, y.view(), x.view()); }},
      {"rows in a null stream",
       {"copy_rows", "null stream"},
       [&] {
         copy_rows(gone, rows{y.view(), 2}, rows{x.view(), 2}, 2, 2);
       }},
      {"pitch of the target",
       {"copy_rows into", "pitch"},
       [&] {
         copy_rows(s, rows{y.view(), 2}, rows{x.view(), 3}, 3, 2);
       }},
      {"pitch of the source",
       {"copy_rows from", "pitch"},
       [&] {
         copy_rows(s, rows{y.view(), 3}, rows{x.view(), 2}, 3, 2);
       }},
      {"rows outside of the target",
       {"copy_rows into", "inside"},
       [&] {
         copy_rows(s, rows{y.slice(0, 99), 50}, rows{x.view(), 50}, 50, 2);
       }},
      {"rows outside of the source",
       {"copy_rows from", "inside"},
       [&] {
         copy_rows(s, rows{y.view(), 10}, rows{x.slice(0, 99), 10}, 10, 10);
       }},
      {"a row that is too wide",
       {"copy_rows", "inside"},
       [&] {
         copy_rows(s, rows{y.slice(0, 4), 0}, rows{x.view(), 0}, 5, 1);
       }},
      {"rows of null memory",
       {"copy_rows from null memory"},
       [&] {
         copy_rows(s, rows{y.view(), 2}, rows{released.view(), 2}, 2, 2);
       }},
      {"rows of another device",
       {"copy_rows", "another device", "enable_access"},
       [&] {
         copy_rows(s, rows{y.view(), 2}, rows{far.view(), 2}, 2, 2);
       }},
      {"fill of null", {"fill of null memory"}, [&] { fill(s, released.view(), 1.0f); }},
      {"fill in a null stream", {"fill", "null stream"}, [&] { fill(gone, y.view(), 1.0f); }},
      {"fill of another device", {"fill", "another device"}, [&] { fill(s, far.view(), 1.0f); }},
      {"misaligned", {"fill", "multiple of 4"}, [&] { fill(s, odd, 1.0f); }},
      {"buffers of two sizes",
       {"copy_from", "same size"},
       [&] { y.copy_from(under_test().upload(counted(n - 1)), s); }},
  };
  for (const wrong_call& wrong : calls) {
    CAPTURE(wrong.what);
    refuses(errc::invalid_argument, wrong.says, wrong.call);
  }
  if (!on.is_emulator())
    refuses(errc::invalid_argument, {"copy", "emulator", "download it"},
            [&] { copy(s, y.view(), far.view()); });
  CHECK(x.download(s) == counted(n));
  CHECK(y.download(s) == counted(n));
}
