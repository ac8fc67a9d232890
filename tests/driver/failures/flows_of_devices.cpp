// Flows that open and close devices.

#include "driver/failures/flows.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace driver_test {

namespace {

void opening(place&) {
  const kaio::device gpu = kaio::device::open("cuda:0");
  expect(gpu.properties().target.sm == 90 && gpu.name() == "kaio emulator sm_90a", "it is another GPU");
  expect(gpu.memory_info().total == std::uint64_t{1} << 30, "it has another size");
  expect(gpu == kaio::device::open("cuda:0"), "there are two of it");
}

void listing(place&) {
  expect(kaio::device::count() >= 0, "a negative count");
  expect(!kaio::device::available().empty(), "there is no emulator");
}

// A context that another part of the program made is current.
void foreign_context(place& p) {
  p.devices[0] = kaio::device::of_current_context();
  kaio::device& gpu = p.gpu();
  auto x = gpu.upload(many(2.0f));
  const kaio::stream s = gpu.create_stream();
  kaio::event mark = gpu.create_event();
  auto staging = gpu.allocate_host<float>(1024);
  scale_all(s, x);
  s.record(mark);
  x.copy_to(staging.data(), 1024, s);
  mark.synchronize();
  s.synchronize();
  expect(staging[0] == 4.0f && kaio::device::of_current_context() == gpu, "the context is another one");
}

// The context that is current is none of the place's, but is of the first GPU.
void current_device(place& p) {
  const kaio::device guest = kaio::device::current(0);
  expect(guest.properties().ordinal == 0 && guest != p.gpu(), "it is another context");
  expect(kaio::device::current(0) == guest, "it was opened twice");
  expect(kaio::device::current(1) == p.gpu(1), "it is another GPU");
}

void owner_of_memory(place& p) {
  const auto x = p.gpu(1).allocate<float>(16);
  expect(kaio::device::of_pointer(x.address() + 32) == p.gpu(1), "it is another GPU");
  expect(kaio::device::of_pointer(p.memory).properties().ordinal == 0, "it is another GPU");
  expect_error(kaio::errc::invalid_argument, [&] { kaio::device::of_pointer(0x10); });
}

void copies_across_devices(place& p) {
  const auto x = p.gpu().upload(many(3.0f));
  auto y = p.gpu(1).allocate<float>(1024);
  const kaio::stream s = p.gpu(1).create_stream();
  const drained before_x_goes(s);
  copy(s, y.view(), x.view());
  expect(all_are(y.download(s), 3.0f), "another copy");
  const kaio::stream t = p.gpu().create_stream();
  const drained before_y_goes(t);
  copy(t, y.view(), x.view());
  t.synchronize();
}

void peers(place& p) {
  expect(p.gpu().can_access(p.gpu(1)), "no access");
  auto before = p.gpu(1).create_pool();
  p.gpu().enable_access(p.gpu(1));
  const kaio::stream s = p.gpu().create_stream(), t = p.gpu(1).create_stream();
  auto after = p.gpu(1).create_pool();
  const auto x = p.gpu(1).upload(many(2.0f));
  const drained before_x_goes(s);
  scale_all(s, x);
  s.synchronize();
  expect(all_are(x.download(), 4.0f), "the other GPU's memory is unchanged");
  const auto y = after.allocate<float>(1024, t);
  t.synchronize();
  const drained before_y_goes(s);
  fill(s, y.view(), 1.0f);
  s.synchronize();
}

void events_across_devices(place& p) {
  const kaio::stream s = p.gpu().create_stream(), t = p.gpu(1).create_stream();
  kaio::event mark = p.gpu().create_event();
  s.record(mark);
  t.wait(mark);
  t.synchronize();
  expect_error(kaio::errc::invalid_argument, [&] { t.record(mark); });
}

// Everything of a device, to be closed in different orders.
struct everything {
  explicit everything(const kaio::device& from)
      : gpu(from),
        x(from.upload(many(2.0f))),
        staging(from.allocate_host<float>(64)),
        s(from.create_stream()),
        mark(from.create_event()),
        pool(from.create_pool()),
        caching(from.create_pool({.kind = kaio::pool_kind::caching})),
        of_pool(pool.allocate<float>(64, s)),
        of_caching(caching.allocate<float>(64, s)),
        work(from) {
    fill(s, x.view(), 1.0f);
    s.record(mark);
    work.fill(x.view(), 2.0f);
    step = work.instantiate();
    step.launch(s);
  }
  void close(std::size_t member) {
    switch (member) {
      case 0: gpu.reset(); break;
      case 1: x = {}; break;
      case 2: staging = {}; break;
      case 3: s = {}; break;
      case 4: mark = {}; break;
      case 5: pool = {}; break;
      case 6: caching = {}; break;
      case 7: of_pool = {}; break;
      case 8: of_caching = {}; break;
      case 9: work = {}; break;
      default: step = {}; break;
    }
  }
  static constexpr std::size_t members = 11;

