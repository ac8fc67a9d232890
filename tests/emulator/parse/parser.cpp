// The grammar: accepted texts, and every rejection with its line, column and reason.

#include "emulator/parse/parser.hpp"

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";

struct expected {
  std::string text;
  std::uint32_t line, column;
  std::string reason;  // a part of it
};

void check(const std::vector<expected>& rows) {
  for (const expected& row : rows) {
    INFO(row.text);
    const ptx_error e = rejection(row.text);
    CHECK(e.line() == row.line);
    CHECK(e.column() == row.column);
    CHECK(contains(e.reason(), row.reason));
    CHECK(std::string(e.what()) == "kaio: PTX line " + std::to_string(row.line) + ", column " +
                                       std::to_string(row.column) + ": " + e.reason());
  }
}

std::string in_body(const std::string& body) { return head + ".entry k() {\n" + body + "\n}"; }

}  // namespace

TEST_CASE("a module is read as it is written") {
  const std::string text = head + R"(// a comment
/* and
   another */ .global .align 16 .b8 table[2][3] = {{1, 2}, {0x3, 04, 0b101}};
.visible .entry k(.param .u64 .ptr .global .align 16 o, .param .align 8 .b8 p[24]) .maxntid 128, 2 {
  .reg .pred %p<3>; .reg .b32 %r<10>, x; .loc 1 2 3
  L_1: @!%p1 add.s32 %r1, %r2, -5;
  { bra L_1; }
  ld.global.v2.f32 {%r1, _}, [%rd1+-8];
  mov.b64 {%r1, %r2}, %rd; setp.lt.u32 %p1|%p2, %r1, WARP_SZ;
}
.entry other() .reqntid 32 .minnctapersm 2 { ret; })";
  const syntax::module m = parse(text);
  CHECK(m.version == kaio::ptx::isa_version{8, 0});
  CHECK(m.target == kaio::ptx::target{90, false});
  REQUIRE(m.variables.size() == 1);
  CHECK(m.variables[0].elements == 6);
  REQUIRE(m.variables[0].initial.size() == 5);
  CHECK(m.variables[0].initial[2].index == 3);
  CHECK(m.variables[0].initial[4].bits == 5);
  REQUIRE(m.functions.size() == 2);
  const syntax::function& f = m.functions[0];
  CHECK(f.name == "k");
  CHECK(f.parameters[1].elements == 24);
  CHECK(f.parameters[1].alignment == 8);
  CHECK(f.maximum_threads.extent == kaio::ptx::dim3{128, 2, 1});
  CHECK(m.functions[1].required_threads.extent == kaio::ptx::dim3{32, 1, 1});
  REQUIRE(f.instructions.size() == 5);
  CHECK(f.instructions[0].guard == "%p1");
  CHECK(f.instructions[0].guard_negated);
  CHECK(f.instructions[0].at.line == 9);
  CHECK(f.instructions[0].operands[2].bits == static_cast<std::uint64_t>(-5));
  CHECK(f.instructions[2].modifiers[1].text == ".v2");
  CHECK(f.instructions[2].operands[0].elements[1].kind == syntax::operand_kind::sink);
  CHECK(f.instructions[2].operands[1].offset == static_cast<std::uint64_t>(-8));
  CHECK(f.instructions[4].operands[0].kind == syntax::operand_kind::pair);
  CHECK(f.instructions[4].operands[2].bits == 32);
}

TEST_CASE("constant expressions follow C") {
  const auto value = [](const std::string& expression) {
    const std::string text =
        in_body("mov.u64 %r, " + expression + ";");  // the views of the result point into it
    return parse(text).functions[0].instructions[0].operands[1].bits;
  };
  CHECK(value("(1 + 2 * 3)") == 7);
  CHECK(value("(1 << 4 | 3)") == 19);
  CHECK(value("(-7 / 2)") == static_cast<std::uint64_t>(-3));
  CHECK(value("(-7 % 4)") == static_cast<std::uint64_t>(-3));
  CHECK(value("(-1 >> 1)") == ~std::uint64_t{0});
  CHECK(value("(0xffffffffffffffffU >> 60)") == 15);
  CHECK(value("(3 > 2 ? 10 : 20)") == 10);
  CHECK(value("(!0 + ~0)") == 0);
  CHECK(value("(5 == 5 && 3 != 3 || 1)") == 1);
  CHECK(value("((.u64)-1 / 2)") == 0x7fffffffffffffff);
  CHECK(value("(-9223372036854775807 - 1) / -1") == 0x8000000000000000);
  CHECK(value("0177") == 127);
}

