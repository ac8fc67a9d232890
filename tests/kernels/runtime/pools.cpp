// Pools give memory in the order of a stream, reuse what was released, keep their limit, and outlive what refers to them.
#include "tests/kernels/runtime/runtime_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::size_t n = 1024;
constexpr std::uint64_t bytes = n * sizeof(f32);

// Calls a test with a pool of each kind.
template <class Test>
void with_each_kind(memory_pool_options options, Test test) {
  for (const pool_kind kind : {pool_kind::stream_ordered, pool_kind::caching}) {
    CAPTURE(static_cast<int>(kind));
    options.kind = kind;
    test(under_test().create_pool(options));
  }
}

}  // namespace

TEST_CASE("memory of a pool is zero-filled in the order of its stream, also when it is reused", "[pools]") {
  with_each_kind({}, [](const memory_pool& pool) {
    stream s = under_test().create_stream();
    for (int i = 0; i < 20; ++i) {
      auto y = pool.allocate<f32>(n, s);
      CHECK(y.size() == n);
      launch_advance(s, y, 1, 3);
      CHECK(y.download(s) == all(3, n));
    }
  });
}

TEST_CASE("a loop that allocates its temporaries anew reuses their memory", "[pools]") {
  with_each_kind({}, [](const memory_pool& pool) {
    stream s = under_test().create_stream();
    auto y = pool.allocate<f32>(n, s);
    const auto step = [&] {
      auto temporary = pool.allocate<f32>(n, s, uninitialised);
      fill(s, temporary.view(), 2.0f);
      launch_add(s, temporary, y);
    };
    step();
    s.synchronize();
    const std::uint64_t reserved = pool.statistics().most_reserved;
    for (int i = 0; i < 50; ++i) {
      step();
      s.synchronize();  // a driver may release only then
    }
    CHECK(y.download(s) == all(102, n));
    CHECK(pool.statistics().most_reserved == reserved);
    CHECK(pool.statistics().most_in_use == 2 * bytes);
    CHECK(pool.statistics().allocations == 52);
  });
}

TEST_CASE("the statistics of a pool count what is in use and what it has taken", "[pools]") {
  with_each_kind({}, [](const memory_pool& pool) {
    stream s = under_test().create_stream();
    CHECK(pool.statistics().in_use == 0);
    CHECK(pool.statistics().reserved == 0);
    CHECK(pool.statistics().allocations == 0);
    {
      auto x = pool.allocate<f32>(n, s);
      auto y = pool.allocate<std::uint8_t>(100, s);
      const memory_pool_statistics now = pool.statistics();
      CHECK(now.in_use == bytes + 100);
      CHECK(now.reserved >= now.in_use);
      x.release();
      CHECK(pool.statistics().in_use == 100);
    }
    s.synchronize();
    const memory_pool_statistics after = pool.statistics();
    CHECK(after.in_use == 0);
    CHECK(after.most_in_use == bytes + 100);
    CHECK(after.most_reserved >= after.most_in_use);
    CHECK(after.allocations == 2);
  });
}

TEST_CASE("a trim gives unused memory back, and leaves what is in use", "[pools]") {
  with_each_kind({}, [](const memory_pool& pool) {
    stream s = under_test().create_stream();
    auto kept = pool.allocate<f32>(n, s);
    launch_advance(s, kept, 0, 8);
    pool.allocate<f32>(16 * n, s).release();
    pool.trim();
    CHECK(pool.statistics().reserved >= bytes);
    CHECK(kept.download(s) == all(8, n));
    kept.release();
    pool.trim();
    CHECK(pool.statistics().reserved == 0);
    CHECK(pool.statistics().in_use == 0);
    CHECK(pool.allocate<f32>(n, s).download(s) == all(0, n));
  });
}

