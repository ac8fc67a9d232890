// Two GPUs: each has its context, copies go between them, and kernels of one use memory of the other once that is enabled.

#include "driver/driver_support.hpp"

#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/memory_pool.hpp>

#include <vector>

using namespace driver_test;
using kaio::device;
using kaio::errc;

namespace {

const std::vector<float> ones(1024, 1.0f), twos(1024, 2.0f);

// Two GPUs of one host.
struct two_gpus {
  fresh_driver driver;
  device a = open("cuda:0"), b = open("cuda:1");

 private:
  device open(const char* name) const {
    if (!device::count() || device::count() == 1) driver.be(2);
    return device::open(name);
  }
};

}  // namespace

TEST_CASE("memory of a GPU is known by its address") {
  const two_gpus host;
  const auto x = host.a.upload(ones), y = host.b.upload(ones);
  CHECK(device::of_pointer(x.address()) == host.a);
  CHECK(device::of_pointer(y.address() + 4095) == host.b);
  CHECK(host.driver.counted().contexts == 2);
  const thrown none = catch_error([] { device::of_pointer(64); });
  CHECK(none.code == errc::invalid_argument);
  CHECK(none.says("no memory of a GPU"));
  CHECK(catch_error([&] {
          host.a.adopt<float>(
              y.address(), 4, [](void*, std::uint64_t) noexcept {}, nullptr);
        }).says("not memory of"));
}

TEST_CASE("memory is copied between GPUs by the driver's copy between contexts") {
  const two_gpus host;
  const auto x = host.a.upload(ones);
  auto y = host.b.allocate<float>(1024);
  copy(host.a.stream(), y.view(), x.view());
  host.a.stream().synchronize();
  CHECK(host.driver.calls_of("cuMemcpyPeerAsync") == 1);
  CHECK(y.download() == ones);
  auto z = host.b.allocate<float>(1024);
  z.copy_from(y, host.b.stream());
  CHECK(host.driver.calls_of("cuMemcpyPeerAsync") == 1);
  z.copy_from(x, host.b.stream());
  CHECK(host.driver.calls_of("cuMemcpyPeerAsync") == 2);
  CHECK(z.download() == ones);
  const thrown closed = catch_error(
      [&] { copy(host.a.stream(), x.view(), device::open("emulator").allocate<float>(1024).view()); });
  CHECK(closed.code == errc::invalid_argument);
}

TEST_CASE("a kernel uses another GPU's memory once access is enabled") {
  const two_gpus host;
  const auto x = host.b.upload(ones);
  CHECK(host.a.can_access(host.b));
  CHECK(catch_error([&] { launch_scale(host.a.stream(), x); }).code == errc::invalid_argument);
  host.a.enable_access(host.b);
  host.a.enable_access(host.b);
  CHECK(host.driver.calls_of("cuCtxEnablePeerAccess") == 1);
  launch_scale(host.a.stream(), x);
  host.a.synchronize();
  CHECK(x.download() == twos);
  const auto y = host.a.upload(ones);
  CHECK(catch_error([&] { launch_scale(host.b.stream(), y); }).code == errc::invalid_argument);
}

TEST_CASE("access that another part of the program enabled is no error") {
  const two_gpus host;
  host.driver.fail_next("cuCtxEnablePeerAccess", 704);  // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
  host.a.enable_access(host.b);
  const auto x = host.b.upload(ones);
  launch_scale(host.a.stream(), x);
  host.a.synchronize();
  CHECK(x.download() == twos);
}

TEST_CASE("access that the driver refuses is an error, and buffers of that GPU stay refused") {
  const two_gpus host;
  host.driver.fail_next("cuCtxEnablePeerAccess", 217);  // CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
  const thrown e = catch_error([&] { host.a.enable_access(host.b); });
  CHECK(e.says("enabling access to cuda:1"));
  const auto x = host.b.upload(ones);
  CHECK(catch_error([&] { launch_scale(host.a.stream(), x); }).code == errc::invalid_argument);
}

TEST_CASE("pools are opened to the GPUs that access their memory, whenever they were made") {
  const two_gpus host;
  const kaio::stream s = host.b.create_stream();
  const kaio::memory_pool early = host.b.create_pool();
  CHECK(host.driver.calls_of("cuMemPoolSetAccess") == 0);
  host.a.enable_access(host.b);
  CHECK(host.driver.calls_of("cuMemPoolSetAccess") == 1);
  const kaio::memory_pool late = host.b.create_pool();
  CHECK(host.driver.calls_of("cuMemPoolSetAccess") == 2);
  const kaio::memory_pool caching = host.b.create_pool({.kind = kaio::pool_kind::caching});
  CHECK(host.driver.calls_of("cuMemPoolSetAccess") == 2);  // its memory is cuMemAlloc's
  for (const kaio::memory_pool& pool : {early, late, caching}) {
    const auto x = pool.allocate<float>(1024, s);
    fill(s, x.view(), 1.0f);
    s.synchronize();
    launch_scale(host.a.stream(), x);
    host.a.synchronize();
    CHECK(x.download(s) == twos);
  }
}

TEST_CASE("a stream waits for an event of another GPU") {
  const two_gpus host;
  kaio::event done = host.a.create_event();
  const auto x = host.a.upload(ones);
  auto y = host.b.allocate<float>(1024);
  host.b.stream().wait(done);
  CHECK(host.driver.calls_of("cuStreamWaitEvent") == 0);  // never recorded
  launch_scale(host.a.stream(), x);
  host.a.stream().record(done);
  host.b.stream().wait(done);
  copy(host.b.stream(), y.view(), x.view());
  CHECK(y.download(host.b.stream()) == twos);
  const device emulator = device::open("emulator");
  const thrown e = catch_error([&] { emulator.stream().wait(done); });
  CHECK(e.code == errc::invalid_argument);
  CHECK(e.says("synchronise the event on the host"));
}
