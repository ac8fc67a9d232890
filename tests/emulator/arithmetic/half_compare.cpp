// setp and set of f16, bf16 and their pairs, for every comparison, combination and destination.

#include "tests/emulator/arithmetic/half_model.hpp"

using namespace emulator_test;

namespace {

const std::string comparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                   "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

bool holds(const std::string& compare, double a, double b) {
  if (compare == "num") return !std::isunordered(a, b);
  if (compare == "nan") return std::isunordered(a, b);
  if (std::isunordered(a, b)) return compare.size() == 3;
  const std::string relation = compare.substr(0, 2);
  if (relation == "eq") return a == b;
  if (relation == "ne") return a != b;
  if (relation == "lt") return a < b;
  if (relation == "le") return a <= b;
  return relation == "gt" ? a > b : a >= b;
}

bool combined(const std::string& combination, bool outcome, bool c) {
  if (combination == ".and") return outcome && c;
  if (combination == ".or") return outcome || c;
  return combination == ".xor" ? outcome != c : outcome;
}

// A check that costs nothing where it holds.
void expect(std::uint64_t have, std::uint64_t want) {
  if (have != want) CHECK(have == want);
}

std::vector<words> operands(const half_type& t) {
  const words v = half_values(t, 8);
  return combinations({v, v, {0, 1}});
}

}  // namespace

TEST_CASE("half: setp and set for every comparison and combination") {
  for (const half_type& t : half_types())
    for (const std::string& compare : comparisons)
      for (const std::string combination : {"", ".and", ".or", ".xor"})
        for (const bool ftz : {false, true}) {
          if (t.brain && ftz) continue;
          const bool with = !combination.empty();
          const std::string modifiers = "." + compare + (ftz ? ".ftz" : "") + combination;
          const std::vector<words> columns = operands(t);
          const auto outcome = [&](std::size_t row) {
            const auto in = [&](std::uint64_t x) { return t.format.real(ftz ? t.format.flushed(x) : x); };
            return combined(combination, holds(compare, in(columns[0][row]), in(columns[1][row])),
                            columns[2][row] == 0);
          };
          const words p = apply("setp" + modifiers + "." + t.name + " d, a, b" + (with ? ", !c" : ""), "pred",
                                {"b16", "b16", "pred"}, columns);
          const std::uint64_t one = t.brain ? 0x3f80 : 0x3c00;
          const words h =
              apply("set" + modifiers + "." + t.name + "." + t.name + " d, a, b" + (with ? ", !c" : ""),
                    "b16", {"b16", "b16", "pred"}, columns);
          const words s = apply("set" + modifiers + ".s32." + t.name + " d, a, b" + (with ? ", !c" : ""),
                                "b32", {"b16", "b16", "pred"}, columns);
          const words u = apply("set" + modifiers + ".u16." + t.name + " d, a, b" + (with ? ", !c" : ""),
                                "b16", {"b16", "b16", "pred"}, columns);
          for (std::size_t i = 0; i < p.size(); ++i) {
            const std::uint64_t want = outcome(i) ? 1 : 0;
            INFO(modifiers << " " << t.name << std::hex << " " << columns[0][i] << " " << columns[1][i]);
            expect(p[i], want);
            expect(h[i], want * one);
            expect(s[i], want * 0xffffffff);
            expect(u[i], want * 0xffff);
          }
        }
  SUCCEED();
}

TEST_CASE("half: a pair has two outcomes") {
  for (const half_type& t : half_types()) {
    const words v = half_values(t);
    std::vector<words> halves = combinations({v, v, {0, 1}}), columns = halves;
    const std::size_t rows = columns[0].size();
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t i = 0; i < rows; ++i) columns[c][i] |= halves[c][(i + 7) % rows] << 16;
    const std::string pair = t.name + "x2";
    const std::uint64_t one = t.brain ? 0x3f80 : 0x3c00;
    for (const std::string compare : {"lt", "geu", "ne", "nan"}) {
      const std::vector<std::string> registers{"b32", "b32", "pred"};
      const words two =
          apply("{ .reg .pred p, q; .reg .b32 t; setp." + compare + ".and." + pair +
                    " p|q, a, b, c; selp.u32 d, 1, 0, p; selp.u32 t, 2, 0, q; or.b32 d, d, t; }",
                "b32", registers, columns);
      const words lower =
          apply("setp." + compare + ".and." + pair + " d, a, b, c", "pred", registers, columns);
      const words upper =
          apply("setp." + compare + ".xor." + pair + " _|d, a, b, !c", "pred", registers, columns);
      const words mask =
          apply("set." + compare + ".or.u32." + pair + " d, a, b, c", "b32", registers, columns);
      const words value =
          apply("set." + compare + "." + pair + "." + pair + " d, a, b", "b32", registers, columns);
      for (std::size_t i = 0; i < rows; ++i) {
        const auto outcome = [&](std::size_t row) {
          return holds(compare, t.format.real(halves[0][row]), t.format.real(halves[1][row]));
        };
        const bool low_half = outcome(i), high_half = outcome((i + 7) % rows), c = halves[2][i] != 0;
        const auto both = [&](bool first, bool second, std::uint64_t yes) {
          return (first ? yes : 0) | (second ? yes << 16 : 0);
        };
        INFO(compare << " " << pair << std::hex << " " << columns[0][i] << " " << columns[1][i]);
        expect(two[i], (low_half && c ? 1u : 0u) | (high_half && c ? 2u : 0u));
        expect(lower[i], low_half && c ? 1 : 0);
        expect(upper[i], high_half == c ? 1 : 0);
        expect(mask[i], both(low_half || c, high_half || c, 0xffff));
        expect(value[i], both(low_half, high_half, one));
      }
    }
  }
  SUCCEED();
}

TEST_CASE("half: set writes f16 or bf16 whatever is compared") {
  CHECK(apply("set.lt.f16.s32 d, a, 5", "b16", {"b32"}, {{4, 5}}) == words{0x3c00, 0});
  CHECK(apply("set.gt.bf16.f32 d, a, 0.5", "b16", {"f32"}, {{bits(1.0f), bits(0.5f)}}) == words{0x3f80, 0});
  CHECK(apply("set.eq.f16.b64 d, a, 7", "b16", {"b64"}, {{7, 8}}) == words{0x3c00, 0});
  CHECK(apply("set.nan.bf16.f16 d, a, a", "b16", {"b16"}, {{0x7e00, 0x7c00}}) == words{0x3f80, 0});
}
