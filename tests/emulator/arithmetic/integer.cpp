// Integer arithmetic against host models in 128 bits, over the ends of every range.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

__extension__ using wide = __int128;
__extension__ using unsigned_wide = unsigned __int128;

struct integer {
  std::string name;
  unsigned bytes;
  bool is_signed;
  std::string twice;
};
const integer types[] = {{"u16", 2, false, "u32"}, {"s16", 2, true, "s32"}, {"u32", 4, false, "u64"},
                         {"s32", 4, true, "s64"},  {"u64", 8, false, ""},   {"s64", 8, true, ""}};

words boundaries(unsigned bytes) {
  const std::uint64_t sign = std::uint64_t{1} << (bytes * 8 - 1);
  words values{0,
               1,
               2,
               3,
               7,
               31,
               100,
               sign - 1,
               sign,
               sign + 1,
               ~std::uint64_t{0},
               ~std::uint64_t{1},
               0x5a5a5a5a5a5a5a5a,
               0x123456789abcdef0,
               0xff00ff00,
               0x00fffffe};
  for (std::uint64_t& v : values) v = low(v, bytes);
  return values;
}

wide value(std::uint64_t v, const integer& t) {
  return t.is_signed ? wide{extended(v, t.bytes)} : wide{low(v, t.bytes)};
}
// The upper half of a product; that of two 64-bit unsigned numbers needs all 128 bits.
std::uint64_t upper(wide a, wide b, const integer& t) {
  const unsigned_wide product = static_cast<unsigned_wide>(a) * static_cast<unsigned_wide>(b);
  return static_cast<std::uint64_t>(product >> (t.bytes * 8));
}
std::uint64_t cut(wide v) { return static_cast<std::uint64_t>(v); }

}  // namespace

TEST_CASE("add, sub, mul, mad of every integer type wrap around") {
  for (const integer& t : types) {
    const words v = boundaries(t.bytes);
    const auto both = [&](const std::string& op, auto model) {
      check_instruction(op + "." + t.name + " d, a, b", t.name, {t.name, t.name}, {v, v},
                        [&](const words& x) { return cut(model(value(x[0], t), value(x[1], t))); });
    };
    both("add", [](wide a, wide b) { return a + b; });
    both("sub", [](wide a, wide b) { return a - b; });
    both("min", [](wide a, wide b) { return a < b ? a : b; });
    both("max", [](wide a, wide b) { return a > b ? a : b; });
    both("mul.lo", [](wide a, wide b) {
      return static_cast<wide>(static_cast<unsigned_wide>(a) * static_cast<unsigned_wide>(b));
    });
    both("mul.hi", [&](wide a, wide b) { return wide{upper(a, b, t)}; });
    const words few{0, 1, low(~std::uint64_t{0}, t.bytes), low(0x8000000080008000, t.bytes)};
    check_instruction("mad.lo." + t.name + " d, a, b, c", t.name, {t.name, t.name, t.name}, {v, v, few},
                      [&](const words& x) { return x[0] * x[1] + x[2]; });
    check_instruction("mad.hi." + t.name + " d, a, b, c", t.name, {t.name, t.name, t.name}, {v, v, few},
                      [&](const words& x) { return upper(value(x[0], t), value(x[1], t), t) + x[2]; });
    check_instruction("sad." + t.name + " d, a, b, c", t.name, {t.name, t.name, t.name}, {v, v, few},
                      [&](const words& x) {
                        const wide a = value(x[0], t), b = value(x[1], t);
                        return cut((a < b ? b - a : a - b)) + x[2];
                      });
    if (t.twice.empty()) continue;
    check_instruction("mul.wide." + t.name + " d, a, b", t.twice, {t.name, t.name}, {v, v},
                      [&](const words& x) { return cut(value(x[0], t) * value(x[1], t)); });
    check_instruction("mad.wide." + t.name + " d, a, b, c", t.twice, {t.name, t.name, t.twice},
                      {v, v, {0, 1, low(~std::uint64_t{0}, t.bytes * 2)}},
                      [&](const words& x) { return cut(value(x[0], t) * value(x[1], t)) + x[2]; });
  }
}

TEST_CASE("division and remainder: truncating, wrapping at the least value, all ones for a zero divisor") {
  for (const integer& t : types) {
    const words v = boundaries(t.bytes);
    check_instruction("div." + t.name + " d, a, b", t.name, {t.name, t.name}, {v, v}, [&](const words& x) {
      return x[1] == 0 ? ~std::uint64_t{0} : cut(value(x[0], t) / value(x[1], t));
    });
    check_instruction("rem." + t.name + " d, a, b", t.name, {t.name, t.name}, {v, v}, [&](const words& x) {
      return x[1] == 0 ? ~std::uint64_t{0} : cut(value(x[0], t) % value(x[1], t));
    });
  }
}

TEST_CASE("abs and neg of signed integers") {
  for (const integer& t : types) {
    if (!t.is_signed) continue;
    const words v = boundaries(t.bytes);
    check_instruction("abs." + t.name + " d, a", t.name, {t.name}, {v}, [&](const words& x) {
      const wide a = value(x[0], t);
      return cut(a < 0 ? -a : a);
    });
    check_instruction("neg." + t.name + " d, a", t.name, {t.name}, {v},
                      [&](const words& x) { return cut(-value(x[0], t)); });
  }
}

