// Calls of vprintf and __assertfail as compilers write them, and what they print and report.

#include "emulator/instructions/control/print.hpp"
#include "tests/emulator/kernel.hpp"

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

using namespace emulator_test;

namespace {

// The declarations that nvcc writes for a kernel that prints and asserts.
const std::string system_functions = R"(
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0,
	.param .b64 vprintf_param_1
)
;
.extern .func __assertfail
(
	.param .b64 __assertfail_param_0,
	.param .b64 __assertfail_param_1,
	.param .b32 __assertfail_param_2,
	.param .b64 __assertfail_param_3,
	.param .b64 __assertfail_param_4
) .noreturn
;
)";

// A text as a .global array of bytes.
std::string bytes_of_text(const std::string& name, const std::string& text) {
  std::string result = ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {";
  for (const char c : text) result += std::to_string(static_cast<unsigned char>(c)) + ", ";
  return result + "0};\n";
}

const std::string print_call = R"(
  mov.u64 %d20, format; cvta.global.u64 %d21, %d20; mov.u64 %d22, frame; cvta.local.u64 %d23, %d22;
  { // callseq 0, 0
  .reg .b32 temp_param_reg;
  .param .b64 param0;
  st.param.b64 	[param0+0], %d21;
  .param .b64 param1;
  st.param.b64 	[param1+0], %d23;
  .param .b32 retval0;
  call.uni (retval0),
  vprintf,
  (
  param0,
  param1
  );
  ld.param.b32 	%r20, [retval0+0];
  } // callseq 0
)";

struct printed {
  std::string text;
  std::vector<std::uint32_t> returned;
};

// Runs a body that fills `frame` and prints, and stores what vprintf returned.
printed print_from(const std::string& format, const std::string& body, std::uint32_t blocks,
                   std::uint32_t threads, const std::string& more = "") {
  memory global;
  const array<std::uint32_t> out(global, blocks * threads);
  const module m = parsed_module(kernel_text(".local .align 8 .b8 frame[64];\n" + body + print_call +
                                                 "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r20;",
                                             1, system_functions + bytes_of_text("format", format) + more));
  printed result;
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {blocks, 1, 1};
  l.block = {threads, 1, 1};
  l.parameters.resize(8);
  l.printed = &result.text;
  const std::uint64_t address = out.address();
  std::memcpy(l.parameters.data(), &address, 8);
  run(l, global);
  result.returned = out.values();
  return result;
}

}  // namespace

TEST_CASE("a kernel prints in the order of execution, and learns how many arguments were taken") {
  const printed one = print_from("%d %f %s%c\n",
                                 "st.local.u32 [frame], 42; mov.f64 %g1, 0d3FF8000000000000;"
                                 "st.local.f64 [frame+8], %g1; mov.u64 %d1, word; cvta.global.u64 %d2, %d1;"
                                 "st.local.u64 [frame+16], %d2; st.local.u32 [frame+24], 33;",
                                 1, 1, bytes_of_text("word", "hello"));
  CHECK(one.text == "42 1.500000 hello!\n");
  CHECK(one.returned == std::vector<std::uint32_t>{4});
  std::string want;
  for (int i = 0; i < 3 * 40; ++i) want += "thread " + std::to_string(i) + "\n";
  const printed all = print_from("thread %d\n", "st.local.u32 [frame], %thread;", 3, 40);
  CHECK(all.text == want);
  const printed some = print_from("%u ",
                                  "st.local.u32 [frame], %thread; and.b32 %r1, %thread, 7;"
                                  "setp.ne.u32 %q1, %r1, 3; @%q1 exit;",
                                  1, 32);
  CHECK(some.text == "3 11 19 27 ");
  CHECK(print_from("nothing\n", "", 1, 1).returned == std::vector<std::uint32_t>{0});
}

TEST_CASE("a format or a text at a bad address is a fault of memory") {
  memory global;
  const array<std::uint32_t> out(global, 1);
  const std::string body = ".local .align 8 .b8 frame[8]; mov.u64 %d1, frame; cvta.local.u64 %d2, %d1;";
  const std::string call =
      "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %d3; st.param.b64 [b], %d2;"
      "call.uni (r), vprintf, (a, b); }";
  const auto report = [&](const std::string& format) {
    return fault_of(body + format + call, global, {out.address()}, {1, 1},
                    system_functions + bytes_of_text("string", "%s"));
  };
  CHECK(report("mov.u64 %d3, 64;").kind == fault_kind::out_of_bounds);
  const fault_report text =
      report("st.local.u64 [frame], 4096; mov.u64 %d4, string; cvta.global.u64 %d3, %d4;");
  CHECK(text.kind == fault_kind::out_of_bounds);
  CHECK(text.address == 4096);
  CHECK(contains(text.ptx_text, "vprintf"));
  const fault_report arguments =
      report("mov.u64 %d4, string; cvta.global.u64 %d3, %d4; add.u64 %d2, %d2, 16;");
  CHECK(arguments.kind == fault_kind::out_of_bounds);
  CHECK(arguments.space == "local");
}

