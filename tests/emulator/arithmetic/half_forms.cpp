// Which forms of the 16-bit types are instructions, from which PTX ISA version and architecture on, and what
// the message for the others is. Every row has been assembled with ptxas 13.0, which agrees on all but .oob.

#include "tests/emulator/arithmetic/half_model.hpp"

using namespace emulator_test;

namespace {

std::string module_text(const std::string& instruction, const std::string& version,
                        const std::string& target) {
  return kernel_text(
      ".reg .b16 h0, h1, h2, h3; .reg .f16 x0, x1, x2; .reg .u16 u0, u1; .reg .b32 r0, r1, r2, r3;\n"
      ".reg .u32 w0, w1; .reg .f16x2 y0, y1, y2; .reg .f32 f0, f1, f2; .reg .f64 g0, g1; .reg .pred s, t;\n"
      ".reg .b64 d0, d1;\n" +
          instruction + ";",
      1, "", version, target);
}

bool accepted(const std::string& instruction, const std::string& version, const std::string& target) {
  try {
    parsed_module(module_text(instruction, version, target));
    return true;
  } catch (const ptx_error&) {
    return false;
  }
}

struct first_form {
  std::string instruction, version, target;  // the first that have it
  std::string older_version, older_target;   // do not have it, each alone; empty where there is none
};

const first_form firsts[] = {
    {"add.rn.ftz.sat.f16 h0, h1, h2", "6.0", "sm_70", "", ""},
    {"sub.f16x2 r0, y1, r2", "6.0", "sm_70", "", ""},
    {"mul.ftz.f16 x0, h1, x2", "6.0", "sm_70", "", ""},
    {"fma.rn.ftz.sat.f16x2 y0, y1, y2, r0", "6.0", "sm_70", "", ""},
    {"fma.rn.ftz.relu.f16 h0, h1, h2, h3", "7.0", "sm_80", "6.5", "sm_75"},
    {"add.bf16 h0, h1, h2", "7.8", "sm_90", "7.7", "sm_89"},
    {"sub.rn.bf16x2 r0, r1, r2", "7.8", "sm_90", "7.7", "sm_89"},
    {"mul.bf16x2 r0, r1, r2", "7.8", "sm_90", "7.7", "sm_89"},
    {"fma.rn.relu.bf16 h0, h1, h2, h3", "7.0", "sm_80", "6.5", "sm_75"},
    {"neg.ftz.f16 h0, h1", "6.0", "sm_70", "", ""},
    {"neg.bf16x2 r0, r1", "7.0", "sm_80", "6.5", "sm_75"},
    {"abs.ftz.f16x2 r0, r1", "6.5", "sm_70", "6.4", ""},
    {"abs.bf16 h0, h1", "7.0", "sm_80", "6.5", "sm_75"},
    {"min.ftz.NaN.f16x2 r0, r1, r2", "7.0", "sm_80", "6.5", "sm_75"},
    {"max.NaN.bf16 h0, h1, h2", "7.0", "sm_80", "6.5", "sm_75"},
    {"max.NaN.xorsign.abs.bf16x2 r0, r1, r2", "7.2", "sm_86", "7.1", "sm_80"},
    {"ex2.approx.f16x2 r0, r1", "7.0", "sm_75", "6.5", "sm_70"},
    {"ex2.approx.ftz.bf16 h0, h1", "7.8", "sm_90", "7.7", "sm_89"},
    {"tanh.approx.f16 h0, h1", "7.0", "sm_75", "6.5", "sm_70"},
    {"tanh.approx.bf16x2 r0, r1", "7.8", "sm_90", "7.7", "sm_89"},
    {"setp.gtu.ftz.and.f16x2 s|t, r0, r1, !s", "6.0", "sm_70", "", ""},
    {"setp.lt.bf16 s, h0, h1", "7.8", "sm_90", "7.7", "sm_89"},
    {"set.lt.ftz.f16.f32 h0, f0, 1.0", "6.0", "sm_70", "", ""},
    {"set.lt.u16.f16 u0, h0, h1", "6.5", "sm_70", "6.4", ""},
    {"set.eq.bf16.u32 h0, r0, 5", "7.8", "sm_90", "7.7", "sm_89"},
    {"cvt.rp.sat.f16.s8 h0, h1", "6.0", "sm_70", "", ""},
    {"cvt.rn.relu.f16.f32 h0, f0", "7.0", "sm_80", "6.5", "sm_75"},
    {"cvt.rz.satfinite.f16.f32 h0, f0", "8.1", "sm_70", "8.0", ""},
    {"cvt.rn.bf16.f32 h0, f0", "7.0", "sm_80", "6.5", "sm_75"},
    {"cvt.f32.bf16 f0, h0", "7.1", "sm_80", "7.0", "sm_75"},
    {"cvt.rzi.s32.bf16 r0, h0", "7.8", "sm_90", "7.7", "sm_89"},
    {"cvt.rn.f16x2.f32 r0, f0, f1", "7.0", "sm_80", "6.5", "sm_75"},
    {"cvt.rn.satfinite.relu.bf16x2.f32 r0, f0, f1", "8.1", "sm_80", "8.0", "sm_75"},
    {"cvt.rna.tf32.f32 r0, f0", "7.0", "sm_80", "6.5", "sm_75"},
    {"cvt.rz.relu.tf32.f32 r0, f0", "7.8", "sm_90", "7.7", "sm_89"},
    {"cvt.rn.satfinite.e4m3x2.f32 h0, f0, f1", "8.1", "sm_89", "8.0", "sm_86"},
    {"cvt.rn.satfinite.relu.e5m2x2.f16x2 h0, r0", "7.8", "sm_90", "7.7", "sm_86"},
    {"cvt.rn.f16x2.e4m3x2 y0, h0", "8.1", "sm_89", "8.0", "sm_86"},
    {"cvt.pack.sat.s16.s32 r0, r1, r2", "6.5", "sm_72", "6.4", "sm_70"},
    {"cvt.pack.sat.u4.s32.b32 r0, r1, r2, r3", "6.5", "sm_75", "6.4", "sm_72"},
    {"add.s16x2 r0, r1, r2", "8.0", "sm_90", "7.8", "sm_89"},
    {"max.relu.s32 r0, r1, r2", "8.0", "sm_90", "7.8", "sm_89"},
    {"mov.b32 r0, {x0, x1}", "6.0", "sm_70", "", ""},
    {"mov.b32 {x0, h1}, y0", "6.0", "sm_70", "", ""},
    {"mov.b16 x0, 0x3c00", "6.0", "sm_70", "", ""},
};

struct wrong_form {
  std::string instruction, reason;
};

const wrong_form wrongs[] = {
    {"add.relu.f16 h0, h1, h2", "does not take the modifier '.relu'"},
    {"add.rz.f16 h0, h1, h2", "does not take the modifier '.rz'"},
    {"add.sat.bf16 h0, h1, h2", ".sat is not for .bf16"},
    {"add.ftz.bf16x2 r0, r1, r2", ".ftz is for .f32, .f16 and .f16x2 only"},
    {"add.f16 h0, h1, 0x3c00", "takes a register here; there are no constants of type .f16"},
    {"add.f16 h0, h1, 1.0", "takes a register here; there are no constants of type .f16"},
    {"add.f16 u0, h1, h2", "'u0' is .u16"},
    {"add.bf16 x0, h1, h2", "'x0' is .f16"},
    {"add.f32.f16 f0, h0, f1", "needs .target sm_100"},
    {"fma.rn.f32.bf16 f0, h0, h1, f1", "needs .target sm_100"},
    {"fma.f16 h0, h1, h2, h3", "needs a rounding modifier"},
    {"fma.rz.f16 h0, h1, h2, h3", "is rounded with .rn"},
    {"fma.rn.sat.relu.f16 h0, h1, h2, h3", ".sat and .relu exclude each other"},
    {"fma.rn.oob.f16 h0, h1, h2, h3", ".oob is not supported by the emulator"},
    {"min.xorsign.f16 h0, h1, h2", ".xorsign is followed by .abs"},
    {"ex2.approx.ftz.f16 h0, h1", "does not take .ftz"},
    {"ex2.approx.bf16 h0, h1", "needs .ftz"},
    {"tanh.f16 h0, h1", "needs .approx"},
    {"copysign.f16 h0, h1, h2", "'copysign' has no form of type .f16"},
    {"testp.finite.f16 s, h0", "'testp' has no form of type .f16"},
    {"sqrt.rn.f16 h0, h1", "'sqrt' has no form of type .f16"},
    {"div.rn.f16 h0, h1, h2", "'div' has no form of type .f16"},
    {"mad.rn.f16 h0, h1, h2, h3", "'mad' has no form of type .f16"},
    {"selp.f16 h0, h1, h2, s", "'selp' has no form of type .f16"},
    {"mov.f16 h0, h1", "'mov' has no form of type .f16"},
    {"ld.global.f16 h0, [%p0]", ".f16"},
    {"setp.lt.f16 s|t, h0, h1", "has one destination"},
    {"setp.lo.f16 s, h0, h1", "this comparison is not for .f16"},
    {"set.lt.f32.f16 f0, h1, h2", "'set' has no form of type .f32"},
    {"set.lt.ftz.bf16.f32 h0, f1, f2", ".ftz is not for .bf16"},
    {"cvt.f16.f32 h0, f0", "needs a rounding modifier"},
    {"cvt.rn.f32.f16 f0, h0", "is exact and takes no rounding modifier"},
    {"cvt.rni.f16.f32 h0, f0", "rounds with one of .rn"},
    {"cvt.rn.f16.f16 h0, h1", "rounds with one of .rni"},
    {"cvt.rn.ftz.f16.f64 h0, g0", ".ftz goes with .f32 only"},
    {"cvt.rm.relu.f16.f32 h0, f0", ".relu and .satfinite go with .rn or .rz"},
    {"cvt.rn.sat.relu.f16.f32 h0, f0", "exclude .sat and .ftz"},
    {"cvt.rn.sat.bf16.f32 h0, f0", ".sat is not for .bf16"},
    {"cvt.rn.bf16.u8 h0, h1", "takes .u8 here"},
    {"cvt.rn.bf16.f32 r0, f0", "'r0' is .b32"},
    {"cvt.f32.f16 f0, 0x3c00", "takes a register here"},
    {"cvt.rm.f16x2.f32 r0, f0, f1", "needs a rounding modifier: one of .rn, .rz"},
    {"cvt.rn.satfinite.tf32.f32 r0, f0", "needs .target sm_100"},
    {"cvt.rna.tf32.f32 f0, f1", "'f0' is .f32"},
    {"cvt.f32.tf32 f0, r0", "there is no conversion from .tf32"},
    {"cvt.rn.e4m3x2.f32 h0, f0, f1", "needs .satfinite"},
    {"cvt.rn.satfinite.e4m3x2.f32 u0, f0, f1", "'u0' is .u16"},
    {"cvt.rn.satfinite.e2m1x2.f32 h0, f0, f1", "needs .target sm_100"},
    {"cvt.pack.u16.s32 r0, r1, r2", "needs .sat"},
    {"cvt.pack.sat.u8.s32 r0, r1, r2", "has the types .s32.b32"},
    {"sub.u16x2 r0, r1, r2", "needs 1 type"},
    {"max.relu.u16x2 r0, r1, r2", "does not take the modifier '.relu'"},
    {"add.u16x2 w0, r1, r2", "'w0' is .u32"},
};

}  // namespace

