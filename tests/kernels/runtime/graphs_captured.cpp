// A graph that was captured does the work of the calls in it, all of it, each time that it is launched.
#include "tests/kernels/runtime/runtime_kernels.hpp"

#include <cstdint>
#include <utility>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::size_t n = 100;

stream warmed_stream() {
  under_test().warmup(advance.image());
  under_test().warmup(add_to.image());
  return under_test().create_stream();
}

void count_call(void* data) { ++*static_cast<int*>(data); }

}  // namespace

TEST_CASE("a captured stream runs nothing before its graph is launched, and all of it each time",
          "[graphs]") {
  stream s = warmed_stream();
  auto y = under_test().upload(all(1, n));
  CHECK_FALSE(s.is_capturing());
  const graph g = capture_graph(s, [&] {
    CHECK(s.is_capturing());
    launch_advance(s, y, 2, 1);
    launch_advance(s, y, 3, 0);
  });
  CHECK_FALSE(s.is_capturing());
  CHECK(g.size() == 2);
  CHECK(y.download() == all(1, n));
  const executable_graph step = g.instantiate();
  step.upload(s);
  CHECK(y.download(s) == all(1, n));
  f32 expected = 1;
  for (int i = 0; i < 5; ++i) {
    step.launch(s);
    expected = (2 * expected + 1) * 3;
  }
  CHECK(y.download(s) == all(expected, n));
}

TEST_CASE("a graph is replayed many times without a wait between", "[graphs]") {
  stream s = warmed_stream();
  auto y = under_test().allocate<f32>(n);
  const executable_graph step = capture_graph(s, [&] { launch_advance(s, y, 1, 1); }).instantiate();
  for (int i = 0; i < 500; ++i) step.launch(s);
  CHECK(y.download(s) == all(500, n));
}

TEST_CASE("an empty capture is an empty graph, which may be launched", "[graphs]") {
  stream s = warmed_stream();
  const graph g = capture_graph(s, [] {});
  CHECK(g.size() == 0);
  g.instantiate().launch(s);
  s.synchronize();
  CHECK(s.is_done());
}

TEST_CASE("a stream that waits for an event of a capture joins it, and the graph keeps both orders",
          "[graphs]") {
  stream a = warmed_stream(), b = under_test().create_stream();
  auto x = under_test().allocate<f32>(n), y = under_test().allocate<f32>(n);
  event forked = under_test().create_event(), joined = under_test().create_event();
  capture recording(a);
  launch_advance(a, x, 0, 2);
  a.record(forked);
  b.wait(forked);
  CHECK(b.is_capturing());
  launch_advance(b, y, 0, 5);
  launch_advance(a, x, 3, 1);
  b.record(joined);
  a.wait(joined);
  launch_add(a, y, x);
  const graph g = recording.end();
  CHECK_FALSE(a.is_capturing());
  CHECK_FALSE(b.is_capturing());
  CHECK(g.size() == 4);
  const executable_graph step = g.instantiate();
  for (int i = 0; i < 3; ++i) step.launch(b);
  CHECK(x.download(b) == all(12, n));
  launch_advance(b, y, 2, 0);  // b is a stream like any other again
  CHECK(y.download(b) == all(10, n));
}

TEST_CASE("captured copies and fills read their sources when the graph runs", "[graphs]") {
  device& on = under_test();
  stream s = warmed_stream();
  auto from = on.allocate_host<f32>(n), to = on.allocate_host<f32>(n);
  auto x = on.allocate<f32>(n), y = on.allocate<f32>(2 * n);
  auto bytes = on.allocate<std::uint8_t>(7);
  const graph g = capture_graph(s, [&] {
    x.copy_from(from.data(), n, s);
    copy(s, y.slice(n, n), x.view());
    fill(s, y.slice(0, n), 4.0f);
    fill(s, bytes.slice(1, 3), 9);
    launch_add(s, y.slice(0, n), y.slice(n, n));
    y.copy_to(to.data(), n, s, n);
    x.fill_zero(s);
  });
  CHECK(g.size() == 7);
  const executable_graph step = g.instantiate();
  for (const f32 value : {1.0f, 30.0f}) {
    for (std::size_t i = 0; i < n; ++i) from[i] = value;
    step.launch(s);
    s.synchronize();
    CHECK(std::vector<f32>(to.data(), to.data() + n) == all(value + 4, n));
    CHECK(x.download(s) == all(0, n));
  }
  CHECK(bytes.download() == std::vector<std::uint8_t>{0, 9, 9, 9, 0, 0, 0});
}

