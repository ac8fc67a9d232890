// Text of a file or a program does not act on its reader's terminal; other text is as it was.

#include <kaio/runtime/error.hpp>

#include <string>
#include <string_view>

#include "catch.hpp"
#include "emulator/program/error.hpp"
#include "host/printable.hpp"

using kaio::host::first_character;
using kaio::host::printable;

TEST_CASE("ordinary text is as it was") {
  for (const std::string_view text :
       {"", "kaio: kernel 'k': line 1\n\tline 2", "\\x1b", "f\xc3\xbcr \xe2\x82\xac \xf0\x9f\x98\x80"})
    CHECK(printable(text) == text);
}

TEST_CASE("control characters and bytes that are not UTF-8 are shown as numbers") {
  CHECK(printable("\x1b[2J\x1b]0;title\x07") == "\\x1b[2J\\x1b]0;title\\x07");
  CHECK(printable("a\rb\bc\x7f") == "a\\x0db\\x08c\\x7f");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");  // CSI, as one character
  CHECK(printable("\x9b"
                  "31m") == "\\x9b31m");  // and as one byte
  CHECK(printable("\xe2\x80\xae"
                  "cba") ==
        "\\xe2\\x80\\xae"
        "cba");  // from right to left
  for (const std::string_view wrong : {"\xc3", "\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80",
                                       "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xff"}) {
    CHECK(!first_character(wrong).is_valid);
    CHECK(printable(wrong).size() == 4 * wrong.size());
  }
}

TEST_CASE("the messages of errors are printable") {
  using namespace kaio;
  const std::string evil = "\x1b[31m", shown = "\\x1b[31m";
  CHECK(std::string(invalid_argument("kaio: " + evil).what()) == "kaio: " + shown);
  CHECK(std::string(emulator::launch_error("kaio: " + evil).what()) == "kaio: " + shown);
  CHECK(std::string(emulator::ptx_error(1, 2, evil).what()) == "kaio: PTX line 1, column 2: " + shown);
  CHECK(std::string(emulator::memory_error(emulator::memory_error_kind::not_a_buffer, 0, 0, evil).what()) ==
        shown);
  emulator::fault_report report;
  report.kernel = report.ptx_text = report.file = report.detail = evil;
  report.ptx_line = report.line = 1;
  CHECK(std::string(emulator::fault(report).what()).find('\x1b') == std::string::npos);
}
