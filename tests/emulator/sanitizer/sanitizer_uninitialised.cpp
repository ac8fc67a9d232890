// Uninitialised reads: registers, shared, local and global memory; copies of nothing are no use.

#include "tests/emulator/sanitizer/checked.hpp"

using namespace emulator_test;

namespace {

const checked_launch warp_of_shared{{1, 32}, ".shared .align 16 .b8 cells[4096];"};

bool missing(std::string_view body, std::string_view line, checked_launch how = warp_of_shared) {
  return has(body, fault_kind::uninitialised, line, how);
}

bool fine(std::string_view body) { return is_clean(body, warp_of_shared); }

const std::string store = "\nmad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r0;";

}  // namespace

TEST_CASE("a register that is used before it is written: in arithmetic, an address, a branch, a store") {
  const auto r = checked("add.u32 %r0, %r20, 1;" + store, warp_of_shared);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::uninitialised);
  CHECK(contains(r->detail, "%r20"));
  CHECK(contains(r->detail, "32 of the 32 lanes"));
  CHECK(r->ptx_text == "add.u32 %r0, %r20, 1;" + store.substr(0, 0));
  CHECK(missing("ld.global.u32 %r0, [%d20];", "[%d20]"));
  CHECK(missing("@%q20 bra there; there:", "bra there"));
  CHECK(missing("@%q20 mov.u32 %r0, 1;", "mov"));
  CHECK(missing("setp.eq.u32 %q0, %r20, 0;", "setp"));
  CHECK(missing("selp.u32 %r0, 1, 2, %q20;", "selp"));
  CHECK(missing("st.global.u32 [%p0], %r20;", "st.global"));
  CHECK(missing("mov.u32 %r9, cells;\nst.shared.u32 [%r9], %r20;", "st.shared"));
  CHECK(missing("fma.rn.f32 %f0, %f1, %f1, %f2;", "fma"));
  CHECK(missing("cvt.u64.u32 %d0, %r20;", "cvt"));
  CHECK(missing("red.global.add.u32 [%p0], %r20;", "red"));
  CHECK(missing("vote.sync.ballot.b32 %r0, %q20, -1;", "vote"));
}

TEST_CASE("a register that only some lanes or some paths write") {
  const std::string half = "setp.lt.u32 %q0, %tid_, 16;\n@%q0 mov.u32 %r1, 5;\n";
  CHECK(missing(half + "add.u32 %r0, %r1, 1;", "add.u32 %r0, %r1, 1;"));
  CHECK(fine(half + "@%q0 add.u32 %r0, %r1, 1;"));
  CHECK(fine(half + "@!%q0 mov.u32 %r1, 6;\nadd.u32 %r0, %r1, 1;"));
  const auto r = checked(half + "add.u32 %r0, %r1, 1;", warp_of_shared);
  REQUIRE(r);
  CHECK(r->lane == 16);
  CHECK(contains(r->detail, "16 of the 32 lanes"));
  // A loop that may run zero times.
  const std::string loop =
      "mov.u32 %r2, 0;\nagain: setp.ge.u32 %q0, %r2, %tid_;\n@%q0 bra out;\nmov.u32 %r1, 4;\n"
      "add.u32 %r2, %r2, 1;\nbra again;\nout: add.u32 %r0, %r1, 1;";
  CHECK(missing(loop, "add.u32 %r0, %r1, 1;"));
  CHECK(fine("mov.u32 %r1, 0;\n" + loop));
}

