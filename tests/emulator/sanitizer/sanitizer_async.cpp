// Asynchronous operations: copies without a wait, mbarriers that order, proxies that need a fence.

#include "tests/emulator/sanitizer/checked.hpp"

using namespace emulator_test;

namespace {

const std::string variables =
    ".shared .align 128 .b8 cells[8192]; .shared .align 8 .b64 full; .shared .align 8 .b64 empty;";
const checked_launch warp_of_cells{{1, 32}, variables};
const checked_launch four_warps{{1, 128}, variables};

// %r8: this thread's 16 bytes in shared memory, %d1: in the source
const std::string places =
    "mov.u32 %r9, cells; mad.lo.u32 %r8, %tid_, 16, %r9; mad.lo.u64 %d1, %wide, 16, %p1;"
    "mad.lo.u64 %d0, %wide, 4, %p0;\n";
const std::string copy = "cp.async.ca.shared.global [%r8], [%d1], 16;\n";
const std::string commit = "cp.async.commit_group;\n";

bool early(const std::string& body, std::string_view line, const checked_launch& how = warp_of_cells) {
  return has(body, fault_kind::asynchronous, line, how);
}

}  // namespace

TEST_CASE("cp.async: its destination is read after its group was waited for") {
  const std::string read = "ld.shared.u32 %r1, [%r8];\n";
  CHECK(is_clean(places + copy + commit + "cp.async.wait_group 0;\n" + read, warp_of_cells));
  CHECK(is_clean(places + copy + "cp.async.wait_all;\n" + read, warp_of_cells));
  CHECK(early(places + copy + commit + read, "ld.shared.u32"));
  CHECK(early(places + copy + commit + "cp.async.wait_group 1;\n" + read, "ld.shared.u32"));
  CHECK(early(places + copy + "cp.async.wait_group 0;\n" + read, "ld.shared.u32"));  // no commit
  CHECK(early(places + copy + commit + "bar.sync 0;\n" + read, "ld.shared.u32"));
  const auto r = checked(places + copy + commit + read, warp_of_cells);
  REQUIRE(r);
  CHECK(contains(r->other.ptx_text, "cp.async.ca"));
  CHECK(r->other.how == "asynchronous write");
  CHECK(r->object.name == "cells");
  CHECK(contains(r->advice, "wait_group"));
}

TEST_CASE("cp.async: two groups, of which the first is waited for") {
  const std::string two = places + copy + commit + "cp.async.ca.shared.global [%r8+4096], [%d1], 16;\n" +
                          commit + "cp.async.wait_group 1;\n";
  CHECK(is_clean(two + "ld.shared.u32 %r1, [%r8];", warp_of_cells));
  CHECK(early(two + "ld.shared.u32 %r1, [%r8+4096];", "ld.shared.u32"));
}

TEST_CASE("cp.async: other threads read after a barrier that follows the wait") {
  const auto kernel = [](const std::string& between) {
    return places + copy + commit + between +
           "\nxor.b32 %r1, %tid_, 32; mad.lo.u32 %r2, %r1, 16, %r9;\nld.shared.u32 %r3, [%r2];";
  };
  CHECK(is_clean(kernel("cp.async.wait_group 0; bar.sync 0;"), four_warps));
  CHECK(early(kernel("bar.sync 0; cp.async.wait_group 0;"), "ld.shared.u32 %r3", four_warps));
  CHECK(early(kernel("cp.async.wait_group 0;"), "", four_warps));
}

TEST_CASE("cp.async: neither its source nor its destination is written before the wait") {
  CHECK(early(places + copy + commit + "st.global.u32 [%d1], 5;", "st.global.u32"));
  CHECK(early(places + copy + commit + "st.shared.u32 [%r8], 5;", "st.shared.u32"));
  CHECK(is_clean(
      places + copy + commit + "cp.async.wait_all;\nst.global.u32 [%d1], 5;\nst.shared.u32 [%r8], 5;",
      warp_of_cells));
  CHECK(is_clean(places + copy + commit + "ld.global.u32 %r1, [%d1];", warp_of_cells));
}

TEST_CASE("a pipeline of two stages: with its barriers, and without the one after the reads") {
  const auto kernel = [](const std::string& behind) {
    return places + "mov.u32 %r10, 0;\n" + copy + commit +
           "round: add.u32 %r11, %r10, 1; and.b32 %r12, %r11, 1; mad.lo.u32 %r13, %r12, 4096, %r8;\n"
           "cp.async.ca.shared.global [%r13], [%d1], 16;\n" +
           commit +
           "cp.async.wait_group 1;\nbar.sync 0;\n"
           "and.b32 %r14, %r10, 1; xor.b32 %r15, %tid_, 32; mad.lo.u32 %r16, %r15, 16, %r9;"
           "mad.lo.u32 %r16, %r14, 4096, %r16;\nld.shared.u32 %r17, [%r16];\n" +
           behind + "\nmov.u32 %r10, %r11;\nsetp.lt.u32 %q0, %r10, 4;\n@%q0 bra round;\ncp.async.wait_all;";
  };
  CHECK(is_clean(kernel("bar.sync 0;"), four_warps));
  CHECK(early(kernel(""), "", four_warps));
}

