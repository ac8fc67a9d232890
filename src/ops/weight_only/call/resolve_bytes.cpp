// Checks tensors of files whose weights are bytes, and describes them for the kernel of repack.

#include <kaio/runtime/error.hpp>

#include <limits>
#include <string>

#include "ops/weight_only/common/resolve.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::string_view operation = "repack";
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

w4_scale_type type_of_scales(const any_view& v, w4_scale_type packed) {
  if (packed != w4_scale_type::f32) return packed;
  return v.type == element_kind::f16    ? w4_scale_type::f16
         : v.type == element_kind::bf16 ? w4_scale_type::bf16
                                        : w4_scale_type::f32;
}

std::string argument(std::string_view name) { return "argument " + std::string(name); }

class resolver {
 public:
  resolver(const void* device, const w4_bytes_arguments& source, const w4_weights& to)
      : check_(operation, device),
        source_(source),
        to_(to),
        n_(to.shape.n),
        k_(to.shape.k),
        memory_(memory_view(to)) {
    result_.w = check_w4_weights(operation, device, to, true);
    groups_ = result_.w.groups;
    result_.bits = bits_of(to.shape.codes);
    result_.flip = source.flip;
    result_.block = result_.scales_columns = result_.nested_block = result_.zeros_block = divisor::of(1);
    result_.scale_factor = source.scale_factor;
  }

  w4_bytes_source resolve() {
    if ((source_.codes_types >> result_.w.codes_type & 1) == 0) {
      const std::string possible = possible_codes();
      refuse_w4_shape("codes of " + std::string(name_of(to_.shape.codes)),
                      argument(source_.codes_name) + " is of " + possible, "codes to " + possible);
    }
    if (source_.scales_type != to_.shape.scales) {
      const std::string right(name_of(source_.scales_type));
      refuse_w4_shape("scales of " + std::string(name_of(to_.shape.scales)),
                      "those of " + argument(source_.codes_name) + " are kept as " + right,
                      "scales to " + right);
    }
    if (to_.shape.offsets)
      refuse_w4_shape("offsets", argument(source_.codes_name) + " is of a format without",
                      "offsets to false");
    resolve_codes();
    if (source_.layout != w4_code_layout::q8_0) resolve_scales();
    if (source_.nested_table.exists()) resolve_nested_scales();
    if (to_.shape.zero_points)
      resolve_zeros();
    else
      check_no_w4_zeros(source_.zeros_name, source_.zeros);
    resolve_factors();
    result_.act_order = check_w4_act_order(check_, source_.act_order_name, source_.act_order, to_);
    return result_;
  }

 private:
  std::string possible_codes() const {
    std::string list;
    for (std::uint32_t type = 0; source_.codes_types >> type != 0; ++type)
      if ((source_.codes_types >> type & 1) != 0)
        list += (list.empty() ? "" : " or ") + std::string(name_of(static_cast<w4_codes>(type)));
    return list;
  }

  void tensor(std::string_view name, const any_view& v, std::int64_t first, std::int64_t second) const {
    if (v.rank != 2) refuse_w4(operation, argument(name) + " is not given");
    check_.input(name, v);
    check_.extent(name, v, 0, first, "what the shape of the weights gives");
    check_.extent(name, v, 1, second, "what the shape of the weights gives");
    check_.apart("weights", memory_, name, v);
  }

  // Bytes of kind `other`, such as u8, may be of any format.
  void require_kind(std::string_view name, const any_view& v, element_kind right, const char* what) const {
    if (v.element_bytes() == 1 && v.type != right && v.type != element_kind::other)
      refuse_w4(operation, argument(name) + " has elements of another type; they are " + what);
  }
  void require_kinds() const {
    const bool floats = source_.codes_types == 1u << static_cast<u32>(w4_codes::e4m3);
    require_kind(source_.codes_name, source_.codes, floats ? element_kind::e4m3 : element_kind::i8,
                 floats ? "e4m3 or u8" : "i8 or u8");
    if (source_.scales_type == w4_scale_type::e8m0)
      require_kind(source_.scales_name, source_.scales, element_kind::other, "u8");
    if (source_.scales_type == w4_scale_type::e4m3)
      require_kind(source_.scales_name, source_.scales, element_kind::e4m3, "e4m3 or u8");
  }

  void resolve_codes() {
    require_kinds();
    const any_view& v = source_.codes;
    const std::int64_t bytes = (k_ * result_.bits + 7) / 8;
    result_.codes = v.address;
    result_.high_first = source_.high_first ? 1 : 0;
    switch (source_.layout) {
      case w4_code_layout::bytes:
        tensor(source_.codes_name, v, n_, bytes);
        result_.codes_n = v.strides[0];
        result_.codes_block = v.strides[1];
        break;
      case w4_code_layout::words:
      case w4_code_layout::words_k_first: {
        const bool k_first = source_.layout == w4_code_layout::words_k_first;
        const std::int64_t words = (bytes + 3) / 4;
        tensor(source_.codes_name, v, k_first ? words : n_, k_first ? n_ : words);
        result_.codes_n = v.strides[k_first ? 1 : 0] * 4;
        result_.codes_block = v.strides[k_first ? 0 : 1] * 4;
        result_.block = divisor::of(4);
        break;
      }
      case w4_code_layout::q8_0: {
        constexpr std::int64_t block = 34;
        if (to_.shape.group != 32)
          refuse_w4_shape("groups of " + std::to_string(k_ / groups_),
                          argument(source_.codes_name) + " is in blocks of 32", "group to 32");
        tensor(source_.codes_name, v, n_, groups_ * block);
        if (v.strides[1] != 1 || v.address % 2 != 0 || v.strides[0] % 2 != 0)
          refuse_w4(operation, argument(source_.codes_name) +
                                   " has blocks at odd addresses, or bytes that are not adjacent");
        result_.codes += sizeof(f16);
        result_.codes_n = v.strides[0];
        result_.codes_block = block;
        result_.block = divisor::of(32);
        result_.scales = v.address;
        result_.scales_type = static_cast<u32>(w4_scale_type::f16);
        result_.scales_n = v.strides[0] / 2;
        result_.scales_group = block / 2;
      }
    }
  }

