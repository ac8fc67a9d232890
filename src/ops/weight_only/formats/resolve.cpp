#include "ops/weight_only/formats/resolve.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "ops/weight_only/formats/check.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::string_view operation = "dequantise";

std::int64_t parts_of(std::int64_t whole, std::int64_t part) { return whole / part + (whole % part != 0); }

// The binary logarithm of a blocksize.
u32 log2_of(std::string_view name, std::int64_t size) {
  if (size < 8 || size > (std::int64_t{1} << 30) || !std::has_single_bit(static_cast<std::uint64_t>(size)))
    refuse_format(operation,
                  std::string(name) + " is " + std::to_string(size) + "; a power of two from 8 on is needed");
  return static_cast<u32>(std::countr_zero(static_cast<std::uint64_t>(size)));
}

void check_flat_scales(const validation& check, const code_source& source, std::int64_t elements,
                       code_problem& p) {
  p.flat_log2 = log2_of("blocksize", source.blocksize);
  check_line(operation, source.scales_name, source.scales);
  const std::int64_t blocks = parts_of(elements, source.blocksize);
  check.extent(source.scales_name, source.scales, 0, blocks, "the blocks of out");
  if (source.nested == nullptr) return;
  const bnb_nested& nested = *source.nested;
  p.nested_log2 = log2_of("nested.blocksize", nested.blocksize);
  check.input("nested.nested_absmax", nested.nested_absmax);
  check_line(operation, "nested.nested_absmax", nested.nested_absmax);
  check.extent("nested.nested_absmax", nested.nested_absmax, 0, parts_of(blocks, nested.blocksize),
               "the blocks of nested.absmax");
  check.input("nested.nested_quant_map", nested.nested_quant_map);
  check_line(operation, "nested.nested_quant_map", nested.nested_quant_map);
  check.extent("nested.nested_quant_map", nested.nested_quant_map, 0, 256, "the codes of eight bits");
  p.nested_scales = nested.nested_absmax.address();
  p.nested_map = nested.nested_quant_map.address();
  p.nested_offset = nested.offset;
}

// Rows or columns that share a scale, from the extent of the scales.
u32 group_of(const validation& check, const code_source& source, std::size_t dimension, std::int64_t extent,
             std::int64_t block) {
  const std::string member = dimension == 0 ? "block_rows" : "block_columns";
  if (block <= 0 || block > std::numeric_limits<std::int32_t>::max())
    refuse_format(operation, member + " is " + std::to_string(block) + "; 1 to 2^31 - 1 are possible");
  const std::int64_t scales = source.scales.extents[dimension];
  if (!source.exact_blocks) {
    if (scales == 1) return static_cast<u32>(std::max<std::int64_t>(extent, 1));
    if (dimension == 0 && scales == extent) return 1;
  }
  check.extent(source.scales_name, source.scales, dimension, parts_of(extent, block),
               "the blocks of " + std::to_string(block) + " of out" +
                   (source.exact_blocks ? std::string() : ", as " + member + " has them"));
  return static_cast<u32>(block);
}

}  // namespace

code_problem resolve_codes(const void* device, const code_source& source, const any_view& out) {
  const validation check(operation, device);
  code_problem p{};
  check.input(source.codes_name, source.codes);
  check.input(source.scales_name, source.scales);
  check.output("out", out);
  check_matrix(operation, "out", out);
  std::int64_t n = out.extents[0], k = out.extents[1];
  const bool is_nibbles = source.codes_kind <= code_kind::nibbles_high_first;
  const bool is_flat = source.blocksize != 0;
  p.group_rows = p.group_columns = divisor::of(1);
  u32 group_columns = 8;
  if (is_flat) {
    check_line(operation, source.codes_name, source.codes);
    check.extent(source.codes_name, source.codes, 0, parts_of(n * k, 2), "half the elements of out");
    check_flat_scales(check, source, n * k, p);
    p.codes_row = k;
  } else {
    check_matrix(operation, source.codes_name, source.codes);
    const std::int64_t in_a_byte = is_nibbles ? 2 : 1;
    if (k % (source.exact_blocks ? source.block_columns : 1) != 0)
      refuse_format(operation, "argument out has rows of " + std::to_string(k) +
                                   " elements, and blocks have " + std::to_string(source.block_columns));
    check.extent(source.codes_name, source.codes, 0, n, "the rows of out");
    check.extent(source.codes_name, source.codes, 1, k / in_a_byte,
                 is_nibbles ? "half the columns of out" : "the columns of out");
    p.codes_row = source.codes.strides[0] * in_a_byte;
    p.group_rows = divisor::of(group_of(check, source, 0, n, source.block_rows));
    group_columns = group_of(check, source, 1, k, source.block_columns);
    p.group_columns = divisor::of(group_columns);
    p.scales_row = source.scales.strides[0];
    p.scales_column = source.scales.strides[1];
  }
  if (source.global.exists()) {
    check.input("global", source.global);
    check.extent("global", source.global, 0, 1, "one number");
    check.apart("out", out, "global", source.global);
    p.factor = source.global.address;
  }
  check.apart("out", out, source.codes_name, source.codes);
  check.apart("out", out, source.scales_name, source.scales);
  if (n == 0 || k == 0) return p;
  p.out_row = out.strides[0];
  // Rows without gaps count as one row, so that an eight may span two of them.
  if (is_flat && (n == 1 || p.out_row == k) && n * k <= std::numeric_limits<std::int32_t>::max() - 8) {
    k *= n;
    n = 1;
  }
  const std::uint64_t begins_at = is_nibbles ? 4 : 8;
  const bool is_aligned = source.codes.address % begins_at == 0 && (n == 1 || p.codes_row % 8 == 0) &&
                          out.address % 16 == 0 &&
                          (n == 1 || static_cast<std::uint64_t>(p.out_row) * out.element_bytes() % 16 == 0);
  const bool has_one_scale = group_columns % 8 == 0 || group_columns >= k;
  p.codes = source.codes.address;
  p.codes_kind = source.codes_kind;
  p.columns = static_cast<u32>(k);
  if (source.table != nullptr) std::copy_n(source.table, 16, p.table);
  p.scales = source.scales.address;
  p.scales_kind = source.scales_kind;
  p.after = source.after;
  p.constant = source.constant;
  p.out = out.address;
  p.type = element_type_of(out.type);
  const std::int64_t row = (k + 7) / 8;
  p.eights = static_cast<u32>(n * row);
  p.row_eights = divisor::of(static_cast<u32>(row));
  p.whole = is_aligned && has_one_scale ? 1 : 0;
  return p;
}

}  // namespace kaio::ops::detail
