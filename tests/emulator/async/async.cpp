// cp.async arrives as late as its groups allow, in every schedule: data read without a wait are old, data
// waited for are new. Sizes, zero filling and ignored sources follow a model on the host.

#include "tests/emulator/async/async_kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

const std::string shared = ".shared .align 16 .b8 sm[4096]; .shared .align 8 .b64 mb;";

std::vector<std::uint32_t> numbers(std::size_t count, std::uint32_t seed = 1) {
  std::vector<std::uint32_t> result(count);
  for (std::uint32_t& x : result) x = seed = seed * 1664525u + 1013904223u;
  return result;
}

}  // namespace

TEST_CASE("cp.async copies 4, 8 and 16 bytes, and fills what the source does not have with zeros") {
  for (const std::string form : {"ca 4", "ca 8", "ca 16", "cg 16"})
    for (std::uint32_t given = 0; given <= static_cast<std::uint32_t>(std::stoi(form.substr(3))); ++given) {
      const auto size = static_cast<std::uint32_t>(std::stoi(form.substr(3)));
      const module m = async_module(
          "mov.u32 %r1, sm; mad.lo.u32 %r1, %thread, 16, %r1;\n"
          "mad.lo.u64 %d1, %wide, 16, %p1; mad.lo.u64 %d2, %wide, 16, %p0;\n"
          "mov.u64 %d3, -1; st.shared.v2.u64 [%r1], {%d3, %d3};\n"
          "mov.u32 %r2, " +
              std::to_string(given) +
              ";\n"
              "cp.async." +
              form.substr(0, 2) + ".shared.global [%r1], [%d1], " + form.substr(3) +
              ", %r2;\n"
              "cp.async.commit_group; cp.async.wait_group 0;\n"
              "ld.shared.v2.u64 {%d4, %d5}, [%r1]; st.global.v2.u64 [%d2], {%d4, %d5};",
          2, shared);
      memory global;
      const auto source = numbers(128);
      const array<std::uint32_t> out(global, 128), in(global, source);
      run_async(m, global, {out.address(), in.address()});
      std::vector<unsigned char> want(512, 0xff);
      const auto* const bytes = reinterpret_cast<const unsigned char*>(source.data());
      for (std::size_t lane = 0; lane < 32; ++lane)
        for (std::size_t k = 0; k < size; ++k) want[lane * 16 + k] = k < given ? bytes[lane * 16 + k] : 0;
      const auto have = out.values();
      CHECK(std::memcmp(have.data(), want.data(), 512) == 0);
    }
}

TEST_CASE("cp.async with a predicate ignores its source, which need not be a place at all") {
  const module m = async_module(R"(
      mov.u32 %r1, sm; mad.lo.u32 %r1, %thread, 4, %r1; mov.u32 %r2, 7; st.shared.u32 [%r1], %r2;
      setp.ge.u32 %q0, %thread, 16; mad.lo.u64 %d1, %wide, 4, %p1; selp.u64 %d1, 12, %d1, %q0;
      cp.async.ca.shared.global [%r1], [%d1], 4, %q0; cp.async.wait_all;
      ld.shared.u32 %r3, [%r1]; mad.lo.u64 %d2, %wide, 4, %p0; st.global.u32 [%d2], %r3;)",
                                2, shared);
  memory global;
  const auto source = numbers(32);
  const array<std::uint32_t> out(global, 32), in(global, source);
  run_async(m, global, {out.address(), in.address()});
  for (std::size_t k = 0; k < 32; ++k) CHECK(out.values()[k] == (k < 16 ? source[k] : 0));
}

TEST_CASE("what is read before its group is waited for is old, and the source is read late") {
  // Out: the value before the wait, after it, and the source as it was changed in between.
  const module m = async_module(R"(
      mov.u32 %r1, sm; mad.lo.u32 %r1, %thread, 4, %r1; mad.lo.u64 %d1, %wide, 4, %p1;
      mad.lo.u64 %d2, %wide, 8, %p0; mov.u32 %r2, 111; st.shared.u32 [%r1], %r2;
      cp.async.ca.shared.global [%r1], [%d1], 4; cp.async.commit_group;
      ld.shared.u32 %r3, [%r1]; st.global.u32 [%d2], %r3;
      mov.u32 %r2, 333; st.global.u32 [%d1], %r2;
      cp.async.wait_group 0; ld.shared.u32 %r3, [%r1]; st.global.u32 [%d2+4], %r3;)",
                                2, shared);
  memory global;
  const array<std::uint32_t> out(global, 64), in(global, std::vector<std::uint32_t>(32, 222));
  run_async(m, global, {out.address(), in.address()});
  for (std::size_t k = 0; k < 32; ++k) {
    CHECK(out.values()[2 * k] == 111);
    CHECK(out.values()[2 * k + 1] == 333);
  }
}

