// ldmatrix, stmatrix and movmatrix move 8 x 8 matrices between shared memory and the lanes as the manual
// defines, in all forms, and refuse what does not exist.

#include "tests/emulator/kernel.hpp"

#include <functional>
#include <numeric>

namespace {

using namespace emulator_test;

std::string list(const std::string& prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += (i ? ", %" : "%") + prefix + std::to_string(i);
  return text + "}";
}

// Element of a matrix whose rows are at addresses of their own: row r of matrix m at 16 * place(8 m + r).
unsigned place(unsigned row) { return (row * 13 + 5) % 40; }

std::vector<std::uint16_t> halves(std::size_t count) {
  std::vector<std::uint16_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint16_t>(i * 40503u + 77);
  return values;
}

// Copies the 640 bytes at p1 to shared memory, and makes %r40 the address of the row that this lane names.
const std::string stage =
    ".shared .align 16 .b8 sm[640];\n"
    "mov.u32 %r41, sm; mov.u32 %r42, %thread;\n"
    "copy: mul.wide.u32 %d1, %r42, 4; add.u64 %d1, %d1, %p1; ld.global.u32 %r43, [%d1];\n"
    "mad.lo.u32 %r44, %r42, 4, %r41; st.shared.u32 [%r44], %r43; add.u32 %r42, %r42, 32;\n"
    "setp.lt.u32 %q1, %r42, 160; @%q1 bra copy;\n"
    "bar.warp.sync -1;\n"
    "mad.lo.u32 %r40, %thread, 13, 5; rem.u32 %r40, %r40, 40; mad.lo.u32 %r40, %r40, 16, %r41;\n";

TEST_CASE("ldmatrix gives each lane two elements of its row", "[emulator]") {
  for (const unsigned count : {1u, 2u, 4u})
    for (const bool trans : {false, true})
      for (const std::string space : {".shared", ".shared::cta", ""}) {
        memory global;
        const auto data = halves(320);
        const array<std::uint16_t> in(global, data);
        const array<std::uint32_t> out(global, std::size_t{32} * count);
        std::string body = stage;
        // Lanes whose address is not asked for hold one that would be refused.
        body +=
            "setp.ge.u32 %q2, %thread, " + std::to_string(count * 8) + "; @%q2 mov.u32 %r40, 0x7fffff01;\n";
        std::string address = "%r40";
        if (space.empty()) {
          body += "cvt.u64.u32 %d3, %r40; cvta.shared.u64 %d3, %d3;\n";
          address = "%d3";
        }
        body += "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (trans ? ".trans" : "") + space +
                ".b16 " + list("r", count) + ", [" + address + "];\n";
        body += "mul.wide.u32 %d1, %thread, " + std::to_string(4 * count) + "; add.u64 %d1, %d1, %p0;\n";
        for (unsigned m = 0; m < count; ++m)
          body += "st.global.u32 [%d1+" + std::to_string(4 * m) + "], %r" + std::to_string(m) + ";\n";
        run_module(parsed_module(kernel_text(body, 2)), global, {out.address(), in.address()});
        const auto have = out.values();
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned m = 0; m < count; ++m) {
            const auto element = [&](unsigned row, unsigned column) -> std::uint32_t {
              return data[place(m * 8 + row) * 8 + column];
            };
            const unsigned r = lane / 4, c = lane % 4 * 2;
            const std::uint32_t want =
                trans ? element(c, r) | element(c + 1, r) << 16 : element(r, c) | element(r, c + 1) << 16;
            INFO("x" << count << (trans ? ".trans " : " ") << space << " lane " << lane << " matrix " << m);
            CHECK(have[lane * count + m] == want);
          }
      }
}

