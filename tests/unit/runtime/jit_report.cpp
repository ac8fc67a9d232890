// A compiler's log leads to the lines of the text, and from there to the C++ lines.

#include <kaio/ptx/kernel_image.hpp>

#include <string>
#include <vector>

#include "catch.hpp"
#include "runtime/base/jit_report.hpp"
#include "runtime/base/text.hpp"

using namespace kaio::runtime;

TEST_CASE("line numbers are read out of a log") {
  using lines = std::vector<std::size_t>;
  CHECK(lines_of_log("ptxas application ptx input, line 12; error : x\nptxas ..., line 7; error\nline 12") ==
        lines{12, 7});
  CHECK(lines_of_log("line 12:3: unknown instruction") == lines{12});
  CHECK(lines_of_log("pipeline 5; line x; line 0; line ") == lines{});
  CHECK(lines_of_log("") == lines{});
}

TEST_CASE("an excerpt shows the lines around each error, marked") {
  const kaio::ptx::kernel_image kernel;
  const std::string text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
  CHECK(excerpt_of(kernel, text, {1}) == ">     1 | one\n      2 | two\n      3 | three\n");
  const std::string two = excerpt_of(kernel, text, {9, 1});
  CHECK(two.find("      3 | three\n      ...\n      7 | seven") != std::string::npos);
  CHECK(two.find(">     9 | nine") != std::string::npos);
  CHECK(excerpt_of(kernel, text, {100}).empty());
  CHECK(excerpt_of(kernel, "", {1}).empty());
}

TEST_CASE("sizes and addresses are readable") {
  CHECK(readable_bytes(0) == "0 bytes");
  CHECK(readable_bytes(999) == "999 bytes");
  CHECK(readable_bytes(1500) == "1.50 KB");
  CHECK(readable_bytes(141'000'000'000) == "141.00 GB");
  CHECK(readable_bytes(~0ull) == "18.45 EB");
  CHECK(hexadecimal(0x7f00) == "0x7f00");
}
