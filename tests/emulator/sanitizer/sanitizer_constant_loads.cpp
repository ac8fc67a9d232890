// Memory that is loaded by ld.global.nc or ldu, and written by the same launch.

#include "tests/emulator/sanitizer/checked.hpp"

using namespace emulator_test;

namespace {

const checked_launch one_warp{{1, 32}};
const std::string place = "mad.lo.u64 %d0, %wide, 4, %p0; mad.lo.u64 %d1, %wide, 4, %p1;\n";

bool reported(const std::string& body, std::string_view line, checked_launch how = one_warp) {
  return has(place + body, fault_kind::read_only, line, how);
}
bool fine(const std::string& body, checked_launch how = one_warp) { return is_clean(place + body, how); }

}  // namespace

TEST_CASE("a load of constant memory after a write of the same launch, and before one") {
  for (const std::string load : {"ld.global.nc.u32 %r1, [%d0];", "ldu.global.u32 %r1, [%d0];",
                                 "ld.global.nc.v2.u16 {%h1, %h2}, [%d0];"}) {
    INFO(load);
    const std::string_view line = std::string_view(load).substr(0, load.find(' '));
    CHECK(reported("st.global.u32 [%d0], 7;\n" + load, line));
    CHECK(reported(load + "\nst.global.u32 [%d0], 7;", "st.global"));
    CHECK(reported(load + "\nred.global.add.u32 [%d0], 7;", "red.global"));
    CHECK(reported("st.global.u8 [%d0+3], 7;\n" + load, line));
    // A barrier orders nothing for such a load.
    CHECK(reported("st.global.u32 [%d0], 7;\nbar.sync 0;\n" + load, line));
    CHECK(fine("st.global.u32 [%d1], 7;\n" + load));
    CHECK(fine("ld.global.u32 %r2, [%d0];\nst.global.u32 [%d0], 7;\nld.global.u32 %r2, [%d0];"));
  }
  const auto r = checked(place + "st.global.u32 [%d0], 7;\nld.global.nc.u32 %r1, [%d0];", one_warp);
  REQUIRE(r);
  CHECK(contains(r->detail, "a thread loads with ld.global.nc memory that PTX line"));
  CHECK(contains(r->advice, "ordinary ld.global"));
}

TEST_CASE("neighbours in a word, and other launches, do not count") {
  CHECK(fine("st.global.u16 [%d0], 7;\nld.global.nc.u16 %h1, [%d0+2];"));
  CHECK(fine("ld.global.nc.u8 %h1, [%d0+1];\nst.global.u8 [%d0+2], 7;"));
  CHECK(reported("ld.global.nc.u8 %h1, [%d0+2];\nst.global.u16 [%d0+2], 7;", "st.global"));
}

TEST_CASE("one thread loads what another block writes") {
  const std::string body =
      "setp.eq.u32 %q0, %ctaid_, 0;\n@%q0 ld.global.nc.u32 %r1, [%p0];\n@!%q0 st.global.u32 [%p0], %r1;";
  checked_launch how{{2, 1}};
  how.options.checks = sanitizer_options::parse_checks("memory", "--sanitize");
  CHECK(has("mov.u32 %r1, 0;\n" + body, fault_kind::read_only, "st.global", how));
}

TEST_CASE("loads of constant memory are not looked at where the check is left out") {
  checked_launch l = one_warp;
  l.options.checks.set(check::memory, false);
  CHECK(fine("st.global.u32 [%d0], 7;\nld.global.nc.u32 %r1, [%d0];", l));
}
