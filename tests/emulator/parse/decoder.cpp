// The checker: operand types and counts, modifiers, undeclared names, features that are newer than .version
// or .target. Accepted and rejected forms are so for ptxas, too.

#include "emulator/parse/parser.hpp"
#include "tests/emulator/kernel.hpp"

#include <string>
#include <utility>

using namespace emulator_test;

namespace {

struct expected {
  std::string body;
  std::uint32_t column;
  std::string reason;
};

std::string around(const std::string& body, const std::string& version = "8.3",
                   const std::string& target = "sm_90") {
  return ".version " + version + "\n.target " + target + "\n.address_size 64\n" +
         ".global .align 8 .b8 gv[64];\n.visible .entry k(.param .u64 p0, .param .u32 p1) { .reg .pred "
         "%p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>;"
         " .reg .u32 %u<9>; .reg .s32 %s<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .f64 %fd<9>; .shared "
         ".align 8 .b8 sm[64]; .local .b8 lm[8];\n" +
         body + "\nret; }";
}

void check(const std::vector<expected>& rows) {
  for (const expected& row : rows) {
    INFO(row.body);
    const ptx_error e = rejection(around(row.body));
    CHECK(e.line() == 6);
    CHECK(e.column() == row.column);
    CHECK(contains(e.reason(), row.reason));
  }
}

}  // namespace

TEST_CASE("names") {
  check({{"add.u32 %r1, %r2, %zz;", 19, "'%zz' is not declared"},
         {"mov.u32 %r9, 1;", 9, "'%r9' is not declared"},
         {"@%q1 ret;", 2, "'%q1' is not declared"},
         {"@%r1 ret;", 2, "is not a predicate"},
         {"bra nowhere;", 5, "no label 'nowhere'"},
         {"{ inner: } bra inner;", 16, "no label 'inner'"},
         {"a: ret; a: ret;", 9, "is defined twice"},
         {".reg .b32 %r1;", 11, "declared twice"},
         {".reg .b32 x; .reg .f32 x;", 24, "declared twice"},
         {"ld.u32 %r1, [nothing];", 14, "'nothing' is not declared"},
         {"undefined.u32 %r1, %r2;", 1, "'undefined' is not an instruction"},
         {"tcgen05.fence::before_thread_sync;", 1, "'tcgen05' needs .target sm_100a"},
         {"istypep.texref %q1, %rd1;", 1, "textures and surfaces"},
         {"call foo;", 6, "'foo' is not declared"}});
}

TEST_CASE("operand types") {
  check({{"add.u32 %f1, %r1, %r2;", 9, "'%f1' is .f32; 'add.u32' takes .u32"},
         {"add.f32 %f1, %f2, 1;", 19, "floating-point constant"},
         {"add.s32 %r1, %r2, 0f3F800000;", 19, "integer constant"},
         {"add.u32 %r1, %rd1, %r2;", 14, "'%rd1' is .b64"},
         {"mov.u32 %f1, %r1;", 9, "'%f1' is .f32"},
         {"mov.b64 %rd1, 0f3F800000;", 15, "integer constant"},
         {"shl.b32 %r1, %r2, %rd3;", 19, "takes .u32"},
         {"mul.wide.u32 %r1, %r2, %r3;", 14, "takes .u64"},
         {"setp.lt.s32 %r1, %r2, %r3;", 13, "takes .pred"},
         {"selp.b32 %r1, %r2, %r3, %r4;", 25, "takes .pred"},
         {"ld.global.u32 %f1, [%rd1];", 15, "'%f1' is .f32"},
         {"ld.global.u32 %h1, [%rd1];", 15, "'%h1' is .b16"},
         {"ld.global.f32 %f1, %rd1;", 20, "address in brackets"},
         {"ld.global.f32 %f1, [%f2];", 21, "32 or 64 integer bits"},
         {"ld.global.f32 %f1, [%r2];", 21, "has 32 bits"},
         {"ld.global.f32 %f1, [sm];", 21, "lives in shared memory"},
         {"ld.shared.f32 %f1, [gv];", 21, "lives in global memory"},
         {"add.u32 %r1, sm, 4;", 14, "not the symbol 'sm'"},
         {"add.u32 %r1, %tid.x, 4;", 14, "read by 'mov' only"},
         {"mov.u64 %rd1, %tid.x;", 15, "has 32 bits"},
         {"mov.u32 %r1, %tid;", 14, "needs .x, .y or .z"},
         {"cvt.u32.u32 %h1, %r1;", 13, "'%h1' is .b16"},
         {"add.u32 5, %r1, %r2;", 9, "destination of 'add.u32' is a register"},
         {"add.u32 %r1, !%r2, 3;", 14, "before a predicate only"},
         {"lop3.b32 %r1, %r2, %r3, %r4, %r5;", 30, "lookup table"},
         {"shfl.sync.idx.b32 %p1, %r2, 0, 31, -1;", 19, "'%p1' is .pred"}});
}

