// Conversions from and to f16, bf16, tf32, e4m3 and e5m2, and cvt.pack, against exact values.

#include "tests/emulator/arithmetic/half_model.hpp"

#include <limits>

using namespace emulator_test;

namespace {

const std::string real_modes[] = {".rn", ".rz", ".rm", ".rp"};
const std::string integer_modes[] = {".rni", ".rzi", ".rmi", ".rpi"};

struct integer {
  std::string name, reg;
  unsigned bytes;
  bool is_signed;
};
const integer integers[] = {{"u8", "b16", 1, false},  {"s8", "b16", 1, true},   {"u16", "b16", 2, false},
                            {"s16", "b16", 2, true},  {"u32", "b32", 4, false}, {"s32", "b32", 4, true},
                            {"u64", "b64", 8, false}, {"s64", "b64", 8, true}};

double integral(double x, const std::string& mode) {
  if (mode == ".rni") return std::nearbyint(x);
  if (mode == ".rzi") return std::trunc(x);
  return mode == ".rmi" ? std::floor(x) : std::ceil(x);
}

std::uint64_t nan_or(float x) { return std::isnan(x) ? std::uint64_t{0x7fffffff} : bits(x); }

// f32 values at and around every boundary of a format: its values, the ties between them, both neighbours of
// each.
words singles_around(const half_type& t, unsigned step) {
  words v{0x7fc00000, 0xff800001, 0x7f800000, 0xff800000, 1, 0x80000001, 0x7f7fffff, 0xff7fffff};
  for (std::uint32_t code = 0; code < t.format.infinity(); code += step) {
    const double value = t.format.real(code),
                 next = code + 1 < t.format.infinity() ? t.format.real(code + 1) : 2 * value;
    for (const double x : {value, (value + next) / 2})
      for (const std::uint32_t by : {~0u, 0u, 1u}) {
        const std::uint32_t b = bits(static_cast<float>(x)) + by;
        v.push_back(b & 0x7fffffff);
        v.push_back(b | 0x80000000);
      }
  }
  return v;
}

// .relu, .sat and .satfinite of a rounded code.
std::uint64_t limited(const half_type& t, std::uint32_t code, bool relu, bool finite) {
  const model_format& f = t.format;
  if (f.is_nan(code)) return f.nan();
  if (relu && f.is_negative(code)) return 0;
  return finite && f.is_infinite(code) ? code - 1 : code;
}

}  // namespace

TEST_CASE("half conversion: every half to f32 and f64 is exact") {
  for (const half_type& t : half_types()) {
    const model_format& f = t.format;
    const bool brain = t.brain;
    // A bf16 is the upper half of an f32, NaN too.
    check_instruction("cvt.f32." + t.name + " d, a", "f32", {"b16"}, {all_halves()}, [&](const words& x) {
      return brain ? static_cast<std::uint32_t>(x[0] << 16) : nan_or(static_cast<float>(f.real(x[0])));
    });
    const words doubles = apply("cvt.f64." + t.name + " d, a", "f64", {"b16"}, {all_halves()});
    for (std::size_t code = 0; code < doubles.size(); ++code) {
      const double want = f.real(code), have = f64_of(doubles[code]);
      if (std::isnan(want) ? !std::isnan(have) : bits(have) != bits(want)) {
        INFO("cvt.f64." << t.name << " of code " << code);
        CHECK(have == want);
      }
    }
    check_instruction("cvt.ftz.f32." + t.name + " d, a", "f32", {"b16"}, {all_halves()}, [&](const words& x) {
      return nan_or(static_cast<float>(f.real(brain ? f.flushed(x[0]) : x[0])));
    });
  }
  const half_type& half = half_types()[0];
  check_instruction("cvt.sat.f32.f16 d, a", "f32", {"b16"}, {all_halves()}, [&](const words& x) {
    const auto a = static_cast<float>(half.format.real(x[0]));
    return bits(a > 0 ? (a < 1 ? a : 1.0f) : 0.0f);
  });
}

