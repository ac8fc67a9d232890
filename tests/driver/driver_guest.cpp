// kaio as a guest of another CUDA user: it takes the context and the streams that are there, makes none of its own, and leaves
// everything as it was.

#include "driver/driver_support.hpp"

#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/graph.hpp>
#include <kaio/runtime/memory_pool.hpp>

#include <functional>
#include <utility>
#include <vector>

using namespace driver_test;
using kaio::device;
using kaio::errc;

namespace {

const std::vector<float> ones(1024, 1.0f), twos(1024, 2.0f);

// A context that another user of the driver made, for a scope.
class foreign_context {
 public:
  explicit foreign_context(const fresh_driver& driver, int ordinal = 0)
      : driver_(driver), handle_(driver.create_context(ordinal)) {}
  ~foreign_context() { driver_.destroy_context(handle_); }
  foreign_context(const foreign_context&) = delete;
  foreign_context& operator=(const foreign_context&) = delete;
  void* handle() const { return handle_; }

 private:
  const fresh_driver& driver_;
  void* handle_;
};

void release_nothing(void*, std::uint64_t) noexcept {}
void do_nothing(void*) {}

}  // namespace

TEST_CASE("without a current context there is none to be a guest of") {
  const fresh_driver driver;
  const thrown none = catch_error([] { device::of_current_context(); });
  CHECK(none.code == errc::no_device);
  CHECK(none.says("no CUDA context is current"));
  CHECK(none.says("device::open"));
  CHECK(driver.alive() == 0);
}

TEST_CASE("a primary context that is current is the one that open() uses") {
  const fresh_driver driver;
  void* const primary = driver.retain_primary(0);
  {
    const device gpu = device::of_current_context();
    CHECK(gpu == device::open("cuda:0"));
    CHECK(gpu == device::current(0));
    auto x = gpu.upload(ones);
    launch_scale(gpu.stream(), x);
    CHECK(driver.last().context == primary);
    CHECK(x.download() == twos);
  }
  CHECK(driver.current() == primary);
  driver.set_current(nullptr);
  driver.release_primary(0);
}

TEST_CASE("kaio keeps a primary context that its other users release") {
  const fresh_driver driver;
  driver.retain_primary(0);
  const device gpu = device::of_current_context();
  driver.release_primary(0);
  auto x = gpu.upload(ones);
  launch_scale(gpu.stream(), x);
  CHECK(x.download() == twos);
}

TEST_CASE("a context that another user made is used as it is, and is left alive") {
  const fresh_driver driver;
  const foreign_context theirs(driver);
  {
    const device gpu = device::of_current_context();
    CHECK(gpu.properties().ordinal == 0);
    CHECK(gpu == device::of_current_context());
    CHECK(gpu == device::current(0));
    CHECK_FALSE(gpu == device::open("cuda:0"));
    auto x = gpu.upload(ones);
    launch_scale(gpu.stream(), x);
    CHECK(driver.last().context == theirs.handle());
    CHECK(x.download() == twos);
    CHECK(driver.current() == theirs.handle());
    CHECK(device::of_pointer(x.address()) == gpu);
  }
  CHECK(driver.current() == theirs.handle());
  CHECK(driver.counted().contexts == 1);
  CHECK(driver.alive() == 1);
}

TEST_CASE("buffers of two contexts of one GPU are of two devices") {
  const fresh_driver driver;
  const device primary = device::open("cuda:0");
  const foreign_context theirs(driver);
  const device guest = device::of_current_context();
  auto x = primary.upload(ones);
  const thrown e = catch_error([&] { launch_scale(guest.stream(), x); });
  CHECK(e.code == errc::invalid_argument);
  CHECK(e.says("device"));
  auto y = guest.allocate<float>(1024);
  copy(guest.stream(), y.view(), x.view());
  CHECK(y.download() == ones);
}

