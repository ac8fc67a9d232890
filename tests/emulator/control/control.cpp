// Divergence and reconvergence: whatever way the lanes of a warp take, each computes what it would alone.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

using lane_model = std::uint32_t (*)(std::uint32_t thread);

// The body leaves a value in %r0; it is compared with the model for every thread.
void check_lanes(const std::string& body, lane_model model, shape s = {}) {
  const std::uint32_t threads = s.grid * s.block;
  const auto have = results(
      "mov.u32 %r0, 0;\n" + body + "\nmad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r0;", threads, s);
  for (std::uint32_t t = 0; t < threads; ++t) {
    INFO("thread " << t);
    CHECK(have[t] == model(t));
  }
}

}  // namespace

TEST_CASE("if, else and what follows") {
  check_lanes(
      "and.b32 %r1, %thread, 1; setp.eq.u32 %q0, %r1, 0; @%q0 bra even; mov.u32 %r0, 10; bra join; even: "
      "mov.u32 %r0, 20;"
      "join: add.u32 %r0, %r0, %thread;",
      [](std::uint32_t t) { return (t % 2 ? 10 : 20) + t; }, {2, 64});
}

TEST_CASE("nested branches") {
  check_lanes(R"(
    and.b32 %r1, %thread, 1; setp.eq.u32 %q0, %r1, 0;
    @!%q0 bra odd;
      and.b32 %r2, %thread, 2; setp.eq.u32 %q1, %r2, 0;
      @!%q1 bra two;
        add.u32 %r0, %r0, 1; bra inner;
      two: add.u32 %r0, %r0, 2;
        and.b32 %r3, %thread, 4; setp.ne.u32 %q2, %r3, 0;
        @%q2 add.u32 %r0, %r0, 100;
      inner: add.u32 %r0, %r0, 10; bra join;
    odd: add.u32 %r0, %r0, 3;
    join: add.u32 %r0, %r0, 1000;)",
              [](std::uint32_t t) {
                if (t % 2) return 1003u;
                return 1010u + (t & 2 ? 2 + (t & 4 ? 100u : 0u) : 1u);
              },
              {1, 96});
}

TEST_CASE("a loop with another trip count in every lane") {
  check_lanes(
      "mov.u32 %r1, 0; loop: setp.ge.u32 %q0, %r1, %thread; @%q0 bra done; add.u32 %r0, %r0, %r1; add.u32 "
      "%r1, %r1, 1; bra loop;"
      "done:",
      [](std::uint32_t t) { return t * (t - 1) / 2; }, {1, 64});
}

TEST_CASE("break and continue") {
  check_lanes(R"(
    mov.u32 %r1, 0;
    loop:
      setp.ge.u32 %q0, %r1, 40; @%q0 bra done;
      add.u32 %r1, %r1, 1;
      setp.gt.u32 %q1, %r1, %thread; @%q1 bra done;
      and.b32 %r2, %r1, 1; setp.eq.u32 %q2, %r2, 0; @%q2 bra loop;
      add.u32 %r0, %r0, %r1;
      bra loop;
    done:)",
              [](std::uint32_t t) {
                std::uint32_t sum = 0;
                for (std::uint32_t i = 0; i < 40;) {
                  ++i;
                  if (i > t) break;
                  if (i % 2 == 0) continue;
                  sum += i;
                }
                return sum;
              },
              {1, 64});
}

TEST_CASE("nested loops left by a branch out of both") {
  check_lanes(R"(
    mov.u32 %r1, 0;
    outer: setp.ge.u32 %q0, %r1, 8; @%q0 bra done;
      mov.u32 %r2, 0;
      inner: setp.ge.u32 %q1, %r2, %r1; @%q1 bra next;
        add.u32 %r0, %r0, 1;
        mad.lo.u32 %r3, %r1, 8, %r2; setp.eq.u32 %q2, %r3, %thread; @%q2 bra found;
        add.u32 %r2, %r2, 1; bra inner;
      next: add.u32 %r1, %r1, 1; bra outer;
    found: add.u32 %r0, %r0, 1000;
    done:)",
              [](std::uint32_t t) {
                std::uint32_t n = 0;
                for (std::uint32_t i = 0; i < 8; ++i)
                  for (std::uint32_t j = 0; j < i; ++j) {
                    ++n;
                    if (i * 8 + j == t) return n + 1000;
                  }
                return n;
              },
              {1, 64});
}

TEST_CASE("lanes that end early leave the others alone") {
  const auto have = results(
      "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], 1; setp.lt.u32 %q0, %thread, 7; @%q0 exit;"
      "st.global.u32 [%d0], 2; setp.lt.u32 %q0, %thread, 19; @%q0 ret; st.global.u32 [%d0], 3;",
      32);
  for (std::uint32_t t = 0; t < 32; ++t) CHECK(have[t] == (t < 7 ? 1u : t < 19 ? 2u : 3u));
}

