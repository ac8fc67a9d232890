// A process does not grow by launches on borrowed streams, by replays of a graph, or by allocations of pools. With
// KAIO_TURN=all (tests/turn.py) a million launches and a hundred thousand of the others, else a fifth of these. A
// sanitizer keeps freed memory, so with one they are only run.

#include "driver/driver_support.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

using namespace driver_test;

namespace {

constexpr std::string_view nothing_text[] = {
    ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry nothing(.param .u64 x)\n{\n  ret;\n}\n"};
constexpr kaio::ptx::parameter nothing_parameters[] = {{kaio::ptx::type::f32, kaio::ptx::access::inout}};
constexpr kaio::ptx::kernel_image nothing{
    .name = "nothing",
    .segments = nothing_text,
    .segment_count = 1,
    .parameters = nothing_parameters,
    .parameter_count = 1,
    .block = {1, 1, 1},
    .needs = {},
};

long scaled(long full) {
  if (has_a_sanitizer()) return full / 200;
  const char* const turn = std::getenv("KAIO_TURN");
  return turn != nullptr && std::string_view(turn) == "all" ? full : full / 5;
}

// The emulated driver remembers the last 65,536 buffers that were freed, for its reports.
void let_the_driver_remember_all_it_can(const kaio::device& gpu) {
  for (long i = 0; i < 66'000; ++i) gpu.allocate<float>(256, kaio::uninitialised);
}

// Memory of the process that is resident.
long resident_bytes() {
  std::ifstream file("/proc/self/statm");
  long all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

template <class Body>
void check_growth(const char* what, long times, Body body) {
  INFO(what << ", " << times << " times");
  for (long i = 0; i < times / 10; ++i) body();
  const long before = resident_bytes();
  for (long i = 0; i < times; ++i) body();
  const long grown = resident_bytes() - before;
  if (!has_a_sanitizer()) CHECK(grown < 1024 * 1024);
}

}  // namespace

TEST_CASE("launches on borrowed streams, replays and allocations of pools let no process grow") {
  const fresh_driver driver;
  const kaio::device gpu = kaio::device::open("cuda:0");
  if (!has_a_sanitizer()) let_the_driver_remember_all_it_can(gpu);
  const auto x = gpu.allocate<float>(16);
  const kaio::ptx::argument arguments[] = {x.as_argument()};
  const kaio::stream owned = gpu.create_stream();
  long calls = 0;
  const auto wait_now_and_then = [&] {
    if (++calls % 64 == 0) owned.synchronize();
  };
  check_growth("launches on borrowed streams", scaled(1'000'000), [&] {
    const kaio::stream borrowed = kaio::stream::borrow(gpu, owned.native_handle());
    borrowed.launch(nothing, {1, 1, 1}, arguments, 1);
    wait_now_and_then();
  });
  const kaio::executable_graph step = capture_graph(owned, [&] {
                                        owned.launch(nothing, {1, 1, 1}, arguments, 1);
                                      }).instantiate();
  check_growth("replays of a graph", scaled(100'000), [&] {
    step.launch(owned);
    wait_now_and_then();
  });
  for (const auto kind : {kaio::pool_kind::stream_ordered, kaio::pool_kind::caching}) {
    const kaio::memory_pool pool = gpu.create_pool({.kind = kind});
    check_growth("allocations of a pool", scaled(100'000), [&] {
      pool.allocate<float>(256, owned, kaio::uninitialised);
      wait_now_and_then();
    });
    CHECK(pool.statistics().in_use == 0);
  }
  check_growth("streams with a caching pool", scaled(20'000),
               [&, pool = gpu.create_pool({.kind = kaio::pool_kind::caching})] {
                 const kaio::stream s = gpu.create_stream();
                 pool.allocate<float>(256, s, kaio::uninitialised);
               });
}
