// Kernels that wait for memory which another stream, another emulated device or the host writes later.

#include <kaio/runtime/budget.hpp>
#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/graph.hpp>

#include "unit/runtime/support.hpp"

#include <chrono>
#include <thread>
#include <utility>

using namespace runtime_test;
using namespace std::chrono_literals;
using kaio::buffer;
using kaio::device;
using kaio::errc;
using kaio::stream;

namespace {

constexpr kaio::ptx::parameter two_words[] = {{kaio::ptx::type::u32, kaio::ptx::access::inout},
                                              {kaio::ptx::type::u32, kaio::ptx::access::inout},
                                              {kaio::ptx::type::u32, kaio::ptx::access::scalar}};

// relay(from, to, value): waits until *from is `value`, then writes value + 1 to *to.
constexpr std::string_view relay_text[] = {R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry relay(.param .u64 relay_param_0, .param .u64 relay_param_1, .param .u32 relay_param_2)
{
  .reg .pred %p;
  .reg .b32 %r<3>;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [relay_param_0];
  ld.param.u64 %d1, [relay_param_1];
  ld.param.u32 %r0, [relay_param_2];
again:
  ld.acquire.sys.global.u32 %r1, [%d0];
  setp.ne.u32 %p, %r1, %r0;
  @%p bra again;
  add.u32 %r2, %r0, 1;
  st.release.sys.global.u32 [%d1], %r2;
  ret;
}
)"};
constexpr kaio::ptx::kernel_image relay{.name = "relay",
                                        .segments = relay_text,
                                        .segment_count = 1,
                                        .parameters = two_words,
                                        .parameter_count = 3,
                                        .block = {1, 1, 1},
                                        .needs = {}};

// turns(from, to, n): for k from 1 to n waits until *from is at least k, and adds 1 to *to.
constexpr std::string_view turns_text[] = {R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry turns(.param .u64 turns_param_0, .param .u64 turns_param_1, .param .u32 turns_param_2)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [turns_param_0];
  ld.param.u64 %d1, [turns_param_1];
  ld.param.u32 %r0, [turns_param_2];
  mov.u32 %r1, 0;
next:
  add.u32 %r1, %r1, 1;
again:
  ld.acquire.sys.global.u32 %r2, [%d0];
  setp.lt.u32 %p, %r2, %r1;
  @%p bra again;
  atom.add.release.sys.global.u32 %r3, [%d1], 1;
  setp.lt.u32 %p, %r1, %r0;
  @%p bra next;
  ret;
}
)"};
constexpr kaio::ptx::kernel_image turns{.name = "turns",
                                        .segments = turns_text,
                                        .segment_count = 1,
                                        .parameters = two_words,
                                        .parameter_count = 3,
                                        .block = {1, 1, 1},
                                        .needs = {}};

using words = buffer<std::uint32_t>;

void launch(const kaio::ptx::kernel_image& kernel, const stream& s, const words& from, const words& to,
            std::uint32_t value) {
  const kaio::ptx::argument arguments[] = {from.as_argument(), to.as_argument(), {value}};
  s.launch(kernel, {}, arguments, 3);
}

}  // namespace

TEST_CASE("a kernel waits for a copy and for a kernel of other streams, in both orders") {
  const device gpu = device::open("emulator");
  const stream a = gpu.create_stream(), b = gpu.create_stream();
  for (const bool waiter_first : {true, false}) {
    const words flag = gpu.upload(std::vector<std::uint32_t>{0}),
                end = gpu.upload(std::vector<std::uint32_t>{0});
    const auto write = [&] { kaio::runtime::fill(b, flag.view(), 7u); };
    if (!waiter_first) write();
    launch(relay, a, flag, end, 7);
    if (waiter_first) CHECK_FALSE(a.is_done());
    if (waiter_first) write();
    a.synchronize();
    CHECK(a.is_done());
    CHECK(end.download() == std::vector<std::uint32_t>{8});
  }
  const words first = gpu.upload(std::vector<std::uint32_t>{0}),
              second = gpu.upload(std::vector<std::uint32_t>{0}),
              third = gpu.upload(std::vector<std::uint32_t>{0});
  launch(relay, a, second, third, 6);
  launch(relay, b, first, second, 5);
  kaio::runtime::fill(gpu.create_stream(), first.view(), 5u);
  gpu.synchronize();
  CHECK(third.download() == std::vector<std::uint32_t>{7});
}