TEST_CASE("lanes meet again after a branch: the active mask is whole") {
  check_lanes(
      "setp.lt.u32 %q0, %tid_, 5; @%q0 bra a; add.u32 %r1, %tid_, 1; bra b; a: add.u32 %r1, %tid_, 2; b: "
      "activemask.b32 %r0;",
      [](std::uint32_t) { return 0xffffffffu; });
  // And after a loop with different trip counts.
  check_lanes(
      "mov.u32 %r1, 0; loop: add.u32 %r1, %r1, 1; setp.lt.u32 %q0, %r1, %tid_; @%q0 bra loop; activemask.b32 "
      "%r0;",
      [](std::uint32_t) { return 0xffffffffu; });
  // Within the loop only those are active that still go round.
  check_lanes(
      "mov.u32 %r1, 0; loop: add.u32 %r1, %r1, 1; activemask.b32 %r0; setp.le.u32 %q0, %r1, %tid_; @%q0 bra "
      "loop;",
      [](std::uint32_t t) { return 0xffffffffu << t; });
}

TEST_CASE("blocks laid out against the flow of control still meet") {
  // The exit of the loop comes before its body, as compilers sometimes have it.
  check_lanes(R"(
    mov.u32 %r1, 0; bra head;
    done: activemask.b32 %r2; add.u32 %r0, %r0, %r2; bra end;
    body: add.u32 %r0, %r0, 1; add.u32 %r1, %r1, 1;
    head: setp.lt.u32 %q0, %r1, %tid_; @%q0 bra body; bra done;
    end:)",
              [](std::uint32_t t) { return t + 0xffffffffu; });
}

TEST_CASE("code that nothing reaches does no harm") {
  check_lanes("bra over; dead: add.u32 %r0, %r0, 1; bra dead; over: mov.u32 %r0, 5;",
              [](std::uint32_t) { return 5u; });
}

TEST_CASE("a lane that spins lets the lane run that it waits for") {
  // Lanes take a lock one after the other: the loser spins below the winner's code.
  const auto have = results(R"(
    spin: atom.shared.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %q0, %r1, 0; @%q0 bra spin;
    ld.volatile.shared.u32 %r2, [count]; add.u32 %r2, %r2, 1; st.volatile.shared.u32 [count], %r2;
    membar.cta; atom.shared.exch.b32 %r1, [lock], 0;
    bar.sync 0; ld.shared.u32 %r0, [count]; mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r0;)",
                            64, {1, 64}, ".shared .align 4 .b8 lock[4]; .shared .align 4 .b8 count[4];");
  for (const std::uint32_t count : have) CHECK(count == 64);
}

TEST_CASE("scopes: inner registers hide outer ones, labels belong to their braces") {
  check_lanes(R"(
    mov.u32 %r1, 5;
    { .reg .b32 %r1; mov.u32 %r1, 7; again: add.u32 %r1, %r1, 1; setp.lt.u32 %q0, %r1, 10; @%q0 bra again;
    add.u32 %r0, %r0, %r1; }
    { again: add.u32 %r0, %r0, 100; setp.lt.u32 %q0, %r0, 200; @%q0 bra again; }
    add.u32 %r0, %r0, %r1;)",
              [](std::uint32_t) { return 215u; });
}

TEST_CASE("special registers say where a thread is") {
  const auto text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p0) { .reg .b32 %r<40>; .reg .b64 %d<8>; .reg .b16 %h;
  ld.param.u64 %d0, [p0];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ctaid.z;
  mov.u32 %r6, %ntid.x; mov.u32 %r7, %ntid.y; mov.u32 %r8, %ntid.z; mov.u32 %r9, %nctaid.x;
  mov.u32 %r10, %nctaid.y; mov.u32 %r11, %nctaid.z;
  mov.u32 %r12, %laneid; mov.u32 %r13, %warpid; mov.u32 %r14, %nwarpid; mov.u32 %r15, %lanemask_lt;
  mov.u32 %r16, %lanemask_ge;
  mov.u16 %h, %ntid.x; cvt.u32.u16 %r17, %h;
  mad.lo.u32 %r20, %r5, %r10, %r4; mad.lo.u32 %r20, %r20, %r9, %r3;
  mad.lo.u32 %r21, %r2, %r7, %r1; mad.lo.u32 %r21, %r21, %r6, %r0;
  mul.lo.u32 %r22, %r6, %r7; mul.lo.u32 %r22, %r22, %r8; mad.lo.u32 %r23, %r20, %r22, %r21;
  mul.wide.u32 %d1, %r23, 32; add.u64 %d1, %d0, %d1;
  st.global.v4.u32 [%d1], {%r12, %r13, %r14, %r15}; st.global.v4.u32 [%d1+16], {%r16, %r17, %r21, %r20};
  ret; })";
  memory global;
  const module m = parsed_module(text);
  const std::uint32_t per_block = 5 * 4 * 3, blocks = 2 * 3 * 2;
  const array<std::uint32_t> out(global, per_block * blocks * 8);
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {2, 3, 2};
  l.block = {5, 4, 3};
  const std::uint64_t pointer = out.address();
  l.parameters.resize(8);
  std::memcpy(l.parameters.data(), &pointer, 8);
  run(l, global);
  const auto v = out.values();
  for (std::uint32_t b = 0; b < blocks; ++b)
    for (std::uint32_t t = 0; t < per_block; ++t) {
      const std::uint32_t* const row = &v[(b * per_block + t) * 8];
      const std::uint32_t lane = t % 32;
      CHECK(row[0] == lane);
      CHECK(row[1] == t / 32);
      CHECK(row[2] == 2);
      CHECK(row[3] == (1u << lane) - 1);
      CHECK(row[4] == ~((1u << lane) - 1));
      CHECK(row[5] == 5);
      CHECK(row[6] == t);
      CHECK(row[7] == b);
    }
}
