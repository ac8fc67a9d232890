// A call that a capture does not allow is refused by name, the end of the capture repeats it, and the stream is usable again.
#include "tests/kernels/runtime/runtime_kernels.hpp"

#include <cstdint>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::size_t n = 64;

template <int Number>
inline constexpr auto not_loaded =
    kernel<"not_loaded_" + decimal<Number>, 64>([](thread t, inout<f32> y) { y[t.global_id()] = 5.0f; });

stream warmed_stream() {
  under_test().warmup(advance.image());
  return under_test().create_stream();
}

// The stream runs work, and is captured anew.
void check_usable(stream& s, buffer<f32>& y) {
  CHECK_FALSE(s.is_capturing());
  launch_advance(s, y, 0, 3);
  CHECK(y.download(s) == all(3, n));
  capture_graph(s, [&] { launch_advance(s, y, 0, 4); }).instantiate().launch(s);
  CHECK(y.download(s) == all(4, n));
}

}  // namespace

TEST_CASE("calls that wait, ask or allocate in a capture are refused, and its end repeats them", "[graphs]") {
  device& on = under_test();
  stream s = warmed_stream();
  auto y = on.allocate<f32>(n);
  event mark = on.create_event(), outside = on.create_event();
  s.record(outside);
  const executable_graph other_graph = capture_graph(s, [&] { launch_advance(s, y, 1, 1); }).instantiate();
  const wrong_call calls[] = {
      {"synchronize", {"waiting for a stream on"}, [&] { s.synchronize(); }},
      {"is_done", {"asking a stream on"}, [&] { static_cast<void>(s.is_done()); }},
      {"download(stream)", {"waiting for a stream on"}, [&] { y.download(s); }},
      {"download", {"waiting for"}, [&] { y.download(); }},
      {"device::synchronize", {"waiting for"}, [&] { on.synchronize(); }},
      {"event::synchronize",
       {"waiting for an event on", "outside of captures"},
       [&] {
         s.record(mark);
         mark.synchronize();
       }},
      {"event::is_done",
       {"asking an event on", "outside of captures"},
       [&] {
         s.record(mark);
         static_cast<void>(mark.is_done());
       }},
      {"an event from outside",
       {"stream wait on", "outside", "within the capture"},
       [&] { s.wait(outside); }},
      {"a first use",
       {"not_loaded_1", "device::warmup", "before the capture"},
       [&] { not_loaded<1>.launch(s, grid(1), y); }},
      {"launch of a graph", {"launching a graph on", "graph::insert"}, [&] { other_graph.launch(s); }},
      {"upload of a graph", {"uploading a graph to", "before the capture"}, [&] { other_graph.upload(s); }},
      {"a pool", {"from a pool", "captured", "before the capture"}, [&] { on.allocate<f32>(n, s); }},
  };
  for (const wrong_call& wrong : calls) {
    CAPTURE(wrong.what);
    capture recording(s);
    launch_advance(s, y, 1, 1);
    refuses(errc::stream_capturing, wrong.says, wrong.call);
    std::vector<std::string_view> repeated = wrong.says;
    repeated.insert(repeated.end(), {"has no graph", "was not allowed"});
    refuses(errc::stream_capturing, repeated, [&] { recording.end(); });
    check_usable(s, y);
  }
  CHECK_NOTHROW(s.wait(outside));
  on.warmup(not_loaded<1>.image());
  CHECK(capture_graph(s, [&] { not_loaded<1>.launch(s, grid(1), y); }).size() == 1);
}

TEST_CASE("the end of a capture reports its first mistake", "[graphs]") {
  stream s = warmed_stream();
  auto y = under_test().allocate<f32>(n);
  capture recording(s);
  refuses(errc::stream_capturing, {"asking a stream on"}, [&] { static_cast<void>(s.is_done()); });
  refuses(errc::stream_capturing, {}, [&] { s.synchronize(); });
  refuses(errc::stream_capturing, {"asking a stream on", "has no graph"}, [&] { recording.end(); });
  check_usable(s, y);
}

TEST_CASE("a mistake in a stream that joined ends the capture too", "[graphs]") {
  device& on = under_test();
  stream s = warmed_stream(), joined = on.create_stream();
  auto y = on.allocate<f32>(n);
  event forked = on.create_event();
  capture recording(s);
  s.record(forked);
  joined.wait(forked);
  refuses(errc::stream_capturing, {"waiting for a stream on"}, [&] { joined.synchronize(); });
  refuses(errc::stream_capturing, {"waiting for a stream on", "has no graph"}, [&] { recording.end(); });
  CHECK_FALSE(joined.is_capturing());
  check_usable(s, y);
  check_usable(joined, y);
}

TEST_CASE("a stream that joined and is not waited for is named at the end", "[graphs]") {
  device& on = under_test();
  stream s = warmed_stream(), joined = on.create_stream();
  auto y = on.allocate<f32>(n);
  event forked = on.create_event();
  capture recording(s);
  launch_advance(s, y, 1, 1);
  s.record(forked);
  joined.wait(forked);
  launch_advance(joined, y, 1, 1);
  refuses(errc::stream_capturing, {"ending a capture on", "joined", "record an event in it"},
          [&] { recording.end(); });
  check_usable(joined, y);
  check_usable(s, y);
}

TEST_CASE("events of another capture are refused", "[graphs]") {
  device& on = under_test();
  stream a = warmed_stream(), b = on.create_stream();
  auto y = on.allocate<f32>(n);
  event of_a = on.create_event();
  capture first(a), second(b);
  launch_advance(a, y, 1, 1);
  a.record(of_a);
  refuses(errc::stream_capturing, {"stream wait on", "capture"}, [&] { b.wait(of_a); });
  refuses(errc::stream_capturing, {}, [&] { second.end(); });
  check_usable(b, y);
}

