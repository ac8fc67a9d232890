// Which forms of mma.sync there are: shapes, types, layouts, operands, versions and targets. A rejected one
// has a reason, in the words of the manual.

#include "tests/emulator/kernel.hpp"

namespace {

using namespace emulator_test;

struct machine_text {
  std::string version = "9.0", target = "sm_90a";
};

std::string text_of(const std::string& instruction, const machine_text& t) {
  return ".version " + t.version + "\n.target " + t.target +
         "\n.address_size 64\n.visible .entry k() {\n.reg .b32 b<16>; .reg .f32 f<16>; .reg .f64 g<16>;"
         " .reg .s32 s<16>; .reg .u32 u<16>; .reg .f16x2 h<16>; .reg .b64 l<16>; .reg .b16 w<4>;\n" +
         instruction + ";\nret;\n}\n";
}

architecture device_for(const machine_text& t) {
  const auto sm = static_cast<std::uint16_t>(std::stoul(t.target.substr(3)));
  return architecture_of({sm, t.target.back() == 'a'});
}

void accepted(const std::string& instruction, const machine_text& t = {}) {
  INFO(instruction << " " << t.version << " " << t.target);
  CHECK_NOTHROW(parsed_module(text_of(instruction, t), device_for(t)));
}

void rejected(const std::string& instruction, const std::string& reason, const machine_text& t = {}) {
  const ptx_error e = rejection(text_of(instruction, t), device_for(t));
  INFO(instruction);
  CHECK(contains(e.reason(), reason));
  CHECK(e.line() == 6);
}

const std::string f16_operands = " {f0,f1,f2,f3}, {b0,b1,b2,b3}, {b4,b5}, {f4,f5,f6,f7}";
const std::string s8_operands = " {s0,s1,s2,s3}, {b0,b1}, {b4}, {s4,s5,s6,s7}";

}  // namespace

TEST_CASE("mma needs all of its modifiers, in any order") {
  accepted("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" + f16_operands);
  accepted("mma.aligned.sync.row.col.f32.f16.f16.f32.m16n8k16" + f16_operands);
  rejected("mma.aligned.m16n8k16.row.col.f32.f16.f16.f32" + f16_operands, "without .sync");
  rejected("mma.sync.m16n8k16.row.col.f32.f16.f16.f32" + f16_operands, "without .aligned");
  rejected("mma.sync.aligned.row.col.f32.f16.f16.f32" + f16_operands, "needs one shape");
  rejected("mma.sync.aligned.m16n8k16.m16n8k8.row.col.f32.f16.f16.f32" + f16_operands, "needs one shape");
  rejected("mma.sync.aligned.m16n16k16.row.col.f32.f16.f16.f32" + f16_operands, "needs one shape");
  rejected("mma.sync.aligned.m16n8k16.row.f32.f16.f16.f32" + f16_operands, "layouts of A and of B");
  rejected("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16" + f16_operands, "needs four types");
  rejected("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.f32" + f16_operands, "needs four types");
  rejected("mma.sync.aligned.m16n8k16.row.col.ftz.f32.f16.f16.f32" + f16_operands, "'.ftz'");
}

TEST_CASE("mma takes the shapes, types and layouts of the manual") {
  rejected("mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32" + f16_operands, ".row.col only");
  rejected("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32" + f16_operands,
           "the shapes of .f16 are .m8n8k4, .m16n8k8, .m16n8k16");
  rejected("mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32" + f16_operands,
           "the shapes of .tf32 are .m16n8k4, .m16n8k8");
  rejected("mma.sync.aligned.m8n8k4.row.col.f32.bf16.bf16.f32" + f16_operands, "the shapes of .bf16");
  rejected("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32" + f16_operands, "do not go together");
  rejected("mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16" + f16_operands, "are of .f32");
  rejected("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16" + f16_operands, "of the same type");
  rejected(
      "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32 "
      "{b0,b1,b2,b3},{b0,b1},{b0,b1},{f0,f1,f2,f3,f4,f5,f6,f7}",
      "D must be of .f32 where C is");
  rejected("mma.sync.aligned.m16n8k16.row.col.f32.s8.s8.f32" + s8_operands, "are of .s32");
  rejected("mma.sync.aligned.m16n8k16.row.col.s32.f32.f32.s32" + s8_operands, "no multiplication of .f32");
  accepted("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.u8.s32" + s8_operands);
  rejected("mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32" + f16_operands, "'.satfinite'");
  accepted("mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {g0,g1},{g2},{g3},{g4,g5}");
  rejected("mma.sync.aligned.m8n8k4.row.col.rni.f64.f64.f64.f64 {g0,g1},{g2},{g3},{g4,g5}", "'.rni'");
  rejected("mma.sync.aligned.m16n8k16.row.col.rz.f32.f16.f16.f32" + f16_operands, "'.rz'");
  const std::string bits = " {s0,s1},{b0},{b1},{s2,s3}";
  accepted("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc" + bits);
  rejected("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32" + bits, ".xor.popc or .and.popc");
  rejected("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.popc.xor" + bits, ".xor.popc or .and.popc");
  rejected("mma.sync.aligned.m8n8k128.row.col.satfinite.s32.b1.b1.s32.xor.popc" + bits, "'.satfinite'");
  rejected("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32.xor.popc" + bits, "of .b1 only");
}