TEST_CASE("half: a form is accepted from its first version and architecture on") {
  for (const first_form& f : firsts) {
    INFO(f.instruction);
    CHECK(accepted(f.instruction, f.version, f.target));
    CHECK(accepted(f.instruction, "9.0", "sm_90"));
    if (!f.older_version.empty())
      CHECK(contains(rejection(module_text(f.instruction, f.older_version, f.target)).what(), " needs "));
    if (!f.older_target.empty())
      CHECK(
          contains(rejection(module_text(f.instruction, "9.0", f.older_target)).what(), "needs .target sm_"));
  }
}

TEST_CASE("half: what is no form is rejected with its reason") {
  for (const wrong_form& f : wrongs) {
    INFO(f.instruction);
    CHECK(contains(rejection(module_text(f.instruction, "9.0", "sm_90")).what(), f.reason));
  }
  for (const std::string declaration : {".reg .bf16 z", ".reg .bf16x2 z"})
    CHECK(contains(rejection(module_text(declaration, "9.0", "sm_90")).what(),
                   "is a type of instructions only"));
  CHECK(contains(rejection(kernel_text("", 1, ".global .f16 z = 1.0;")).what(), "have no initial values"));
}

TEST_CASE("half: registers of type .f16 and .f16x2 hold what registers of bits hold") {
  CHECK(apply("{ .reg .f16 x, y; .reg .f16x2 p; mov.b32 {x, y}, a; mov.b32 p, {y, x}; mov.b32 d, p; }", "b32",
              {"b32"}, {{0x3c004000}})[0] == 0x40003c00);
  CHECK(apply("{ .reg .f16x2 p; mov.b32 p, a; add.u32 p, p, 1; add.f16x2 d, p, p; }", "b32", {"b32"},
              {{0x3c003bff}})[0] == 0x40004000);
  CHECK(apply("{ .reg .f16 x; mov.b16 x, 0x3c00; fma.rn.f16 d, x, a, x; }", "b16", {"b16"}, {{0x3c00}})[0] ==
        0x4000);
}

