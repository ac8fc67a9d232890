// Misused barriers: divergent, left out by threads that ended, mixed, and .sync masks.

#include "tests/emulator/sanitizer/checked.hpp"

using namespace emulator_test;

namespace {
const checked_launch two_warps{{1, 64}, ".shared .align 16 .b8 cells[4096];"};
}

TEST_CASE("bar.sync on both sides of a branch within a warp") {
  const auto kernel = [](const std::string& barrier) {
    return "setp.lt.u32 %q0, %tid_, 7;\n@%q0 bra a;\n" + barrier + "\nbra join;\na:\n" + barrier + "\njoin:";
  };
  const auto r = checked(kernel("bar.sync 0;"), two_warps);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::barrier);
  CHECK(contains(r->detail, "divergent"));
  CHECK(is_clean(kernel("barrier.sync 0;"), two_warps));
  CHECK(has(kernel("barrier.sync.aligned 0;"), fault_kind::barrier, "barrier.sync.aligned", two_warps));
  // Whole warps may part.
  CHECK(is_clean("setp.lt.u32 %q0, %tid_, 32;\n@%q0 bra a;\nbar.sync 0;\nbra join;\na:\nbar.sync 0;\njoin:",
                 two_warps));
}

TEST_CASE("a barrier after the branch is fine, whatever the schedule") {
  for (const schedule_kind kind :
       {schedule_kind::round_robin, schedule_kind::reverse, schedule_kind::random}) {
    checked_launch l = two_warps;
    l.order.kind = kind;
    CHECK(
        is_clean("and.b32 %r1, %tid_, 3; setp.eq.u32 %q0, %r1, 0;\n@%q0 bra a;\nmov.u32 %r2, 1;\nbra join;\n"
                 "a: mov.u32 %r2, 2;\njoin: bar.sync 0;",
                 l));
  }
}

TEST_CASE("threads that end before a barrier of the whole block") {
  CHECK(has("setp.ge.u32 %q0, %tid_, 40;\n@%q0 exit;\nbar.sync 0;", fault_kind::barrier, "bar.sync 0",
            two_warps));
  CHECK(has("setp.ge.u32 %q0, %tid_, 32;\n@%q0 exit;\nbar.sync 0;", fault_kind::barrier, "bar.sync 0",
            two_warps));
  CHECK(is_clean("bar.sync 0;\nsetp.ge.u32 %q0, %tid_, 40;\n@%q0 exit;", two_warps));
  CHECK(is_clean("setp.ge.u32 %q0, %tid_, 32;\n@%q0 exit;\nbar.sync 0, 32;", two_warps));
}

TEST_CASE("a barrier that completes without some lanes of a warp") {
  // Half of each of two warps are 32 threads; the other halves end without it.
  CHECK(has("and.b32 %r1, %tid_, 31; setp.lt.u32 %q0, %r1, 16;\n@%q0 bar.sync 1, 32;", fault_kind::barrier,
            "bar.sync 1, 32", two_warps));
  CHECK(is_clean("bar.sync 1, 64;", two_warps));
}

TEST_CASE("a reduction and a plain barrier at one number") {
  CHECK(
      has("setp.lt.u32 %q0, %tid_, 32;\n@%q0 bra a;\nbar.sync 0;\nbra join;\na:\nbar.red.popc.u32 %r1, 0, "
          "%q0;\njoin:",
          fault_kind::barrier, "bar", two_warps));
  CHECK(is_clean("setp.lt.u32 %q0, %tid_, 32;\nbar.red.popc.u32 %r1, 0, %q0;\nbar.sync 0;", two_warps));
}

TEST_CASE("a .sync mask: a lane that it does not name, and one that never comes") {
  CHECK(has("setp.lt.u32 %q0, %tid_, 64; shfl.sync.bfly.b32 %r1, %tid_, 1, 31, 65535;",
            fault_kind::member_mask, "shfl", two_warps));
  const auto r = checked(
      "and.b32 %r1, %tid_, 31; setp.lt.u32 %q0, %r1, 16;\n@!%q0 bra other;\nbar.warp.sync -1;\nbra join;\n"
      "other: bar.sync 0;\njoin:",
      two_warps);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::deadlock);
  CHECK(contains(r->detail, "wait for lanes"));
  CHECK(contains(r->detail, "barrier 0"));
}

TEST_CASE("a deadlock says who has not come, and where they are") {
  const auto r = checked(
      "setp.lt.u32 %q0, %tid_, 32;\n@%q0 bra a;\nbar.sync 1;\nbra join;\na: bar.sync 2;\njoin:", two_warps);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::deadlock);
  CHECK(contains(r->detail, "barrier 1"));
  CHECK(contains(r->detail, "barrier 2"));
  CHECK(contains(r->detail, "missing: warp 1"));
}

TEST_CASE("checks that are left out are left out") {
  checked_launch l = two_warps;
  l.options.checks.set(check::barriers, false);
  CHECK(is_clean("setp.ge.u32 %q0, %tid_, 40;\n@%q0 exit;\nbar.sync 0;", l));
}
