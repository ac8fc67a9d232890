// Clusters: their special registers, shared memory of other blocks, barrier.cluster, and the forms that are refused.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

struct cluster_shape {
  kaio::ptx::dim3 grid, cluster{0, 0, 0};
  std::uint32_t block = 32;
};

std::vector<std::uint32_t> run_cluster(const module& m, std::size_t count, const cluster_shape& s) {
  memory global;
  const array<std::uint32_t> out(global, count);
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = s.grid;
  l.block = {s.block, 1, 1};
  l.cluster = s.cluster;
  l.instruction_limit = 1u << 20;
  l.parameters.resize(8);
  const std::uint64_t address = out.address();
  std::memcpy(l.parameters.data(), &address, 8);
  run(l, global);
  return out.values();
}

std::string refusal(const module& m, const cluster_shape& s) {
  try {
    run_cluster(m, 1, s);
  } catch (const launch_error& e) {
    return e.what();
  }
  FAIL("accepted");
  return {};
}

fault_report fault_in(const module& m, const cluster_shape& s) {
  try {
    run_cluster(m, 4096, s);
  } catch (const fault& e) {
    CHECK(contains(e.what(), "kaio: "));
    return e.report();
  }
  FAIL("no fault");
  return {};
}

// Stores %r1 at word number (linear block index) * 32 + lane.
constexpr const char* store_result =
    "mov.u32 %r60, %ctaid.y; mov.u32 %r61, %nctaid.x; mad.lo.u32 %r62, %r60, %r61, %ctaid_;\n"
    "shl.b32 %r62, %r62, 5; add.u32 %r62, %r62, %tid_; mul.wide.u32 %d60, %r62, 4; add.u64 %p0, %p0, %d60;\n"
    "st.global.u32 [%p0], %r1;\n";

std::string text(const std::string& body, const std::string& declarations = "",
                 const std::string& directive = "") {
  std::string result = kernel_text(body + store_result, 1, declarations);
  const std::size_t at = result.find(".reg .b64 %d<32>");
  if (at != std::string::npos) result.replace(at, std::string(".reg .b64 %d<32>").size(), ".reg .b64 %d<64>");
  if (!directive.empty()) result.insert(result.find(") {") + 1, " " + directive);
  return result;
}

}  // namespace

TEST_CASE("special registers of a cluster", "[cluster]") {
  const auto value_of = [](const char* name) {
    const module m = parsed_module(text("mov.u32 %r1, " + std::string(name) + ";"));
    return run_cluster(m, 6 * 4 * 32, {{6, 4, 1}, {3, 2, 1}});
  };
  const auto check = [&](const char* name, auto expected) {
    const auto have = value_of(name);
    INFO(name);
    for (std::uint32_t y = 0; y < 4; ++y)
      for (std::uint32_t x = 0; x < 6; ++x) CHECK(have[(y * 6 + x) * 32 + 5] == expected(x, y));
  };
  using u = std::uint32_t;
  check("%clusterid.x", [](u x, u) { return x / 3; });
  check("%clusterid.y", [](u, u y) { return y / 2; });
  check("%nclusterid.x", [](u, u) { return 2u; });
  check("%nclusterid.y", [](u, u) { return 2u; });
  check("%cluster_ctaid.x", [](u x, u) { return x % 3; });
  check("%cluster_ctaid.y", [](u, u y) { return y % 2; });
  check("%cluster_nctaid.x", [](u, u) { return 3u; });
  check("%cluster_nctaid.z", [](u, u) { return 1u; });
  check("%cluster_ctarank", [](u x, u y) { return x % 3 + 3 * (y % 2); });
  check("%cluster_nctarank", [](u, u) { return 6u; });
}

TEST_CASE("a cluster is one block where nobody asks for more", "[cluster]") {
  const module m = parsed_module(text("mov.u32 %r1, %cluster_nctarank;"));
  CHECK(run_cluster(m, 64, {{2, 1, 1}})[40] == 1);
}

