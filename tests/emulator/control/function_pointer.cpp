// Calls through pointers, tables of functions and virtual functions; brx.idx; and the faults of control that
// goes where it must not.

#include "tests/emulator/kernel.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using namespace emulator_test;

namespace {

const std::string store = "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r20;";

std::vector<std::uint32_t> answers(const std::string& functions, const std::string& body, shape s = {}) {
  return results(body + store, std::size_t{s.grid} * s.block, s, functions);
}

void check_all(const std::vector<std::uint32_t>& have,
               const std::function<std::uint32_t(std::uint32_t)>& want) {
  for (std::uint32_t i = 0; i < have.size(); ++i) {
    INFO("thread " << i);
    CHECK(have[i] == want(i));
  }
}

fault_report fault_in(const std::string& functions, const std::string& body) {
  memory global;
  const array<std::uint32_t> out(global, 32);
  return fault_of(body + store, global, {out.address()}, {}, functions);
}

std::string binary(const std::string& name, const std::string& opcode) {
  return ".func (.param .b32 q) " + name +
         "(.param .b32 a, .param .b32 b) { .reg .b32 %r<4>; ld.param.b32 %r1, [a];"
         "ld.param.b32 %r2, [b]; " +
         opcode + " %r3, %r1, %r2; st.param.b32 [q], %r3; ret; }\n";
}

const std::string three =
    binary("plus", "add.u32") + binary("minus", "sub.u32") + binary("times", "mul.lo.u32");

std::uint32_t model(std::uint32_t which, std::uint32_t a, std::uint32_t b) {
  return which == 0 ? a + b : which == 1 ? a - b : a * b;
}

// Calls %d5 with %thread and 3.
const std::string indirect = R"(
  { .param .b32 x; .param .b32 y; .param .b32 r; st.param.b32 [x], %thread; st.param.b32 [y], 3;
    prototype : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
    call (r), %d5, (x, y), prototype; ld.param.b32 %r20, [r]; })";

}  // namespace

TEST_CASE("tables of functions in .global and .const memory") {
  for (const std::string space : {"global", "const"}) {
    check_all(answers(three + "." + space + " .align 8 .u64 table[3] = {plus, minus, times};\n",
                      "rem.u32 %r1, %thread, 3; mul.wide.u32 %d1, %r1, 8; mov.u64 %d2, table;"
                      "add.u64 %d3, %d2, %d1; ld." +
                          space + ".u64 %d5, [%d3];" + indirect,
                      {2, 64}),
              [](std::uint32_t i) { return model(i % 3, i, 3); });
  }
}

TEST_CASE("the address of a function as a value, whole, in bytes, and in 32 bits") {
  check_all(answers(three,
                    "setp.lt.u32 %q1, %thread, 16; mov.u64 %d1, plus; mov.u64 %d2, times;"
                    "selp.b64 %d5, %d1, %d2, %q1;" +
                        indirect),
            [](std::uint32_t i) { return model(i < 16 ? 0 : 2, i, 3); });
  check_all(answers(three + ".global .align 8 .u8 bytes[8] = {0xFF(minus), 0xFF00(minus), 0xFF0000(minus),"
                            "0xFF000000(minus), 0xFF00000000(minus), 0xFF0000000000(minus),"
                            "0xFF000000000000(minus), 0xFF00000000000000(minus)};\n",
                    "ld.global.u64 %d5, [bytes];" + indirect),
            [](std::uint32_t i) { return i - 3; });
  check_all(answers(three,
                    "mov.u32 %r5, times; listed: .calltargets plus, times;"
                    "call (%r20), %r5, (%thread, 3), listed;"),
            [](std::uint32_t i) { return i * 3; });
}