TEST_CASE("a failed assertion ends the grid and is reported in full") {
  memory global;
  const array<std::uint32_t> out(global, 1);
  const fault_report r =
      fault_of(R"(
      setp.ne.u32 %q1, %thread, 37; @%q1 bra good;
      mov.u64 %d1, message; cvta.global.u64 %d2, %d1; mov.u64 %d3, file; cvta.global.u64 %d4, %d3;
      mov.u64 %d5, function; cvta.global.u64 %d6, %d5;
      { .param .b64 param0; st.param.b64 [param0+0], %d2; .param .b64 param1; st.param.b64 [param1+0], %d4;
        .param .b32 param2; st.param.b32 [param2+0], 17; .param .b64 param3; st.param.b64 [param3+0], %d6;
        .param .b64 param4; st.param.b64 [param4+0], 1;
        call.uni __assertfail, (param0, param1, param2, param3, param4); }
      good:)",
               global, {out.address()}, {2, 32},
               system_functions + bytes_of_text("message", "i < n") + bytes_of_text("file", "scale.hpp") +
                   bytes_of_text("function", "void scale()"));
  CHECK(r.kind == fault_kind::device_assert);
  CHECK(r.detail == "assertion 'i < n' failed at scale.hpp:17 in void scale()");
  CHECK(r.block.x == 1);
  CHECK(r.thread.x == 5);
}

TEST_CASE("wrong arguments are refused where they are") {
  const auto reason = [&](const std::string& body) {
    return rejection(kernel_text(body, 0, system_functions)).reason();
  };
  const std::string parameters = "{ .param .b64 a; .param .b64 b; .param .b32 r; ";
  CHECK(contains(reason("call.uni nobody;"), "'nobody' is not declared"));
  CHECK(contains(reason(parameters + "call.uni vprintf, (a, b); }"), "'vprintf' returns one value"));
  CHECK(contains(reason(parameters + "call.uni (r), vprintf, (a); }"), "takes 2 arguments"));
  CHECK(contains(reason(parameters + "call.uni (r), vprintf, (a, r); }"),
                 "'r' has 4 bytes; the function takes .b64"));
  CHECK(contains(reason("{ .param .b64 a; ld.global.u64 %d1, [a]; }"), "lives in parameter memory"));
}

TEST_CASE("conversions print what C prints, arguments at multiples of their size") {
  struct argument {
    std::uint64_t bits;
    std::uint32_t bytes;
  };
  struct row {
    std::string format;
    std::vector<argument> arguments;
    std::string want;
    std::uint32_t count;
  };
  const argument minus_five{static_cast<std::uint32_t>(-5), 4}, pi{bits(3.14159265358979), 8};
  const row rows[] = {
      {"plain 100%%\n", {}, "plain 100%\n", 0},
      {"%d|%i|%5d|%-5d|%05d|%+d|% d",
       {minus_five, {7, 4}, {42, 4}, {42, 4}, {42, 4}, {42, 4}, {42, 4}},
       "-5|7|   42|42   |00042|+42| 42",
       7},
      {"%u|%x|%X|%o|%#x|%#o",
       {{4294967295, 4}, {255, 4}, {255, 4}, {8, 4}, {255, 4}, {8, 4}},
       "4294967295|ff|FF|10|0xff|010",
       6},
      {"%ld|%lld|%lu|%llu|%lx",
       {{~0ull, 8}, {1ull << 40, 8}, {~0ull, 8}, {~0ull, 8}, {1ull << 36, 8}},
       "-1|1099511627776|18446744073709551615|18446744073709551615|1000000000",
       5},
      {"%hd|%hhu", {{7, 4}, {9, 4}}, "7|9", 2},
      {"%f|%.2f|%10.3f|%-10.1f|%e|%g|%G",
       {pi, pi, pi, pi, pi, pi, {bits(1e-10), 8}},
       "3.141593|3.14|     3.142|3.1       |3.141593e+00|3.14159|1E-10",
       7},
      {"%a|%f|%F", {{bits(1.0), 8}, {bits(HUGE_VAL), 8}, {bits(-HUGE_VAL), 8}}, "0x1p+0|inf|-INF", 3},
      {"%c%c|%3c|%-3c|", {{'a', 4}, {'b', 4}, {'c', 4}, {'d', 4}}, "ab|  c|d  |", 4},
      {"%s|%8s|%-8s|%.2s", {{1, 8}, {1, 8}, {1, 8}, {1, 8}}, "text|    text|text    |te", 4},
      {"%p|%p", {{0x7f0010, 8}, {0, 8}}, "0x7f0010|0x0", 2},
      {"%*d|%.*f|%-*d|",
       {{6, 4}, {42, 4}, {1, 4}, pi, {static_cast<std::uint32_t>(-4), 4}, {3, 4}},
       "    42|3.1|3   |",
       6},
      {"%d %f %d", {{1, 4}, pi, {2, 4}}, "1 3.141593 2", 3},
      {"%y %", {}, "%y %", 0},
  };
  for (const row& r : rows) {
    std::vector<std::byte> frame;
    for (const argument& a : r.arguments) {
      frame.resize((frame.size() + a.bytes - 1) / a.bytes * a.bytes + a.bytes);
      std::memcpy(frame.data() + frame.size() - a.bytes, &a.bits, a.bytes);
    }
    std::size_t at = 0;
    print_source source;
    source.next = [&](std::uint32_t bytes) {
      at = (at + bytes - 1) / bytes * bytes;
      std::uint64_t value = 0;
      REQUIRE(at + bytes <= frame.size());
      std::memcpy(&value, frame.data() + at, bytes);
      at += bytes;
      return value;
    };
    source.text = [](std::uint64_t address) { return std::string(address == 1 ? "text" : "?"); };
    std::string out;
    INFO(r.format);
    CHECK(print_formatted(out, r.format, source) == r.count);
    CHECK(out == r.want);
    CHECK(at == frame.size());
  }
}
