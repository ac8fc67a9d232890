// A stream that another part of the program owns is used in its order and left alive; streams have priorities.
#include "tests/kernels/runtime/runtime_kernels.hpp"

#include <cstdint>
#include <utility>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::size_t n = 100;

}  // namespace

TEST_CASE("a borrowed stream is the stream that it was borrowed from, and leaves it alive", "[streams]") {
  device& on = under_test();
  stream owner = on.create_stream();
  auto y = on.upload(all(1, n));
  event mark = on.create_event();
  for (int i = 0; i < 3; ++i) {
    stream guest = stream::borrow(on, owner.native_handle());
    CHECK(guest.is_borrowed());
    CHECK_FALSE(owner.is_borrowed());
    CHECK(guest.native_handle() == owner.native_handle());
    CHECK(guest.device_identity() == on.identity());
    CHECK(guest.properties().target == on.properties().target);
    launch_advance(owner, y, 2, 0);
    launch_advance(guest, y, 1, 1);
    guest.record(mark);
  }
  launch_advance(owner, y, 10, 0);
  mark.synchronize();
  CHECK(y.download(owner) == all(150, n));
  CHECK(owner.is_done());
}

TEST_CASE("a borrowed stream that is moved stays a handle of the same stream", "[streams]") {
  device& on = under_test();
  stream owner = on.create_stream();
  auto y = on.upload(all(1, n));
  stream a = stream::borrow(on, owner.native_handle());
  stream b = std::move(a);
  CHECK(b.is_borrowed());
  stream c;
  c = std::move(b);
  CHECK(c.is_borrowed());
  CHECK(c.native_handle() == owner.native_handle());
  launch_advance(c, y, 2, 1);
  c = on.create_stream();  // nothing is destroyed but the handle
  CHECK_FALSE(c.is_borrowed());
  launch_advance(owner, y, 2, 1);
  CHECK(y.download(owner) == all(7, n));
}

TEST_CASE("the legacy and the per-thread default stream are borrowed by their handles", "[streams]") {
  device& on = under_test();
  for (const std::uintptr_t handle : {0u, 1u, 2u}) {
    CAPTURE(handle);
    stream s = stream::borrow(on, reinterpret_cast<void*>(handle));
    CHECK(s.is_borrowed());
    auto y = on.upload(all(1, n));
    event mark = on.create_event();
    launch_advance(s, y, 2, 1);
    fill(s, y.slice(0, 1), 5.0f);
    s.record(mark);
    s.synchronize();
    CHECK(s.is_done());
    CHECK(mark.is_done());
    CHECK(y.download(s)[0] == 5);
    CHECK(y.download()[n - 1] == 3);
  }
}

TEST_CASE("memory of a pool is allocated in a borrowed stream", "[streams][pools]") {
  device& on = under_test();
  stream owner = on.create_stream();
  for (const pool_kind kind : {pool_kind::stream_ordered, pool_kind::caching}) {
    const memory_pool pool = on.create_pool({.kind = kind});
    for (void* const handle : {owner.native_handle(), static_cast<void*>(nullptr)}) {
      stream guest = stream::borrow(on, handle);
      auto y = pool.allocate<f32>(n, guest);
      launch_advance(guest, y, 1, 2);
      CHECK(y.download(guest) == all(2, n));
    }
    CHECK(pool.statistics().in_use == 0);
    CHECK(pool.statistics().allocations == 2);
  }
}

TEST_CASE("the emulator refuses a handle that is no stream of it", "[streams]") {
  const device gpu = device::open("emulator"), other = device::open("emulator");
  stream far = other.create_stream();
  int no_stream = 0;
  void* gone = nullptr;
  {
    const stream s = gpu.create_stream();
    gone = s.native_handle();
  }
  for (void* const handle : {far.native_handle(), static_cast<void*>(&no_stream), gone})
    refuses(errc::invalid_argument, {"no stream of", "borrow a live stream"},
            [&] { stream::borrow(gpu, handle); });
  CHECK(far.is_done());
}

TEST_CASE("streams are created with each priority, and with numbers beyond them", "[streams]") {
  device& on = under_test();
  const stream_priorities range = on.stream_priorities();
  CHECK(range.highest <= range.lowest);
  for (const int priority : {range.lowest, range.highest, range.highest - 1000, range.lowest + 1000}) {
    stream s = on.create_stream({.priority = priority});
    auto y = on.upload(all(1, n));
    launch_advance(s, y, 2, 1);
    CHECK(y.download(s) == all(3, n));
  }
}

TEST_CASE("a stream has the occupancy limits of its device", "[streams]") {
  device& on = under_test();
  const stream s = on.create_stream();
  const u64 blocks = s.resident_blocks(advance.image());
  CHECK(blocks >= on.properties().multiprocessors);
  CHECK(blocks == on.resident_blocks(advance.image()));
  CHECK(s.resident_blocks(advance.image(), 32 * 1024) < blocks);
  CHECK(s.max_active_clusters(advance.image()) == blocks);
  CHECK(s.max_active_clusters(advance.image()) == on.max_active_clusters(advance.image()));
}

TEST_CASE("a host function that is null, or in a null stream, is refused", "[streams]") {
  stream s = under_test().create_stream();
  int calls = 0;
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  refuses(errc::invalid_argument, {"host_function", "null function"},
          [&] { s.host_function(nullptr, &calls); });
  const stream taken = std::move(s);
  refuses(errc::invalid_argument, {"host_function", "null stream"}, [&] { s.host_function(count, &calls); });
  taken.host_function(count, &calls);
  taken.synchronize();
  CHECK(calls == 1);
}

TEST_CASE("a device reports the owner of its memory by address", "[streams]") {
  device& on = under_test();
  auto y = on.allocate<f32>(n);
  if (!on.is_emulator()) {  // an emulator without a number is not searched
    CHECK(device::of_pointer(y.address()) == on);
    CHECK(device::of_pointer(y.address() + 4 * n - 1) == on);
  }
  refuses(errc::invalid_argument, {"no memory of", "address"}, [] { device::of_pointer(8); });
}

TEST_CASE("a device accesses its own memory, and enabling that changes nothing", "[streams]") {
  device& on = under_test();
  CHECK(on.can_access(on));
  CHECK_NOTHROW(on.enable_access(on));
  const device other = device::open("emulator");
  CHECK_FALSE(on.can_access(other));
  CHECK_FALSE(other.can_access(on));
  refuses(errc::unsupported_device, {"cannot access", "copy"}, [&] { on.enable_access(other); });
  auto far = other.allocate<f32>(n);
  refuses(errc::invalid_argument, {"advance"}, [&] { launch_advance(on.stream(), far, 1, 1); });
}
