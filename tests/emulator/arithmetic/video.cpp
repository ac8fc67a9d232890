// The video instructions against host models that follow the manual's steps one by one on wide integers:
// select, extend, compute, saturate, combine. The registers hold boundary values of bytes, halves and words.

#include "tests/emulator/kernel.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <random>
#include <string>

using namespace emulator_test;

namespace {

using wide = boost::multiprecision::cpp_int;

const words values{0,          1,          0x7f,       0x80,       0xff,       0x7fff,     0x8000,    0xffff,
                   0x80007fff, 0x7f80ff01, 0xfffffffe, 0x7fffffff, 0x80000000, 0xffffffff, 0x12fe80aa};

words some(unsigned count, unsigned seed) {
  std::mt19937 random(seed);
  words v{0, 0xffffffff, 0x80000000, 0x7fffffff, 0x8000, 0x00ff7f80};
  while (v.size() < count) v.push_back(random());
  return v;
}

// Part ".b0" ... ".h1" of a register, or all of it.
wide part(std::uint64_t value, const std::string& selector, bool is_signed) {
  const bool whole = selector.empty(), byte = !whole && selector[1] == 'b';
  const unsigned bytes = whole ? 4 : byte ? 1 : 2;
  const unsigned at = whole ? 0 : static_cast<unsigned>(selector[2] - '0') * bytes * 8;
  const std::uint64_t bits = low(value >> at, bytes);
  return is_signed ? wide(extended(bits, bytes)) : wide(bits);
}

wide clamp(const wide& value, const std::string& selector, bool is_signed) {
  const unsigned bits = selector.empty() ? 32 : selector[1] == 'b' ? 8 : 16;
  const wide most = (wide(1) << (is_signed ? bits - 1 : bits)) - 1;
  const wide least = is_signed ? wide(-most - 1) : wide(0);
  return value < least ? least : value > most ? most : value;
}

std::uint64_t word(const wide& value) {
  const wide modulus = wide(1) << 32;
  const wide rest = ((value % modulus) + modulus) % modulus;
  return static_cast<std::uint64_t>(rest);
}

wide floor_half(const wide& value) { return value >= 0 ? wide(value / 2) : wide(-((1 - value) / 2)); }

wide basic(const std::string& op, const wide& a, const wide& b) {
  if (op == "vadd") return a + b;
  if (op == "vsub") return a - b;
  if (op == "vabsdiff") return a > b ? wide(a - b) : wide(b - a);
  if (op == "vmin") return a < b ? a : b;
  if (op == "vmax") return a > b ? a : b;
  if (op == "vavrg") return floor_half(a + b >= 0 ? wide(a + b + 1) : wide(a + b));
  if (op == "eq") return a == b;
  if (op == "ne") return a != b;
  if (op == "lt") return a < b;
  if (op == "le") return a <= b;
  if (op == "gt") return a > b;
  return a >= b;
}

std::uint64_t combine(const wide& value, std::uint64_t c, const std::string& second, const std::string& into,
                      bool is_signed) {
  const wide third = is_signed ? wide(extended(c, 4)) : wide(c);
  if (second == ".add") return word(value + third);
  if (second == ".min") return word(value < third ? value : third);
  if (second == ".max") return word(value > third ? value : third);
  if (into.empty()) return word(value);
  const unsigned bits = into[1] == 'b' ? 8 : 16;
  const unsigned at = static_cast<unsigned>(into[2] - '0') * bits;
  const std::uint64_t mask = ((std::uint64_t{1} << bits) - 1) << at;
  return (word(value) << at & mask) | (c & ~mask);
}

struct types {
  std::string d, a, b;
};
const types signs[] = {{"u32", "u32", "u32"}, {"s32", "s32", "s32"}, {"s32", "u32", "s32"},
                       {"u32", "s32", "u32"}, {"s32", "u32", "u32"}, {"u32", "s32", "s32"}};

bool is_s(const std::string& type) { return type[0] == 's'; }

// The operand that follows the result: a selector of the destination, or a second operation.
struct ending {
  std::string second, into;
};
const ending endings[] = {{"", ""},    {".add", ""}, {".min", ""}, {".max", ""}, {"", ".b0"},
                          {"", ".b3"}, {"", ".h0"},  {"", ".h1"},  {"", ".b1"},  {"", ".b2"}};

const std::pair<std::string, std::string> selectors[] = {
    {"", ""}, {".b0", ".h1"}, {".b3", ""}, {".h0", ".b2"}, {".h1", ".b1"}};

}  // namespace

