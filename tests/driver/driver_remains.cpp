// What failures, lost devices and destroyed objects leave behind. failures/each_call.cpp makes every call fail; here are the
// consequences that its flows do not see.

#include <thread>
#include <vector>

#include "driver/driver_support.hpp"
#include "driver_abi/types.hpp"

using namespace driver_test;
using namespace kaio::driver_abi;
using kaio::errc;

namespace {

const std::vector<float> ones(1024, 1.0f);

kaio::stream per_thread(const kaio::device& gpu) {
  return kaio::stream::borrow(gpu, reinterpret_cast<void*>(2));
}

}  // namespace

TEST_CASE("what was in a context that its owner destroyed is not given back again") {
  const fresh_driver driver;
  void* const theirs = driver.create_context();
  {
    const kaio::device gpu = kaio::device::of_current_context();
    const auto x = gpu.upload(ones);
    const auto staging = gpu.allocate_host<float>(16);
    const kaio::stream s = gpu.create_stream();
    const kaio::event mark = gpu.create_event();
    launch_scale(s, x);
    driver.destroy_context(theirs);
    CHECK(catch_error([&] { s.synchronize(); }).code == errc::device_lost);
    driver.reset();
  }
  // The addresses and handles may be those of others by now.
  for (const char* const function : {"cuMemFree_v2", "cuMemFreeHost", "cuStreamDestroy_v2",
                                     "cuEventDestroy_v2", "cuModuleUnload", "cuCtxSynchronize"})
    CHECK(driver.calls_of(function) == 0);
  driver.reset();  // of the calls that were refused
}

TEST_CASE("the first use of a lost device's own stream gives the first cause") {
  const fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  driver.fail_next("cuCtxSynchronize", CUDA_ERROR_ECC_UNCORRECTABLE);
  CHECK(catch_error([&] { gpu.synchronize(); }).code == errc::device_lost);
  driver.recover();
  const long before = driver.calls();
  const thrown later = catch_error([&] { gpu.stream(); });
  CHECK(later.code == errc::device_lost);
  CHECK(later.says("The first cause: "));
  CHECK(driver.calls() == before);
}

TEST_CASE("a pool that another one replaces goes before its device") {
  const fresh_driver driver;
  driver.be(2);
  kaio::memory_pool pool = kaio::device::open("cuda:0").create_pool();
  pool = kaio::device::open("cuda:1").create_pool({.kind = kaio::pool_kind::caching});
  CHECK(driver.counted().contexts == 1);
  CHECK(driver.counted().pools == 0);
  pool = kaio::memory_pool();
  CHECK(driver.counted().contexts == 0);
}

TEST_CASE("the stream per thread is another one in each thread: a pool does not mix their blocks") {
  const fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const kaio::memory_pool pool = gpu.create_pool({.kind = kaio::pool_kind::caching});
  kaio::buffer<float> kept;
  std::uint64_t released = 0;
  std::thread([&] {
    const kaio::stream s = per_thread(gpu);
    kept = pool.allocate<float>(1024, s);
    released = pool.allocate<float>(1024, s).address();
    CHECK(pool.allocate<float>(1024, s).address() == released);
  }).join();
  const kaio::stream mine = per_thread(gpu);
  CHECK(pool.allocate<float>(1024, mine).address() != released);
  // The order of the other thread's stream is not known here: the block goes back to the device.
  const std::uint64_t reserved = pool.statistics().reserved;
  kept.release();
  CHECK(pool.statistics().reserved == reserved - 4096);
  CHECK(pool.statistics().in_use == 0);
}

TEST_CASE("a caching pool keeps no blocks of streams that are gone") {
  const fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const kaio::memory_pool pool = gpu.create_pool({.kind = kaio::pool_kind::caching});
  for (int i = 0; i < 10; ++i) {
    const kaio::stream s = gpu.create_stream();
    pool.allocate<float>(1024, s);
  }
  CHECK(pool.statistics().reserved == 4096);
  CHECK(pool.statistics().most_reserved == 4096);
}

TEST_CASE("a node that could not get its attributes is not left in its graph") {
  const fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto x = gpu.upload(ones);
  gpu.warmup(scale);
  const kaio::ptx::argument arguments[] = {x.as_argument(), {0x40000000u}, {1024}};
  kaio::graph g(gpu);
  kaio::graph_position at = g.begin();
  driver.fail_next("cuGraphKernelNodeSetAttribute", CUDA_ERROR_OPERATING_SYSTEM);
  const thrown refused = catch_error([&] { at.launch(scale, {.x = 4, .cluster = {2, 1, 1}}, arguments, 3); });
  CHECK(refused.says("cuGraphKernelNodeSetAttribute"));
  CHECK(g.size() == 0);
  at.launch(scale, {.x = 4, .cluster = {2, 1, 1}}, arguments, 3);
  g.instantiate().launch(gpu.stream());
  CHECK(x.download() == std::vector<float>(1024, 2.0f));
}

TEST_CASE("a driver that fails to tell whose memory an address is gives its own error") {
  const fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto x = gpu.allocate<float>(16);
  const auto adopt = [&] {
    return gpu.adopt<float>(
        x.address(), 16, [](void*, std::uint64_t) noexcept {}, nullptr);
  };
  driver.fail_next("cuPointerGetAttribute", CUDA_ERROR_OPERATING_SYSTEM);
  CHECK(catch_error(adopt).code == errc::driver_error);
  CHECK(adopt().address() == x.address());
  driver.fail_next("cuPointerGetAttribute", CUDA_ERROR_OPERATING_SYSTEM);
  CHECK(catch_error([&] { kaio::device::of_pointer(x.address()); }).code == errc::driver_error);
  CHECK(kaio::device::of_pointer(x.address()) == gpu);
  driver.fail_next("cuPointerGetAttribute", CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(catch_error(adopt).code == errc::illegal_access);
  driver.recover();
  CHECK(catch_error(adopt).says("The first cause: "));
}

TEST_CASE("a capture whose end failed is ended by the next call") {
  const fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto x = gpu.upload(ones);
  gpu.warmup(scale);
  const kaio::stream s = gpu.create_stream();
  kaio::capture recording(s);
  launch_scale(s, x);
  driver.fail_next("cuStreamEndCapture", CUDA_ERROR_OPERATING_SYSTEM);
  CHECK(catch_error([&] { recording.end(); }).code == errc::driver_error);
  recording.end().instantiate().launch(s);
  CHECK(x.download(s) == std::vector<float>(1024, 2.0f));
  CHECK(catch_error([&] { recording.end(); }).code == errc::stream_capturing);
}

TEST_CASE("a failed copy disturbs no capture of another thread") {
  const fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  const auto x = gpu.upload(ones);
  gpu.warmup(scale);
  const kaio::stream s = gpu.create_stream(), t = gpu.create_stream();
  const kaio::graph g = capture_graph(s, [&] {
    launch_scale(s, x);
    std::thread([&] {
      driver.fail_next("cuMemcpyDtoHAsync_v2", CUDA_ERROR_OPERATING_SYSTEM);
      CHECK(catch_error([&] { x.download(t); }).code == errc::driver_error);
      driver.recover();
      CHECK(x.download(t) == ones);
    }).join();
  });
  g.instantiate().launch(s);
  CHECK(x.download(s) == std::vector<float>(1024, 2.0f));
}
