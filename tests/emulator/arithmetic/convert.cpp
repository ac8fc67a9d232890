// cvt in all combinations of integers and floating point, against models that round exact values.

#include "tests/emulator/kernel.hpp"

#include <cmath>
#include <limits>
#include <string>

using namespace emulator_test;

namespace {

__extension__ using wide = __int128;

struct integer {
  std::string name;
  unsigned bytes;
  bool is_signed;
};
const integer integers[] = {{"u8", 1, false},  {"s8", 1, true},  {"u16", 2, false}, {"s16", 2, true},
                            {"u32", 4, false}, {"s32", 4, true}, {"u64", 8, false}, {"s64", 8, true}};
const std::string modes[] = {".rn", ".rz", ".rm", ".rp"};

// Registers of 8 bits exist for few instructions: values of 8 bits live in 16.
std::string register_of(const integer& t) { return t.bytes == 1 ? "b16" : "b" + std::to_string(t.bytes * 8); }

wide value(std::uint64_t v, const integer& t) {
  return t.is_signed ? wide{extended(v, t.bytes)} : wide{low(v, t.bytes)};
}
wide most(const integer& t) { return (wide{1} << (t.bytes * 8 - (t.is_signed ? 1 : 0))) - 1; }
wide smallest(const integer& t) { return t.is_signed ? -most(t) - 1 : 0; }

// The value as the destination register shows it: extended by sign or zero.
std::uint64_t shown(wide v, const integer& t) {
  const auto cut = low(static_cast<std::uint64_t>(v), t.bytes);
  return low(t.is_signed ? static_cast<std::uint64_t>(extended(cut, t.bytes)) : cut,
             bytes_of(register_of(t)));
}

words boundaries(const integer& t) {
  words v;
  for (const wide x :
       {smallest(t), smallest(t) + 1, wide{-1}, wide{0}, wide{1}, wide{2}, wide{100}, wide{127}, wide{128},
        wide{255}, wide{256}, wide{32768}, wide{16777217}, wide{33554433}, wide{2147483648ll},
        (wide{1} << 53) + 1, (wide{1} << 62) + 1, most(t) - 1, most(t)})
    if (x >= smallest(t) && x <= most(t))
      v.push_back(low(static_cast<std::uint64_t>(x), bytes_of(register_of(t))));
  return v;
}

// The neighbour of an exact value (with 64 bits of mantissa) in T, in a direction.
template <class T>
T rounded(long double exact, const std::string& mode) {
  const T near = static_cast<T>(exact);  // to nearest even
  if (mode == ".rn") return near;
  const T infinity = std::numeric_limits<T>::infinity();
  const T below = static_cast<long double>(near) > exact ? std::nextafter(near, -infinity) : near;
  const T above = static_cast<long double>(near) < exact ? std::nextafter(near, infinity) : near;
  if (mode == ".rm") return below;
  if (mode == ".rp") return above;
  return exact > 0 ? below : above;
}

template <class T>
T integral(T x, const std::string& mode) {
  if (mode == ".rni") return std::nearbyint(x);
  if (mode == ".rzi") return std::trunc(x);
  return mode == ".rmi" ? std::floor(x) : std::ceil(x);
}

}  // namespace

TEST_CASE("integer to integer: cut, extended, or saturated") {
  for (const integer& from : integers)
    for (const integer& to : integers) {
      const std::string types = to.name + "." + from.name + " d, a";
      check_instruction("cvt." + types, register_of(to), {register_of(from)}, {boundaries(from)},
                        [&](const words& x) { return shown(value(x[0], from), to); });
      if (smallest(to) <= smallest(from) && most(to) >= most(from)) {
        CHECK(contains(rejection(kernel_text(".reg ." + register_of(to) + " d; .reg ." + register_of(from) +
                                             " a; cvt.sat." + types + ";"))
                           .what(),
                       ".sat has nothing to do"));
        continue;
      }
      check_instruction("cvt.sat." + types, register_of(to), {register_of(from)}, {boundaries(from)},
                        [&](const words& x) {
                          const wide v = value(x[0], from);
                          return shown(v < smallest(to) ? smallest(to) : v > most(to) ? most(to) : v, to);
                        });
    }
}

