// Values of any decoded format: whole blocks, or a part of the first and the last one.

#include <kaio/weights/read_values.hpp>

#include <kaio/dsl/number/float8.hpp>

#include <algorithm>
#include <bit>
#include <limits>

#include "runtime/base/text.hpp"
#include "weights/base/byte_reader.hpp"
#include "weights/base/failure.hpp"
#include "weights/format/decode.hpp"

namespace kaio::weights {
namespace {

template <class T>
void number(const std::byte* block, float* values) {
  *values = static_cast<float>(load<T>(block));
}

void half(const std::byte* block, float* values) {
  *values = static_cast<float>(f16::from_bits(load<std::uint16_t>(block)));
}
void bfloat(const std::byte* block, float* values) {
  *values = static_cast<float>(bf16::from_bits(load<std::uint16_t>(block)));
}
void four_three(const std::byte* block, float* values) {
  *values = static_cast<float>(e4m3::from_bits(load<std::uint8_t>(block)));
}
void five_two(const std::byte* block, float* values) {
  *values = static_cast<float>(e5m2::from_bits(load<std::uint8_t>(block)));
}
// 2^(b - 127), and 255 is NaN.
void power_of_two(const std::byte* block, float* values) {
  const std::uint32_t b = load<std::uint8_t>(block);
  *values = std::bit_cast<float>(b == 255 ? 0x7fc00000u : b == 0 ? 0x00400000u : b << 23);
}
constexpr float e2m1_values[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
// Neighbours, the even one in the low half.
void two_e2m1(const std::byte* block, float* values) {
  const unsigned pair = load<std::uint8_t>(block);
  values[0] = e2m1_values[pair & 15];
  values[1] = e2m1_values[pair >> 4];
}

block_decoder number_decoder(weight_format format) noexcept {
  switch (format) {
    case weight_format::f64: return number<double>;
    case weight_format::f32: return number<float>;
    case weight_format::f16: return half;
    case weight_format::bf16: return bfloat;
    case weight_format::e4m3: return four_three;
    case weight_format::e5m2: return five_two;
    case weight_format::e8m0: return power_of_two;
    case weight_format::f4_e2m1: return two_e2m1;
    case weight_format::i64: return number<std::int64_t>;
    case weight_format::i32: return number<std::int32_t>;
    case weight_format::i16: return number<std::int16_t>;
    case weight_format::i8: return number<std::int8_t>;
    case weight_format::u64: return number<std::uint64_t>;
    case weight_format::u32: return number<std::uint32_t>;
    case weight_format::u16: return number<std::uint16_t>;
    case weight_format::boolean:
    case weight_format::u8: return number<std::uint8_t>;
    default: return nullptr;
  }
}

}  // namespace

block_decoder decoder_of(weight_format format) noexcept {
  if (const block_decoder found = number_decoder(format)) return found;
  if (const block_decoder found = short_block_decoder(format)) return found;
  if (const block_decoder found = long_block_decoder(format)) return found;
  return grid_block_decoder(format);
}

void read_values(const tensor_entry& tensor, std::span<float> to, std::uint64_t first) {
  const format_facts& f = facts(tensor.format);
  const block_decoder decode = decoder_of(tensor.format);
  if (!decode)
    fail_unsupported(tensor.file, tensor.name,
                     runtime::text("is of format ", f.name, ", whose values kaio does not decode"));
  if (first > tensor.elements || to.size() > tensor.elements - first)
    throw invalid_argument(runtime::text("kaio: tensor '", tensor.name, "' of '", tensor.file, "' has ",
                                         tensor.elements, " elements; elements ", first, " and ", to.size(),
                                         " more were asked for"));
  if (to.empty()) return;
  const std::byte* block = tensor.bytes.data() + first / f.block_elements * f.block_bytes;
  std::size_t skipped = static_cast<std::size_t>(first % f.block_elements);
  float* out = to.data();
  for (std::size_t left = to.size(); left > 0; block += f.block_bytes, skipped = 0) {
    const std::size_t count = std::min<std::size_t>(f.block_elements - skipped, left);
    if (count == f.block_elements) {
      decode(block, out);
    } else {
      float values[longest_block];
      decode(block, values);
      std::copy_n(values + skipped, count, out);
    }
    out += count;
    left -= count;
  }
}

std::vector<float> read_values(const tensor_entry& tensor) {
  if (tensor.elements > std::numeric_limits<std::size_t>::max() / sizeof(float) / 2)
    throw out_of_memory(runtime::text("kaio: the ", tensor.elements, " values of tensor '", tensor.name,
                                      "' of '", tensor.file,
                                      "' do not fit into the address space; read a part of them"));
  std::vector<float> values(static_cast<std::size_t>(tensor.elements));
  read_values(tensor, values);
  return values;
}

}  // namespace kaio::weights
