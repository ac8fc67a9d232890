// Each row of docs/threads.md: what threads may use at once gives right results, and ThreadSanitizer reports nothing.

#include <kaio/ops/tune.hpp>
#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/graph.hpp>
#include <kaio/runtime/memory_pool.hpp>
#include <kaio/runtime/runtime.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/write_file.hpp"
#include "ops/choice/tune_store.hpp"
#include "precompiled_list.hpp"
#include "runtime/base/precompiled.hpp"
#include "storm.hpp"
#include "tool/temporary_folder.hpp"
#include "unit/runtime/support.hpp"

using namespace threads_test;
using runtime_test::counted;
using runtime_test::launch_scale;

namespace {

constexpr std::uint32_t n = 100;

std::vector<float> scaled(float by) {
  std::vector<float> values = counted(n);
  for (float& v : values) v *= by;
  return values;
}

}  // namespace

TEST_CASE("shared: a device", "[threads]") {
  // All threads make the first use of a device, of its kernels and of its caches at once; the last handle ends the device.
  std::array<std::optional<kaio::device>, 4> devices;
  for (auto& d : devices) d = kaio::device::open("emulator");
  storm(
      [&](unsigned t, unsigned round) {
        const kaio::device gpu = *devices[round];
        gpu.warmup(runtime_test::scale);
        const kaio::stream own = gpu.create_stream();
        const auto x = gpu.upload(counted(n));
        const auto y = gpu.allocate<float>(n);
        launch_scale(t % 2 == 0 ? own : gpu.stream(), x, y, 2.0f, n);
        gpu.synchronize();
        return y.download() == scaled(2.0f) && gpu.resident_blocks(runtime_test::scale) != 0 &&
               gpu.memory_info().total != 0 && !gpu.description().empty();
      },
      devices.size());
}

TEST_CASE("shared: opening and closing devices", "[threads]") {
  storm(
      [&](unsigned, unsigned) {
        const kaio::device mine = kaio::device::open("emulator");
        const auto x = mine.upload(counted(n));
        return x.download() == counted(n) && kaio::device::count() >= 0 && !kaio::device::available().empty();
      },
      10);
}

TEST_CASE("shared: a stream", "[threads]") {
  const kaio::device gpu = kaio::device::open("emulator");
  const kaio::stream s = gpu.create_stream();
  const auto x = gpu.upload(counted(n));
  storm([&](unsigned t, unsigned) {
    const auto y = gpu.allocate<float>(n);
    launch_scale(s, x, y, static_cast<float>(t), n);
    s.synchronize();
    return y.download(s) == scaled(static_cast<float>(t)) && s.is_done() &&
           s.properties().multiprocessors != 0;
  });
}

TEST_CASE("shared: a stream that each thread borrows", "[threads]") {
  const kaio::device gpu = kaio::device::open("emulator:1");
  const kaio::stream owner = gpu.create_stream();
  const auto x = gpu.upload(counted(n));
  storm([&](unsigned t, unsigned) {
    const kaio::device mine = kaio::device::open("emulator:1");
    const kaio::stream s = kaio::stream::borrow(mine, owner.native_handle());
    const auto y = mine.allocate<float>(n);
    launch_scale(s, x, y, static_cast<float>(t), n);
    return y.download(s) == scaled(static_cast<float>(t)) && s.is_done() &&
           kaio::device::of_pointer(y.address()) == gpu;
  });
}

TEST_CASE("shared: a pool", "[threads]") {
  const kaio::device gpu = kaio::device::open("emulator");
  const kaio::stream s = gpu.create_stream();
  const auto x = gpu.upload(counted(n));
  for (const auto kind : {kaio::pool_kind::stream_ordered, kaio::pool_kind::caching}) {
    const kaio::memory_pool pool = gpu.create_pool({.kind = kind, .limit = 1 << 20});
    storm([&](unsigned t, unsigned round) {
      const kaio::stream own = gpu.create_stream();
      const kaio::memory_pool mine = pool;
      auto y = mine.allocate<float>(n, t % 2 == 0 ? own : s);
      launch_scale(own, x, y, static_cast<float>(round), n);
      const bool right = y.download() == scaled(static_cast<float>(round));
      y.release(own);
      if (round == 1) pool.trim();
      return right && gpu.pool().statistics().in_use == 0 && pool.statistics().in_use <= 1 << 20;
    });
    CHECK(pool.statistics().in_use == 0);
  }
}

