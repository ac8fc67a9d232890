// Grids whose blocks wait for each other: barriers of a grid, how large they may be, and waiting that never
// ends.

#include "tests/emulator/kernel.hpp"

#include <cstring>
#include <string>

using namespace emulator_test;

namespace {

// A barrier of the grid on the counter at %p1: the block's first thread counts it in and waits for all.
// %r30 is the number of barriers passed.
const std::string grid_barrier = R"(
  bar.sync 0; add.u32 %r30, %r30, 1; setp.ne.u32 %q30, %tid_, 0; @%q30 bra passed_ID;
  mov.u32 %r31, %nctaid.x; mul.lo.u32 %r31, %r31, %r30; fence.acq_rel.gpu;
  red.release.gpu.global.add.u32 [%p1], 1;
  spin_ID: ld.acquire.gpu.global.u32 %r32, [%p1]; setp.lt.u32 %q31, %r32, %r31; @%q31 bra spin_ID;
  passed_ID: bar.sync 0;)";

std::string barrier(const std::string& id) {
  std::string text = grid_barrier;
  for (std::size_t at = text.find("ID"); at != std::string::npos; at = text.find("ID", at))
    text.replace(at, 2, id);
  return text;
}

launch launch_of(const module& m, const std::vector<std::uint64_t>& pointers, std::uint32_t blocks,
                 std::uint32_t threads) {
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {blocks, 1, 1};
  l.block = {threads, 1, 1};
  l.cooperative = true;
  l.parameters.resize(pointers.size() * 8);
  std::memcpy(l.parameters.data(), pointers.data(), l.parameters.size());
  return l;
}

fault_report fault_of_launch(const launch& l, memory& global) {
  try {
    run(l, global);
  } catch (const fault& e) {
    return e.report();
  }
  FAIL("no fault");
  return {};
}

}  // namespace

TEST_CASE("the blocks of a cooperative grid meet at barriers, however many they are") {
  // Each thread adds up what its neighbour in the next block wrote in the round before.
  const module m = parsed_module(kernel_text(R"(
      mov.u32 %r30, 0; mov.u32 %r1, 0; mov.u32 %r2, %thread; mov.u32 %r3, %nctaid.x; mul.lo.u32 %r3, %r3, %ntid_;
      mad.lo.u64 %d1, %wide, 4, %p0; add.u32 %r4, %thread, %ntid_; rem.u32 %r4, %r4, %r3;
      mad.wide.u32 %d2, %r4, 4, %p0;
      again: st.global.u32 [%d1], %r2;)" + barrier("a") +
                                                 R"(
      ld.global.u32 %r5, [%d2]; add.u32 %r2, %r2, %r5;)" +
                                                 barrier("b") + R"(
      add.u32 %r1, %r1, 1; setp.lt.u32 %q0, %r1, 5; @%q0 bra again;
      st.global.u32 [%d1], %r2;)",
                                             2));
  for (const std::uint32_t blocks : {1u, 2u, 7u, 132u, 1500u}) {
    constexpr std::uint32_t threads = 48;
    memory global;
    const array<std::uint32_t> values(global, blocks * threads), counter(global, 1);
    run(launch_of(m, {values.address(), counter.address()}, blocks, threads), global);
    std::vector<std::uint32_t> want(blocks * threads);
    for (std::uint32_t i = 0; i < want.size(); ++i) want[i] = i;
    for (int round = 0; round < 5; ++round) {
      const std::vector<std::uint32_t> before = want;
      for (std::size_t i = 0; i < want.size(); ++i) want[i] += before[(i + threads) % want.size()];
    }
    CHECK(values.values() == want);
    CHECK(counter.values()[0] == 10 * blocks);
  }
}

