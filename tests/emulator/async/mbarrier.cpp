// mbarriers: phases over many rounds against a model, tokens and parities, remote arrivals, use against the
// rules, and deadlocks whose report lists which threads wait for which phase.

#include "tests/emulator/async/async_kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

const std::string shared =
    ".shared .align 8 .b64 mb; .shared .align 8 .b64 other; .shared .align 16 .b8 sm[1024];";

// The first thread initialises the mbarrier; then all continue.
std::string initialised(const std::string& count) {
  return "setp.ne.u32 %q31, %tid_, 0; @%q31 bra ready; mbarrier.init.shared.b64 [mb], " + count +
         "; ready: bar.sync 0;\n";
}

fault_report fault_with(const std::string& body, const async_shape& s = {}) {
  memory global;
  const array<std::uint32_t> out(global, 1024);
  return async_fault(async_module(body, 1, shared), global, {out.address()}, s);
}

}  // namespace

TEST_CASE("an mbarrier of all threads orders many rounds, by state and by parity, in every schedule") {
  // Each round every thread writes a word, arrives, waits, and reads that of another thread.
  for (const bool parity : {false, true}) {
    const std::string wait = parity
                                 ? "and.b32 %r9, %r10, 1; mbarrier.arrive.shared.b64 _, [mb];\n"
                                   "spin: mbarrier.try_wait.parity.shared.b64 %q0, [mb], %r9; @!%q0 bra spin;"
                                 : "mbarrier.arrive.shared.b64 %d5, [mb];\n"
                                   "spin: mbarrier.test_wait.shared.b64 %q0, [mb], %d5; @!%q0 bra spin;";
    const module m = async_module(initialised("96") + R"(
        mov.u32 %r1, sm; mad.lo.u32 %r2, %tid_, 4, %r1; mov.u32 %r10, 0; mov.u32 %r11, %tid_;
        round: and.b32 %r3, %r10, 1; mul.lo.u32 %r3, %r3, 512; add.u32 %r4, %r2, %r3;
        st.shared.u32 [%r4], %r11;)" + wait +
                                      R"(
        add.u32 %r5, %tid_, 37; rem.u32 %r5, %r5, 96; mad.lo.u32 %r5, %r5, 4, %r3; add.u32 %r5, %r5, %r1;
        ld.shared.u32 %r6, [%r5]; mad.lo.u32 %r11, %r11, 3, %r6;
        add.u32 %r10, %r10, 1; setp.lt.u32 %q1, %r10, 25; @%q1 bra round;
        mad.wide.u32 %d1, %tid_, 4, %p0; st.global.u32 [%d1], %r11;)",
                                  1, shared);
    std::vector<std::uint32_t> want(96);
    for (std::uint32_t t = 0; t < 96; ++t) want[t] = t;
    for (int round = 0; round < 25; ++round) {
      const auto before = want;
      for (std::size_t t = 0; t < 96; ++t) want[t] = before[t] * 3 + before[(t + 37) % 96];
    }
    for (const schedule& s : schedules()) {
      memory global;
      const array<std::uint32_t> out(global, 96);
      run_async(m, global, {out.address()}, {1, 96, 0, 0, s});
      CHECK(out.values() == want);
    }
  }
}

TEST_CASE("the state that an arrival returns has the phase and what was pending") {
  // One lane does it all: arrivals of a phase of five, and the results of tests in between.
  const module m = async_module(
      R"(setp.ne.u32 %q31, %tid_, 0; @%q31 bra done; mbarrier.init.shared.b64 [mb], 5;
      mbarrier.arrive.noComplete.shared.b64 %d1, [mb], 2; mbarrier.pending_count.b64 %r1, %d1;
      st.global.u32 [%p0], %r1;
      mbarrier.arrive.shared.b64 %d2, [mb]; mbarrier.pending_count.b64 %r1, %d2; st.global.u32 [%p0+4], %r1;
      mbarrier.test_wait.shared.b64 %q0, [mb], %d1; selp.u32 %r1, 1, 0, %q0; st.global.u32 [%p0+8], %r1;
      mbarrier.test_wait.parity.shared.b64 %q0, [mb], 1; selp.u32 %r1, 1, 0, %q0; st.global.u32 [%p0+12], %r1;
      mbarrier.test_wait.parity.shared.b64 %q0, [mb], 0; selp.u32 %r1, 1, 0, %q0; st.global.u32 [%p0+16], %r1;
      mbarrier.arrive.release.cta.shared::cta.b64 %d3, [mb], 2;
      mbarrier.test_wait.shared.b64 %q0, [mb], %d1; selp.u32 %r1, 1, 0, %q0; st.global.u32 [%p0+20], %r1;
      mbarrier.try_wait.parity.shared.b64 %q0, [mb], 0; selp.u32 %r1, 1, 0, %q0; st.global.u32 [%p0+24], %r1;
      mbarrier.test_wait.parity.shared.b64 %q0, [mb], 1; selp.u32 %r1, 1, 0, %q0; st.global.u32 [%p0+28], %r1;
      mbarrier.inval.shared.b64 [mb]; mbarrier.init.shared.b64 [mb], 1;
      mbarrier.arrive.shared.b64 %d4, [mb]; mbarrier.test_wait.shared.b64 %q0, [mb], %d4;
      selp.u32 %r1, 1, 0, %q0;
      st.global.u32 [%p0+32], %r1; done:)",
      1, shared);
  memory global;
  const array<std::uint32_t> out(global, 9);
  run_async(m, global, {out.address()});
  CHECK(out.values() == std::vector<std::uint32_t>{5, 3, 0, 1, 0, 1, 1, 0, 1});
}

