// Calls on graphs that cannot be done are refused with the reason, and leave the graph as it was.
#include "tests/kernels/runtime/runtime_kernels.hpp"

#include <utility>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::size_t n = 64;
void nothing(void*) {}

}  // namespace

TEST_CASE("calls on null graphs name the call and what to use", "[graphs]") {
  stream s = under_test().create_stream();
  auto y = under_test().allocate<f32>(n);
  graph null;
  executable_graph unready;
  graph fine(under_test());
  f32 host[n];
  const wrong_call calls[] = {
      {"clone", {"clone", "null graph"}, [&] { null.clone(); }},
      {"find", {"find", "null graph"}, [&] { null.find(graph_node()); }},
      {"size", {"size", "null graph"}, [&] { null.size(); }},
      {"after", {"after", "null graph"}, [&] { null.begin(); }},
      {"copy", {"copy", "null graph"}, [&] { null.copy(y.view(), y.view()); }},
      {"upload", {"copy", "null graph"}, [&] { null.copy(y.view(), &host[0]); }},
      {"download", {"copy", "null graph"}, [&] { null.copy(&host[0], y.view()); }},
      {"fill", {"fill", "null graph"}, [&] { null.fill(y.view(), 1.0f); }},
      {"host_function", {"host_function", "null graph"}, [&] { null.host_function(nothing, nullptr); }},
      {"join", {"join", "null graph"}, [&] { null.join({}); }},
      {"insert into", {"insert", "null graph"}, [&] { null.insert(fine); }},
      {"insert", {"insert", "null graph"}, [&] { fine.insert(null); }},
      {"instantiate", {"instantiate", "null graph"}, [&] { null.instantiate(); }},
      {"launch", {"launch", "null graph"}, [&] { unready.launch(s); }},
      {"upload", {"upload", "null graph"}, [&] { unready.upload(s); }},
      {"update", {"update", "null graph"}, [&] { unready.update(fine); }},
      {"update from", {"update", "null graph"}, [&] { fine.instantiate().update(null); }},
      {"replacing", {"replacing", "null graph"}, [&] { unready.replacing(graph_node()); }},
  };
  for (const wrong_call& wrong : calls) {
    CAPTURE(wrong.what);
    refuses(errc::invalid_argument, wrong.says, wrong.call);
  }
  CHECK(fine.size() == 0);
}

TEST_CASE("nodes that cannot be made are refused, and nothing is added", "[graphs]") {
  device& on = under_test();
  const device other = device::open("emulator");
  auto y = on.allocate<f32>(n), z = on.allocate<f32>(n);
  auto far = other.allocate<f32>(n);
  auto released = on.allocate<f32>(n);
  released.release();
  graph g(on), elsewhere(other), neighbour(on);
  const graph_node own = g.join({}), foreign = neighbour.join({});
  f32 host[n];
  const f32* no_source = nullptr;
  f32* no_target = nullptr;
  device_pointer<f32> odd = y.view();
  odd.address += 2;
  graph_position at = g.after({own});
  const wrong_call calls[] = {
      {"node of another graph", {"none of this graph"}, [&] { g.after({foreign}); }},
      {"a null node",
       {"none of this graph"},
       [&] {
         g.join({own, graph_node()});
       }},
      {"copy after a foreign node", {"none of this graph"}, [&] { g.copy(y.view(), z.view(), {foreign}); }},
      {"sizes differ", {"copy", "same size"}, [&] { g.copy(y.slice(0, 3), z.slice(0, 4)); }},
      {"overlap", {"copy", "overlap"}, [&] { g.copy(y.slice(0, 3), y.slice(1, 3)); }},
      {"null memory", {"copy", "into", "null memory"}, [&] { g.copy(released.view(), y.view()); }},
      {"null source", {"copy", "from", "null memory"}, [&] { g.copy(y.view(), released.view()); }},
      {"null host", {"copy", "null host pointer"}, [&] { g.copy(y.view(), no_source); }},
      {"null host target", {"copy", "null host pointer"}, [&] { g.copy(no_target, y.view()); }},
      {"null fill", {"fill", "null memory"}, [&] { g.fill(released.view(), 1.0f); }},
      {"misaligned fill", {"fill", "multiple of 4"}, [&] { g.fill(odd, 1.0f); }},
      {"another device", {"fill", "another device"}, [&] { g.fill(far.view(), 1.0f); }},
      {"upload to another device", {"copy", "another device"}, [&] { g.copy(far.view(), &host[0]); }},
      {"download from another device", {"copy", "another device"}, [&] { g.copy(&host[0], far.view()); }},
      {"no function", {"host_function", "null function"}, [&] { g.host_function(nullptr, nullptr); }},
      {"itself", {"insert", "into itself", "clone"}, [&] { g.insert(g); }},
      {"a graph of another device", {"insert", "one device"}, [&] { g.insert(elsewhere); }},
      {"no launch yet", {"graph_position", "launch"}, [&] { at.node(); }},
      {"a null buffer", {"advance"}, [&] { advance.launch(at, over(n), released, 1.0f, 1.0f, 1u); }},
      {"a buffer of another device", {"advance", "device"}, [&] { launch_advance(at, far, 1, 1); }},
      {"programmatic",
       {"advance", "programmatic", "capture_graph"},
       [&] { advance.launch(at, over(n).programmatic(), y, 1.0f, 1.0f, 1u); }},
      {"empty grid", {"advance", "empty grid"}, [&] { advance.launch(at, over(0), y, 1.0f, 1.0f, 1u); }},
      {"a grid beyond the limits",
       {"advance", "grid"},
       [&] { advance.launch(at, grid(1, 65536), y, 1.0f, 1.0f, 1u); }},
  };
  for (const wrong_call& wrong : calls) {
    CAPTURE(wrong.what);
    refuses(errc::invalid_argument, wrong.says, wrong.call);
    CHECK(g.size() == 1);
  }
}

TEST_CASE("graphs of another device are neither launched nor taken as an update", "[graphs]") {
  const device other = device::open("emulator");
  stream s = other.create_stream(), gone = other.create_stream();
  const graph g(under_test()), elsewhere(other);
  executable_graph step = g.instantiate();
  refuses(errc::invalid_argument, {"launch", "another device"}, [&] { step.launch(s); });
  refuses(errc::invalid_argument, {"upload", "another device"}, [&] { step.upload(s); });
  refuses(errc::invalid_argument, {"update", "one device"}, [&] { step.update(elsewhere); });
  const stream taken = std::move(gone);
  refuses(errc::invalid_argument, {"launch", "null stream"}, [&] { step.launch(gone); });
}

TEST_CASE("replacing takes kernel nodes of the graph that was instantiated", "[graphs]") {
  device& on = under_test();
  stream s = on.create_stream();
  auto y = on.allocate<f32>(n);
  graph g(on);
  graph_position at = g.after({g.fill(y.view(), 3.0f)});
  launch_advance(at, y, 2, 1);
  const executable_graph step = g.instantiate();
  const graph copy = g.clone();
  refuses(errc::invalid_argument, {"replacing", "none of this graph"}, [&] { step.replacing(graph_node()); });
  refuses(errc::invalid_argument, {"replacing", "none of this graph"},
          [&] { step.replacing(copy.find(at.node())); });
  graph_position position = step.replacing(at.node());
  refuses(errc::invalid_argument, {"advance", "empty grid"},
          [&] { advance.launch(position, over(0), y, 1.0f, 1.0f, 1u); });
  refuses(errc::invalid_argument, {"graph_position"}, [&] { position.node(); });
  step.launch(s);
  CHECK(y.download(s) == all(7, n));
}
