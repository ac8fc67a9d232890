// Races in shared memory: each kernel that lacks an order is reported, and its twin that has it is clean.

#include "tests/emulator/sanitizer/checked.hpp"

using namespace emulator_test;

namespace {

const checked_launch one_warp{{1, 32}, ".shared .align 16 .b8 cells[4096];"};
const checked_launch four_warps{{2, 128}, ".shared .align 16 .b8 cells[4096];"};
// %r8: the place of this thread, %r7: of its neighbour in the next warp or lane
const std::string places =
    "mov.u32 %r9, cells; mad.lo.u32 %r8, %tid_, 4, %r9; add.u32 %r1, %tid_, 1; rem.u32 %r1, %r1, %ntid_;"
    "mad.lo.u32 %r7, %r1, 4, %r9; mad.lo.u64 %d0, %wide, 4, %p0;\n";
const std::string far_places =
    "mov.u32 %r9, cells; mad.lo.u32 %r8, %tid_, 4, %r9; add.u32 %r1, %tid_, 32; rem.u32 %r1, %r1, %ntid_;"
    "mad.lo.u32 %r7, %r1, 4, %r9; mad.lo.u64 %d0, %wide, 4, %p0;\n";

}  // namespace

TEST_CASE("a write and a read by threads of two warps need a barrier") {
  const auto kernel = [](const std::string& between) {
    return far_places + "st.shared.u32 [%r8], %tid_;\n" + between +
           "\nld.shared.u32 %r2, [%r7];\nst.global.u32 [%d0], %r2;";
  };
  CHECK(is_clean(kernel("bar.sync 0;"), four_warps));
  CHECK(is_clean(kernel("barrier.sync 0;"), four_warps));
  CHECK(is_clean(kernel("bar.sync 3, 128;"), four_warps));
  CHECK(is_clean(kernel("bar.red.popc.u32 %r5, 0, %q0;"), four_warps) == false);  // %q0 was never written
  CHECK(is_clean(kernel("setp.eq.u32 %q0, %tid_, 0; bar.red.popc.u32 %r5, 0, %q0;"), four_warps));
  const auto r = checked(kernel("membar.cta;"), four_warps);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::race);
  // Which of the two comes first is the schedule's choice.
  CHECK(r->ptx_text == "st.shared.u32 [%r8], %tid_;");
  CHECK(r->access == access_kind::write);
  CHECK(r->other.ptx_text == "ld.shared.u32 %r2, [%r7];");
  CHECK(r->other.access == access_kind::read);
  CHECK(r->other.warp != r->warp);
  CHECK(r->space == "shared");
  CHECK(r->object.name == "cells");
  CHECK(contains(r->advice, "bar.sync"));
  CHECK(r->thread.x * 4 == r->address);
  CHECK((r->other.thread.x + 32) % 128 == r->thread.x);
}

TEST_CASE("a read and a later write need a barrier too") {
  const auto kernel = [](const std::string& between) {
    return far_places + "st.shared.u32 [%r8], %tid_;\nbar.sync 0;\nld.shared.u32 %r2, [%r7];\n" + between +
           "\nst.shared.u32 [%r8], %r2;\nst.global.u32 [%d0], %r2;";
  };
  CHECK(is_clean(kernel("bar.sync 0;"), four_warps));
  CHECK(has(kernel(""), fault_kind::race, "st.shared.u32 [%r8], %r2", four_warps));
}

TEST_CASE("lanes of a warp are threads of their own: bar.warp.sync orders them") {
  const auto kernel = [](const std::string& between) {
    return places + "st.shared.u32 [%r8], %tid_;\n" + between +
           "\nld.shared.u32 %r2, [%r7];\nst.global.u32 [%d0], %r2;";
  };
  CHECK(is_clean(kernel("bar.warp.sync -1;"), one_warp));
  CHECK(has(kernel(""), fault_kind::race, "ld.shared.u32 %r2", one_warp));
  const auto r = checked(kernel(""), one_warp);
  REQUIRE(r);
  CHECK(contains(r->advice, "bar.warp.sync"));
}

