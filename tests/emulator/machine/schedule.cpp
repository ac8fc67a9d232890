// Schedules: each is repeatable. The result of a correct kernel does not depend on it, that of a racing one
// does. No warp is starved for ever; a deadlock is reported with the waits of each warp.

#include "tests/emulator/kernel.hpp"

#include <set>
#include <string>

using namespace emulator_test;

namespace {

const std::vector<schedule> every_schedule = {
    {schedule_kind::round_robin, 0}, {schedule_kind::reverse, 0}, {schedule_kind::starve, 0},
    {schedule_kind::starve, 3},      {schedule_kind::random, 1},  {schedule_kind::random, 2},
    {schedule_kind::random, 12345},
};

words run_under(const schedule& order, const module& m, std::size_t count, shape s) {
  memory global;
  const array<std::uint64_t> out(global, count);
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {s.grid, 1, 1};
  l.block = {s.block, 1, 1};
  l.instruction_limit = s.instruction_limit;
  l.order = order;
  l.parameters.resize(8);
  const std::uint64_t address = out.address();
  std::memcpy(l.parameters.data(), &address, 8);
  run(l, global);
  return out.values();
}

}  // namespace

TEST_CASE("the names of schedules", "[schedule]") {
  const auto parsed = [](std::string_view text) {
    const auto s = schedule::parse(text);
    REQUIRE(s.has_value());
    return *s;
  };
  CHECK(parsed("round_robin").is_default());
  CHECK(parsed("reverse").kind == schedule_kind::reverse);
  CHECK(parsed("starve").seed == 0);
  CHECK(parsed("starve:7").seed == 7);
  CHECK(parsed("random:18446744073709551615").seed == ~std::uint64_t{0});
  for (const char* wrong : {"", "fair", "random:", "random:x", "random:1x", "reverse:1", "random:-1"}) {
    INFO(wrong);
    CHECK(!schedule::parse(wrong).has_value());
  }
}

TEST_CASE("what does not race is the same under every schedule", "[schedule]") {
  // Warps write, all wait, each reads its neighbour's value; then lanes go different ways and meet again.
  const module m = parsed_module(kernel_text(
      "mov.u32 %r1, cells; shl.b32 %r2, %tid_, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %thread;\n"
      "bar.sync 0; xor.b32 %r2, %r2, 384; add.u32 %r3, %r1, %r2; ld.shared.u32 %r4, [%r3];\n"
      "and.b32 %r5, %tid_, 3; setp.eq.u32 %q1, %r5, 1; @%q1 bra ODD; mul.lo.u32 %r4, %r4, 3; bra MET;\n"
      "ODD: add.u32 %r4, %r4, 7;\n"
      "MET: bar.warp.sync -1; shfl.sync.bfly.b32 %r6, %r4, 1, 31, -1; add.u32 %r4, %r4, %r6;\n"
      "cvt.u64.u32 %d1, %r4; shl.b64 %d2, %wide, 3; add.u64 %p0, %p0, %d2; st.global.u64 [%p0], %d1;",
      1, ".shared .b32 cells[128];"));
  const words first = run_under({}, m, 4 * 128, {4, 128});
  for (const schedule& order : every_schedule) CHECK(run_under(order, m, 4 * 128, {4, 128}) == first);
}

TEST_CASE("what races shows under some schedule, and each is repeatable", "[schedule]") {
  // Every warp leaves its number in one word without waiting for the others.
  const module m =
      parsed_module(kernel_text("shr.u32 %r1, %tid_, 5; cvt.u64.u32 %d1, %r1; st.global.u64 [%p0], %d1;"));
  std::set<std::uint64_t> seen;
  for (const schedule& order : every_schedule) {
    const words result = run_under(order, m, 1, {1, 256});
    CHECK(run_under(order, m, 1, {1, 256}) == result);
    seen.insert(result[0]);
  }
  CHECK(seen.size() >= 3);
}

TEST_CASE("blocks start in the order of the schedule", "[schedule]") {
  // A ticket for every block: the order in which they came.
  const module m = parsed_module(
      kernel_text("setp.ne.u32 %q1, %tid_, 0; @%q1 exit; atom.global.add.u64 %d1, [%p0], 1;\n"
                  "mul.wide.u32 %d2, %ctaid_, 8; add.u64 %p0, %p0, %d2; st.global.u64 [%p0+8], %d1;"));
  const words forward = run_under({}, m, 9, {8, 32});
  const words backward = run_under({schedule_kind::reverse, 0}, m, 9, {8, 32});
  for (std::size_t b = 0; b < 8; ++b) {
    CHECK(forward[b + 1] == b);
    CHECK(backward[b + 1] == 7 - b);
  }
}

TEST_CASE("a warp and a block that spin let the others get on, under every schedule", "[schedule]") {
  // Warp 1 of block 1 sets the flag that all others wait for.
  const module m = parsed_module(kernel_text(
      "setp.eq.u32 %q1, %thread, 96; @%q1 bra SET;\n"
      "WAIT: ld.acquire.gpu.global.u64 %d1, [%p0]; setp.eq.u64 %q2, %d1, 0; @%q2 bra WAIT; bra DONE;\n"
      "SET: mov.u64 %d1, 5; st.release.gpu.global.u64 [%p0], %d1;\n"
      "DONE: shl.b64 %d2, %wide, 3; add.u64 %p0, %p0, %d2; st.global.u64 [%p0+8], %d1;"));
  for (const schedule& order : every_schedule) {
    const words result = run_under(order, m, 129, {2, 64, 0, 0, 0});
    CHECK(result == words(129, 5));
  }
}

TEST_CASE("a deadlock is found under every schedule, and reported", "[schedule]") {
  const module m =
      parsed_module(kernel_text("setp.lt.u32 %q1, %tid_, 32; @%q1 bra FIRST; bar.sync 2, 64; bra DONE;\n"
                                "FIRST: bar.sync 1, 64;\nDONE:"));
  for (const schedule& order : every_schedule) {
    try {
      run_under(order, m, 1, {1, 64});
      FAIL("no deadlock");
    } catch (const fault& e) {
      CHECK(e.report().kind == fault_kind::deadlock);
      CHECK(contains(e.what(), "warp 0 lanes 0xffffffff wait for barrier 1 (32 of 64 threads have arrived)"));
      CHECK(contains(e.what(), "warp 1 lanes 0xffffffff wait for barrier 2 (32 of 64 threads have arrived)"));
    }
  }
}
