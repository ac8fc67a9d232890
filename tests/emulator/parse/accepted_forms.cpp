// Forms of instructions on registers and memory that are easily taken for something else: each row was
// settled with ptxas. The first table holds forms that are accepted, with the first PTX ISA version and
// architecture where those matter; the second rejected forms, with words of the reason.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

std::string module_text(const std::string& instruction, const std::string& version,
                        const std::string& target) {
  return kernel_text(
      ".reg .pred q0, q1; .reg .b8 c0; .reg .u8 cu0; .reg .b16 h0, h1, h2, h3; .reg .u16 u0;\n"
      ".reg .b32 r0, r1, r2, r3; .reg .u32 w0; .reg .s32 s0; .reg .b64 d0, d1, d2, d3; .reg .f32 f0, f1, "
      "f2;\n"
      ".reg .f64 g0, g1; .reg .f16 x0, x1; .reg .f16x2 y0, y1; .shared .align 16 .b8 sh[64];\n"
      ".local .align 16 .b8 lo[64];\n" +
          instruction + ";",
      1, ".global .align 16 .b8 gl[64];", version, target);
}

struct accepted_form {
  std::string instruction, version = "9.0", target = "sm_90";
  std::string older = "";  // a version, or an architecture, that does not have it
};

const accepted_form accepted[] = {
    // modifiers in any order, except those that belong to the opcode
    {"add.sat.s32 r0, r1, r2"},
    {"add.s32.sat r0, r1, r2"},
    {"add.ftz.rn.f32 f0, f1, f2"},
    {"atom.add.global.u32 r0, [d0], r1"},
    {"ld.u32.global r0, [d0]"},
    {"mul.wide.u16 r0, h0, h1"},
    {"mad.hi.sat.s32 r0, r1, r2, r3"},
    {"mad.lo.cc.u64 d0, d1, d2, d3"},
    {"madc.hi.cc.s32 r0, r1, r2, r3"},
    // registers and constants
    {"add.u32 r0, s0, w0"},
    {"and.b32 r0, f0, y0"},
    {"shl.b64 d0, d1, r0"},
    {"bfe.u32 r0, r1, 255, 0"},
    {"bfi.b64 d0, d1, d2, 0, 255"},
    {"lop3.b32 _, r0, r1, r2, 0x80"},
    {"lop3.or.b32 _|q0, r0, r1, r2, 0x80, !q1", "8.2", "sm_70", "8.1"},
    {"setp.eq.u32 q0|_, r0, r1"},
    {"setp.lt.and.f16x2 q0|q1, y0, y1, !q0"},
    {"ld.global.u8 d0, [d1]"},
    {"ld.global.s8 r0, [d1]"},
    {"ld.u32 r0, [sh+4]"},
    {"st.u32 [lo], r0"},
    {"ld.global.v2.b32 {_, r0}, [d0]"},
    {"st.global.v4.f32 [d0], {f0, 1.0, f1, 0f3F800000}"},
    {"mov.v2.u32 {r0, r1}, {r2, r3}"},
    {"mov.v4.u32 {r0, r1, r2, r3}, %tid"},
    {"mov.b32 {h0, _}, r0"},
    // a vector of one element
    {"ld.global.b32 {r0}, [d0]"},
    {"ld.global.nc.f32 {f0}, [d0]"},
    {"ldu.global.b32 {r0}, [d0]"},
    {"ld.global.u8 {r0}, [d0]"},
    {"st.shared.b32 [sh], {r0}"},
    {"st.global.b32 [d0], {5}"},
    {"mov.b32 {r0}, r1"},
    {"mov.b64 d0, {d1}"},
    {"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [r0], {r1}, [r2]"},
    // a value that is a register or an address plus a constant
    {"st.u64 [d0], gl + 1"},
    {"st.global.u32 [d0], sh+4"},
    {"st.global.b16 [d0], sh+4"},
    {"st.global.u32 [d0], r0+4"},
    {"add.u32 r0, r1+4, r2"},
    {"add.u32 r0, gl+4, r1"},
    {"mov.u32 r0, r1+4"},
    {"setp.eq.s64 q0, gl+-4, d1"},
    {"selp.u64 d0, lo+4, d1, q0"},
    {"cvt.u32.u64 r0, gl+4"},
    {"shl.b32 r0, 3, r1+2"},
    {"atom.global.exch.b64 d0, [d1], gl+4"},
    // special registers
    {"mov.u16 u0, %ctaid.y"},
    {"mov.u32 r0, %ntid.r"},
    {"mov.u32 r0, %gridid"},
    {"mov.u32 r0, %envreg31"},
    {"mov.u64 d0, %pm7_64"},
    {"mov.pred q0, %is_explicit_cluster", "7.8", "sm_90", "sm_89"},
    {"mov.u32 r0, %cluster_ctarank", "7.8", "sm_90", "7.7"},
    {"mov.u32 r0, %aggr_smem_size", "8.1", "sm_90", "8.0"},
    {"mov.u32 r0, %reserved_smem_offset_1", "7.6", "sm_80", "sm_75"},
    {"mov.u64 d0, %current_graph_exec", "8.0", "sm_70", "7.8"},
    {"cvt.u64.u32 d0, %clock"},
    {"cvt.u32.u16 r0, %tid.x"},
    // conversions
    {"cvt.rn.bf16.u8 h0, cu0", "7.8", "sm_90", "sm_89"},
    {"cvt.rni.s8.bf16 c0, h0", "7.8", "sm_90", "7.7"},
    {"cvt.rna.satfinite.tf32.f32 r0, f0", "8.1", "sm_80", "8.0"},
    {"cvt.pack.sat.s4.s32.b32 r0, r1, r2, r3", "6.5", "sm_75", "sm_72"},
    {"cvt.rz.ftz.sat.f32.f64 f0, g0"},
    {"cvt.sat.u16.s8 h0, c0"},
    // memory
    {"ldu.global.v2.f64 {g0, g1}, [d0]"},
    {"ldu.b32 r0, [d0]"},
    {"ld.global.v8.f32 {f0, _, f1, f2, f0, f1, f2, f0}, [d0]", "8.8", "sm_100", "8.7"},
    {"st.v4.b64 [gl], {d0, d1, d2, d3}", "8.8", "sm_120", "sm_90"},
    {"ld.global.nc.L2::evict_last.v4.b64 {d0, d1, d2, d3}, [d0]", "8.8", "sm_100", "8.7"},
    {"ld.volatile.local.u32 r0, [lo]", "9.1", "sm_70", "9.0"},
    {"st.mmio.release.sys.global.u32 [d0], r0", "9.3", "sm_70", "9.2"},
    {"membar.proxy.async", "8.0", "sm_90", "7.8"},
    {"createpolicy.range.L2::evict_first.L2::evict_first.b64 d0, [d1], r0, r1", "7.4", "sm_80", "sm_75"},
    {"st.global.v8.b16 [d0], {h0, h1, h2, h3, h0, h1, h2, h3}"},
    {"ld.mmio.relaxed.sys.global.u32 r0, [d0]", "8.2", "sm_70", "8.1"},
    {"ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {r0, r1, r2, r3}, [d0]", "7.4", "sm_80", "sm_75"},
    {"ld.shared::cta.u32 r0, [r1]", "7.8", "sm_70", "7.7"},
    {"ld.param::entry.u64 d0, [p0]", "8.3", "sm_70", "8.2"},
    {"isspacep.shared::cluster q0, d0", "7.8", "sm_90", "sm_89"},
    {"prefetch.tensormap [d0]", "8.0", "sm_90", "sm_89"},
    {"createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 d0, 0.25", "7.4", "sm_80", "sm_75"},
    {"atom.global.noftz.add.v4.bf16x2 {r0, r1, r2, r3}, [d0], {r0, r1, r2, r3}", "8.1", "sm_90", "8.0"},
    {"red.global.v2.f32.add [d0], {f0, f1}", "8.1", "sm_90", "sm_89"},
    {"atom.shared.cas.b16 h0, [r0], h1, h2", "6.3", "sm_70", "6.2"},
    // a warp
    {"shfl.idx.b32 r0, r1, 0, 31", "6.3", "sm_70", "6.4"},
    {"vote.ballot.b32 r0, !q0", "6.0", "sm_70", "6.4"},
    {"fns.b32 r0, r1, 3, -2"},
    {"pmevent 15"},
    {"pmevent.mask 0xffff"},
    // video
    {"vadd.u32.s32.u32.sat.min r0, r1.b3, r2.h1, r3"},
    {"vsub.s32.u32.u32 r0.h1, r1, 5, r3"},
    {"vshr.s32.s32.u32.wrap r0, r1.h0, r2"},
    {"vset.s32.u32.ne.add r0, r1, r2, r3"},
    {"vmad.s32.u32.s32.sat.shr15 r0, -r1.h0, r2, r3"},
    {"vmad.u32.u32.u32.po r0, r1, r2, r3"},
    {"vavrg2.s32.s32.s32.sat r0.h1, r1.h30, r2.h12, r3"},
    {"vabsdiff4.u32.u32.u32.add r0, r1, r2, r3"},
    {"vset4.s32.u32.ge r0.b310, r1.b7654, r2.b0123, r3"},
};

