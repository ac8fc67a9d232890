// Atomics on half-precision numbers, vectors and 128 bits: every element by the model, bit for bit.

#include "emulator/program/half.hpp"
#include "tests/emulator/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <string>

using namespace emulator_test;

namespace {

using half_bits = std::vector<std::uint16_t>;

const half_bits f16_values{0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00,
                           0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e01, 0xfe00, 0x3555};
const half_bits bf16_values{0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x3f80, 0xbf80,
                            0x3f81, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc1, 0xffc0, 0x3eab};

// A value of 5 or 8 exponent bits, computed from the format's definition.
double decoded(std::uint16_t bits, bool brain) {
  const int places = brain ? 7 : 10, bias = brain ? 127 : 15;
  const int top = brain ? 255 : 31;
  const int exponent = (bits & 0x7fff) >> places, fraction = bits & ((1 << places) - 1);
  double value = exponent == top ? (fraction != 0 ? std::nan("") : HUGE_VAL)
                 : exponent == 0 ? std::ldexp(fraction, 1 - bias - places)
                                 : std::ldexp(fraction + (1 << places), exponent - bias - places);
  return (bits & 0x8000) != 0 ? -value : value;
}

// The nearest of all finite numbers of the format, ties to the even one; overflow at half a last place.
std::uint16_t encoded(double value, bool brain) {
  if (std::isnan(value)) return 0x7fff;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  const std::uint16_t infinity = brain ? 0x7f80 : 0x7c00;
  // The numbers of a sign are ordered as their bits are.
  std::uint16_t low = 0, high = infinity;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (decoded(middle, brain) <= size ? low : high) = middle;
  }
  const double below = decoded(low, brain);
  const double above = high == infinity ? 2 * below - decoded(static_cast<std::uint16_t>(low - 1), brain)
                                        : decoded(high, brain);
  if (size == HUGE_VAL) return static_cast<std::uint16_t>(sign | infinity);
  const bool up = size - below > above - size || (size - below == above - size && (low & 1) != 0);
  return static_cast<std::uint16_t>(sign | (up ? high : low));
}

std::uint16_t model(const std::string& op, std::uint16_t a, std::uint16_t b, bool brain) {
  const double x = decoded(a, brain), y = decoded(b, brain);
  if (op == "add") return encoded(x + y, brain);
  if (std::isnan(x)) return std::isnan(y) ? 0x7fff : b;
  if (std::isnan(y)) return a;
  const bool less = y < x || (x == y && std::signbit(y));
  return less == (op == "min") ? b : a;
}

// Applies the operation to all elements of a vector of `count` registers of 2 or 4 bytes at once.
void check_vector(const std::string& op, const std::string& type, unsigned count, bool reduction) {
  const bool brain = type.starts_with("bf");
  const bool pair = type.ends_with("x2");
  const half_bits& values = brain ? bf16_values : f16_values;
  const unsigned halves = count * (pair ? 2 : 1);
  half_bits cells, operands;
  for (const std::uint16_t a : values)
    for (const std::uint16_t b : values) {
      cells.push_back(a);
      operands.push_back(b);
    }
  const std::size_t threads = cells.size() / halves;
  memory global;
  const array<std::uint16_t> cell(global, cells), operand(global, operands), old(global, cells.size());
  const std::string width = pair ? "b32" : "b16", reg = pair ? "%r" : "%h";
  const auto list = [&](unsigned first) {
    std::string result;
    for (unsigned e = 0; e < count; ++e) result += (e ? ", " : "") + reg + std::to_string(first + e);
    return count == 1 ? result : "{" + result + "}";
  };
  const std::string bytes = std::to_string(halves * 2);
  std::string body = "mul.lo.u64 %d1, %wide, " + bytes + "; add.u64 %d2, %p0, %d1; add.u64 %d3, %p1, %d1;" +
                     "add.u64 %d4, %p2, %d1;\n";
  for (unsigned e = 0; e < count; ++e)
    body += "ld.global." + width + " " + reg + std::to_string(e + 10) + ", [%d3+" +
            std::to_string(e * (pair ? 4 : 2)) + "];\n";
  const std::string vector = count == 1 ? "" : ".v" + std::to_string(count);
  body += (reduction ? "red" : "atom") + std::string(".global.") + op + ".noftz" + vector + "." + type + " " +
          (reduction ? "" : list(20) + ", ") + "[%d2], " + list(10) + ";\n";
  if (!reduction)
    for (unsigned e = 0; e < count; ++e)
      body += "st.global." + width + " [%d4+" + std::to_string(e * (pair ? 4 : 2)) + "], " + reg +
              std::to_string(e + 20) + ";\n";
  run_module(parsed_module(kernel_text(body, 3)), global, {cell.address(), operand.address(), old.address()},
             {static_cast<std::uint32_t>(threads), 1});
  const auto now = cell.values(), before = old.values();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    INFO(op << "." << type << vector << " of " << std::hex << cells[i] << " and " << operands[i]);
    CHECK(now[i] == model(op, cells[i], operands[i], brain));
    if (!reduction) CHECK(before[i] == cells[i]);
  }
}

}  // namespace

