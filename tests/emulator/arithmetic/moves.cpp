// Moves of whole vectors, loads into registers wider than the value, ldu, symbols that give the state space,
// and isspacep among the blocks of a cluster.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

using vector32 = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a vector is read as a whole before it is written") {
  CHECK(results("mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4;"
                "mov.v4.u32 {%r1, %r2, %r3, %r4}, {%r4, %r3, %r2, %r1};"
                "st.global.v4.u32 [%p0], {%r1, %r2, %r3, %r4};",
                4, {1, 1}) == vector32{4, 3, 2, 1});
  CHECK(results("mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; mov.v2.f32 {%f1, _}, {%f2, %f1};"
                "mov.v2.b64 {%d1, %d2}, {0x100000002, 0x300000004}; st.global.v2.u64 [%p0+16], {%d2, %d1};"
                "st.global.v2.f32 [%p0], {%f1, %f2};",
                8, {1, 1}) == vector32{0x40000000, 0x40000000, 0, 0, 4, 3, 2, 1});
  // Only the lanes that the guard lets through.
  const auto have = results(
      "mov.u32 %r1, 7; mov.u32 %r2, 8; setp.lt.u32 %q0, %tid_, 9; @!%q0 mov.v2.u32 {%r1, %r2}, {%r2, %r1};"
      "mad.lo.u64 %d0, %wide, 8, %p0; st.global.v2.u32 [%d0], {%r1, %r2};",
      64);
  for (std::uint32_t t = 0; t < 32; ++t) {
    CHECK(have[t * 2] == (t < 9 ? 7 : 8));
    CHECK(have[t * 2 + 1] == (t < 9 ? 8 : 7));
  }
}

TEST_CASE("a register of 128 bits takes narrower values, extended by their type") {
  const std::string parts = "mov.b128 {%d1, %d2}, x; st.global.v2.u64 [%p0], {%d1, %d2};";
  CHECK(results(".reg .b128 x; mov.u32 %r1, 0x80000005; st.global.u32 [%p0], %r1; ld.global.s32 x, [%p0];" +
                    parts,
                4, {1, 1}) == vector32{0x80000005, 0xffffffff, 0xffffffff, 0xffffffff});
  CHECK(results(
            ".reg .b128 x; mov.u32 %r1, 0x80000085; st.global.u32 [%p0], %r1; ld.global.u8 x, [%p0];" + parts,
            4, {1, 1}) == vector32{0x85, 0, 0, 0});
  CHECK(results(".reg .b128 x; mov.b128 x, {0x1122334455667788, 9}; st.global.b16 [%p0+2], x;", 1, {1, 1}) ==
        vector32{0x77880000});
}

TEST_CASE("ldu loads what ld loads") {
  CHECK(results("st.global.v4.u32 [%p0], {1, 0xfffffffe, 3, 4}; ldu.global.v2.u32 {%r1, %r2}, [%p0+8];"
                "ldu.s16 %r3, [%p0+4]; ldu.global.f32 %f1, [%p0]; st.global.v2.u32 [%p0], {%r2, %r3};"
                "st.global.f32 [%p0+8], %f1; st.global.u32 [%p0+12], %r1;",
                4, {1, 1}) == vector32{4, 0xfffffffe, 1, 3});
}

TEST_CASE("a load without a state space takes that of the symbol") {
  const std::string arrays = ".shared .align 4 .b8 near[16]; .local .align 4 .b8 own[16];";
  CHECK(results(arrays + "st.u32 [near+4], 11; st.u32 [own+8], 12; ld.shared.u32 %r1, [near+4];"
                         "ld.local.u32 %r2, [own+8]; ld.u32 %r3, [own+8]; atom.add.u32 %r4, [near+4], 5;"
                         "ld.u32 %r5, [near+4]; st.global.v4.u32 [%p0], {%r1, %r2, %r3, %r4};"
                         "st.global.u32 [%p0+16], %r5;",
                5, {1, 1}) == vector32{11, 12, 12, 11, 16});
}

TEST_CASE("a prefetch of a tensor map, events and priorities change nothing") {
  CHECK(results("prefetch.tensormap [%p0]; pmevent 3; pmevent.mask 0xff; "
                "createpolicy.fractional.L2::evict_last.b64 "
                "%d1, 0.5; st.global.L2::cache_hint.u32 [%p0], 6, %d1;",
                1, {1, 1}) == vector32{6});
}

TEST_CASE("isspacep distinguishes the shared memory of the block from that of the cluster") {
  const std::string body =
      ".shared .align 4 .b8 here[16]; mov.u64 %d1, here; cvta.shared.u64 %d1, %d1;"
      "mov.u32 %r9, %cluster_ctarank; xor.b32 %r9, %r9, 1; mapa.u64 %d2, %d1, %r9;"
      "isspacep.shared::cta %q1, %d1; isspacep.shared::cluster %q2, %d1; isspacep.shared %q3, %d2;"
      "isspacep.shared::cluster %q4, %d2; isspacep.global %q5, %d2; isspacep.global %q6, %p0;"
      "isspacep.shared::cluster %q7, %p0; mov.u32 %r1, 0;"
      "@%q1 or.b32 %r1, %r1, 1; @%q2 or.b32 %r1, %r1, 2; @%q3 or.b32 %r1, %r1, 4; @%q4 or.b32 %r1, %r1, 8;"
      "@%q5 or.b32 %r1, %r1, 16; @%q6 or.b32 %r1, %r1, 32; @%q7 or.b32 %r1, %r1, 64;"
      "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r1;";
  std::string text = kernel_text(body);
  const std::string close = ") {";
  text.insert(text.find(close) + 1, " .reqnctapercluster 2");
  memory global;
  const array<std::uint32_t> out(global, 2);
  run_module(parsed_module(text), global, {out.address()}, {2, 1});
  CHECK(out.values() == vector32{0b0101011, 0b0101011});
}