TEST_CASE("half conversion: every half to integers, saturated") {
  for (const half_type& t : half_types())
    for (const integer& to : integers) {
      // The registers of conversions of .bf16 have the width of the type.
      const std::string reg = t.brain && to.bytes == 1 ? to.name : to.reg;
      for (const std::string& mode : integer_modes)
        check_instruction("cvt" + mode + "." + to.name + "." + t.name + " d, a", reg, {"b16"}, {all_halves()},
                          [&](const words& x) -> std::uint64_t {
                            const double a = t.format.real(x[0]);
                            if (std::isnan(a)) return to.bytes == 8 ? std::uint64_t{1} << 63 : 0;
                            const double r = integral(a, mode);
                            const unsigned size = to.bytes * 8;
                            const double beyond =
                                std::ldexp(1.0, static_cast<int>(to.is_signed ? size - 1 : size));
                            const std::uint64_t most = to.is_signed ? (std::uint64_t{1} << (size - 1)) - 1
                                                                    : ~std::uint64_t{0} >> (64 - size);
                            const std::uint64_t least = to.is_signed ? ~most : 0;
                            if (r >= beyond) return most;
                            if (r < (to.is_signed ? -beyond : 0.0)) return low(least, bytes_of(reg));
                            return low(r < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(r))
                                             : static_cast<std::uint64_t>(r),
                                       bytes_of(reg));
                          });
    }
}

TEST_CASE("half conversion: every half to an integral value") {
  for (const half_type& t : half_types())
    for (const std::string& mode : integer_modes)
      check_instruction(
          "cvt" + mode + "." + t.name + "." + t.name + " d, a", "b16", {"b16"}, {all_halves()},
          [&](const words& x) { return t.format.round_real(integral(t.format.real(x[0]), mode), ".rn"); });
}

TEST_CASE("half conversion: f32 around every boundary, in every mode and with every limit") {
  for (const half_type& t : half_types()) {
    const words v = singles_around(t, t.brain ? 11 : 7);
    const auto check = [&](const std::string& modifiers, const std::string& mode, bool relu, bool finite,
                           bool sat, bool ftz) {
      check_instruction("cvt" + modifiers + "." + t.name + ".f32 d, a", "b16", {"f32"}, {v},
                        [&](const words& x) -> std::uint64_t {
                          float a = f32_of(x[0]);
                          if (ftz && std::fpclassify(a) == FP_SUBNORMAL) a = std::copysign(0.0f, a);
                          if (sat) a = a > 0 ? std::min(a, 1.0f) : 0.0f;
                          return limited(t, t.format.round_real(double{a}, mode), relu, finite);
                        });
    };
    for (const std::string& mode : real_modes) {
      check(mode, mode, false, false, false, false);
      check(mode + ".ftz", mode, false, false, false, true);
      if (!t.brain) check(mode + ".sat", mode, false, false, true, false);
    }
    for (const std::string mode : {".rn", ".rz"}) {
      check(mode + ".relu", mode, true, false, false, false);
      check(mode + ".satfinite", mode, false, true, false, false);
      check(mode + ".relu.satfinite", mode, true, true, false, false);
    }
  }
}

TEST_CASE("half conversion: all f32 bits in the way of a tie count") {
  const words v{bits(1.0f + 0x1p-11f), bits(1.0f + 0x1p-11f + 0x1p-23f), bits(1.0f + 0x1p-8f),
                bits(1.0f + 0x1p-8f + 0x1p-23f)};
  CHECK(apply("cvt.rn.f16.f32 d, a", "b16", {"f32"}, {v}) == words{0x3c00, 0x3c01, 0x3c04, 0x3c04});
  CHECK(apply("cvt.rn.bf16.f32 d, a", "b16", {"f32"}, {v}) == words{0x3f80, 0x3f80, 0x3f80, 0x3f81});
}