TEST_CASE("a cooperative grid has at most as many blocks as the device holds at once") {
  const module m = parsed_module(kernel_text("", 2, ".extern .shared .align 16 .b8 dynamic[];"));
  const entry& k = *m.find("k");
  const architecture d;
  CHECK(resident_blocks(k, {32, 1, 1}, 0, d) == 132 * 32);
  CHECK(resident_blocks(k, {33, 1, 1}, 0, d) == 132 * 32);
  CHECK(resident_blocks(k, {256, 1, 1}, 0, d) == 132 * 8);
  CHECK(resident_blocks(k, {1024, 1, 1}, 0, d) == 132 * 2);
  CHECK(resident_blocks(k, {32, 1, 1}, 113 * 1024, d) == 132 * 2);
  CHECK(resident_blocks(k, {32, 1, 1}, 114 * 1024, d) == 132);
  CHECK(resident_blocks(k, {32, 1, 1}, 227 * 1024, d) == 132);
  memory global;
  launch l = launch_of(m, {0, 0}, 132 * 2 + 1, 1024);
  try {
    run(l, global);
    FAIL("it ran");
  } catch (const launch_error& e) {
    CHECK(contains(e.what(), "must all be resident at once; the grid has 265, and the device holds 264"));
  }
  l.cooperative = false;
  CHECK_NOTHROW(run(l, global));
}

TEST_CASE("blocks that wait for one that has ended are reported, with where they are") {
  memory global;
  const array<std::uint32_t> values(global, 64), counter(global, 1);
  const module m = parsed_module(
      kernel_text("mov.u32 %r30, 0; setp.eq.u32 %q0, %ctaid_, 3; @%q0 exit;\n" + barrier("a"), 2));
  const fault_report r = fault_of_launch(launch_of(m, {values.address(), counter.address()}, 6, 64), global);
  CHECK(r.kind == fault_kind::deadlock);
  CHECK(contains(r.detail, "a value in memory that no thread writes"));
  CHECK(contains(r.detail, "block (5, 0, 0):"));
  CHECK(r.detail.find("block (3, 0, 0):") == std::string::npos);
  CHECK(contains(r.detail, "ld.acquire.gpu.global.u32"));
}

TEST_CASE("a lock that is never given back, and a flag that nobody sets, are reported in any grid") {
  for (const std::uint32_t blocks : {1u, 40u}) {
    memory global;
    const array<std::uint32_t> cells(global, 64);
    const auto report = [&](const std::string& body) {
      return fault_of(body, global, {cells.address()}, {blocks, 33, 0, 0, 0}, ".shared .align 4 .u32 flag;");
    };
    // The first block that takes the lock keeps it; within a block it is a second thread that waits.
    CHECK(
        report("lock: atom.global.cas.b32 %r1, [%p0], 0, 1; setp.ne.u32 %q1, %r1, 0; @%q1 bra lock;").kind ==
        fault_kind::deadlock);
    CHECK(report("wait: ld.volatile.global.u32 %r1, [%p0+4]; nanosleep.u32 100; setp.eq.u32 %q1, %r1, 0;"
                 "@%q1 bra wait;")
              .kind == fault_kind::deadlock);
    if (blocks == 1)
      CHECK(report("wait: ld.shared.u32 %r1, [flag]; setp.eq.u32 %q1, %r1, 0; @%q1 bra wait;").kind ==
            fault_kind::deadlock);
  }
}

TEST_CASE("waiting that ends late is no livelock") {
  // The last block counts for long without a write while the others wait for it.
  memory global;
  const array<std::uint32_t> cells(global, 2);
  const module m = parsed_module(kernel_text(R"(
      mov.u32 %r1, %nctaid.x; sub.u32 %r1, %r1, 1; setp.ne.u32 %q0, %ctaid_, %r1; @%q0 bra wait;
      mov.u32 %r2, 0;
      count: add.u32 %r2, %r2, 1; setp.lt.u32 %q1, %r2, 3000000; @%q1 bra count;
      st.release.gpu.global.u32 [%p0], %r2; bra done;
      wait: ld.acquire.gpu.global.u32 %r3, [%p0]; setp.eq.u32 %q1, %r3, 0; @%q1 bra wait;
      red.global.add.u32 [%p0+4], %r3;
      done:)",
                                             1));
  run(launch_of(m, {cells.address()}, 5, 1), global);
  CHECK(cells.values() == std::vector<std::uint32_t>{3000000, 12000000});
}

TEST_CASE("a kernel that waits for time goes on") {
  memory global;
  const array<std::uint32_t> cells(global, 2);
  const module m = parsed_module(kernel_text(R"(
      mov.u64 %d1, %globaltimer; add.u64 %d1, %d1, 20000000;
      wait: mov.u64 %d2, %globaltimer; setp.lt.u64 %q1, %d2, %d1; @%q1 bra wait;
      st.global.u32 [%p0], 1;)",
                                             1));
  run(launch_of(m, {cells.address()}, 1, 1), global);
  CHECK(cells.values()[0] == 1);
}