TEST_CASE("each block reads what the next block of its cluster wrote", "[cluster]") {
  const std::string body =
      "mov.u32 %r2, cells; mad.lo.u32 %r2, %tid_, 4, %r2; st.shared.u32 [%r2], %thread;\n"
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
      "mov.u32 %r3, %cluster_ctarank; mov.u32 %r4, %cluster_nctarank; add.u32 %r3, %r3, 1; rem.u32 %r3, %r3, "
      "%r4;\n";
  const std::string ways[] = {
      "mapa.shared::cluster.u32 %r5, %r2, %r3; ld.shared::cluster.u32 %r1, [%r5];\n",
      "cvt.u64.u32 %d1, %r2; cvta.shared.u64 %d2, %d1; mapa.u64 %d3, %d2, %r3; ld.u32 %r1, [%d3];\n",
      "mapa.shared::cluster.u32 %r5, cells, %r3; mad.lo.u32 %r5, %tid_, 4, %r5;\n"
      "atom.shared::cluster.add.u32 %r1, [%r5], 0;\n",
  };
  for (const std::string& way : ways) {
    const module m = parsed_module(text(body + way + "barrier.cluster.arrive; barrier.cluster.wait;",
                                        ".shared .align 4 .b32 cells[32];", ".reqnctapercluster 4, 1, 1"));
    const auto have = run_cluster(m, 8 * 32, {{8, 1, 1}});
    for (std::uint32_t b = 0; b < 8; ++b)
      for (std::uint32_t lane = 0; lane < 32; ++lane)
        CHECK(have[b * 32 + lane] == (b / 4 * 4 + (b + 1) % 4) * 32 + lane);
  }
}

TEST_CASE("getctarank says whose an address is", "[cluster]") {
  const module m = parsed_module(
      text("mov.u32 %r3, %tid_; and.b32 %r3, %r3, 1; mapa.shared::cluster.u32 %r5, cells, %r3;\n"
           "getctarank.shared::cluster.u32 %r1, %r5; getctarank.shared::cluster.u32 %r6, cells;\n"
           "shl.b32 %r6, %r6, 8; add.u32 %r1, %r1, %r6;",
           ".shared .align 4 .b32 cells[32];"));
  const auto have = run_cluster(m, 64, {{2, 1, 1}, {2, 1, 1}});
  CHECK(have[0] == 0);
  CHECK(have[1] == 1);
  CHECK(have[32] == 256);
  CHECK(have[33] == 257);
}

TEST_CASE("barrier.cluster counts threads that have ended, and keeps phases apart", "[cluster]") {
  const module m = parsed_module(
      text("setp.ge.u32 %q1, %tid_, 40; @%q1 exit; mov.u32 %r1, 0; mov.u32 %r2, 0;\n"
           "mov.u32 %r3, %cluster_ctarank; xor.b32 %r3, %r3, 1; mapa.shared::cluster.u32 %r4, cell, %r3;\n"
           "st.shared.u32 [cell], 0; barrier.cluster.arrive; barrier.cluster.wait;\n"
           "AGAIN: setp.eq.u32 %q2, %tid_, 0; @%q2 atom.shared::cluster.add.u32 %r5, [%r4], 1;\n"
           "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n"
           "ld.shared.u32 %r5, [cell]; mad.lo.u32 %r1, %r1, 10, %r5;\n"
           "barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n"
           "add.u32 %r2, %r2, 1; setp.lt.u32 %q3, %r2, 4; @%q3 bra AGAIN;\n",
           ".shared .align 4 .b32 cell;"));
  const auto have = run_cluster(m, 4 * 32 + 32, {{4, 1, 1}, {2, 1, 1}, 64});
  CHECK(have[0] == 1234);
  CHECK(have[39] == 1234);
  CHECK(have[3 * 32] == 1234);
}

TEST_CASE("without clusters barrier.cluster waits until the whole block waits, as the hardware does",
          "[cluster]") {
  // Warp 1 waits for what warp 0 does after its wait.
  const module m = parsed_module(
      text("mov.u32 %r1, 7; setp.ge.u32 %q1, %tid_, 32; barrier.cluster.arrive.relaxed.aligned;\n"
           "@%q1 bra LATE;\n"
           "barrier.cluster.wait.aligned; bar.arrive 1, 64; bra DONE;\n"
           "LATE: bar.sync 1, 64; barrier.cluster.wait.aligned;\n"
           "DONE:\n"));
  CHECK(run_cluster(m, 64, {{1, 1, 1}, {1, 1, 1}, 64})[40] == 7);
  const fault_report report = fault_in(m, {{1, 1, 1}, {0, 0, 0}, 64});
  CHECK(report.kind == fault_kind::deadlock);
  CHECK(contains(report.detail, "since the launch is without clusters"));
}

