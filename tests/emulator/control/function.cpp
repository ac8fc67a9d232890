// Functions of the module: arguments and results of calls, in .param and .reg, recursion, lanes that call
// different functions and return at different times. Host models compute the same.

#include "tests/emulator/kernel.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using namespace emulator_test;

namespace {

const std::string store = "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r20;";

// The results of `body`, which leaves the answer of each thread in %r20.
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

// A call as nvcc writes it: one 32-bit argument from %r1, the result to %r20.
std::string call_of(const std::string& name, const std::string& from = "%r1",
                    const std::string& to = "%r20") {
  return "{ .param .b32 param0; st.param.b32 [param0+0], " + from +
         "; .param .b32 retval0; call.uni (retval0), " + name + ", (param0); ld.param.b32 " + to +
         ", [retval0+0]; }\n";
}

const std::string fibonacci = R"(
.func (.param .b32 func_retval0) fib(.param .b32 fib_param_0)
{
  .reg .pred %p<2>; .reg .b32 %r<9>;
  ld.param.u32 %r8, [fib_param_0];
  setp.lt.s32 %p1, %r8, 2;
  @%p1 bra $L__BB11_2;
  add.s32 %r4, %r8, -1;
  { .reg .b32 temp_param_reg; .param .b32 param0; st.param.b32 [param0+0], %r4; .param .b32 retval0;
    call.uni (retval0), fib, (param0); ld.param.b32 %r5, [retval0+0]; }
  add.s32 %r6, %r8, -2;
  { .param .b32 param0; st.param.b32 [param0+0], %r6; .param .b32 retval0;
    call.uni (retval0), fib, (param0); ld.param.b32 %r7, [retval0+0]; }
  add.s32 %r8, %r7, %r5;
$L__BB11_2:
  st.param.b32 [func_retval0+0], %r8;
  ret;
}
)";

std::uint32_t fib(std::uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

const std::string ackermann = R"(
.func (.param .b32 q) ack(.param .b32 m, .param .b32 n)
{
  .reg .pred %p<3>; .reg .b32 %r<9>;
  ld.param.u32 %r1, [m]; ld.param.u32 %r2, [n];
  setp.eq.u32 %p1, %r1, 0; @%p1 bra first;
  setp.eq.u32 %p2, %r2, 0; @%p2 bra second;
  sub.u32 %r3, %r2, 1;
  { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r1; st.param.b32 [b], %r3;
    call (c), ack, (a, b); ld.param.b32 %r4, [c]; }
  sub.u32 %r5, %r1, 1;
  { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r5; st.param.b32 [b], %r4;
    call (c), ack, (a, b); ld.param.b32 %r6, [c]; }
  bra.uni done;
first:
  add.u32 %r6, %r2, 1;
  bra.uni done;
second:
  sub.u32 %r5, %r1, 1;
  { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r5; st.param.b32 [b], 1;
    call (c), ack, (a, b); ld.param.b32 %r6, [c]; }
done:
  st.param.b32 [q], %r6; ret;
}
)";

std::uint32_t ack(std::uint32_t m, std::uint32_t n) {
  return m == 0 ? n + 1 : ack(m - 1, n == 0 ? 1 : ack(m, n - 1));
}

}  // namespace

TEST_CASE("a recursive function has registers of its own in each activation") {
  check_all(answers(fibonacci, "and.b32 %r1, %thread, 15;" + call_of("fib"), {2, 64}),
            [](std::uint32_t i) { return fib(i & 15); });
  check_all(
      answers(ackermann,
              "and.b32 %r1, %thread, 1; add.u32 %r1, %r1, 1; shr.u32 %r2, %thread, 2; and.b32 %r2, %r2, 3;"
              "{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r1; st.param.b32 [b], %r2;"
              "call (c), ack, (a, b); ld.param.b32 %r20, [c]; }"),
      [](std::uint32_t i) { return ack((i & 1) + 1, i >> 2 & 3); });
}

