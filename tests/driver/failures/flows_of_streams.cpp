// Flows of streams and launches.

#include "driver/failures/flows.hpp"
#include "precompiled_list.hpp"

#include <string>
#include <vector>

namespace driver_test {

namespace {

void events_across_streams(place& p) {
  const kaio::stream s = p.gpu().create_stream(), t = p.gpu().create_stream();
  kaio::event begin = p.gpu().create_event(), end = p.gpu().create_event();
  const auto x = p.gpu().upload(many(1.0f));
  s.record(begin);
  scale_all(s, x);
  s.record(end);
  t.wait(end);
  scale_all(t, x);
  t.synchronize();
  end.synchronize();
  expect(begin.is_done() && kaio::elapsed_ms(begin, end) >= 0.0, "the events are in another order");
  expect(all_are(x.download(), 4.0f), "another order of work");
}

void priorities(place& p) {
  const kaio::stream_priorities range = p.gpu().stream_priorities();
  expect(range.highest < range.lowest, "there are no priorities");
  const kaio::stream first = p.gpu().create_stream({.priority = range.highest}),
                     last = p.gpu().create_stream();
  const auto x = p.gpu().upload(many(1.0f));
  scale_all(first, x);
  first.synchronize();
  last.synchronize();
  expect(first.is_done(), "there is work left");
}

void host_functions(place& p) {
  int& calls = counter();
  const kaio::stream s = p.gpu().create_stream();
  s.host_function(count_call, &calls);
  s.host_function(count_call, &calls);
  s.synchronize();
  expect(calls == 2, "another number of calls");
}

void on_borrowed(place& p, void* handle) {
  const kaio::stream s = kaio::stream::borrow(p.gpu(), handle);
  expect(s.is_borrowed() && !s.is_capturing(), "it is not borrowed");
  auto x = p.gpu().upload(many(1.0f));
  scale_all(s, x);
  fill(s, x.slice(0, 1), 2.0f);
  const auto y = p.gpu().allocate<float>(1024, s);
  s.synchronize();
  expect(s.is_done() && all_are(x.download(), 2.0f), "other values");
  x.release(s);
}
void borrowed_stream(place& p) { on_borrowed(p, p.stream); }
void borrowed_null_stream(place& p) { on_borrowed(p, nullptr); }
void borrowed_stream_per_thread(place& p) { on_borrowed(p, reinterpret_cast<void*>(2)); }

// Its owner destroys a stream that is in use here.
void destroyed_stream(place& p) {
  const kaio::memory_pool pool = p.gpu().create_pool();
  kaio::buffer<float> x;
  kaio::stream theirs;
  {
    const kaio::stream owned = p.gpu().create_stream();
    theirs = kaio::stream::borrow(p.gpu(), owned.native_handle());
    x = pool.allocate<float>(1024, theirs);
  }
  expect_error(kaio::errc::invalid_argument, [&] { scale_all(theirs, x); });
  expect_error(kaio::errc::invalid_argument, [&] { theirs.synchronize(); });
  expect_error(kaio::errc::invalid_argument, [&] { pool.allocate<float>(1024, theirs); });
  expect_error(kaio::errc::invalid_argument, [&] { const kaio::capture recording(theirs); });
}

void first_use(place& p) {
  const auto x = p.gpu().upload(many(1.0f));
  scale_all(p.gpu().stream(), x);
  expect(all_are(x.download(), 2.0f), "other values");
  expect_error(kaio::errc::jit_failed, [&] { p.gpu().warmup(broken); });
}

void precompiled_code(place& p) {
  static const std::string code = [] {
    std::string text;
    for (const std::string_view segment : scale_text) text += segment;
    return text;
  }();
  const kaio::tests::precompiled_scope list({{kaio::ptx::hash_of_text(scale), 90, 0, code}});
  expect(p.gpu().is_precompiled(scale), "the code was not found");
  p.gpu().warmup(scale);
}

constexpr std::string_view cooperative_text[] = {R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry together(.param .u64 x)
{
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [x];
  red.global.add.u32 [%d1], 1;
  ret;
}
)"};
constexpr kaio::ptx::parameter cooperative_parameters[] = {{kaio::ptx::type::u32, kaio::ptx::access::inout}};
constexpr kaio::ptx::kernel_image together{
    .name = "together",
    .segments = cooperative_text,
    .segment_count = 1,
    .parameters = cooperative_parameters,
    .parameter_count = 1,
    .block = {32, 1, 1},
    .needs = {.target = {90, false}, .version = {7, 8}, .max_threads = 32, .cooperative = true},
};

void attributes_of_launches(place& p) {
  const kaio::stream s = p.gpu().create_stream();
  const auto count = p.gpu().allocate<std::uint32_t>(1);
  const kaio::ptx::argument out[] = {count.as_argument()};
  s.launch(together, {.x = 2}, out, 1);
  const auto x = p.gpu().upload(many(1.0f));
  const kaio::ptx::argument none[] = {x.as_argument(), {0x40000000u}, {0}};
  s.launch(scale, {.x = 4, .cluster = {2, 1, 1}}, none, 3);
  s.launch(scale, {.x = 16, .cluster = {16, 1, 1}}, none, 3);
  s.launch(scale, {.x = 1, .shared_bytes = 100 * 1024}, none, 3);
  kaio::graph g(p.gpu());
  std::size_t added = 0;
  try {
    kaio::graph_position at = g.begin();
    at.launch(together, {.x = 2}, out, 1);
    ++added;
    at.launch(scale, {.x = 4, .cluster = {2, 1, 1}}, none, 3);
    ++added;
  } catch (...) {
    std::size_t nodes = added;
    cu().cuGraphGetNodes(static_cast<kaio::driver_abi::CUgraph>(g.native_handle()), nullptr, &nodes);
    expect(nodes == added, "a node without its attributes is left in the graph");
    throw;
  }
  g.instantiate().launch(s);
  expect(count.download(s)[0] == 2 * 2 * 32, "another number of threads");
}

void occupancy(place& p) {
  expect(p.gpu().resident_blocks(scale) != 0, "no block fits");
  expect(p.gpu().stream().max_active_clusters(scale, {2, 1, 1}, 100 * 1024) == 132, "other clusters");
  expect(p.gpu().resident_blocks(scale, 100 * 1024) != 0, "no block fits");
}

void tensor_maps(place& p) {
  const auto x = p.gpu().allocate<float>(64 * 64);
  kaio::tiled_tensor_map<1>(p.gpu().stream(), x, {.extents = {64}, .box = {16}});
  kaio::tiled_tensor_map<2>(p.gpu(), x, {.extents = {64, 16}, .strides = {64}, .box = {32, 8}});
}

}  // namespace

std::span<const flow> flows_of_streams() {
  static constexpr flow all[] = {
      {"events across streams", needs::one_device, events_across_streams},
      {"priorities", needs::one_device, priorities},
      {"host functions", needs::one_device, host_functions},
      {"a borrowed stream", needs::one_device, borrowed_stream},
      {"the borrowed null stream", needs::one_device, borrowed_null_stream},
      {"the borrowed stream per thread", needs::one_device, borrowed_stream_per_thread},
      {"a borrowed stream that was destroyed", needs::one_device, destroyed_stream},
      {"the first use of a kernel", needs::a_new_device, first_use},
      {"precompiled code", needs::a_new_device, precompiled_code},
      {"cooperative launches and clusters", needs::one_device, attributes_of_launches},
      {"occupancy", needs::a_new_device, occupancy},
      {"tensor maps", needs::a_new_device, tensor_maps},
  };
  return all;
}

}  // namespace driver_test
