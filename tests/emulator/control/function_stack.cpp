// The stack: memory that functions allocate, how deep calls may go, and the heap that kernels allocate from.

#include "tests/emulator/kernel.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace emulator_test;

namespace {

const std::string store = "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r20;";

std::vector<std::uint32_t> answers(const std::string& functions, const std::string& body, shape s = {}) {
  return results(body + store, std::size_t{s.grid} * s.block, s, functions);
}

fault_report fault_in(const std::string& functions, const std::string& body) {
  memory global;
  const array<std::uint32_t> out(global, 32);
  return fault_of(body + store, global, {out.address()}, {}, functions);
}

// depth(n) calls itself n times.
const std::string depth = R"(
.func (.param .b32 q) depth(.param .b32 n) {
  .reg .pred p; .reg .b32 %r<4>; ld.param.b32 %r1, [n]; mov.u32 %r3, 0; setp.eq.u32 p, %r1, 0; @p bra done;
  sub.u32 %r2, %r1, 1; call (%r3), depth, (%r2); add.u32 %r3, %r3, 1;
done: st.param.b32 [q], %r3; ret; }
)";

const std::string heap = R"(
.extern .func (.param .b64 func_retval0) malloc (.param .b64 malloc_param_0);
.extern .func free (.param .b64 free_param_0);
)";

}  // namespace

TEST_CASE("recursion goes thousands of calls deep, and beyond its stack it is a fault that says so") {
  const auto deep = answers(depth, "call (%r20), depth, (1500);");
  for (const std::uint32_t d : deep) CHECK(d == 1500);
  const fault_report r = fault_in(depth, "call (%r20), depth, (1000000);");
  CHECK(r.kind == fault_kind::stack_overflow);
  CHECK(contains(r.detail, "calls deep"));
  CHECK(contains(r.ptx_text, "call (%r3), depth"));
  // A function that never comes back, and keeps nothing.
  CHECK(fault_in(".func f { call f; ret; }\n", "call f;").kind == fault_kind::stack_overflow);
}

TEST_CASE("the depth of calls without recursion is known: all of it is there, and nothing more") {
  std::string functions = ".func f0 { .local .b8 own[4096]; .reg .u16 r; st.local.u8 [own+4095], r; ret; }\n";
  for (int i = 1; i < 20; ++i)
    functions += ".func f" + std::to_string(i) +
                 " { .local .b8 own[4096]; .reg .u16 r; st.local.u8 [own+4095], r;"
                 "call f" +
                 std::to_string(i - 1) + "; ret; }\n";
  const module m = parsed_module(kernel_text("call f19;", 0, functions));
  CHECK(m.find("k")->local_bytes >= 20 * 4096);
  CHECK(m.find("k")->local_bytes < 21 * 4096);
  CHECK(parsed_module(kernel_text("ret;", 0, functions)).find("k")->local_bytes == 0);
}

