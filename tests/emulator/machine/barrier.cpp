// The barriers of a block: reductions through shared memory, named barriers, producers and consumers, and
// what cannot complete.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {
const std::string shared_words = ".shared .align 4 .b8 cells[4096];";
const std::string store = "\nmad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r0;";
}  // namespace

TEST_CASE("a tree reduction through shared memory, for any block size") {
  for (const std::uint32_t block : {1u, 31u, 32u, 33u, 100u, 256u, 1024u}) {
    const auto have = results(R"(
      mov.u32 %r9, cells; mad.lo.u32 %r8, %tid_, 4, %r9; add.u32 %r1, %tid_, 1; st.shared.u32 [%r8], %r1;
      mov.u32 %r2, 512;
      step: bar.sync 0;
        add.u32 %r3, %tid_, %r2; setp.lt.u32 %q0, %tid_, %r2; setp.lt.and.u32 %q0, %r3, %ntid_, %q0;
        @!%q0 bra skip;
          mad.lo.u32 %r4, %r3, 4, %r9; ld.shared.u32 %r5, [%r4]; ld.shared.u32 %r6, [%r8];
          add.u32 %r6, %r6, %r5; st.shared.u32 [%r8], %r6;
        skip: shr.u32 %r2, %r2, 1; setp.ne.u32 %q1, %r2, 0; @%q1 bra step;
      bar.sync 0; ld.shared.u32 %r0, [cells];)" +
                                  store,
                              block * 3, {3, block}, shared_words);
    for (const std::uint32_t sum : have) CHECK(sum == block * (block + 1) / 2);
  }
}

TEST_CASE("a barrier after divergence, and in both branches") {
  const auto have = results(R"(
      mov.u32 %r9, cells; mad.lo.u32 %r8, %tid_, 4, %r9;
      and.b32 %r1, %tid_, 1; setp.eq.u32 %q0, %r1, 0; @%q0 bra even; st.shared.u32 [%r8], 5; bra join;
      even: st.shared.u32 [%r8], 6; join:
      bar.sync 0; xor.b32 %r2, %tid_, 33; mad.lo.u32 %r3, %r2, 4, %r9; ld.shared.u32 %r0, [%r3];)" +
                                store,
                            64, {1, 64}, shared_words);
  for (std::uint32_t t = 0; t < 64; ++t) CHECK(have[t] == (t % 2 ? 6u : 5u));
  // barrier.sync without .aligned may be on both sides of a branch.
  const auto both = results(
      "setp.lt.u32 %q0, %tid_, 7; @%q0 bra a; mov.u32 %r0, 1; barrier.sync 0; bra join; a: mov.u32 %r0, 2; "
      "barrier.sync 0; join:" +
          store,
      64, {1, 64});
  for (std::uint32_t t = 0; t < 64; ++t) CHECK(both[t] == (t < 7 ? 2u : 1u));
}

TEST_CASE("threads that have ended are not waited for") {
  const auto have =
      results("setp.ge.u32 %q0, %tid_, 40; @%q0 exit; bar.sync 0; mov.u32 %r0, 9;" + store, 96, {1, 96});
  for (std::uint32_t t = 0; t < 96; ++t) CHECK(have[t] == (t < 40 ? 9u : 0u));
}

TEST_CASE("named barriers with thread counts: producers arrive, consumers wait") {
  // Warp 0 produces, warp 1 consumes, through barriers 1 (full) and 2 (empty), ten times.
  const auto have = results(R"(
      mov.u32 %r9, cells; and.b32 %r7, %tid_, 31; mad.lo.u32 %r8, %r7, 4, %r9; mov.u32 %r0, 0; mov.u32 %r1, 0;
      setp.ge.u32 %q0, %tid_, 32; @%q0 bra consumer;
      produce: bar.sync 2, 64; add.u32 %r2, %r1, %r7; st.shared.u32 [%r8], %r2; bar.arrive 1, 64;
        add.u32 %r1, %r1, 1; setp.lt.u32 %q1, %r1, 10; @%q1 bra produce; bra done;
      consumer: bar.arrive 2, 64; bar.sync 1, 64; ld.shared.u32 %r2, [%r8]; add.u32 %r0, %r0, %r2;
        add.u32 %r1, %r1, 1; setp.lt.u32 %q1, %r1, 10; @%q1 bra consumer;
      done:)" + store,
                            64, {1, 64}, shared_words);
  for (std::uint32_t t = 32; t < 64; ++t) CHECK(have[t] == 45 + 10 * (t - 32));
}

