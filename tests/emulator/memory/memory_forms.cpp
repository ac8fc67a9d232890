// Which forms of memory instructions are accepted, as ptxas 13.0 accepts them, and that orders, scopes and
// cache hints leave the value alone.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

struct form_row {
  std::string text;
  bool accepted;
  std::string version = "9.0", target = "sm_90";
};

void check_forms(const std::vector<form_row>& rows) {
  for (const form_row& r : rows) {
    const std::string text =
        kernel_text(".local .align 16 .b8 loc[64]; " + r.text, 1,
                    ".shared .align 16 .b8 s[256]; .const .align 16 .b8 c[256];", r.version, r.target);
    INFO(r.version << " " << r.target << " " << r.text);
    bool accepted = true;
    try {
      parsed_module(text);
    } catch (const ptx_error& e) {
      accepted = false;
      if (r.accepted) UNSCOPED_INFO(e.reason());
    }
    CHECK(accepted == r.accepted);
  }
}

}  // namespace

TEST_CASE("orders and scopes of loads and stores") {
  check_forms({
      {"ld.weak.global.u32 %r1, [%p0];", true},
      {"ld.volatile.global.u32 %r1, [%p0];", true},
      {"ld.relaxed.cta.shared.u32 %r1, [s];", true},
      {"ld.relaxed.cluster.global.u32 %r1, [%p0];", true},
      {"ld.relaxed.cluster.global.u32 %r1, [%p0];", false, "8.0", "sm_80"},
      {"ld.acquire.gpu.global.v2.u64 {%d1, %d2}, [%p0];", true},
      {"ld.acquire.sys.u32 %r1, [%p0];", true},
      {"ld.acquire.global.u32 %r1, [%p0];", false},
      {"ld.release.gpu.global.u32 %r1, [%p0];", false},
      {"ld.weak.gpu.global.u32 %r1, [%p0];", false},
      {"ld.volatile.local.u32 %r1, [loc];", false},
      {"ld.relaxed.cta.const.u32 %r1, [c];", false},
      {"ld.mmio.relaxed.sys.global.u32 %r1, [%p0];", true},
      {"ld.mmio.relaxed.sys.global.u32 %r1, [%p0];", true, "8.2", "sm_75"},
      {"ld.mmio.relaxed.sys.global.u32 %r1, [%p0];", false, "8.1", "sm_75"},
      {"ld.mmio.relaxed.gpu.global.u32 %r1, [%p0];", false},
      {"ld.mmio.global.u32 %r1, [%p0];", false},
      {"ld.mmio.relaxed.sys.shared.u32 %r1, [s];", false},
      {"st.mmio.relaxed.sys.global.u32 [%p0], %r1;", true},
      {"st.release.gpu.global.u32 [%p0], %r1;", true},
      {"st.acquire.gpu.global.u32 [%p0], %r1;", false},
      {"st.relaxed.sys.v4.f32 [%p0], {%f1, %f2, %f3, %f4};", true},
      {"fence.acq_rel.gpu; fence.sc.sys; fence.acquire.cta; fence.release.gpu; fence.gpu;", true},
      {"fence.sc.cluster;", true},
      {"fence.sc.cluster;", false, "8.0", "sm_80"},
      {"fence.acq_rel;", false},
      {"membar.cta; membar.gl; membar.sys;", true},
      {"membar.gpu;", false},
      {"nanosleep.u32 20; nanosleep.u32 %r1;", true},
  });
}