struct rejected_form {
  std::string instruction, reason;
};

const rejected_form rejected[] = {
    // modifiers that belong to the opcode follow it
    {"mul.u32.wide d0, r0, r1", "'.wide' must directly follow 'mul'"},
    {"mad.u32.lo r0, r1, r2, r3", "'.lo' must directly follow 'mad'"},
    {"shf.b32.l.wrap r0, r1, r2, r3", "'.l' must directly follow 'shf'"},
    {"dp2a.u32.s32.lo r0, r1, r2, r3", "'.lo' must directly follow 'dp2a'"},
    {"cvta.global.to.u64 d0, d1", "'.to' must directly follow 'cvta'"},
    {"cvt.sat.pack.u16.s32 r0, r1, r2", "'.pack' must directly follow 'cvt'"},
    // types
    {"mul.wide.u64 d0, d1, d2", "no form of type .u64"},
    {"mul24.lo.u64 d0, d1, d2", "no form of type .u64"},
    {"abs.u32 r0, r1", "no form of type .u32"},
    {"neg.u32 r0, r1", "no form of type .u32"},
    {"and.u32 r0, r1, r2", "no form of type .u32"},
    {"shl.s32 r0, r1, r2", "no form of type .s32"},
    {"popc.u32 r0, r1", "no form of type .u32"},
    {"add.pred q0, q0, q1", "no form of type .pred"},
    {"slct.b32.u32 r0, r1, r2, r3", "no form of type .u32"},
    {"testp.finite.f16 q0, x0", "no form of type .f16"},
    {"lg2.approx.f64 g0, g1", "no form of type .f64"},
    // modifiers
    {"add.sat.u64 d0, d1, d2", ".sat is for .s32"},
    {"add.sat.u32 r0, r1, r2", "'add.sat.u32' needs .target sm_107a"},
    {"min.relu.s8x4 r0, r1, r2", "'min.relu.s8x4' needs .target sm_107a"},
    {"add.cc.u16 h0, h1, h2", "no form of type .u16"},
    {"mad.lo.sat.s32 r0, r1, r2, r3", ".sat is for mad.hi.s32 only"},
    {"add.rn.u32 r0, r1, r2", "does not take the modifier '.rn'"},
    {"fma.f32 f0, f1, f2, f0", "needs a rounding modifier"},
    {"add.ftz.f64 g0, g1, g0", ".ftz is for"},
    {"add.rn.rz.f32 f0, f1, f2", "exclude each other"},
    {"div.f32 f0, f1, f2", "needs one of .approx, .full"},
    {"sqrt.approx.rn.f32 f0, f1", "either .approx or a rounding modifier"},
    {"sin.f32 f0, f1", "needs .approx"},
    {"tanh.approx.ftz.f32 f0, f1", "does not take the modifier '.ftz'"},
    {"min.NaN.f64 g0, g1, g0", "are for .f32 only"},
    {"setp.lo.s32 q0, r0, r1", "this comparison is not for .s32"},
    {"setp.lt.b32 q0, r0, r1", "this comparison is not for .b32"},
    {"setp.equ.u32 q0, r0, r1", "this comparison is not for .u32"},
    {"setp.u32 q0, r0, r1", "needs a comparison"},
    {"cvt.f32.u32 f0, r0", "needs a rounding modifier"},
    {"cvt.rn.u32.f32 r0, f0", "rounds with .rni"},
    {"cvt.rn.f64.f32 g0, f0", "is exact"},
    {"cvt.rna.relu.tf32.f32 r0, f0", "does not take the modifier '.relu'"},
    {"prmt.f4e.b4e.b32 r0, r1, r2, r3", "exclude each other"},
    {"szext.s32 r0, r1, r2", "needs a mode"},
    {"add.foo.u32 r0, r1, r2", "does not take the modifier '.foo'"},
    // operands
    {"add.u32 r0, r1", "takes 3 operands, not 2"},
    {"add.u32 r0, r1, d0", "'d0' is .b64"},
    {"add.u32 r0, r1, f0", "'f0' is .f32"},
    {"add.u32 r0, r1, 1.0", "takes an integer constant"},
    {"add.f32 f0, f1, 1", "takes a floating-point constant"},
    {"add.u32 5, r1, r2", "is a register"},
    {"add.u32 _, r1, r2", "is a register"},
    {"add.s32 r0, -r1, r2", "'-' is allowed before a source of vmad only"},
    {"shl.b32 r0, r1, y0", "'y0' is .f16x2"},
    {"popc.b32 y0, r0", "'y0' is .f16x2"},
    {"bmsk.clamp.b32 r0, f0, r1", "'f0' is .f32"},
    {"dp4a.u32.u32 r0, f0, r1, r2", "'f0' is .f32"},
    {"bfe.u32 r0, r1, 256, r2", "256 is out of range"},
    {"bfi.b32 r0, r1, r2, r3, -1", "-1 is out of range"},
    {"and.pred _, q0, q1", "is a register"},
    {"mov.pred _, q0", "is a register"},
    {"testp.finite.f32 _, f0", "is a register"},
    {"isspacep.global _, d0", "is a register"},
    {"vote.sync.all.pred _, q0, -1", "is a register"},
    {"setp.eq.u32 _|_, r0, r1", "writes nothing"},
    {"setp.eq.and.bf16 q0, h0, h1, 1", "takes a predicate register"},
    {"lop3.or.b32 r0|_, r1, r2, r3, 0x80, q1", "is a register"},
    {"elect.sync r0|_, -1", "is a register"},
    {"elect.sync r0|q0, f0", "'f0' is .f32"},
    {"shfl.sync.up.b32 r0|q0, r1, 1, 0, f0", "'f0' is .f32"},
    {"redux.sync.add.u32 y0, r0, r1", "'y0' is .f16x2"},
    {"redux.sync.add.f32 f0, f1, r0", "needs .target sm_100a"},
    {"mov.v2.u32 {r0, r1}, {r2, r3, r0}", "takes 2 registers in braces"},
    {"mov.v4.b64 {d0, d1, d2, d3}, {d0, d1, d2, d3}", "more than 16 bytes"},
    {"mov.u32 r0, %envreg32", "not declared"},
    {"mov.u32 r0, %is_explicit_cluster", "is a predicate"},
    {"mov.u32 r0, %tid", "needs .x, .y or .z"},
    {"mov.u16 h0, %clusterid.x", "has 32 bits"},
    {"cvt.rn.f32.u32 f0, %tid.x", "move it to a register first"},
    {"bar.cluster.arrive", "write barrier.cluster"},
    {"bar.arrive 0, 0", "needs a thread count above 0"},
    {"bar.red.and.pred _, 0, q0", "is a register"},
    {"bar.sync 16", "barrier 16 does not exist"},
    {"bar.warp.sync f0", "'f0' is .f32"},
    {"pmevent 16", "a constant from 0 to 15"},
    {"pmevent r0", "a constant from 0 to 15"},
    // memory
    {"ldu.shared.u32 r0, [r1]", "ldu reads global memory"},
    {"ldu.global.v8.b8 {c0, c0, c0, c0, c0, c0, c0, c0}, [d0]", "vectors of 2 and 4"},
    {"ld.global.u32 _, [d0]", "loads nothing"},
    {"ld.global.v2.u32 {_, _}, [d0]", "loads nothing"},
    {"ld.mmio.relaxed.sys.global.v2.u32 {r0, r1}, [d0]", ".mmio moves one element"},
    {"cvta.param::func.u64 d0, d1", "does not take '.param::func'"},
    {"ld.global.cs.volatile.u32 r0, [d0]", "a cache operator is for weak accesses only"},
    {"ld.mmio.relaxed.gpu.global.u32 r0, [d0]", ".mmio goes with .relaxed.sys"},
    {"ld.shared.v4.b64 {d0, d1, d2, d3}, [r0]", "more than 16 bytes"},
    {"ld.global.L2::evict_last.v2.b64 {d0, d1}, [d0]", "needs .target sm_100"},
    {"membar.proxy.async.global", "does not take the modifier '.global'"},
    {"ld.relaxed.global.u32 r0, [d0]", "needs a scope"},
    {"ld.shared.nc.u32 r0, [r1]", ".nc is for weak loads from .global"},
    {"st.global.release.u32 [d0], r0", "needs a scope"},
    {"st.const.u32 [d0], r0", "read-only"},
    {"ld.global.u32 h0, [d0]", "'h0' is .b16"},
    {"ld.global.v3.u32 {r0, r1, r2}, [d0]", "moves one element"},
    {"ld.global.v2.u32 r0, [d0]", "moves 2 elements, not 1"},
    {"ld.global.v8.f64 {g0, g1, g0, g1, g0, g1, g0, g1}, [d0]", "more than 16 bytes"},
    {"st.bulk.weak.shared::cta [r0], d0, 0", "needs .target sm_100"},
    {"prefetch.global.tensormap [d0]", "does not work on this state space"},
    {"createpolicy.fractional.L2::evict_last.b64 d0, 1.5", "above 0 and at most 1"},
    {"discard.global.L2 [d0], 64", "is 128"},
    {"atom.global.add.s64 d0, [d1], d2", "no form of type .s64"},
    {"atom.global.sub.u32 r0, [d0], r1", "needs an operation"},
    {"atom.global.add.f16 h0, [d0], h1", "needs .noftz"},
    {"atom.global.add.noftz.f16 u0, [d0], h1", "'u0' is .u16"},
    {"atom.global.add.noftz.bf16x2 r0, [d0], 5", "takes a .b32 register"},
    {"atom.shared.add.v2.f32 {f0, f1}, [r0], {f0, f1}", "vectors are for global memory"},
    {"red.global.exch.b32 [d0], r0", "needs an operation"},
    {"red.global.cas.b32 [d0], r0, r1", "needs an operation"},
    {"ld.global.b32 {r0, r1}, [d0]", "moves one element"},
    {"ld.global.b32 {_}, [d0]", "loads nothing"},
    {"mov.f32 {f0}, f1", "no form of type .f32"},
    {"mov.b32 {r0}, {r1}", "2 or 4 elements"},
    {"add.u32 {r0}, r1, r2", "is a register"},
    {"st.global.u64 [d0], gl", "not the symbol 'gl'"},
    {"st.global.f32 [d0], sh+4", "a sum with a constant is an integer"},
    {"add.u32 r0, f0+4, r1", "'f0' is .f32"},
    {"st.global.v2.u64 [d0], {d1, gl+8}", "a register or a constant"},
    {"ld.global.u32 r0+4, [d0]", "needs a register"},
    // newer than sm_90a
    {"add.rn.f32x2 d0, d1, d2", "needs .target sm_100"},
    {"mul.f32x2 d0, d1, d2", "needs .target sm_100"},
    {"min.f32 f0, f1, f2, f0", "needs .target sm_100"},
    {"cvt.rs.f16x2.f32 r0, f0, f1, r1", "needs .target sm_100"},
    {"cvt.rn.satfinite.tf32.f32 r0, f0", "needs .target sm_100"},
    // video
    {"vadd.u32.u32 r0, r1, r2", "needs 3 types"},
    {"vadd.u32.u32.b32 r0, r1, r2", "no form of type .b32"},
    {"vadd.u32.u32.u32 r0.b0, r1, r2", "needs a third source"},
    {"vadd.u32.u32.u32.add r0.b0, r1, r2, r3", "either a selector on its destination or a second operation"},
    {"vadd.u32.u32.u32 r0, r1.b4, r2", "no selector"},
    {"vadd.u32.u32.u32.min.max r0, r1, r2, r3", "exclude each other"},
    {"vadd.u32.u32.u32.add r0, r1, r2, r3.b0", "has no selector"},
    {"vshl.u32.u32.s32.clamp r0, r1, r2", "the shift amount is .u32"},
    {"vshl.u32.u32.u32 r0, r1, r2", "needs a mode"},
    {"vset.u32.u32.lt.sat r0, r1, r2", "does not take the modifier '.sat'"},
    {"vmad.s32.s32.s32 r0, -r1, r2, -r3", "is negated"},
    {"vmad.s32.s32.s32.po r0, -r1, r2, r3", ".po goes without '-'"},
    {"vmad.s32.s32.s32 r0.b0, r1, r2, r3", "has no selector"},
    {"vadd2.u32.u32.u32.sat.add r0, r1, r2, r3", "exclude each other"},
    {"vadd2.u32.u32.u32 r0.h01, r1, r2, r3", "no mask"},
    {"vadd2.u32.u32.u32 r0, r1.h34, r2, r3", "no selector"},
    {"vadd2.u32.u32.u32 r0, r1, 5, r3", "are registers"},
    {"vadd4.u32.u32.u32 r0, r1.b765, r2, r3", "no selector"},
    {"vavrg.u32.u32.u32 r0, r1, r2", "is not an instruction of PTX"},
};

}  // namespace

TEST_CASE("forms that ptxas accepts") {
  for (const accepted_form& f : accepted) {
    INFO(f.instruction);
    const bool newer = f.target.starts_with("sm_1");
    const architecture device = newer ? architecture_of({120, true}) : architecture{};
    CHECK_NOTHROW(parsed_module(module_text(f.instruction, f.version, f.target), device));
    if (f.older.empty()) continue;
    const bool other_target = f.older[0] == 's';
    const std::string what = rejection(module_text(f.instruction, other_target ? "9.0" : f.older,
                                                   other_target ? f.older : f.target),
                                       device)
                                 .what();
    CHECK((contains(what, "needs") || contains(what, "without .sync")));
  }
}

TEST_CASE("forms that ptxas rejects, and why") {
  for (const rejected_form& f : rejected) {
    INFO(f.instruction);
    CHECK(contains(rejection(module_text(f.instruction, "9.0", "sm_90")).what(), f.reason));
  }
}
