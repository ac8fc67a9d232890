// Emulators with numbers are several devices of one host: each has its memory, streams and errors, and reads what another one has.

#include "unit/runtime/support.hpp"

#include <kaio/runtime/budget.hpp>
#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/graph.hpp>

#include <numeric>
#include <utility>

using namespace runtime_test;
using kaio::device;
using kaio::errc;

namespace {

// *x += 1 without end.
inline constexpr std::string_view endless_text[] = {R"(
.version 6.0
.target sm_70
.address_size 64
.visible .entry endless(.param .u64 endless_param_0)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [endless_param_0];
again:
  ld.global.u32 %r0, [%d0];
  add.u32 %r0, %r0, 1;
  st.global.u32 [%d0], %r0;
  bra again;
}
)"};
inline constexpr kaio::ptx::parameter endless_parameters[] = {
    {kaio::ptx::type::u32, kaio::ptx::access::inout}};
inline constexpr kaio::ptx::kernel_image endless{.name = "endless",
                                                 .segments = endless_text,
                                                 .segment_count = 1,
                                                 .parameters = endless_parameters,
                                                 .parameter_count = 1,
                                                 .block = {1, 1, 1},
                                                 .needs = {}};

void lose(const device& gpu) {
  gpu.set_budget({.launch_instructions = 1000});
  auto x = gpu.allocate<std::uint32_t>(1);
  const kaio::ptx::argument arguments[] = {x.as_argument()};
  CHECK(catch_error([&] { gpu.stream().launch(endless, {}, arguments, 1); }).code == errc::launch_timeout);
}

}  // namespace

TEST_CASE("all handles of an emulator with a number are one device while it is open") {
  const environment architecture("KAIO_EMULATOR_ARCH", nullptr);
  const device a = device::open("emulator:1"), b = device::open("emulator:1"), c = device::open("emulator:2");
  CHECK(a == b);
  CHECK_FALSE(a == c);
  CHECK_FALSE(a == device::open("emulator"));
  CHECK(a.is_emulator());
  CHECK(a.properties().emulator == 1);
  CHECK(c.properties().emulator == 2);
  CHECK(a.properties().ordinal == -1);
  CHECK(device::open("emulator").properties().emulator == -1);
  CHECK(a.description() == "emulator:1 (sm_90a)");
  const auto x = a.upload(counted(8));
  CHECK(x.download() == counted(8));
}

TEST_CASE("KAIO_DEVICE and its architecture open an emulator with a number") {
  const environment name("KAIO_DEVICE", "emulator:1"), architecture("KAIO_EMULATOR_ARCH", "sm_80");
  const device gpu = device::open();
  CHECK(gpu.properties().emulator == 1);
  CHECK(gpu.properties().target == kaio::ptx::target{80, false});
  CHECK(gpu == device::open("emulator:1"));
}

TEST_CASE("an emulator that has no such number is refused by name") {
  for (const char* name : {"emulator:16", "emulator:", "emulator:-1", "emulator:x"}) {
    const thrown e = catch_error([&] { device::open(name); });
    CHECK(e.code == errc::invalid_argument);
    CHECK(e.says(name));
    CHECK(e.says("emulator:N with N from 0 to 15"));
  }
}

TEST_CASE("kernels read and write memory of another device once access is enabled, and not before") {
  const device a = device::open("emulator:1"), b = device::open("emulator:2");
  const auto x = b.upload(counted(64));
  const auto y = a.allocate<float>(64);
  CHECK(a.can_access(b));
  CHECK(b.can_access(a));
  const thrown before = catch_error([&] { launch_scale(a.stream(), x, y, 2.0f, 64); });
  CHECK(before.code == errc::invalid_argument);
  CHECK(before.says("device"));
  CHECK(catch_error([&] { fill(a.stream(), x.view(), 1.0f); }).says("enable_access"));
  a.enable_access(b);
  a.enable_access(b);  // does nothing
  launch_scale(a.stream(), x, y, 2.0f, 64);
  CHECK(y.download()[63] == 126);
  launch_scale(a.stream(), y, x, 2.0f, 64);
  CHECK(x.download()[63] == 252);
  fill(a.stream(), x.slice(0, 1), 9.0f);
  CHECK(x.download()[0] == 9);
  CHECK(catch_error([&] { launch_scale(b.stream(), x, y, 1.0f, 64); }).code == errc::invalid_argument);
}