TEST_CASE("a pool that keeps nothing has nothing once its stream is done and it is trimmed", "[pools]") {
  with_each_kind({.keep = 0}, [](const memory_pool& pool) {
    stream s = under_test().create_stream();
    for (int i = 0; i < 3; ++i) CHECK(pool.allocate<f32>(n, s).download(s) == all(0, n));
    s.synchronize();
    CHECK(pool.statistics().reserved == 0);
  });
}

TEST_CASE("a pool refuses what is beyond its limit, and gives it once others are released", "[pools]") {
  with_each_kind({.limit = 2 * bytes}, [](const memory_pool& pool) {
    stream s = under_test().create_stream();
    auto x = pool.allocate<f32>(n, s), y = pool.allocate<f32>(n, s);
    const auto one_more = [&] { return pool.allocate<std::uint8_t>(1, s); };
    refuses(errc::out_of_memory, {"from a pool", "limit", "release buffers"}, one_more);
    CHECK(pool.statistics().in_use == 2 * bytes);
    CHECK(pool.statistics().allocations == 2);
    x.release();
    CHECK(one_more().size() == 1);
    refuses(errc::out_of_memory, {"limit"}, [&] { pool.allocate<f32>(n + 1, s); });
    launch_advance(s, y, 1, 4);
    CHECK(y.download(s) == all(4, n));
  });
}

TEST_CASE("memory is used in another stream after an event, and released in its order", "[pools]") {
  with_each_kind({}, [](const memory_pool& pool) {
    stream a = under_test().create_stream(), b = under_test().create_stream();
    event ready = under_test().create_event();
    auto result = under_test().allocate<f32>(n);
    {
      auto y = pool.allocate<f32>(n, a);
      launch_advance(a, y, 1, 6);
      a.record(ready);
      b.wait(ready);
      launch_add(b, y, result);
      y.release(b);
      CHECK(y.is_null());
      y.release(b);  // does nothing
    }
    auto next = pool.allocate<f32>(n, b);
    launch_advance(b, next, 1, 1);
    CHECK(result.download(b) == all(6, n));
    CHECK(next.download(b) == all(1, n));
    CHECK(pool.statistics().in_use == bytes);
  });
}

TEST_CASE("a buffer outlives its stream, its pool and every handle", "[pools]") {
  with_each_kind({}, [](memory_pool pool) {
    buffer<f32> y;
    {
      stream s = under_test().create_stream();
      y = pool.allocate<f32>(n, s);
      launch_advance(s, y, 1, 6);
    }
    CHECK(y.download() == all(6, n));
    buffer<f32> moved = std::move(y);
    CHECK(pool.statistics().in_use == bytes);
    pool = memory_pool();
    CHECK(moved.download() == all(6, n));
    moved.release();
    CHECK(moved.is_null());
  });
}

TEST_CASE("a stream that was created after another has gone is not given its memory too early", "[pools]") {
  with_each_kind({}, [](const memory_pool& pool) {
    constexpr std::size_t rounds = 20;
    auto results = under_test().allocate<f32>(rounds * n);
    for (std::size_t i = 0; i < rounds; ++i) {  // no round waits for another one
      stream s = under_test().create_stream();
      auto y = pool.allocate<f32>(n, s);
      launch_advance(s, y, 0, static_cast<f32>(i));
      launch_add(s, y, results.slice(i * n, n));
    }
    const std::vector<f32> got = results.download();
    for (std::size_t i = 0; i < rounds; ++i)
      CHECK(std::count(got.data() + i * n, got.data() + (i + 1) * n, static_cast<f32>(i)) == n);
    CHECK(pool.statistics().in_use == 0);
  });
}

TEST_CASE("several threads allocate from one pool at once", "[pools]") {
  with_each_kind({}, [](const memory_pool& pool) {
    constexpr int threads = 4, rounds = 15;
    std::vector<std::vector<f32>> results(threads);
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        stream s = under_test().create_stream();
        auto sum = pool.allocate<f32>(n, s);
        for (int i = 0; i < rounds; ++i) {
          auto y = pool.allocate<f32>(n, s);
          launch_advance(s, y, 1, static_cast<f32>(t));
          launch_add(s, y, sum);
        }
        results[static_cast<std::size_t>(t)] = sum.download(s);
      });
    }
    for (std::thread& t : running) t.join();
    for (int t = 0; t < threads; ++t)
      CHECK(results[static_cast<std::size_t>(t)] == all(static_cast<f32>(t * rounds), n));
    CHECK(pool.statistics().in_use == 0);
    CHECK(pool.statistics().allocations == threads * (rounds + 1));
  });
}