TEST_CASE("arrivals that drop lower what later phases expect") {
  // Thread t takes part in t + 1 rounds.
  const module m = async_module(initialised("32") + R"(
      mov.u32 %r10, 0; mov.u32 %r11, 0;
      round: setp.eq.u32 %q0, %r10, %tid_; @%q0 bra last; mbarrier.arrive.shared.b64 %d1, [mb];
      wait: mbarrier.try_wait.shared.b64 %q1, [mb], %d1, 100; @!%q1 bra wait;
      add.u32 %r10, %r10, 1; bra round;
      last: mbarrier.arrive_drop.shared.b64 %d1, [mb]; mad.wide.u32 %d2, %tid_, 4, %p0;
      st.global.u32 [%d2], %r10;)",
                                1, shared);
  for (const schedule& s : schedules()) {
    memory global;
    const array<std::uint32_t> out(global, 32);
    run_async(m, global, {out.address()}, {1, 32, 0, 0, s});
    for (std::uint32_t t = 0; t < 32; ++t) CHECK(out.values()[t] == t);
  }
}

TEST_CASE("a phase waits for its expected bytes too, whatever comes first") {
  for (const std::string order : {"complete expect", "expect complete"}) {
    const std::string complete = "mbarrier.complete_tx.relaxed.cta.shared.b64 [mb], 48;";
    const std::string expect = "mbarrier.expect_tx.shared.b64 [mb], 48;";
    const module m =
        async_module(initialised("2") + R"(setp.ge.u32 %q1, %tid_, 32; @%q1 bra waits; @%q31 bra done;
        mbarrier.arrive.shared.b64 _, [mb];)" +
                         (order[0] == 'c' ? complete + expect : expect + complete) +
                         R"(mbarrier.arrive.expect_tx.shared.b64 %d1, [mb], 16;
        mbarrier.test_wait.shared.b64 %q2, [mb], %d1; selp.u32 %r1, 1, 0, %q2; st.global.u32 [%p0], %r1;
        mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [mb], 16; bra done;
        waits: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q2, [mb], 0; @!%q2 bra waits;
        mov.u32 %r1, 5; st.global.u32 [%p0+4], %r1; done:)",
                     1, shared);
    memory global;
    const array<std::uint32_t> out(global, 2);
    run_async(m, global, {out.address()}, {1, 64});
    CHECK(out.values() == std::vector<std::uint32_t>{0, 5});
  }
}