  std::optional<kaio::device> gpu;
  kaio::buffer<float> x;
  kaio::host_buffer<float> staging;
  kaio::stream s;
  kaio::event mark;
  kaio::memory_pool pool, caching;
  kaio::buffer<float> of_pool, of_caching;
  kaio::graph work;
  kaio::executable_graph step;
};

void close_all(std::size_t first, std::size_t stride) {
  everything all(kaio::device::open("cuda:0"));
  for (std::size_t i = 0; i < everything::members; ++i) all.close((first + i * stride) % everything::members);
}
void closing_forwards(place&) { close_all(0, 1); }
void closing_backwards(place&) { close_all(10, 10); }
void closing_streams_first(place&) { close_all(3, 4); }
void closing_pools_first(place&) { close_all(5, 3); }

// Everything that a program does with a device.
void whole_program(place& p) {
  p.devices[0] = kaio::device::open("cuda:0");
  kaio::device& gpu = p.gpu();
  auto x = gpu.upload(many(2.0f));
  auto y = gpu.allocate<float>(1024);
  kaio::stream s = gpu.create_stream();
  kaio::event begin = gpu.create_event(), end = gpu.create_event();
  auto staging = gpu.allocate_host<float>(1024);
  s.record(begin);
  scale_all(s, x);
  y.copy_from(x, s);
  y.copy_to(staging.data(), 1024, s);
  s.record(end);
  gpu.stream().wait(end);
  const kaio::ptx::argument none[] = {x.as_argument(), {0x40000000u}, {0}};
  s.launch(scale, {.x = 4, .cluster = {2, 1, 1}}, none, 3);
  s.launch(scale, {.x = 16, .cluster = {16, 1, 1}}, none, 3);
  expect(gpu.max_active_clusters(scale, {2, 1, 1}, 100 * 1024) == 132, "there are other clusters");
  kaio::tiled_tensor_map<1>(s, x, {.extents = {64}, .box = {16}});
  end.synchronize();
  expect(staging[0] == 4.0f && staging[1023] == 4.0f, "the kernel has another result");
  kaio::elapsed_ms(begin, end);
  y.fill_zero(s);
  s.synchronize();
  expect(s.is_done() && end.is_done(), "there is work left");
  y.download();
  gpu.memory_info();
  gpu.synchronize();
}

}  // namespace

std::span<const flow> flows_of_devices() {
  static constexpr flow all[] = {
      {"opening a device", needs::nothing, opening},
      {"listing devices", needs::nothing, listing},
      {"a device of a foreign context", needs::a_foreign_context, foreign_context},
      {"the current device", needs::two_devices, current_device},
      {"the device of an address", needs::two_devices, owner_of_memory},
      {"copies across devices", needs::two_devices, copies_across_devices},
      {"access to a peer", needs::two_devices, peers},
      {"events across devices", needs::two_devices, events_across_devices},
      {"closing, the device first", needs::nothing, closing_forwards},
      {"closing, the device last", needs::nothing, closing_backwards},
      {"closing, streams first", needs::nothing, closing_streams_first},
      {"closing, pools first", needs::nothing, closing_pools_first},
      {"a whole program", needs::no_context, whole_program},
  };
  return all;
}

}  // namespace driver_test
