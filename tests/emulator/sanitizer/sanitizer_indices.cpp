// Addresses from 32-bit index products that wrapped; hashes, remainders and negative terms, which may wrap.

#include "tests/emulator/sanitizer/checked.hpp"

using namespace emulator_test;

namespace {

const checked_launch one_warp{{1, 32}};
// Row and pitch: their product is 2^32 + 64, so that the wrapped index is in the buffer.
const std::string row_and_pitch = "mov.u32 %r1, 67108865; mov.u32 %r2, 64;\n";
const std::string load = "ld.global.u32 %r9, [%d1];";

bool reported(const std::string& body, std::string_view line = "ld.global.u32",
              checked_launch how = one_warp) {
  return has(row_and_pitch + body, fault_kind::wrapped_index, line, how);
}
bool fine(const std::string& body, checked_launch how = one_warp) {
  return is_clean(row_and_pitch + body, how);
}

}  // namespace

TEST_CASE("an index product of 32 bits that wrapped, widened in every way, and used as an address") {
  const std::string products[] = {
      "mul.lo.u32 %r3, %r1, %r2; add.u32 %r3, %r3, %tid_;\n",
      "mad.lo.u32 %r3, %r1, %r2, %tid_;\n",
      "mad.lo.s32 %r3, %r1, %r2, %tid_;\n",
      "shl.b32 %r3, %r1, 6; add.s32 %r3, %tid_, %r3;\n",
      "mul.lo.u32 %r4, %r1, %r2; mov.b32 %r5, %r4; sub.u32 %r3, %r5, 3;\n",
      "mul.lo.u32 %r4, %r1, %r2; setp.eq.u32 %q0, %tid_, 40; selp.b32 %r3, 0, %r4, %q0;\n"};
  const std::string addresses[] = {"mad.wide.u32 %d1, %r3, 4, %p0;\n",
                                   "mul.wide.u32 %d2, %r3, 4; add.u64 %d1, %d2, %p0;\n",
                                   "cvt.u64.u32 %d2, %r3; shl.b64 %d2, %d2, 2; add.s64 %d1, %p0, %d2;\n",
                                   "cvt.s64.s32 %d2, %r3; mad.lo.s64 %d1, %d2, 4, %p0;\n",
                                   "mad.wide.s32 %d1, %r3, 4, %p0; mov.b64 %d1, %d1;\n"};
  for (const std::string& product : products)
    for (const std::string& address : addresses) {
      INFO(product << address);
      CHECK(reported(product + address + load));
      checked_launch without = one_warp;
      without.options.checks.set(check::indices, false);
      CHECK(fine(product + address + load, without));
    }
  const std::string address = products[0] + addresses[0];
  CHECK(reported(address + "st.global.u32 [%d1], 7;", "st.global"));
  CHECK(reported(address + "red.global.add.u32 [%d1], 7;", "red.global"));
  CHECK(reported(address + "ld.u32 %r9, [%d1+4];", "ld.u32"));
  CHECK(has(row_and_pitch + address + "cp.async.ca.shared.global [cells], [%d1], 4;\ncp.async.wait_all;",
            fault_kind::wrapped_index, "cp.async", {{1, 1}, ".shared .align 16 .b8 cells[64];"}));
  const auto r = checked(row_and_pitch + address + load, one_warp);
  REQUIRE(r);
  CHECK(contains(r->detail, "it is 64 in place of 4294967360"));
  CHECK(contains(r->detail, "mul.lo.u32 %r3, %r1, %r2;"));
  CHECK(contains(r->advice, "64 bits"));
}

TEST_CASE("a signed index that did not fit into 31 bits is wrong when it is widened as a signed number") {
  // 2^31 + 4096 as a signed number; in a buffer by itself it would be far before it.
  const std::string product = "mov.u32 %r1, 524289; mov.u32 %r2, 4096; mad.lo.s32 %r3, %r1, %r2, %tid_;\n";
  CHECK(reported(product + "mad.wide.s32 %d1, %r3, 4, %p0;\n" + load));
  // As a number without a sign it fits: 8 GiB from the beginning are out of bounds.
  CHECK(has(product + "mad.wide.u32 %d1, %r3, 4, %p0;\n" + load, fault_kind::out_of_bounds, "ld.global",
            one_warp));
}