TEST_CASE("cache operators, priorities, prefetch sizes and policies") {
  check_forms({
      {"ld.global.ca.u32 %r1, [%p0]; ld.global.cg.u32 %r1, [%p0]; ld.global.cs.u32 %r1, [%p0];", true},
      {"ld.global.lu.u32 %r1, [%p0]; ld.global.cv.u32 %r1, [%p0]; ld.shared.cg.u32 %r1, [s];", true},
      {"ld.relaxed.gpu.ca.global.u32 %r1, [%p0];", false},
      {"st.global.wb.u32 [%p0], %r1; st.global.cg.u32 [%p0], %r1; st.global.wt.u32 [%p0], %r1;", true},
      {"ld.global.cg.nc.f32 %f1, [%p0];", true},
      {"ld.global.cv.nc.f32 %f1, [%p0];", false},
      {"ld.weak.global.nc.f32 %f1, [%p0];", false},
      {"ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%p0];", true},
      {"ld.global.L1::evict_first.u32 %r1, [%p0];", true, "7.4", "sm_75"},
      {"ld.global.L1::evict_first.u32 %r1, [%p0];", false, "7.3", "sm_75"},
      {"ld.global.L1::evict_unchanged.L2::64B.u32 %r1, [%p0];", true},
      {"ld.acquire.gpu.global.L1::evict_last.u32 %r1, [%p0];", true},
      {"ld.volatile.global.L1::evict_last.u32 %r1, [%p0];", false},
      {"ld.volatile.global.L2::128B.u32 %r1, [%p0];", true},
      {"ld.shared.L1::evict_last.u32 %r1, [s];", false},
      {"ld.global.ca.L1::evict_last.u32 %r1, [%p0];", false},
      {"ld.global.L2::evict_last.u32 %r1, [%p0];", false},
      {"ld.global.L2::256B.u32 %r1, [%p0];", true, "8.0", "sm_80"},
      {"ld.global.L2::256B.u32 %r1, [%p0];", false, "8.0", "sm_75"},
      {"st.global.L2::128B.u32 [%p0], %r1;", false},
      {"ld.global.L2::cache_hint.u32 %r1, [%p0], %d2;", true},
      {"ld.global.L2::cache_hint.u32 %r1, [%p0], %d2;", false, "8.0", "sm_75"},
      {"ld.global.L2::cache_hint.u32 %r1, [%p0];", false},
      {"ld.global.L2::cache_hint.u32 %r1, [%p0], %r2;", false},
      {"ld.global.u32 %r1, [%p0], %d2;", false},
      {"ld.shared.L2::cache_hint.u32 %r1, [s], %d2;", false},
      {"ld.volatile.global.L2::cache_hint.u32 %r1, [%p0], %d2;", false},
      {"st.global.L1::no_allocate.L2::cache_hint.v4.u32 [%p0], {%r1, %r2, %r3, %r4}, %d2;", true},
      {"atom.global.add.L2::cache_hint.u32 %r1, [%p0], %r2, %d2;", true},
      {"red.global.add.L2::cache_hint.v2.f32 [%p0], {%f1, %f2}, %d2;", true},
      {"atom.global.cas.L2::cache_hint.b32 %r1, [%p0], %r2, %r3, %d2;", false},
      {"atom.shared.add.L2::cache_hint.u32 %r1, [s], %r2, %d2;", false},
      {"prefetch.global.L1 [%p0]; prefetch.L2 [%p0]; prefetch.local.L1 [loc]; prefetchu.L1 [%p0];", true},
      {"prefetch.global.L2::evict_last [%p0]; prefetch.L2::evict_normal [%p0];", true},
      {"prefetch.global.L2::evict_last [%p0];", false, "8.0", "sm_75"},
      {"prefetch.local.L2::evict_last [loc];", false},
      {"prefetch.shared.L1 [s];", false},
      {"createpolicy.fractional.L2::evict_last.b64 %d1, 1.0;", true},
      {"createpolicy.fractional.L2::evict_normal.L2::evict_first.b64 %d1, %f1;", true},
      {"createpolicy.fractional.L2::evict_first.L2::evict_normal.b64 %d1, 0.5;", false},
      {"createpolicy.fractional.L2::evict_unchanged.b64 %d1;", true},
      {"createpolicy.fractional.b64 %d1, 0.5;", false},
      {"createpolicy.fractional.L2::evict_last.b64 %d1, 1.0;", false, "8.0", "sm_75"},
      {"createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d1, [%p0], %r1, 8192;", true},
      {"createpolicy.cvt.L2.b64 %d1, %d2;", true},
      {"applypriority.global.L2::evict_normal [%p0], 128;", true},
      {"applypriority.L2::evict_normal [%p0], 64;", false},
      {"discard.global.L2 [%p0], 128;", true},
      {"discard.L2 [%p0], 128;", false, "8.0", "sm_75"},
  });
}