TEST_CASE("shared: graphs of each thread", "[threads]") {
  const kaio::device a = kaio::device::open("emulator:1"), b = kaio::device::open("emulator:2");
  const auto x = a.upload(counted(n));
  a.warmup(runtime_test::scale);
  storm([&](unsigned t, unsigned) {
    const kaio::stream s = a.create_stream(), far = b.create_stream();
    const auto y = a.allocate<float>(n), z = b.allocate<float>(n);
    kaio::event forked = a.create_event(), joined = b.create_event();
    const kaio::executable_graph step = capture_graph(s, [&] {
                                          launch_scale(s, x, y, static_cast<float>(t), n);
                                          s.record(forked);
                                          far.wait(forked);
                                          copy(far, z.view(), y.view());
                                          far.record(joined);
                                          s.wait(joined);
                                        }).instantiate();
    step.launch(s);
    s.synchronize();
    return z.download(far) == scaled(static_cast<float>(t));
  });
}

TEST_CASE("shared: an event, recorded and waited for at once", "[threads]") {
  const kaio::device gpu = kaio::device::open("emulator");
  kaio::event begin = gpu.create_event(), mark = gpu.create_event();
  gpu.stream().record(begin);
  std::vector<kaio::stream> streams;
  for (unsigned t = 0; t < workers; ++t) streams.push_back(gpu.create_stream());
  storm([&](unsigned t, unsigned round) {
    if (t % 2 == 0) {
      streams[t].record(mark);
    } else {
      streams[t].wait(mark);
      mark.synchronize();
    }
    return mark.is_done() && (round == 0 || kaio::elapsed_ms(begin, mark) >= 0.0);
  });
}

TEST_CASE("shared: buffers and host buffers, of different elements", "[threads]") {
  const kaio::device gpu = kaio::device::open("emulator");
  auto shared = gpu.allocate<float>(workers * n);
  auto staging = gpu.allocate_host<float>(workers * n);
  storm([&](unsigned t, unsigned round) {
    const auto with = static_cast<float>(t + round);
    float* const mine = staging.data() + t * n;
    for (std::uint32_t i = 0; i < n; ++i) mine[i] = with;
    shared.copy_from(mine, n, gpu.stream(), t * n);
    std::vector<float> back(n);
    shared.copy_to(back.data(), n, gpu.stream(), t * n);
    gpu.stream().synchronize();
    // Others, which come and go at the same time.
    auto own = gpu.allocate<float>(n);
    auto own_host = gpu.allocate_host<float>(n);
    own.release();
    return back == std::vector<float>(n, with) && own_host[0] == 0.0f && shared.size() == workers * n;
  });
}

TEST_CASE("shared: a kernel, on several devices", "[threads]") {
  std::vector<kaio::device> devices;
  for (const char* name : {"emulator", "emulator", "emulator"}) devices.push_back(kaio::device::open(name));
  storm([&](unsigned t, unsigned) {
    const kaio::device& gpu = devices[t % devices.size()];
    const auto x = gpu.upload(counted(n));
    const auto y = gpu.allocate<float>(n);
    launch_scale(gpu.stream(), x, y, 3.0f, n);
    return y.download() == scaled(3.0f);
  });
}