TEST_CASE("an mbarrier orders what came before its arrivals, and what comes after its waits") {
  const auto kernel = [](const std::string& arrive, const std::string& wait) {
    return places +
           "setp.eq.u32 %q0, %tid_, 0;\n@%q0 mbarrier.init.shared.b64 [full], 128;\nbar.sync 0;\n"
           "st.shared.u32 [%r8], %tid_;\n" +
           arrive + "\n" + wait +
           "\nxor.b32 %r1, %tid_, 64; mad.lo.u32 %r2, %r1, 16, %r9;\nld.shared.u32 %r3, [%r2];";
  };
  const std::string arrive = "mbarrier.arrive.shared.b64 %d5, [full];";
  const std::string wait = "wait: mbarrier.try_wait.shared.b64 %q1, [full], %d5;\n@!%q1 bra wait;";
  CHECK(is_clean(kernel(arrive, wait), four_warps));
  CHECK(
      is_clean(kernel(arrive, "wait: mbarrier.test_wait.parity.shared.b64 %q1, [full], 0;\n@!%q1 bra wait;"),
               four_warps));
  CHECK(has(kernel(arrive, ""), fault_kind::race, "", four_warps));
}

TEST_CASE("producers and consumers: full and empty mbarriers") {
  // Warp 0 fills, warps 1 to 3 read and hand back, eight times.
  const auto kernel = [](const std::string& hand_back, const std::string& wait_empty) {
    return places +
           "setp.eq.u32 %q0, %tid_, 0;\n@%q0 mbarrier.init.shared.b64 [full], 32;\n"
           "@%q0 mbarrier.init.shared.b64 [empty], 96;\nbar.sync 0;\nmov.u32 %r10, 0;\n"
           "setp.ge.u32 %q2, %tid_, 32;\n@%q2 bra consume;\n"
           "fill: and.b32 %r11, %r10, 1; xor.b32 %r12, %r11, 1;\n" +
           wait_empty +
           "\nst.shared.u32 [%r8], %r10;\nmbarrier.arrive.shared.b64 _, [full];\n"
           "add.u32 %r10, %r10, 1; setp.lt.u32 %q3, %r10, 8;\n@%q3 bra fill;\nbra done;\n"
           "consume: and.b32 %r11, %r10, 1; and.b32 %r13, %tid_, 31; mad.lo.u32 %r14, %r13, 16, %r9;\n"
           "wait: mbarrier.try_wait.parity.shared.b64 %q1, [full], %r11;\n@!%q1 bra wait;\n"
           "ld.shared.u32 %r15, [%r14];\n" +
           hand_back + "\nadd.u32 %r10, %r10, 1; setp.lt.u32 %q3, %r10, 8;\n@%q3 bra consume;\ndone:";
  };
  const std::string hand_back = "mbarrier.arrive.shared.b64 _, [empty];";
  const std::string wait = "room: mbarrier.try_wait.parity.shared.b64 %q1, [empty], %r12;\n@!%q1 bra room;";
  CHECK(is_clean(kernel(hand_back, wait), four_warps));
  CHECK(has(kernel(hand_back, ""), fault_kind::race, "", four_warps));
}

TEST_CASE("cp.async that arrives at an mbarrier") {
  const auto kernel = [](const std::string& arrive, const std::string& wait) {
    return places + "setp.eq.u32 %q0, %tid_, 0;\n@%q0 mbarrier.init.shared.b64 [full], 128;\nbar.sync 0;\n" +
           copy + arrive + "\n" + wait +
           "\nxor.b32 %r1, %tid_, 64; mad.lo.u32 %r2, %r1, 16, %r9;\nld.shared.u32 %r3, [%r2];";
  };
  const std::string wait = "wait: mbarrier.try_wait.parity.shared.b64 %q1, [full], 0;\n@!%q1 bra wait;";
  CHECK(is_clean(kernel("cp.async.mbarrier.arrive.noinc.shared.b64 [full];", wait), four_warps));
  CHECK(early(kernel("mbarrier.arrive.shared.b64 _, [full];", wait), "ld.shared.u32", four_warps));
}