TEST_CASE("half conversion: f64, integers and the other half") {
  words doubles;
  for (const double x : {0.0,           -0.0,
                         1.0,           0.1,
                         -1.0 / 3,      65504.0,
                         65519.99999,   65520.0,
                         -65520.0,      1e300,
                         -1e300,        5e-324,
                         0x1p-25,       0x1.0000000000001p-25,
                         0x1p-134,      0x1.8p-133,
                         3.3895e38,     3.4e38,
                         1.0 + 0x1p-11, 1.0 + 0x1.0000000000001p-11,
                         1.0 + 0x1p-8,  double{INFINITY}})
    doubles.push_back(bits(x));
  doubles.push_back(0x7ff8000000000001);
  for (const half_type& t : half_types())
    for (const std::string& mode : real_modes) {
      check_instruction("cvt" + mode + "." + t.name + ".f64 d, a", "b16", {"f64"}, {doubles},
                        [&](const words& x) { return t.format.round_real(f64_of(x[0]), mode); });
      for (const integer& from : integers) {
        const std::string reg = t.brain && from.bytes == 1 ? from.name : from.reg;
        words v;
        for (unsigned k = 0; k < from.bytes * 8; ++k)
          for (const int by : {-1, 0, 1, 1 << (k > 9 ? k - 9 : 0), 1 << (k > 12 ? k - 12 : 0)}) {
            const std::uint64_t x = (std::uint64_t{1} << k) + static_cast<std::uint64_t>(by);
            v.push_back(low(x, bytes_of(reg)));
            v.push_back(low(0 - x, bytes_of(reg)));
          }
        v.push_back(low(0xfff0000000000001, bytes_of(reg)));
        check_instruction("cvt" + mode + "." + t.name + "." + from.name + " d, a", "b16", {reg}, {v},
                          [&](const words& x) -> std::uint64_t {
                            const exact_value value = from.is_signed ? exact_value(extended(x[0], from.bytes))
                                                                     : exact_value(low(x[0], from.bytes));
                            return t.format.round(exact_value(value << exact_places), mode);
                          });
      }
      const half_type& other = half_types()[t.brain ? 0 : 1];
      check_instruction("cvt" + mode + "." + t.name + "." + other.name + " d, a", "b16", {"b16"},
                        {all_halves()},
                        [&](const words& x) { return t.format.round_real(other.format.real(x[0]), mode); });
    }
}

TEST_CASE("half conversion: two f32 become a pair, the first the upper half") {
  for (const half_type& t : half_types()) {
    words a = singles_around(t, 31), b = a;
    std::reverse(b.begin(), b.end());
    for (const std::string mode : {".rn", ".rz"})
      for (const bool relu : {false, true})
        for (const bool finite : {false, true}) {
          const std::string text = "cvt" + mode + (relu ? ".relu" : "") + (finite ? ".satfinite" : "") + "." +
                                   t.name + "x2.f32 d, a, b";
          const words have = apply(text, "b32", {"f32", "f32"}, {a, b});
          for (std::size_t i = 0; i < have.size(); ++i) {
            const auto one = [&](std::uint64_t x) {
              return limited(t, t.format.round_real(double{f32_of(x)}, mode), relu, finite);
            };
            if (have[i] != (one(a[i]) << 16 | one(b[i]))) CHECK(have[i] == (one(a[i]) << 16 | one(b[i])));
          }
        }
  }
  CHECK(apply("cvt.rn.f16x2.f32 d, a, 1.0", "b32", {"f32"}, {{bits(-2.0f)}})[0] == 0xc0003c00);
  CHECK(apply("cvt.rn.f16x2.f32 d, a, b", "b64", {"b64", "b64"},
              {{0xffffffff00000000 | bits(2.0f)}, {0xffffffff00000000 | bits(1.0f)}})[0] == 0x40003c00);
}