TEST_CASE("virtual functions, as nvcc writes them") {
  const std::string classes = R"(
.func  (.param .b32 func_retval0) _ZN2C11fEi(.param .b64 _ZN2C11fEi_param_0, .param .b32 _ZN2C11fEi_param_1);
.func  (.param .b32 func_retval0) _ZN2C21fEi(.param .b64 _ZN2C21fEi_param_0, .param .b32 _ZN2C21fEi_param_1);
.global .align 8 .u64 _ZTV2C1[3] = {0, 0, _ZN2C11fEi};
.global .align 8 .u64 _ZTV2C2[3] = {0, 0, _ZN2C21fEi};
.func  (.param .b32 func_retval0) _ZN2C11fEi(
	.param .b64 _ZN2C11fEi_param_0,
	.param .b32 _ZN2C11fEi_param_1
)
{
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<2>;
	ld.param.u64 	%rd1, [_ZN2C11fEi_param_0];
	ld.param.u32 	%r1, [_ZN2C11fEi_param_1];
	ld.u32 	%r2, [%rd1+8];
	add.s32 	%r3, %r2, %r1;
	st.param.b32 	[func_retval0+0], %r3;
	ret;
}
.func  (.param .b32 func_retval0) _ZN2C21fEi(
	.param .b64 _ZN2C21fEi_param_0,
	.param .b32 _ZN2C21fEi_param_1
)
{
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<2>;
	ld.param.u64 	%rd1, [_ZN2C21fEi_param_0];
	ld.param.u32 	%r1, [_ZN2C21fEi_param_1];
	ld.u32 	%r2, [%rd1+8];
	mul.lo.s32 	%r3, %r2, %r1;
	st.param.b32 	[func_retval0+0], %r3;
	ret;
}
)";
  check_all(answers(classes, R"(
	.local .align 8 .b8 	__local_depot15[32];
	.reg .b64 	%SP, %SPL, %rd<44>;
	mov.u64 	%SPL, __local_depot15;
	cvta.local.u64 	%SP, %SPL;
	add.u64 	%rd43, %SP, 0;
	cvta.to.local.u64 	%rd42, %rd43;
	add.u64 	%rd11, %SP, 16;
	add.u64 	%rd2, %SPL, 16;
	mov.u64 	%rd12, _ZTV2C1;
	cvta.global.u64 	%rd13, %rd12;
	add.s64 	%rd14, %rd13, 16;
	st.local.u64 	[%rd42], %rd14;
	mov.u32 	%r6, 5;
	st.local.u32 	[%rd42+8], %r6;
	mov.u64 	%rd15, _ZTV2C2;
	cvta.global.u64 	%rd16, %rd15;
	add.s64 	%rd17, %rd16, 16;
	st.local.u64 	[%rd2], %rd17;
	mov.u32 	%r7, 7;
	st.local.u32 	[%rd2+8], %r7;
	and.b32  	%r8, %thread, 1;
	setp.eq.b32 	%q1, %r8, 1;
	@%q1 bra 	$L__BB15_2;
	mov.u64 	%rd42, %rd2;
	mov.u64 	%rd43, %rd11;
$L__BB15_2:
	ld.local.u64 	%rd20, [%rd42];
	ld.u64 	%rd21, [%rd20];
	{ // callseq 9, 0
	.reg .b32 temp_param_reg;
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd43;
	.param .b32 param1;
	st.param.b32 	[param1+0], %thread;
	.param .b32 retval0;
	prototype_9 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);
	call (retval0),
	%rd21,
	(
	param0,
	param1
	)
	, prototype_9;
	ld.param.b32 	%r20, [retval0+0];
	} // callseq 9
)"),
            [](std::uint32_t i) { return i % 2 == 1 ? 5 + i : 7 * i; });
}

TEST_CASE("recursion through a pointer") {
  // apply(f, n): n == 0 ? 0 : n + f(f, n - 1), where f is apply.
  const std::string functions = R"(
.func (.param .b32 q) apply(.param .b64 f, .param .b32 n) {
  .reg .pred p; .reg .b32 %r<5>; .reg .b64 %d<3>; ld.param.b64 %d1, [f]; ld.param.b32 %r1, [n]; mov.u32 %r3, 0;
  setp.eq.u32 p, %r1, 0; @p bra done;
  sub.u32 %r2, %r1, 1; how: .callprototype (.reg .b32 _) _ (.reg .b64 _, .reg .b32 _);
  call (%r3), %d1, (%d1, %r2), how; add.u32 %r3, %r3, %r1;
done: st.param.b32 [q], %r3; ret; }
)";
  check_all(answers(functions, "mov.u64 %d1, apply; call (%r20), apply, (%d1, %thread);"),
            [](std::uint32_t i) { return i * (i + 1) / 2; });
}

TEST_CASE("a switch through brx.idx, all lanes at one place or each at its own") {
  const std::string table = R"(
  labels: .branchtargets c0, c1, c2, c3, c1;
  brx.idx %r1, labels;
  c0: mul.lo.u32 %r20, %thread, 3; bra.uni done;
  c1: xor.b32 %r20, %thread, 7; bra.uni done;
  c2: sub.u32 %r20, %thread, 100; bra.uni done;
  c3: shl.b32 %r20, %thread, 2;
  done: activemask.b32 %r2; add.u32 %r20, %r20, %r2;)";
  const auto want = [](std::uint32_t which, std::uint32_t i) {
    const std::uint32_t values[] = {i * 3, i ^ 7, i - 100, i << 2, i ^ 7};
    return values[which] - 1;
  };
  check_all(answers("", "rem.u32 %r1, %thread, 5;" + table, {1, 64}),
            [&](std::uint32_t i) { return want(i % 5, i); });
  check_all(answers("", "mov.u32 %r1, 2;" + table), [&](std::uint32_t i) { return want(2, i); });
  check_all(answers("",
                    "and.b32 %r1, %thread, 1; setp.lt.u32 %q1, %thread, 8; mov.u32 %r20, 9;"
                    "t: .branchtargets a<2>; @%q1 brx.idx.uni %r1, t; bra end; a1: mov.u32 %r20, 1; bra end;"
                    "a0: mov.u32 %r20, 0; end:"),
            [](std::uint32_t i) { return i < 8 ? i % 2 : 9u; });
}

