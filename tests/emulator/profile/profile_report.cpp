// The reports of a profile: their contents, C++ lines from images and from .loc directives, and that any text
// is escaped.

#include "emulator/profile/markup.hpp"
#include "emulator/profile/report.hpp"
#include "emulator/program/source_map.hpp"
#include "tests/emulator/kernel.hpp"

#include <algorithm>
#include <limits>
#include <list>
#include <string>

using namespace emulator_test;
namespace profile = kaio::emulator::profile;

namespace {

const std::string text_with_lines =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 p) {\n"
    ".reg .b64 %a; .reg .b32 %t, %o; .reg .pred %q;\n"
    ".loc 1 10 3\nld.param.u64 %a, [p];\nmov.u32 %t, %tid.x;\n"
    ".loc 1 11 5\nmul.wide.u32 %a, %t, 64;\nld.param.u64 %a, [p];\nst.global.u32 [%a], %t;\n"
    "setp.gt.u32 %q, %t, 100;\n@!%q bra end;\n"
    ".loc 2 7 1, function_name $L, inlined_at 1 12 3\nadd.u32 %o, %t, 1;\nend:\nret;\n}\n"
    ".file 1 \"/src/a<b>.cu\"\n.file 2 \"/src/inline.cuh\", 1234, 99\n";

void run_once(profile::collector& counts, const module& m, const kaio::ptx::kernel_image* image = nullptr) {
  memory global;
  const array<std::uint32_t> buffer(global, 4096);
  const std::uint64_t address = buffer.address();
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {1, 1, 1};
  l.block = {32, 1, 1};
  l.parameters.resize(8);
  std::memcpy(l.parameters.data(), &address, 8);
  l.image = image;
  l.observers.push_back(&counts);
  run(l, global);
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("C++ lines come from .loc directives") {
  const module m = parsed_module(text_with_lines);
  const auto places = statements(m, nullptr);
  REQUIRE(places.size() >= 18);
  CHECK(places[3].file.empty());
  CHECK(places[6] == source_place{"/src/a<b>.cu", 10});
  CHECK(places[7].line == 10);
  CHECK(places[9].line == 11);
  CHECK(places[15] == source_place{"/src/inline.cuh", 7});
  profile::collector counts;
  run_once(counts, m);
  const auto s = profile::summarise(counts.kernels().front());
  REQUIRE(s.cpp_lines.size() == 3);
  CHECK(s.cpp.all == 3);
  CHECK(s.cpp.covered == 3);  // ret is after the last .loc
  CHECK(s.cpp_lines[0].number == 10);
  CHECK(s.cpp_lines[0].sum.executions == 2);
  CHECK(s.cpp_lines[1].sum.executions == 5);
}

TEST_CASE("C++ lines come from the image of a kernel") {
  const module m = parsed_module(kernel_text("add.u32 %r1, %r1, 1;\nadd.u32 %r2, %r2, 1;\n"));
  const kaio::ptx::source_line statements[] = {{"fused.hpp", 12}, {"fused.hpp", 14}};
  std::vector<std::uint16_t> of_line(
      static_cast<std::size_t>(std::count(m.text().begin(), m.text().end(), '\n')), kaio::ptx::no_statement);
  for (std::size_t i = 0; i < of_line.size(); ++i) {
    if (m.line(static_cast<std::uint32_t>(i + 1)).find("add.u32 %r1") != std::string_view::npos)
      of_line[i] = 0;
    if (m.line(static_cast<std::uint32_t>(i + 1)).find("add.u32 %r2") != std::string_view::npos)
      of_line[i] = 1;
  }
  kaio::ptx::kernel_image image;
  image.statements = statements;
  image.statement_count = 2;
  image.statement_of_line = of_line.data();
  image.line_count = of_line.size();
  profile::collector counts;
  run_once(counts, m, &image);
  const auto s = profile::summarise(counts.kernels().front());
  REQUIRE(s.cpp_lines.size() == 2);
  CHECK(s.cpp_lines[1].number == 14);
  CHECK(contains(profile::text_report(counts.kernels()), "C++ lines        2 of 2"));
}

TEST_CASE("the text has the most costly line first") {
  profile::collector counts;
  run_once(counts, parsed_module(kernel_text("mul.lo.u64 %d1, %wide, 256; add.u64 %d1, %d1, %p0;\n"
                                             "ld.global.u32 %r1, [%d1];")));
  const std::string text = profile::text_report(counts.kernels());
  CHECK(contains(text, "kernel 'k' on sm_90a: 1 launch, 1 blocks, 1 warps"));
  const std::size_t costly = text.find("most costly lines");
  REQUIRE(costly != std::string::npos);
  const std::size_t next = text.find('\n', costly) + 1;
  CHECK(text.substr(next, text.find('\n', next) - next).find("ld.global.u32 %r1, [%d1];") !=
        std::string::npos);
  CHECK(contains(text, "32.0 sectors a request, 4.0 would do"));
  CHECK(contains(text, "registers are not known from PTX"));
}

TEST_CASE("every report is made for no kernel too") {
  const std::list<profile::kernel_profile> none;
  CHECK(profile::text_report(none) == "no kernel was launched\n");
  CHECK(profile::json_report(none) == "{\"format\":\"kaio profile\",\"version\":1,\"kernels\":[]}\n");
  CHECK(contains(profile::html_report(none), "No kernel was launched"));
}

TEST_CASE("the page is whole, needs nothing else, and marks what was not executed") {
  profile::collector counts;
  run_once(counts, parsed_module(text_with_lines));
  const std::string page = profile::html_report(counts.kernels());
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page.ends_with("</html>\n"));
  for (const char* element : {"table", "tr", "td", "section", "div", "p", "h3"}) {
    INFO(element);
    CHECK(occurrences(page, std::string("<") + element + ">") +
              occurrences(page, std::string("<") + element + " ") ==
          occurrences(page, std::string("</") + element + ">"));
  }
  for (const char* outside : {"http:", "https:", "<script", "<link", "src=", "@import"})
    CHECK(occurrences(page, outside) == 0);
  CHECK(contains(page, "prefers-color-scheme: dark"));
  CHECK(contains(page, "one way"));
  CHECK(contains(page, "/src/a&lt;b&gt;.cu"));
  CHECK(occurrences(page, "<tr class=\"gap\">") == 1);  // what the branch jumps over
}

TEST_CASE("text is escaped for HTML and for JSON") {
  CHECK(profile::html_escaped("a<b> & \"c\" 'd'") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  CHECK(profile::json_string("a\"b\\c\n\t\r\x01z") == "\"a\\\"b\\\\c\\n\\t\\r\\u0001z\"");
  CHECK(profile::json_string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80") ==
        "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
  // Cut off, overlong, surrogates, beyond U+10FFFF: each byte is replaced.
  for (const std::string bad :
       {"\xc3", "\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
    std::string replaced;
    for (std::size_t i = 0; i < bad.size(); ++i) replaced += "\xef\xbf\xbd";
    CHECK(profile::json_string(bad) == "\"" + replaced + "\"");
    CHECK(profile::html_escaped(bad) == replaced);
  }
}

TEST_CASE("JSON is put together from its parts") {
  profile::json_writer w;
  w.open('{')
      .member("a", std::uint64_t{18446744073709551615u})
      .key("b")
      .open('[')
      .value(0.5)
      .value("x")
      .null();
  w.value(std::numeric_limits<double>::infinity()).close(']').key("c").open('{').close('}').close('}');
  CHECK(w.text() == "{\"a\":18446744073709551615,\"b\":[0.5,\"x\",null,null],\"c\":{}}");
}

TEST_CASE("numbers are written to be read") {
  CHECK(profile::grouped(0) == "0");
  CHECK(profile::grouped(999) == "999");
  CHECK(profile::grouped(1000) == "1,000");
  CHECK(profile::grouped(1234567) == "1,234,567");
  CHECK(profile::ratio(5, 2) == "2.50");
  CHECK(profile::ratio(5, 0) == "-");
}