TEST_CASE("two functions that call each other") {
  const std::string functions = R"(
.func (.param .b32 q) is_odd(.param .b32 n);
.func (.param .b32 q) is_even(.param .b32 n) {
  .reg .pred p; .reg .b32 %r<4>; ld.param.b32 %r1, [n]; mov.u32 %r3, 1; setp.eq.u32 p, %r1, 0; @p bra done;
  sub.u32 %r2, %r1, 1; call (%r3), is_odd, (%r2);
done: st.param.b32 [q], %r3; }
.func (.param .b32 q) is_odd(.param .b32 n) {
  .reg .pred p; .reg .b32 %r<4>; ld.param.b32 %r1, [n]; mov.u32 %r3, 0; setp.eq.u32 p, %r1, 0; @p bra done;
  sub.u32 %r2, %r1, 1; call (%r3), is_even, (%r2);
done: st.param.b32 [q], %r3; ret; }
)";
  check_all(answers(functions, "mov.u32 %r1, %thread;" + call_of("is_even")),
            [](std::uint32_t i) { return i % 2 == 0 ? 1u : 0u; });
}

TEST_CASE("parameters in registers, several results, constants as arguments, and results that nobody wants") {
  const std::string functions = R"(
.func (.reg .u32 sum, .reg .u32 difference) both(.reg .u32 x, .reg .u32 y) {
  add.u32 sum, x, y; sub.u32 difference, x, y; ret; }
.func (.param .f32 q) scaled(.param .f32 x, .param .f32 by) {
  .reg .f32 %f<4>; ld.param.f32 %f1, [x]; ld.param.f32 %f2, [by]; mul.f32 %f3, %f1, %f2; st.param.f32 [q], %f3; ret; }
.func (.param .b64 q) wide(.param .b16 x, .param .b64 y) {
  .reg .b16 h; .reg .b64 %d<4>; ld.param.u16 h, [x]; ld.param.u64 %d1, [y]; cvt.u64.u16 %d2, h;
  add.u64 %d3, %d2, %d1; st.param.b64 [q], %d3; ret; }
.func nothing { ret; }
)";
  check_all(answers(functions,
                    "call (%r1, %r2), both, (%thread, 7); mul.lo.u32 %r20, %r1, %r2; call nothing;"
                    "call (_), scaled, (%f1, 1.5);"),
            [](std::uint32_t i) { return (i + 7) * (i - 7); });
  check_all(answers(functions,
                    "cvt.rn.f32.u32 %f1, %thread; call (%f2), scaled, (%f1, 2.5);"
                    "cvt.rzi.u32.f32 %r20, %f2;"),
            [](std::uint32_t i) { return static_cast<std::uint32_t>(static_cast<float>(i) * 2.5f); });
  check_all(answers(functions,
                    "cvt.u16.u32 %h1, %thread; mov.u64 %d1, 0x100000000; call (%d2), wide, (%h1, %d1);"
                    "mov.b64 {%r1, %r2}, %d2; mad.lo.u32 %r20, %r2, 1000, %r1;"),
            [](std::uint32_t i) { return 1000 + i; });
}

TEST_CASE("a structure is handed over by value, and the caller's stays as it was") {
  // struct { double a; int b[5]; char c; }, as nvcc passes and returns it.
  const std::string functions = R"(
.func (.param .align 8 .b8 func_retval0[32]) change(.param .align 8 .b8 x[32], .param .b32 k)
{
  .reg .b16 %rs<4>; .reg .b32 %r<19>; .reg .f64 %fd<3>;
  ld.param.b32 %r1, [k]; ld.param.f64 %fd1, [x]; ld.param.v2.b32 {%r2, %r3}, [x+8];
  ld.param.v2.b32 {%r4, %r5}, [x+16]; ld.param.b32 %r6, [x+24]; ld.param.b8 %rs1, [x+28];
  add.f64 %fd2, %fd1, %fd1; add.u32 %r3, %r3, %r1; add.s16 %rs1, %rs1, 1;
  st.param.f64 [func_retval0+0], %fd2; st.param.v2.b32 [func_retval0+8], {%r2, %r3};
  st.param.v2.b32 [func_retval0+16], {%r4, %r5}; st.param.b32 [func_retval0+24], %r6;
  st.param.b8 [func_retval0+28], %rs1;
  ret;
}
)";
  check_all(answers(functions, R"(
    { .param .align 8 .b8 s[32]; .param .b32 k; .param .align 8 .b8 r[32];
      mov.f64 %g1, 0d3FF8000000000000; st.param.f64 [s], %g1; mov.u32 %r1, 10; add.u32 %r2, %thread, 20;
      st.param.v2.b32 [s+8], {%r1, %r2}; st.param.v2.b32 [s+16], {30, 40}; st.param.b32 [s+24], 50;
      mov.u16 %h1, 97; st.param.b8 [s+28], %h1; st.param.b32 [k], %thread;
      call.uni (r), change, (s, k);
      ld.param.f64 %g2, [r]; ld.param.v2.b32 {%r3, %r4}, [r+8]; ld.param.b8 %h2, [r+28];
      ld.param.b32 %r5, [s+12]; }
    cvt.rzi.u32.f64 %r6, %g2; cvt.u32.u16 %r7, %h2;
    mad.lo.u32 %r20, %r4, 1000, %r5; mad.lo.u32 %r20, %r6, 100000, %r20; mad.lo.u32 %r20, %r7, 1000000, %r20;)"),
            [](std::uint32_t i) { return (20 + 2 * i) * 1000 + (20 + i) + 300000 + 98000000; });
}