  void resolve_scales() {
    const any_view& v = source_.scales;
    const bool many = source_.scales_of_many && v.rank == 2;
    const bool blocks = many && to_.shape.group == 128 && v.extents[0] != n_;
    const bool tensor_wide = many && groups_ == 1 && v.extents[0] == 1;
    const bool group_first = source_.scales_group_first;
    const std::int64_t columns = blocks ? (n_ + 127) / 128 : tensor_wide ? 1 : n_;
    tensor(source_.scales_name, v, group_first ? groups_ : columns, group_first ? columns : groups_);
    result_.scales = v.address;
    result_.scales_n = tensor_wide ? 0 : v.strides[group_first ? 1 : 0];
    result_.scales_group = v.strides[group_first ? 0 : 1];
    if (blocks) result_.scales_columns = divisor::of(128);
    result_.scales_type = static_cast<u32>(type_of_scales(v, source_.scales_type));
  }

  void resolve_nested_scales() {
    const auto vector = [&](std::string_view name, const any_view& v, std::int64_t size) {
      check_.input(name, v);
      check_.extent(name, v, 0, size, "what codes and blocks of scales give");
      check_.apart("weights", memory_, name, v);
      if (v.strides[0] != 1 && size > 1)
        refuse_w4(operation, argument(name) + " has neighbours that are not adjacent");
    };
    const std::int64_t block = source_.nested_block;
    if (block <= 0 || block > most || n_ * groups_ > most)
      refuse_w4(operation, "nested scales in blocks of " + std::to_string(block) + ", " +
                               std::to_string(n_ * groups_) + " of them; 1 to 2^31 - 1 are supported");
    const any_view& v = source_.scales;
    if ((v.strides[1] != 1 && groups_ > 1) || (v.strides[0] != groups_ && n_ > 1))
      refuse_w4(operation, "argument absmax_codes has gaps, and its blocks are counted without");
    vector("nested_quant_map", source_.nested_table, 256);
    vector("nested_absmax", source_.nested_scales, (n_ * groups_ + block - 1) / block);
    result_.nested_table = source_.nested_table.address;
    result_.nested_scales = source_.nested_scales.address;
    result_.nested_offset = source_.nested_offset;
    result_.nested_block = divisor::of(static_cast<u32>(block));
  }

  void resolve_zeros() {
    if (source_.zeros_name.empty())
      refuse_w4_shape("zero points", argument(source_.codes_name) + " is of a format without",
                      "zero_points to false");
    const any_view& v = source_.zeros;
    const bool words = source_.zeros_in_words, group_first = source_.zeros_group_first;
    const std::int64_t columns = words ? (n_ + 3) / 4 : n_, bytes = words ? 4 : 1;
    const bool tensor_wide = source_.scales_of_many && v.rank == 2 && groups_ == 1 && v.extents[0] == 1;
    const std::int64_t of_n = tensor_wide ? 1 : columns;
    tensor(source_.zeros_name, v, group_first ? groups_ : of_n, group_first ? of_n : groups_);
    result_.zeros = v.address;
    result_.zeros_n = tensor_wide ? 0 : v.strides[group_first ? 1 : 0] * bytes;
    result_.zeros_group = v.strides[group_first ? 0 : 1] * bytes;
    result_.zeros_block = divisor::of(static_cast<u32>(bytes));
    result_.zeros_add = source_.zeros_add;
  }

  void resolve_factors() {
    const any_view& v = source_.factors;
    if (to_.shape.factors) {
      if (source_.factors_name.empty())
        refuse_w4_shape("factors", argument(source_.codes_name) + " is of a format without",
                        "factors to false");
      check_.input(source_.factors_name, v);
      check_.apart("weights", memory_, source_.factors_name, v);
      const bool one = v.extents[0] == 1;
      if (!one) check_.extent(source_.factors_name, v, 0, n_, "n of the weights, or 1");
      result_.factors = v.address;
      result_.factors_n = one ? 0 : v.strides[0];
      result_.factors_divide = source_.divides ? 1 : 0;
    } else if (v.exists() && v.address != 0) {
      refuse_w4_shape("no factors", argument(source_.factors_name) + " is given", "factors to true");
    }
  }

  const validation check_;
  const w4_bytes_arguments& source_;
  const w4_weights& to_;
  std::int64_t n_, k_, groups_ = 0;
  any_view memory_;
  w4_bytes_source result_{};
};

}  // namespace

w4_bytes_source resolve_repack_w4(const void* device, const w4_bytes_arguments& source,
                                  const w4_weights& to) {
  return resolver(device, source, to).resolve();
}

}  // namespace kaio::ops::detail