TEST_CASE("memory of the other's pools is accessed, whenever the pool was made") {
  const device a = device::open("emulator:1"), b = device::open("emulator:2");
  const kaio::stream s = b.create_stream();
  const auto early = b.allocate<float>(64, s);
  a.enable_access(b);
  const kaio::memory_pool pool = b.create_pool();
  const auto late = pool.allocate<float>(64, s);
  fill(s, early.view(), 3.0f);
  launch_scale(a.stream(), early, late, 2.0f, 64);
  CHECK(late.download(s) == std::vector<float>(64, 6.0f));
}

TEST_CASE("access goes with the device: another one that is opened later is not accessed") {
  const device a = device::open("emulator:1");
  {
    const device b = device::open("emulator:2");
    a.enable_access(b);
  }
  for (int i = 0; i < 4; ++i) {
    const device b = device::open("emulator:2");
    const auto x = b.upload(counted(64));
    const auto y = a.allocate<float>(64);
    CHECK(catch_error([&] { launch_scale(a.stream(), x, y, 2.0f, 64); }).code == errc::invalid_argument);
  }
}

TEST_CASE("an emulator without a number is alone") {
  const device alone = device::open("emulator"), numbered = device::open("emulator:1");
  CHECK_FALSE(alone.can_access(numbered));
  CHECK_FALSE(numbered.can_access(alone));
  CHECK(alone.can_access(alone));
  const thrown e = catch_error([&] { numbered.enable_access(alone); });
  CHECK(e.code == errc::unsupported_device);
  CHECK(e.says("kaio::copy"));
}

TEST_CASE("the device of an address is found") {
  const device a = device::open("emulator:1"), b = device::open("emulator:2"),
               alone = device::open("emulator");
  const auto x = a.upload(counted(100)), y = b.upload(counted(100)), z = alone.upload(counted(1000));
  CHECK(device::of_pointer(x.address()) == a);
  CHECK(device::of_pointer(x.address() + 399) == a);
  CHECK(device::of_pointer(y.address()) == b);
  auto gone = a.upload(counted(100));
  const std::uint64_t address = gone.address();
  gone.release();
  const thrown e = catch_error([&] { device::of_pointer(address); });
  CHECK(e.code == errc::invalid_argument);
  CHECK(e.says("no memory of"));
  CHECK(catch_error([&] { device::of_pointer(0); }).code == errc::invalid_argument);
}

TEST_CASE("streams wait for events of another device") {
  const device a = device::open("emulator:1"), b = device::open("emulator:2"),
               alone = device::open("emulator");
  kaio::event of_a = a.create_event(), of_alone = alone.create_event();
  const auto x = a.upload(counted(64)), y = a.allocate<float>(64);
  b.stream().wait(of_a);  // never recorded: no wait
  launch_scale(a.stream(), x, y, 3.0f, 64);
  a.stream().record(of_a);
  b.stream().wait(of_a);
  auto far = b.allocate<float>(64);
  copy(b.stream(), far.view(), y.view());
  CHECK(far.download()[63] == 189);
  alone.stream().record(of_alone);
  CHECK_NOTHROW(b.stream().wait(of_alone));
}

TEST_CASE("memory is copied between devices in the order of a stream of either") {
  const device a = device::open("emulator:1"), b = device::open("emulator:2"),
               alone = device::open("emulator");
  const auto x = a.upload(counted(64));
  auto y = b.allocate<float>(64), z = alone.allocate<float>(32);
  copy(a.stream(), y.slice(0, 32), x.slice(32, 32));
  copy(b.stream(), y.slice(32, 32), x.slice(0, 32));
  std::vector<float> expected(64);
  std::iota(expected.begin(), expected.begin() + 32, 32.0f);
  std::iota(expected.begin() + 32, expected.end(), 0.0f);
  CHECK(y.download() == expected);
  copy(a.stream(), z.view(), y.slice(0, 32));  // neither the source's nor the target's stream
  CHECK(z.download()[31] == 63);
  auto same = alone.allocate<float>(32);
  same.copy_from(z, alone.stream());
  CHECK(same.download() == z.download());
  const thrown sizes = catch_error([&] { copy(a.stream(), y.slice(0, 3), x.slice(0, 4)); });
  CHECK(sizes.says("same size"));
  kaio::device_pointer<float> closed;
  {
    const device gone = device::open("emulator:3");
    const auto w = gone.upload(counted(4));
    closed = w.view();
  }
  CHECK(catch_error([&] { copy(a.stream(), y.slice(0, 4), closed); }).says("a closed device"));
  CHECK(y.download() == expected);
}

