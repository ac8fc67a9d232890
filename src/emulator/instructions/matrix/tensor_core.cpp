#include "emulator/instructions/matrix/tensor_core.hpp"

#include "emulator/program/floating.hpp"
#include "emulator/program/half.hpp"

#include <algorithm>
#include <bit>

namespace kaio::emulator {
namespace {

// Kinds of numbers; the kinds of a row are or-ed together.
constexpr u8 infinite = 1, not_a_number = 2;

// The exponent of a zero. A sum of two still fits, and is below the exponent of every product.
constexpr s16 exponent_of_zero = -8000;

struct layout_of_format {
  u32 exponent_bits, fraction_bits;
  bool has_infinity;
};

// In the order of tensor_format.
constexpr layout_of_format layouts[] = {
    {5, 10, true}, {8, 7, true}, {8, 10, true}, {4, 3, false}, {5, 2, true}};

constexpr const layout_of_format& layout_of(tensor_format format) {
  return layouts[static_cast<std::size_t>(format)];
}

struct parts {
  s16 exponent;
  s16 significand;
  u8 kind;
};

// Subnormal numbers have the exponent of the least normal one and a significand below 1.
[[gnu::always_inline]] inline parts take_apart(const layout_of_format& l, u32 bits) {
  const u32 fraction = bits & ((1u << l.fraction_bits) - 1);
  const u32 top = (1u << l.exponent_bits) - 1;
  const u32 stored = bits >> l.fraction_bits & top;
  const s32 bias = static_cast<s32>(top >> 1);
  const s32 sign = (bits >> (l.fraction_bits + l.exponent_bits) & 1) != 0 ? -1 : 1;
  if (l.has_infinity && stored == top)
    return {exponent_of_zero, static_cast<s16>(sign), fraction != 0 ? not_a_number : infinite};
  if (!l.has_infinity && stored == top && fraction == (1u << l.fraction_bits) - 1)
    return {exponent_of_zero, 0, not_a_number};
  if (stored == 0 && fraction == 0) return {exponent_of_zero, 0, 0};
  const s32 significand = static_cast<s32>(stored == 0 ? fraction : fraction | 1u << l.fraction_bits);
  return {static_cast<s16>(std::max<s32>(static_cast<s32>(stored), 1) - bias),
          static_cast<s16>(sign * significand), 0};
}

// A layout that is known to the compiler halves the time.
parts take_apart(tensor_format format, u32 bits) {
  switch (format) {
    case tensor_format::f16: return take_apart(layout_of(tensor_format::f16), bits);
    case tensor_format::bf16: return take_apart(layout_of(tensor_format::bf16), bits);
    case tensor_format::tf32: return take_apart(layout_of(tensor_format::tf32), bits);
    case tensor_format::e4m3: return take_apart(layout_of(tensor_format::e4m3), bits);
    case tensor_format::e5m2: break;
  }
  return take_apart(layout_of(tensor_format::e5m2), bits);
}

// A summand, or the result: `significand` times 2^(exponent - fraction_bits).
struct addend {
  s32 exponent;
  s32 fraction_bits;
  u32 significand;
  bool negative;
  u8 kind;
};

struct f32_accumulator {
  using bits = u32;
  static constexpr u32 nan = 0x7fffffff, infinity = 0x7f800000, sign = 0x80000000;
  static addend take_apart(u32 c) {
    const u32 stored = c >> 23 & 0xff, fraction = c & 0x7fffff;
    const bool negative = (c & sign) != 0;
    if (stored == 0xff) return {0, 23, 0, negative, fraction != 0 ? not_a_number : infinite};
    return {std::max<s32>(static_cast<s32>(stored), 1) - 127, 23,
            stored == 0 ? fraction : fraction | 1u << 23, negative, 0};
  }
  // Rounds toward zero; a sum that is too great becomes infinite.
  static u32 round(u64 sum, s32 last, bool negative, u32 result_bits) {
    if (sum == 0) return 0;
    const s32 width = static_cast<s32>(std::bit_width(sum));
    const s32 exponent = last + width - 1;
    const u32 signed_zero = negative ? sign : 0;
    if (exponent > 127) return signed_zero | infinity;
    // In units of the last place of an f32 with this exponent.
    const s32 down = std::max(exponent, -126) - 23 - last;
    const u64 units = down >= 64 ? 0 : down > 0 ? sum >> down : sum << -down;
    const u32 kept = static_cast<u32>(units) & ~((1u << (23 - result_bits)) - 1);
    const u32 binade = exponent >= -126 ? static_cast<u32>(exponent + 126) << 23 : 0;
    return binade + kept == 0 ? 0 : signed_zero | (binade + kept);  // a sum truncated to zero is +0
  }
  static u32 add(u32 a, u32 b) {
    return std::bit_cast<u32>(canonical(std::bit_cast<f32>(a) + std::bit_cast<f32>(b)));
  }
};

struct f16_accumulator {
  using bits = u16;
  static constexpr u16 nan = 0x7fff, infinity = 0x7c00, sign = 0x8000;
  static addend take_apart(u16 c) {
    const u32 stored = c >> 10 & 0x1f, fraction = c & 0x3ff;
    const bool negative = (c & sign) != 0;
    if (stored == 0x1f) return {0, 10, 0, negative, fraction != 0 ? not_a_number : infinite};
    return {std::max<s32>(static_cast<s32>(stored), 1) - 15, 10, stored == 0 ? fraction : fraction | 1u << 10,
            negative, 0};
  }
  // Rounds to nearest, ties to even.
  static u16 round(u64 sum, s32 last, bool negative, u32) {
    if (sum == 0) return 0;
    const s32 width = static_cast<s32>(std::bit_width(sum));
    const s32 exponent = last + width - 1;
    const u32 signed_zero = negative ? sign : 0;
    if (exponent > 15) return static_cast<u16>(signed_zero | infinity);
    const s32 down = std::max(exponent, -14) - 10 - last;
    u64 units = 0;
    if (down <= 0) {
      units = sum << -down;
    } else if (down < 64) {
      const u64 half = u64{1} << (down - 1), rest = sum & (half * 2 - 1);
      units = sum >> down;
      if (rest > half || (rest == half && (units & 1) != 0)) ++units;
    }
    const u64 binade = exponent >= -14 ? static_cast<u64>(exponent + 14) << 10 : 0;
    return binade + units == 0 ? u16{0} : static_cast<u16>(signed_zero | (binade + units));
  }
  static u16 add(u16 a, u16 b) {
    const f64 sum = value_of(f16{a}) + value_of(f16{b});
    return nearest<f16>(sum).bits;
  }
};

// ---- a group of products ----

struct group_sum {
  s32 greatest;  // the greatest exponent
  s32 total;     // in units of the last kept place
};

// These loops take most of the time of an emulated matrix product. Under clang's sanitizers and fuzzer they have no
// checks, which would make a test three times as slow. So they call no function.
#if defined(__clang__)
#define KAIO_UNCHECKED [[clang::no_sanitize("address", "undefined", "coverage")]]
#else
#define KAIO_UNCHECKED
#endif

// Aligns the products to the greatest exponent, at least `floor`, and adds them. `up`: the shift from the
// last place of a product with the greatest exponent to the sum's. A product has at most 22 bits, the sum of
// the longest group at most 31: 16 * 2047^2 * 2^5 for f16, 16 * 255^2 * 2^11 for bf16.
template <u32 Count>
KAIO_UNCHECKED [[gnu::always_inline]] inline group_sum sum_products(const s16* exponent_a,
                                                                    const s16* exponent_b,
                                                                    const s16* significand_a,
                                                                    const s16* significand_b, s32 up,
                                                                    s32 floor) {
  s16 exponent[Count];
  s16 greatest = static_cast<s16>(floor);
  for (u32 k = 0; k < Count; ++k) {
    exponent[k] = static_cast<s16>(exponent_a[k] + exponent_b[k]);
    greatest = exponent[k] > greatest ? exponent[k] : greatest;
  }
  s32 total = 0;
  for (u32 k = 0; k < Count; ++k) {
    const s32 product = significand_a[k] * significand_b[k];
    const u32 size = static_cast<u32>(product < 0 ? -product : product) << up;
    const s32 below = greatest - exponent[k];
    const s32 down = below < 31 ? below : 31;
    const s32 kept = static_cast<s32>(size >> down);
    total += product < 0 ? -kept : kept;
  }
  return {greatest, total};
}

// Six arguments fit in registers. With a struct of four pointers, each call would wait for a copy on the stack.
using sum_function = group_sum (*)(const s16*, const s16*, const s16*, const s16*, s32 up, s32 floor);

template <u32 Count>
KAIO_UNCHECKED group_sum sum_portable(const s16* exponent_a, const s16* exponent_b, const s16* significand_a,
                                      const s16* significand_b, s32 up, s32 floor) {
  return sum_products<Count>(exponent_a, exponent_b, significand_a, significand_b, up, floor);
}

#if defined(__x86_64__)
template <u32 Count>
KAIO_UNCHECKED [[gnu::target("avx2")]] group_sum sum_avx2(const s16* exponent_a, const s16* exponent_b,
                                                          const s16* significand_a, const s16* significand_b,
                                                          s32 up, s32 floor) {
  return sum_products<Count>(exponent_a, exponent_b, significand_a, significand_b, up, floor);
}
template <u32 Count>
sum_function best_sum() {
  return __builtin_cpu_supports("avx2") ? &sum_avx2<Count> : &sum_portable<Count>;
}
#else
template <u32 Count>
sum_function best_sum() {
  return &sum_portable<Count>;
}
#endif

// For groups of 2, 4, 8, 16 and 32 products.
sum_function sum_of(u32 count) {
  static const sum_function functions[] = {best_sum<2>(), best_sum<4>(), best_sum<8>(), best_sum<16>(),
                                           best_sum<32>()};
  return functions[std::countr_zero(count) - 1];
}

}  // namespace

tensor_model tensor_model_of(u32 sm, tensor_format format, tensor_path path) {
  const bool eight_bits = format == tensor_format::e4m3 || format == tensor_format::e5m2;
  const u32 half = format == tensor_format::tf32 ? 2 : 1;
  if (sm < 75) return {4 / half, 23, -132, 23, false};
  if (sm < 90) {
    if (eight_bits) return {16, 13, -132, 13, false};
    return {8 / half, 24, -132, 23, false};
  }
  if (eight_bits && path == tensor_path::warpgroup) return {32, 13, -133, 13, false};
  return {16 / half, 25, -133, 23, eight_bits};
}

u32 f16_of_e4m3(u32 bits) {
  const u32 sign = (bits & 0x80) << 8, code = bits & 0x7f;
  if (code == 0x7f) return half_nan;
  const parts p = take_apart(tensor_format::e4m3, code);
  return sign | nearest<f16>(std::ldexp(static_cast<f64>(p.significand), p.exponent - 3)).bits;
}

void tensor_operand::reset(const tensor_model& model, tensor_format format, u32 rows, u32 depth) {
  format_ = format;
  through_f16_ = model.through_f16;
  depth_ = depth;
  fraction_bits_ = static_cast<s32>(layout_of(through_f16_ ? tensor_format::f16 : format).fraction_bits);
  const std::size_t count = std::size_t{rows} * depth;
  exponent_.assign(count, exponent_of_zero);
  significand_.assign(count, 0);
  kind_.assign(count, 0);
  row_kinds_.assign(rows, 0);
}

// Through f16, the first two of every four elements come first.
u32 tensor_operand::place(u32 k) const {
  if (!through_f16_) return k;
  return (k >> 1 & 1) * (depth_ / 2) + (k >> 2) * 2 + (k & 1);
}

void tensor_operand::set(u32 row, u32 k, u32 bits) {
  tensor_format format = format_;
  if (format == tensor_format::tf32) bits >>= 13;
  if (through_f16_) {
    bits = format == tensor_format::e4m3 ? f16_of_e4m3(bits) : bits << 8;
    format = tensor_format::f16;
  }
  const parts p = take_apart(format, bits);
  const std::size_t at = std::size_t{row} * depth_ + place(k);
  exponent_[at] = p.exponent;
  significand_[at] = p.significand;
  kind_[at] = p.kind;
  row_kinds_[row] |= p.kind;
}

void tensor_operand::gather(const tensor_operand& from, u32 row, std::span<const u8> chosen) {
  format_ = from.format_;
  through_f16_ = from.through_f16_;
  depth_ = static_cast<u32>(chosen.size());
  fraction_bits_ = from.fraction_bits_;
  exponent_.resize(depth_);
  significand_.resize(depth_);
  kind_.resize(depth_);
  row_kinds_.assign(1, 0);
  const std::size_t start = std::size_t{row} * from.depth_;
  for (u32 k = 0; k < depth_; ++k) {
    const std::size_t at = start + from.place(chosen[k]);
    const u32 to = place(k);
    exponent_[to] = from.exponent_[at];
    significand_[to] = from.significand_[at];
    kind_[to] = from.kind_[at];
    row_kinds_[0] |= from.kind_[at];
  }
}

struct tensor_dot {
  const s16 *exponent_a, *exponent_b, *significand_a, *significand_b;
  const u8 *kind_a, *kind_b;
  u32 depth;
  s32 up;  // shift from a product's last place to the sum's, at the greatest exponent
  bool special;

