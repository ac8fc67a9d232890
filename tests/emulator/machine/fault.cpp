// The contents of a fault: kind, kernel, line, thread, address, buffer.

#include "tests/emulator/kernel.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

using namespace emulator_test;

TEST_CASE("out of bounds: kernel, line with its text, thread, address, access, nearest buffer") {
  memory global;
  const array<std::uint32_t> out(global, 70);
  const fault_report r = fault_of("mad.lo.u64 %d0, %wide, 4, %p0;\n\tst.global.u32 [%d0+8], %tid_;", global,
                                  {out.address()}, {3, 32});
  CHECK(r.kind == fault_kind::out_of_bounds);
  CHECK(r.kernel == "k");
  CHECK(r.ptx_text == "st.global.u32 [%d0+8], %tid_;");
  CHECK(r.block == kaio::ptx::dim3{2, 0, 0});
  CHECK(r.thread == kaio::ptx::dim3{4, 0, 0});
  CHECK(r.lane == 4);
  CHECK(r.space == "global");
  CHECK(r.access == access_kind::write);
  CHECK(r.bytes == 4);
  CHECK(r.address == out.address() + 280);
  CHECK(r.object.address == out.address());
  CHECK(r.object.bytes == 280);
  CHECK(r.object.where == nearest_object::relation::after);
  CHECK(r.object.distance == 0);
  // The line counts from the start of the text.
  const std::string text = kernel_text("mad.lo.u64 %d0, %wide, 4, %p0;\n\tst.global.u32 [%d0+8], %tid_;");
  std::string_view rest = text;
  for (std::uint32_t line = 1; line < r.ptx_line; ++line) rest.remove_prefix(rest.find('\n') + 1);
  CHECK(rest.substr(0, rest.find('\n')) == "\tst.global.u32 [%d0+8], %tid_;");
}

TEST_CASE("an access that starts inside of a buffer and ends outside is out of bounds") {
  memory global;
  const array<std::uint8_t> out(global, 6);
  const fault_report r = fault_of("ld.global.u32 %r1, [%p0+4];", global, {out.address()}, {1, 1});
  CHECK(r.kind == fault_kind::out_of_bounds);
  CHECK(r.object.where == nearest_object::relation::inside);
  CHECK(r.object.distance == 4);
  CHECK(r.access == access_kind::read);
}

TEST_CASE("null, before a buffer, and far from all") {
  memory global;
  const array<std::uint32_t> out(global, 8);
  CHECK(fault_of("ld.global.u32 %r1, [%p0];", global, {0}, {1, 1}).kind == fault_kind::out_of_bounds);
  const fault_report before = fault_of("ld.global.u32 %r1, [%p0+-4];", global, {out.address()}, {1, 1});
  CHECK(before.object.where == nearest_object::relation::before);
  CHECK(before.object.distance == 4);
  CHECK(fault_of("ld.u32 %r1, [%p0];", global, {~std::uint64_t{0} - 63}, {1, 1}).kind ==
        fault_kind::out_of_bounds);
  CHECK(fault_of("ld.global.u32 %r1, [%p0];", global, {~std::uint64_t{3}}, {1, 1}).kind ==
        fault_kind::out_of_bounds);
}

TEST_CASE("misaligned accesses, vectors by their whole size") {
  memory global;
  const array<std::uint32_t> out(global, 64);
  CHECK(fault_of("ld.global.u32 %r1, [%p0+2];", global, {out.address()}, {1, 1}).kind ==
        fault_kind::misaligned);
  const fault_report r =
      fault_of("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%p0+8];", global, {out.address()}, {1, 1});
  CHECK(r.kind == fault_kind::misaligned);
  CHECK(r.bytes == 16);
  CHECK(fault_of("st.shared.u64 [s+4], %d1;", global, {out.address()}, {1, 1}, ".shared .align 8 .b8 s[64];")
            .kind == fault_kind::misaligned);
  CHECK(fault_of("atom.global.add.u64 %d1, [%p0+4], 1;", global, {out.address()}, {1, 1}).kind ==
        fault_kind::misaligned);
}

TEST_CASE("use after free names the buffer that was") {
  memory global;
  const std::uint64_t address = global.allocate(100);
  global.free(address);
  const fault_report r = fault_of("st.global.u32 [%p0+8], 1;", global, {address}, {1, 1});
  CHECK(r.kind == fault_kind::use_after_free);
  CHECK(r.object.freed);
  CHECK(r.object.address == address);
  CHECK(r.object.bytes == 100);
  CHECK(r.object.distance == 8);
}

