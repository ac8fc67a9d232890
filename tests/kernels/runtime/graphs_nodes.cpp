// A graph that is built node by node runs each node after those that it waits for.
#include "tests/kernels/runtime/runtime_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::size_t n = 100;

struct note {
  std::vector<int>* order;
  int number;
};
void write_down(void* data) {
  const auto& it = *static_cast<const note*>(data);
  it.order->push_back(it.number);
}

// What a fill of `count` elements from `first` on, of 16, leaves of zeros.
template <class T>
std::vector<T> filled(std::size_t first, std::size_t count, T value) {
  std::vector<T> result(16);
  std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(first), count, value);
  return result;
}

}  // namespace

TEST_CASE("a diamond of nodes: two halves after a fill, their sum after both, a copy at the end",
          "[graphs]") {
  device& on = under_test();
  stream s = on.create_stream();
  auto y = on.allocate<f32>(2 * n);
  std::vector<f32> host(2 * n);
  graph g(on);
  CHECK(g.size() == 0);
  const graph_node ones = g.fill(y.view(), 1.0f);
  graph_position left = g.after({ones}), right = g.after(ones);
  launch_advance(left, y.slice(0, n), 2, 1);
  launch_advance(right, y.slice(n, n), 5, 5);
  launch_advance(right, y.slice(n, n), 2, 0);  // after the one before on the same position
  graph_position sum = g.after({left.node(), right.node()});
  launch_add(sum, y.slice(n, n), y.slice(0, n));
  g.copy(host.data(), y.view(), {sum.node()});
  CHECK(g.size() == 6);
  const executable_graph step = g.instantiate();
  CHECK(y.download() == all(0, 2 * n));
  for (int i = 0; i < 3; ++i) {
    std::fill(host.begin(), host.end(), 0.0f);
    step.launch(s);
    s.synchronize();
    CHECK(host[0] == 23);
    CHECK(host[n - 1] == 23);
    CHECK(host[n] == 20);
    CHECK(host[2 * n - 1] == 20);
  }
}

TEST_CASE("nodes copy from the host, on the device and to the host", "[graphs]") {
  device& on = under_test();
  stream s = on.create_stream();
  std::vector<u32> from{1, 2, 3, 4}, to(4);
  auto x = on.allocate<u32>(4), y = on.allocate<u32>(6);
  graph g(on);
  const graph_node up = g.copy(x.view(), from.data());
  const graph_node across = g.copy(y.slice(2, 4), x.view(), {up});
  g.copy(to.data(), y.slice(1, 4), {across});
  const executable_graph step = g.instantiate();
  step.launch(s);
  s.synchronize();
  CHECK(to == std::vector<u32>{0, 1, 2, 3});
  from[0] = 7;  // read when the graph runs
  step.launch(s);
  s.synchronize();
  CHECK(to == std::vector<u32>{0, 7, 2, 3});
}

TEST_CASE("nodes fill elements of 1, 2 and 4 bytes", "[graphs]") {
  device& on = under_test();
  stream s = on.create_stream();
  auto bytes = on.allocate<std::uint8_t>(16);
  auto flags = on.allocate<bool>(16);
  auto halves = on.allocate<std::uint16_t>(16);
  auto words = on.allocate<i32>(16);
  auto floats = on.allocate<f32>(16);
  graph g(on);
  g.fill(bytes.slice(3, 5), 200);
  g.fill(flags.slice(1, 2), true);
  g.fill(halves.slice(1, 3), 0xabcd);
  g.fill(words.slice(15, 1), -2);
  g.fill(floats.view(), -0.5f);
  g.instantiate().launch(s);
  CHECK(bytes.download(s) == filled<std::uint8_t>(3, 5, 200));
  CHECK(flags.download(s) == std::vector<bool>{false, true, true, false, false, false, false, false, false,
                                               false, false, false, false, false, false, false});
  CHECK(halves.download(s) == filled<std::uint16_t>(1, 3, 0xabcd));
  CHECK(words.download(s) == filled<i32>(15, 1, -2));
  CHECK(floats.download(s) == all(-0.5f, 16));
}

TEST_CASE("host function nodes run in the order of their dependencies", "[graphs]") {
  stream s = under_test().create_stream();
  std::vector<int> order;
  note notes[] = {{&order, 1}, {&order, 2}, {&order, 3}};
  graph g(under_test());
  const graph_node first = g.host_function(write_down, &notes[0]);
  const graph_node middle = g.host_function(write_down, &notes[1], {first});
  g.host_function(write_down, &notes[2], {middle});
  const executable_graph step = g.instantiate();
  CHECK(order.empty());
  step.launch(s);
  step.launch(s);
  s.synchronize();
  CHECK(order == std::vector<int>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("a node waits for more than 32 others through joins", "[graphs]") {
  device& on = under_test();
  stream s = on.create_stream();
  auto y = on.allocate<u32>(40);
  std::vector<u32> host(40);
  graph g(on);
  std::vector<graph_node> fills;
  for (std::size_t i = 0; i < 40; ++i) fills.push_back(g.fill(y.slice(i, 1), static_cast<u32>(i + 1)));
  refuses(errc::invalid_argument, {"40", "32", "join"}, [&] { g.join({fills.data(), fills.size()}); });
  CHECK(g.size() == 40);
  const graph_node first = g.join({fills.data(), 32}), second = g.join({fills.data() + 32, 8});
  g.copy(host.data(), y.view(), {first, second});
  CHECK(g.size() == 43);
  g.instantiate().launch(s);
  s.synchronize();
  for (u32 i = 0; i < 40; ++i) CHECK(host[i] == i + 1);
}

TEST_CASE("a graph is inserted as one node, as it was then", "[graphs]") {
  device& on = under_test();
  stream s = on.create_stream();
  auto y = on.upload(all(1, n));
  graph outer(on);
  graph_position begin = outer.begin();
  launch_advance(begin, y, 2, 0);
  {
    graph inner(on);
    graph_position inside = inner.begin();
    launch_advance(inside, y, 1, 3);
    launch_advance(inside, y, 2, 0);
    const graph_node nested = outer.insert(inner, {begin.node()});
    launch_advance(inside, y, 0, 0);  // after the insertion: not part of it
    graph_position end = outer.after({nested});
    launch_advance(end, y, 1, 7);
  }
  CHECK(outer.size() == 3);
  outer.instantiate().launch(s);
  CHECK(y.download(s) == all(17, n));
}

TEST_CASE("a captured graph is extended by nodes", "[graphs]") {
  device& on = under_test();
  on.warmup(advance.image());
  stream s = on.create_stream();
  auto x = on.upload(all(1, n)), y = on.upload(all(1, n));
  graph g = capture_graph(s, [&] { launch_advance(s, x, 2, 1); });
  graph_position more = g.begin();
  launch_advance(more, y, 3, 1);
  CHECK(g.size() == 2);
  g.instantiate().launch(s);
  CHECK(x.download(s) == all(3, n));
  CHECK(y.download(s) == all(4, n));
}

TEST_CASE("empty memory makes a node without work, which others wait for", "[graphs]") {
  device& on = under_test();
  stream s = on.create_stream();
  auto x = on.allocate<u32>(4), y = on.allocate<u32>(4);
  graph g(on);
  const graph_node a = g.fill(x.slice(2, 0), 1u);
  const graph_node b = g.copy(x.slice(0, 0), y.slice(1, 0), {a});
  g.fill(x.view(), 6u, {b});
  CHECK(g.size() == 3);
  g.instantiate().launch(s);
  CHECK(x.download(s) == std::vector<u32>(4, 6));
}
