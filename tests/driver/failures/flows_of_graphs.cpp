// Flows of captures and graphs.

#include "driver/failures/flows.hpp"

#include <vector>

namespace driver_test {

namespace {

// If a capture cannot be ended, it goes with its stream, and memory is only freed after that.
void captured_work(place& p) {
  const auto x = p.gpu().upload(many(1.0f));
  const kaio::stream s = p.gpu().create_stream(), t = p.gpu().create_stream();
  kaio::event fork = p.gpu().create_event(), join = p.gpu().create_event();
  const kaio::graph g = capture_graph(s, [&] {
    scale_all(s, x);
    s.record(fork);
    t.wait(fork);
    scale_all(t, x);
    t.record(join);
    s.wait(join);
  });
  const kaio::executable_graph step = g.instantiate();
  step.upload(s);
  step.launch(s);
  step.launch(s);
  expect(all_are(x.download(s), 16.0f), "other values");
}

void captured_borrowed_stream(place& p) {
  const kaio::stream s = kaio::stream::borrow(p.gpu(), p.stream);
  const auto x = p.gpu().adopt<float>(
      p.memory, 1024, [](void*, std::uint64_t) noexcept {}, nullptr);
  fill(s, x.view(), 1.0f);
  {
    kaio::capture dropped(s);
    scale_all(s, x);
  }
  kaio::capture kept(s);
  scale_all(s, x);
  expect(s.is_capturing(), "it is not captured");
  const kaio::executable_graph step = kept.end().instantiate();
  step.launch(s);
  expect(!s.is_capturing() && all_are(x.download(s), 2.0f), "other values");
}

void mistake_in_a_capture(place& p) {
  const auto x = p.gpu().upload(many(1.0f));
  const kaio::stream s = p.gpu().create_stream();
  {
    kaio::capture recording(s);
    scale_all(s, x);
    expect_error(kaio::errc::stream_capturing, [&] { s.synchronize(); });
    expect_error(kaio::errc::stream_capturing, [&] { recording.end(); });
  }
  expect(!s.is_capturing(), "it is captured still");
  scale_all(s, x);
  expect(all_are(x.download(s), 2.0f), "other values");
}

void nodes_of_each_kind(place& p) {
  int& calls = counter();
  const kaio::stream s = p.gpu().create_stream();
  const auto x = p.gpu().upload(many(1.0f));
  auto y = p.gpu().allocate<float>(1024);
  static const std::vector<float> from = many(5.0f);
  auto to = p.gpu().allocate_host<float>(1024);
  kaio::graph inner(p.gpu());
  inner.host_function(count_call, &calls);
  kaio::graph g(p.gpu());
  const kaio::graph_node loaded = g.copy(x.view(), from.data());
  kaio::graph_position at = g.after(loaded);
  scale_all(at, x);
  const kaio::graph_node copied = g.copy(y.view(), x.view(), at.node());
  const kaio::graph_node filled = g.fill(y.slice(0, 1), 1.0f, copied);
  const kaio::graph_node joined = g.join({filled, copied});
  const kaio::graph_node called = g.host_function(count_call, &calls, joined);
  const kaio::graph_node inserted = g.insert(inner, called);
  g.copy(to.data(), y.view(), inserted);
  expect(g.size() == 8, "another number of nodes");
  const kaio::executable_graph step = g.instantiate();
  step.launch(s);
  s.synchronize();
  expect(to[0] == 1.0f && to[1] == 10.0f && calls == 2, "other values");
}

void changed_graphs(place& p) {
  const kaio::stream s = p.gpu().create_stream();
  const auto x = p.gpu().upload(many(1.0f)), y = p.gpu().upload(many(1.0f));
  kaio::graph g(p.gpu());
  kaio::graph_position at = g.begin();
  scale_all(at, x);
  const kaio::graph copy = g.clone();
  copy.find(at.node());
  kaio::executable_graph step = g.instantiate();
  step.update(copy);
  kaio::graph_position instead = step.replacing(at.node());
  scale_all(instead, y);
  step.launch(s);
  step = copy.instantiate();
  step.launch(s);
  kaio::graph other(p.gpu());
  other.join({});
  expect_error(kaio::errc::invalid_argument, [&] { step.update(other); });
  step.launch(s);
  g = other.clone();
  expect(all_are(x.download(s), 4.0f) && all_are(y.download(s), 2.0f), "other values");
}

// The kernel that replaces another one is loaded for that.
void replaced_by_a_new_kernel(place& p) {
  const kaio::stream s = p.gpu().create_stream();
  const auto x = p.gpu().upload(many(1.0f));
  kaio::graph g(p.gpu());
  kaio::graph_position at = g.begin();
  scale_all(at, x);
  kaio::executable_graph step = g.instantiate();
  kaio::ptx::kernel_image same_name = broken;
  const kaio::ptx::argument arguments[] = {x.as_argument(), {0x40000000u}, {1024}};
  kaio::graph_position instead = step.replacing(at.node());
  expect_error(kaio::errc::jit_failed, [&] { instead.launch(same_name, {4, 1, 1}, arguments, 3); });
  step.launch(s);
  expect(all_are(x.download(s), 2.0f), "other values");
}

}  // namespace

std::span<const flow> flows_of_graphs() {
  static constexpr flow all[] = {
      {"captured work", needs::one_device, captured_work},
      {"a borrowed stream that is captured", needs::one_device, captured_borrowed_stream},
      {"a mistake in a capture", needs::one_device, mistake_in_a_capture},
      {"nodes of each kind", needs::one_device, nodes_of_each_kind},
      {"graphs that change", needs::one_device, changed_graphs},
      {"a kernel that cannot replace another", needs::a_new_device, replaced_by_a_new_kernel},
  };
  return all;
}

}  // namespace driver_test