TEST_CASE("a copy of nothing is nothing, and is reported where it is used") {
  CHECK(fine("mov.u32 %r1, %r20;"));
  CHECK(missing("mov.u32 %r1, %r20;\nadd.u32 %r0, %r1, 1;", "add.u32"));
  CHECK(fine("mov.b64 %d1, {%r20, %tid_};\nmov.b64 {%r1, %r2}, %d1;\nadd.u32 %r0, %r2, 1;"));
  CHECK(missing("mov.b64 %d1, {%r20, %r21};\nmov.b64 {%r1, %r2}, %d1;\nadd.u32 %r0, %r2, 1;", "add.u32"));
  CHECK(fine("xor.b32 %r1, %r20, %r20; add.u32 %r0, %r1, 1;"));
  CHECK(fine("and.b32 %r1, %r20, %tid_; add.u32 %r0, %r1, 1;"));
  CHECK(missing("and.b32 %r1, %r20, 255;\nadd.u32 %r0, %r1, 1;", "add.u32"));
  CHECK(missing("prmt.b32 %r1, %r20, %r21, 4660;\nadd.u32 %r0, %r1, 1;", "add.u32"));
}

TEST_CASE("a choice between a value and nothing is the one that is chosen") {
  const std::string chosen = "setp.lt.u32 %q0, %tid_, 8;\nselp.u32 %r1, 5, %r20, %q0;\n";
  CHECK(fine(chosen + "@%q0 add.u32 %r0, %r1, 1;"));
  CHECK(missing(chosen + "add.u32 %r0, %r1, 1;", "add.u32 %r0, %r1"));
  CHECK(fine("setp.lt.u32 %q0, %tid_, 99;\nselp.u32 %r1, 5, %r20, %q0;\nadd.u32 %r0, %r1, 1;"));
}

TEST_CASE("a shuffle brings nothing from a lane that has nothing") {
  CHECK(fine("shfl.sync.bfly.b32 %r1, %tid_, 1, 31, -1; add.u32 %r0, %r1, 1;"));
  const std::string half = "setp.lt.u32 %q0, %tid_, 16;\n@%q0 mov.u32 %r2, 1;\n";
  CHECK(missing(half + "shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;\n@%q0 add.u32 %r0, %r1, 1;", "add.u32"));
  CHECK(fine(half + "shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;\n@!%q0 add.u32 %r0, %r1, 1;"));
  CHECK(fine(half + "shfl.sync.bfly.b32 %r1, %r2, 8, 31, -1;\n@%q0 add.u32 %r0, %r1, 1;"));
  CHECK(missing(half + "shfl.sync.idx.b32 %r1, %r2, 20, 31, -1;\nadd.u32 %r0, %r1, 1;", "add.u32"));
  // A part of a warp computes with values of lanes outside of it, and drops the result.
  CHECK(
      fine("setp.lt.u32 %q0, %tid_, 16;\n@%q0 shfl.sync.down.b32 %r1, %tid_, 8, 31, 65535;\n"
           "@%q0 add.u32 %r0, %r1, 1;"));
}

TEST_CASE("shared memory: never written, written in part, written by another block") {
  const std::string place = "mov.u32 %r9, cells; mad.lo.u32 %r8, %tid_, 4, %r9;\n";
  const auto r = checked(place + "ld.shared.u32 %r0, [%r8];", warp_of_shared);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::uninitialised);
  CHECK(r->space == "shared");
  CHECK(r->object.name == "cells");
  CHECK(contains(r->advice, "nothing was written"));
  CHECK(fine(place + "st.shared.u32 [%r8], 1;\nld.shared.u32 %r0, [%r8];"));
  const std::string tail = place + "st.shared.u32 [%r8], 1;\nbar.sync 0;\n";
  CHECK(missing(tail + "ld.shared.u32 %r0, [%r8+4];", "ld.shared.u32"));
  const auto far = checked(tail + "ld.shared.u32 %r0, [%r8+4];", warp_of_shared);
  REQUIRE(far);
  CHECK(far->lane == 31);
  CHECK(contains(far->advice, "up to byte 128"));
  // Each block begins with nothing.
  CHECK(
      missing("setp.eq.u32 %q0, %ctaid_, 0;\n@%q0 st.shared.u32 [cells], 1;\nbar.sync 0;\nld.shared.u32 %r0, "
              "[cells];",
              "ld.shared", {{2, 1}, ".shared .align 16 .b8 cells[4096];"}));
  CHECK(missing(place + "atom.shared.add.u32 %r1, [%r8], 1;", "atom.shared"));
  // Dynamic shared memory as well.
  CHECK(missing("ld.shared.u32 %r0, [dyn];", "ld.shared",
                {{1, 32, 64}, ".extern .shared .align 4 .b8 dyn[];"}));
}

