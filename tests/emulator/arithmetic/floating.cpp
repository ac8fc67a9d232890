// Floating-point arithmetic: IEEE results in every rounding mode, NaNs, subnormals, .ftz and .sat.

#include "tests/emulator/kernel.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <string>

using namespace emulator_test;

namespace {

constexpr std::uint64_t nan32 = 0x7fffffff;

words singles() {
  words v;
  for (const float x :
       {0.0f, -0.0f, 1.0f, -1.0f, 1.5f, 3.0f, 0.1f, -0.3f, 1e-20f, -1e20f, 16777217.0f, 2.0f / 3,
        std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
        std::numeric_limits<float>::denorm_min(), -5.9e-39f, std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity(), 1.0000001f})
    v.push_back(bits(x));
  v.insert(v.end(), {0x7fc00000, 0xffc00001, 0x7f800001});
  return v;
}

words doubles() {
  words v;
  for (const double x : {0.0, -0.0, 1.0, -1.0, 1.5, 3.0, 0.1, -0.3, 1e-200, -1e200, 9007199254740993.0,
                         2.0 / 3, std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
                         std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity(), 1.0000000000000002})
    v.push_back(bits(x));
  v.insert(v.end(), {0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001});
  return v;
}

std::uint64_t as_bits(float x) { return std::isnan(x) ? nan32 : bits(x); }
std::uint64_t as_bits(double x) { return bits(x); }
float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
float clamp(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

// Checks an instruction as check_instruction does, with the NaNs of double precision: a NaN operand passes
// through, made quiet, and a new NaN has its sign set. `second`: if two operands are NaN, the second one
// passes.
template <class Model>
void check_operation(const std::string& text, const std::string& type, const std::vector<words>& values,
                     bool second, Model&& model) {
  const std::vector<std::string> types(values.size(), type);
  if (type == "f32") return check_instruction(text, type, types, values, model);
  constexpr std::uint64_t quiet = 0x0008000000000000;
  const std::vector<words> columns = combinations(values);
  const words have = apply(text, type, types, columns);
  for (std::size_t row = 0; row < have.size(); ++row) {
    words operands, nans;
    for (const words& c : columns) {
      operands.push_back(c[row]);
      if (std::isnan(f64_of(c[row]))) nans.push_back(c[row] | quiet);
    }
    if (second && nans.size() == 2) nans.erase(nans.begin());
    const std::uint64_t want = model(operands);
    const bool good = !nans.empty() ? std::find(nans.begin(), nans.end(), have[row] | quiet) != nans.end()
                      : std::isnan(f64_of(want)) ? have[row] == 0xfff8000000000000
                                                 : have[row] == want;
    if (!good) {
      INFO(text << ", row " << row << std::hex << " of " << operands[0]);
      CHECK(have[row] == want);
    }
  }
  SUCCEED(text);
}

// One operation in a rounding mode of the host, hidden from the optimiser.
template <class T, class Operation>
T in_mode(int mode, Operation operation, T a, T b, T c = 0) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  volatile T result = operation(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

struct mode {
  std::string name;
  int host;
};
const mode modes[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

template <class T>
void check_arithmetic(const std::string& type, const words& v, T (*of)(std::uint64_t)) {
  const words few(v.begin(), v.begin() + 12);
  for (const mode& m : modes) {
    const auto both = [&](const std::string& op, auto operation) {
      check_operation(op + m.name + "." + type + " d, a, b", type, {v, v}, op != "div", [&](const words& x) {
        return as_bits(in_mode<T>(m.host, operation, of(x[0]), of(x[1])));
      });
    };
    both("add", [](T a, T b, T) { return a + b; });
    both("sub", [](T a, T b, T) { return a - b; });
    both("mul", [](T a, T b, T) { return a * b; });
    both("div", [](T a, T b, T) { return a / b; });
    check_operation("sqrt" + m.name + "." + type + " d, a", type, {v}, false, [&](const words& x) {
      return as_bits(in_mode<T>(
          m.host, [](T a, T, T) { return std::sqrt(a); }, of(x[0]), T{0}));
    });
    check_operation("rcp" + m.name + "." + type + " d, a", type, {v}, false, [&](const words& x) {
      return as_bits(in_mode<T>(
          m.host, [](T a, T, T) { return T{1} / a; }, of(x[0]), T{0}));
    });
    check_operation(
        "fma" + m.name + "." + type + " d, a, b, c", type, {v, few, v}, false, [&](const words& x) {
          return as_bits(in_mode<T>(
              m.host, [](T a, T b, T c) { return std::fma(a, b, c); }, of(x[0]), of(x[1]), of(x[2])));
        });
  }
}

}  // namespace

TEST_CASE("single precision in every rounding mode") { check_arithmetic<float>("f32", singles(), f32_of); }
TEST_CASE("double precision in every rounding mode") { check_arithmetic<double>("f64", doubles(), f64_of); }

TEST_CASE("directed rounding against exact values") {
  // 24-bit factors have an exact product in double precision.
  words v;
  for (const float x : {1.0f, 1.0000001f, 3.3333333f, 0.1f, -0.7f, 12345.678f, -1e-10f}) v.push_back(bits(x));
  for (const mode& m : modes)
    check_instruction("mul" + m.name + ".f32 d, a, b", "f32", {"f32", "f32"}, {v, v}, [&](const words& x) {
      const double exact = double{f32_of(x[0])} * double{f32_of(x[1])};
      float near = static_cast<float>(exact);
      const float below = double{near} > exact ? std::nextafter(near, -INFINITY) : near;
      const float above = double{near} < exact ? std::nextafter(near, INFINITY) : near;
      if (m.name == ".rm") near = below;
      if (m.name == ".rp") near = above;
      if (m.name == ".rz") near = exact > 0 ? below : above;
      return std::uint64_t{bits(near)};
    });
}

TEST_CASE(".ftz flushes operands and results, .sat clamps to [0, 1]") {
  const words v = singles();
  check_instruction("add.ftz.f32 d, a, b", "f32", {"f32", "f32"}, {v, v},
                    [](const words& x) { return as_bits(flush(flush(f32_of(x[0])) + flush(f32_of(x[1])))); });
  check_instruction("mul.rn.ftz.f32 d, a, b", "f32", {"f32", "f32"}, {v, v},
                    [](const words& x) { return as_bits(flush(flush(f32_of(x[0])) * flush(f32_of(x[1])))); });
  check_instruction("fma.rn.ftz.f32 d, a, b, c", "f32", {"f32", "f32", "f32"}, {v, v, v}, [](const words& x) {
    return as_bits(flush(std::fma(flush(f32_of(x[0])), flush(f32_of(x[1])), flush(f32_of(x[2])))));
  });
  check_instruction("div.rn.ftz.f32 d, a, b", "f32", {"f32", "f32"}, {v, v},
                    [](const words& x) { return as_bits(flush(flush(f32_of(x[0])) / flush(f32_of(x[1])))); });
  check_instruction("add.sat.f32 d, a, b", "f32", {"f32", "f32"}, {v, v},
                    [](const words& x) { return bits(clamp(f32_of(x[0]) + f32_of(x[1]))); });
  check_instruction("fma.rn.sat.f32 d, a, b, c", "f32", {"f32", "f32", "f32"}, {v, v, v}, [](const words& x) {
    return bits(clamp(std::fma(f32_of(x[0]), f32_of(x[1]), f32_of(x[2]))));
  });
  check_instruction("abs.ftz.f32 d, a", "f32", {"f32"}, {v},
                    [](const words& x) { return as_bits(std::fabs(flush(f32_of(x[0])))); });
}

TEST_CASE("a product and a sum are two roundings, and fma is one") {
  const float a = 1.0000001f, b = 1.0000001f, c = -1.0000002f;
  const words columns[] = {{bits(a)}, {bits(b)}, {bits(c)}};
  const auto run = [&](const std::string& text) {
    return apply(text, "f32", {"f32", "f32", "f32"}, {columns[0], columns[1], columns[2]})[0];
  };
  volatile float product = a * b;
  volatile float sum = product + c;
  CHECK(run("{ mul.f32 d, a, b; add.f32 d, d, c; }") == bits(float{sum}));
  CHECK(run("fma.rn.f32 d, a, b, c") == bits(std::fma(a, b, c)));
  CHECK(run("mad.rn.f32 d, a, b, c") == bits(std::fma(a, b, c)));
  CHECK(bits(float{sum}) != bits(std::fma(a, b, c)));
}

TEST_CASE("min and max: -0 below +0, a number before NaN, .NaN, .xorsign.abs") {
  const words v = singles();
  const auto order = [](float x, float y) {
    return x < y || (x == y && std::signbit(x) && !std::signbit(y));
  };
  for (const bool max : {false, true})
    for (const bool nan : {false, true})
      check_instruction(std::string(max ? "max" : "min") + (nan ? ".NaN" : "") + ".f32 d, a, b", "f32",
                        {"f32", "f32"}, {v, v}, [&](const words& x) {
                          const float a = f32_of(x[0]), b = f32_of(x[1]);
                          if (std::isnan(a) && std::isnan(b)) return nan32;
                          if (std::isnan(a) || std::isnan(b))
                            return nan ? nan32 : as_bits(std::isnan(a) ? b : a);
                          return as_bits(order(a, b) != max ? a : b);
                        });
  check_instruction("min.xorsign.abs.f32 d, a, b", "f32", {"f32", "f32"},
                    {{bits(2.0f), bits(-3.0f)}, {bits(-1.0f), bits(5.0f)}}, [](const words& x) {
                      const float a = f32_of(x[0]), b = f32_of(x[1]);
                      const float m = std::fmin(std::fabs(a), std::fabs(b));
                      return bits(std::signbit(a) != std::signbit(b) ? -m : m);
                    });
  const words w = doubles();
  words numbers = w;
  numbers.resize(w.size() - 3);  // without the NaNs
  check_instruction("min.f64 d, a, b", "f64", {"f64", "f64"}, {numbers, w}, [](const words& x) {
    const double a = f64_of(x[0]), b = f64_of(x[1]);
    if (std::isnan(b)) return as_bits(a);
    return as_bits(a < b || (a == b && std::signbit(a)) ? a : b);
  });
}

TEST_CASE("signs and properties") {
  const words v = singles(), w = doubles();
  check_instruction("neg.f32 d, a", "f32", {"f32"}, {v},
                    [](const words& x) { return as_bits(-f32_of(x[0])); });
  // In double precision a NaN passes as it is.
  check_instruction("abs.f64 d, a", "f64", {"f64"}, {w}, [](const words& x) {
    return std::isnan(f64_of(x[0])) ? x[0] : bits(std::fabs(f64_of(x[0])));
  });
  check_instruction("neg.f64 d, a", "f64", {"f64"}, {w},
                    [](const words& x) { return std::isnan(f64_of(x[0])) ? x[0] : bits(-f64_of(x[0])); });
  check_instruction("copysign.f32 d, a, b", "f32", {"f32", "f32"}, {v, v},
                    [](const words& x) { return (x[0] & 0x80000000) | (x[1] & 0x7fffffff); });
  check_instruction("copysign.f64 d, a, b", "f64", {"f64", "f64"}, {w, w},
                    [](const words& x) { return (x[0] & 0x8000000000000000) | (x[1] & 0x7fffffffffffffff); });
  const auto property = [&](const std::string& name, auto holds) {
    check_instruction("testp." + name + ".f32 d, a", "pred", {"f32"}, {v},
                      [&](const words& x) { return holds(std::fpclassify(f32_of(x[0]))) ? 1u : 0u; });
    check_instruction("testp." + name + ".f64 d, a", "pred", {"f64"}, {w},
                      [&](const words& x) { return holds(std::fpclassify(f64_of(x[0]))) ? 1u : 0u; });
  };
  property("finite", [](int c) { return c != FP_NAN && c != FP_INFINITE; });
  property("infinite", [](int c) { return c == FP_INFINITE; });
  property("number", [](int c) { return c != FP_NAN; });
  property("notanumber", [](int c) { return c == FP_NAN; });
  property("normal", [](int c) { return c == FP_NORMAL || c == FP_ZERO; });
  property("subnormal", [](int c) { return c == FP_SUBNORMAL; });
}

TEST_CASE("the host's rounding mode neither changes results nor is changed") {
  std::fesetround(FE_UPWARD);
  const words have = apply("add.f32 d, a, b", "f32", {"f32", "f32"}, {{bits(1.0f)}, {bits(1e-10f)}});
  const int mode = std::fegetround();
  std::fesetround(FE_TONEAREST);
  CHECK(mode == FE_UPWARD);
  CHECK(have[0] == bits(1.0f));
}