TEST_CASE("operand counts and vectors") {
  check({{"add.u32 %r1, %r2;", 1, "takes 3 operands, not 2"},
         {"add.f32 %f1, %f2, %f3, %f4;", 1, "takes 3 operands, not 4"},
         {"setp.lt.and.u32 %p1, %r1, %r2;", 1, "takes 4 operands"},
         {"bar.sync;", 1, "takes 1 to 2 operands"},
         {"bar.arrive 0;", 1, "takes 2 operands"},
         {"ret 1;", 1, "takes 0 operands"},
         {"st.global.v4.f32 [%rd1], {%f1, %f2, %f3};", 26, "moves 4 elements, not 3"},
         {"ld.global.f32 {%f1, %f2}, [%rd1];", 15, "moves one element"},
         {"ld.global.v2.f32 %f1, [%rd1];", 18, "moves 2 elements"},
         {"ld.global.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [%rd1];", 1, "needs PTX ISA 8.8"},
         {"mov.b64 %rd1, {%r1, %r2, %r3};", 15, "2 or 4 elements"},
         {"mov.b32 %r1, {%h1, %r2};", 20, "'%r2' is .b32"},
         {"bar.sync 16;", 10, "barrier 16 does not exist"},
         {"bar.sync 0, 33;", 13, "multiple of 32"}});
}

TEST_CASE("modifiers") {
  check({{"add %r1, %r2, %r3;", 1, "needs 1 type"},
         {"add.s32.u32 %r1, %r2, %r3;", 8, "too many types"},
         {"add.foo.u32 %r1, %r2, %r3;", 4, "does not take the modifier '.foo'"},
         {"add.s8 %r1, %r2, %r3;", 1, "no form of type .s8"},
         {"add.b32 %r1, %r2, %r3;", 1, "no form of type .b32"},
         {"add.sat.u32 %r1, %r2, %r3;", 1, "needs .target sm_107a"},
         {"add.ftz.f64 %fd1, %fd2, %fd3;", 1, ".ftz is for .f32, .f16 and .f16x2 only"},
         {"mul.u32 %r1, %r2, %r3;", 1, "one of .lo, .hi, .wide"},
         {"fma.f32 %f1, %f2, %f3, %f4;", 1, "rounding modifier"},
         {"fma.rn.rz.f32 %f1, %f2, %f3, %f4;", 1, "exclude each other"},
         {"div.f32 %f1, %f2, %f3;", 1, "one of .approx, .full, .rn"},
         {"ex2.f32 %f1, %f2;", 1, "needs .approx"},
         {"cvt.u32.f32 %r1, %f1;", 1, "one of .rni, .rzi"},
         {"cvt.rn.u32.f32 %r1, %f1;", 1, "rounds with .rni"},
         {"cvt.f32.u32 %f1, %r1;", 1, "one of .rn, .rz"},
         {"cvt.rn.u32.u64 %r1, %rd1;", 1, "takes no rounding modifier"},
         {"setp.u32 %p1, %r1, %r2;", 1, "a comparison"},
         {"setp.lo.s32 %p1, %r1, %r2;", 1, "not for .s32"},
         {"setp.lt.b32 %p1, %r1, %r2;", 1, "not for .b32"},
         {"setp.ltu.u32 %p1, %r1, %r2;", 1, "not for .u32"},
         {"shf.l.b32 %r1, %r2, %r3, %r4;", 1, "a mode"},
         {"shfl.idx.b32 %r1, %r2, 0, 31;", 1, "without .sync"},
         {"vote.all.pred %p1, %p2;", 1, "without .sync"},
         {"ld.shared.nc.f32 %f1, [%r1];", 1, ".nc is for weak loads from .global"},
         {"ld.relaxed.global.f32 %f1, [%rd1];", 1, "needs a scope"},
         {"ld.gpu.global.u32 %r1, [%rd1];", 1, "a scope needs .relaxed or .acquire"},
         {"st.const.u32 [%rd1], %r1;", 1, "constant memory is read-only"},
         {"st.param.u32 [p1], %r1;", 1, "parameter memory is read-only"},
         {"atom.global.u32 %r1, [%rd1], %r2;", 1, "needs an operation"},
         {"atom.global.max.f32 %f1, [%rd1], %f2;", 1, "no form of type .f32"},
         {"atom.local.add.u32 %r1, [lm], 1;", 1, "global and shared memory"},
         {"red.global.exch.b32 [%rd1], %r2;", 1, "needs an operation"},
         {"cvta.u64 %rd1, %rd2;", 1, "needs a state space"},
         {"fence.acq_rel;", 1, "a scope"}});
}