TEST_CASE("a counted barrier of a partial warp counts the warp") {
  const auto have = results("bar.sync 3, 64; mov.u32 %r0, 4;" + store, 50, {1, 50});
  for (const std::uint32_t v : have) CHECK(v == 4);
}

TEST_CASE("barriers that reduce a predicate") {
  const std::string odd = "and.b32 %r1, %tid_, 1; setp.ne.u32 %q0, %r1, 0;";
  const auto each = [&](const std::string& rest, std::uint32_t want) {
    for (const std::uint32_t v : results(odd + rest + store, 96, {1, 96})) CHECK(v == want);
  };
  each("bar.red.popc.u32 %r0, 0, %q0;", 48);
  each("bar.red.popc.u32 %r0, 0, 96, !%q0;", 48);
  each("bar.red.and.pred %q1, 0, %q0; selp.u32 %r0, 1, 2, %q1;", 2);
  each("bar.red.or.pred %q1, 0, %q0; selp.u32 %r0, 1, 2, %q1;", 1);
  each("setp.lt.u32 %q2, %tid_, 96; barrier.red.and.pred %q1, 0, %q2; selp.u32 %r0, 1, 2, %q1;", 1);
}

TEST_CASE("threads that wait for each other for ever are reported, with who waits where") {
  memory global;
  const array<std::uint32_t> out(global, 64);
  const fault_report r =
      fault_of("setp.lt.u32 %q0, %tid_, 32;\n@%q0 bra a;\nbar.sync 1;\nbra b;\na: bar.sync 2;\nb:", global,
               {out.address()}, {1, 64});
  CHECK(r.kind == fault_kind::deadlock);
  CHECK(r.detail.find("warp 0 lanes 0xffffffff wait for barrier 2 (32 of 64 threads have arrived)") !=
        std::string::npos);
  CHECK(r.detail.find("warp 1 lanes 0xffffffff wait for barrier 1 (32 of 64 threads have arrived)") !=
        std::string::npos);
  CHECK(r.detail.find("bar.sync 1;") != std::string::npos);
  // Half of a warp at the barrier, half at a shuffle that names all.
  const fault_report mixed = fault_of(
      "setp.lt.u32 %q0, %tid_, 16; @%q0 bra a; bar.sync 0; bra b; a: shfl.sync.idx.b32 %r0, %r1, 0, 31, -1; "
      "b:",
      global, {out.address()});
  CHECK(mixed.kind == fault_kind::deadlock);
  CHECK(mixed.detail.find("lanes 0x0000ffff wait for lanes 0xffffffff") != std::string::npos);
  // Too few threads for the count.
  const fault_report few =
      fault_of("setp.lt.u32 %q0, %tid_, 32; @%q0 bar.sync 0, 64;", global, {out.address()}, {1, 64});
  CHECK(few.kind == fault_kind::deadlock);
}

TEST_CASE("wrong numbers and counts of barriers are reported") {
  memory global;
  const array<std::uint32_t> out(global, 64);
  CHECK(fault_of("add.u32 %r1, %ntid_, 0; bar.sync %r1;", global, {out.address()}, {1, 64}).kind ==
        fault_kind::barrier);
  CHECK(fault_of("add.u32 %r1, %ntid_, 1; bar.sync 0, %r1;", global, {out.address()}, {1, 64}).kind ==
        fault_kind::barrier);
  CHECK(fault_of("bar.sync 0, 128;", global, {out.address()}, {1, 64}).kind == fault_kind::barrier);
  CHECK(fault_of("setp.lt.u32 %q0, %tid_, 32; selp.u32 %r1, 64, 32, %q0; bar.sync 0, %r1;", global,
                 {out.address()}, {1, 64})
            .kind == fault_kind::barrier);
}
