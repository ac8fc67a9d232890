// Threads that help with a job, and grids that call them: results and counts do not depend on them.

#include "emulator/run/worker_pool.hpp"
#include "tests/emulator/kernel.hpp"

#include <atomic>
#include <set>

using namespace emulator_test;

TEST_CASE("helpers do a part of the work, and are waited for", "[emulator]") {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> next{0}, inside{0}, most{0}, done{0};
    const std::function<void()> work = [&] {
      const int now = ++inside;
      for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      while (next++ < 100) ++done;
      --inside;
    };
    {
      helpers others(worker_pool::shared(), work);
      others.call(3);
      others.call(3);  // once is enough
      work();
      others.wait();
      CHECK(inside == 0);
    }
    CHECK(done == 100);
    CHECK(most >= 1);
    CHECK(most <= 4);
  }
}

TEST_CASE("helpers that nobody calls do nothing", "[emulator]") {
  std::atomic<int> calls{0};
  const std::function<void()> work = [&] { ++calls; };
  {
    helpers others(worker_pool::shared(), work);
    others.call(0);
    others.wait();
  }
  CHECK(calls == 0);
}

TEST_CASE("grids of short and of long blocks have one result on any number of threads", "[emulator]") {
  // Thread g computes %p1[0] rounds of a generator, g mod 3 times as long.
  const module m = parsed_module(kernel_text(
      "ld.global.u32 %r1, [%p1]; rem.u32 %r2, %thread, 3; mul.lo.u32 %r1, %r1, %r2;"
      "mov.u32 %r3, %thread; mov.u32 %r4, 0;\nagain:\n"
      "mad.lo.u32 %r3, %r3, 1664525, 1013904223; add.u32 %r4, %r4, 1; setp.le.u32 %q1, %r4, %r1;"
      "@%q1 bra again;\nmul.wide.u32 %d1, %thread, 4; add.u64 %d1, %d1, %p0; st.global.u32 [%d1], %r3;",
      2));
  constexpr std::uint32_t grid = 40, block = 96;
  for (const std::uint32_t rounds : {0u, 3u, 2000u}) {
    std::set<std::vector<std::uint32_t>> found;
    std::set<std::uint64_t> counts;
    for (const unsigned threads : {1u, 2u, 5u}) {
      memory global;
      const array<std::uint32_t> y(global, grid * block), x(global, std::vector<std::uint32_t>{rounds});
      launch l;
      l.mod = &m;
      l.kernel = m.find("k");
      l.grid = {grid, 1, 1};
      l.block = {block, 1, 1};
      l.threads = threads;
      const std::uint64_t pointers[] = {y.address(), x.address()};
      l.parameters.resize(sizeof pointers);
      std::memcpy(l.parameters.data(), pointers, sizeof pointers);
      std::atomic<std::uint64_t> executed{0};
      l.executed = &executed;
      run(l, global);
      found.insert(y.values());
      counts.insert(executed);
    }
    CHECK(found.size() == 1);
    CHECK(counts.size() == 1);
  }
}