TEST_CASE("sums of halves round once and keep subnormal values, alone, in pairs and in vectors") {
  for (const std::string type : {"f16", "bf16", "f16x2", "bf16x2"})
    for (const unsigned count : {1u, 2u, 4u, 8u}) {
      if (count == 8 && type.ends_with("x2")) continue;
      check_vector("add", type, count, false);
      check_vector("add", type, count, true);
    }
}

TEST_CASE("minima and maxima of vectors of halves: numbers before NaN, -0 below +0") {
  for (const std::string op : {"min", "max"})
    for (const std::string type : {"f16", "bf16", "f16x2", "bf16x2"})
      for (const unsigned count : {2u, 4u, 8u})
        if (count != 8 || !type.ends_with("x2")) check_vector(op, type, count, count == 4);
}

TEST_CASE("sums of halves in shared memory and by generic address") {
  const std::string body = R"(
      mov.b16 %h1, 0x3c00; mov.b32 %r1, 0x3c003c00; st.shared.b32 [cell], 0; bar.sync 0;
      atom.shared.add.noftz.f16 %h2, [cell], %h1; bar.sync 0;
      ld.shared.b32 %r2, [cell]; st.global.b32 [%p0], %r2; bar.sync 0;
      cvta.shared.u64 %d1, cell; red.add.noftz.f16x2 [%d1], %r1; bar.sync 0;
      ld.shared.b32 %r2, [cell]; st.global.b32 [%p0+4], %r2;)";
  const auto have = results(body, 2, {1, 64}, ".shared .align 4 .b8 cell[4];");
  CHECK(have[0] == 0x5400);      // 64
  CHECK(have[1] == 0x54005800);  // 64 and 128
}

TEST_CASE("vectors of single precision are added element by element, with subnormal values flushed") {
  memory global;
  const std::vector<float> start{1.0f, -2.5f, 3e38f, f32_of(1)};
  const std::vector<float> add{0.25f, 2.5f, 3e38f, f32_of(1)};
  const array<float> cell(global, start), operand(global, add), old(global, 4);
  run_module(parsed_module(kernel_text(
                 "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%p1];"
                 "atom.global.add.v4.f32 {%f5, _, %f7, %f8}, [%p0], {%f1, %f2, %f3, %f4};"
                 "st.global.v4.f32 [%p2], {%f5, %f6, %f7, %f8}; red.global.v2.f32.add [%p0], {%f1, %f2};",
                 3)),
             global, {cell.address(), operand.address(), old.address()}, {1, 1});
  const auto now = cell.values(), before = old.values();
  CHECK(now[0] == 1.5f);
  CHECK(now[1] == 2.5f);
  CHECK(now[2] == HUGE_VALF);
  CHECK(bits(now[3]) == 0);
  CHECK(before[0] == 1.0f);
  CHECK(before[1] == 0.0f);
  CHECK(before[2] == 3e38f);
  CHECK(bits(before[3]) == 1);
}

TEST_CASE("128 bits are exchanged and compared as a whole, in global and shared memory") {
  for (const std::string space : {"global", "shared", "generic"}) {
    memory global;
    const array<std::uint64_t> data(global, {1, 2, 1, 3, 1, 2, 8, 9});
    const std::string name = space == "generic" ? "" : "." + space;
    const std::string cell = space == "shared" ? "[cell]" : "[%p0]";
    std::string body =
        ".reg .b128 %w<6>; ld.global.b128 %w0, [%p0]; ld.global.b128 %w1, [%p0+16];"
        "ld.global.b128 %w2, [%p0+32]; ld.global.b128 %w3, [%p0+48];";
    if (space == "shared") body += "st.shared.b128 [cell], %w0;";
    body += "atom" + name + ".cas.b128 %w4, " + cell + ", %w1, %w3;";  // differs in the high half
    body += "st.global.b128 [%p0+16], %w4; ";
    body += "atom" + name + ".relaxed.gpu.cas.b128 %w4, " + cell + ", %w2, %w3;";
    body += "atom" + name + ".exch.b128 %w5, " + cell + ", %w0; st.global.b128 [%p0+32], %w5;";
    run_module(parsed_module(kernel_text(body, 1, ".shared .align 16 .b8 cell[16];")), global,
               {data.address()}, {1, 1});
    CHECK(data.values() == words{1, 2, 1, 2, 8, 9, 8, 9});
  }
}

TEST_CASE("atomics of vectors and 128 bits are aligned to their whole size") {
  memory global;
  const array<std::uint64_t> out(global, 8);
  for (const std::string body :
       {"atom.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%p0+8], {%f1, %f2, %f3, %f4};",
        "red.global.add.noftz.v2.f16 [%p0+2], {%h1, %h2};",
        ".reg .b128 w; atom.global.exch.b128 w, [%p0+8], w;"}) {
    CHECK(fault_of(body, global, {out.address()}, {1, 1}).kind == fault_kind::misaligned);
  }
}
