// Comparisons, their combinations, and selections.

#include "tests/emulator/kernel.hpp"

#include <cmath>
#include <functional>
#include <string>

using namespace emulator_test;

namespace {

const words v16{0, 1, 0x7fff, 0x8000, 0xffff};
const words v32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
const words v64{0, 1, 0x7fffffffffffffff, 0x8000000000000000, ~std::uint64_t{0}, 0x100000000};
const words floats{bits(0.0f), bits(-0.0f), bits(1.0f), bits(-1.0f), bits(INFINITY), 0x7fc00000, 1};

template <class T>
bool compared(const std::string& op, T a, T b) {
  if (op == "eq") return a == b;
  if (op == "ne") return a != b;
  if (op == "lt" || op == "lo") return a < b;
  if (op == "le" || op == "ls") return a <= b;
  if (op == "gt" || op == "hi") return a > b;
  return a >= b;
}

}  // namespace

TEST_CASE("integer comparisons") {
  for (const std::string width : {"16", "32", "64"}) {
    const words& v = width == "16" ? v16 : width == "32" ? v32 : v64;
    const unsigned bytes = bytes_of("b" + width);
    for (const std::string op : {"eq", "ne", "lt", "le", "gt", "ge"}) {
      check_instruction("setp." + op + ".u" + width + " d, a, b", "pred", {"u" + width, "u" + width}, {v, v},
                        [&](const words& x) { return compared(op, x[0], x[1]); });
      check_instruction(
          "setp." + op + ".s" + width + " d, a, b", "pred", {"s" + width, "s" + width}, {v, v},
          [&](const words& x) { return compared(op, extended(x[0], bytes), extended(x[1], bytes)); });
    }
    for (const std::string op : {"lo", "ls", "hi", "hs"})
      check_instruction("setp." + op + ".u" + width + " d, a, b", "pred", {"u" + width, "u" + width}, {v, v},
                        [&](const words& x) { return compared(op, x[0], x[1]); });
    check_instruction("setp.ne.b" + width + " d, a, b", "pred", {"b" + width, "b" + width}, {v, v},
                      [&](const words& x) { return x[0] != x[1]; });
  }
}

TEST_CASE("floating-point comparisons, ordered and unordered") {
  for (const std::string op : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    check_instruction("setp." + op + ".f32 d, a, b", "pred", {"f32", "f32"}, {floats, floats},
                      [&](const words& x) {
                        const float a = f32_of(x[0]), b = f32_of(x[1]);
                        return !std::isnan(a) && !std::isnan(b) && compared(op, a, b);
                      });
    check_instruction("setp." + op + "u.f32 d, a, b", "pred", {"f32", "f32"}, {floats, floats},
                      [&](const words& x) {
                        const float a = f32_of(x[0]), b = f32_of(x[1]);
                        return std::isnan(a) || std::isnan(b) || compared(op, a, b);
                      });
  }
  check_instruction("setp.num.f32 d, a, b", "pred", {"f32", "f32"}, {floats, floats},
                    [](const words& x) { return !std::isnan(f32_of(x[0])) && !std::isnan(f32_of(x[1])); });
  check_instruction("setp.nan.f32 d, a, b", "pred", {"f32", "f32"}, {floats, floats},
                    [](const words& x) { return std::isnan(f32_of(x[0])) || std::isnan(f32_of(x[1])); });
  CHECK(apply("setp.eq.ftz.f32 d, a, b", "pred", {"f32", "f32"}, {{1}, {0x80000000}})[0] == 1);
  CHECK(apply("setp.eq.f32 d, a, b", "pred", {"f32", "f32"}, {{1}, {0x80000000}})[0] == 0);
  CHECK(apply("setp.gtu.f64 d, a, b", "pred", {"f64", "f64"}, {{bits(2.0)}, {bits(double{NAN})}})[0] == 1);
}

TEST_CASE("comparisons combined with a predicate, and both destinations") {
  const words p{0, 1};
  const std::pair<std::string, std::function<bool(bool, bool)>> forms[] = {
      {"and", [](bool a, bool b) { return a && b; }},
      {"or", [](bool a, bool b) { return a || b; }},
      {"xor", [](bool a, bool b) { return a != b; }}};
  for (const auto& [name, combine] : forms) {
    check_instruction(
        "setp.lt." + name + ".s32 d, a, b, c", "pred", {"s32", "s32", "pred"}, {v32, v32, p},
        [&](const words& x) { return combine(extended(x[0], 4) < extended(x[1], 4), x[2] != 0); });
    check_instruction(
        "setp.lt." + name + ".s32 _|d, a, b, !c", "pred", {"s32", "s32", "pred"}, {v32, v32, p},
        [&](const words& x) { return combine(!(extended(x[0], 4) < extended(x[1], 4)), x[2] == 0); });
  }
  check_instruction(
      "set.lt.and.u32.s32 d, a, b, c", "u32", {"s32", "s32", "pred"}, {v32, v32, p},
      [](const words& x) { return extended(x[0], 4) < extended(x[1], 4) && x[2] != 0 ? 0xffffffff : 0u; });
  check_instruction("set.geu.f32.f32 d, a, b", "f32", {"f32", "f32"}, {floats, floats}, [](const words& x) {
    const float a = f32_of(x[0]), b = f32_of(x[1]);
    return std::isnan(a) || std::isnan(b) || a >= b ? bits(1.0f) : 0u;
  });
}

TEST_CASE("selp and slct choose") {
  const words p{0, 1};
  check_instruction("selp.b16 d, a, b, c", "b16", {"b16", "b16", "pred"}, {v16, v16, p},
                    [](const words& x) { return x[2] ? x[0] : x[1]; });
  check_instruction("selp.f32 d, a, b, !c", "f32", {"f32", "f32", "pred"}, {floats, floats, p},
                    [](const words& x) { return x[2] ? x[1] : x[0]; });
  check_instruction("selp.u64 d, a, b, c", "u64", {"u64", "u64", "pred"}, {v64, v64, p},
                    [](const words& x) { return x[2] ? x[0] : x[1]; });
  check_instruction("slct.u32.s32 d, a, b, c", "u32", {"u32", "u32", "s32"}, {v32, {7}, v32},
                    [](const words& x) { return extended(x[2], 4) >= 0 ? x[0] : x[1]; });
  check_instruction("slct.f64.f32 d, a, b, c", "f64", {"f64", "f64", "f32"}, {v64, {7}, floats},
                    [](const words& x) { return f32_of(x[2]) >= 0 ? x[0] : x[1]; });
  CHECK(apply("slct.ftz.u32.f32 d, a, b, c", "u32", {"u32", "u32", "f32"}, {{5}, {6}, {0x80000001}})[0] == 5);
}