TEST_CASE("a vector with padding is fine until the padding is used") {
  const std::string half =
      "setp.eq.u32 %q0, %tid_, 0; @!%q0 bra done;\nst.shared.v2.u32 [cells], {%tid_, %tid_};\n"
      "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [cells];\n";
  CHECK(fine(half + "add.u32 %r0, %r1, %r2;\ndone:"));
  CHECK(missing(half + "add.u32 %r0, %r1, %r3;\ndone:", "add.u32"));
  CHECK(fine(half +
             "st.shared.v4.u32 [cells+16], {%r1, %r2, %r3, %r4};\nld.shared.u32 %r0, [cells+16];\ndone:"));
  CHECK(missing(
      half + "st.shared.v4.u32 [cells+16], {%r1, %r2, %r3, %r4};\nld.shared.u32 %r0, [cells+28];\ndone:",
      "ld.shared.u32 %r0"));
  CHECK(missing("ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [cells];", "ld.shared.v4"));
}

TEST_CASE("local memory is of one thread, and copied with what nobody wrote") {
  const std::string frame = ".local .align 16 .b8 frame[32];\n";
  CHECK(fine(frame + "st.local.u32 [frame], %tid_;\nld.local.u32 %r1, [frame];\nadd.u32 %r0, %r1, 1;"));
  CHECK(missing(frame + "ld.local.u32 %r1, [frame+4];\nadd.u32 %r0, %r1, 1;", "add.u32"));
  CHECK(fine(frame + "ld.local.u32 %r1, [frame+4];"));
  CHECK(missing(
      frame + "setp.eq.u32 %q0, %tid_, 3;\n@%q0 st.local.u32 [frame], %tid_;\nld.local.u32 %r1, [frame];\n"
              "add.u32 %r0, %r1, 1;",
      "add.u32"));
  // A register that was never written is no value there either, by a local or a generic address.
  for (const char* store :
       {"st.local.u32 [frame], %r5;\n", "cvta.local.u64 %d1, frame;\nst.u32 [%d1], %r5;\n"}) {
    CHECK(fine(frame + store + "ld.local.u32 %r1, [frame];"));
    CHECK(missing(frame + store + "ld.local.u32 %r1, [frame];\nadd.u32 %r0, %r1, 1;", "add.u32"));
  }
  CHECK(missing("st.shared.u32 [cells], %r5;", "st.shared.u32"));
}

TEST_CASE("global memory: buffers that are zeroed, undefined, filled by the host, written by a kernel") {
  const std::string read = "mad.lo.u64 %d0, %wide, 4, %p0;\nld.global.u32 %r0, [%d0];";
  CHECK(fine(read));
  checked_launch undefined = warp_of_shared;
  undefined.undefined = true;
  const auto r = checked(read, undefined);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::uninitialised);
  CHECK(r->space == "global");
  CHECK(r->object.bytes == 4096 * 4);
  CHECK(contains(r->advice, "nothing was written"));
  CHECK(is_clean("mad.lo.u64 %d0, %wide, 4, %p0;\nst.global.u32 [%d0], 7;\nld.global.u32 %r0, [%d0];",
                 undefined));
  CHECK(missing("red.global.add.u32 [%p0], 1;", "red.global", undefined));
  CHECK(missing("ld.global.nc.u32 %r0, [%p0];", "ld.global.nc", undefined));
}