TEST_CASE("which types atomics have") {
  check_forms({
      {"atom.global.add.noftz.f16 %h1, [%p0], %h2;", true, "6.3", "sm_75"},
      {"atom.global.add.noftz.bf16 %h1, [%p0], %h2;", true, "7.8", "sm_90"},
      {"atom.global.add.noftz.bf16 %h1, [%p0], %h2;", false, "8.0", "sm_80"},
      {"atom.global.add.f16 %h1, [%p0], %h2;", false},
      {"atom.shared.add.noftz.bf16x2 %r1, [s], %r2;", true},
      {"atom.global.min.noftz.f16 %h1, [%p0], %h2;", false},
      {"atom.global.add.s64 %d1, [%p0], %d2;", false},
      {"atom.global.exch.b16 %h1, [%p0], %h2;", false},
      {".reg .b128 w; atom.global.exch.b128 w, [%p0], w;", true},
      {".reg .b128 w; atom.global.exch.b128 w, [%p0], w;", false, "8.3", "sm_80"},
      {"atom.global.add.v2.f32 {%f1, %f2}, [%p0], {%f3, %f4};", true, "8.1", "sm_90"},
      {"atom.global.add.v2.f32 {%f1, %f2}, [%p0], {%f3, %f4};", false, "8.0", "sm_90"},
      {"atom.global.add.v2.f32 _, [%p0], {%f3, %f4};", true},
      {"atom.global.add.v2.f32 %f1, [%p0], {%f3, %f4};", false},
      {"atom.global.add.v2.f32 {%f1, %f2}, [%p0], %f3;", false},
      {"atom.shared.add.v2.f32 {%f1, %f2}, [s], {%f3, %f4};", false},
      {"atom.global.min.v2.f32 {%f1, %f2}, [%p0], {%f3, %f4};", false},
      {"atom.global.add.v2.u32 {%r1, %r2}, [%p0], {%r3, %r4};", false},
      {"red.global.add.noftz.v8.bf16x2 [%p0], {%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1};", false},
      {"atom.acq_rel.cluster.global.add.u32 %r1, [%p0], %r2;", true},
      {"red.acquire.gpu.global.add.u32 [%p0], %r2;", false},
      {"red.release.gpu.global.add.u32 [%p0], %r2;", true},
      {"shfl.sync.idx.b32 _|%q1, %r2, %r3, 31, -1;", false},
  });
}

TEST_CASE("hints, orders and scopes leave the value alone") {
  memory global;
  const array<std::uint32_t> in(global, {11, 22, 33, 44}), out(global, 8);
  run_module(parsed_module(kernel_text(R"(
      createpolicy.fractional.L2::evict_last.b64 %d9, 0.5;
      ld.global.L1::evict_last.L2::cache_hint.v2.u32 {%r1, %r2}, [%p0], %d9;
      ld.acquire.sys.global.u32 %r3, [%p0+8]; ld.mmio.relaxed.sys.u32 %r4, [%p0+12];
      st.global.L2::cache_hint.u32 [%p1], %r1, %d9; st.release.gpu.global.v2.u32 [%p1+8], {%r2, %r3};
      st.volatile.global.u32 [%p1+4], %r4;
      atom.global.add.L2::cache_hint.u32 %r5, [%p1], %r1, %d9; st.mmio.relaxed.sys.global.u32 [%p1+16], %r5;)",
                                       2, "", "8.3")),
             global, {in.address(), out.address()}, {1, 1});
  CHECK(out.values() == std::vector<std::uint32_t>{22, 44, 22, 33, 11, 0, 0, 0});
}