TEST_CASE("features that are newer than .version or .target") {
  const auto needs = [](const std::string& body, const std::string& version, const std::string& target,
                        const std::string& reason) {
    INFO(body);
    const ptx_error e = rejection(around(body, version, target));
    CHECK(e.line() == 6);
    CHECK(contains(e.reason(), reason));
  };
  needs("redux.sync.add.u32 %r1, %r2, -1;", "6.0", "sm_70", "needs PTX ISA 7.0; the module is .version 6.0");
  needs("redux.sync.add.u32 %r1, %r2, -1;", "7.0", "sm_75", "needs .target sm_80; the module is for sm_75");
  needs("elect.sync %r1|%p1, -1;", "8.0", "sm_80", "needs .target sm_90");
  needs("tanh.approx.f32 %f1, %f2;", "6.5", "sm_75", "needs PTX ISA 7.0");
  needs("min.NaN.f32 %f1, %f2, %f3;", "7.0", "sm_75", "needs .target sm_80");
  needs("bmsk.clamp.b32 %r1, %r2, %r3;", "7.5", "sm_70", "needs PTX ISA 7.6");
  needs("nanosleep.u32 20;", "6.0", "sm_70", "needs PTX ISA 6.3");
  needs("activemask.b32 %r1;", "6.1", "sm_70", "needs PTX ISA 6.2");
  needs("ld.global.L1::no_allocate.f32 %f1, [%rd1];", "7.3", "sm_70", "needs PTX ISA 7.4");
  needs("szext.clamp.u32 %r1, %r2, %r3;", "7.5", "sm_70", "needs PTX ISA 7.6");
  needs("min.xorsign.abs.f32 %f1, %f2, %f3;", "7.2", "sm_80", "needs .target sm_86");
  needs("cvta.param.u64 %rd1, p0;", "7.6", "sm_80", "needs PTX ISA 7.7");
  needs("lop3.or.b32 %r1|%p1, %r1, %r2, %r3, 1, %p2;", "8.1", "sm_90", "needs PTX ISA 8.2");
}

TEST_CASE("the target of the module and the emulated device") {
  const auto refused = [](const std::string& version, const std::string& target, architecture a,
                          const std::string& reason) {
    CHECK(contains(rejection(around("", version, target), a).reason(), reason));
  };
  refused("6.0", "sm_80", {}, ".target sm_80 needs .version 7.0");
  refused("7.8", "sm_90a", {}, ".target sm_90a needs .version 8.0");
  refused("8.6", "sm_100", {}, "the emulated device is sm_90a: choose one that runs it");
  refused("8.0", "sm_90a", {.arch_specific = false},
          "the module is for sm_90a; the emulated device is sm_90");
  refused("8.0", "sm_89", {.sm = 80, .arch_specific = false}, "the module is for sm_89");
  CHECK_NOTHROW(parsed_module(around("", "6.0", "sm_70"), {.sm = 70, .arch_specific = false}));
  CHECK_NOTHROW(parsed_module(around("", "6.0", "sm_70")));
  CHECK(contains(rejection(".version 8.0 .target sm_90 .address_size 32").reason(), "address_size 32"));
  // The first version of each newer target, and what runs a family and an architecture, are those of ptxas 13.5.
  const struct {
    std::string target, first, before;
  } newer[] = {{"sm_88", "9.0", "8.8"},   {"sm_100a", "8.6", "8.5"}, {"sm_100f", "8.8", "8.7"},
               {"sm_103", "8.8", "8.7"},  {"sm_107a", "9.4", "9.3"}, {"sm_110f", "9.0", "8.8"},
               {"sm_120a", "8.7", "8.6"}, {"sm_120f", "8.8", "8.7"}, {"sm_121", "8.8", "8.7"}};
  for (const auto& n : newer) {
    INFO(n.target);
    const architecture own = architecture_of(parse_header(around("", n.first, n.target)).target);
    CHECK_NOTHROW(parsed_module(around("", n.first, n.target), own));
    refused(n.before, n.target, own, ".target " + n.target + " needs .version " + n.first);
  }
  const architecture b300 = architecture_of({103, true});
  CHECK_NOTHROW(parsed_module(around("", "8.8", "sm_100f"), b300));
  refused("9.0", "sm_110f", b300, "the module is for sm_110f");
  refused("8.8", "sm_100a", b300, "the module is for sm_100a");
  refused("8.8", "sm_100f", architecture_of({120, true}), "the module is for sm_100f");
  CHECK_NOTHROW(parsed_module(around("", "9.9", "sm_321f"), architecture_of({321, true})));
}