TEST_CASE("shared and local memory have exact ends and named variables") {
  memory global;
  const array<std::uint32_t> out(global, 8);
  const fault_report s = fault_of("mov.u32 %r1, cells; ld.shared.u32 %r2, [%r1+64];", global, {out.address()},
                                  {1, 1}, ".shared .align 4 .b8 cells[64];");
  CHECK(s.kind == fault_kind::out_of_bounds);
  CHECK(s.space == "shared");
  CHECK(s.object.name == "cells");
  CHECK(s.object.distance == 0);
  const fault_report l =
      fault_of(".local .align 4 .b8 frame[16]; mov.u64 %d1, frame; st.local.u32 [%d1+400], 1;", global,
               {out.address()}, {1, 1});
  CHECK(l.kind == fault_kind::out_of_bounds);
  CHECK(l.space == "local");
  CHECK(l.object.name == "frame");
  const fault_report g = fault_of("cvta.shared.u64 %d1, cells; st.u32 [%d1+68], 1;", global, {out.address()},
                                  {1, 1}, ".shared .align 4 .b8 cells[64];");
  CHECK(g.kind == fault_kind::out_of_bounds);
  CHECK(g.space == "shared");
  const fault_report d = fault_of("mov.u32 %r1, dyn; ld.shared.u32 %r2, [%r1+32];", global, {out.address()},
                                  {1, 1, 32}, ".extern .shared .align 4 .b8 dyn[];");
  CHECK(d.object.name == "dynamic shared memory");
}

TEST_CASE("constant memory is read-only") {
  memory global;
  const array<std::uint32_t> out(global, 8);
  CHECK(fault_of("mov.u64 %d1, c; cvta.const.u64 %d1, %d1; st.u32 [%d1], 1;", global, {out.address()}, {1, 1},
                 ".const .u32 c = 1;")
            .kind == fault_kind::read_only);
}

TEST_CASE("trap and brkpt stop the grid") {
  memory global;
  const array<std::uint32_t> out(global, 8);
  const fault_report r =
      fault_of("setp.eq.u32 %q0, %thread, 37; @%q0 trap;", global, {out.address()}, {2, 32});
  CHECK(r.kind == fault_kind::trap);
  CHECK(r.block.x == 1);
  CHECK(r.thread.x == 5);
  CHECK(fault_of("brkpt;", global, {out.address()}).kind == fault_kind::trap);
}

TEST_CASE("a block that does not end is stopped by the limit of the launch") {
  memory global;
  const array<std::uint32_t> out(global, 8);
  CHECK(fault_of("for_ever: bra for_ever;", global, {out.address()}, {1, 32, 0, 1, 10000}).kind ==
        fault_kind::instruction_limit);
}

TEST_CASE("of several faults that of the first block is reported, on any number of threads") {
  memory global;
  const array<std::uint32_t> out(global, 8);
  for (const unsigned threads : {1u, 2u, 7u}) {
    const fault_report r =
        fault_of("setp.ge.u32 %q0, %ctaid_, 13; @%q0 trap;", global, {out.address()}, {200, 32, 0, threads});
    CHECK(r.block.x == 13);
  }
}

TEST_CASE("the C++ line of an instruction is reported where the image knows it") {
  const std::string text = kernel_text("trap;");
  const std::size_t lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const kaio::ptx::source_line statements[] = {{"ops/attention.hpp", 41}, {"ops/attention.hpp", 42}};
  std::vector<std::uint16_t> map(lines, kaio::ptx::no_statement);
  const std::size_t trap_line = static_cast<std::size_t>(
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("trap;")), '\n'));
  map[trap_line] = 1;
  kaio::ptx::kernel_image image;
  image.statements = statements;
  image.statement_count = 2;
  image.statement_of_line = map.data();
  image.line_count = lines;
  memory global;
  const array<std::uint32_t> out(global, 8);
  const module m = parsed_module(text);
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.image = &image;
  l.parameters.resize(8);
  try {
    run(l, global);
    FAIL("no fault");
  } catch (const fault& f) {
    CHECK(f.report().file == "ops/attention.hpp");
    CHECK(f.report().line == 42);
    CHECK(std::string(f.what()).find("ops/attention.hpp:42") != std::string::npos);
    CHECK(std::string(f.what()).find("kernel 'k'") != std::string::npos);
  }
}

TEST_CASE("a fault names the line that a .loc directive gives", "[fault]") {
  memory global;
  const array<std::uint32_t> out(global, 1);
  const fault_report r = fault_of(".loc 1 7 3\nmov.u32 %r1, 1;\n.loc 1 9 5\nst.global.u32 [%p0+4], %r1;",
                                  global, {out.address()}, {}, ".file 1 \"/src/smooth.cu\"\n");
  CHECK(r.file == "/src/smooth.cu");
  CHECK(r.line == 9);
}