TEST_CASE("each activation has local variables of its own, whose addresses its callees may use") {
  // sum(n): its local array holds n and the sum of the smaller ones, which the callee writes through a
  // pointer.
  const std::string functions = R"(
.func sum(.param .b32 n, .param .b64 to)
{
  .local .align 8 .b8 mine[16];
  .reg .pred p; .reg .b32 %r<6>; .reg .b64 %d<6>;
  ld.param.b32 %r1, [n]; ld.param.b64 %d1, [to];
  mov.u64 %d2, mine; cvta.local.u64 %d3, %d2; st.local.u32 [mine+8], %r1; mov.u32 %r2, 0; st.u32 [%d3], %r2;
  setp.eq.u32 p, %r1, 0; @p bra done;
  sub.u32 %r3, %r1, 1;
  call sum, (%r3, %d3);
done:
  ld.local.u32 %r4, [%d2]; ld.u32 %r5, [%d3+8]; add.u32 %r4, %r4, %r5; st.u32 [%d1], %r4;
}
)";
  check_all(answers(functions,
                    ".local .align 4 .b8 result[4]; mov.u64 %d1, result; cvta.local.u64 %d2, %d1;"
                    "call sum, (%thread, %d2); ld.local.u32 %r20, [result];",
                    {1, 64}),
            [](std::uint32_t i) { return i * (i + 1) / 2; });
}

TEST_CASE("lanes that call different functions, or do not call, meet again after the call") {
  const std::string functions = R"(
.func (.param .b32 q) slow(.param .b32 n) {
  .reg .pred p; .reg .b32 %r<4>; ld.param.b32 %r1, [n]; mov.u32 %r2, 0;
again: add.u32 %r2, %r2, %r1; sub.u32 %r1, %r1, 1; setp.ne.u32 p, %r1, 0; @p bra again;
  st.param.b32 [q], %r2; ret; }
.func (.param .b32 q) quick(.param .b32 n) {
  .reg .pred p; .reg .b32 %r<4>; ld.param.b32 %r1, [n]; setp.gt.u32 p, %r1, 20; st.param.b32 [q], 7; @p ret;
  st.param.b32 [q], 5; ret; }
)";
  const auto want = [](std::uint32_t i) {
    return i % 3 == 0 ? (i + 1) * (i + 2) / 2 : i % 3 == 1 ? (i + 1 > 20 ? 7u : 5u) : 1u;
  };
  const std::string body =
      "rem.u32 %r2, %thread, 3; setp.eq.u32 %q1, %r2, 0; setp.eq.u32 %q2, %r2, 1;"
      "add.u32 %r1, %thread, 1; mov.u32 %r20, 1; @%q1 call (%r20), slow, (%r1);"
      "@%q2 call (%r20), quick, (%r1);";
  check_all(answers(functions, body, {1, 64}), want);
  check_all(answers(functions, body + "activemask.b32 %r20;"), [](std::uint32_t) { return ~0u; });
  // A .sync instruction in the function and one outside of it are executed together.
  check_all(answers(".func (.param .b32 q) all(.param .b32 n) { .reg .b32 %r<3>; ld.param.b32 %r1, [n];"
                    "redux.sync.add.u32 %r2, %r1, -1; st.param.b32 [q], %r2; ret; }",
                    "and.b32 %r2, %thread, 1; setp.eq.u32 %q1, %r2, 0; @%q1 call (%r20), all, (%thread);"
                    "@!%q1 redux.sync.add.u32 %r20, %thread, -1;"),
            [](std::uint32_t) { return 31u * 16; });
}