  tensor_dot(const tensor_model& model, const tensor_operand& a, u32 row, const tensor_operand& b, u32 column)
      : depth(a.depth_), up(model.fraction_bits - a.fraction_bits_ - b.fraction_bits_) {
    const std::size_t start_a = std::size_t{row} * a.depth_, start_b = std::size_t{column} * b.depth_;
    exponent_a = a.exponent_.data() + start_a;
    exponent_b = b.exponent_.data() + start_b;
    significand_a = a.significand_.data() + start_a;
    significand_b = b.significand_.data() + start_b;
    kind_a = a.kind_.data() + start_a;
    kind_b = b.kind_.data() + start_b;
    special = (a.row_kinds_[row] | b.row_kinds_[column]) != 0;
  }

  // Bit 0: a term is +infinity, bit 1: one is -infinity, bit 2: one is NaN.
  u32 specials(u32 first, u32 count, const addend& c) const {
    u32 found = 0;
    const auto add = [&](bool negative) { found |= negative ? 2 : 1; };
    if ((c.kind & not_a_number) != 0) found |= 4;
    if ((c.kind & infinite) != 0) add(c.negative);
    for (u32 k = first; k < first + count; ++k) {
      const u32 kinds = kind_a[k] | kind_b[k];
      if (kinds == 0) continue;
      const s32 product = significand_a[k] * significand_b[k];
      if ((kinds & not_a_number) != 0 || product == 0) found |= 4;
      add(product < 0);
    }
    return found;
  }