TEST_CASE("products that fit, and negative terms that cancel") {
  const std::string use = "mad.wide.u32 %d1, %r3, 4, %p0;\n" + load;
  CHECK(fine("mad.lo.u32 %r3, %tid_, 7, 3;\n" + use));
  CHECK(fine("mul.lo.u32 %r4, %tid_, 0xffffffff; add.u32 %r3, %r4, 31;\n" + use));
  CHECK(fine("sub.u32 %r4, %tid_, 1; mul.lo.u32 %r4, %r4, 16; add.u32 %r3, %r4, 16;\n" + use));
  CHECK(fine("sub.u32 %r4, %tid_, 1; mad.lo.s32 %r3, %r4, 16, 16;\n" + use));
  CHECK(fine("sub.s32 %r4, %tid_, 1; mad.lo.s32 %r3, %r4, 16, 16; mad.wide.s32 %d1, %r3, 4, %p0;\n" + load));
  CHECK(fine(
      "mul.lo.u32 %r4, %r1, %r2; mul.lo.u32 %r5, %r1, 63; sub.u32 %r3, %r4, %r5; rem.u32 %r3, %r3, 9;\n" +
      use));
  // The difference of two products that wrapped is exact: 65 and 64 rows apart.
  CHECK(fine(
      "mul.lo.u32 %r4, %r1, %r2; sub.u32 %r5, %r1, 2; mul.lo.u32 %r5, %r5, %r2; sub.u32 %r3, %r4, %r5;\n" +
      use));
  CHECK(
      fine("cvt.u64.u32 %d2, %r1; mul.lo.u64 %d2, %d2, 64; cvt.u64.u32 %d3, %tid_; rem.u64 %d2, %d2, 128;\n"
           "add.u64 %d2, %d2, %d3; shl.b64 %d2, %d2, 2; add.u64 %d1, %d2, %p0;\n" +
           load));
}

TEST_CASE("hashes and numbers that are meant to wrap") {
  const std::string use = "mad.wide.u32 %d1, %r3, 4, %p0;\n" + load;
  const std::string hash = "mad.lo.u32 %r4, %tid_, 0x9e3779b1, 12345;\n";
  CHECK(fine(hash + "and.b32 %r3, %r4, 1023;\n" + use));
  CHECK(fine(hash + "shr.u32 %r3, %r4, 22;\n" + use));
  CHECK(fine(hash + "rem.u32 %r3, %r4, 1000;\n" + use));
  CHECK(fine(hash + "mul.hi.u32 %r3, %r4, 1000;\n" + use));
  CHECK(fine(hash + "bfe.u32 %r3, %r4, 8, 10;\n" + use));
  CHECK(fine(hash + "min.u32 %r3, %r4, 100;\n" + use));
  CHECK(fine(hash + "div.u32 %r5, %r4, 1000; mul.lo.u32 %r5, %r5, 1000; sub.u32 %r3, %r4, %r5;\n" + use));
  // The remainder as compilers write it, with a product of 64 bits.
  CHECK(fine(hash +
             "mul.wide.u32 %d2, %r4, 274877907; shr.u64 %d2, %d2, 38; cvt.u32.u64 %r5, %d2;\n"
             "mul.lo.u32 %r5, %r5, 1000; sub.u32 %r3, %r4, %r5;\n" +
             use));
  CHECK(fine(hash +
             "xor.b32 %r5, %r4, 77; mul.lo.u32 %r5, %r5, 0x85ebca6b; shr.u32 %r5, %r5, 16; and.b32 %r3, %r5, "
             "511;\n" +
             use));
  // A value of memory is a new one, and so is a register that is written again.
  CHECK(fine("mul.lo.u32 %r3, %r1, %r2;\nmov.u32 %r3, 5;\n" + use));
  CHECK(fine("mul.lo.u32 %r4, %r1, %r2;\nst.global.u32 [%p1], %r4;\nmov.u32 %r3, 5;\n" + use));
}

TEST_CASE("only the lanes that wrapped") {
  // Lane 31 alone is beyond 2^32.
  const std::string body = "mul.lo.u32 %r3, %tid_, 138547333;\nand.b32 %r4, %r3, 511;\n";
  CHECK(fine(
      body +
      "setp.ge.u32 %q0, %tid_, 31;\n@%q0 mov.u32 %r3, 0;\nand.b32 %r5, %r3, 7; mad.wide.u32 %d1, %r5, 4, "
      "%p0;\n" +
      load));
  const std::string few = "mov.u32 %r3, 3;\nsetp.eq.u32 %q0, %tid_, 5;\n@%q0 mul.lo.u32 %r3, %r1, %r2;\n";
  const auto r = checked(row_and_pitch + few + "mad.wide.u32 %d1, %r3, 4, %p0;\n" + load, one_warp);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::wrapped_index);
  CHECK(r->lane == 5);
}