TEST_CASE("a barrier of some warps orders these and no others") {
  // Warps 0 and 1 meet; warp 2 reads as well.
  const auto kernel = [](const std::string& readers) {
    return far_places +
           "shr.u32 %r3, %tid_, 5;\nsetp.lt.u32 %q0, %r3, 2;\n@%q0 st.shared.u32 [%r8], %tid_;\n" +
           "@%q0 bar.sync 1, 64;\nsetp.lt.u32 %q1, %r3, " + readers +
           ";\nxor.b32 %r4, %tid_, 32;\nmad.lo.u32 %r7, %r4, 4, %r9;\nand.b32 %r7, %r7, 255;\n"
           "@%q1 ld.shared.u32 %r2, [%r7];";
  };
  CHECK(is_clean(kernel("2"), four_warps));
  CHECK(has(kernel("3"), fault_kind::race, "ld.shared.u32 %r2, [%r7]", four_warps));
}

TEST_CASE("who only arrives at a barrier lets others know, and learns nothing") {
  const auto kernel = [](const std::string& tail) {
    return far_places +
           "shr.u32 %r3, %tid_, 5;\nsetp.eq.u32 %q0, %r3, 0;\nsetp.eq.u32 %q1, %r3, 1;\nand.b32 %r4, %tid_, "
           "31;\n"
           "mad.lo.u32 %r5, %r4, 4, %r9;\n"
           "@%q0 st.shared.u32 [%r5], %tid_;\n@%q0 bar.arrive 1, 64;\n@%q1 bar.sync 1, 64;\n"
           "@%q1 ld.shared.u32 %r2, [%r5];\n" +
           tail;
  };
  CHECK(is_clean(kernel(""), four_warps));
  CHECK(has(kernel("@%q0 st.shared.u32 [%r5], 5;"), fault_kind::race, "", four_warps));
}

TEST_CASE("a tree reduction: with its barriers, and with one missing") {
  const auto kernel = [](const std::string& barrier) {
    return "mov.u32 %r9, cells; mad.lo.u32 %r8, %tid_, 4, %r9; st.shared.u32 [%r8], %tid_; mov.u32 %r2, 64;\n"
           "bar.sync 0;\n"
           "step: setp.lt.u32 %q0, %tid_, %r2;\n"
           "add.u32 %r3, %tid_, %r2; mad.lo.u32 %r4, %r3, 4, %r9;\n"
           "@%q0 ld.shared.u32 %r5, [%r4];\n@%q0 ld.shared.u32 %r6, [%r8];\n@%q0 add.u32 %r6, %r6, %r5;\n"
           "@%q0 st.shared.u32 [%r8], %r6;\n" +
           barrier +
           "\nshr.u32 %r2, %r2, 1; setp.ne.u32 %q1, %r2, 0; @%q1 bra step;\n"
           "setp.eq.u32 %q2, %tid_, 0; mad.lo.u64 %d0, %wide, 4, %p0;\n@%q2 ld.shared.u32 %r7, [cells];\n"
           "@%q2 st.global.u32 [%d0], %r7;";
  };
  CHECK(is_clean(kernel("bar.sync 0;"), four_warps));
  CHECK(has(kernel("bar.warp.sync -1;"), fault_kind::race, "", four_warps));
}

TEST_CASE("lanes of one instruction at one place: the same value is reported only when asked for") {
  const std::string different = "st.shared.u32 [cells], %tid_;";
  const std::string same = "st.shared.u32 [cells], 7;";
  CHECK(has(different, fault_kind::race, "st.shared.u32 [cells], %tid_", one_warp));
  CHECK(is_clean(same, one_warp));
  CHECK(is_clean(same, four_warps));
  checked_launch strict = one_warp;
  strict.options.checks.set(check::same_value, true);
  CHECK(has(same, fault_kind::race, "st.shared.u32", strict));
  strict.size = {1, 128};
  CHECK(has("setp.eq.u32 %q0, %tid_, 5; setp.eq.or.u32 %q0, %tid_, 77, %q0; @%q0 st.shared.u32 [cells], 7;",
            fault_kind::race, "st.shared.u32", strict));
  CHECK(is_clean("atom.shared.add.u32 %r1, [cells], 7;", one_warp) == false);  // of uninitialised memory
  CHECK(
      is_clean("setp.eq.u32 %q0, %tid_, 0; @%q0 st.shared.u32 [cells], 0; bar.sync 0; "
               "atom.shared.add.u32 %r1, [cells], 7;",
               four_warps));
}

