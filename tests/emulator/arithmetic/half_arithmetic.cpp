// Arithmetic of f16, bf16 and their pairs against exact values rounded once.

#include "tests/emulator/arithmetic/half_model.hpp"

using namespace emulator_test;

namespace {

// The steps between the exact sum of a product and a value, and the result's bits.
struct ending {
  std::string modifiers, mode = ".rn";
  bool ftz = false, sat = false, relu = false;
};

std::uint64_t finished(const half_type& t, std::uint32_t code, const ending& e) {
  const model_format& f = t.format;
  const std::uint32_t one = t.brain ? 0x3f80 : 0x3c00;
  if (e.ftz) code = f.flushed(code);
  if (e.sat) {
    if (f.is_nan(code) || f.is_negative(code)) return 0;
    return std::min(code, one);
  }
  if (f.is_nan(code)) return f.nan();
  if (e.relu && f.is_negative(code)) return 0;
  return code;
}

// a * b + c, rounded once; IEEE 754 for infinities, NaN and the sign of zero.
std::uint64_t model_fma(const half_type& t, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                        const ending& e) {
  const model_format& f = t.format;
  if (e.ftz) a = f.flushed(a), b = f.flushed(b), c = f.flushed(c);
  const double special = f.real(a) * f.real(b) + f.real(c);
  if (!std::isfinite(f.real(a)) || !std::isfinite(f.real(b)) || !std::isfinite(f.real(c)))
    return finished(t, f.round_real(special, e.mode), e);
  const bool product_negative = f.is_negative(a) != f.is_negative(b);
  const exact_value sum = ((f.exact(a) * f.exact(b)) >> exact_places) + f.exact(c);
  const bool zero_negative = product_negative == f.is_negative(c) ? product_negative : e.mode == ".rm";
  return finished(t, f.round(sum, e.mode, zero_negative), e);
}

std::vector<words> pairs_of(const half_type& t) {
  const words v = half_values(t, 40);
  return combinations({v, v});
}

std::uint64_t one_of(const half_type& t) { return t.brain ? 0x3f80 : 0x3c00; }

}  // namespace

TEST_CASE("half: add, sub and mul are rounded once, with .ftz and .sat") {
  for (const half_type& t : half_types())
    for (const ending& e : {ending{""}, ending{".rn"}, ending{".ftz", ".rn", true},
                            ending{".sat", ".rn", false, true}, ending{".rn.ftz.sat", ".rn", true, true}}) {
      if (t.brain && (e.ftz || e.sat)) continue;
      const std::vector<words> columns = pairs_of(t);
      check_halves("add" + e.modifiers + ".@ d, a, b", t, columns,
                   [&](const words& x) { return model_fma(t, x[0], one_of(t), x[1], e); });
      check_halves("sub" + e.modifiers + ".@ d, a, b", t, columns,
                   [&](const words& x) { return model_fma(t, x[0], one_of(t), x[1] ^ 0x8000, e); });
      check_halves("mul" + e.modifiers + ".@ d, a, b", t, columns, [&](const words& x) {
        const std::uint64_t zero = (x[0] ^ x[1]) & 0x8000;  // of the product's sign, so that it is kept
        return model_fma(t, x[0], x[1], zero, e);
      });
    }
}

TEST_CASE("half: fma is rounded once, with .ftz, .sat and .relu") {
  for (const half_type& t : half_types())
    for (const ending& e :
         {ending{".rn"}, ending{".rn.relu", ".rn", false, false, true}, ending{".rn.ftz", ".rn", true},
          ending{".rn.sat", ".rn", false, true}, ending{".rn.ftz.relu", ".rn", true, false, true},
          ending{".rz", ".rz"}, ending{".rm", ".rm"}, ending{".rp.relu", ".rp", false, false, true}}) {
      if (t.brain ? e.ftz || e.sat : e.mode != ".rn") continue;
      const words v = half_values(t, 4);
      std::vector<words> columns = combinations({v, half_values(t), v});
      std::mt19937 random(3);
      for (int i = 0; i < 4000; ++i) {  // products that are close to the addend, and far from it
        for (words& c : columns) c.push_back(random() & 0xffff);
        columns[2].back() = random() % 2 != 0 ? columns[2].back()
                                              : model_fma(t, columns[0].back(), columns[1].back(), 0, {}) ^
                                                    (random() & 0x8003);
      }
      check_halves("fma" + e.modifiers + ".@ d, a, b, c", t, columns,
                   [&](const words& x) { return model_fma(t, x[0], x[1], x[2], e); });
    }
}