TEST_CASE("a capture ends once", "[graphs]") {
  stream s = warmed_stream();
  auto y = under_test().allocate<f32>(n);
  capture recording(s);
  launch_advance(s, y, 1, 1);
  CHECK(recording.end().size() == 1);
  refuses(errc::stream_capturing, {"ended before", "end it once"}, [&] { recording.end(); });
  check_usable(s, y);
}

TEST_CASE("a capture that is dropped leaves no work, and the stream usable", "[graphs]") {
  stream s = warmed_stream();
  auto y = under_test().allocate<f32>(n);
  {
    capture recording(s);
    launch_advance(s, y, 0, 9);
  }
  CHECK(y.download() == all(0, n));
  CHECK_THROWS_AS(capture_graph(s,
                                [&] {
                                  launch_advance(s, y, 0, 9);
                                  throw std::runtime_error("the program's own");
                                }),
                  std::runtime_error);
  CHECK(y.download() == all(0, n));
  refuses(errc::stream_capturing, {"waiting for a stream on"},
          [&] { capture_graph(s, [&] { s.synchronize(); }); });
  check_usable(s, y);
}

TEST_CASE("a stream that is captured is not captured again", "[graphs]") {
  stream s = warmed_stream();
  auto y = under_test().allocate<f32>(n);
  {
    const capture recording(s);
    refuses(errc::stream_capturing, {"capturing a stream on", "captured already", "end that capture first"},
            [&] { const capture again(s); });
  }
  check_usable(s, y);
}

TEST_CASE("the legacy default stream is not captured, the per-thread one is", "[graphs]") {
  device& on = under_test();
  auto y = on.allocate<f32>(n);
  on.warmup(advance.image());
  for (void* const handle : {static_cast<void*>(nullptr), reinterpret_cast<void*>(std::uintptr_t{1})})
    refuses(errc::stream_capturing,
            {"capturing a stream on", "legacy default stream", "a stream of your own"},
            [&] { const capture recording(stream::borrow(on, handle)); });
  stream s = stream::borrow(on, reinterpret_cast<void*>(std::uintptr_t{2}));
  check_usable(s, y);
}

TEST_CASE("other threads use their streams while one is captured, but may not wait for the device",
          "[graphs]") {
  device& on = under_test();
  stream s = warmed_stream(), other = on.create_stream();
  auto y = on.allocate<f32>(n), z = on.allocate<f32>(n);
  {
    capture recording(s);
    launch_advance(s, y, 0, 2);
    std::vector<f32> seen;
    std::thread([&] {
      launch_advance(other, z, 0, 7);
      seen = z.download(other);
      static_cast<void>(on.upload(seen));
    }).join();
    CHECK(seen == all(7, n));
    CHECK(recording.end().size() == 1);
  }
  capture recording(s);
  std::thread([&] {
    refuses(errc::stream_capturing, {"waiting for", "captured into a graph"}, [&] { on.synchronize(); });
  }).join();
  refuses(errc::stream_capturing, {"captur"}, [&] { recording.end(); });
  check_usable(s, y);
}

TEST_CASE("a capture ends on the thread that began it", "[graphs]") {
  stream s = warmed_stream();
  auto y = under_test().allocate<f32>(n);
  capture recording(s);
  std::thread([&] {
    refuses(errc::stream_capturing, {"ending a capture on", "another thread", "on that thread"},
            [&] { recording.end(); });
  }).join();
  check_usable(s, y);
}

TEST_CASE("a null stream is not captured", "[graphs]") {
  stream s = under_test().create_stream();
  const stream taken = std::move(s);
  refuses(errc::invalid_argument, {"capture", "null stream"}, [&] { const capture recording(s); });
  refuses(errc::invalid_argument, {"is_capturing", "null stream"},
          [&] { static_cast<void>(s.is_capturing()); });
}

TEST_CASE("other streams wait, allocate and load while one is captured", "[graphs]") {
  device& on = under_test();
  stream s = warmed_stream(), other = on.create_stream();
  auto y = on.allocate<f32>(n), z = on.allocate<f32>(n);
  capture recording(s);
  launch_advance(s, y, 0, 2);
  not_loaded<2>.launch(other, grid(1), z);
  CHECK(z.download(other) == all(5, n));
  {
    auto temporary = on.allocate<f32>(n, other);
    launch_advance(other, temporary, 1, 6);
    CHECK(temporary.download(other) == all(6, n));
  }
  const graph g = recording.end();
  CHECK(g.size() == 1);
  g.instantiate().launch(s);
  CHECK(y.download() == all(2, n));
}

TEST_CASE("a buffer of a pool that goes while its stream is captured leaves the capture alone",
          "[graphs][pools]") {
  device& on = under_test();
  stream s = warmed_stream();
  auto y = on.allocate<f32>(n);
  for (const pool_kind kind : {pool_kind::stream_ordered, pool_kind::caching}) {
    const memory_pool pool = on.create_pool({.kind = kind});
    auto temporary = pool.allocate<f32>(n, s);
    launch_advance(s, temporary, 1, 1);
    const graph g = capture_graph(s, [&] {
      launch_advance(s, y, 0, 2);
      temporary.release();
    });
    CHECK(pool.statistics().in_use == 0);
    CHECK(g.size() == 1);
    g.instantiate().launch(s);
    CHECK(y.download() == all(2, n));
  }
}
