// A graph that is ready takes other arguments, and graphs are copied, moved and instantiated again independently.
#include "tests/kernels/runtime/runtime_kernels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::size_t n = 100;

// y = b, then y = 2 * y + c.
struct pair_of_launches {
  graph made;
  graph_node first, second;
};
pair_of_launches two_launches(buffer<f32>& y, f32 b, f32 c) {
  pair_of_launches result{graph(under_test()), {}, {}};
  graph_position at = result.made.begin();
  launch_advance(at, y, 0, b);
  result.first = at.node();
  launch_advance(at, y, 2, c);
  result.second = at.node();
  return result;
}

}  // namespace

TEST_CASE("an update gives a graph other arguments, other memory and another grid", "[graphs]") {
  stream s = under_test().create_stream();
  auto x = under_test().allocate<f32>(n), y = under_test().allocate<f32>(3 * n);
  executable_graph step = two_launches(x, 1, 5).made.instantiate();
  step.launch(s);
  step.update(two_launches(x, 2, 6).made);
  CHECK(x.download(s) == all(7, n));
  step.launch(s);
  CHECK(x.download(s) == all(10, n));
  step.update(two_launches(y, 3, 7).made);
  step.launch(s);
  CHECK(x.download(s) == all(10, n));
  CHECK(y.download(s) == all(13, 3 * n));
}

TEST_CASE("a captured graph updates one that was captured before", "[graphs]") {
  under_test().warmup(advance.image());
  stream s = under_test().create_stream();
  auto y = under_test().allocate<f32>(n);
  const auto work = [&](f32 b) { return capture_graph(s, [&] { launch_advance(s, y, 1, b); }); };
  executable_graph step = work(0).instantiate();
  f32 sum = 0;
  for (f32 b = 1; b <= 10; ++b) {
    step.update(work(b));
    step.launch(s);
    sum += b;
  }
  CHECK(y.download(s) == all(sum, n));
}

TEST_CASE("an update from a graph with other nodes is refused, and the graph stays as it was", "[graphs]") {
  stream s = under_test().create_stream();
  auto y = under_test().allocate<f32>(n);
  executable_graph step = two_launches(y, 1, 5).made.instantiate();
  graph more = two_launches(y, 2, 6).made;
  graph_position at = more.begin();
  launch_advance(at, y, 3, 3);
  graph other_kind(under_test());
  other_kind.fill(y.view(), 1.0f, {other_kind.fill(y.view(), 2.0f)});
  graph other_order(under_test());
  graph_position a = other_order.begin(), b = other_order.begin();
  launch_advance(a, y, 0, 1);
  launch_advance(b, y, 2, 1);
  for (const graph* changed : {&more, &other_kind, &other_order})
    refuses(errc::invalid_argument, {"cannot take the parameters", "instantiate that graph"},
            [&] { step.update(*changed); });
  step.launch(s);
  CHECK(y.download(s) == all(7, n));
}

TEST_CASE("a kernel node is given other arguments, another grid, and another kernel", "[graphs]") {
  device& on = under_test();
  stream s = on.create_stream();
  auto x = on.upload(all(100, n)), y = on.allocate<f32>(n);
  const pair_of_launches g = two_launches(y, 1, 5);
  const executable_graph step = g.made.instantiate();
  graph_position first = step.replacing(g.first);
  launch_advance(first, y, 0, 10);
  step.launch(s);
  CHECK(y.download(s) == all(25, n));
  launch_advance(first, y.slice(0, 64), 0, 20);  // again, with a block less
  step.launch(s);
  auto expected = all(55, n);
  std::fill_n(expected.begin(), 64, 45.0f);
  CHECK(y.download(s) == expected);
  graph_position second = step.replacing(g.second);
  launch_add(second, x, y);
  step.launch(s);
  for (std::size_t i = 0; i < n; ++i) expected[i] = (i < 64 ? 20.0f : expected[i]) + 100;
  CHECK(y.download(s) == expected);
  g.made.instantiate().launch(s);  // the graph itself has not changed
  CHECK(y.download(s) == all(7, n));
}

TEST_CASE("an instantiated graph does not change with its source, and outlives it", "[graphs]") {
  stream s = under_test().create_stream();
  auto y = under_test().allocate<f32>(n);
  executable_graph before, after;
  {
    pair_of_launches g = two_launches(y, 1, 5);
    before = g.made.instantiate();
    graph_position more = g.made.after({g.second});
    launch_advance(more, y, 10, 0);
    after = g.made.instantiate();
  }
  before.launch(s);
  CHECK(y.download(s) == all(7, n));
  after.launch(s);
  CHECK(y.download(s) == all(70, n));
}

TEST_CASE("a clone has nodes of its own, which find names", "[graphs]") {
  stream s = under_test().create_stream();
  auto y = under_test().allocate<f32>(n);
  const pair_of_launches g = two_launches(y, 1, 5);
  graph copy = g.made.clone();
  CHECK(copy.size() == 2);
  graph_position more = copy.after({copy.find(g.second)});
  launch_advance(more, y, 3, 0);
  CHECK(copy.size() == 3);
  CHECK(g.made.size() == 2);
  const executable_graph step = copy.instantiate();
  graph_position first = step.replacing(copy.find(g.first));
  launch_advance(first, y, 0, 2);
  step.launch(s);
  CHECK(y.download(s) == all(27, n));
  const graph second = copy.clone();
  CHECK(second.size() == 3);
  CHECK_NOTHROW(second.find(more.node()));
  refuses(errc::invalid_argument, {"find", "none of this graph"}, [&] { copy.find(copy.find(g.first)); });
  refuses(errc::invalid_argument, {"find", "none of this graph"}, [&] { copy.find(graph_node()); });
}

TEST_CASE("graphs and executable graphs that were moved from are null, and the new ones work", "[graphs]") {
  stream s = under_test().create_stream();
  auto y = under_test().allocate<f32>(n);
  pair_of_launches g = two_launches(y, 1, 5);
  graph moved = std::move(g.made);
  refuses(errc::invalid_argument, {"size", "null graph"}, [&] { g.made.size(); });
  CHECK(moved.size() == 2);
  graph_position more = moved.after({g.second});
  launch_advance(more, y, 2, 0);
  executable_graph a = moved.instantiate();
  executable_graph b = std::move(a);
  refuses(errc::invalid_argument, {"launch", "null graph", "instantiate"}, [&] { a.launch(s); });
  b.launch(s);
  CHECK(y.download(s) == all(14, n));
  g.made = std::move(moved);
  CHECK(g.made.size() == 3);
  a = std::move(b);
  a.launch(s);
  CHECK(y.download(s) == all(14, n));
  a = g.made.instantiate();  // the one before is released
  a.launch(s);
  CHECK(y.download(s) == all(14, n));
}

TEST_CASE("the driver has handles of graphs, the emulator has none", "[graphs]") {
  const graph g(under_test());
  const executable_graph step = g.instantiate();
  CHECK((g.native_handle() == nullptr) == under_test().is_emulator());
  CHECK((step.native_handle() == nullptr) == under_test().is_emulator());
  CHECK(graph().native_handle() == nullptr);
  CHECK(executable_graph().native_handle() == nullptr);
}