TEST_CASE("current(N) is the current context if it is of that GPU, else the primary one") {
  const fresh_driver driver;
  driver.be(2);
  const device first = device::current(0), second = device::current(1);
  CHECK(first == device::open("cuda:0"));
  CHECK(second == device::open("cuda:1"));
  CHECK(first.properties().ordinal == 0);
  CHECK(second.properties().ordinal == 1);
  const foreign_context theirs(driver, 1);
  const device guest = device::current(1);
  CHECK_FALSE(guest == second);
  CHECK(guest.properties().ordinal == 1);
  CHECK(guest == device::of_current_context());
  CHECK(device::current(0) == first);
  CHECK(driver.current() == theirs.handle());
  const thrown none = catch_error([] { device::current(2); });
  CHECK(none.code == errc::no_device);
  CHECK(none.says("cuda:2"));
}

TEST_CASE("asking for the current device again asks the driver for nothing but the current context") {
  const fresh_driver driver;
  const foreign_context theirs(driver);
  const device gpu = device::current(0);
  const long before = driver.calls(), asked = driver.calls_of("cuCtxGetCurrent"),
             started = driver.calls_of("cuInit");
  for (int i = 0; i < 10; ++i) CHECK(device::current(0) == gpu);
  CHECK(driver.calls_of("cuCtxGetCurrent") - asked == 10);
  CHECK(driver.calls() - before == 10 + driver.calls_of("cuInit") - started);
}

TEST_CASE("the context that is current stays current after every kind of call") {
  const fresh_driver driver;
  const foreign_context theirs(driver);
  const device gpu = device::open("cuda:0");
  gpu.warmup(scale);
  auto x = gpu.upload(ones), y = gpu.allocate<float>(1024);
  kaio::stream s = gpu.create_stream();
  kaio::event mark = gpu.create_event();
  std::vector<float> host(1024);
  const kaio::memory_pool ordered = gpu.create_pool(),
                          caching = gpu.create_pool({.kind = kaio::pool_kind::caching});
  const struct {
    const char* what;
    std::function<void()> call;
  } calls[] = {
      {"open", [&] { CHECK(device::open("cuda:0") == gpu); }},
      {"memory_info", [&] { CHECK(gpu.memory_info().total > 0); }},
      {"upload", [&] { CHECK(gpu.upload(ones).size() == 1024); }},
      {"allocate", [&] { CHECK(gpu.allocate<float>(5).size() == 5); }},
      {"allocate_host", [&] { CHECK(gpu.allocate_host<float>(5).size() == 5); }},
      {"adopt", [&] { CHECK(gpu.adopt<float>(x.address(), 4, release_nothing, nullptr).size() == 4); }},
      {"of_pointer", [&] { CHECK(device::of_pointer(x.address()) == gpu); }},
      {"launch", [&] { launch_scale(s, x); }},
      {"download", [&] { CHECK(x.download() == twos); }},
      {"download in a stream", [&] { CHECK(x.download(s) == twos); }},
      {"copies",
       [&] {
         y.copy_from(host.data(), 1024, s);
         y.copy_to(host.data(), 1024, s);
         y.copy_from(x, s);
       }},
      {"copy", [&] { copy(s, y.slice(0, 4), x.slice(4, 4)); }},
      {"copy_rows",
       [&] {
         copy_rows(s, kaio::pitched<float>{y.view(), 8}, kaio::pitched<float>{x.view(), 4}, 4, 4);
       }},
      {"fill",
       [&] {
         fill(s, y.view(), 1.0f);
         y.fill_zero(s);
       }},
      {"host function", [&] { s.host_function(do_nothing, nullptr); }},
      {"events",
       [&] {
         s.record(mark);
         s.wait(mark);
         mark.synchronize();
         CHECK(kaio::elapsed_ms(mark, mark) == 0);
       }},
      {"queries",
       [&] {
         s.synchronize();
         CHECK(s.is_done());
         CHECK(mark.is_done());
         CHECK_FALSE(s.is_capturing());
       }},
      {"streams", [&] { CHECK(gpu.create_stream({.priority = gpu.stream_priorities().highest}).is_done()); }},
      {"create_event", [&] { CHECK(gpu.create_event().is_done()); }},
      {"kernels",
       [&] {
         gpu.warmup(scale);
         CHECK(gpu.resident_blocks(scale) > 0);
       }},
      {"pools",
       [&] {
         CHECK(ordered.allocate<float>(8, s).size() == 8);
         CHECK(caching.allocate<float>(8, s).size() == 8);
       }},
      {"trim",
       [&] {
         ordered.trim();
         caching.trim();
         CHECK(ordered.statistics().in_use == 0);
       }},
      {"create_pool", [&] { CHECK(gpu.create_pool().statistics().in_use == 0); }},
      {"capture", [&] { capture_graph(s, [&] { launch_scale(s, x); }).instantiate().launch(s); }},
      {"graph",
       [&] {
         kaio::graph g(gpu);
         kaio::graph_position at =
             g.after({g.fill(y.view(), 1.0f), g.copy(x.view(), host.data()), g.join({})});
         const kaio::ptx::argument arguments[] = {x.as_argument(), {0x40000000u}, {1024}};
         at.launch(scale, {4, 1, 1}, arguments, 3);
         kaio::executable_graph step = g.clone().instantiate();
         step.upload(s);
         step.update(g);
         CHECK(g.size() == 5 - 1);
       }},
      {"a mistake",
       [&] { CHECK(catch_error([&] { gpu.allocate<float>(1ull << 50); }).code == errc::out_of_memory); }},
      {"a mistake in a capture",
       [&] {
         kaio::capture recording(s);
         CHECK(catch_error([&] { s.synchronize(); }).code == errc::stream_capturing);
         CHECK(catch_error([&] { recording.end(); }).code == errc::stream_capturing);
       }},
      {"synchronize", [&] { gpu.synchronize(); }},
  };
  for (const auto& row : calls) {
    CAPTURE(row.what);
    row.call();
    CHECK(driver.current() == theirs.handle());
  }
}