TEST_CASE("pairs of 16-bit integers, and .relu of integers") {
  words v;
  for (const std::uint64_t x : {0x0u, 0x1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu, 0x1234u})
    for (const std::uint64_t y : {0x0u, 0xffffu, 0x7fffu, 0x8000u, 0x4321u}) v.push_back(x << 16 | y);
  const auto each = [](std::uint64_t a, std::uint64_t b, auto function) {
    const auto one = [&](unsigned by) {
      return static_cast<std::uint64_t>(function(extended(a >> by, 2), extended(b >> by, 2))) & 0xffff;
    };
    return one(16) << 16 | one(0);
  };
  const auto check = [&](const std::string& op, auto function) {
    check_instruction(op + " d, a, b", "b32", {"b32", "b32"}, {v, v},
                      [&](const words& x) { return each(x[0], x[1], function); });
  };
  using number = std::int64_t;
  for (const std::string type : {"u16x2", "s16x2"}) {
    const bool is_signed = type[0] == 's';
    const auto less = [is_signed](number a, number b) {
      return is_signed ? a < b : (a & 0xffff) < (b & 0xffff);
    };
    check("add." + type, [](number a, number b) { return a + b; });
    check("min." + type, [&](number a, number b) { return less(a, b) ? a : b; });
    check("max." + type, [&](number a, number b) { return less(a, b) ? b : a; });
  }
  check("min.relu.s16x2", [](number a, number b) { return std::max<number>(std::min(a, b), 0); });
  check("max.relu.s16x2", [](number a, number b) { return std::max<number>(std::max(a, b), 0); });
  check_instruction("min.relu.s32 d, a, b", "b32", {"b32", "b32"}, {v, v}, [](const words& x) {
    return static_cast<std::uint64_t>(std::max<number>(std::min(extended(x[0], 4), extended(x[1], 4)), 0));
  });
  check_instruction("max.relu.s32 d, a, b", "b32", {"b32", "b32"}, {v, v}, [](const words& x) {
    return static_cast<std::uint64_t>(std::max<number>(std::max(extended(x[0], 4), extended(x[1], 4)), 0));
  });
}