TEST_CASE("a thread may end in a function, a kernel's ret ends the thread") {
  const std::string functions =
      ".func leave(.param .b32 n) { .reg .pred p; .reg .b32 r; ld.param.b32 r, [n]; setp.lt.u32 p, r, 10; @p "
      "exit;"
      "ret; }\n";
  check_all(answers(functions, "mov.u32 %r20, 3;" + store + "mov.u32 %r20, 4; call leave, (%thread);"),
            [](std::uint32_t i) { return i < 10 ? 3u : 4u; });
}

TEST_CASE("functions use the variables of the module, shared memory and special registers") {
  check_all(answers(R"(
.global .u32 total = 5; .shared .u32 cell[64];
.func (.param .b32 q) neighbour() {
  .shared .align 4 .b8 more[64]; .reg .b32 %r<6>; .reg .b64 %d<3>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, cell; mad.lo.u32 %r2, %r1, 4, %r2; st.shared.u32 [%r2], %r1; bar.sync 0;
  xor.b32 %r1, %r1, 1; mov.u32 %r2, cell; mad.lo.u32 %r2, %r1, 4, %r2; ld.shared.u32 %r3, [%r2];
  ld.global.u32 %r4, [total]; add.u32 %r3, %r3, %r4; st.shared.u32 [more], %r3; st.param.b32 [q], %r3; ret; }
)",
                    "call (%r20), neighbour;", {1, 64}),
            [](std::uint32_t i) { return (i ^ 1) + 5; });
}

TEST_CASE("one function in several kernels, aliases, and declarations before definitions") {
  const std::string text = kernel_text("call (%r20), second, (%thread);" + store, 1, R"(
.visible .func (.param .b32 q) first(.param .b32 n);
.visible .func (.param .b32 q) second(.param .b32 n);
.entry other() { .reg .b32 r; call (r), first, (4); ret; }
.weak .func (.param .b32 q) unused(.param .b32 n) { ret; }
.visible .func (.param .b32 q) first(.param .b32 n) {
  .reg .b32 r; ld.param.b32 r, [n]; add.u32 r, r, 100; st.param.b32 [q], r; ret; }
.alias second, first;
)");
  const module m = parsed_module(text);
  memory global;
  const array<std::uint32_t> out(global, 32);
  run_module(m, global, {out.address()});
  check_all(out.values(), [](std::uint32_t i) { return i + 100; });
  REQUIRE(m.find("other") != nullptr);
  CHECK(m.find("first") == nullptr);
}

TEST_CASE("an observer is notified of calls, of the frame, and of what is put there") {
  struct watcher final : observer {
    explicit watcher(std::array<std::uint32_t, 3>& to) : seen(to) {}
    void called(warp&, const instruction&, std::uint32_t lanes, std::uint32_t bytes,
                const std::byte* const (&frame)[warp_lanes]) override {
      ++seen[0];
      CHECK(lanes == 0xffffffff);
      CHECK(bytes >= 8);
      first = frame[3];
    }
    void access(warp&, const instruction& i, std::uint32_t, std::uint32_t bytes, access_kind kind,
                const std::byte* const (&at)[warp_lanes]) override {
      if (i.op == operation::call && kind == access_kind::write && at[3] == first + 4) seen[1] += bytes;
      if (i.op == operation::ret && kind == access_kind::write) seen[2] += bytes;
    }
    std::array<std::uint32_t, 3>& seen;
    const std::byte* first = nullptr;
  };
  struct maker final : grid_observer {
    std::unique_ptr<observer> watch(block&) override { return std::make_unique<watcher>(seen); }
    std::array<std::uint32_t, 3> seen{};
  };
  const module m = parsed_module(kernel_text(
      "{ .param .b32 a; .param .b32 r; st.param.b32 [a], 4; call (r), f, (a); ld.param.b32 %r20, [r]; }" +
          store,
      1,
      ".func (.param .b32 q) f(.param .b32 n) { .reg .b32 r; ld.param.b32 r, [n];"
      "st.param.b32 [q], r; ret; }\n"));
  memory global;
  const array<std::uint32_t> out(global, 32);
  maker watch;
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {1, 1, 1};
  l.block = {32, 1, 1};
  l.observers = {&watch};
  l.parameters.resize(8);
  const std::uint64_t address = out.address();
  std::memcpy(l.parameters.data(), &address, 8);
  run(l, global);
  CHECK(watch.seen == std::array<std::uint32_t, 3>{1, 4, 4});
  check_all(out.values(), [](std::uint32_t) { return 4u; });
}