TEST_CASE("blocks of a cluster arrive at each other's mbarriers") {
  // Block r waits for all threads of all blocks at its own mbarrier, then reads what they left in its memory.
  const module m = async_module(
      R"(.reg .b32 %rank, %ranks; mov.u32 %rank, %cluster_ctarank; mov.u32 %ranks, %cluster_nctarank;
      setp.ne.u32 %q31, %tid_, 0; @%q31 bra ready; mul.lo.u32 %r1, %ranks, 32;
      mbarrier.init.shared.b64 [mb], %r1;
      fence.mbarrier_init.release.cluster; ready: barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      mov.u32 %r10, 0;
      send: mapa.shared::cluster.u32 %r2, mb, %r10; mapa.shared::cluster.u32 %r3, sm, %r10;
      mad.lo.u32 %r4, %rank, 4, %r3; mov.u32 %r5, 1; red.relaxed.cluster.shared::cluster.add.u32 [%r4], %r5;
      mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
      add.u32 %r10, %r10, 1; setp.lt.u32 %q0, %r10, %ranks; @%q0 bra send;
      wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q1, [mb], 0; @!%q1 bra wait;
      @%q31 bra done; mov.u32 %r10, 0; mov.u32 %r11, 0;
      sum: mov.u32 %r1, sm; mad.lo.u32 %r1, %r10, 4, %r1; ld.shared.u32 %r2, [%r1];
      mad.lo.u32 %r11, %r11, 100, %r2;
      add.u32 %r10, %r10, 1; setp.lt.u32 %q0, %r10, %ranks; @%q0 bra sum;
      mad.wide.u32 %d1, %ctaid_, 4, %p0; st.global.u32 [%d1], %r11;
      done: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;)",
      1, shared);
  for (const schedule& s : schedules()) {
    memory global;
    const array<std::uint32_t> out(global, 8);
    run_async(m, global, {out.address()}, {8, 32, 4, 0, s});
    CHECK(out.values() == std::vector<std::uint32_t>(8, 32323232));
  }
}

TEST_CASE("mbarriers that are used against the rules are reported") {
  struct row {
    std::string text;
    std::string part;
  };
  const std::string once = "setp.ne.u32 %q31, %tid_, 0; @%q31 ret; ";
  const row rows[] = {
      {"mbarrier.arrive.shared.b64 _, [mb];", "('mb'), which is not initialised"},
      {"mbarrier.try_wait.parity.shared.b64 %q0, [sm+16], 0;", "('sm' + 16), which is not initialised"},
      {once + "mbarrier.init.shared.b64 [mb], 0;", "0 expected arrivals"},
      {once + "mbarrier.init.shared.b64 [mb], 1048576;", "1048576 expected arrivals"},
      {once + "mbarrier.init.shared.b64 [mb], 3; mbarrier.arrive.shared.b64 _, [mb], 4;", "only 3 of them"},
      {once + "mbarrier.init.shared.b64 [mb], 3; mbarrier.arrive.shared.b64 _, [mb], 0;", "the count 0"},
      {once + "mbarrier.init.shared.b64 [mb], 2; mbarrier.arrive.noComplete.shared.b64 %d1, [mb], 2;",
       ".noComplete is the last one"},
      {once + "mbarrier.init.shared.b64 [mb], 2; mbarrier.expect_tx.shared.b64 [mb], 1048576;",
       "at most 1048575"},
      {once + "mbarrier.init.shared.b64 [mb], 2; mbarrier.expect_tx.shared.b64 [mb], 1048575;"
              "mbarrier.expect_tx.shared.b64 [mb], 1;",
       "expects 1048575 bytes already"},
      {once + "mbarrier.init.shared.b64 [mb], 2; mbarrier.complete_tx.shared.b64 [mb], 1048575;"
              "mbarrier.complete_tx.shared.b64 [mb], 1;",
       "too many"},
      {once + "mbarrier.init.shared.b64 [mb], 2; mbarrier.test_wait.parity.shared.b64 %q0, [mb], 2;",
       "phase parity 2"},
      {once + "mbarrier.init.shared.b64 [mb], 1; mbarrier.arrive.shared.b64 %d1, [mb]; "
              "mbarrier.arrive.shared.b64 _,"
              "[mb]; mbarrier.test_wait.shared.b64 %q0, [mb], %d1;",
       "neither the present one, 2, nor the one before"},
      {once + "mbarrier.init.shared.b64 [mb], 1; mov.u32 %r1, 3; st.shared.u32 [mb], %r1;"
              "mbarrier.arrive.shared.b64 %d1, [mb];",
       "overwritten"},
      {once + "mbarrier.init.shared.b64 [mb], 1; mbarrier.inval.shared.b64 [mb]; mbarrier.inval.shared.b64 "
              "[mb];",
       "not initialised"},
      {"mbarrier.arrive.b64 _, [%p0];", "mbarriers are in shared memory"},
  };
  for (const row& r : rows) {
    INFO(r.text);
    const fault_report report = fault_with(r.text);
    CHECK(report.kind == fault_kind::mbarrier);
    CHECK(contains(report.detail, r.part));
    CHECK(report.ptx_line != 0);
  }
  CHECK(fault_with("mbarrier.init.shared.b64 [mb+4], 1;").kind == fault_kind::misaligned);
  CHECK(fault_with("mbarrier.init.shared.b64 [mb+8192], 1;").kind == fault_kind::out_of_bounds);
}

