// Accesses that leave the shared or local variable of their address, and land in another one.

#include "tests/emulator/sanitizer/checked.hpp"

using namespace emulator_test;

namespace {

const checked_launch one_thread{{1, 1}, ".shared .align 4 .b32 a[4]; .shared .align 4 .b32 b[4];"};

bool leaves(const std::string& body, std::string_view line) {
  return has(body, fault_kind::out_of_bounds, line, one_thread);
}

bool fine(const std::string& body) { return is_clean(body, one_thread); }

// %r9: 4 or 3, as the thread computes it
const std::string four = "add.u32 %r9, %tid_, 4;\n", three = "add.u32 %r9, %tid_, 3;\n";
// b lies after a, so the accesses are in the bounds of shared memory.
const std::string both = "st.shared.u32 [a], 1;\nst.shared.u32 [b], 1;\n";

}  // namespace

TEST_CASE("an index past the end of a shared variable, in the ways that texts compute an address") {
  const std::string ways[] = {
      "mov.u32 %r1, a; mad.lo.u32 %r2, %r9, 4, %r1;\nst.shared.u32 [%r2], 1;",
      "mov.u32 %r1, a; shl.b32 %r3, %r9, 2; add.u32 %r2, %r1, %r3;\nst.shared.u32 [%r2], 1;",
      "mov.u32 %r1, a; shl.b32 %r3, %r9, 2; add.u32 %r2, %r3, %r1; mov.b32 %r4, %r2;\nst.shared.u32 [%r4], 1;",
      "mov.u64 %d1, a; cvta.shared.u64 %d2, %d1; mad.wide.u32 %d3, %r9, 4, %d2;\nst.u32 [%d3], 1;",
      "mov.u32 %r1, a; mad.lo.u32 %r2, %r9, 4, %r1;\nred.shared.add.u32 [%r2], 1;",
      "st.shared.u32 a[%r9], 1;",
  };
  for (const std::string& way : ways) {
    INFO(way);
    const bool reduces = way.find("red.shared") != std::string::npos;
    CHECK(leaves(both + four + way, reduces ? "red.shared" : "st."));
    CHECK(fine(both + "st.shared.u32 [a+12], 1;\n" + three + way));
  }
  CHECK(leaves(both + "st.shared.u32 [a+16], 1;", "[a+16]"));
  CHECK(leaves(both + four + "mov.u32 %r1, b; sub.u32 %r2, %r1, %r9;\nst.shared.u32 [%r2], 1;", "[%r2]"));
  const auto r = checked(both + four + ways[0], one_thread);
  REQUIRE(r);
  CHECK(contains(r->detail, "leaves the variable 'a' of 16 bytes: its access is at byte 16"));
  CHECK(r->object.name == "b");
  checked_launch others = one_thread;
  others.options.checks = sanitizer_options::parse_checks("all,-memory", "this test");
  CHECK(is_clean(both + four + ways[0], others));
}

TEST_CASE("a loop that runs one step too far") {
  const auto loop = [](const std::string& last) {
    return both +
           "mov.u32 %r1, a; mov.u32 %r2, 0;\nagain: st.shared.u32 [%r1], 2;\nadd.u32 %r1, %r1, 4; "
           "add.u32 %r2, %r2, 1; setp.lt.u32 %q1, %r2, " +
           last + "; @%q1 bra again;";
  };
  CHECK(fine(loop("4")));
  CHECK(leaves(loop("5"), "st.shared.u32 [%r1]"));
}

TEST_CASE("local variables too") {
  const std::string own =
      ".local .b32 x[2]; .local .b32 y[2];\nmov.u64 %d1, x; mul.wide.u32 %d2, %r9, 4;\n"
      "add.u64 %d3, %d1, %d2; cvta.local.u64 %d4, %d3;\n";
  CHECK(leaves(three + own + "st.local.u32 [%d3], 1;", "st.local"));
  CHECK(leaves(three + own + "st.u32 [%d4], 1;", "st.u32"));
  CHECK(fine("add.u32 %r9, %tid_, 1;\n" + own + "st.local.u32 [%d3], 1; st.u32 [%d4], 1;"));
}

TEST_CASE("a register that serves two variables, or an address of unknown origin, is left alone") {
  CHECK(fine(both + "mov.u32 %r1, a;\nst.shared.u32 [%r1], 1; mov.u32 %r1, b;\nst.shared.u32 [%r1], 1;"));
  CHECK(fine(both +
             "mov.u32 %r1, a; mov.u32 %r2, b; setp.eq.u32 %q1, %tid_, 9; selp.u32 %r3, %r1, %r2, %q1;\n"
             "st.shared.u32 [%r3], 1;"));
  CHECK(fine(both + "mov.u32 %r1, a; mov.u32 %r2, b; sub.u32 %r3, %r2, %r1; add.u32 %r4, %r3, 0;\n"
                    "mov.u32 %r5, 0; add.u32 %r5, %r5, %r4; st.shared.u32 [%r5], 1;"));
  CHECK(fine(both + "mov.u32 %r1, 16;\nst.shared.u32 [%r1], 1;"));
  // Dynamic shared memory has no end of its own.
  checked_launch dynamic{{1, 1, 64}, ".extern .shared .align 16 .b8 all[];"};
  CHECK(is_clean("mov.u32 %r1, all;\nst.shared.u32 [%r1+60], 1;", dynamic));
}