TEST_CASE("the text itself") {
  check({{"", 1, 1, "starts with .version"},
         {".target sm_90", 1, 1, "starts with .version"},
         {".version 8", 1, 10, "major.minor"},
         {".version 0.9\n.target sm_90", 1, 10, "there is no PTX ISA 0.9"},
         {".version 99.100\n.target sm_90", 1, 10, "major.minor"},
         {".version 8.0\n.entry k() {}", 2, 1, "followed by .target"},
         {".version 8.0\n.target sm_9x", 2, 9, "not an architecture"},
         {".version 8.0\n.target gfx90", 2, 9, "not a target"},
         {head + "#include", 4, 1, "'#' has no place"},
         {head + "# 7", 4, 1, "'#' has no place"},
         {head + "#line x \"a.cu\"", 4, 1, "'#' has no place"},
         {head + "# 7 \"a.cu\" 2\n#line 9 \"b.cu\"\n+", 6, 1, "expected a directive"},
         {head + "\x01", 4, 1, "byte 0x01 has no place"},
         {head + ".entry k() { /* no end", 4, 14, "comment is not closed"},
         {head + ".file 1 \"a", 4, 9, "string is not closed"},
         {head + "entry k() {}", 4, 1, "expected a directive"},
         {".version 8.0\n.target sm_90\n.address_size 48", 3, 15, "32 or 64"},
         {head + ".address_size 64", 4, 1, "is given once"},
         {head + ".texref t;", 4, 1, "textures"},
         {head + ".reg .b32 x;", 4, 1, "does not start a declaration"}});
}

TEST_CASE("numbers") {
  const auto number = [](const std::string& n) { return in_body("mov.u32 %r, " + n + ";"); };
  check({{number("0x"), 5, 13, "no digits"},
         {number("12a"), 5, 13, "not a digit"},
         {number("089"), 5, 13, "not a digit"},
         {number("0b12"), 5, 13, "not a digit"},
         {number("18446744073709551616"), 5, 13, "64 bits"},
         {number("0f3F8000"), 5, 13, "8 hexadecimal digits"},
         {number("0f3F8000000"), 5, 13, "8 hexadecimal digits"},
         {number("0d3F800000"), 5, 13, "16 hexadecimal digits"},
         {number("1e999"), 5, 13, "out of range"},
         {number("1.5x"), 5, 13, "ends in a letter"},
         {number("(1/0)"), 5, 15, "division by zero"},
         {number("(1.5*2)"), 5, 17, "an integer on one side and a real constant on the other"},
         {number("(1.5% 2.0)"), 5, 17, "not an operator of real constants"},
         {number("(1.5&&2.0)"), 5, 17, "not an operator of real constants"},
         {number("(0f3F800000 << 0d3FF0000000000000)"), 5, 25, "not an operator of real constants"},
         {number("(1"), 5, 15, "expected ')'"}});
}

TEST_CASE("declarations") {
  check({{head + ".global .align 3 .b8 x;", 4, 9, "power of two"},
         {head + ".global .u33 x;", 4, 9, "not a type"},
         {head + ".global .pred x;", 4, 9, "registers only"},
         {head + ".global .u32 x", 4, 15, "expected ';'"},
         {head + ".global .u32 x[0];", 4, 15, "impossible extent"},
         {head + ".global .u32 x[4][];", 4, 18, "only the first extent"},
         {head + ".global .u32 x[2] = {1, 2, 3};", 4, 28, "more initial values than elements"},
         {head + ".shared .u32 x = 1;", 4, 14, "can be initialised"},
         {head + ".global .u32 x<4> = 1;", 4, 19, "expected ';'"},
         {head + ".align 3 .global .u32 x;", 4, 1, "power of two"},
         {head + ".entry k(.param .u32 a[]) { ret; }", 4, 22, "has no size"},
         {head + ".entry k(.u32 a) { ret; }", 4, 10, "expected '.param'"},
         {head + ".entry k();", 4, 8, "has no body"},
         {head + ".entry k() { ret;", 4, 18, "is not closed"},
         {head + ".entry k() .maxntid 0 { ret; }", 4, 21, "must not be zero"},
         {in_body(".reg .b32 %r[4];"), 5, 13, "no arrays"},
         {in_body(".frob x;"), 5, 1, "does not start a statement"}});
}