TEST_CASE("integer to floating point in every rounding mode") {
  for (const integer& from : integers)
    for (const std::string& mode : modes) {
      check_instruction("cvt" + mode + ".f32." + from.name + " d, a", "f32", {register_of(from)},
                        {boundaries(from)}, [&](const words& x) {
                          return bits(rounded<float>(static_cast<long double>(value(x[0], from)), mode));
                        });
      check_instruction("cvt" + mode + ".f64." + from.name + " d, a", "f64", {register_of(from)},
                        {boundaries(from)}, [&](const words& x) {
                          return bits(rounded<double>(static_cast<long double>(value(x[0], from)), mode));
                        });
    }
  check_instruction("cvt.rn.sat.f32.s32 d, a", "f32", {"b32"}, {boundaries(integers[5])},
                    [](const words& x) { return bits(extended(x[0], 4) > 0 ? 1.0f : 0.0f); });
}

TEST_CASE("floating point to integer: rounded, saturated, and the manual's values for NaN") {
  words v, w;
  for (const double x : {0.0,
                         -0.0,
                         0.5,
                         -0.5,
                         1.5,
                         2.5,
                         -1.5,
                         0.99,
                         -0.99,
                         127.5,
                         128.0,
                         -128.5,
                         255.5,
                         256.0,
                         65535.5,
                         65536.0,
                         -32768.5,
                         2147483647.0,
                         2147483648.0,
                         -2147483648.0,
                         4294967295.0,
                         4294967296.0,
                         9.2e18,
                         1.8e19,
                         2e19,
                         -9.3e18,
                         1e30,
                         -1e30,
                         double{INFINITY},
                         -double{INFINITY}}) {
    v.push_back(bits(static_cast<float>(x)));
    w.push_back(bits(x));
  }
  v.push_back(0x7fc00000);
  w.push_back(0x7ff8000000000000);
  for (const integer& to : integers)
    for (const std::string mode : {".rni", ".rzi", ".rmi", ".rpi"}) {
      const auto model = [&](double x, bool is_double) {
        if (std::isnan(x))
          return !is_double && to.bytes < 8 ? std::uint64_t{0} : shown(wide{1} << (to.bytes * 8 - 1), to);
        const double r = integral(x, mode);
        if (r >= static_cast<double>(most(to)) + 1 || r > 1.9e19) return shown(most(to), to);
        if (r < static_cast<double>(smallest(to))) return shown(smallest(to), to);
        return shown(r >= 9.3e18 ? static_cast<wide>(static_cast<std::uint64_t>(r)) : static_cast<wide>(r),
                     to);
      };
      check_instruction("cvt" + mode + "." + to.name + ".f32 d, a", register_of(to), {"f32"}, {v},
                        [&](const words& x) { return model(double{f32_of(x[0])}, false); });
      check_instruction("cvt" + mode + "." + to.name + ".f64 d, a", register_of(to), {"f64"}, {w},
                        [&](const words& x) { return model(f64_of(x[0]), true); });
    }
}

