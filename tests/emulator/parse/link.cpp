// Several modules made into one: what one declares and another defines, weak and common names, and names that
// are each module's own.

#include "tests/emulator/kernel.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

using namespace emulator_test;

namespace {

const std::string head = ".version 8.3\n.target sm_90\n.address_size 64\n";

std::string kernel_that(const std::string& body, const std::string& declarations) {
  return kernel_text(body + "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r20;", 1, declarations);
}

std::uint32_t answer(const std::vector<std::string_view>& texts) {
  const module m = link_modules(texts, device());
  memory global;
  const array<std::uint32_t> out(global, 32);
  run_module(m, global, {out.address()});
  return out.values()[3];
}

std::string reason(const std::vector<std::string_view>& texts) {
  try {
    link_modules(texts, device());
  } catch (const ptx_error& e) {
    return e.reason();
  }
  return "accepted";
}

std::string returns(const std::string& linkage, const std::string& value) {
  return head + linkage +
         " .func (.param .b32 q) f(.param .b32 n) { .reg .b32 r; ld.param.b32 r, [n]; add.u32 r, r, " +
         value + "; st.param.b32 [q], r; ret; }\n";
}

}  // namespace

TEST_CASE("a function and a variable of another module, in either order") {
  const std::string user =
      kernel_that("call (%r1), f, (%thread); ld.global.u32 %r2, [v+4]; add.u32 %r20, %r1, %r2;",
                  ".extern .func (.param .b32 q) f(.param .b32 n);\n.extern .global .u32 v[];\n");
  const std::string maker = returns(".visible", "100") + ".visible .global .u32 v[2] = {5, 1000};\n";
  CHECK(answer({user, maker}) == 1103);
  CHECK(answer({maker, user}) == 1103);
  CHECK(contains(reason({user}), "is not defined"));
  CHECK(contains(reason({user, maker, maker}), "defined in two modules"));
}

TEST_CASE("a weak function gives way, and common variables are one") {
  const std::string user =
      kernel_that("st.global.u32 [c], 7; call (%r20), f, (%thread);",
                  ".extern .func (.param .b32 q) f(.param .b32 n);\n.common .global .u32 c;\n");
  const std::string common = ".common .global .u32 c[4];\n";
  CHECK(answer({user, returns(".weak", "1"), returns(".weak", "2")}) == 4);
  CHECK(answer({user, returns(".weak", "1"), returns(".visible", "2")}) == 5);
  CHECK(answer({returns(".visible", "2") + common, returns(".weak", "1") + common, user}) == 5);
}

TEST_CASE("what has no linkage is each module's own") {
  const std::string own = ".global .u32 v = ";
  const std::string user = kernel_that("ld.global.u32 %r1, [v]; call (%r2), g; add.u32 %r20, %r1, %r2;",
                                       own + "3;\n.extern .func (.param .b32 q) g();\n.func f { ret; }\n");
  const std::string maker =
      head + own +
      "50;\n.func (.param .b32 q) f() { .reg .b32 %r<4>; ld.global.u32 %r1, [v];"
      "st.param.b32 [q], %r1; ret; }\n.global .u64 at = f;\n"
      ".visible .func (.param .b32 q) g() { .reg .b32 r; .reg .b64 d; ld.global.u64 d, [at];"
      "p: .callprototype (.param .b32 _) _ (); call (r), d, (), p; st.param.b32 [q], r; ret; }\n";
  CHECK(answer({user, maker}) == 53);
  CHECK(answer({maker, user}) == 53);
}

TEST_CASE("lines are counted through all texts, and the newest target counts") {
  const std::string good = head + ".entry a() { ret; }";
  try {
    link_modules({good, ".version 8.0\n.target sm_80\n.address_size 64\n.entry b() {\n bad; }"}, device());
    FAIL("accepted");
  } catch (const ptx_error& e) {
    CHECK(e.line() == 9);
    CHECK(contains(e.reason(), "'bad'"));
  }
  CHECK(link_modules({good, ".version 8.0\n.target sm_80\n.entry b() { ret; }"}, device())
            .decoded()
            .target.sm == 90);
  CHECK(contains(reason({}), "no text"));
}
