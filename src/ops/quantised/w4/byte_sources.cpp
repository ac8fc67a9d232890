// The tensors of files whose weights are bytes, checked, as the kernel of repack takes them.

#include <kaio/runtime/error.hpp>

#include <limits>
#include <string>

#include "ops/quantised/w4/resolve.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::uint32_t one_of(w4_codes codes) { return 1u << static_cast<std::uint32_t>(codes); }

}  // namespace

w4_bytes_arguments arguments_of(const bitsandbytes_w4& source) {
  w4_bytes_arguments result{.codes_name = "weight",
                            .scales_name = "absmax",
                            .factors_name = "",
                            .codes = source.weight.view,
                            .scales = source.absmax,
                            .factors = {},
                            .codes_types = one_of(w4_codes::nf4) | one_of(w4_codes::fp4),
                            .high_first = true};
  if (source.absmax_codes.view.exists()) {
    result.scales_name = "absmax_codes";
    result.scales = source.absmax_codes.view;
    result.nested_table = source.nested_quant_map;
    result.nested_scales = source.nested_absmax;
    result.nested_offset = source.nested_offset;
    result.nested_block = source.nested_blocksize;
  }
  return result;
}

w4_bytes_arguments arguments_of(const mxfp4_w4& source) {
  return {.codes_name = "blocks",
          .scales_name = "scales",
          .factors_name = "",
          .codes = source.blocks.view,
          .scales = source.scales.view,
          .factors = {},
          .codes_types = one_of(w4_codes::e2m1),
          .scales_type = w4_scale_type::e8m0};
}

w4_bytes_arguments arguments_of(const nvfp4_w4& source) {
  return {.codes_name = "weight",
          .scales_name = "scales",
          .factors_name = "tensor_scale",
          .codes = source.weight.view,
          .scales = source.scales.view,
          .factors = source.tensor_scale,
          .codes_types = one_of(w4_codes::e2m1),
          .scales_type = w4_scale_type::e4m3,
          .divides = source.divides};
}

w4_bytes_source resolve_repack_w4(const void* device, const w4_bytes_arguments& source,
                                  const w4_weights& to) {
  constexpr std::string_view operation = "repack";
  const validation check(operation, device);
  w4_bytes_source result{};
  result.w = check_w4_weights(operation, device, to, true);
  const any_view memory = memory_view(to);
  const std::int64_t n = to.shape.n, k = to.shape.k, groups = result.w.groups;
  const auto tensor = [&](std::string_view name, const any_view& v, std::int64_t columns) {
    check.input(name, v);
    check.extent(name, v, 0, n, "n of the weights");
    check.extent(name, v, 1, columns, "what k and the group give");
    check.apart("weights", memory, name, v);
  };
  if ((source.codes_types >> result.w.codes_type & 1) == 0)
    refuse_w4(operation, "the codes of this format are not those that the shape of the weights has");
  tensor(source.codes_name, source.codes, (k + 1) / 2);
  result.codes = source.codes.address;
  result.codes_n = source.codes.strides[0];
  result.codes_block = source.codes.strides[1];
  result.block = divisor::of(1);
  result.bits = 4;
  result.high_first = source.high_first ? 1 : 0;

  if (source.scales_type != to.shape.scales)
    refuse_w4(operation, "argument " + std::string(source.scales_name) +
                             " has scales of another type than the shape of the weights");
  tensor(source.scales_name, source.scales, groups);
  result.scales = source.scales.address;
  result.scales_n = source.scales.strides[0];
  result.scales_group = source.scales.strides[1];
  result.scales_columns = divisor::of(1);
  result.scales_type = static_cast<u32>(source.scales_type);
  result.scale_factor = 1;
  result.nested_block = divisor::of(1);
  result.zeros_block = divisor::of(1);
  if (source.nested_table.exists()) {
    const auto vector = [&](std::string_view name, const any_view& v, std::int64_t size) {
      check.input(name, v);
      check.extent(name, v, 0, size, "what codes and blocks of scales give");
      check.apart("weights", memory, name, v);
      if (v.strides[0] != 1 && size > 1)
        refuse_w4(operation, "argument " + std::string(name) + " has neighbours that are not adjacent");
    };
    const std::int64_t block = source.nested_block;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (block <= 0 || block > most || n * groups > most)
      refuse_w4(operation, "nested scales in blocks of " + std::to_string(block) + ", " +
                               std::to_string(n * groups) + " of them; 1 to 2^31 - 1 are supported");
    if ((source.scales.strides[1] != 1 && groups > 1) || (source.scales.strides[0] != groups && n > 1))
      refuse_w4(operation, "argument absmax_codes has gaps, and its blocks are counted without");
    vector("nested_quant_map", source.nested_table, 256);
    vector("nested_absmax", source.nested_scales, (n * groups + block - 1) / block);
    result.nested_table = source.nested_table.address;
    result.nested_scales = source.nested_scales.address;
    result.nested_offset = source.nested_offset;
    result.nested_block = divisor::of(static_cast<u32>(block));
  }
  if (to.shape.factors) {
    if (source.factors_name.empty()) refuse_w4(operation, "weights with factors of a format that has none");
    check.input(source.factors_name, source.factors);
    check.apart("weights", memory, source.factors_name, source.factors);
    const bool one = source.factors.extents[0] == 1;
    if (!one) check.extent(source.factors_name, source.factors, 0, n, "n of the weights, or 1");
    result.factors = source.factors.address;
    result.factors_n = one ? 0 : source.factors.strides[0];
    result.factors_divide = source.divides ? 1 : 0;
  } else if (source.factors.exists() && source.factors.address != 0) {
    refuse_w4(operation, "argument " + std::string(source.factors_name) +
                             " is given, and the shape of the weights has no factors");
  }
  if (to.shape.ordered) refuse_w4(operation, "ordered weights of a format that has no order");
  return result;
}

}  // namespace kaio::ops::detail
