// Out of memory, on a GPU of 1 GB and on emulators: the error says how much was wanted, what is there stays as it is,
// statistics count what succeeded, and everything works again.

#include "driver/driver_support.hpp"

#include <vector>

using namespace driver_test;
using kaio::errc;

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

void check_that_it_works(const kaio::device& gpu) {
  const kaio::stream s = gpu.create_stream();
  const auto x = gpu.upload(std::vector<float>(1024, 2.0f));
  launch_scale(s, x);
  CHECK(x.download(s) == std::vector<float>(1024, 4.0f));
}

// Takes all memory but `left` bytes.
kaio::buffer<std::uint8_t> all_but(const kaio::device& gpu, std::uint64_t left) {
  return gpu.allocate<std::uint8_t>(gpu.memory_info().free - left, kaio::uninitialised);
}

void fill_with_buffers(const kaio::device& gpu) {
  const std::uint64_t free = gpu.memory_info().free;
  auto most = all_but(gpu, 16 * mib);
  const std::uint64_t left = gpu.memory_info().free;
  for (int i = 0; i < 3; ++i) {
    const thrown full = catch_error([&] { gpu.allocate<std::uint8_t>(left + 1, kaio::uninitialised); });
    CHECK(full.code == errc::out_of_memory);
    CHECK(full.says("free"));
    CHECK(gpu.memory_info().free == left);
  }
  // The memory is there, and its upload is not: nothing is left of it.
  CHECK(catch_error([&] { gpu.allocate<double>(std::size_t{1} << 50); }).code == errc::out_of_memory);
  CHECK(catch_error([&] { gpu.allocate<double>(~std::size_t{0}); }).code == errc::invalid_argument);
  check_that_it_works(gpu);
  most.release();
  CHECK(gpu.memory_info().free >= free - mib);  // but what a first use keeps
  CHECK(all_but(gpu, 16 * mib).size() != 0);
}

void fill_a_pool(const kaio::device& gpu, kaio::pool_kind kind) {
  const kaio::stream s = gpu.create_stream();
  const kaio::memory_pool pool = gpu.create_pool({.kind = kind});
  const auto before = pool.statistics();
  CHECK(before.in_use == 0);
  auto most = all_but(gpu, 16 * mib);
  auto small = pool.allocate<float>(mib / 4, s, kaio::uninitialised);
  for (int i = 0; i < 3; ++i)
    CHECK(catch_error([&] { pool.allocate<std::uint8_t>(64 * mib, s, kaio::uninitialised); }).code ==
          errc::out_of_memory);
  const auto full = pool.statistics();
  CHECK(full.in_use == mib);
  CHECK(full.most_in_use == mib);
  CHECK(full.allocations == 1);
  check_that_it_works(gpu);
  most.release();
  auto large = pool.allocate<std::uint8_t>(64 * mib, s, kaio::uninitialised);
  CHECK(pool.statistics().in_use == 65 * mib);
  large.release();
  small.release();
  const auto after = pool.statistics();
  CHECK(after.in_use == 0);
  CHECK(after.most_in_use == 65 * mib);
  CHECK(after.allocations == 2);
  pool.trim();
  CHECK(pool.statistics().reserved == 0);
  s.synchronize();
}

void reach_a_limit(const kaio::device& gpu, kaio::pool_kind kind) {
  const kaio::stream s = gpu.create_stream();
  const kaio::memory_pool pool = gpu.create_pool({.kind = kind, .limit = mib});
  auto x = pool.allocate<std::uint8_t>(mib / 2, s);
  const thrown full = catch_error([&] { pool.allocate<std::uint8_t>(mib / 2 + 1, s); });
  CHECK(full.code == errc::out_of_memory);
  CHECK(full.says("of its limit of 1.05 MB in use"));
  const auto y = pool.allocate<std::uint8_t>(mib / 2, s);
  CHECK(pool.statistics().in_use == mib);
  x.release();
  x = pool.allocate<std::uint8_t>(mib / 2, s);
  CHECK(pool.statistics().allocations == 3);
  check_that_it_works(gpu);
}

// Blocks that a caching pool keeps make room for others of it, and for the device when it is trimmed.
void make_room(const kaio::device& gpu) {
  const kaio::stream s = gpu.create_stream();
  const kaio::memory_pool pool = gpu.create_pool({.kind = kaio::pool_kind::caching});
  auto most = all_but(gpu, 16 * mib);
  pool.allocate<std::uint8_t>(12 * mib, s, kaio::uninitialised);
  CHECK(pool.statistics().reserved == 12 * mib);
  CHECK(pool.statistics().in_use == 0);
  CHECK(catch_error([&] { gpu.allocate<std::uint8_t>(10 * mib, kaio::uninitialised); }).code ==
        errc::out_of_memory);
  pool.allocate<std::uint8_t>(14 * mib, s, kaio::uninitialised);
  CHECK(pool.statistics().reserved == 14 * mib);
  pool.trim();
  CHECK(gpu.allocate<std::uint8_t>(10 * mib, kaio::uninitialised).size() == 10 * mib);
}

void ask_for_host_memory(const kaio::device& gpu) {
  if (has_a_sanitizer()) return;
  for (int i = 0; i < 3; ++i)
    CHECK(catch_error([&] { gpu.allocate_host<float>(std::size_t{1} << 60); }).code == errc::out_of_memory);
  CHECK(gpu.allocate_host<float>(16)[15] == 0.0f);
  check_that_it_works(gpu);
}

// The memory of an emulator is that of the host, which others take and give back: it is asked for more than all.
void ask_for_more_than_all(const kaio::device& gpu) {
  const std::uint64_t more = gpu.memory_info().total + 1;
  const kaio::stream s = gpu.create_stream();
  CHECK(catch_error([&] { gpu.allocate<std::uint8_t>(more); }).says("free on emulator"));
  for (const auto kind : {kaio::pool_kind::stream_ordered, kaio::pool_kind::caching}) {
    const kaio::memory_pool pool = gpu.create_pool({.kind = kind});
    const auto x = pool.allocate<float>(mib / 4, s);
    for (int i = 0; i < 3; ++i)
      CHECK(catch_error([&] { pool.allocate<std::uint8_t>(more, s); }).code == errc::out_of_memory);
    CHECK(pool.statistics().in_use == mib);
    CHECK(pool.statistics().reserved == mib);
    CHECK(pool.statistics().allocations == 1);
    check_that_it_works(gpu);
  }
}

void reach_each_limit(const kaio::device& gpu) {
  for (const auto kind : {kaio::pool_kind::stream_ordered, kaio::pool_kind::caching})
    reach_a_limit(gpu, kind);
  ask_for_host_memory(gpu);
}

}  // namespace

TEST_CASE("a GPU that is out of memory stays usable") {
  const fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  fill_with_buffers(gpu);
  for (const auto kind : {kaio::pool_kind::stream_ordered, kaio::pool_kind::caching}) fill_a_pool(gpu, kind);
  make_room(gpu);
  reach_each_limit(gpu);
}

TEST_CASE("an emulator that is out of memory stays usable") {
  for (const char* const name : {"emulator", "emulator:3"}) {
    const kaio::device gpu = kaio::device::open(name);
    ask_for_more_than_all(gpu);
    reach_each_limit(gpu);
  }
}