TEST_CASE("bytes of one word belong to threads of their own") {
  CHECK(is_clean(
      "mov.u32 %r9, cells; add.u32 %r8, %r9, %tid_; cvt.u16.u32 %h1, %tid_; st.shared.u8 [%r8], %h1; "
      "ld.shared.u8 %h2, [%r8]; st.shared.u8 [%r8], %h2;",
      four_warps));
  CHECK(
      has("mov.u32 %r9, cells; add.u32 %r8, %r9, %tid_; cvt.u16.u32 %h1, %tid_;\nst.shared.u8 [%r8], %h1;\n"
          "xor.b32 %r1, %tid_, 1; add.u32 %r8, %r9, %r1;\nld.shared.u8 %h2, [%r8];",
          fault_kind::race, "ld.shared.u8", one_warp));
}

TEST_CASE("atomics do not race with atomics, and do with plain accesses") {
  const std::string zero = "setp.eq.u32 %q0, %tid_, 0; @%q0 st.shared.u32 [cells], 0;\nbar.sync 0;\n";
  CHECK(
      is_clean(zero + "red.shared.add.u32 [cells], 1; bar.sync 0; ld.shared.u32 %r1, [cells];", four_warps));
  const auto r = checked(zero + "red.shared.add.u32 [cells], 1;\nld.shared.u32 %r1, [cells];", four_warps);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::race);
  CHECK(contains(r->ptx_text + r->other.ptx_text, "ld.shared.u32 %r1"));
  CHECK(is_clean(zero + "red.shared.add.u32 [cells], 1;\nld.volatile.shared.u32 %r1, [cells];", four_warps));
}

TEST_CASE("a flag in shared memory: release and acquire, fences, volatile") {
  // Warp 0 writes data and sets the flag, warp 1 waits for it and reads.
  const auto kernel = [](const std::string& set, const std::string& look, const std::string& after) {
    return "mov.u32 %r9, cells; setp.eq.u32 %q0, %tid_, 0; setp.eq.u32 %q1, %tid_, 32;\n"
           "@%q0 st.shared.u32 [cells+512], 0; bar.sync 0;\n"
           "@%q0 st.shared.u32 [cells], 42;\n@!%q0 bra reader;\n" +
           set + "\nbra done;\nreader: @!%q1 bra done;\nspin: " + look +
           "\nsetp.eq.u32 %q2, %r1, 0; @%q2 bra spin;\n" + after + "\nld.shared.u32 %r2, [cells];\ndone:";
  };
  const std::string relaxed = "st.relaxed.cta.shared.u32 [cells+512], 1;";
  const std::string look = "ld.relaxed.cta.shared.u32 %r1, [cells+512];";
  CHECK(is_clean(
      kernel("st.release.cta.shared.u32 [cells+512], 1;", "ld.acquire.cta.shared.u32 %r1, [cells+512];", ""),
      four_warps));
  CHECK(is_clean(kernel("membar.cta; " + relaxed, look, "fence.acq_rel.cta;"), four_warps));
  CHECK(is_clean(kernel("membar.cta; st.volatile.shared.u32 [cells+512], 1;",
                        "ld.volatile.shared.u32 %r1, [cells+512];", "membar.cta;"),
                 four_warps));
  CHECK(has(kernel(relaxed, look, "fence.acq_rel.cta;"), fault_kind::race, "ld.shared.u32 %r2", four_warps));
  CHECK(has(kernel("membar.cta; " + relaxed, look, ""), fault_kind::race, "ld.shared.u32 %r2", four_warps));
}