TEST_CASE("a host function runs after the work before it, in a stream and in its graph", "[graphs]") {
  stream s = warmed_stream();
  auto y = under_test().allocate<f32>(n);
  auto seen = under_test().allocate_host<f32>(n);
  struct state {
    const f32* seen;
    f32 last = 0;
    int calls = 0;
  } noted{seen.data()};
  const auto look = [](void* data) {
    auto& to = *static_cast<state*>(data);
    to.last = to.seen[n - 1];
    ++to.calls;
  };
  const auto work = [&] {
    launch_advance(s, y, 1, 1);
    y.copy_to(seen.data(), n, s);
    s.host_function(look, &noted);
  };
  work();
  s.synchronize();
  CHECK(noted.calls == 1);
  CHECK(noted.last == 1);
  const graph g = capture_graph(s, work);
  CHECK(noted.calls == 1);
  const executable_graph step = g.instantiate();
  for (int i = 0; i < 3; ++i) step.launch(s);
  s.synchronize();
  CHECK(noted.calls == 4);
  CHECK(noted.last == 4);
}

TEST_CASE("captured graphs are put into another one as nodes", "[graphs]") {
  stream s = warmed_stream();
  auto y = under_test().upload(all(1, n));
  graph whole(under_test());
  {
    const graph twice = capture_graph(s, [&] { launch_advance(s, y, 2, 0); });
    const graph more = capture_graph(s, [&] {
      launch_advance(s, y, 1, 1);
      launch_advance(s, y, 10, 0);
    });
    whole.insert(twice, {whole.insert(more, {whole.insert(twice)})});
  }
  CHECK(whole.size() == 3);
  whole.instantiate().launch(s);
  CHECK(y.download(s) == all(60, n));
}

TEST_CASE("a launch with an empty grid adds no node", "[graphs]") {
  stream s = warmed_stream();
  auto y = under_test().upload(all(1, n));
  const graph g = capture_graph(s, [&] {
    advance.launch(s, over(0), y, 2.0f, 1.0f, 0u);
    launch_advance(s, y, 2, 1);
  });
  CHECK(g.size() == 1);
}

TEST_CASE("a borrowed stream is captured, and launches graphs, like any other", "[graphs]") {
  stream owner = warmed_stream();
  auto y = under_test().upload(all(1, n));
  stream guest = stream::borrow(under_test(), owner.native_handle());
  const graph g = capture_graph(guest, [&] {
    CHECK(owner.is_capturing());
    launch_advance(owner, y, 2, 1);
  });
  CHECK(g.size() == 1);
  g.instantiate().launch(guest);
  CHECK(y.download(owner) == all(3, n));
}

TEST_CASE("graphs of several streams run at once, each in the order of its stream", "[graphs]") {
  stream a = warmed_stream(), b = under_test().create_stream();
  auto x = under_test().allocate<f32>(n), y = under_test().allocate<f32>(n);
  int calls = 0;
  const executable_graph first = capture_graph(a, [&] {
                                   launch_advance(a, x, 1, 1);
                                   a.host_function(count_call, &calls);
                                 }).instantiate();
  const executable_graph second = capture_graph(b, [&] { launch_advance(b, y, 1, 2); }).instantiate();
  for (int i = 0; i < 20; ++i) {
    first.launch(a);
    second.launch(b);
  }
  CHECK(x.download(a) == all(20, n));
  CHECK(y.download(b) == all(40, n));
  CHECK(calls == 20);
}