TEST_CASE("a bulk copy into shared memory is waited for at its mbarrier") {
  const auto kernel = [](const std::string& wait) {
    return places +
           "setp.eq.u32 %q0, %tid_, 0;\n@%q0 mbarrier.init.shared.b64 [full], 1;\nbar.sync 0;\n@!%q0 bra "
           "issued;\n"
           "mbarrier.arrive.expect_tx.shared.b64 _, [full], 2048;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%p1], 2048, [full];\n"
           "issued:\n" +
           wait + "\nld.shared.u32 %r3, [%r8];";
  };
  CHECK(is_clean(kernel("wait: mbarrier.try_wait.parity.shared.b64 %q1, [full], 0;\n@!%q1 bra wait;"),
                 four_warps));
  CHECK(early(kernel("bar.sync 0;"), "ld.shared.u32", four_warps));
  const auto r = checked(kernel("bar.sync 0;"), four_warps);
  REQUIRE(r);
  CHECK(contains(r->other.ptx_text, "cp.async.bulk"));
  CHECK(contains(r->advice, "mbarrier"));
}

TEST_CASE("a bulk copy overwrites what consumers still read, unless they hand it back") {
  const auto kernel = [](const std::string& between) {
    return places +
           "setp.eq.u32 %q0, %tid_, 0;\n@%q0 mbarrier.init.shared.b64 [full], 1;\nst.shared.u32 [%r8], "
           "1;\nbar.sync 0;\n"
           "ld.shared.u32 %r4, [%r8];\n" +
           between +
           "\n@!%q0 bra issued;\n"
           "mbarrier.arrive.expect_tx.shared.b64 _, [full], 2048;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%p1], 2048, [full];\n"
           "issued:";
  };
  CHECK(is_clean(kernel("bar.sync 0;"), four_warps));
  CHECK(has(kernel(""), fault_kind::asynchronous, "", four_warps));
}

TEST_CASE("a bulk copy out of shared memory sees what was written before fence.proxy.async") {
  const auto kernel = [](const std::string& before, const std::string& after, const std::string& last) {
    return places + "setp.eq.u32 %q0, %tid_, 0;\nst.shared.v4.u32 [%r8], {%tid_, %tid_, %tid_, %tid_};\n" +
           before + "\nbar.sync 0;\n@!%q0 bra issued;\n" + after +
           "\ncp.async.bulk.global.shared::cta.bulk_group [%p0], [cells], "
           "2048;\ncp.async.bulk.commit_group;\n" +
           last + "\nissued:";
  };
  const std::string wait = "cp.async.bulk.wait_group 0;";
  CHECK(is_clean(kernel("fence.proxy.async;", "", wait), four_warps));
  CHECK(is_clean(kernel("fence.proxy.async.shared::cta;", "", wait), four_warps));
  CHECK(is_clean(kernel("", "fence.proxy.async;", wait), four_warps));
  const auto r = checked(kernel("", "", wait), four_warps);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::asynchronous);
  CHECK(contains(r->detail, "fence.proxy.async"));
  CHECK(contains(r->other.ptx_text, "st.shared.v4"));
  CHECK(early(kernel("fence.proxy.alias;", "", wait), "cp.async.bulk.global", four_warps));
  // The source may be written again when it was read.
  const std::string again = "\nst.shared.u32 [cells], 1;";
  CHECK(is_clean(kernel("fence.proxy.async;", "", "cp.async.bulk.wait_group.read 0;" + again), four_warps));
  CHECK(early(kernel("fence.proxy.async;", "", again), "st.shared.u32 [cells]", four_warps));
}

TEST_CASE("a bulk copy out of shared memory is waited for before its block ends") {
  const auto kernel = [](const std::string& behind) {
    return places +
           "st.shared.u32 [%r8], 1; fence.proxy.async; bar.sync 0; setp.eq.u32 %q0, %tid_, 0;\n"
           "@!%q0 bra DONE;\ncp.async.bulk.global.shared::cta.bulk_group [%p0], [%r9], 16;\n" +
           behind + "\nDONE:";
  };
  const std::string commit_bulk = "cp.async.bulk.commit_group;\n", line = "cp.async.bulk.global";
  CHECK(is_clean(kernel(commit_bulk + "cp.async.bulk.wait_group 0;"), warp_of_cells));
  CHECK(is_clean(kernel(commit_bulk + "cp.async.bulk.wait_group.read 0;"), warp_of_cells));
  CHECK(early(kernel(""), line));
  CHECK(early(kernel(commit_bulk), line));
  CHECK(early(kernel("cp.async.bulk.wait_group 0;"), line));  // no commit
  CHECK(early(kernel(commit_bulk + "cp.async.bulk.wait_group.read 1;"), line));
  CHECK(contains(checked(kernel(""), warp_of_cells)->advice, "wait_group.read"));
}

TEST_CASE("a bulk copy of shared memory that nobody wrote") {
  CHECK(
      has("setp.eq.u32 %q0, %tid_, 0;\n@!%q0 bra done;\n"
          "cp.async.bulk.global.shared::cta.bulk_group [%p0], [cells], 2048;\n"
          "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\ndone:",
          fault_kind::uninitialised, "cp.async.bulk.global", four_warps));
}

