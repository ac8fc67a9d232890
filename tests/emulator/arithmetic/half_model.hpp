#pragma once
// A model of the small floating-point formats that shares nothing with the emulator: every value is an exact
// integer in units of 2^-320, and rounding is a search among all values of the format.
//
//   model_format half{5, 10};
//   half.round(half.exact(0x3c00) + half.exact(0x0001), ".rn") == 0x3c00;

#include "tests/emulator/kernel.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace emulator_test {

using exact_value = boost::multiprecision::cpp_int;
constexpr int exact_places = 320;

// A value below one unit counts as one: it is far below half of the least value of every format.
inline exact_value exact_of(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const exact_value result = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  const int shift = exponent - 53 + exact_places;
  if (shift >= 0) return result << shift;
  const exact_value units = result / (exact_value(1) << -shift);
  return units == 0 && value != 0 ? exact_value(value < 0 ? -1 : 1) : units;
}

class model_format {
 public:
  model_format(unsigned exponent_bits, unsigned mantissa_bits)
      : mantissa_bits_(mantissa_bits),
        bias_((1 << (exponent_bits - 1)) - 1),
        infinity_(((1u << exponent_bits) - 1) << mantissa_bits),
        sign_(1u << (exponent_bits + mantissa_bits)) {
    for (std::uint32_t code = 0; code <= infinity_; ++code) values_.push_back(magnitude(code));
  }

  std::uint32_t infinity() const { return infinity_; }
  std::uint32_t sign() const { return sign_; }
  std::uint32_t nan() const { return sign_ - 1; }  // what arithmetic returns
  bool is_nan(std::uint64_t code) const { return (code & (sign_ - 1)) > infinity_; }
  bool is_infinite(std::uint64_t code) const { return (code & (sign_ - 1)) == infinity_; }
  bool is_negative(std::uint64_t code) const { return (code & sign_) != 0; }
  std::uint32_t flushed(std::uint64_t code) const {
    const auto c = static_cast<std::uint32_t>(code);
    return (c & (sign_ - 1)) < 1u << mantissa_bits_ ? c & sign_ : c;
  }

  // `code` must be finite.
  exact_value exact(std::uint64_t code) const {
    const exact_value& m = values_[static_cast<std::uint32_t>(code) & (sign_ - 1)];
    return is_negative(code) ? exact_value(-m) : m;
  }
  double real(std::uint64_t code) const {
    const auto m = static_cast<std::uint32_t>(code) & (sign_ - 1);
    double value = NAN;
    if (m == infinity_) value = INFINITY;
    if (m < infinity_) value = fraction(m);
    return is_negative(code) ? -value : value;
  }

  // The code of an exact value in a direction; `negative` is the sign of a zero.
  std::uint32_t round(const exact_value& exact, const std::string& mode, bool negative = false) const {
    if (exact != 0) negative = exact < 0;
    const exact_value size = negative ? exact_value(-exact) : exact;
    const auto above = std::upper_bound(values_.begin(), values_.end(), size);
    auto code = static_cast<std::uint32_t>(above - values_.begin()) - 1;
    const bool inward = mode == ".rz" || mode == (negative ? ".rp" : ".rm");
    if (code >= infinity_) {  // beyond all finite values
      code = inward ? infinity_ - 1 : infinity_;
    } else if (values_[code] != size && !inward) {
      const exact_value down = size - values_[code], up = values_[code + 1] - size;
      const bool nearest = mode == ".rn" || mode == ".rna";
      if (!nearest || up < down || (up == down && (mode == ".rna" || (code & 1) != 0))) ++code;
    }
    return code | (negative ? sign_ : 0u);
  }
  // Rounds a double, which may be infinite or NaN.
  std::uint32_t round_real(double value, const std::string& mode) const {
    if (std::isnan(value)) return nan();
    if (std::isinf(value)) return infinity_ | (value < 0 ? sign_ : 0u);
    return round(exact_of(value), mode, std::signbit(value));
  }

