// Cooperation of the lanes of a member mask, against a model on the host, for whole and partial masks; and
// which forms of warp and block instructions are accepted, as ptxas 13.0 accepts them.

#include "tests/emulator/kernel.hpp"

#include <algorithm>
#include <string>

using namespace emulator_test;

namespace {

constexpr std::uint32_t masks[] = {0xffffffff, 0x0000ffff, 0xaaaaaaaa, 0x80000001, 0x00000020};

// The lanes of the mask run the text on %r1 (32 bits) and %d1 (64 bits); %r0 of every lane comes back.
std::vector<std::uint32_t> in_group(const std::string& text, std::uint32_t mask, const words& values) {
  memory global;
  const array<std::uint64_t> in(global, values);
  const array<std::uint32_t> out(global, 32);
  run_module(
      parsed_module(kernel_text("mov.u32 %r0, 0xdead; mov.u32 %r2, " + std::to_string(mask) +
                                    "; mad.lo.u64 %d0, %wide, 8, %p1; ld.global.u64 %d1, [%d0];"
                                    "cvt.u32.u64 %r1, %d1; mov.u32 %r3, %lanemask_eq; and.b32 %r3, %r3, "
                                    "%r2; setp.eq.u32 %q1, %r3, 0; @%q1 bra out;\n" +
                                    text + "\nout: mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r0;",
                                2)),
      global, {out.address(), in.address()});
  return out.values();
}

template <class Model>
void check_group(const std::string& text, const words& values, Model&& model) {
  for (const std::uint32_t mask : masks) {
    const auto have = in_group(text, mask, values);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      INFO(text << " mask " << std::hex << mask << " lane " << std::dec << lane);
      CHECK(have[lane] == ((mask >> lane & 1) != 0 ? model(mask, lane) : 0xdead));
    }
  }
}

const words mixed = [] {
  words values;
  for (std::uint64_t i = 0; i < 32; ++i)
    values.push_back((i * 0x9e3779b97f4a7c15ull) ^ (i % 5 == 0 ? 0x80000000ull : 0));
  return values;
}();
// Few different values, some of which differ in the high half alone.
const words repeated = [] {
  words values;
  for (std::uint64_t i = 0; i < 32; ++i) values.push_back(i % 3 | (i % 2) << 40);
  return values;
}();

template <class T, class Operation>
std::uint32_t folded(const words& values, std::uint32_t mask, Operation&& operation) {
  bool first = true;
  T total{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    const T value = static_cast<T>(static_cast<std::uint32_t>(values[lane]));
    total = first ? value : static_cast<T>(operation(total, value));
    first = false;
  }
  return static_cast<std::uint32_t>(total);
}

}  // namespace

TEST_CASE("redux: every operation over every mask") {
  const auto check = [&]<class T>(const std::string& form, T, auto operation) {
    check_group("redux.sync." + form + " %r0, %r1, %r2;", mixed,
                [&](std::uint32_t mask, std::uint32_t) { return folded<T>(mixed, mask, operation); });
  };
  check("add.u32", u32{}, [](u32 a, u32 b) { return a + b; });
  check("add.s32", u32{}, [](u32 a, u32 b) { return a + b; });
  check("min.u32", u32{}, [](u32 a, u32 b) { return std::min(a, b); });
  check("max.u32", u32{}, [](u32 a, u32 b) { return std::max(a, b); });
  check("min.s32", s32{}, [](s32 a, s32 b) { return std::min(a, b); });
  check("max.s32", s32{}, [](s32 a, s32 b) { return std::max(a, b); });
  check("and.b32", u32{}, [](u32 a, u32 b) { return a & b; });
  check("or.b32", u32{}, [](u32 a, u32 b) { return a | b; });
  check("xor.b32", u32{}, [](u32 a, u32 b) { return a ^ b; });
}

TEST_CASE("match: who has the same value") {
  for (const bool wide : {false, true}) {
    const std::string type = wide ? ".b64" : ".b32", source = wide ? "%d1" : "%r1";
    const auto same = [&](unsigned a, unsigned b) {
      return wide ? repeated[a] == repeated[b]
                  : static_cast<std::uint32_t>(repeated[a]) == static_cast<std::uint32_t>(repeated[b]);
    };
    const auto equals = [&](std::uint32_t mask, std::uint32_t lane) {
      std::uint32_t result = 0;
      for (unsigned other = 0; other < 32; ++other)
        if ((mask >> other & 1) != 0 && same(lane, other)) result |= 1u << other;
      return result;
    };
    check_group("match.any.sync" + type + " %r0, " + source + ", %r2;", repeated, equals);
    check_group(
        "match.all.sync" + type + " %r0|%q2, " + source + ", %r2; @%q2 not.b32 %r0, %r0;", repeated,
        [&](std::uint32_t mask, std::uint32_t lane) { return equals(mask, lane) == mask ? ~mask : 0u; });
  }
}