TEST_CASE("distributed shared memory: blocks of a cluster are ordered by barrier.cluster") {
  const auto kernel = [](const std::string& between, const std::string& last) {
    return "mov.u32 %r9, cells; mad.lo.u32 %r8, %tid_, 4, %r9; mov.u32 %r1, %cluster_ctarank;\n"
           "st.shared.u32 [%r8], %r1;\n" +
           between +
           "\nxor.b32 %r2, %r1, 1; mapa.shared::cluster.u32 %r3, %r8, %r2;\nld.shared::cluster.u32 %r4, "
           "[%r3];\n" +
           last;
  };
  checked_launch pair{{2, 64}, variables};
  pair.cluster = {2, 1, 1};
  const std::string meet = "barrier.cluster.arrive; barrier.cluster.wait;";
  CHECK(is_clean(kernel(meet, meet), pair));
  CHECK(is_clean(kernel("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;", meet), pair));
  const auto r = checked(kernel("bar.sync 0;", meet), pair);
  REQUIRE(r);
  CHECK((r->kind == fault_kind::race || r->kind == fault_kind::uninitialised));
  CHECK(
      has(kernel("barrier.cluster.arrive.relaxed; barrier.cluster.wait;", meet), fault_kind::race, "", pair));
}

TEST_CASE("wgmma: registers of a product, its fence, its commit and its wait") {
  const auto kernel = [](const std::string& before, const std::string& commit_group,
                         const std::string& wait) {
    std::string text =
        places +
        "mov.u32 %r20, 0;\nfill: mad.lo.u32 %r21, %tid_, 4, %r9; mad.lo.u32 %r21, %r20, 512, %r21;\n"
        "st.shared.u32 [%r21], 0; add.u32 %r20, %r20, 1; setp.lt.u32 %q0, %r20, 16; @%q0 bra fill;\n"
        "fence.proxy.async; bar.sync 0;\n";
    for (const char* r : {"%f1", "%f2", "%f3", "%f4"})
      text += std::string("mov.f32 ") + r + ", 0f00000000;\n";
    // K-major, no swizzle: cells at 0 and at 2048.
    text += "cvt.u64.u32 %d5, %r9; shr.u64 %d5, %d5, 4; or.b64 %d6, %d5, 0x0000000800080000;\n";
    text += before +
            "\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d6, %d6, 1, 1, 1, 0, "
            "0;\n" +
            commit_group + "\n" + wait + "\nst.global.f32 [%d0], %f1;";
    return text;
  };
  const std::string fence = "wgmma.fence.sync.aligned;", commit_group = "wgmma.commit_group.sync.aligned;",
                    wait = "wgmma.wait_group.sync.aligned 0;";
  CHECK(is_clean(kernel(fence, commit_group, wait), four_warps));
  CHECK(early(kernel("", commit_group, wait), "wgmma.mma_async", four_warps));
  CHECK(early(kernel(fence + " add.f32 %f1, %f1, %f1;", commit_group, wait), "wgmma.mma_async", four_warps));
  CHECK(early(kernel(fence, commit_group, ""), "st.global.f32", four_warps));
  CHECK(early(kernel(fence, "", wait), "st.global.f32", four_warps));
  CHECK(early(kernel(fence, commit_group, "wgmma.wait_group.sync.aligned 1;"), "st.global.f32", four_warps));
  CHECK(early(kernel(fence, commit_group, "mov.f32 %f2, 0f00000000; " + wait), "mov.f32 %f2", four_warps));
  CHECK(early(kernel(fence, commit_group, "st.shared.u32 [%r8], 1; " + wait), "st.shared.u32 [%r8]",
              four_warps));
  const auto r = checked(kernel("", commit_group, wait), four_warps);
  REQUIRE(r);
  CHECK(contains(r->advice, "wgmma.fence"));
}

TEST_CASE("an mbarrier is initialised a second time only after it was invalidated") {
  const std::string once = "setp.ne.u32 %q1, %tid_, 0; @%q1 ret;\nmbarrier.init.shared.b64 [full], 1;\n";
  const std::string again = "mbarrier.init.shared.b64 [full], 2;\n";
  CHECK(is_clean(once + "mbarrier.inval.shared.b64 [full];\n" + again, warp_of_cells));
  CHECK(has(once + again, fault_kind::mbarrier, "[full], 2", warp_of_cells));
  const auto r = checked(once + again, warp_of_cells);
  REQUIRE(r);
  CHECK(contains(r->detail, "a second time without mbarrier.inval"));
  CHECK(r->object.name == "full");
  checked_launch others = warp_of_cells;
  others.options.checks = sanitizer_options::parse_checks("all,-async", "this test");
  CHECK(is_clean(once + again, others));
}
