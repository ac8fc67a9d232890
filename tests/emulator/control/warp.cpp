// Shuffles, votes, matches and reductions: modes, widths, partial masks, and lanes that come from different
// places.

#include "tests/emulator/kernel.hpp"

#include <bit>
#include <string>

using namespace emulator_test;

namespace {

// The contents of %r0 that each of 32 lanes leaves.
std::vector<std::uint32_t> lanes(const std::string& body) {
  return results("mov.u32 %r0, 0;\n" + body + "\nmad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r0;",
                 32);
}

}  // namespace

TEST_CASE("shuffles in every mode and width, as the manual's pseudocode says") {
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (const unsigned width : {32u, 16u, 8u, 4u})
      for (const unsigned b : {0u, 1u, 3u, 7u, 16u, 31u}) {
        const unsigned c = (32 - width) << 8 | (mode == "up" ? 0 : 31);
        const auto have =
            lanes("mul.lo.u32 %r1, %tid_, 7; shfl.sync." + mode + ".b32 %r0|%q0, %r1, " + std::to_string(b) +
                  ", " + std::to_string(c) + ", -1; selp.u32 %r2, 1000, 0, %q0; add.u32 %r0, %r0, %r2;");
        for (int lane = 0; lane < 32; ++lane) {
          const int segment = static_cast<int>(c >> 8), clamp = static_cast<int>(c & 31);
          const int most = (lane & segment) | (clamp & ~segment), smallest = lane & segment;
          const int by = static_cast<int>(b);
          int j = mode == "up"     ? lane - by
                  : mode == "down" ? lane + by
                  : mode == "bfly" ? lane ^ by
                                   : smallest | (by & ~segment);
          const bool inside = mode == "up" ? j >= most : j <= most;
          if (!inside) j = lane;
          INFO(mode << " by " << b << ", width " << width << ", lane " << lane);
          CHECK(have[static_cast<unsigned>(lane)] == static_cast<std::uint32_t>(j) * 7 + (inside ? 1000 : 0));
        }
      }
}

TEST_CASE("a butterfly of shuffles sums a warp") {
  std::string body = "add.u32 %r0, %tid_, 1;";
  for (const int by : {16, 8, 4, 2, 1})
    body += "shfl.sync.bfly.b32 %r1, %r0, " + std::to_string(by) + ", 31, 0xffffffff; add.u32 %r0, %r0, %r1;";
  for (const std::uint32_t sum : lanes(body)) CHECK(sum == 528);
}

TEST_CASE("a part of a warp shuffles under its own mask") {
  const auto have =
      lanes("setp.ge.u32 %q0, %tid_, 8; @%q0 bra out; shfl.sync.idx.b32 %r0, %tid_, 5, 31, 0xff; out:");
  for (unsigned lane = 0; lane < 32; ++lane) CHECK(have[lane] == (lane < 8 ? 5u : 0u));
}

TEST_CASE("two halves of a warp with two masks in one instruction") {
  const auto have = lanes(
      "setp.lt.u32 %q0, %tid_, 16; selp.b32 %r1, 0xffff, 0xffff0000, %q0; selp.b32 %r2, 3, 20, %q0;"
      "shfl.sync.idx.b32 %r0, %tid_, %r2, 31, %r1;");
  for (unsigned lane = 0; lane < 32; ++lane) CHECK(have[lane] == (lane < 16 ? 3u : 20u));
}

TEST_CASE("lanes that come on different ways wait for each other at a .sync instruction") {
  // Both sides of a branch execute a shuffle with the full mask; each reads the other side's registers.
  const auto have = lanes(R"(setp.lt.u32 %q0, %tid_, 16; @%q0 bra low;
      add.u32 %r1, %tid_, 100; shfl.sync.bfly.b32 %r0, %r1, 16, 31, -1; bra join;
      low: add.u32 %r2, %tid_, 200; shfl.sync.bfly.b32 %r0, %r2, 16, 31, -1; join:)");
  for (unsigned lane = 0; lane < 32; ++lane)
    CHECK(have[lane] == (lane < 16 ? lane + 16 + 100 : lane - 16 + 200));
}

TEST_CASE("lanes that have ended are not waited for") {
  const auto have = lanes(
      "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], 7; setp.ge.u32 %q0, %tid_, 20; @%q0 exit;"
      "vote.sync.ballot.b32 %r0, 1, 0xffffffff;");
  for (unsigned lane = 0; lane < 32; ++lane) CHECK(have[lane] == (lane < 20 ? 0xfffffu : 7u));
  // The others wait already when the last ones end.
  const auto late = lanes(
      "setp.ge.u32 %q0, %tid_, 20; @%q0 bra gone; vote.sync.ballot.b32 %r0, 1, 0xffffffff; bra join;"
      "gone: exit; join:");
  for (unsigned lane = 0; lane < 20; ++lane) CHECK(late[lane] == 0xfffffu);
}