TEST_CASE("misused barriers and addresses of a cluster are faults", "[cluster]") {
  const auto of = [](const std::string& body, std::uint32_t block = 32) {
    return fault_in(parsed_module(text(body, ".shared .align 4 .b32 cell;")), {{2, 1, 1}, {2, 1, 1}, block});
  };
  CHECK(contains(of("barrier.cluster.wait;").detail, "without having arrived"));
  CHECK(contains(of("barrier.cluster.arrive; barrier.cluster.arrive;").detail, "a second time"));
  CHECK(contains(of("mapa.shared::cluster.u32 %r1, cell, 2;").detail, "to block 2 of a cluster of 2"));
  CHECK(of("mov.u32 %r2, 0x7f000000; ld.shared::cluster.u32 %r1, [%r2];").kind == fault_kind::out_of_bounds);
  CHECK(of("mapa.shared::cluster.u32 %r2, cell, 1; ld.shared::cta.u32 %r1, [%r2];").kind ==
        fault_kind::out_of_bounds);
  const fault_report stuck =
      of("mov.u32 %r2, %cluster_ctarank; setp.eq.u32 %q1, %r2, 1; @%q1 bra OTHER;\n"
         "barrier.cluster.arrive; barrier.cluster.wait; bra DONE;\nOTHER: shr.u32 %r3, %tid_, 5; add.u32 "
         "%r3, %r3, 1; bar.sync %r3, 64;\nDONE:",
         64);
  CHECK(stuck.kind == fault_kind::deadlock);
  CHECK(contains(stuck.detail,
                 "block 0 of the cluster, warp 0 lanes 0xffffffff wait for the other threads of "
                 "the cluster"));
}

TEST_CASE("the shared memory of a block that has ended is no longer there", "[cluster]") {
  // Block 1 initialises an mbarrier and ends; block 0 uses its memory long after that.
  const auto of = [](const std::string& use) {
    const fault_report r = fault_in(
        parsed_module(text("mov.u32 %r2, %cluster_ctarank; setp.eq.u32 %q1, %r2, 0; @%q1 bra LATER;\n"
                           "setp.eq.u32 %q2, %tid_, 0; @%q2 mbarrier.init.shared.b64 [bar], 64;\n"
                           "barrier.cluster.arrive; barrier.cluster.wait; exit;\n"
                           "LATER: barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r3, 0;\n"
                           "AGAIN: add.u32 %r3, %r3, 1; setp.lt.u32 %q2, %r3, 4000; @%q2 bra AGAIN;\n"
                           "mapa.shared::cluster.u32 %r4, bar, 1;\n" +
                               use,
                           ".shared .align 16 .b64 bar; .shared .align 16 .b32 cells[8];")),
        {{2, 1, 1}, {2, 1, 1}});
    CHECK(contains(r.detail, "the shared memory of block 1 of its cluster, which has ended"));
    CHECK(contains(r.detail, "barrier.cluster"));
    return r.kind;
  };
  for (const char* use : {"ld.shared::cluster.u32 %r1, [%r4];", "atom.shared::cluster.add.u32 %r1, [%r4], 1;",
                          "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];",
                          "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r4], 7, [%r4];",
                          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4], "
                          "[cells], 16, [%r4];"}) {
    INFO(use);
    CHECK(of(use) == fault_kind::use_after_free);
  }
}

TEST_CASE("launches that cannot be clusters are refused", "[cluster]") {
  const module free = parsed_module(text("mov.u32 %r1, 0;"));
  const module fixed = parsed_module(text("mov.u32 %r1, 0;", "", ".reqnctapercluster 2, 1, 1"));
  CHECK(contains(refusal(free, {{3, 1, 1}, {2, 1, 1}}), "not made of whole clusters of (2, 1, 1)"));
  CHECK(contains(refusal(free, {{32, 1, 1}, {32, 1, 1}}), "blocks of a cluster is 32; the device allows 16"));
  CHECK(contains(refusal(fixed, {{4, 1, 1}, {4, 1, 1}}), "written for clusters of (2, 1, 1)"));
  CHECK(contains(refusal(fixed, {{3, 1, 1}}), "not made of whole clusters"));
  CHECK(run_cluster(fixed, 64, {{2, 1, 1}})[0] == 0);
}

TEST_CASE("forms for clusters need sm_90", "[cluster]") {
  const auto reason = [](const std::string& body) {
    std::string old = kernel_text(body, 1, ".shared .b32 cell;", "7.8", "sm_80");
    return rejection(old, architecture{}).reason();
  };
  CHECK(contains(reason("barrier.cluster.arrive;"), "sm_90"));
  CHECK(contains(reason("mapa.shared::cluster.u32 %r1, cell, %r2;"), "sm_90"));
  CHECK(contains(reason("ld.shared::cluster.u32 %r1, [cell];"), "sm_90"));
}
