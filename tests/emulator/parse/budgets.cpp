// Hostile modules: every limit of the decoder is met by an error that names it, in bounded time and memory.

#include "emulator/decode/decoder.hpp"
#include "emulator/parse/parser.hpp"

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

const std::string head = ".version 9.0\n.target sm_90a\n.address_size 64\n";

void refused(const std::string& text, const std::string& reason, const parse_budget& parsed = {},
             const decode_budget& decoded = {}) {
  INFO(reason);
  try {
    const syntax::module m = parse(text, parsed);
    decode(m, device(), decoded);
    FAIL("accepted");
  } catch (const ptx_error& e) {
    CHECK(contains(e.reason(), reason));
  }
}

std::string in_body(const std::string& body) { return head + ".entry k() {\n" + body + "\nret; }\n"; }

std::string repeated(const std::string& piece, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) {
    std::string one = piece;
    for (std::size_t at = one.find('#'); at != std::string::npos; at = one.find('#'))
      one.replace(at, 1, std::to_string(i));
    result += one;
  }
  return result;
}

}  // namespace

TEST_CASE("the limits of a text") {
  refused(in_body("t: .branchtargets a<1000000000>;"), "more than");
  refused(in_body("a0: t: .branchtargets a0, a0, a0;"), "more than 2 targets", {.targets = 2});
  refused(head + repeated(".func f#;\n", 4), "more than 3 functions", {.functions = 3});
  refused(head + ".global .u8 x" + repeated("[1]", 100) + ";", "too many extents");
  refused(in_body("mov.u32 a, " + repeated("1?", 100000) + "1;"), "nested more than 64");
  refused(in_body("mov.u32 a, 1" + repeated("?1:1", 100000) + ";"), "nested more than 64");
  refused(head + ".global .u8 x = " + std::string(100000, '{') + "1;", "too many braces");
  refused(head + ".entry k(" + repeated(".param .u8 a#, ", 5000) + ".param .u8 b) { ret; }",
          "more than 4096 parameters");
}

TEST_CASE("the limits of what a kernel is given") {
  refused(in_body(repeated(".reg .b128 a#; mov.b128 a#, a#;\n", 50)),
          "more registers than the emulator's 16384 bytes", {}, {.file_bytes = 16384});
  refused(in_body(".shared .b8 s[1099511627776];"), "static shared memory");
  refused(in_body(".local .b8 s[1099511627776];"), "local memory");
  refused(in_body(".param .b8 s[1099511627776];"), "local memory");
  refused(head + ".entry k(.param .b8 s[1099511627776]) { ret; }", "more than 32764 bytes");
  refused(head + ".func f(.param .b8 s[1099511627776]) { ret; }", "parameters of 'f' take more than");
  refused(head + ".global .b8 s[1099511627776];", "variables of the module take more");
  refused(head + ".const .b8 s[1099511627776];", "take more than");
  refused(head + ".global .align 1048576 .b8 s[16] = {1}; .entry k() { .local .align 1048576 .b8 s; ret; }",
          "local memory");
}

TEST_CASE("many kernels that each reach many functions are decoded within a budget") {
  const std::string chain = ".func f0 { ret; }\n" + repeated(".func f1# { call f0; ret; }\n", 50);
  std::string calls;
  for (int i = 0; i < 50; ++i) calls += "call f1" + std::to_string(i) + ";";
  const std::string kernels = repeated(".entry k#() {" + calls + " ret; }\n", 50);
  refused(head + chain + kernels, "more than 1000 instructions", {}, {.instructions = 1000});
  CHECK_NOTHROW(decode(parse(head + chain + kernels), device(), {}));
  // Functions that no kernel reaches are checked once each.
  std::string deep = ".func f0 { ret; }\n";
  for (int i = 1; i < 2000; ++i)
    deep += ".func f" + std::to_string(i) + " { call f" + std::to_string(i - 1) + "; ret; }\n";
  CHECK_NOTHROW(decode(parse(head + deep), device(), {.instructions = 4000}));
  // And a chain of calls of any length does not cost the host's stack.
  CHECK_NOTHROW(decode(parse(head + deep + ".entry k() { call f1999; ret; }"), device(), {}));
}

TEST_CASE("large variables cost what is said of them, not what they could hold") {
  const decoded_module m = decode(parse(head + ".global .u8 x[1000000000] = {1, 2, 3};"), device(), {});
  CHECK(m.variables[0].where.bytes == 1000000000);
  CHECK(m.variables[0].initial.size() == 3);
}

TEST_CASE("jumps through long lists share the budget") {
  const std::string list = "a: t: .branchtargets " + repeated("a, ", 1000) + "a;\n";
  refused(in_body(".reg .u32 r;" + list + repeated("brx.idx r, t;\n", 100)),
          "lists of branch targets are too long", {}, {.instructions = 50000});
}

TEST_CASE("a kernel that prints for ever keeps a bounded text") {
  memory global;
  const array<std::uint32_t> out(global, 32);
  std::string text = kernel_text(R"(
    mov.u64 %d1, format; cvta.global.u64 %d2, %d1;
    again: call (%r1), vprintf, (%d2, %d2); bra again;)",
                                 1,
                                 ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
                                 ".global .align 8 .b8 format[4096] = {" +
                                     repeated("65, ", 4000) + "0};\n");
  const module m = parsed_module(text);
  std::string printed;
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {1, 1, 1};
  l.block = {32, 1, 1};
  l.parameters.resize(8);
  l.printed = &printed;
  l.instruction_limit = 4000;
  CHECK_THROWS_AS(run(l, global), fault);
  CHECK(printed.size() > (1u << 20));
  CHECK(printed.size() <= (64u << 20) + 4096);
}