TEST_CASE("votes and elections over every mask") {
  const auto odd = [](std::uint32_t mask) { return mask & 0xaaaaaaaa; };
  const std::string predicate = "and.b32 %r4, %r1, 1; setp.ne.u32 %q2, %r4, 0; ";
  words parity;
  for (std::uint64_t i = 0; i < 32; ++i) parity.push_back(i);
  const auto check = [&](const std::string& text, auto model) {
    check_group(predicate + text, parity, [&](std::uint32_t mask, std::uint32_t lane) -> std::uint32_t {
      return static_cast<std::uint32_t>(model(mask, lane));
    });
  };
  check("vote.sync.ballot.b32 %r0, %q2, %r2;", [&](std::uint32_t m, std::uint32_t) { return odd(m); });
  check("vote.sync.ballot.b32 %r0, !%q2, %r2;", [&](std::uint32_t m, std::uint32_t) { return m & ~odd(m); });
  check("vote.sync.all.pred %q3, %q2, %r2; selp.u32 %r0, 1, 0, %q3;",
        [&](std::uint32_t m, std::uint32_t) { return odd(m) == m; });
  check("vote.sync.any.pred %q3, %q2, %r2; selp.u32 %r0, 1, 0, %q3;",
        [&](std::uint32_t m, std::uint32_t) { return odd(m) != 0; });
  check("vote.sync.uni.pred %q3, %q2, %r2; selp.u32 %r0, 1, 0, %q3;",
        [&](std::uint32_t m, std::uint32_t) { return odd(m) == 0 || odd(m) == m; });
  check("activemask.b32 %r0;", [](std::uint32_t m, std::uint32_t) { return m; });
  check("elect.sync _|%q3, %r2; selp.u32 %r0, 1, 0, %q3;",
        [](std::uint32_t m, std::uint32_t lane) { return (m & (0u - m)) == 1u << lane; });
  check("elect.sync %r0|%q3, %r2; bar.warp.sync %r2;",
        [](std::uint32_t m, std::uint32_t) { return std::countr_zero(m); });
}

TEST_CASE("forms of warp and block instructions") {
  struct row {
    std::string text;
    bool accepted;
  };
  const row rows[] = {
      {"match.all.sync.b32 %r1, %r2, -1;", true},
      {"match.all.sync.b64 _|%q1, %d2, -1;", true},
      {"match.any.sync.b64 %r1|%q1, %d2, -1;", false},
      {"redux.sync.and.u32 %r1, %r2, -1;", false},
      {"redux.sync.min.f32 %f1, %f2, -1;", false},
      {"elect.sync %q1, -1;", false},
      {"vote.ballot.b32 %r1, %q2;", false},
      {"shfl.up.b32 %r1, %r2, 1, 0;", false},
      {"shfl.sync.bfly.b32 %f1|%q1, %f2, 1, 31, %r4;", true},
      {"bar.sync 16;", false},
      {"bar.sync 0, 33;", false},
      {"bar.sync %r1, %r2; bar.cta.sync 0; barrier.sync 1; barrier.cta.sync.aligned 1, 64;", true},
      {"bar.arrive 0;", false},
      {"bar.arrive %r1, %r2; bar.cta.arrive 0, 64; barrier.cta.arrive.aligned 1, 64;", true},
      {"bar.red.popc.u32 %r1, 1, 64, !%q1; bar.cta.red.or.pred %q1, %r1, %r2, %q2;", true},
      {"barrier.red.popc.aligned.u32 %r1, 0, %q1; barrier.cta.red.and.pred %q1, 1, 64, !%q2;", true},
      {"bar.red.and.u32 %r1, 0, %q1;", false},
      {"bar.warp.sync -1; bar.warp.sync %r1;", true},
      {"add.u32 %r1, %tid.x, 1;", false},
  };
  for (const row& r : rows) {
    INFO(r.text);
    bool accepted = true;
    try {
      parsed_module(kernel_text(r.text, 1, "", "9.0", "sm_90"));
    } catch (const ptx_error&) {
      accepted = false;
    }
    CHECK(accepted == r.accepted);
  }
}