TEST_CASE("a text of a newer version or target runs, but for what is not known of it") {
  const std::string seven = "mov.u32 %r1, 7; st.global.u32 [%p0], %r1;";
  for (const auto& [version, target] : {std::pair<std::string, std::string>{"9.5", "sm_75"},
                                        {"12.34", "sm_90a"},
                                        {"9.5", "sm_100a"},
                                        {"99.99", "sm_999f"}}) {
    INFO(version << ' ' << target);
    const std::string text = kernel_text(seven, 1, "", version, target);
    const kaio::ptx::target named = parse_header(text).target;
    memory global;
    const array<std::uint32_t> out(global, 1);
    run_module(parsed_module(text, named.sm > 90 ? architecture_of(named) : device()), global,
               {out.address()}, {1, 1});
    CHECK(out.values()[0] == 7);
  }
  const auto reason = [](const std::string& body, const std::string& version, const std::string& target) {
    const std::string text = around(body, version, target);
    const ptx_error e = rejection(text, architecture_of(parse_header(text).target));
    CHECK(e.line() == 6);
    return e.reason();
  };
  CHECK(contains(reason("frobnicate.u32 %r1, 1;", "9.6", "sm_90"),
                 "knows; it knows instructions up to PTX ISA 9.5"));
  CHECK(reason("frobnicate.u32 %r1, 1;", "9.5", "sm_90").ends_with("that the emulator knows"));
  CHECK(
      contains(reason("tcgen05.wait::ld.sync.aligned;", "8.6", "sm_100a"), "not supported by the emulator"));
  CHECK(contains(reason("redux.sync.min.f32 %f1, %f2, -1;", "8.6", "sm_100a"),
                 "not supported by the emulator"));
  CHECK(contains(reason("wgmma.fence.sync.aligned;", "8.6", "sm_100a"), "needs .target sm_90a"));
}

TEST_CASE("limits of the device") {
  const auto refused = [](const std::string& text, const std::string& reason) {
    CHECK(contains(rejection(text).reason(), reason));
  };
  refused(around(".shared .b8 big[49152];"), "more than 49152 bytes of static shared memory");
  refused(around(".local .b8 big[600000];"), "more than 524288 bytes of local memory");
  refused(".version 8.0 .target sm_90 .address_size 64 .const .b8 c[70000];", "more than 65536 bytes");
  refused(".version 8.0 .target sm_90 .address_size 64 .entry k(.param .b8 p[4097]) { ret; }",
          "more than 4096 bytes");
  refused(".version 8.0 .target sm_90 .address_size 64 .entry k() { ret; } .entry k() { ret; }",
          "defined twice");
  refused(".version 8.0 .target sm_90 .address_size 64 .extern .global .u32 x;",
          "external and is not defined");
  CHECK_NOTHROW(
      parsed_module(".version 8.1 .target sm_90 .address_size 64 .entry k(.param .b8 p[4097]) { ret; }"));
}

TEST_CASE("accepted forms") {
  for (const std::string body : {"add.s32 %u1, %s1, %r2;",
                                 "add.ftz.rn.f32 %f1, %f2, %f3;",
                                 "add.f32 %f1, %f2, 1.5;",
                                 "add.f64 %fd1, %fd2, 0f3F800000;",
                                 "mov.b32 %r1, 0f3F800000;",
                                 "mov.b32 %r1, %f1;",
                                 "add.u16 %h1, %h2, 70000;",
                                 "mov.u64 %rd1, gv+4;",
                                 "mov.u32 %r1, sm;",
                                 "ld.global.volatile.f32 %f1, [%rd1];",
                                 "ld.global.nc.L1::no_allocate.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
                                 "ld.f32 %f1, [gv];",
                                 "st.global.v2.u32 [%rd2], {%r1, 3};",
                                 "ld.global.b16 %f1, [%rd2];",
                                 "st.global.u8 [%rd2], 300;",
                                 "setp.lt.and.s32 %p1|_, %r1, %r2, !%p3;",
                                 "vote.sync.ballot.b32 %r1, 1, %r3;",
                                 "bar.sync %r1, %r2;",
                                 "barrier.cta.sync.aligned 0;",
                                 "atom.global.add.u32 _, [%rd1], 1;",
                                 "selp.b32 %r1, 1, 0, %p1;",
                                 "@!%p1 bra.uni l; l:",
                                 "mov.b64 %rd1, p0;",
                                 "cvt.u8.u32 %r1, %r1;",
                                 "ld.param.u32 %r1, [p1];",
                                 ".pragma \"nounroll\";",
                                 ".loc 1 2 3"}) {
    INFO(body);
    CHECK_NOTHROW(parsed_module(around(body)));
  }
}