TEST_CASE("saturating forms clamp to 32 bits") {
  const integer& t = types[3];
  const words v = boundaries(4);
  const auto clamp = [](wide x) {
    return cut(x < -wide{0x80000000} ? -wide{0x80000000} : x > 0x7fffffff ? 0x7fffffff : x);
  };
  check_instruction("add.sat.s32 d, a, b", "s32", {"s32", "s32"}, {v, v},
                    [&](const words& x) { return clamp(value(x[0], t) + value(x[1], t)); });
  check_instruction("sub.sat.s32 d, a, b", "s32", {"s32", "s32"}, {v, v},
                    [&](const words& x) { return clamp(value(x[0], t) - value(x[1], t)); });
  check_instruction(
      "mad.hi.sat.s32 d, a, b, c", "s32", {"s32", "s32", "s32"}, {v, v, v},
      [&](const words& x) { return clamp(((value(x[0], t) * value(x[1], t)) >> 32) + value(x[2], t)); });
}

TEST_CASE("24-bit products") {
  const words v = boundaries(4);
  const auto low24 = [](std::uint64_t x, bool is_signed) {
    return is_signed ? wide{static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << 8) >> 8}
                     : wide{x & 0xffffff};
  };
  for (const bool is_signed : {false, true}) {
    const std::string t = is_signed ? "s32" : "u32";
    const auto product = [&](const words& x) { return low24(x[0], is_signed) * low24(x[1], is_signed); };
    check_instruction("mul24.lo." + t + " d, a, b", t, {t, t}, {v, v},
                      [&](const words& x) { return cut(product(x)); });
    check_instruction("mul24.hi." + t + " d, a, b", t, {t, t}, {v, v},
                      [&](const words& x) { return cut(product(x) >> 16); });
    check_instruction("mad24.lo." + t + " d, a, b, c", t, {t, t, t}, {v, v, {1, 0xffffffff}},
                      [&](const words& x) { return cut(product(x)) + x[2]; });
    check_instruction("mad24.hi." + t + " d, a, b, c", t, {t, t, t}, {v, v, {1, 0xffffffff}},
                      [&](const words& x) { return cut(product(x) >> 16) + x[2]; });
  }
}

TEST_CASE("carries chain 32-bit halves into 64 bits, and 64-bit halves into 128") {
  const words v = boundaries(4);
  const auto joined = [](const words& x) { return std::pair{x[0] | x[1] << 32, x[2] | x[3] << 32}; };
  const std::vector<std::string> halves(4, "b32");
  check_instruction("{ .reg .b32 l, h; add.cc.u32 l, a, c; addc.u32 h, b, e; mov.b64 d, {l, h}; }", "b64",
                    halves, {v, v, v, v}, [&](const words& x) { return joined(x).first + joined(x).second; });
  check_instruction("{ .reg .b32 l, h; sub.cc.u32 l, a, c; subc.u32 h, b, e; mov.b64 d, {l, h}; }", "b64",
                    halves, {v, v, v, v}, [&](const words& x) { return joined(x).first - joined(x).second; });
  // a*b + c over 64 bits with c = {c, e}.
  check_instruction(
      "{ .reg .b32 l, h; mad.lo.cc.u32 l, a, b, c; madc.hi.u32 h, a, b, e; mov.b64 d, {l, h}; }", "b64",
      halves, {v, v, v, v}, [&](const words& x) { return x[0] * x[1] + joined(x).second; });
  // The carry out of the high half of a 128-bit sum.
  const words w = boundaries(8);
  check_instruction(
      "{ .reg .b64 l, h; add.cc.u64 l, a, c; addc.cc.u64 h, b, e; addc.u64 d, 0, 0; }", "b64",
      std::vector<std::string>(4, "b64"), {w, {0, ~std::uint64_t{0}, 5}, w, {0, 1, ~std::uint64_t{0}}},
      [](const words& x) {
        const bool carry = x[0] + x[2] < x[0];
        return static_cast<std::uint64_t>((static_cast<unsigned_wide>(x[1]) + x[3] + carry) >> 64);
      });
}

TEST_CASE("the carry of a subtraction is the absence of a borrow, as in the adders of a GPU") {
  CHECK(apply("{ .reg .b32 l; sub.cc.u32 l, a, b; addc.u32 d, 0, 0; }", "b32", {"b32", "b32"},
              {{5, 3, 3, 0}, {3, 5, 3, 0}}) == words{1, 0, 1, 1});
  const words v = boundaries(4), w = boundaries(8);
  check_instruction("{ .reg .b32 l; sub.cc.u32 l, a, b; addc.u32 d, c, 0; }", "b32", {"b32", "b32", "b32"},
                    {v, v, v}, [](const words& x) { return x[2] + (x[0] >= x[1]); });
  check_instruction("{ .reg .b64 l; sub.cc.s64 l, a, b; addc.u64 d, c, 0; }", "b64", {"b64", "b64", "b64"},
                    {w, w, w}, [](const words& x) { return x[2] + (x[0] >= x[1]); });
  // A sum's carry enters a difference as the 1 of a + ~b + 1.
  check_instruction("{ .reg .b32 l; add.cc.u32 l, a, b; subc.u32 d, c, 7; }", "b32", {"b32", "b32", "b32"},
                    {v, v, v}, [](const words& x) { return x[2] - 8 + ((x[0] + x[1]) >> 32); });
  // The borrow of the high half of a 128-bit difference.
  check_instruction("{ .reg .b64 l, h; sub.cc.u64 l, a, c; subc.cc.u64 h, b, e; subc.u64 d, 0, 0; }", "b64",
                    std::vector<std::string>(4, "b64"),
                    {w, {0, ~std::uint64_t{0}, 5}, w, {0, 1, ~std::uint64_t{0}}}, [](const words& x) {
                      const bool borrow = x[1] < x[3] || (x[1] == x[3] && x[0] < x[2]);
                      return borrow ? ~std::uint64_t{0} : 0;
                    });
}