TEST_CASE("what the host does to undefined buffers counts: write, fill, copy") {
  memory global;
  const module m = parsed_module(kernel_text("mad.lo.u64 %d0, %wide, 4, %p0;\nld.global.u32 %r0, [%d0];"));
  sanitizer checks{sanitizer_options{}};
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {1, 1, 1};
  l.block = {32, 1, 1};
  l.observers.push_back(&checks);
  l.parameters.resize(8);
  const std::vector<std::uint8_t> bytes(128, 1);
  const auto with = [&](std::uint64_t address) {
    std::memcpy(l.parameters.data(), &address, 8);
    try {
      run(l, global);
    } catch (const fault& f) {
      return f.report().kind == fault_kind::uninitialised ? "missing" : "other";
    }
    return "clean";
  };
  const std::string_view clean = "clean", absent = "missing";
  const std::uint64_t written = global.allocate(128, contents::undefined);
  CHECK(with(written) == absent);
  global.write(written, bytes.data(), 128);
  CHECK(with(written) == clean);
  const std::uint64_t filled = global.allocate(128, contents::undefined);
  global.fill(filled, 0, 64);
  CHECK(with(filled) == absent);
  global.fill(filled + 64, 0, 4, 16);
  CHECK(with(filled) == clean);
  const std::uint64_t copied = global.allocate(128, contents::undefined);
  const std::uint64_t nothing = global.allocate(128, contents::undefined);
  global.copy(copied, nothing, 128);
  CHECK(with(copied) == absent);
  global.copy(copied, written, 128);
  CHECK(with(copied) == clean);
  // After a kernel without an observer, nothing is known to be missing.
  l.observers.clear();
  CHECK(with(nothing) == clean);
  l.observers.push_back(&checks);
  CHECK(with(nothing) == clean);
}

TEST_CASE("a number of which some bytes were never written is reported where it is loaded") {
  checked_launch undefined = warp_of_shared;
  undefined.undefined = true;
  const std::string place =
      "mad.lo.u64 %d0, %wide, 16, %p0; shl.b32 %r9, %tid_, 4; mov.u32 %r8, cells; add.u32 %r8, %r8, %r9;\n";
  for (const std::string space : {"global", "shared"}) {
    const std::string at = space == "global" ? "[%d0" : "[%r8";
    const auto kernel = [&](const std::string& written, const std::string& read) {
      return place + "st." + space + "." + written + ";\n" + read + ";";
    };
    const std::string load = "ld." + space + ".";
    const auto r = checked(kernel("u8 " + at + "], 7", load + "u32 %r1, " + at + "]"), undefined);
    REQUIRE(r);
    CHECK(r->kind == fault_kind::uninitialised);
    CHECK(r->ptx_text.starts_with(load));
    CHECK(contains(r->detail, "4 bytes; 3 of them were never written"));
    CHECK(missing(kernel("u8 " + at + "+1], 7", load + "u16 %h1, " + at + "]"), load, undefined));
    CHECK(missing(kernel("u32 " + at + "+4], 7", load + "u64 %d1, " + at + "]"), load, undefined));
    CHECK(missing(kernel("u16 " + at + "+8], 7", load + "v4.u32 {%r1, %r2, %r3, %r4}, " + at + "]"), load,
                  undefined));
    CHECK(missing(kernel("u8 " + at + "], 7", "atom." + space + ".add.u32 %r1, " + at + "], 1"), "atom",
                  undefined));
    // Clean: written numbers, whole elements of a vector, and a number written in pieces.
    CHECK(is_clean(kernel("u8 " + at + "], 7", load + "u8 %h1, " + at + "]"), undefined));
    CHECK(is_clean(kernel("u32 " + at + "+8], 7", load + "v4.u32 {%r1, %r2, %r3, %r4}, " + at + "]"),
                   undefined));
    CHECK(is_clean(
        kernel("u16 " + at + "], 7; st." + space + ".u16 " + at + "+2], 8", load + "u32 %r1, " + at + "]"),
        undefined));
  }
}