TEST_CASE("shared: errors, and a device that was lost", "[threads]") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.upload(counted(n));
  const auto small = gpu.allocate<float>(1);
  std::exception_ptr shared;
  try {
    launch_scale(gpu.stream(), x, small, 2.0f, n);  // out of bounds
  } catch (...) {
    shared = std::current_exception();
  }
  REQUIRE(shared);
  storm([&](unsigned, unsigned) {
    try {
      std::rethrow_exception(shared);
    } catch (const kaio::error& e) {
      kaio::error copy = e;
      copy = e;  // the shared state is reference-counted
      if (copy.code() != kaio::errc::illegal_access || copy.message().empty()) return false;
    }
    try {
      gpu.stream().synchronize();
    } catch (const kaio::error& e) {
      return e.message().find("out of bounds") != std::string_view::npos;
    }
    return false;
  });
}

TEST_CASE("shared: encoding tensor maps", "[threads]") {
  const kaio::device gpu = kaio::device::open("emulator");
  const auto x = gpu.allocate<float>(64 * 64);
  storm([&](unsigned t, unsigned round) {
    const std::uint32_t rows = 1 + (t + round) % 60;
    const auto encode = [&] {
      return kaio::tiled_tensor_map<2>(gpu, x, {.extents = {64, rows}, .strides = {64}, .box = {32, 8}});
    };
    const auto first = encode(), second = encode();
    return std::memcmp(first.as_argument().data, second.as_argument().data, 128) == 0;
  });
}

TEST_CASE("shared: what tuning found", "[threads]") {
  const kaio::tool::temporary_folder cache;
  const runtime_test::environment home("XDG_CACHE_HOME", cache.path().c_str());
  const kaio::device gpu = kaio::device::open("emulator");
  storm(
      [&](unsigned t, unsigned round) {
        const std::string key = "key_" + std::to_string(t);
        const bool kept = kaio::ops::remember_tuned(gpu.properties(), key, "variant", round % 4 == 0);
        if (t == 0 && round % 3 == 0) kaio::ops::forget_tuning();
        const std::string found = kaio::ops::find_tuned(gpu.properties(), key);
        return (found.empty() || found == "variant") && (kept || round % 4 != 0) &&
               kaio::ops::tuning_generation() != 0;
      },
      10);
  kaio::ops::forget_tuning();
}

TEST_CASE("shared: settings, which threads only read", "[threads]") {
  for (const char* const order : {"round_robin", "random:7"}) {
    const runtime_test::environment schedule("KAIO_SCHEDULE", order), checks("KAIO_SANITIZE", "all"),
        reports("KAIO_SANITIZE_ERRORS", "continue");
    const kaio::device gpu = kaio::device::open("emulator");
    storm(
        [&](unsigned t, unsigned) {
          const auto x = gpu.upload(counted(n));
          const auto y = gpu.allocate<float>(n);
          launch_scale(gpu.stream(), x, y, static_cast<float>(t), n);
          return y.download() == scaled(static_cast<float>(t));
        },
        10);
  }
}

TEST_CASE("shared: a file that several threads write", "[threads]") {
  const kaio::tool::temporary_folder folder;
  const std::string file = (folder.path() / "x").string();
  storm([&](unsigned t, unsigned) {
    const std::string mine(1000, static_cast<char>('a' + t));
    kaio::host::write_file(file, {mine}, kaio::host::durability::made_again);
    return true;
  });
  const auto entries = std::distance(std::filesystem::directory_iterator(folder.path()),
                                     std::filesystem::directory_iterator());
  CHECK(entries == 1);
}

TEST_CASE("shared: precompiled kernels that come and go", "[threads]") {
  const kaio::ptx::text_hash common{1, 1};
  const kaio::tests::precompiled_scope lasting({{common, 80, 0, "lasting"}});
  storm([&](unsigned t, unsigned round) {
    const kaio::ptx::text_hash own{2, t};
    const std::string code = "code " + std::to_string(round);
    const kaio::tests::precompiled_scope mine({{own, 80, 0, code}});
    const auto found = kaio::runtime::find_precompiled(own, {86});
    return found && found->image == code && kaio::runtime::has_precompiled(common, {80});
  });
}