TEST_CASE("stmatrix puts back what ldmatrix takes", "[emulator]") {
  for (const unsigned count : {1u, 2u, 4u})
    for (const bool trans : {false, true}) {
      memory global;
      const auto data = halves(320);
      const array<std::uint16_t> in(global, data);
      const array<std::uint16_t> out(global, 320);
      std::string body = stage;
      for (unsigned m = 0; m < count; ++m)
        body += "mad.lo.u32 %r" + std::to_string(m) + ", %thread, 65537, " + std::to_string(m * 1000 + 7) +
                "; xor.b32 %r" + std::to_string(m) + ", %r" + std::to_string(m) + ", 0x5a000000;\n";
      body += "stmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (trans ? ".trans" : "") +
              ".shared.b16 [%r40], " + list("r", count) + ";\nbar.warp.sync -1;\n";
      body +=
          "mov.u32 %r42, %thread;\n"
          "back: mad.lo.u32 %r44, %r42, 4, %r41; ld.shared.u32 %r43, [%r44];\n"
          "mul.wide.u32 %d1, %r42, 4; add.u64 %d1, %d1, %p0; st.global.u32 [%d1], %r43;\n"
          "add.u32 %r42, %r42, 32; setp.lt.u32 %q1, %r42, 160; @%q1 bra back;\n";
      run_module(parsed_module(kernel_text(body, 2)), global, {out.address(), in.address()});
      auto want = data;
      for (unsigned m = 0; m < count; ++m)
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned half = 0; half < 2; ++half) {
            const std::uint32_t word = (lane * 65537 + m * 1000 + 7) ^ 0x5a000000u;
            unsigned row = lane / 4, column = lane % 4 * 2 + half;
            if (trans) std::swap(row, column);
            want[place(m * 8 + row) * 8 + column] = static_cast<std::uint16_t>(word >> (16 * half));
          }
      INFO("x" << count << (trans ? ".trans" : ""));
      CHECK(out.values() == want);
    }
}

TEST_CASE("movmatrix transposes a matrix in registers", "[emulator]") {
  const auto have = results(
      "mad.lo.u32 %r1, %thread, 0x40003, 0x20001;\n"
      "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r1;\n"
      "mul.wide.u32 %d1, %thread, 4; add.u64 %d1, %d1, %p0; st.global.u32 [%d1], %r1;",
      32);
  const auto element = [](unsigned row, unsigned column) {
    const std::uint32_t word = (row * 4 + column / 2) * 0x40003u + 0x20001u;
    return word >> (16 * (column % 2)) & 0xffff;
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned r = lane / 4, c = lane % 4 * 2;
    CHECK(have[lane] == (element(c, r) | element(c + 1, r) << 16));
  }
}

TEST_CASE("lanes that parted meet at an aligned instruction", "[emulator]") {
  const auto have = results(
      "mov.u32 %r1, %thread; setp.lt.u32 %q1, %thread, 11; @%q1 bra low;\n"
      "add.u32 %r1, %r1, 100; bra.uni meet;\n"
      "low: add.u32 %r1, %r1, 200;\n"
      "meet: movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;\n"
      "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r2;\n"
      "mul.wide.u32 %d1, %thread, 4; add.u64 %d1, %d1, %p0; st.global.u32 [%d1], %r2;",
      32);
  for (unsigned lane = 0; lane < 32; ++lane) CHECK(have[lane] == lane + (lane < 11 ? 200 : 100));
}

TEST_CASE("an aligned instruction needs the whole warp", "[emulator]") {
  memory global;
  const array<std::uint32_t> out(global, 32);
  const std::string move = "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;";
  const auto guarded =
      fault_of("mov.u32 %r1, 1; setp.lt.u32 %q1, %thread, 16;\n@%q1 " + move, global, {out.address()});
  CHECK(guarded.kind == fault_kind::member_mask);
  CHECK(contains(guarded.detail, "0x0000ffff"));
  const auto ended =
      fault_of("mov.u32 %r1, 1; setp.eq.u32 %q1, %thread, 3;\n@%q1 exit;\n" + move, global, {out.address()});
  CHECK(ended.kind == fault_kind::member_mask);
  const auto small = fault_of("mov.u32 %r1, 1;\n" + move, global, {out.address()}, {1, 24});
  CHECK(small.kind == fault_kind::member_mask);
  CHECK(contains(small.detail, "the block has no others"));
}