TEST_CASE("video: sums, differences and extremes of parts of registers") {
  unsigned turn = 0;
  for (const std::string op : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"})
    for (const types& t : signs)
      for (const ending& e : endings)
        for (const bool sat : {false, true}) {
          const auto& [sa, sb] = selectors[turn++ % std::size(selectors)];
          const bool third = !e.second.empty() || !e.into.empty();
          check_instruction(op + "." + t.d + "." + t.a + "." + t.b + (sat ? ".sat" : "") + e.second + " d" +
                                e.into + ", a" + sa + ", b" + sb + (third ? ", c" : ""),
                            "b32", {"b32", "b32", "b32"},
                            {values, some(8, turn), {0, 0x80000001, 0x7fffff00}}, [&](const words& x) {
                              wide v = basic(op, part(x[0], sa, is_s(t.a)), part(x[1], sb, is_s(t.b)));
                              if (sat) v = clamp(v, e.into, is_s(t.d));
                              return combine(v, x[2], e.second, e.into, is_s(t.d));
                            });
        }
}

TEST_CASE("video: shifts of parts of registers") {
  unsigned turn = 0;
  for (const bool left : {false, true})
    for (const bool clamps : {false, true})
      for (const types& t : {signs[0], signs[1], signs[3], signs[4]})
        for (const ending& e : endings)
          for (const bool sat : {false, true}) {
            const std::string sa = selectors[turn++ % std::size(selectors)].first;
            const bool third = !e.second.empty() || !e.into.empty();
            check_instruction(
                std::string(left ? "vshl." : "vshr.") + t.d + "." + t.a + ".u32" + (sat ? ".sat" : "") +
                    (clamps ? ".clamp" : ".wrap") + e.second + " d" + e.into + ", a" + sa + ", b" +
                    (third ? ", c" : ""),
                "b32", {"b32", "b32", "b32"},
                {some(9, turn), {0, 1, 7, 31, 32, 33, 64, 0xffffffff}, {0, 0x80000001}}, [&](const words& x) {
                  const unsigned by =
                      static_cast<unsigned>(clamps ? std::min<std::uint64_t>(x[1], 32) : x[1] % 32);
                  const wide a = part(x[0], sa, is_s(t.a));
                  const wide step = wide(1) << by;
                  wide v = left ? wide(a * step) : a >= 0 ? wide(a / step) : wide(-((step - 1 - a) / step));
                  if (sat) v = clamp(v, e.into, is_s(t.d));
                  return combine(v, x[2], e.second, e.into, is_s(t.d));
                });
          }
}

TEST_CASE("video: comparisons of parts of registers") {
  unsigned turn = 0;
  for (const std::string op : {"eq", "ne", "lt", "le", "gt", "ge"})
    for (const types& t : {signs[0], signs[1], signs[2], signs[3]})
      for (const ending& e : endings) {
        const auto& [sa, sb] = selectors[turn++ % std::size(selectors)];
        const bool third = !e.second.empty() || !e.into.empty();
        words second = some(6, turn);
        second.insert(second.end(), values.begin(), values.begin() + 5);
        check_instruction("vset." + t.a + "." + t.b + "." + op + e.second + " d" + e.into + ", a" + sa +
                              ", b" + sb + (third ? ", c" : ""),
                          "b32", {"b32", "b32", "b32"}, {values, second, {0, 0xfffffff0}},
                          [&](const words& x) {
                            return combine(basic(op, part(x[0], sa, is_s(t.a)), part(x[1], sb, is_s(t.b))),
                                           x[2], e.second, e.into, false);
                          });
      }
}

TEST_CASE("video: multiply and add") {
  struct form {
    std::string modifiers, a, b, c;
  };
  const form forms[] = {{"", "a", "b", "c"},
                        {"", "-a", "b", "c"},
                        {"", "a", "-b", "c"},
                        {"", "-a", "-b", "c"},
                        {"", "a", "b", "-c"},
                        {".po", "a", "b", "c"},
                        {".sat", "a.h0", "b", "c"},
                        {".sat", "-a", "b.b1", "c"},
                        {".sat.shr7", "a", "b", "-c"},
                        {".shr15", "a.h1", "b.h0", "c"},
                        {".po.sat.shr15", "a", "b", "c"},
                        {".shr7", "-a.b3", "b", "c"},
                        {".sat", "a", "b", "c"}};
  for (const types& t : signs)
    for (const form& f : forms) {
      const bool product = (f.a[0] == '-') != (f.b[0] == '-'), third = f.c[0] == '-';
      const bool is_signed = is_s(t.a) || is_s(t.b) || product || third;
      const auto selector = [](const std::string& operand) {
        const auto dot = operand.find('.');
        return dot == std::string::npos ? std::string() : operand.substr(dot);
      };
      check_instruction(
          "vmad." + t.d + "." + t.a + "." + t.b + f.modifiers + " d, " + f.a + ", " + f.b + ", " + f.c, "b32",
          {"b32", "b32", "b32"}, {values, some(8, 3), {0, 1, 0x80000000, 0x7fffffff, 0xffffffff}},
          [&](const words& x) {
            // -v is ~v + 1; the manual's unsigned c is extended by zeros even where it is negated.
            wide v = part(x[0], selector(f.a), is_s(t.a)) * part(x[1], selector(f.b), is_s(t.b));
            if (product) v = -v;
            const std::uint64_t c = third ? ~x[2] & 0xffffffff : x[2];
            v += (is_signed ? wide(extended(c, 4)) : wide(c)) + (third ? 1 : 0);
            if (f.modifiers.find(".po") != std::string::npos) v += 1;
            const unsigned by = f.modifiers.find(".shr7") != std::string::npos    ? 7
                                : f.modifiers.find(".shr15") != std::string::npos ? 15
                                                                                  : 0;
            const wide step = wide(1) << by;
            v = v >= 0 ? wide(v / step) : wide(-((step - 1 - v) / step));
            if (f.modifiers.find(".sat") != std::string::npos) v = clamp(v, "", is_signed);
            return word(v);
          });
    }
}

TEST_CASE("video: halves and bytes side by side") {
  struct shape_of {
    unsigned count;
    std::string a, b, mask;
  };
  const shape_of shapes[] = {{2, "", "", ""},
                             {2, ".h10", ".h32", ".h1"},
                             {2, ".h30", ".h02", ".h0"},
                             {2, ".h33", ".h01", ".h10"},
                             {4, "", "", ""},
                             {4, ".b3210", ".b7654", ".b30"},
                             {4, ".b7061", ".b0123", ".b2"},
                             {4, ".b5555", ".b0246", ".b321"}};
  const auto digits = [](const std::string& selector, const std::string& otherwise) {
    return selector.empty() ? otherwise : selector.substr(2);
  };
  unsigned turn = 0;
  const auto check = [&](const std::string& text, const std::string& op, const shape_of& s, bool signed_d,
                         bool signed_a, bool signed_b, bool sat, bool adds) {
    const unsigned bytes = 4 / s.count;
    const std::string first = digits(s.a, s.count == 2 ? "10" : "3210");
    const std::string second = digits(s.b, s.count == 2 ? "32" : "7654");
    const std::string mask = digits(s.mask, s.count == 2 ? "10" : "3210");
    check_instruction(text + " d" + s.mask + ", a" + s.a + ", b" + s.b + ", c", "b32", {"b32", "b32", "b32"},
                      {values, some(12, ++turn), {0, 0x89abcdef}}, [&](const words& x) {
                        wide sum = x[2];
                        std::uint64_t merged = x[2];
                        for (unsigned k = 0; k < s.count; ++k) {
                          if (mask.find(static_cast<char>('0' + k)) == std::string::npos) continue;
                          const auto element = [&](const std::string& select, bool sign) {
                            const auto n = static_cast<unsigned>(select[s.count - 1 - k] - '0');
                            const std::uint64_t from = n < s.count ? x[0] : x[1];
                            const std::uint64_t bits = low(from >> (n % s.count * bytes * 8), bytes);
                            return sign ? wide(extended(bits, bytes)) : wide(bits);
                          };
                          wide v = basic(op, element(first, signed_a), element(second, signed_b));
                          if (sat) v = clamp(v, s.count == 2 ? ".h0" : ".b0", signed_d);
                          sum += v;
                          const std::uint64_t ones = low(~std::uint64_t{0}, bytes) << (k * bytes * 8);
                          merged = (merged & ~ones) | (word(v) << (k * bytes * 8) & ones);
                        }
                        return adds ? word(sum) : merged;
                      });
  };
  for (const shape_of& s : shapes) {
    const std::string n = std::to_string(s.count);
    for (const types& t : signs) {
      for (const std::string op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"})
        for (const std::string end : {"", ".sat", ".add"})
          check(op + n + "." + t.d + "." + t.a + "." + t.b + end, op, s, is_s(t.d), is_s(t.a), is_s(t.b),
                end == ".sat", end == ".add");
      for (const std::string op : {"eq", "ne", "lt", "le", "gt", "ge"})
        check("vset" + n + "." + t.a + "." + t.b + "." + op + (turn % 2 ? ".add" : ""), op, s, false,
              is_s(t.a), is_s(t.b), false, turn % 2 != 0);
    }
  }
}

TEST_CASE("video: constants may take the place of registers of one element") {
  CHECK(apply("vadd.u32.u32.u32.add d, 7, a.b1, 100", "b32", {"b32"}, {{0x0500}})[0] == 112);
  CHECK(apply("vmad.s32.s32.s32 d, a, -3, 5", "b32", {"b32"}, {{4}})[0] == 0xfffffff9);
  CHECK(apply("vset.u32.u32.lt d, a, 9", "b32", {"b32"}, {{4}})[0] == 1);
}