TEST_CASE("zero elements of a pool are a buffer without memory", "[pools]") {
  with_each_kind({}, [](const memory_pool& pool) {
    stream s = under_test().create_stream();
    auto y = pool.allocate<f32>(0, s);
    CHECK(y.empty());
    CHECK_FALSE(y.is_null());
    CHECK(y.address() == 0);
    CHECK(y.download(s).empty());
    CHECK(pool.statistics().allocations == 0);
    y.release(s);
    CHECK(y.is_null());
  });
}

TEST_CASE("a device has a pool of its own until it is given another one", "[pools]") {
  device& on = under_test();
  stream s = on.create_stream();
  const memory_pool before = on.pool();
  const std::uint64_t allocations = before.statistics().allocations;
  auto x = on.allocate<f32>(n, s);
  CHECK(before.statistics().allocations == allocations + 1);
  const memory_pool limited = on.create_pool({.kind = pool_kind::caching, .limit = bytes});
  on.set_pool(limited);
  {
    auto y = device(on).allocate<f32>(n, s, uninitialised);
    CHECK(limited.statistics().in_use == bytes);
    refuses(errc::out_of_memory, {"limit"}, [&] { on.allocate<f32>(n, s); });
    refuses(errc::invalid_argument, {"set_pool", "null"}, [&] { on.set_pool(memory_pool()); });
    const device other = device::open("emulator");
    refuses(errc::invalid_argument, {"set_pool", "another device"}, [&] { on.set_pool(other.pool()); });
    CHECK(on.pool().statistics().in_use == bytes);
  }
  on.set_pool(before);
  CHECK(on.pool().statistics().allocations == allocations + 1);
  CHECK(x.download(s) == all(0, n));
}

TEST_CASE("allocations that cannot be made are refused, and the pool is as before", "[pools]") {
  with_each_kind({}, [](const memory_pool& pool) {
    const device other = device::open("emulator");
    stream s = under_test().create_stream(), gone = under_test().create_stream(), far = other.create_stream();
    const stream taken = std::move(gone);
    const memory_pool null;
    auto y = pool.allocate<f32>(n, s);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    const wrong_call calls[] = {
        {"another device", {"allocate from a pool", "another device"}, [&] { pool.allocate<f32>(n, far); }},
        {"a null stream", {"allocate from a pool", "null stream"}, [&] { pool.allocate<f32>(n, gone); }},
        {"a null pool", {"null memory_pool", "create_pool"}, [&] { null.allocate<f32>(n, s); }},
        {"a size that overflows", {"elements of 4 bytes"}, [&] { pool.allocate<f32>(most / 2, s); }},
        {"statistics", {"statistics", "null memory_pool"}, [&] { null.statistics(); }},
        {"trim", {"trim", "null memory_pool"}, [&] { null.trim(); }},
        {"release in another device's stream", {"release", "another device"}, [&] { y.release(far); }},
        {"release in a null stream", {"release", "null stream"}, [&] { y.release(gone); }},
    };
    for (const wrong_call& wrong : calls) {
      CAPTURE(wrong.what);
      refuses(errc::invalid_argument, wrong.says, wrong.call);
      CHECK(pool.statistics().in_use == bytes);
      CHECK(pool.statistics().allocations == 1);
    }
    CHECK(y.download(s) == all(0, n));
    refuses(errc::out_of_memory, {"allocating"}, [&] { pool.allocate<f32>(std::size_t{1} << 60, s); });
    CHECK(pool.statistics().in_use == bytes);
  });
}