TEST_CASE("alloca gives each activation memory of its own, and stackrestore takes it back") {
  // Fills n words, lets a callee do the same with fewer, and sums its own.
  const std::string functions = R"(
.func (.param .b32 q) fill(.param .b32 n) {
  .reg .pred p; .reg .b32 %r<9>; .reg .b64 %d<9>;
  ld.param.b32 %r1, [n]; mov.u32 %r6, 0; setp.eq.u32 p, %r1, 0; @p bra done;
  mul.wide.u32 %d1, %r1, 4; stacksave.u64 %d8; alloca.u64 %d2, %d1, 32; and.b64 %d3, %d2, 31; cvt.u32.u64 %r7, %d3;
  mov.u32 %r2, 0;
again: mul.wide.u32 %d4, %r2, 4; add.u64 %d5, %d2, %d4; st.local.u32 [%d5], %r1; add.u32 %r2, %r2, 1;
  setp.lt.u32 p, %r2, %r1; @p bra again;
  sub.u32 %r3, %r1, 1; call (%r6), fill, (%r3); add.u32 %r6, %r6, %r7; mov.u32 %r2, 0;
more: mul.wide.u32 %d4, %r2, 4; add.u64 %d5, %d2, %d4; ld.local.u32 %r4, [%d5]; add.u32 %r6, %r6, %r4;
  add.u32 %r2, %r2, 1; setp.lt.u32 p, %r2, %r1; @p bra more;
  stackrestore.u64 %d8; alloca.u64 %d6, 4; st.local.u32 [%d6], %r6; ld.local.u32 %r6, [%d6];
done: st.param.b32 [q], %r6; ret; }
)";
  const auto have = answers(functions, "and.b32 %r1, %thread, 7; call (%r20), fill, (%r1);");
  for (std::uint32_t i = 0; i < have.size(); ++i) {
    const std::uint32_t n = i & 7;
    CHECK(have[i] == n * (n + 1) * (2 * n + 1) / 6);
  }
  // In a kernel, in a loop that saves and restores: the stack does not grow.
  const auto looped = answers("", R"(
    mov.u32 %r1, 0; again: stacksave.u64 %d1; alloca.u64 %d2, 4096; cvta.local.u64 %d3, %d2; st.u32 [%d3+4092], %r1;
    ld.local.u32 %r20, [%d2+4092]; stackrestore.u64 %d1; add.u32 %r1, %r1, 1; setp.lt.u32 %q1, %r1, 100;
    @%q1 bra again;)");
  for (const std::uint32_t v : looped) CHECK(v == 99);
  CHECK(fault_in("", "alloca.u64 %d1, 1000000; mov.u32 %r20, 0;").kind == fault_kind::stack_overflow);
  CHECK(fault_in("", "alloca.u64 %d1, -1; mov.u32 %r20, 0;").kind == fault_kind::stack_overflow);
  CHECK(fault_in("", "alloca.u64 %d1, 8; stackrestore.u64 8192; mov.u32 %r20, 0;").kind ==
        fault_kind::stack_overflow);
  CHECK(contains(rejection(kernel_text("alloca.u64 %d1, 8, 3;", 0)).reason(), "power of two"));
  CHECK(contains(rejection(kernel_text("alloca.u64 %d1, 8;", 0, "", "7.2", "sm_80")).reason(),
                 "needs PTX ISA 7.3"));
}

TEST_CASE("kernels take memory from the heap, hand it to other kernels, and give it back") {
  memory global;
  const array<std::uint64_t> cells(global, 64);
  const array<std::uint32_t> out(global, 64);
  const module take =
      parsed_module(kernel_text("add.u64 %d1, %wide, 4; call (%d2), malloc, (%d1); st.u32 [%d2], %thread; "
                                "mad.lo.u64 %d0, %wide, 8, %p0;"
                                "st.global.u64 [%d0], %d2;",
                                1, heap));
  run_module(take, global, {cells.address()}, {2, 32});
  const module use = parsed_module(
      kernel_text("mad.lo.u64 %d0, %wide, 8, %p0; ld.global.u64 %d1, [%d0]; ld.u32 %r1, [%d1]; mad.lo.u64 "
                  "%d0, %wide, 4, %p1;"
                  "st.global.u32 [%d0], %r1; { .param .b64 a; st.param.b64 [a], %d1; call free, (a); }",
                  2, heap));
  run_module(use, global, {cells.address(), out.address()}, {2, 32});
  const std::vector<std::uint64_t> at = cells.values();
  const std::vector<std::uint32_t> have = out.values();
  for (std::uint32_t i = 0; i < 64; ++i) {
    CHECK(have[i] == i);
    CHECK(at[i] % 16 == 0);
    for (std::uint32_t j = 0; j < i; ++j) CHECK(at[i] != at[j]);
  }
  run_module(take, global, {cells.address()}, {2, 32});
  CHECK(cells.values() == at);  // all of it was free again
  try {
    run_module(use, global, {cells.address(), out.address()}, {2, 32});
    run_module(use, global, {cells.address(), out.address()}, {2, 32});
    FAIL("freed twice");
  } catch (const fault& f) {
    CHECK(f.report().kind == fault_kind::use_after_free);
    CHECK(contains(f.report().detail, "was freed before"));
  }
  const auto none = results("call (%d1), malloc, (100000000); cvt.u32.u64 %r20, %d1; call free, (0);" + store,
                            32, {}, heap);
  for (const std::uint32_t v : none) CHECK(v == 0);
}