TEST_CASE("half: neg and abs of every pattern") {
  for (const half_type& t : half_types())
    for (const bool ftz : {false, true}) {
      if (t.brain && ftz) continue;
      const model_format& f = t.format;
      const auto in = [&](std::uint64_t x) { return ftz ? f.flushed(x) : x; };
      const std::string modifier = ftz ? ".ftz" : "";
      check_halves("neg" + modifier + ".@ d, a", t, {all_halves()}, [&](const words& x) {
        return f.is_nan(x[0]) ? std::uint64_t{0x7fff} : in(x[0]) ^ 0x8000;
      });
      check_halves("abs" + modifier + ".@ d, a", t, {all_halves()}, [&](const words& x) {
        return f.is_nan(x[0]) ? std::uint64_t{0x7fff} : in(x[0]) & 0x7fff;
      });
    }
}

TEST_CASE("half: min and max order zeros, prefer numbers, and take .NaN and .xorsign.abs") {
  for (const half_type& t : half_types())
    for (const bool max : {false, true})
      for (const bool ftz : {false, true})
        for (const bool nan : {false, true})
          for (const bool xorsign : {false, true}) {
            if (t.brain && ftz) continue;
            const model_format& f = t.format;
            const std::string text = std::string(max ? "max" : "min") + (ftz ? ".ftz" : "") +
                                     (nan ? ".NaN" : "") + (xorsign ? ".xorsign.abs" : "") + ".@ d, a, b";
            check_halves(text, t, pairs_of(t), [&](const words& x) -> std::uint64_t {
              std::uint64_t a = ftz ? f.flushed(x[0]) : x[0], b = ftz ? f.flushed(x[1]) : x[1];
              const std::uint64_t sign = xorsign ? (a ^ b) & 0x8000 : 0;
              if (xorsign) a &= 0x7fff, b &= 0x7fff;
              if (f.is_nan(a) && f.is_nan(b)) return 0x7fff;
              if (f.is_nan(a) || f.is_nan(b)) return nan ? 0x7fff : (f.is_nan(a) ? b : a) | sign;
              const double p = f.real(a), q = f.real(b);
              const bool less = p < q || (p == q && f.is_negative(a) && !f.is_negative(b));
              return (less != max ? a : b) | sign;
            });
          }
}

TEST_CASE("half: ex2 and tanh of every pattern are the nearest values") {
  for (const half_type& t : half_types()) {
    const model_format& f = t.format;
    check_halves(
        t.brain ? "ex2.approx.ftz.@ d, a" : "ex2.approx.@ d, a", t, {all_halves()}, [&](const words& x) {
          const double a = f.real(t.brain ? f.flushed(x[0]) : x[0]);
          const auto d = f.round_real(static_cast<double>(std::exp2(static_cast<long double>(a))), ".rn");
          return t.brain ? f.flushed(d) : d;
        });
    check_halves("tanh.approx.@ d, a", t, {all_halves()}, [&](const words& x) {
      return f.round_real(static_cast<double>(std::tanh(static_cast<long double>(f.real(x[0])))), ".rn");
    });
  }
}

TEST_CASE("half: known results") {
  const half_type &half = half_types()[0], &brain = half_types()[1];
  const auto run = [](const std::string& text, const half_type& t, const words& x) {
    std::vector<words> columns;
    for (const std::uint64_t v : x) columns.push_back({v});
    return apply_halves(text, t, columns)[0];
  };
  CHECK(run("add.@ d, a, b", half, {0x3c00, 0x1000}) == 0x3c00);      // 1 + 2^-11: the tie goes to even
  CHECK(run("add.@ d, a, b", half, {0x3c01, 0x1000}) == 0x3c02);      // and up from an odd value
  CHECK(run("add.@ d, a, b", half, {0x7bff, 0x4c00}) == 0x7c00);      // 65504 + 16
  CHECK(run("mul.@ d, a, b", half, {0x0400, 0x3800}) == 0x0200);      // a subnormal result
  CHECK(run("mul.ftz.@ d, a, b", half, {0x8400, 0x3800}) == 0x8000);  // flushed, its sign kept
  CHECK(run("fma.rn.@ d, a, b, c", half, {0x3c01, 0x3c01, 0xbc02}) == 0x0010);   // 2^-20: not rounded between
  CHECK(run("add.@ d, a, b", brain, {0x3f80, 0x3b80}) == 0x3f80);                // 1 + 2^-8
  CHECK(run("fma.rn.@ d, a, b, c", brain, {0x3f81, 0x3b80, 0x3f80}) == 0x3f81);  // just above the tie
  CHECK(run("fma.rn.@ d, a, b, c", brain, {0x0080, 0x0080, 0x3f81}) == 0x3f81);  // an addend 2^252 away
}
