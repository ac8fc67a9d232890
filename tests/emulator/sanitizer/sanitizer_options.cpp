// Options of the sanitizer: lists of checks, several reports, suppressions, the environment; writes to
// inputs; the text of a report.

#include "emulator/sanitizer/report/suppressions.hpp"
#include "host/system/process.hpp"
#include "runtime/emulator/environment.hpp"
#include "tests/emulator/sanitizer/checked.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace emulator_test;
namespace ptx = kaio::ptx;

namespace {

// Sets environment variables as long as it lives.
class environment {
 public:
  explicit environment(std::vector<std::pair<const char*, std::string>> values) : values_(std::move(values)) {
    for (const auto& [name, value] : values_) kaio::host::set_environment(name, value.c_str());
  }
  ~environment() {
    for (const auto& [name, value] : values_) kaio::host::unset_environment(name);
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  std::vector<std::pair<const char*, std::string>> values_;
};

class text_file {
 public:
  explicit text_file(const std::string& text) {
    path_ = (std::filesystem::temp_directory_path() /
             ("kaio_suppressions_" + std::to_string(reinterpret_cast<std::uintptr_t>(this))))
                .string();
    std::ofstream(path_) << text;
  }
  ~text_file() { std::remove(path_.c_str()); }
  text_file(const text_file&) = delete;
  text_file& operator=(const text_file&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string refusal(const std::string& checks) {
  try {
    sanitizer_options::parse_checks(checks, "KAIO_SANITIZE");
  } catch (const launch_error& e) {
    return e.what();
  }
  return {};
}

const std::string three_faults =
    "add.u32 %r1, %r20, 1;\nadd.u32 %r2, %r21, 1;\nadd.u32 %r2, %r22, 1;\nst.global.u32 [%p0], %tid_;";

}  // namespace

TEST_CASE("lists of checks") {
  const auto parse = [](std::string_view text) {
    return sanitizer_options::parse_checks(text, "--sanitize");
  };
  const check_set all = parse("all");
  for (const check c : {check::memory, check::uninitialised, check::races, check::barriers, check::async})
    CHECK(all.has(c));
  CHECK(!all.has(check::same_value));
  CHECK(parse("all,same_value").has(check::same_value));
  CHECK(parse("races").has(check::races));
  CHECK(!parse("races").has(check::memory));
  CHECK(!parse("all,-races").has(check::races));
  CHECK(parse("all,-races").has(check::async));
  CHECK(contains(refusal("-races"),
                 "KAIO_SANITIZE is '-races', which leaves a check out of none; write all,-races"));
  CHECK(contains(refusal("races,-races"), "which leaves every check out"));
  CHECK(contains(refusal("all,-all"), "which leaves every check out"));
  CHECK(parse("races,async").has(check::async));
  CHECK(contains(refusal("race"), "'race' is no check"));
  CHECK(contains(refusal("all,"), "KAIO_SANITIZE"));
  CHECK(sanitizer_options::parse_reports("7", "x") == 7);
  CHECK(sanitizer_options::parse_reports("continue", "x") == std::numeric_limits<std::uint64_t>::max());
  CHECK_THROWS_AS(sanitizer_options::parse_reports("0", "x"), launch_error);
  CHECK_THROWS_AS(sanitizer_options::parse_reports("3x", "x"), launch_error);
}

TEST_CASE("the first report stops the grid, or several are gathered") {
  checked_launch l{{1, 32}};
  const auto first = checked(three_faults, l);
  REQUIRE(first);
  CHECK(first->more.empty());
  l.options.most_reports = 2;
  const auto two = checked(three_faults, l);
  REQUIRE(two);
  // The two registers of one line are one report.
  CHECK(two->more.size() == 1);
  l.options.most_reports = std::numeric_limits<std::uint64_t>::max();
  const auto all = checked(three_faults, l);
  REQUIRE(all);
  CHECK(all->more.size() == 3);
  CHECK(contains(fault(*all).what(), "report 4 of 4"));
  CHECK(contains(all->more[0].detail, "%r21"));
  CHECK(all->more[2].kind == fault_kind::race);
  // A fault of the kernel comes last.
  const auto with_fault = checked("add.u32 %r1, %r20, 1;\nld.global.u32 %r1, [%p0+900000];", l);
  REQUIRE(with_fault);
  REQUIRE(with_fault->more.size() == 1);
  CHECK(with_fault->kind == fault_kind::uninitialised);
  CHECK(with_fault->more[0].kind == fault_kind::out_of_bounds);
}

TEST_CASE("patterns of kernels") {
  using sanitizing::matches_pattern;
  CHECK(matches_pattern("reduce", "reduce"));
  CHECK(matches_pattern("reduce_rows", "reduce_*"));
  CHECK(matches_pattern("reduce_rows", "*rows"));
  CHECK(matches_pattern("reduce_rows", "*"));
  CHECK(matches_pattern("aXbXc", "a*b*c"));
  CHECK(!matches_pattern("aXbX", "a*b*c"));
  CHECK(!matches_pattern("reduce", "reduc"));
  CHECK(!matches_pattern("", "a"));
  CHECK(matches_pattern("", "*"));
}

TEST_CASE("suppressed reports are not printed, and are counted") {
  const std::string body = "add.u32 %r1, %r20, 1;\nadd.u32 %r2, %r21, 1;";
  const auto line = [&] {
    const auto r = checked(body, {{1, 32}});
    return r ? r->ptx_line : 0u;
  }();
  const auto with = [&](const std::string& text) {
    const text_file file(text);
    checked_launch l{{1, 32}};
    l.options.suppressions = file.path();
    l.options.most_reports = 10;
    const auto r = checked(body, l);
    return r ? r->more.size() + 1 : 0;
  };
  CHECK(with("# nothing\n\n") == 2);
  CHECK(with("uninitialised k\n") == 0);
  CHECK(with("all *\n") == 0);
  CHECK(with("all *") == 0);
  CHECK(with("\n\nall *\n\n") == 0);
  CHECK(with("races k\n") == 2);
  CHECK(with("uninitialised other_*\n") == 2);
  CHECK(with("uninitialised k " + std::to_string(line) + "  # looked at\n") == 1);
  CHECK(with("uninitialised k ops/a.hpp:7\n") == 2);
  CHECK_THROWS_AS(with("uninitialised\n"), launch_error);
  CHECK_THROWS_AS(with("nonsense k\n"), launch_error);
  CHECK_THROWS_AS(with("races k 7 8\n"), launch_error);
  CHECK_THROWS_AS(with("races k 7x\n"), launch_error);
  const auto refused = [&](const std::string& file) -> std::string {
    checked_launch l{{1, 32}};
    l.options.suppressions = file;
    try {
      checked(body, l);
    } catch (const launch_error& e) {
      return e.what();
    }
    return {};
  };
  CHECK(contains(refused("/nowhere/at/all"), "'/nowhere/at/all' cannot be read: No such file or directory"));
  CHECK(contains(refused("/"),
                 "the file of suppressions '/' cannot be read: it is a directory; name a text file"));
}

TEST_CASE("races that a barrier would end are suppressed by either line") {
  const std::string body =
      "mov.u32 %r9, cells; mad.lo.u32 %r8, %tid_, 4, %r9; xor.b32 %r1, %tid_, 32; mad.lo.u32 %r7, %r1, 4, %r9;\n"
      "st.shared.u32 [%r8], %tid_;\nst.shared.u32 [%r7], %tid_;\nld.shared.u32 %r2, [%r7];";
  checked_launch l{{1, 64}, ".shared .align 16 .b8 cells[256];"};
  l.options.most_reports = 10;
  const auto found = checked(body, l);
  REQUIRE(found);
  CHECK(found->more.empty());
  const auto told = [&](const std::string& rules) {
    const text_file file(rules);
    checked_launch with = l;
    with.options.suppressions = file.path();
    return checked(body, with).has_value();
  };
  CHECK(!told("races k\n"));
  CHECK(told("races k 1\n"));
  CHECK(told("races other\n"));
  const std::uint32_t first = std::min(found->ptx_line, found->other.ptx_line);
  CHECK(!told("races k " + std::to_string(first) + "\nraces k " + std::to_string(first + 1) + "\n"));
}

TEST_CASE("the environment asks for the sanitizer") {
  memory global;
  const array<std::uint32_t> out(global, 64);
  const module m = parsed_module(kernel_text(three_faults));
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = l.block = {1, 1, 1};
  const std::uint64_t address = out.address();
  l.parameters.resize(8);
  std::memcpy(l.parameters.data(), &address, 8);
  const auto told = [&](std::vector<std::pair<const char*, std::string>> values) -> std::size_t {
    const environment set(std::move(values));
    launch copy = l;
    kaio::runtime::apply_environment(copy);
    kaio::runtime::apply_environment(copy);  // a launch that is used again has one sanitizer
    try {
      run(copy, global);
    } catch (const fault& f) {
      return f.report().more.size() + 1;
    }
    return 0;
  };
  CHECK(told({}) == 0);
  CHECK(told({{"KAIO_SANITIZE", ""}}) == 0);
  CHECK(told({{"KAIO_SANITIZE", "all"}}) == 1);
  CHECK(told({{"KAIO_SANITIZE", "barriers"}}) == 0);
  CHECK(told({{"KAIO_SANITIZE", "all,-uninitialised"}}) == 0);
  CHECK(told({{"KAIO_SANITIZE", "all"}, {"KAIO_SANITIZE_ERRORS", "continue"}}) == 3);
  CHECK(told({{"KAIO_SANITIZE", "all"}, {"KAIO_SANITIZE_ERRORS", "2"}}) == 2);
  CHECK_THROWS_AS(told({{"KAIO_SANITIZE", "al"}}), launch_error);
  CHECK_THROWS_AS(told({{"KAIO_SANITIZE", "all"}, {"KAIO_SANITIZE_ERRORS", "none"}}), launch_error);
  CHECK_THROWS_AS(told({{"KAIO_SANITIZE", "all"}, {"KAIO_SUPPRESSIONS", "/nowhere/at/all"}}), launch_error);
}

TEST_CASE("a write to a buffer that is passed as an input, unless it is passed as an output too") {
  const std::string text = kernel_text("st.global.u32 [%p0], 1;\nld.global.u32 %r1, [%p1];", 2);
  const std::size_t lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const ptx::source_line statements[] = {{"ops/scale.hpp", 12}};
  const std::vector<std::uint16_t> map(lines, 0);
  const auto with = [&](ptx::access first, ptx::access second, bool same) {
    memory global;
    const array<std::uint32_t> a(global, 64), b(global, 64);
    const module m = parsed_module(text);
    const ptx::parameter parameters[] = {{ptx::type::u32, first}, {ptx::type::u32, second}};
    ptx::kernel_image image;
    image.parameters = parameters;
    image.parameter_count = 2;
    image.statements = statements;
    image.statement_count = 1;
    image.statement_of_line = map.data();
    image.line_count = lines;
    sanitizer checks{sanitizer_options{}};
    launch l;
    l.mod = &m;
    l.kernel = m.find("k");
    l.grid = l.block = {1, 1, 1};
    l.image = &image;
    l.observers.push_back(&checks);
    const std::uint64_t pointers[] = {a.address(), same ? a.address() : b.address()};
    l.parameters.resize(16);
    std::memcpy(l.parameters.data(), pointers, 16);
    try {
      run(l, global);
    } catch (const fault& f) {
      CHECK(contains(f.what(), "input 'p0'"));
      CHECK(contains(f.what(), "ops/scale.hpp:12"));
      CHECK(contains(f.what(), "the buffer of 256 bytes"));
      return f.report().kind == fault_kind::read_only;
    }
    return false;
  };
  CHECK(with(ptx::access::in, ptx::access::in, false));
  CHECK(!with(ptx::access::out, ptx::access::in, false));
  CHECK(!with(ptx::access::inout, ptx::access::in, false));
  CHECK(!with(ptx::access::in, ptx::access::out, true));
  CHECK(with(ptx::access::in, ptx::access::out, false));
  // A number that is an address within the buffer may be that of an output.
  CHECK(!with(ptx::access::in, ptx::access::scalar, true));
  CHECK(with(ptx::access::in, ptx::access::scalar, false));
}

TEST_CASE("the text of a report leads to both sides") {
  const auto r = checked(
      "mad.lo.u64 %d0, %wide, 4, %p0;\nst.global.u32 [%d0], %thread;\n"
      "ld.global.u32 %r1, [%d0+256];",
      {{2, 64}});
  REQUIRE(r);
  const std::string text = fault(*r).what();
  for (const char* part : {"kernel 'k'", "a race in global memory", "PTX line", "block (", "warp", "lane",
                           "the buffer of 16384 bytes", "the other side: weak", "what to do:"})
    CHECK(contains(text, part));
}
