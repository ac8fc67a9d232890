// The bytes of a layer's tensors as repack takes them, if the file has another type or order.

#include <kaio/runtime/error.hpp>

#include <cstring>

#include "host/printable.hpp"
#include "runtime/base/text.hpp"
#include "weights/base/byte_reader.hpp"
#include "weights/scheme/derive.hpp"

namespace kaio::weights {
namespace {

using runtime::text;
using std::uint64_t;

[[noreturn]] void fail(std::string_view function, const quantised_layer& layer, std::string_view what) {
  throw invalid_argument(text("kaio: ", function, " of ", host::printable(layer.name), ": ", what));
}

// Narrows the numbers of an index from 64 to 32 bits. They fit: they are groups, or all 0 or -1.
std::vector<std::byte> narrowed(const tensor_entry& index) {
  std::vector<std::byte> numbers(static_cast<std::size_t>(4 * index.elements));
  for (std::size_t i = 0; i < index.elements; ++i) {
    const auto number = static_cast<std::int32_t>(load<std::int64_t>(index.bytes.data() + 8 * i));
    std::memcpy(numbers.data() + 4 * i, &number, 4);
  }
  return numbers;
}

// Packs signed zero points {N, G}, a byte each, as codes of `bits`: zero point + 2^(bits - 1). The words are
// {ceil(N bits / 32), G}; row n of a column begins at bit n * bits.
std::vector<std::byte> packed(const tensor_entry& zeros, unsigned bits) {
  const uint64_t rows = zeros.shape[0], groups = zeros.shape[1];
  std::vector<std::uint32_t> words(static_cast<std::size_t>(ratio_up(rows * bits, 32) * groups));
  for (uint64_t n = 0; n < rows; ++n)
    for (uint64_t g = 0; g < groups; ++g) {
      const int zero = static_cast<std::int8_t>(zeros.bytes[static_cast<std::size_t>(n * groups + g)]);
      const auto code = static_cast<uint64_t>(zero + (1 << (bits - 1))) << n * bits % 32;
      const auto word = static_cast<std::size_t>(n * bits / 32 * groups + g);
      words[word] |= static_cast<std::uint32_t>(code);
      if (code >> 32 != 0)
        words[word + static_cast<std::size_t>(groups)] |= static_cast<std::uint32_t>(code >> 32);
    }
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::vector<std::byte> part_bytes(const quantised_layer& layer, weight_part part) {
  if (!layer.problem.empty()) fail("part_bytes", layer, layer.problem);
  const tensor_entry* const t = find(layer, part);
  if (!t) return {};
  if (part == weight_part::scales && layer.swizzled) return unswizzled(layer);
  if (part == weight_part::group_index && t->format == weight_format::i64) return narrowed(*t);
  if (part == weight_part::zero_points && layer.scheme == weight_scheme::packed_int &&
      t->format == weight_format::i8)
    return packed(*t, layer.bits);
  return {t->bytes.begin(), t->bytes.end()};
}

std::vector<std::byte> scales_in_rows(const quantised_layer& layer) {
  if (!layer.problem.empty()) fail("scales_in_rows", layer, layer.problem);
  const tensor_entry* const scales = find(layer, weight_part::scales);
  if (!scales || layer.group == 0 || facts(scales->format).block_bytes != 1)
    fail("scales_in_rows", layer,
         "its scales are not of one byte for each group along K; take them as the file has them");
  return part_bytes(layer, weight_part::scales);
}

}  // namespace kaio::weights