TEST_CASE("opening a device creates no stream, and a borrowed one neither") {
  const fresh_driver driver;
  const foreign_context theirs(driver);
  void* const stream = driver.create_stream();
  {
    const device gpu = device::of_current_context(), primary = device::open("cuda:0");
    CHECK(driver.counted().streams == 1);
    CHECK(driver.calls_of("cuStreamCreateWithPriority") == 0);
    gpu.warmup(scale);
    const auto x = gpu.allocate<float>(1024, kaio::uninitialised);
    const long before = driver.calls();
    {
      const kaio::stream s = kaio::stream::borrow(gpu, stream);
      CHECK(driver.calls() == before);
      launch_scale(s, x);
      CHECK(driver.calls() - before == 2);  // cuCtxGetCurrent and cuLaunchKernel
    }
    CHECK(driver.calls() - before == 2);
    CHECK(driver.last().stream == stream);
    CHECK(driver.calls_of("cuStreamCreateWithPriority") == 0);
    static_cast<void>(gpu.stream());
    static_cast<void>(gpu.stream());
    CHECK(driver.calls_of("cuStreamCreateWithPriority") == 1);
  }
  CHECK(driver.counted().streams == 1);
  driver.destroy_stream(stream);
}

TEST_CASE("a graph is launched in a borrowed stream by one call") {
  const fresh_driver driver;
  const foreign_context theirs(driver);
  void* const stream = driver.create_stream();
  {
    const device gpu = device::of_current_context();
    gpu.warmup(scale);
    const auto x = gpu.upload(ones);
    const kaio::stream s = kaio::stream::borrow(gpu, stream);
    const kaio::executable_graph step = capture_graph(s, [&] { launch_scale(s, x); }).instantiate();
    const long before = driver.calls();
    for (int i = 0; i < 5; ++i) step.launch(s);
    CHECK(driver.calls() - before == 10);  // cuCtxGetCurrent and cuGraphLaunch
    CHECK(x.download(s) == std::vector<float>(1024, 32.0f));
  }
  driver.destroy_stream(stream);
}