TEST_CASE("tf32: ten bits of mantissa in the place of f32") {
  words v{0x7fc00000, 0xff800001, 0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff, 0x00001000, 0x00000fff};
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i)
    v.push_back((random() & 0xffffe000) | (i % 4 == 0 ? 0x1000u : i % 4 == 1 ? 0xfffu : random() & 0x1fff));
  const auto model = [](std::uint64_t x, const std::string& mode, bool relu, bool finite) -> std::uint64_t {
    const auto b = static_cast<std::uint32_t>(x);
    const bool nan = (b & 0x7fffffff) > 0x7f800000;
    if (nan && mode != ".rna") return 0x7fffe000;
    if (relu && b >> 31 != 0) return 0;
    const std::uint32_t rest = b & 0x1fff;
    std::uint32_t result = b - rest;
    if (mode == ".rna" && rest >= 0x1000 && !nan) result += 0x2000;
    if (mode == ".rn" && (rest > 0x1000 || (rest == 0x1000 && (b & 0x2000) != 0))) result += 0x2000;
    if (finite && (result & 0x7fffffff) >= 0x7f800000) result -= 0x2000;
    return result;
  };
  for (const std::string mode : {".rna", ".rn", ".rz"}) {
    check_instruction("cvt" + mode + ".tf32.f32 d, a", "b32", {"f32"}, {v},
                      [&](const words& x) { return model(x[0], mode, false, false); });
    if (mode != ".rna")
      check_instruction("cvt" + mode + ".relu.tf32.f32 d, a", "b32", {"f32"}, {v},
                        [&](const words& x) { return model(x[0], mode, true, false); });
  }
  check_instruction("cvt.rna.satfinite.tf32.f32 d, a", "b32", {"f32"}, {v},
                    [&](const words& x) { return model(x[0], ".rna", false, true); });
}

namespace {

// e4m3 has no infinity: the code where it would be is 256, and 448 is the greatest value.
struct eighth_type {
  std::string name;
  unsigned mantissa_bits;
  int least_exponent;
  std::uint32_t greatest, infinity;
};
const eighth_type eighths[] = {{"e4m3x2", 3, -6, 0x7e, 0xff}, {"e5m2x2", 2, -14, 0x7b, 0x7c}};

double eighth_value(const eighth_type& t, std::uint32_t code) {
  const std::uint32_t m = code & 0x7f;
  double value = NAN;
  if (m <= t.greatest) {
    const int exponent = static_cast<int>(m >> t.mantissa_bits);
    const std::uint32_t mantissa = m & ((1u << t.mantissa_bits) - 1);
    value = std::ldexp(exponent == 0 ? mantissa : mantissa + (1u << t.mantissa_bits),
                       std::max(exponent, 1) - 1 + t.least_exponent - static_cast<int>(t.mantissa_bits));
  } else if (m == t.infinity) {
    value = INFINITY;
  }
  return (code & 0x80) != 0 ? -value : value;
}

// The nearest code by trying all, ties to the even one.
std::uint64_t nearest_eighth(const eighth_type& t, double value, bool relu) {
  if (std::isnan(value)) return 0x7f;
  if (relu && !(value > 0)) return 0;
  const double size = std::fabs(value);
  std::uint32_t best = t.greatest;
  if (size < eighth_value(t, t.greatest))
    for (std::uint32_t code = 0; code <= t.greatest; ++code) {
      const double distance = std::fabs(size - eighth_value(t, code));
      const double shortest = std::fabs(size - eighth_value(t, best));
      if (distance < shortest || (distance == shortest && code % 2 == 0)) best = code;
    }
  return best | (std::signbit(value) ? 0x80u : 0u);
}

}  // namespace