TEST_CASE("work after a waiting kernel keeps the order of its stream") {
  const device gpu = device::open("emulator");
  const stream a = gpu.create_stream(), b = gpu.create_stream();
  const words flag = gpu.upload(std::vector<std::uint32_t>{0}),
              end = gpu.upload(std::vector<std::uint32_t>{0}),
              copied = gpu.upload(std::vector<std::uint32_t>{0});
  auto waited = gpu.create_event();
  std::uint32_t called = 0;
  launch(relay, a, flag, end, 3);
  kaio::runtime::copy(a, copied.view(), end.view());
  launch(relay, a, end, copied, 4);
  a.record(waited);
  b.wait(waited);
  b.host_function([](void* to) { ++*static_cast<std::uint32_t*>(to); }, &called);
  CHECK_FALSE(waited.is_done());
  CHECK_FALSE(b.is_done());
  kaio::runtime::fill(gpu.create_stream(), flag.view(), 3u);
  waited.synchronize();
  CHECK(waited.is_done());
  b.synchronize();
  CHECK(called == 1);
  CHECK(copied.download() == std::vector<std::uint32_t>{5});
}

TEST_CASE("emulated devices exchange signals") {
  constexpr std::uint32_t n = 20;
  const device one = device::open("emulator:0"), two = device::open("emulator:1");
  for (const bool first : {true, false}) {
    const words a = one.upload(std::vector<std::uint32_t>{0}), b = two.upload(std::vector<std::uint32_t>{1});
    one.enable_access(two);
    two.enable_access(one);
    if (first) launch(turns, one.stream(), b, a, n);
    launch(turns, two.stream(), a, b, n);
    if (!first) launch(turns, one.stream(), b, a, n);
    one.synchronize();
    two.synchronize();
    CHECK(a.download() == std::vector<std::uint32_t>{n});
    CHECK(b.download() == std::vector<std::uint32_t>{n + 1});
  }
}

TEST_CASE("a graph's kernel waits for another stream") {
  const device gpu = device::open("emulator");
  const stream a = gpu.create_stream();
  const words flag = gpu.upload(std::vector<std::uint32_t>{0}),
              end = gpu.upload(std::vector<std::uint32_t>{0});
  gpu.warmup(relay);
  const auto g = kaio::runtime::capture_graph(a, [&] { launch(relay, a, flag, end, 1); });
  {
    const auto run = g.instantiate();
    run.launch(a);
  }
  CHECK_FALSE(a.is_done());
  kaio::runtime::fill(gpu.create_stream(), flag.view(), 1u);
  a.synchronize();
  CHECK(end.download() == std::vector<std::uint32_t>{2});
}

TEST_CASE("a host thread waits while another one writes") {
  const device gpu = device::open("emulator");
  const stream a = gpu.create_stream();
  const words flag = gpu.upload(std::vector<std::uint32_t>{0}),
              end = gpu.upload(std::vector<std::uint32_t>{0});
  launch(relay, a, flag, end, 1);
  std::thread other([&] {
    std::this_thread::sleep_for(50ms);
    kaio::runtime::fill(gpu.create_stream(), flag.view(), 1u);
  });
  CHECK_NOTHROW(a.synchronize());
  other.join();
  CHECK(end.download() == std::vector<std::uint32_t>{2});
}

TEST_CASE("waiting that nobody can end fails, and so does a budget or a cancellation") {
  for (const int how : {0, 1, 2}) {
    INFO(how);
    const device gpu = device::open("emulator");
    const stream a = gpu.create_stream(), b = gpu.create_stream();
    const words flag = gpu.allocate<std::uint32_t>(1), end = gpu.allocate<std::uint32_t>(1);
    if (how == 1) gpu.set_budget({.launch_time = 100ms});
    const errc expected[] = {errc::launch_failed, errc::launch_timeout, errc::cancelled};
    const auto e = catch_error([&] {
      launch(relay, a, flag, end, 1);
      CHECK_FALSE(a.is_done());
      if (how == 1) std::this_thread::sleep_for(150ms);
      if (how == 2) gpu.cancel();
      a.synchronize();
    });
    CHECK(e.code == expected[how]);
    if (how == 2) CHECK_NOTHROW(b.synchronize());
  }
}

TEST_CASE("a stream and its device go while a kernel waits") {
  const device gpu = device::open("emulator");
  const stream other = gpu.create_stream();
  const words flag = gpu.allocate<std::uint32_t>(1);
  {
    const stream a = gpu.create_stream();
    launch(relay, a, flag, flag, 1);
  }
  CHECK(other.is_done());
  CHECK(catch_error([&] { gpu.synchronize(); }).code == errc::launch_failed);
}

TEST_CASE("a launch that nothing can wake is a livelock at once") {
  const device gpu = device::open("emulator");
  const words flag = gpu.allocate<std::uint32_t>(1);
  const stream only = gpu.create_stream();
  CHECK(catch_error([&] { launch(relay, only, flag, flag, 1); }).code == errc::launch_failed);
}