TEST_CASE("a wait completes the groups of its own lane but the last ones") {
  // Four groups of one copy each; lane l waits until (l % 5) are left, then reads all four places.
  std::string body = R"(
      mov.u32 %r1, sm; mad.lo.u32 %r1, %thread, 16, %r1; mad.lo.u64 %d1, %wide, 16, %p1;
      mad.lo.u64 %d2, %wide, 16, %p0; rem.u32 %r9, %thread, 5;)";
  for (int g = 0; g < 4; ++g) {
    const std::string at = std::to_string(4 * g);
    body += "cp.async.ca.shared.global [%r1+" + at + "], [%d1+" + at + "], 4; cp.async.commit_group;\n";
  }
  for (int left = 0; left < 5; ++left) {
    const std::string n = std::to_string(left);
    body += "setp.ne.u32 %q0, %r9, " + n + "; @%q0 bra skip" + n + "; cp.async.wait_group " + n + "; skip" +
            n + ":\n";
  }
  body += "ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1]; st.global.v4.u32 [%d2], {%r2, %r3, %r4, %r5};";
  const module m = async_module(body, 2, shared);
  memory global;
  const auto source = numbers(128);
  const array<std::uint32_t> out(global, 128), in(global, source);
  run_async(m, global, {out.address(), in.address()});
  const auto have = out.values();
  for (std::size_t lane = 0; lane < 32; ++lane)
    for (std::size_t g = 0; g < 4; ++g)
      CHECK(have[lane * 4 + g] == (g + lane % 5 < 4 ? source[lane * 4 + g] : 0));
}

TEST_CASE("wait_all waits for copies that no group has; a copy that nobody waits for arrives in the end") {
  const module m = async_module(R"(
      mov.u32 %r1, sm; mad.lo.u32 %r1, %thread, 4, %r1; mad.lo.u64 %d1, %wide, 4, %p1;
      mad.lo.u64 %d2, %wide, 4, %p0;
      cp.async.ca.shared.global [%r1], [%d1], 4; cp.async.wait_group 0; ld.shared.u32 %r2, [%r1];
      cp.async.wait_all; ld.shared.u32 %r3, [%r1]; sub.u32 %r3, %r3, %r2; st.global.u32 [%d2], %r3;
      cp.async.ca.shared.global [%r1], [%d1], 4;)",
                                2, shared);
  memory global;
  const auto source = numbers(32);
  const array<std::uint32_t> out(global, 32), in(global, source);
  run_async(m, global, {out.address(), in.address()});
  CHECK(out.values() == source);
}