TEST_CASE("statements and operands") {
  check({{in_body("add.s32 %r1, %r2, 3"), 6, 1, "expected ';' after 'add'"},
         {in_body("@add.s32 %r1, 1;"), 5, 5, "an instruction"},
         {in_body("@1 ret;"), 5, 2, "a predicate"},
         {in_body("ld.u32 %r1, [%rd1;"), 5, 18, "to close an address"},
         {in_body("ld.u32 %r1, [%rd1+%r2];"), 5, 19, "expected a constant"},
         {in_body("mov.b64 {%r1, %r2, %rd;"), 5, 23, "expected '}'"},
         {in_body("setp.eq.u32 %p1|, %r1, 2;"), 5, 17, "expected a constant"},
         {in_body("mov.u32 %r1, !!%p;"), 5, 16, "expected a constant"},
         {in_body("+"), 5, 1, "expected a statement"},
         {in_body("t: .branchtargets a, b;"), 5, 19, "no label 'a'"},
         {in_body("ld.u32 %r1, [-%rd1];"), 5, 14, "an address has no '-'"},
         {in_body("ld.u32 %r1, [a[1]];"), 5, 14, "takes no brackets"},
         {in_body("@%p .reg .b32 x;"), 5, 5, "an instruction"},
         {in_body("@%p { ret; }"), 5, 5, "an instruction"},
         {in_body(";"), 5, 1, "expected a statement"},
         {in_body("_: ret;"), 5, 1, "not a label"},
         {in_body(".reg .b32 _;"), 5, 11, "not a name that can be declared"},
         {in_body(".extern .shared .b8 s[];"), 5, 1, "declarations of the module"}});
}

TEST_CASE("hostile text costs no more than the budget") {
  const auto refused = [](const std::string& text, const parse_budget& budget, const std::string& reason) {
    try {
      parse(text, budget);
      FAIL("accepted: " << reason);
    } catch (const ptx_error& e) {
      CHECK(contains(e.reason(), reason));
    }
  };
  refused(head, {.bytes = 10}, "more than 10");
  refused(in_body("ret; ret; ret;"), {.statements = 2}, "more than 2 statements");
  refused(in_body(".reg .b32 %r<1000000000>;"), {}, "more than");
  refused(in_body(".reg .b32 %r<9>; .reg .b32 %x<9>;"), {.registers = 10}, "more than 10 registers");
  refused(head + ".entry k(.param .u32 a, .param .u32 b) { ret; }", {.parameters = 1},
          "more than 1 parameters");
  refused(head + ".global .u32 a, b, c;", {.variables = 2}, "more than 2 declarations");
  refused(head + ".global .u32 a[3] = {1,2,3};", {.initial_values = 2}, "more than 2 initial values");
  refused(in_body(std::string(100000, '{')), {}, "nested more than 64");
  refused(in_body("mov.u32 %r, " + std::string(100000, '(') + ";"), {}, "nested more than 64");
  refused(in_body("mov.u32 %r, " + std::string(100000, '-') + "1;"), {}, "nested more than 64");
  refused(in_body("mov.u32 %r, " + std::string(100000, '{') + ";"), {}, "nested more than 64");
  std::string many = "add.u32 a";
  for (int i = 0; i < 1000; ++i) many += ", a";
  refused(in_body(many + ";"), {}, "more than 256 operands");
  std::string modifiers = "add";
  for (int i = 0; i < 1000; ++i) modifiers += ".u32";
  refused(in_body(modifiers + " a, b, c;"), {}, "more than 32 modifiers");
}