TEST_CASE("between floating-point types, and to integral values") {
  words v, w;
  for (const double x : {0.0, -0.0, 1.0, 0.1, -0.3, 1e-45, 1e-40, 3.5e38, 1e39, -1e300, 1.5, 2.5, -2.5, 1e10,
                         double{INFINITY}}) {
    v.push_back(bits(static_cast<float>(x)));
    w.push_back(bits(x));
  }
  for (const std::string& mode : modes)
    check_instruction("cvt" + mode + ".f32.f64 d, a", "f32", {"f64"}, {w}, [&](const words& x) {
      const double exact = f64_of(x[0]);
      if (exact == 0 || std::isinf(exact)) return bits(static_cast<float>(exact));
      if (std::isinf(static_cast<float>(exact))) {
        const bool away = mode == ".rn" || (mode == ".rp" && exact > 0) || (mode == ".rm" && exact < 0);
        const float end = away ? INFINITY : std::numeric_limits<float>::max();
        return bits(std::copysign(end, static_cast<float>(exact)));
      }
      return bits(rounded<float>(exact, mode));
    });
  check_instruction("cvt.f64.f32 d, a", "f64", {"f32"}, {v},
                    [](const words& x) { return bits(double{f32_of(x[0])}); });
  for (const std::string mode : {".rni", ".rzi", ".rmi", ".rpi"}) {
    check_instruction("cvt" + mode + ".f32.f32 d, a", "f32", {"f32"}, {v},
                      [&](const words& x) { return bits(integral(f32_of(x[0]), mode)); });
    check_instruction("cvt" + mode + ".f64.f64 d, a", "f64", {"f64"}, {w},
                      [&](const words& x) { return bits(integral(f64_of(x[0]), mode)); });
  }
  check_instruction("cvt.sat.f32.f32 d, a", "f32", {"f32"}, {v}, [](const words& x) {
    const float a = f32_of(x[0]);
    return bits(a > 0 ? (a < 1 ? a : 1.0f) : 0.0f);
  });
  CHECK(apply("cvt.ftz.f64.f32 d, a", "f64", {"f32"}, {{1}})[0] == 0);
  CHECK(apply("cvt.rn.ftz.f32.f64 d, a", "f32", {"f64"}, {{bits(1e-40)}})[0] == 0);
  // A NaN keeps the part of its payload that fits.
  CHECK(apply("cvt.f64.f32 d, a", "f64", {"f32"}, {{0xffc00001}})[0] == 0xfff8000020000000);
  CHECK(apply("cvt.rn.f32.f64 d, a", "f32", {"f64"}, {{0xfff8000020000001}})[0] == 0xffc00001);
}

TEST_CASE("registers wider than the types of a conversion") {
  CHECK(apply("cvt.u8.u32 d, a", "b32", {"b32"}, {{0x1234}})[0] == 0x34);
  CHECK(apply("cvt.s8.s32 d, a", "b32", {"b32"}, {{0x12f4}})[0] == 0xfffffff4);
  CHECK(apply("cvt.u32.u8 d, a", "b32", {"b32"}, {{0xfff4}})[0] == 0xf4);
  CHECK(apply("cvt.s64.s8 d, a", "b64", {"b32"}, {{0x80}})[0] == 0xffffffffffffff80);
  CHECK(apply("cvt.rn.f32.u16 d, a", "f32", {"b32"}, {{0x10003}})[0] == bits(3.0f));
}

TEST_CASE("values are packed into and unpacked from wider registers") {
  CHECK(apply("mov.b64 d, {a, b}", "b64", {"b32", "b32"}, {{0x11111111}, {0x22222222}})[0] ==
        0x2222222211111111);
  CHECK(apply("{ .reg .b16 t; cvt.u16.u32 t, a; mov.b64 d, {t, t, 7, t}; }", "b64", {"b32"}, {{0x1234}})[0] ==
        0x1234000712341234);
  CHECK(apply("{ .reg .b32 t; mov.b64 {_, t}, a; mov.b32 d, t; }", "b32", {"b64"},
              {{0x2222222211111111}})[0] == 0x22222222);
  CHECK(apply("{ .reg .b32 t; mov.b64 {t, _}, a; mov.b32 d, t; }", "b32", {"b64"},
              {{0x2222222211111111}})[0] == 0x11111111);
  CHECK(apply("{ .reg .b16 l, h; mov.b32 {l, h}, a; mov.b32 d, {h, l}; }", "b32", {"b32"},
              {{0x12345678}})[0] == 0x56781234);
  CHECK(apply("mov.b32 d, 0f3F800000", "b32", {"b32"}, {{0}})[0] == 0x3f800000);
  CHECK(apply("mov.f32 d, 0d3FF8000000000000", "f32", {"b32"}, {{0}})[0] == bits(1.5f));
  CHECK(apply("mov.f64 d, 1.25", "f64", {"b32"}, {{0}})[0] == bits(1.25));
  CHECK(apply("mov.s32 d, -7", "b32", {"b32"}, {{0}})[0] == 0xfffffff9);
  CHECK(apply("mov.u32 d, (3 << 4) | 1", "b32", {"b32"}, {{0}})[0] == 49);
}
