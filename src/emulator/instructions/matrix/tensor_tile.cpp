#include "emulator/instructions/matrix/tensor_tile.hpp"

#include "emulator/instructions/matrix/tile_sums.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace kaio::emulator {
namespace {

// The products of two operands and their alignment stay within f32 up to this range of exponents: 2^-100 and 20
// bits for two significands below 1 are above the least normal number.
constexpr s32 greatest_range = 100;

// The f16 of all 8-bit numbers of a format.
const u16* halves_of(tensor_format format) {
  static const auto tables = [] {
    std::array<std::array<u16, 256>, 2> result{};
    for (u32 code = 0; code < 256; ++code) {
      result[0][code] = static_cast<u16>(f16_of_e4m3(code));
      result[1][code] = static_cast<u16>(code << 8);
    }
    return result;
  }();
  return tables[format == tensor_format::e4m3 ? 0 : 1].data();
}

// Elements of type T become codes, `stride` apart.
template <class T>
void widen(const u8* bytes, u32 count, u32 flipped, u32* to, u32 stride) {
  for (u32 k = 0; k < count; ++k) {
    T code;
    std::memcpy(&code, bytes + k * sizeof code, sizeof code);
    to[k * stride] = code ^ flipped;
  }
}

}  // namespace

void tile_operand::reset(const tensor_model& model, tensor_format format, u32 outer, u32 depth) {
  format_ = format;
  halves_ = model.through_f16 ? halves_of(format) : nullptr;
  depth_ = depth;
  lanes_ = shape_ == tile_shape::wide ? (outer + tile_lanes - 1) / tile_lanes * tile_lanes : outer;
  codes_.assign((std::size_t{lanes_} * depth + tile_lanes - 1) / tile_lanes * tile_lanes, 0);
}

void tile_operand::set_row(u32 outer, const u8* bytes, u32 flipped) {
  if (halves_ != nullptr) {
    for (u32 k = 0; k < depth_; ++k) set(outer, k, bytes[k] ^ flipped);
    return;
  }
  u32* const to = codes_.data() + place(outer, 0);
  const u32 stride = shape_ == tile_shape::narrow ? 1 : tile_lanes;
  switch (format_) {
    case tensor_format::f16:
    case tensor_format::bf16: widen<u16>(bytes, depth_, flipped, to, stride); break;
    case tensor_format::tf32: widen<u32>(bytes, depth_, flipped, to, stride); break;
    default: widen<u8>(bytes, depth_, flipped, to, stride); break;
  }
}

bool tile_operand::complete() {
  const std::size_t count = codes_.size();
  exponent_.resize(count);
  value_.resize(count);
  const tensor_format format = halves_ != nullptr ? tensor_format::f16 : format_;
  constexpr s32 fraction_bits[] = {10, 7, 10, 3, 2};  // in the order of tensor_format
  const exponent_range range = split_elements(format, codes_.data(), count, exponent_.data(), value_.data());
  if (range.special != 0) return false;
  const bool some = range.greatest >= range.least;
  greatest_ = some ? range.greatest : 0;
  least_ = some ? range.least : 0;
  if (greatest_ - least_ > greatest_range) return true;  // can_multiply refuses it
  scale_values(value_.data(), exponent_.data(), count,
               greatest_ + fraction_bits[static_cast<std::size_t>(format)]);
  return true;
}

bool can_multiply(const tile_operand& narrow, const tile_operand& wide) {
  return narrow.greatest_ - narrow.least_ + wide.greatest_ - wide.least_ <= greatest_range;
}

void multiply_tiles(const tensor_model& model, const tile_operand& narrow, const tile_operand& wide,
                    std::span<const u8> chosen, std::span<u32> d) {
  tile_sums sums;
  sums.rows = narrow.lanes_;
  sums.blocks = wide.lanes_ / tile_lanes;
  sums.depth = narrow.depth_;
  sums.wide_depth = wide.depth_;
  sums.value_a = narrow.value_.data();
  sums.exponent_a = narrow.exponent_.data();
  sums.value_b = wide.value_.data();
  sums.exponent_b = wide.exponent_.data();
  sums.fraction_bits = model.fraction_bits;
  sums.least_exponent = model.least_exponent;
  sums.result_bits = model.result_bits;
  sums.greatest = narrow.greatest_ + wide.greatest_;
  sums.d = d.data();
  sums.restarts = model.through_f16;
  // Through f16 there are two instructions with half of the elements each.
  const u32 count = std::min(model.group, model.through_f16 ? narrow.depth_ / 2 : narrow.depth_);
  // Dense: element k of a row meets element k of a lane.
  static constexpr std::array<u32, 64> in_order = [] {
    std::array<u32, 64> result{};
    for (u32 k = 0; k < result.size(); ++k) result[k] = k;
    return result;
  }();
  std::vector<u32> places(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const u32 k = static_cast<u32>(i % narrow.depth_);
    places[i - k + narrow.position(k)] = wide.position(chosen[i]);
  }
  sums.places = chosen.empty() ? in_order.data() : places.data();
  sums.places_stride = chosen.empty() ? 0 : narrow.depth_;
  sum_tile(sums, count);
}

}  // namespace kaio::emulator