TEST_CASE("e4m3 and e5m2: every f16, and f32 around the boundaries") {
  const model_format& half = half_types()[0].format;
  for (const eighth_type& t : eighths)
    for (const bool relu : {false, true}) {
      const std::string modifiers = std::string(".rn.satfinite") + (relu ? ".relu." : ".") + t.name;
      words pairs, a, b;
      for (std::uint64_t x = 0; x < 65536; ++x) pairs.push_back(x | (x ^ 0x5555) << 16);
      check_instruction("cvt" + modifiers + ".f16x2 d, a", "b16", {"b32"}, {pairs}, [&](const words& x) {
        return nearest_eighth(t, half.real(x[0] >> 16), relu) << 8 |
               nearest_eighth(t, half.real(x[0] & 0xffff), relu);
      });
      a = {0x7fc00000, 0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff, 1, 0x80000000};
      for (std::uint32_t code = 0; code < t.greatest; ++code) {
        const double value = eighth_value(t, code), next = eighth_value(t, code + 1);
        for (const double x : {value, (value + next) / 2})
          for (const std::uint32_t by : {~0u, 0u, 1u}) a.push_back(bits(static_cast<float>(x)) + by);
      }
      b = a;
      std::reverse(b.begin(), b.end());
      const words have = apply("cvt" + modifiers + ".f32 d, a, b", "b16", {"f32", "f32"}, {a, b});
      for (std::size_t i = 0; i < have.size(); ++i) {
        const std::uint64_t want = nearest_eighth(t, double{f32_of(a[i])}, relu) << 8 |
                                   nearest_eighth(t, double{f32_of(b[i])}, relu);
        if (have[i] != want) CHECK(have[i] == want);
      }
    }
}

TEST_CASE("e4m3 and e5m2: every pair becomes f16x2 exactly") {
  const model_format& half = half_types()[0].format;
  for (const eighth_type& t : eighths)
    for (const bool relu : {false, true})
      check_instruction(std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2." + t.name + " d, a", "b32",
                        {"b16"}, {all_halves()}, [&](const words& x) {
                          const auto one = [&](std::uint64_t code) -> std::uint64_t {
                            const double value = eighth_value(t, static_cast<std::uint32_t>(code));
                            if (relu && !std::isnan(value) && std::signbit(value)) return 0;
                            return half.round_real(value, ".rn");
                          };
                          return one(x[0] >> 8) << 16 | one(x[0] & 0xff);
                        });
  CHECK(apply("cvt.rn.satfinite.e4m3x2.f32 d, a, b", "b16", {"f32", "f32"},
              {{bits(1e9f), bits(464.0f)}, {bits(-0.0f), bits(0x1p-10f)}}) == words{0x7e80, 0x7e00});
}

TEST_CASE("cvt.pack saturates two integers and puts them below a third") {
  words v;
  for (const std::int64_t x :
       {0ll,   1ll,   -1ll,    2ll,     3ll,      4ll,     -2ll,    -3ll,         7ll,
        8ll,   -8ll,  -9ll,    15ll,    16ll,     127ll,   128ll,   -128ll,       -129ll,
        255ll, 256ll, 32767ll, 32768ll, -32769ll, 65535ll, 65536ll, 2147483647ll, -2147483648ll})
    v.push_back(low(static_cast<std::uint64_t>(x), 4));
  for (const unsigned size : {2u, 4u, 8u, 16u})
    for (const bool is_signed : {false, true}) {
      const std::int64_t most = (std::int64_t{1} << (is_signed ? size - 1 : size)) - 1;
      const std::int64_t least = is_signed ? -most - 1 : 0;
      const auto one = [&](std::uint64_t x) {
        const std::int64_t clamped = std::clamp(extended(x, 4), least, most);
        return static_cast<std::uint64_t>(clamped) & ((1u << size) - 1);
      };
      const std::string type = std::string(is_signed ? "s" : "u") + std::to_string(size);
      if (size == 16)
        check_instruction("cvt.pack.sat." + type + ".s32 d, a, b", "b32", {"b32", "b32"}, {v, v},
                          [&](const words& x) { return one(x[0]) << size | one(x[1]); });
      else
        check_instruction("cvt.pack.sat." + type + ".s32.b32 d, a, b, c", "b32", {"b32", "b32", "b32"},
                          {v, v, {0, 0x12345678, 0xffffffff}}, [&](const words& x) {
                            return low(x[2] << (2 * size) | one(x[0]) << size | one(x[1]), 4);
                          });
    }
}