TEST_CASE(
    "a number of which some bytes were never written, in local memory, is reported when it is used as one") {
  const std::string half =
      ".local .align 16 .b8 frame[32];\nst.local.u8 [frame], %tid_;\nld.local.u32 %r1, [frame];\n";
  CHECK(missing(half + "add.u32 %r0, %r1, 1;", "add.u32"));
  CHECK(missing(half + "mov.u32 %r2, %r1;\nadd.u32 %r0, %r2, 1;", "add.u32"));
  CHECK(missing(half + "setp.eq.u32 %q0, %r1, 1;", "setp"));
  // Copied, taken apart, or replaced.
  CHECK(fine(half + "st.local.u32 [frame+4], %r1;"));
  CHECK(fine(half + "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r1;"));
  CHECK(fine(half + "and.b32 %r2, %r1, 255;\nadd.u32 %r0, %r2, 1;"));
  CHECK(fine(half + "bfe.u32 %r2, %r1, 0, 8;\nadd.u32 %r0, %r2, 1;"));
  CHECK(fine(half + "mov.u32 %r1, 5;\nadd.u32 %r0, %r1, 1;"));
}

TEST_CASE("a number packed of halves, one of which was never written, is reported where it is used") {
  const std::string half = "mov.b16 %h1, 5;\nmov.b32 %r1, {%h1, %h20};\n";
  CHECK(missing(half + "add.u32 %r0, %r1, 1;", "add.u32 %r0"));
  CHECK(missing(half + "mov.b32 %r2, %r1;\nadd.u32 %r0, %r2, 1;", "add.u32 %r0"));
  CHECK(missing(half + "ld.shared.u32 %r0, [%r1];", "ld.shared"));
  const auto r = checked(half + "add.u32 %r0, %r1, 1;", warp_of_shared);
  REQUIRE(r);
  CHECK(contains(r->detail, "was only written in part"));
  // The written half is a value, and so is a number whose halves are written.
  CHECK(fine(half + "mov.b32 {%h2, %h3}, %r1;\nadd.u16 %h2, %h2, 1;"));
  CHECK(fine(half + "mov.b16 %h20, 1;\nmov.b32 %r1, {%h1, %h20};\nadd.u32 %r0, %r1, 1;"));
}

TEST_CASE("numbers with some unwritten bytes: in shared, global and local memory") {
  const std::string word = "ld.shared.u32 %r1, [cells];\n";
  CHECK(missing("mov.b16 %h1, 5;\nst.shared.b16 [cells], %h1;\nbar.warp.sync -1;\n" + word, "ld.shared"));
  CHECK(missing("mov.b32 %r1, 5;\nst.shared.b8 [cells+3], %r1;\nbar.warp.sync -1;\n" + word, "ld.shared"));
  checked_launch one{{1, 1}, ".shared .align 16 .b8 cells[64];"};
  one.undefined = true;
  CHECK(missing("mov.b16 %h1, 5;\nst.global.b16 [%p0+2], %h1;\nld.global.u32 %r1, [%p0];", "ld.global", one));
  CHECK(missing("mov.b32 %r1, 5;\nst.shared.b32 [cells+4], %r1;\nld.shared.b64 %d1, [cells];", "ld.shared",
                one));
  CHECK(missing("mov.b32 %r1, 5;\nst.shared.b16 [cells], %r1;\natom.shared.add.u32 %r2, [cells], 1;", "atom",
                one));
  // Local memory is reported at the use: compilers copy structs with their padding on the stack.
  const std::string own =
      ".local .align 8 .b8 own[8];\nmov.b32 %r1, 5;\nst.local.b8 [own], %r1;\n"
      "ld.local.b32 %r2, [own];\n";
  CHECK(is_clean(own + "st.local.b32 [own+4], %r2;", one));
  CHECK(missing(own + "add.u32 %r0, %r2, 1;", "add.u32 %r0", one));
}
