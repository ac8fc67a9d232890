// Programmatic launches: a kernel that uses results of earlier grids before it has waited for them.

#include "tests/emulator/sanitizer/checked.hpp"

using namespace emulator_test;

namespace {

// Kernels that run one after the other on two buffers, %p0 and %p1, the last ones launched programmatically. Each
// has a thread for each word: its addresses are %d0 and %d1.
struct sequence {
  std::vector<std::string> bodies;
  std::uint32_t block = 64;
  bool programmatic = true;
  bool host_waits = false;  // before the last one
  sanitizer_options options = {};
};

std::optional<fault_report> reported(const sequence& s) {
  memory global;
  const std::vector<std::uint64_t> pointers{global.allocate(4096), global.allocate(4096)};
  sanitizer checks(s.options);
  std::vector<module> modules;
  for (const std::string& body : s.bodies)
    modules.push_back(parsed_module(
        kernel_text("mad.lo.u64 %d0, %wide, 4, %p0; mad.lo.u64 %d1, %wide, 4, %p1;\n" + body, 2, "", "8.6")));
  try {
    for (const module& m : modules) {
      launch l;
      l.mod = &m;
      l.kernel = m.find("k");
      l.grid = {1, 1, 1};
      l.block = {s.block, 1, 1};
      l.programmatic = s.programmatic && &m != &modules.front();
      l.parameters.resize(pointers.size() * 8);
      std::memcpy(l.parameters.data(), pointers.data(), l.parameters.size());
      l.observers.push_back(&checks);
      if (s.host_waits && &m == &modules.back()) global.note_host_step();
      run(l, global);
    }
  } catch (const fault& f) {
    CHECK(std::string_view(f.what()).substr(0, 5) == "kaio:");
    return f.report();
  }
  return {};
}

bool races(const sequence& s, std::string_view line) {
  const auto r = reported(s);
  UNSCOPED_INFO((r ? fault(*r).what() : "no report"));
  return r && r->kind == fault_kind::race && contains(r->detail, "a race between grids") &&
         r->ptx_text.find(line) != std::string::npos;
}

bool fine(const sequence& s) {
  const auto r = reported(s);
  UNSCOPED_INFO((r ? fault(*r).what() : "no report"));
  return !r;
}

const std::string begin_next = "griddepcontrol.launch_dependents;\n", wait = "griddepcontrol.wait;\n";
const std::string write_0 = begin_next + "st.global.u32 [%d0], 7;", read_0 = "ld.global.u32 %r1, [%d0];\n",
                  constant_0 = "ld.global.nc.u32 %r1, [%d0];\n";

}  // namespace

TEST_CASE("what the grid before writes is read after the wait for it") {
  CHECK(races({{write_0, read_0 + wait}}, "ld.global"));
  CHECK(fine({{write_0, wait + read_0}}));
  CHECK(fine({{write_0, "ld.global.u32 %r1, [%d1];\n" + wait}}));
  const auto r = reported({{write_0, read_0 + wait}});
  REQUIRE(r);
  CHECK(contains(r->detail, "reads before its griddepcontrol.wait what k, a grid before it, writes"));
  CHECK(contains(r->advice, "griddepcontrol.wait"));
}

TEST_CASE("what the grid before reads or writes is written after the wait for it") {
  CHECK(races({{begin_next + read_0, "st.global.u32 [%d0], 7;\n" + wait}}, "st.global"));
  CHECK(races({{write_0, "red.global.add.u32 [%d0], 7;\n" + wait}}, "red.global"));
  CHECK(fine({{begin_next + read_0, wait + "st.global.u32 [%d0], 7;"}}));
  CHECK(fine({{begin_next + read_0, read_0 + wait}}));
}

TEST_CASE("bytes of a word that the grid before leaves alone are not its own") {
  const std::string low = begin_next + "st.global.u16 [%d0], 7;";
  CHECK(fine({{low, "ld.global.u16 %h1, [%d0+2];\n" + wait}}));
  CHECK(races({{low, read_0 + wait}}, "ld.global"));
}

TEST_CASE("loads of constant memory do not wait") {
  CHECK(races({{write_0, wait + constant_0}}, "ld.global.nc"));
  CHECK(fine({{begin_next + read_0, wait + constant_0}}));
  const auto r = reported({{write_0, wait + constant_0}});
  REQUIRE(r);
  CHECK(contains(r->advice, "ptxas"));
}

TEST_CASE("a barrier after the wait of another thread is enough") {
  const std::string one_waits =
      "setp.lt.u32 %q0, %tid_, 32;\n@%q0 bra WAIT;\nbra MEET;\nWAIT:\n" + wait + "MEET:\n";
  CHECK(fine({{write_0, one_waits + "bar.sync 0;\n" + read_0}}));
  CHECK(races({{write_0, one_waits + read_0}}, "ld.global"));
}

TEST_CASE("a chain of grids that let others begin before they have waited") {
  const std::string other = begin_next + wait + "st.global.u32 [%d1], 7;";
  CHECK(races({{write_0, other, read_0 + wait}}, "ld.global"));
  CHECK(fine({{write_0, other, wait + read_0}}));
  // The middle grid, and the grid that it waited for, have ended before others begin.
  CHECK(fine({{write_0, wait + "st.global.u32 [%d1], 7;", read_0 + wait}}));
}

TEST_CASE("grids before one that waits and then lets others begin have ended") {
  const std::string write_1 = "st.global.u32 [%d1], 7;", other = wait + begin_next + write_1;
  CHECK(fine({{write_0, other, read_0 + wait}}));
  CHECK(fine({{write_0, other, begin_next + wait, read_0 + wait}}));
  CHECK(races({{write_0, other, "ld.global.u32 %r1, [%d1];\n" + wait}}, "ld.global"));
  const std::string some_wait =
      "setp.lt.u32 %q0, %tid_, 32;\n@%q0 bra WAIT;\nbra NEXT;\nWAIT:\n" + wait + "NEXT:\n";
  CHECK(races({{write_0, some_wait + begin_next + write_1, read_0 + wait}}, "ld.global"));
}

TEST_CASE("an asynchronous copy belongs to the thread that issues it") {
  const std::string copy =
      ".shared .align 16 .b8 s[16];\nmov.u32 %r0, s;\ncp.async.ca.shared.global [%r0], [%p0], 4;\n";
  const std::string end = "cp.async.wait_all;\n";
  CHECK(races({.bodies = {write_0, copy + end + wait}, .block = 1}, "cp.async"));
  CHECK(fine({.bodies = {write_0, wait + copy + end}, .block = 1}));
}

TEST_CASE("grids in order are no races") {
  CHECK(fine({.bodies = {write_0, read_0 + wait}, .programmatic = false}));
  CHECK(fine({.bodies = {write_0, read_0 + wait}, .host_waits = true}));
  CHECK(fine({{"st.global.u32 [%d0], 7;", read_0 + wait}}));  // it lets nobody begin before it has ended
}

TEST_CASE("grids are not looked at where races are not") {
  sequence s{{write_0, read_0 + wait}};
  s.options.checks.set(check::races, false);
  CHECK(fine(s));
}