TEST_CASE("a copy between devices is captured") {
  const device a = device::open("emulator:1"), b = device::open("emulator:2");
  auto x = a.upload(counted(64));
  const auto y = b.allocate<float>(64);
  const kaio::stream s = a.create_stream();
  const kaio::executable_graph step = capture_graph(s, [&] { copy(s, y.view(), x.view()); }).instantiate();
  CHECK(y.download() == std::vector<float>(64));
  x.fill_zero(s);
  fill(s, x.view(), 2.0f);
  step.launch(s);
  CHECK(y.download() == std::vector<float>(64, 2.0f));
}

TEST_CASE("a stream of another device joins a capture") {
  const device a = device::open("emulator:1"), b = device::open("emulator:2");
  const auto x = a.upload(counted(64)), y = a.allocate<float>(64);
  const auto z = b.allocate<float>(64);
  b.enable_access(a);
  a.warmup(scale);
  b.warmup(scale);
  const kaio::stream s = a.create_stream(), t = b.create_stream();
  kaio::event forked = a.create_event(), joined = b.create_event();
  const kaio::graph g = capture_graph(s, [&] {
    launch_scale(s, x, y, 2.0f, 64);
    s.record(forked);
    t.wait(forked);
    launch_scale(t, y, z, 5.0f, 64);
    t.record(joined);
    s.wait(joined);
  });
  CHECK_FALSE(t.is_capturing());
  CHECK(g.size() == 2);
  CHECK(z.download()[63] == 0);
  g.instantiate().launch(s);
  CHECK(z.download()[63] == 630);
}

TEST_CASE("one device is lost, and the others are not; its number is opened anew") {
  const device a = device::open("emulator:1"), b = device::open("emulator:2");
  const auto y = b.upload(counted(4));
  lose(a);
  CHECK(catch_error([&] { a.synchronize(); }).code == errc::launch_timeout);
  CHECK(y.download() == counted(4));
  const device again = device::open("emulator:1");
  CHECK_FALSE(again == a);
  CHECK(again.properties().emulator == 1);
  CHECK(again.upload(counted(4)).download() == counted(4));
  CHECK(device::open("emulator:1") == again);
  CHECK(catch_error([&] { a.synchronize(); }).code == errc::launch_timeout);
}

TEST_CASE("memory that a device did not free goes with it") {
  const device a = device::open("emulator:1");
  const std::uint64_t before = a.memory_info().free;
  {
    const device b = device::open("emulator:2");
    const kaio::memory_pool pool = b.create_pool({.kind = kaio::pool_kind::caching});
    const kaio::stream s = b.create_stream();
    pool.allocate<float>(1000, s).release();
    const auto x = b.upload(counted(1000));
    CHECK(a.memory_info().free < before);
  }
  CHECK(a.memory_info().free == before);
}

TEST_CASE("a graph keeps its device open") {
  kaio::executable_graph step;
  kaio::graph g;
  kaio::buffer<float> x, y;
  {
    const device gone = device::open("emulator");
    x = gone.upload(counted(64));
    y = gone.allocate<float>(64);
    g = kaio::graph(gone);
    kaio::graph_position at = g.begin();
    const kaio::ptx::argument arguments[] = {x.as_argument(), y.as_argument(), {bits_of(2.0f)}, {64}};
    at.launch(scale, {1, 1, 1}, arguments, 4);
    step = g.instantiate();
    step.launch(gone.stream());
  }
  CHECK(g.size() == 1);
  CHECK(y.download()[63] == 126);
  const kaio::graph copy = g.clone();
  CHECK(copy.size() == 1);
}

TEST_CASE("a borrowed stream of the emulator that its owner destroyed gives a typed error") {
  const device gpu = device::open("emulator");
  const auto x = gpu.upload(counted(64)), y = gpu.allocate<float>(64);
  kaio::stream guest;
  const kaio::memory_pool pool = gpu.create_pool();
  kaio::buffer<float> z;
  {
    const kaio::stream owner = gpu.create_stream();
    guest = kaio::stream::borrow(gpu, owner.native_handle());
    z = pool.allocate<float>(64, guest);
    launch_scale(guest, x, z, 2.0f, 64);
  }
  for (const thrown& e :
       {catch_error([&] { launch_scale(guest, x, y, 1.0f, 64); }), catch_error([&] { guest.synchronize(); }),
        catch_error([&] { guest.is_capturing(); }),
        catch_error([&] { const kaio::capture recording(guest); })}) {
    CHECK(e.code == errc::invalid_argument);
    CHECK(e.says("its owner destroyed it"));
  }
  CHECK(z.download()[63] == 126);
  z.release();
  CHECK(pool.statistics().in_use == 0);
  CHECK(y.download()[63] == 0);
}