TEST_CASE("control that goes where it must not is a fault that names the place") {
  const fault_report nowhere = fault_in(three, "mov.u64 %d5, 4096;" + indirect);
  CHECK(nowhere.kind == fault_kind::invalid_pc);
  CHECK(contains(nowhere.detail, "0x1000, which is not the address of one"));
  CHECK(contains(nowhere.ptx_text, "call (r), %d5"));
  CHECK(contains(fault_in(three + ".func f() { ret; }\n", "mov.u64 %d5, f;" + indirect).detail,
                 "its parameters differ from the call's"));
  CHECK(contains(fault_in(three,
                          "mov.u64 %d5, plus; t: .calltargets minus, times;"
                          "call (%r20), %d5, (%thread, 3), t;")
                     .detail,
                 "'plus', which .calltargets does not list"));
  const fault_report label =
      fault_in("", "add.u32 %r1, %thread, 2; t: .branchtargets a, b; brx.idx %r1, t; a: b:");
  CHECK(label.kind == fault_kind::invalid_pc);
  CHECK(contains(label.detail, "the index 2 into a list of 2 labels"));
}

TEST_CASE("calls that cannot be right are refused where they are") {
  const auto reason = [](const std::string& body, const std::string& functions) {
    return rejection(kernel_text(body, 0, functions)).reason();
  };
  const std::string f = ".func (.param .b32 q) f(.param .b32 n) { ret; }\n";
  CHECK(contains(reason("call f, (%r1);", f), "returns 1 value, not 0"));
  CHECK(contains(reason("call (%r1), f, (%r1, %r2);", f), "takes 1 argument, not 2"));
  CHECK(contains(reason("call (%r1), f;", f), "takes 1 argument, not 0"));
  CHECK(contains(reason("call (%r1), f, (%d1);", f), "'%d1' is .b64"));
  CHECK(contains(reason("call (%r1), f, (_);", f), "needs a register or a constant"));
  CHECK(contains(reason("{ .param .b64 a; call (%r1), f, (a); }", f), "the function takes 4"));
  CHECK(contains(reason("call (%r1), g, (%r2);", f), "'g' is not declared"));
  CHECK(contains(reason("call g;", ".func g;\n"), "declared and not defined"));
  CHECK(contains(reason("call g;", ".entry g() { ret; }\n"), "is a kernel"));
  CHECK(contains(reason("call g;", ".global .u32 g;\n"), "is not a function"));
  CHECK(contains(reason("call %d1, ();", f), "names a .callprototype"));
  CHECK(contains(reason("call %d1, (), p; p: .callprototype _ ();", f), "declared before"));
  CHECK(contains(reason("t: .calltargets g; call %d1, (), t;", f), "'g' is not a function"));
  CHECK(contains(reason("brx.idx %r1, t; t: .branchtargets t;", f), "declared before"));
  CHECK(contains(reason("t: .branchtargets nowhere; ret;", f), "no label 'nowhere'"));
  CHECK(contains(reason("bra f;", f), "no label 'f'"));
  CHECK(contains(reason("mov.u64 %d1, f+4;", f), "takes no offset"));
  CHECK(contains(reason("ld.global.u32 %r1, [f];", f), "lives in code memory"));
  CHECK(contains(reason("", ".func (.param .b32 a, .param .b32 b) f;\n"), "several values in .reg"));
  CHECK(contains(reason("call f, (%q1);", ".func f(.reg .pred p) { ret; }\n"), "a call cannot hand over"));
  CHECK(contains(reason("", ".func f(.param .v2 .b32 a) { ret; }\n"), "in .reg only"));
  CHECK(contains(reason("", ".func f(.param .b32 a) { st.param.b32 [a], 1; ret; }\n"), "is not written"));
  CHECK(contains(reason("", ".func (.param .b32 q) f { .reg .b32 r; ld.param.b32 r, [q]; ret; }\n"),
                 "is not read"));
  CHECK(contains(reason("{ .param .b32 a; mov.u64 %d1, a; }", f), "has no address"));
  // Functions that no kernel reaches are checked too.
  CHECK(contains(reason("", ".func f { add.u32 a, b, c; }\n"), "'a' is not declared"));
}