  template <class Accumulator>
  typename Accumulator::bits group(const tensor_model& model, sum_function add, u32 first, u32 count,
                                   typename Accumulator::bits bits) const {
    const addend c = Accumulator::take_apart(bits);
    if (special || c.kind != 0) {
      const u32 found = specials(first, count, c);
      if (found > 2) return Accumulator::nan;
      if (found == 1) return Accumulator::infinity;
      if (found == 2)
        return static_cast<typename Accumulator::bits>(Accumulator::sign | Accumulator::infinity);
    }
    const s32 floor = c.significand != 0 ? std::max(model.least_exponent, c.exponent) : model.least_exponent;
    const auto [greatest, sum] =
        add(exponent_a + first, exponent_b + first, significand_a + first, significand_b + first, up, floor);
    s64 total = sum;
    const s32 down = std::clamp(c.fraction_bits + greatest - c.exponent, 0, 63);  // c may be a zero
    const s64 kept = static_cast<s64>((static_cast<u64>(c.significand) << model.fraction_bits) >> down);
    total += c.negative ? -kept : kept;
    const u64 size = total < 0 ? 0 - static_cast<u64>(total) : static_cast<u64>(total);
    return Accumulator::round(size, greatest - model.fraction_bits, total < 0, model.result_bits);
  }

  template <class Accumulator>
  typename Accumulator::bits chain(const tensor_model& model, typename Accumulator::bits c) const {
    typename Accumulator::bits result = model.through_f16 ? typename Accumulator::bits{0} : c;
    // Through f16 there are two instructions with half of the elements each.
    const u32 count = std::min(model.group, model.through_f16 ? depth / 2 : depth);
    const sum_function add = sum_of(count);
    for (u32 k = 0; k < depth; k += count) result = group<Accumulator>(model, add, k, count, result);
    return model.through_f16 ? Accumulator::add(c, result) : result;
  }
};

u32 dot_f32(const tensor_model& model, const tensor_operand& a, u32 row, const tensor_operand& b, u32 column,
            u32 c) {
  return tensor_dot(model, a, row, b, column).chain<f32_accumulator>(model, c);
}

u16 dot_f16(const tensor_model& model, const tensor_operand& a, u32 row, const tensor_operand& b, u32 column,
            u16 c) {
  return tensor_dot(model, a, row, b, column).chain<f16_accumulator>(model, c);
}

}  // namespace kaio::emulator