TEST_CASE("votes") {
  const auto odd = [](const std::string& rest) {
    return lanes("and.b32 %r1, %tid_, 1; setp.ne.u32 %q0, %r1, 0; " + rest);
  };
  CHECK(odd("vote.sync.ballot.b32 %r0, %q0, -1;")[3] == 0xaaaaaaaa);
  CHECK(odd("vote.sync.ballot.b32 %r0, !%q0, -1;")[3] == 0x55555555);
  CHECK(odd("vote.sync.all.pred %q1, %q0, -1; selp.u32 %r0, 1, 0, %q1;")[0] == 0);
  CHECK(odd("vote.sync.any.pred %q1, %q0, -1; selp.u32 %r0, 1, 0, %q1;")[0] == 1);
  CHECK(odd("vote.sync.uni.pred %q1, %q0, -1; selp.u32 %r0, 1, 0, %q1;")[0] == 0);
  CHECK(odd("setp.eq.u32 %q2, %tid_, 99; vote.sync.uni.pred %q1, %q2, -1; selp.u32 %r0, 1, 0, %q1;")[0] == 1);
  CHECK(odd("@!%q0 bra o; vote.sync.all.pred %q1, %q0, 0xaaaaaaaa; selp.u32 %r0, 1, 0, %q1; o:")[1] == 1);
}

TEST_CASE("match, redux, elect, activemask") {
  const auto any = lanes("and.b32 %r1, %tid_, 3; match.any.sync.b32 %r0, %r1, -1;");
  for (unsigned lane = 0; lane < 32; ++lane) CHECK(any[lane] == 0x11111111u << lane % 4);
  CHECK(lanes("mov.u32 %r1, 9; match.all.sync.b32 %r0|%q0, %r1, -1; @!%q0 mov.u32 %r0, 5;")[6] == 0xffffffff);
  CHECK(lanes("match.all.sync.b32 %r0|%q0, %tid_, -1; @%q0 mov.u32 %r0, 5;")[6] == 0);
  CHECK(lanes("mov.b64 %d1, {%tid_, %tid_}; match.any.sync.b64 %r0, %d1, -1;")[6] == 1u << 6);
  CHECK(lanes("redux.sync.add.u32 %r0, %tid_, -1;")[0] == 496);
  CHECK(lanes("sub.s32 %r1, %tid_, 16; redux.sync.min.s32 %r0, %r1, -1;")[0] == 0xfffffff0);
  CHECK(lanes("sub.s32 %r1, %tid_, 16; redux.sync.min.u32 %r0, %r1, -1;")[0] == 0);
  CHECK(lanes("sub.s32 %r1, %tid_, 16; redux.sync.max.s32 %r0, %r1, -1;")[0] == 15);
  CHECK(lanes("shl.b32 %r1, 1, %tid_; redux.sync.or.b32 %r0, %r1, -1;")[0] == 0xffffffff);
  CHECK(lanes("shl.b32 %r1, 1, %tid_; redux.sync.xor.b32 %r0, %r1, -1;")[0] == 0xffffffff);
  CHECK(lanes("or.b32 %r1, %tid_, 0x60; redux.sync.and.b32 %r0, %r1, -1;")[0] == 0x60);
  const auto elected = lanes(
      "setp.lt.u32 %q1, %tid_, 4; @%q1 bra o; elect.sync %r0|%q0, 0xfffffff0; @%q0 add.u32 %r0, %r0, 100; "
      "o:");
  CHECK(elected[4] == 104);
  CHECK(elected[5] == 4);
  CHECK(elected[0] == 0);
  CHECK(lanes("setp.lt.u32 %q0, %tid_, 3; @%q0 activemask.b32 %r0;")[1] == 7);
  CHECK(lanes("bar.warp.sync 0xffffffff; mov.u32 %r0, 1;")[31] == 1);
}

TEST_CASE("a lane outside of its own member mask is a fault") {
  memory global;
  const array<std::uint32_t> out(global, 32);
  const fault_report r = fault_of("shfl.sync.idx.b32 %r0, %r1, 0, 31, 0x0000ffff;", global, {out.address()});
  CHECK(r.kind == fault_kind::member_mask);
  CHECK(r.lane == 16);
}

TEST_CASE("before PTX ISA 6.4 shuffles and votes have no .sync: the active lanes take part") {
  const std::string body =
      "setp.ge.u32 %q0, %tid_, 20; mov.u32 %r0, 99; mov.u32 %r1, 7; @%q0 bra out;\n"
      "shfl.bfly.b32 %r0, %tid_, 1, 31; and.b32 %r2, %tid_, 1; setp.eq.u32 %q1, %r2, 1;\n"
      "vote.ballot.b32 %r1, %q1; vote.any.pred %q2, %q1; vote.all.pred %q3, %q1; selp.u32 %r3, 256, 0, %q2;\n"
      "selp.u32 %r4, 512, 0, %q3; add.u32 %r0, %r0, %r3; add.u32 %r0, %r0, %r4;\n"
      "out: mad.lo.u64 %d0, %wide, 8, %p0; st.global.v2.u32 [%d0], {%r0, %r1};";
  memory global;
  const array<std::uint32_t> out(global, 64);
  run_module(parsed_module(kernel_text(body, 1, "", "6.3", "sm_70")), global, {out.address()}, {1, 32});
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    CHECK(out.values()[lane * 2] == (lane < 20 ? (lane ^ 1) + 256 : 99));
    CHECK(out.values()[lane * 2 + 1] == (lane < 20 ? 0x000aaaaau : 7));
  }
  CHECK(contains(rejection(kernel_text(body, 1, "", "6.4", "sm_70")).what(), "without .sync"));
}