TEST_CASE("a sparse mma takes metadata and a selector that there is") {
  const std::string half =
      "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f0,f1,f2,f3},{b0,b1},{b2,b3},"
      "{f4,f5,f6,f7}";
  accepted(half + ", b4, 3");
  accepted(half + ", u4, 0x2");
  rejected(half + ", b4, 4", "between 0 and 3");
  rejected(half + ", b4, b5", "selector of");
  rejected(half + ", 7, 0", "metadata in a register");
  rejected(half, "takes 6 operands");
  const std::string wide =
      "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32 {s0,s1,s2,s3},"
      "{b0,b1,b2,b3},{b4,b5,b6,b7},{s4,s5,s6,s7}, b8, ";
  accepted(wide + "0");
  rejected(wide + "1",
           "selector of 'mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32' is 0");
  rejected(
      "mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16 "
      "{b0,b1},{b0,b1,b2,b3},{b4,b5,b6,b7},{b2,b3},b8,0",
      "are of .f32");
  rejected("mma.sp.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {g0,g1},{g2},{g3},{g4,g5},b0,0",
           "no sparse A of .f64");
}

TEST_CASE("fragments are vectors of the right length and type") {
  const std::string f16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ";
  rejected(f16 + "{f0,f1,f2,f3}, {b0,b1}, {b4,b5}, {f4,f5,f6,f7}", "has A in 4 registers, not in 2");
  rejected(f16 + "f0, {b0,b1,b2,b3}, {b4,b5}, {f4,f5,f6,f7}", "takes D as a vector");
  accepted(f16 + "{f0,_,f2,_}, {h0,h1,h2,h3}, {b4,h5}, {0f3F800000,f5,f6,f7}");
  rejected(f16 + "{f0,f1,f2,f3}, {b0,b1,b2,u3}, {b4,b5}, {f4,f5,f6,f7}", "u3");
  rejected(f16 + "{f0,f1,f2,f3}, {b0,b1,b2,f3}, {b4,b5}, {f4,f5,f6,f7}", "f3");
  rejected(f16 + "{f0,f1,f2,f3}, {b0,b1,b2,0}, {b4,b5}, {f4,f5,f6,f7}", "register");
  rejected(f16 + "{f0,f1,f2,s3}, {b0,b1,b2,b3}, {b4,b5}, {f4,f5,f6,f7}", "s3");
  rejected(f16 + "{f0,f1,f2,f3}, {b0,b1,b2,b3}, {b4,b5}, {0.0,f5,f6,f7}", "constant of .f32");
  rejected(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {f0,f1,f2,f3}, {b0,b1,b2,h3}, {b4,b5}, "
      "{f4,f5,f6,f7}",
      "h3");
  rejected(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {f0,f1,f2,f3}, {b0,b1,b2,f3}, {b4,b5}, "
      "{f4,f5,f6,f7}",
      "f3");
  accepted("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {s0,u1,b2,s3}, {f0,h1}, {u4}, {4,u5,b6,-1}");
  rejected("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {s0,s1,s2,h3}, {b0,b1}, {b4}, {s4,s5,s6,s7}",
           "h3");
  rejected("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {s0,s1,s2,l3}, {b0,b1}, {b4}, {s4,s5,s6,s7}",
           "l3");
  accepted("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {l0,g1},{l2},{g3},{g4,0d3FF0000000000000}");
}

TEST_CASE("forms of mma begin with a version and a target") {
  const std::string quad =
      "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {f0,f1,f2,f3,f4,f5,f6,f7},{b0,b1},{b2,b3},"
      "{f0,f1,f2,f3,f4,f5,f6,f7}";
  accepted(quad, {"6.4", "sm_70"});
  rejected(quad, "6.4", {"6.3", "sm_70"});
  const std::string integers = "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32" + s8_operands;
  accepted(integers, {"7.0", "sm_80"});
  rejected(integers, "sm_80", {"7.0", "sm_75"});
  const std::string conjunction =
      "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {s0,s1},{b0},{b1},{s2,s3}";
  accepted(conjunction, {"7.1", "sm_80"});
  rejected(conjunction, "7.1", {"7.0", "sm_80"});
  const std::string eight = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32" + f16_operands;
  accepted(eight, {"8.4", "sm_89"});
  rejected(eight, "8.4", {"8.3", "sm_89"});
  rejected(eight, "sm_89", {"8.4", "sm_80"});
  rejected("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 {b0,b1},{b0,b1,b2,b3},{b4,b5},{b6,b7}", "8.7",
           {"8.6", "sm_89"});
  const std::string doubles =
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {g0,g1,g2,g3},{g4,g5},{g6},{g0,g1,g2,g3}";
  accepted(doubles, {"7.8", "sm_90"});
  rejected(doubles, "sm_90", {"7.8", "sm_89"});
  rejected(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {f0,f1,f2,f3},{b0,b1},{b2,b3},"
      "{f4,f5,f6,f7}, b4, 0",
      "8.5", {"8.4", "sm_80"});
}

TEST_CASE("what needs a later target is named") {
  rejected("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32" + f16_operands, "sm_120a");
  rejected("mma.sync.aligned.m16n8k32.row.col.f32.e3m2.e2m1.f32" + f16_operands, "sm_120a");
  rejected("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0" +
               f16_operands + ", b0, {0, 1}, b1, {0, 1}",
           "sm_120a");
}