TEST_CASE("vectors of eight bytes, and of parameters and constants") {
  memory global;
  const array<std::uint8_t> in(global, {1, 2, 3, 4, 250, 6, 7, 8}), out(global, 8);
  run_module(parsed_module(kernel_text(
                 "ld.global.v8.u8 {%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h8}, [%p0]; add.u16 %h5, %h5, 10;"
                 "st.global.v8.u8 [%p1], {%h8, %h7, %h6, %h5, %h4, %h3, %h2, %h1};",
                 2)),
             global, {in.address(), out.address()}, {1, 1});
  CHECK(out.values() == std::vector<std::uint8_t>{8, 7, 6, 4, 4, 3, 2, 1});
  const auto have = results(
      "ld.const.v4.u32 {%r1, %r2, %r3, %r4}, [c+16]; ld.param.v2.u32 {%r5, %r6}, [p0]; ld.param.u64 %d1, "
      "[p0];"
      "mov.b64 %d2, {%r5, %r6}; setp.eq.u64 %q1, %d1, %d2; selp.u32 %r6, 1, 0, %q1;"
      "st.global.v4.u32 [%p0], {%r4, %r3, %r2, %r6};",
      4, {1, 1}, ".const .align 16 .u32 c[8] = {1, 2, 3, 4, 5, 6, 7, 8};");
  CHECK(have == std::vector<std::uint32_t>{8, 7, 6, 1});
}

TEST_CASE("vectors of 32 bytes, which sm_100 has") {
  const architecture blackwell = architecture_of({100, true});
  memory global;
  std::vector<std::uint64_t> numbers(64 * 4);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = k * 0x100000001;
  const array<std::uint64_t> in(global, numbers), out(global, numbers.size());
  const std::string at = "mul.wide.u32 %d0, %thread, 32; add.u64 %d1, %p0, %d0; add.u64 %d2, %p1, %d0;";
  run_module(parsed_module(kernel_text(at + "ld.global.nc.v4.b64 {%d3, %d4, _, %d5}, [%d1];"
                                            "st.v4.b64 [%d2], {%d5, %d4, %d3, 7};",
                                       2, "", "8.8", "sm_100"),
                           blackwell),
             global, {in.address(), out.address()}, {2, 32});
  for (std::size_t k = 0; k < 64; ++k) {
    INFO("thread " << k);
    CHECK(out.values()[k * 4] == numbers[k * 4 + 3]);
    CHECK(out.values()[k * 4 + 1] == numbers[k * 4 + 1]);
    CHECK(out.values()[k * 4 + 2] == numbers[k * 4]);
    CHECK(out.values()[k * 4 + 3] == 7);
  }
  const std::string words =
      at +
      "ld.v8.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%d1];"
      "st.global.L2::evict_first.v8.b32 [%d2], {%f7, %f6, %f5, %f4, %f3, %f2, %f1, %f0};";
  const module m = parsed_module(kernel_text(words, 2, "", "8.8", "sm_100"), blackwell);
  run_module(m, global, {in.address(), out.address()}, {2, 32});
  for (std::size_t k = 0; k < 64; ++k)
    for (std::size_t e = 0; e < 4; ++e) CHECK(out.values()[k * 4 + e] == numbers[k * 4 + 3 - e]);
  CHECK_THROWS_AS(run_module(m, global, {in.address() + 16, out.address()}, {1, 1}), fault);
}

TEST_CASE("a discarded line holds nothing that may be relied on, and is checked like a store") {
  memory global;
  const array<std::uint32_t> out(global, std::vector<std::uint32_t>(64, 7));
  run_module(parsed_module(kernel_text("discard.global.L2 [%p0], 128;")), global, {out.address()}, {1, 1});
  CHECK(out.values()[0] != 7);
  CHECK(out.values()[31] != 7);
  CHECK(out.values()[32] == 7);
  CHECK(fault_of("discard.global.L2 [%p0+64], 128;", global, {out.address()}, {1, 1}).kind ==
        fault_kind::misaligned);
  CHECK(fault_of("discard.global.L2 [%p0+256], 128;", global, {out.address()}, {1, 1}).kind ==
        fault_kind::out_of_bounds);
}