TEST_CASE("the default streams are given to the driver as they are") {
  const fresh_driver driver;
  const device gpu = device::open("cuda:0");
  const auto x = gpu.upload(ones);
  for (const std::uintptr_t handle : {0u, 1u, 2u}) {
    const kaio::stream s = kaio::stream::borrow(gpu, reinterpret_cast<void*>(handle));
    CHECK(s.native_handle() == reinterpret_cast<void*>(handle));
    launch_scale(s, x);
    CHECK(driver.last().stream == reinterpret_cast<void*>(handle));
    s.synchronize();
  }
  CHECK(x.download() == std::vector<float>(1024, 8.0f));
}

TEST_CASE("another user's capture takes kaio's launches, and kaio's mistakes do not end it") {
  const fresh_driver driver;
  const foreign_context theirs(driver);
  void* const stream = driver.create_stream();
  {
    const device gpu = device::of_current_context();
    const auto x = gpu.upload(ones);
    const kaio::stream s = kaio::stream::borrow(gpu, stream), own = gpu.create_stream();
    driver.begin_capture(stream);  // in global mode: a careless wait of any thread would end it
    CHECK(s.is_capturing());
    CHECK(catch_error([&] { launch_scale(s, x); }).code == errc::stream_capturing);
    gpu.warmup(scale);
    launch_scale(s, x);
    own.synchronize();
    CHECK(own.is_done());
    CHECK(gpu.create_event().is_done());
    CHECK(gpu.upload(ones).size() == 1024);
    CHECK(gpu.allocate<float>(4, own).download(own) == std::vector<float>(4));
    void* const executable = driver.end_capture_as_graph(stream);
    driver.launch_graph(executable, stream);
    CHECK(x.download(s) == twos);
    driver.destroy_executable(executable);
  }
  driver.destroy_stream(stream);
}

TEST_CASE("a stream that its owner destroyed gives a typed error") {
  const fresh_driver driver;
  const foreign_context theirs(driver);
  {
    const device gpu = device::of_current_context();
    gpu.warmup(scale);
    const auto x = gpu.upload(ones);
    const kaio::memory_pool pool = gpu.create_pool();
    void* const stream = driver.create_stream();
    const kaio::stream s = kaio::stream::borrow(gpu, stream);
    auto y = pool.allocate<float>(64, s);
    driver.destroy_stream(stream);
    for (const thrown& e : {catch_error([&] { launch_scale(s, x); }), catch_error([&] { s.synchronize(); }),
                            catch_error([&] { fill(s, x.view(), 0.0f); })}) {
      CHECK(e.code == errc::invalid_argument);
      CHECK(e.says("its owner destroyed it"));
      CHECK(e.says("keep what is lent to kaio alive"));
    }
    y.release();
    CHECK(pool.statistics().in_use == 0);
    CHECK(x.download() == ones);
    launch_scale(gpu.stream(), x);
    CHECK(x.download() == twos);
  }
  driver.reset();  // of the misuses, which were meant
}

TEST_CASE("a foreign context that is destroyed under kaio gives typed errors, and nothing else is harmed") {
  const fresh_driver driver;
  void* const context = driver.create_context();
  {
    const device primary = device::open("cuda:0");
    auto safe = primary.upload(ones);
    driver.set_current(context);
    device gpu = device::of_current_context();
    auto x = gpu.upload(ones);
    const kaio::stream s = gpu.create_stream();
    kaio::event mark = gpu.create_event();
    s.record(mark);
    driver.set_current(nullptr);
    driver.destroy_context(context);
    const std::function<void()> calls[] = {
        [&] { launch_scale(s, x); }, [&] { x.download(); },      [&] { gpu.allocate<float>(1); },
        [&] { s.synchronize(); },    [&] { gpu.synchronize(); }, [&] { s.record(mark); },
        [&] { s.wait(mark); }};
    for (const auto& call : calls) {
      CAPTURE(&call - calls);
      const thrown e = catch_error(call);
      CHECK(e.code == errc::device_lost);
      CHECK(e.says("context"));
      CHECK(e.says("keep a context that kaio was opened in alive"));
    }
    launch_scale(primary.stream(), safe);
    CHECK(safe.download() == twos);
  }
  driver.reset();  // of the misuses, which were meant
}