TEST_CASE("an mbarrier that is initialised again begins anew, and those who wait for it try again") {
  // Lane 0 waits for 2 arrivals, lane 1 makes it 1 and arrives.
  const module m = async_module(initialised("2") + R"(
      setp.ne.u32 %q1, %tid_, 0; @%q1 bra other;
      wait: mbarrier.try_wait.parity.shared.b64 %q2, [mb], 0; @!%q2 bra wait;
      mov.u32 %r1, 7; st.global.u32 [%p0], %r1; bra done;
      other: mbarrier.init.shared.b64 [mb], 1; mbarrier.arrive.shared.b64 _, [mb]; done:)",
                                1, shared);
  for (const schedule& s : schedules()) {
    memory global;
    const array<std::uint32_t> out(global, 1);
    run_async(m, global, {out.address()}, {1, 2, 0, 0, s});
    CHECK(out.values()[0] == 7);
  }
}

TEST_CASE("a deadlock names the mbarrier, its phase, and what it still waits for") {
  const std::string wait = "wait: mbarrier.try_wait.parity.shared.b64 %q1, [mb], 0; @!%q1 bra wait;";
  const fault_report arrivals =
      fault_with(initialised("33") + "mbarrier.arrive.shared.b64 _, [mb];\n" + wait);
  CHECK(arrivals.kind == fault_kind::deadlock);
  CHECK(contains(arrivals.detail,
                 "phase 0 of the mbarrier at shared address 0x0 ('mb') (32 of 33 arrivals have come)"));
  CHECK(contains(arrivals.ptx_text, "try_wait"));

  const fault_report bytes = fault_with(
      initialised("1") +
      "setp.ne.u32 %q2, %tid_, 0; @%q2 bra wait; mbarrier.arrive.expect_tx.shared.b64 _, [mb], 512;\n" +
      "mbarrier.complete_tx.shared.b64 [mb], 128;\n" + wait);
  CHECK(bytes.kind == fault_kind::deadlock);
  CHECK(contains(bytes.detail, "384 expected bytes were not written"));

  // Some wait at a barrier of the block, others for a phase.
  const fault_report mixed = fault_with(
      initialised("2") +
      "setp.ge.u32 %q2, %tid_, 32; @%q2 bar.sync 0; mbarrier.try_wait.parity.shared.b64 %q1, [other], 0;");
  CHECK(mixed.kind == fault_kind::mbarrier);
  const fault_report both =
      fault_with(initialised("2") + "setp.ge.u32 %q2, %tid_, 32; @%q2 bar.sync 0;\n" + wait, {1, 64});
  CHECK(both.kind == fault_kind::deadlock);
  CHECK(contains(both.detail, "wait for barrier 0 (32 of 64 threads have arrived)"));
  CHECK(contains(both.detail, "phase 0"));

  const fault_report spins = fault_with(
      initialised("33") + "wait: mbarrier.test_wait.parity.shared.b64 %q1, [mb], 0; @!%q1 bra wait;");
  CHECK(spins.kind == fault_kind::deadlock);
}

TEST_CASE("a wait that finds nobody to wait for ends without success, as after its time limit") {
  // Counts its attempts and gives up.
  const module m = async_module(initialised("2") + R"(
      mov.u32 %r1, 0;
      try: mbarrier.try_wait.parity.shared.b64 %q1, [mb], 0, 1000; @%q1 bra done;
      add.u32 %r1, %r1, 1; setp.lt.u32 %q2, %r1, 50; @%q2 bra try;
      done: mad.wide.u32 %d1, %tid_, 4, %p0; st.global.u32 [%d1], %r1;)",
                                1, shared);
  memory global;
  const array<std::uint32_t> out(global, 32);
  run_async(m, global, {out.address()});
  CHECK(out.values() == std::vector<std::uint32_t>(32, 50));
}

TEST_CASE("lanes that test a phase in a loop let the other lanes of their warp go on") {
  // Lane 0 spins below the place where lane 1 arrives.
  const module m = async_module(initialised("1") + R"(
      setp.ne.u32 %q1, %tid_, 0; @%q1 bra other; mov.u32 %r1, 0;
      spin: add.u32 %r1, %r1, 1; mbarrier.test_wait.parity.shared.b64 %q2, [mb], 0; @!%q2 bra spin;
      st.global.u32 [%p0], %r1; bra done;
      other: mbarrier.arrive.shared.b64 _, [mb]; done:)",
                                1, shared);
  memory global;
  const array<std::uint32_t> out(global, 1);
  run_async(m, global, {out.address()}, {1, 2});
  CHECK(out.values()[0] > 0);
}