TEST_CASE("a pipeline of cp.async with several stages adds up what it copies, in every schedule") {
  // 4 warps; each round every thread copies one word of the round after the next but one.
  const module m = async_module(R"(
      mov.u32 %r1, sm; mad.lo.u32 %r2, %thread, 4, %r1; mad.lo.u64 %d1, %wide, 4, %p1;
      mad.lo.u64 %d2, %wide, 4, %p0; mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r20, 0;
      fill: setp.ge.u32 %q0, %r10, 3; @%q0 bra main;
      mul.lo.u32 %r3, %r10, 512; add.u32 %r4, %r2, %r3; mul.wide.u32 %d3, %r10, 512; add.u64 %d3, %d1, %d3;
      cp.async.ca.shared.global [%r4], [%d3], 4; cp.async.commit_group; add.u32 %r10, %r10, 1; bra fill;
      main: cp.async.wait_group 2; bar.sync 0;
      rem.u32 %r3, %r11, 4; mul.lo.u32 %r3, %r3, 512; xor.b32 %r5, %thread, 127; mad.lo.u32 %r5, %r5, 4, %r3;
      add.u32 %r5, %r5, %r1; ld.shared.u32 %r6, [%r5]; mad.lo.u32 %r20, %r20, 3, %r6;
      setp.ge.u32 %q1, %r10, 20; @%q1 bra nothing;
      rem.u32 %r3, %r10, 4; mul.lo.u32 %r3, %r3, 512; add.u32 %r4, %r2, %r3;
      mul.wide.u32 %d3, %r10, 512; add.u64 %d3, %d1, %d3; cp.async.ca.shared.global [%r4], [%d3], 4;
      nothing: cp.async.commit_group; add.u32 %r10, %r10, 1;
      add.u32 %r11, %r11, 1; setp.lt.u32 %q2, %r11, 20; @%q2 bra main;
      st.global.u32 [%d2], %r20;)",
                                2, shared);
  const auto source = numbers(20 * 128);
  std::vector<std::uint32_t> want(128);
  for (std::size_t round = 0; round < 20; ++round)
    for (std::size_t t = 0; t < 128; ++t) want[t] = want[t] * 3 + source[round * 128 + (t ^ 127)];
  for (const schedule& s : schedules()) {
    memory global;
    const array<std::uint32_t> out(global, 128), in(global, source);
    run_async(m, global, {out.address(), in.address()}, {1, 128, 0, 0, s});
    CHECK(out.values() == want);
  }
}

TEST_CASE("an mbarrier counts the copies of a thread by cp.async.mbarrier.arrive") {
  // The other half of the block waits for the copies of the first half.
  for (const bool counted : {true, false}) {
    const std::string count = counted ? "1" : "64";
    const module m = async_module(
        "mov.u32 %r1, sm; mov.u32 %r2, mb; setp.ne.u32 %q0, %thread, 0;\n"
        "@%q0 bra ready; mbarrier.init.shared.b64 [mb], " +
            count +
            "; ready: bar.sync 0;\n"
            "setp.ge.u32 %q1, %thread, 64; @%q1 bra consume;\n"
            "mad.lo.u32 %r3, %thread, 4, %r1; mad.lo.u64 %d1, %wide, 4, %p1;\n"
            "cp.async.ca.shared.global [%r3], [%d1], 4;\n" +
            std::string(counted ? "cp.async.mbarrier.arrive.shared.b64 [%r2]; bar.sync 1, 64;\n"
                                  "@!%q0 mbarrier.arrive.shared.b64 _, [%r2];\n"
                                : "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];\n") +
            R"(bra done;
        consume: mbarrier.try_wait.parity.shared.b64 %q2, [%r2], 0; @!%q2 bra consume;
        sub.u32 %r4, %thread, 64; mad.lo.u32 %r3, %r4, 4, %r1; ld.shared.u32 %r5, [%r3];
        mad.wide.u32 %d2, %r4, 4, %p0; st.global.u32 [%d2], %r5; done:)",
        2, shared);
    for (const schedule& s : schedules()) {
      memory global;
      const auto source = numbers(64);
      const array<std::uint32_t> out(global, 64), in(global, source);
      run_async(m, global, {out.address(), in.address()}, {1, 128, 0, 0, s});
      CHECK(out.values() == source);
    }
  }
}

TEST_CASE("cp.async checks its places and its source size") {
  struct row {
    std::string text;
    fault_kind kind;
    std::string part;
  };
  const row rows[] = {
      {"cp.async.ca.shared.global [sm+2], [%p0], 4;", fault_kind::misaligned, "not a multiple of 4"},
      {"cp.async.cg.shared.global [sm], [%p0+8], 16;", fault_kind::misaligned, "not a multiple of 16"},
      {"cp.async.ca.shared.global [sm], [%p0+512], 4;", fault_kind::out_of_bounds, "out of bounds"},
      {"cp.async.ca.shared.global [sm+8192], [%p0], 4;", fault_kind::out_of_bounds, "out of bounds"},
      {"mov.u32 %r1, 17; cp.async.ca.shared.global [sm], [%p0], 16, %r1;", fault_kind::bulk_copy,
       "source size 17"},
  };
  for (const row& r : rows) {
    INFO(r.text);
    memory global;
    const array<std::uint32_t> out(global, 128);
    const fault_report report = async_fault(async_module(r.text, 1, shared), global, {out.address()});
    CHECK(report.kind == r.kind);
    CHECK(contains(report.detail, r.part));
  }
}