 private:
  // The code of infinity has the value where the next binade would begin, as rounding needs it.
  exact_value magnitude(std::uint32_t code) const {
    const std::uint32_t mantissa = code & ((1u << mantissa_bits_) - 1);
    const int exponent = static_cast<int>(code >> mantissa_bits_);
    const int places = (exponent == 0 ? 1 : exponent) - bias_ - static_cast<int>(mantissa_bits_);
    exact_value significand = exponent == 0 ? mantissa : mantissa + (1u << mantissa_bits_);
    significand <<= places + exact_places;
    return significand;
  }
  double fraction(std::uint32_t code) const {
    const std::uint32_t mantissa = code & ((1u << mantissa_bits_) - 1);
    const int exponent = static_cast<int>(code >> mantissa_bits_);
    const double significand = exponent == 0 ? mantissa : mantissa + (1u << mantissa_bits_);
    return std::ldexp(significand, (exponent == 0 ? 1 : exponent) - bias_ - static_cast<int>(mantissa_bits_));
  }

  unsigned mantissa_bits_;
  int bias_;
  std::uint32_t infinity_, sign_;
  std::vector<exact_value> values_;
};

// The types of the instructions, and their properties in the manual.
struct half_type {
  std::string name;  // "f16"; the pair is "f16x2"
  const model_format& format;
  bool brain;
};

inline const std::vector<half_type>& half_types() {
  static const model_format half(5, 10), brain(8, 7);
  static const std::vector<half_type> types{{"f16", half, false}, {"bf16", brain, true}};
  return types;
}

// Zeros, subnormals, ties, ends, infinities and NaNs, and `more` random patterns.
inline words half_values(const half_type& t, unsigned more = 0) {
  const std::uint64_t inf = t.format.infinity(), one = t.brain ? 0x3f80 : 0x3c00;
  const std::uint64_t normal = t.brain ? 0x80 : 0x400;
  words v;
  for (const std::uint64_t m :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, normal - 1, normal, normal + 1, one - 1, one,
        one + 1, one + normal, one + normal + normal / 2, inf - 1, inf - normal, inf})
    for (const std::uint64_t sign : {0u, 0x8000u}) v.push_back(m | sign);
  v.insert(v.end(), {inf + 1, 0x7fff, 0xffff, 0x8000 | (inf + 3)});
  std::mt19937 random(7);
  while (more-- > 0) v.push_back(random() & 0xffff);
  return v;
}

inline words all_halves() {
  words v(65536);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = i;
  return v;
}

// Applies an instruction on halves to rows of operands: once as it is, and once as a pair whose upper half
// has the operands in the reverse order of rows. `text` has `@` in the place of the type. Returns the results
// of the scalar form.
inline words apply_halves(std::string text, const half_type& t, const std::vector<words>& columns) {
  const auto with = [&](const std::string& type) {
    std::string result = text;
    result.replace(result.find('@'), 1, type);
    return result;
  };
  const std::size_t rows = columns[0].size();
  std::vector<words> pairs = columns;
  for (words& column : pairs) {
    const words alone = column;
    for (std::size_t i = 0; i < rows; ++i) column[i] = alone[i] | alone[rows - 1 - i] << 16;
  }
  const std::vector<std::string> half_registers(columns.size(), "b16"), pair_registers(columns.size(), "b32");
  const words one = apply(with(t.name), "b16", half_registers, columns);
  const words both = apply(with(t.name + "x2"), "b32", pair_registers, pairs);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t want = one[i] | one[rows - 1 - i] << 16;
    if (both[i] != want) {
      INFO(with(t.name + "x2") << ", row " << i);
      CHECK(both[i] == want);
    }
  }
  return one;
}

// Compares an instruction on halves with a model of one row.
template <class Model>
void check_halves(const std::string& text, const half_type& t, const std::vector<words>& columns,
                  Model&& model) {
  const words have = apply_halves(text, t, columns);
  for (std::size_t row = 0; row < have.size(); ++row) {
    words operands;
    for (const words& c : columns) operands.push_back(c[row]);
    const std::uint64_t want = model(operands);
    if (have[row] != want) {
      INFO(text << " of " << t.name << " " << std::hex << operands[0] << " "
                << (operands.size() > 1 ? operands[1] : 0) << " " << (operands.size() > 2 ? operands[2] : 0));
      CHECK(have[row] == want);
    }
  }
  SUCCEED(text);
}

}  // namespace emulator_test