TEST_CASE("vectors of registers are arguments and results of functions") {
  const std::string turn = R"(
.func (.reg .v2 .b32 r, .reg .b32 s) turn(.reg .v4 .b32 x, .reg .v2 .b64 y) {
  .reg .b32 t;
  mov.v2.b32 r, {x.w, x.y};
  add.u32 s, x.x, x.z; cvt.u32.u64 t, y.y; add.u32 s, s, t;
  ret;
}
)";
  const std::string vectors = R"(
  .reg .v4 .b32 v; .reg .v2 .b64 w; .reg .v2 .b32 u;
  mov.u32 v.x, %thread; add.u32 v.y, %thread, 1; shl.b32 v.z, %thread, 1; mov.u32 v.w, 7;
  mov.u64 w.x, 0; mov.u64 w.y, 100;
)";
  const std::string joined = "mad.lo.u32 %r20, u.x, 1000, u.y; mad.lo.u32 %r20, %r1, 100000, %r20;\n";
  const auto want = [](std::uint32_t i) { return (3 * i + 100) * 100000 + 7000 + i + 1; };
  check_all(answers(turn, vectors + "call (u, %r1), turn, (v, w);\n" + joined, {2, 48}), want);
  check_all(answers(turn, vectors +
                              "pr: .callprototype (.reg .v2 .b32 _, .reg .b32 _) _ (.reg .v4 .b32 _, "
                              ".reg .v2 .b64 _);\n mov.u64 %d1, turn; call (u, %r1), %d1, (v, w), pr;\n" +
                              joined),
            want);
  const auto reason = [&](const std::string& body) {
    return std::string(rejection(kernel_text(vectors + body, 1, turn)).what());
  };
  CHECK(contains(reason("call (u, %r1), turn, (%r2, w);"), "a vector register of 4 elements here"));
  CHECK(contains(reason("call (v, %r1), turn, (v, w);"), "a vector register of 2 elements here"));
}

TEST_CASE("a register or an address plus a constant is a value") {
  const std::vector<std::uint32_t> have = results(R"(
      mov.u32 %r1, 10; st.global.u32 [%p0], %r1+4; add.u32 %r2, %r1+-3, 1; st.global.u32 [%p0+4], %r2;
      mov.u16 %h1, 65535; add.u16 %h2, %h1+2, 0; cvt.u32.u16 %r3, %h2; st.global.u32 [%p0+8], %r3;
      st.u64 [%p0+16], temp + 1; mov.u64 %d0, temp; ld.global.u64 %d1, [%p0+16]; sub.u64 %d1, %d1, %d0;
      st.global.u64 [%p0+16], %d1; setp.eq.u32 %q1, sh+4, 4; selp.u32 %r4, 1, 0, %q1;
      st.global.u32 [%p0+24], %r4;)",
                                                  7, {1, 1}, ".global .u32 temp[4]; .shared .u32 sh[4];");
  CHECK(have == std::vector<std::uint32_t>{14, 8, 1, 0, 1, 0, 1});
}

TEST_CASE("before PTX ISA 3.0 a module has .local variables, which all functions of a thread see") {
  const std::string declarations = R"(.local .align 8 .u32 memo[4];
.func put(.reg .b32 x) { .local .b32 own[2]; st.local.u32 [own+4], 9; st.local.u32 [memo+4], x; ret; }
)";
  const std::string body = R"(
  .local .b32 mine; st.local.u32 [mine], 3; st.local.u32 [memo], %thread; add.u32 %r1, %thread, 5;
  call put, (%r1); ld.local.u32 %r2, [memo]; mov.u64 %d1, memo; cvta.local.u64 %d1, %d1; ld.u32 %r3, [%d1+4];
  ld.local.u32 %r4, [mine]; mad.lo.u32 %r20, %r3, 1000, %r2; add.u32 %r20, %r20, %r4;
)";
  memory global;
  const array<std::uint32_t> out(global, 64);
  run_module(parsed_module(kernel_text(body + store, 1, declarations, "2.3", "sm_20")), global,
             {out.address()}, {1, 64});
  check_all(out.values(), [](std::uint32_t i) { return (i + 5) * 1000 + i + 3; });
  CHECK(contains(rejection(kernel_text("", 1, declarations, "3.0", "sm_20")).what(),
                 "in the body of a function"));
}
