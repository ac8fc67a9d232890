#include "weights/scheme/use.hpp"

#include <algorithm>
#include <bit>

#include "host/printable.hpp"
#include "runtime/base/text.hpp"
#include "weights/scheme/derive.hpp"

namespace kaio::weights {
namespace {

using runtime::text;

constexpr std::string_view packed_w4 = "matmul_w4 after repack", packed_w8 = "matmul_w8 after repack",
                           as_matrix = "matmul after dequantise";
constexpr std::uint64_t tile = 64;

std::string_view format_of(const quantised_layer& layer, weight_part part) {
  const tensor_entry* const t = find(layer, part);
  return t ? facts(t->format).name : std::string_view{};
}

// Integers in groups, for matmul_w4 and matmul_w8.
layer_use by_groups(const quantised_layer& layer, std::string_view operation, std::uint64_t multiple = 16) {
  if (layer.group == layer.k || layer.group % multiple == 0) return {operation, {}};
  return {{}, text("its groups are of ", layer.group, " codes, and repack takes multiples of ", multiple)};
}

// torchao writes zero points of symmetric weights too, all 0.
bool has_zero_points(const quantised_layer& layer) {
  const tensor_entry* const zeros = find(layer, weight_part::zero_points);
  return zeros && (layer.scheme != weight_scheme::torchao_int8 ||
                   std::ranges::any_of(zeros->bytes, [](std::byte b) { return b != std::byte{0}; }));
}

// dequantise takes blocks of powers of two from 8 on.
bool is_blocksize(std::uint64_t size) {
  return size >= 8 && size <= std::uint64_t{1} << 30 && std::has_single_bit(size);
}

layer_use use_of(const quantised_layer& layer) {
  if (!layer.problem.empty()) return {{}, layer.problem};
  if (layer.n == 0 || layer.k == 0) return {{}, "it has no codes"};
  if (const tensor_entry* const factors = find(layer, weight_part::input_factors))
    return {{},
            text("x is multiplied by ", host::printable(factors->name), " first, which no operation does")};
  return scheme_rules()[static_cast<std::size_t>(layer.scheme)].use(layer);
}

}  // namespace

layer_use use_of_words(const quantised_layer& layer) {
  if (layer.bits == 8) return by_groups(layer, packed_w8);
  if (layer.bits < 2 || layer.bits > 4)
    return {{}, text("its codes are of ", layer.bits, " bits, and repack takes 2, 3, 4 and 8")};
  if (format_of(layer, weight_part::scales) == "F32")
    return {{}, "its scales are F32, and repack takes F16 or BF16: round them first"};
  return by_groups(layer, packed_w4);
}

layer_use use_of_awq_gemv_fast(const quantised_layer& layer) {
  if (layer.k % tile != 0 || layer.n % 4 != 0)
    return {{}, "repack takes gemv_fast with K a multiple of 64, and N of 4"};
  if (format_of(layer, weight_part::scales) != format_of(layer, weight_part::zero_points))
    return {{}, "its scales and qzeros are of two types, and repack takes one"};
  return by_groups(layer, packed_w4, 32);
}

layer_use use_of_int8(const quantised_layer& layer) {
  const bool has_zeros = has_zero_points(layer);
  if (layer.group == 0) {
    if (has_zeros) return {{}, "no operation takes blocks of rows and columns with zero points"};
    const bool are_of_128 = layer.block_rows == 128 && layer.block_columns == 128;
    return {are_of_128 ? packed_w8 : as_matrix, {}};
  }
  if (layer.group == layer.k && !has_zeros) return {"matmul_int8", {}};
  layer_use use = by_groups(layer, packed_w8);
  if (use.operation.empty() && !has_zeros) return {as_matrix, {}};
  return use;
}

layer_use use_of_llm_int8(const quantised_layer&) { return {packed_w8, {}}; }

// scales                    E4M3 codes                          E5M2 codes
// one, or one a row         matmul_fp8                          matmul_fp8
// groups of 64 n            matmul_w8                           dequantise
// blocks of 128 x 128       F32: matmul_fp8; others: matmul_w8  dequantise
// all others, and any E8M0  dequantise                          dequantise
layer_use use_of_fp8(const quantised_layer& layer) {
  if (is_e8m0(*find(layer, weight_part::scales))) return {as_matrix, {}};
  if (layer.group == layer.k) return {"matmul_fp8", {}};
  if (format_of(layer, weight_part::codes) != "F8_E4M3") return {as_matrix, {}};
  if (layer.group != 0) return {layer.group % tile == 0 ? packed_w8 : as_matrix, {}};
  if (layer.block_rows != 128 || layer.block_columns != 128) return {as_matrix, {}};
  return {format_of(layer, weight_part::scales) == "F32" ? "matmul_fp8" : packed_w8, {}};
}

layer_use use_of_bitsandbytes(const quantised_layer& layer) {
  if (layer.group % tile == 0 && layer.k % layer.group == 0) return {packed_w4, {}};
  if (is_blocksize(layer.group) && (layer.nested_group == 0 || is_blocksize(layer.nested_group)))
    return {as_matrix, {}};
  return {{},
          text("its blocks are of ", layer.group, " codes, and dequantise takes powers of two from 8 on")};
}

layer_use use_of_e2m1(const quantised_layer&) { return {packed_w4, {}}; }

layer_use use_of_tinygemm(const quantised_layer& layer) { return by_groups(layer, packed_w4, 32); }

// W = scale q + zero_point. The words of Int4PlainInt32Tensor have the order of other devices.
layer_use use_of_int4_plain(const quantised_layer& layer) {
  if (format_of(layer, weight_part::codes) == "I32")
    return {{}, "repack takes torchao's int4 of bytes and of tinygemm, and its words are of other devices"};
  const std::string_view scales = format_of(layer, weight_part::scales);
  if (scales == "F32" || scales != format_of(layer, weight_part::zero_points))
    return {{}, "repack takes scale and zero_point of F16, or of BF16"};
  if (layer.k % 8 != 0) return {{}, "repack takes words of eight codes, and K is no multiple of 8"};
  return by_groups(layer, packed_w4, 32);
}

layer_use use_of_mx(const quantised_layer& layer) {
  if (layer.bits != 4) return {as_matrix, {}};
  if (layer.group == 32) return {packed_w4, {}};
  return {{}, text("its groups are of ", layer.group, " codes, and repack takes 32")};
}

std::string_view operation_of(const quantised_layer& layer) { return use_of(layer).operation; }
std::string obstacle_of(const quantised_layer& layer) { return use_of(layer).obstacle; }

}  // namespace kaio::weights
