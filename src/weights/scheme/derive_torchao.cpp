// Shapes of the tensors of torchao's layers. Its block_size divides both extents of a weight, so the number of scales
// determines groups and blocks.

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <utility>

#include "host/printable.hpp"
#include "runtime/base/text.hpp"
#include "weights/base/checks.hpp"
#include "weights/scheme/derive.hpp"

namespace kaio::weights {
namespace {

using runtime::text;
using std::uint64_t;

// K / groups if that is whole, else 0.
uint64_t group_of(uint64_t k, uint64_t groups) { return groups != 0 && k % groups == 0 ? k / groups : 0; }

// cuBLASLt's blocks of scales: 128 rows x 4 columns, 512 bytes.
constexpr uint64_t swizzle_rows = 128, swizzle_columns = 4, swizzle_bytes = 512;

// As torchao has them: {32 ceil(N / 128), 16 ceil(columns / 4)}.
bool are_swizzled(const tensor_entry& scales, uint64_t n, uint64_t columns) {
  const auto rows = product(ratio_up(n, swizzle_rows), 32),
             row = product(ratio_up(columns, swizzle_columns), 16);
  return rows && row && is(scales, {*rows, *row});
}

// The offset of scale (row, column).
uint64_t swizzled_offset(uint64_t row, uint64_t column, uint64_t columns) {
  return swizzle_bytes *
             (row / swizzle_rows * ratio_up(columns, swizzle_columns) + column / swizzle_columns) +
         16 * (row % 32) + 4 * (row % swizzle_rows / 32) + column % swizzle_columns;
}

// Scales of pairs or bytes in groups of `group` along K, row after row or swizzled.
bool set_scales(quantised_layer& layer, const tensor_entry& scales, uint64_t group) {
  layer.group = group;
  if (layer.k % group != 0)
    return contradicts(layer, text("K is no multiple of the ", group, " codes of a scale"));
  layer.swizzled = are_swizzled(scales, layer.n, layer.k / group);
  return layer.swizzled || is(scales, {layer.n, layer.k / group}) ||
         contradicts(layer, "the scales are not one for each group of a row");
}

// qdata {N, K / 2} or {N, K}. False: it has a problem.
bool set_extents(quantised_layer& layer, const tensor_entry& codes) {
  const unsigned codes_of_a_byte = codes.format == weight_format::u8 ? 2 : 1;
  const auto k = codes.shape.size() == 2 ? product(codes.shape[1], codes_of_a_byte) : std::nullopt;
  if (!k) return !contradicts(layer, "qdata is not of 2 dimensions");
  layer.n = codes.shape[0];
  layer.k = *k;
  layer.bits = 8 / codes_of_a_byte;
  return true;
}

}  // namespace

// codes {N, K}, scales {N / rows of a block, K / its columns}, or one; zero points as scales
bool derive_torchao_bytes(quantised_layer& layer, const quantisation_config*) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  const tensor_entry* const zeros = find(layer, weight_part::zero_points);
  if (!set_extents(layer, codes)) return true;
  const bool is_matrix = scales.shape.size() == 2;
  if (!is_matrix && scales.elements != 1) return contradicts(layer, "the scales are not of 2 dimensions");
  const uint64_t rows = is_matrix ? scales.shape[0] : 1, columns = is_matrix ? scales.shape[1] : 1;
  if (group_of(layer.n, rows) == 0 || group_of(layer.k, columns) == 0)
    return contradicts(layer, "the scales do not divide the weight into blocks");
  if (rows == layer.n || scales.elements == 1) {
    layer.group = layer.k / columns;
  } else {
    layer.block_rows = layer.n / rows;
    layer.block_columns = layer.k / columns;
  }
  return !zeros || zeros->shape == scales.shape ||
         contradicts(layer, "zero_point is not of the shape of scale");
}

// codes {N / 8, K / (16 I), 32, I / 2}, scales and zeros {K / group, N, 2}; N and K as they were packed
bool derive_torchao_tinygemm(quantised_layer& layer, const quantisation_config*) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  if (codes.shape.size() != 4 || codes.shape[2] != 32 ||
      (codes.shape[3] != 1 && codes.shape[3] != 2 && codes.shape[3] != 4))
    return contradicts(layer, "qdata is not of 4 dimensions, the last ones 32 and 1, 2 or 4");
  const auto n = product(codes.shape[0], 8), k = product(codes.shape[1], 32 * codes.shape[3]);
  if (!n || !k || scales.shape.size() != 3 || scales.shape[1] != *n || scales.shape[2] != 2)
    return contradicts(layer, "scale_and_zero is not of {groups, N, 2}");
  layer.n = *n;
  layer.k = *k;
  layer.bits = 4;
  layer.group = group_of(layer.k, scales.shape[0]);
  return layer.group != 0 || contradicts(layer, "the groups of scale_and_zero do not divide K");
}

// codes of bytes {N, K / 2} or of words {N, K / 8}, scales and zero points {K / group, N}
bool derive_torchao_int4_plain(quantised_layer& layer, const quantisation_config*) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  const auto k = codes.shape.size() == 2 ? product(codes.shape[1], codes.format == weight_format::i32 ? 8 : 2)
                                         : std::nullopt;
  if (!k) return contradicts(layer, "qdata is not of 2 dimensions");
  layer.n = codes.shape[0];
  layer.k = *k;
  layer.bits = 4;
  if (scales.shape.size() != 2 || scales.shape[1] != layer.n || group_of(layer.k, scales.shape[0]) == 0)
    return contradicts(layer, "scale is not of {groups, N}, with groups that divide K");
  layer.group = group_of(layer.k, scales.shape[0]);
  return find(layer, weight_part::zero_points)->shape == scales.shape ||
         contradicts(layer, "zero_point is not of the shape of scale");
}

// codes {N, K / 2}, scales {N, K / 16}, or swizzled
bool derive_torchao_nvfp4(quantised_layer& layer, const quantisation_config*) {
  if (!set_extents(layer, *find(layer, weight_part::codes))) return true;
  const tensor_entry* const global = find(layer, weight_part::global_scale);
  if (global && global->elements != 1) return contradicts(layer, "per_tensor_scale is not one number");
  return set_scales(layer, *find(layer, weight_part::scales), 16);
}

// codes {N, K / 2} or {N, K}, scales {N, K / group}, or swizzled, of groups of 32
bool derive_torchao_mx(quantised_layer& layer, const quantisation_config*) {
  if (!set_extents(layer, *find(layer, weight_part::codes))) return true;
  const tensor_entry& scales = *find(layer, weight_part::scales);
  const bool of_32 = layer.k % 32 == 0 && are_swizzled(scales, layer.n, layer.k / 32);
  const uint64_t group = of_32 || scales.shape.size() != 2 ? 32 : group_of(layer.k, scales.shape[1]);
  return set_scales(layer, scales, group != 0 ? group : 32);
}

std::vector<std::byte> unswizzled(const quantised_layer& layer) {
  const tensor_entry& scales = *find(layer, weight_part::scales);
  const uint64_t columns = ratio_up(layer.k, layer.group);
  std::vector<std::byte> in_rows(static_cast<std::size_t>(layer.n * columns));
  for (uint64_t row = 0; row < layer.n; ++row)
    for (uint64_t column = 0; column < columns; ++column)
      in_rows[static_cast<std::size_t>(row * columns + column)] =
          scales.bytes[static_cast<std::size_t>(swizzled_offset(row, column, columns))];
  return in_rows;
}

}  // namespace kaio::weights
