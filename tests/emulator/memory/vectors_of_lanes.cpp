// Loads and stores of all lanes, which the emulator takes together: every width and vector, lanes side by side, in
// reverse, apart and at one place, and the bounds of what lies side by side.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

constexpr unsigned lanes = 32;

// Lane k has the vector number place(k).
struct pattern {
  std::string name, code;  // %r1: the number of a lane's vector
  unsigned (*place)(unsigned);
};
const pattern patterns[] = {
    {"side by side", "mov.u32 %r1, %r0;", [](unsigned k) { return k; }},
    {"in reverse", "sub.u32 %r1, 31, %r0;", [](unsigned k) { return 31 - k; }},
    {"apart", "mul.lo.u32 %r1, %r0, 3;", [](unsigned k) { return 3 * k; }},
    {"at one place", "mov.u32 %r1, 5;", [](unsigned) { return 5u; }},
    {"side by side from lane 1 on", "max.u32 %r1, %r0, 1;", [](unsigned k) { return k == 0 ? 1u : k; }},
};

std::string vector_of(char name, unsigned count) {
  std::string result;
  for (unsigned i = 0; i < count; ++i) result += (i ? ", " : "") + std::string(1, name) + std::to_string(i);
  return count == 1 ? result : "{" + result + "}";
}
std::string type_of(unsigned bits, unsigned count) {
  return (count == 1 ? "" : ".v" + std::to_string(count)) + ".b" + std::to_string(bits);
}

// Reads `from` and writes `to`, in a loop: the second time the emulator knows the buffers. %r0 is the lane.
std::string copy(unsigned bits, unsigned count, const std::string& read, const std::string& written,
                 const pattern& p, const std::string& space) {
  const unsigned bytes = bits / 8 * count;
  std::string body = ".reg .b" + std::to_string(bits) + " x<8>;\nmov.u32 %r0, %tid_; mov.u32 %r5, 0;\n";
  body += "again:\n" + p.code + " mul.lo.u32 %r2, %r1, " + std::to_string(bytes) + ";\n" +
          "cvt.u64.u32 %d1, %r2; add.u64 %d2, %d1, " + read + "; mul.lo.u32 %r3, %r0, " +
          std::to_string(bytes) + "; cvt.u64.u32 %d3, %r3; add.u64 %d4, %d3, " + written + ";\n" +
          "ld.global" + type_of(bits, count) + " " + vector_of('x', count) + ", [%d2];\n";
  if (space == "shared")
    body += "mov.u32 %r4, s; add.u32 %r4, %r4, %r3; st.shared" + type_of(bits, count) + " [%r4], " +
            vector_of('x', count) + ";\nbar.sync 0;\nld.shared" + type_of(bits, count) + " " +
            vector_of('x', count) + ", [%r4];\n";
  body += (space == "generic" ? "st" : "st.global") + type_of(bits, count) + " [%d4], " +
          vector_of('x', count) + ";\nadd.u32 %r5, %r5, 1; setp.lt.u32 %q1, %r5, 3; @%q1 bra again;\n";
  return body;
}

}  // namespace

TEST_CASE("all lanes load and store vectors of every width", "[emulator]") {
  for (const unsigned bits : {8u, 16u, 32u, 64u})
    for (const unsigned count : {1u, 2u, 4u}) {
      if (bits * count > 128) continue;
      for (const pattern& p : patterns)
        for (const std::string& space :
             {std::string("global"), std::string("generic"), std::string("shared")}) {
          const unsigned bytes = bits / 8 * count;
          std::vector<std::uint8_t> source(3 * lanes * bytes);
          for (std::size_t i = 0; i < source.size(); ++i)
            source[i] = static_cast<std::uint8_t>(i * 37 + i / 256);
          std::vector<std::uint8_t> want(lanes * bytes);
          for (unsigned k = 0; k < lanes; ++k)
            std::memcpy(want.data() + k * bytes, source.data() + p.place(k) * bytes, bytes);
          memory global;
          const array<std::uint8_t> x(global, source), y(global, want.size());
          run_module(parsed_module(kernel_text(copy(bits, count, "%p0", "%p1", p, space), 2,
                                               ".shared .align 16 .b8 s[4096];")),
                     global, {x.address(), y.address()});
          INFO(bits << " bits, " << count << " elements, " << p.name << ", " << space);
          REQUIRE(y.values() == want);
        }
    }
}

TEST_CASE("if all lanes store at one place, the last lane's vector stays", "[emulator]") {
  memory global;
  const array<std::uint32_t> y(global, 8);
  run_module(parsed_module(kernel_text("mul.lo.u32 %r1, %thread, 4; add.u32 %r2, %r1, 1; add.u32 %r3, %r1, 2;"
                                       "add.u32 %r4, %r1, 3; mov.u32 %r5, 0;\nagain:\n"
                                       "st.global.v4.u32 [%p0+16], {%r1, %r2, %r3, %r4};\n"
                                       "add.u32 %r5, %r5, 1; setp.lt.u32 %q1, %r5, 3; @%q1 bra again;")),
             global, {y.address()});
  CHECK(y.values() == std::vector<std::uint32_t>{0, 0, 0, 0, 124, 125, 126, 127});
}

TEST_CASE("lanes side by side that leave their buffer are a fault", "[emulator]") {
  // The first round is within the buffer; the second begins `step` bytes later, so that the last lane is outside,
  // or 2^40 bytes before it.
  const auto fault_after = [](const std::string& access, const std::string& step) {
    memory global;
    const array<std::uint32_t> x(global, 132);
    return fault_of("mul.wide.u32 %d1, %thread, 16; add.u64 %d1, %d1, %p0; mov.u32 %r5, 0;\nagain:\n" +
                        access + "\nadd.u64 %d1, %d1, " + step +
                        "; add.u32 %r5, %r5, 1; setp.lt.u32 %q1, %r5, 3; @%q1 bra again;",
                    global, {x.address()});
  };
  for (const char* const access :
       {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];", "st.global.v4.u32 [%d1], {%r5, %r5, %r5, %r5};",
        "ld.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];"}) {
    const fault_report beyond = fault_after(access, "16");  // the third round
    CHECK(beyond.kind == fault_kind::out_of_bounds);
    CHECK(beyond.lane == 31);
    CHECK(fault_after(access, "-1099511627776").kind == fault_kind::out_of_bounds);
    CHECK(fault_after(access, "4").kind == fault_kind::misaligned);
  }
}

TEST_CASE("lanes side by side that leave shared memory are a fault", "[emulator]") {
  const auto fault_after = [](const std::string& step) {
    memory global;
    const array<std::uint32_t> x(global, 1);
    return fault_of(
        "mul.lo.u32 %r6, %thread, 8; mov.u32 %r7, s; add.u32 %r6, %r6, %r7; mov.u32 %r5, 0;\nagain:\n"
        "ld.shared.v2.u32 {%r1, %r2}, [%r6]; st.shared.v2.u32 [%r6], {%r1, %r2};\nadd.u32 %r6, %r6, " +
            step + "; add.u32 %r5, %r5, 1; setp.lt.u32 %q1, %r5, 3; @%q1 bra again;",
        global, {x.address()}, {}, ".shared .align 8 .b8 s[264];");
  };
  CHECK(fault_after("8").kind == fault_kind::out_of_bounds);
  CHECK(fault_after("-1024").kind == fault_kind::out_of_bounds);
  CHECK(fault_after("4").kind == fault_kind::misaligned);
}