TEST_CASE("rows outside of shared memory and misaligned rows are faults", "[emulator]") {
  memory global;
  const array<std::uint32_t> out(global, 64);
  const std::string head =
      ".shared .align 16 .b8 sm[512];\nmov.u32 %r41, sm; mad.lo.u32 %r40, %thread, 16, %r41;\n";
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r40";
  const auto outside = fault_of(head + load + "+16];", global, {out.address()});
  CHECK(outside.kind == fault_kind::out_of_bounds);
  CHECK(outside.lane == 31);
  CHECK(outside.bytes == 16);
  CHECK(outside.access == access_kind::read);
  const auto misaligned = fault_of(head + load + "+8];", global, {out.address()});
  CHECK(misaligned.kind == fault_kind::misaligned);
  const auto store = fault_of(head + "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r40+400], {%r0, %r1};",
                              global, {out.address()});
  CHECK(store.kind == fault_kind::out_of_bounds);
  CHECK(store.access == access_kind::write);
  CHECK(store.lane == 7);
  const auto not_shared =
      fault_of("ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%p0];", global, {out.address()});
  CHECK(not_shared.kind == fault_kind::out_of_bounds);
  CHECK(not_shared.space == "shared");
}

TEST_CASE("forms of matrix moves that do not exist are rejected", "[emulator]") {
  const std::string space = ".shared .align 16 .b8 sm[512];\n";
  const auto reason = [&](const std::string& text, const char* version = "8.3",
                          const char* target = "sm_90a") {
    return rejection(kernel_text(space + text, 1, "", version, target)).reason();
  };
  CHECK(
      contains(reason("ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r0, [sm];"), "a vector of 1 register here"));
  CHECK(contains(reason("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0}, [sm];"), "a vector of 2 registers"));
  CHECK(contains(reason("ldmatrix.sync.m8n8.x1.shared.b16 {%r0}, [sm];"), "needs .aligned"));
  CHECK(contains(reason("ldmatrix.aligned.m8n8.x1.shared.b16 {%r0}, [sm];"), "needs .sync"));
  CHECK(contains(reason("ldmatrix.sync.aligned.m8n8.shared.b16 {%r0}, [sm];"), "a number of matrices"));
  CHECK(contains(reason("ldmatrix.sync.aligned.x1.shared.b16 {%r0}, [sm];"), "needs the shape .m8n8"));
  CHECK(contains(reason("ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%r0}, [sm];"), "no form of type .b8"));
  CHECK(contains(reason("ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r0}, [%p0];"), "shared memory"));
  CHECK(contains(reason("ldmatrix.sync.aligned.m8n8.x1.shared::cluster.b16 {%r0}, [sm];"), "shared memory"));
  CHECK(contains(reason("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [sm];"), "sm_100a"));
  CHECK(contains(reason("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r0}, [sm];"), "sm_100a"));
  CHECK(contains(reason("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [sm], {%r0};"), "sm_100a"));
  CHECK(contains(reason("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %h1}, [sm];"), ".b16"));
  CHECK(contains(reason("movmatrix.sync.aligned.m8n8.b16 %r0, %r1;"), "needs .trans"));
  CHECK(contains(reason("movmatrix.sync.aligned.m8n8.trans.b16 %r0, 5;"), "a register"));
  const std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [sm];";
  const std::string store = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [sm], {%r0};";
  const std::string move = "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;";
  CHECK(contains(reason(load, "6.4", "sm_75"), "PTX ISA 6.5"));
  CHECK(contains(reason(load, "6.5", "sm_70"), "sm_75"));
  CHECK(contains(reason(store, "8.0", "sm_80"), "sm_90"));
  CHECK(contains(reason(move, "7.7", "sm_80"), "PTX ISA 7.8"));
  CHECK_NOTHROW(parsed_module(kernel_text(space + load + move, 1, "", "7.8", "sm_75")));
  CHECK_NOTHROW(parsed_module(
      kernel_text(space + "ldmatrix.sync.aligned.x2.m8n8.trans.shared.b16 {%r0, _}, [sm+16];\n" +
                  "stmatrix.sync.aligned.m8n8.x2.shared.b16 [sm], {%r0, 5};")));
}

}  // namespace
