// Checks packed tensors and describes them for the kernel of repack: where each layout has its numbers.

#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/runtime/error.hpp>

#include <initializer_list>
#include <string>

#include "ops/weight_only/common/resolve.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::string_view operation = "repack";

std::string argument(std::string_view name) { return "argument " + std::string(name); }

// For each of the lower bits of a row and a column, the numbers of the tensor that it moves by.
struct low_bits {
  std::initializer_list<std::uint32_t> row, column;
};

w4_place place_of(std::uint64_t address, std::uint32_t bits, const low_bits& low) {
  w4_place p{};
  p.address = address;
  p.bits = bits;
  p.unit_log2 = 5;
  p.unit = 1;
  for (const std::uint32_t one : low.row) p.of_row[p.row_bits++] = one;
  for (const std::uint32_t one : low.column) p.of_column[p.column_bits++] = one;
  return p;
}

class resolver {
 public:
  resolver(const void* device, const w4_source_arguments& source, const w4_weights& to)
      : check_(operation, device),
        source_(source),
        to_(to),
        n_(to.shape.n),
        k_(to.shape.k),
        memory_(memory_view(to)) {
    result_.w = check_w4_weights(operation, device, to, true);
    groups_ = result_.w.groups;
  }

  w4_source resolve() {
    check_shape();
    resolve_codes();
    resolve_scales();
    if (to_.shape.zero_points)
      resolve_zeros();
    else
      check_no_w4_zeros(source_.zeros_name, source_.zeros);
    if (to_.shape.offsets) resolve_offsets();
    result_.act_order = check_w4_act_order(check_, source_.act_order_name, source_.act_order, to_);
    return result_;
  }

 private:
  void check_shape() {
    const w4_shape& shape = to_.shape;
    const auto given = [&](const char* what) { return argument(source_.words_name) + what; };
    const bool right = source_.eight_bits ? shape.codes == w4_codes::int8
                                          : shape.codes == w4_codes::int4 || shape.codes == w4_codes::own;
    if (!right)
      refuse_w4_shape("codes of " + std::string(name_of(shape.codes)), given(" has integers"),
                      source_.eight_bits ? "codes to int8" : "codes to int4");
    if (shape.factors) refuse_w4_shape("factors", given(" is of a format without"), "factors to false");
    const bool offsets = !source_.offsets_name.empty();
    if (shape.offsets && !offsets)
      refuse_w4_shape("offsets", given(" is of a format without"), "offsets to false");
    if (offsets && (!shape.offsets || shape.zero != source_.zero)) {
      const std::string zero = std::to_string(source_.zero);
      refuse_w4_shape(shape.offsets ? "the zero " + std::to_string(shape.zero) : "no offsets",
                      given(" is of a format with offsets and the zero ") + zero,
                      (shape.offsets ? "zero to " : "offsets to true, and its zero to ") + zero);
    }
    if (!source_.eight_bits && !offsets && bytes_of(shape.scales) != 2)
      refuse_w4_shape("scales of " + std::string(name_of(shape.scales)),
                      argument(source_.scales_name) + " is f16 or bf16", "scales to f16 or bf16");
    if (source_.eight_bits ? source_.bits != 8 : source_.bits < 2 || source_.bits > 4)
      refuse_w4(operation, given(" has codes of ") + std::to_string(source_.bits) +
                               " bits; 2, 3 and 4 are packed for matmul_w4, and 8 for matmul_w8");
    result_.flip = source_.flip;
    // With fewer bits the middle of the codes becomes 8.
    result_.add = source_.eight_bits ? 0u : 8u - (1u << (source_.bits - 1));
  }

  void tensor(std::string_view name, const any_view& v, std::initializer_list<std::int64_t> extents) const {
    if (v.rank != extents.size()) refuse_w4(operation, argument(name) + " is not given");
    check_.input(name, v);
    std::size_t d = 0;
    for (const std::int64_t extent : extents)
      check_.extent(name, v, d++, extent, "what the shape of the weights gives");
    check_.apart("weights", memory_, name, v);
  }
  void adjacent(std::string_view name, const any_view& v, std::uint32_t d) const {
    if (v.strides[d] != 1 && v.extents[d] > 1)
      refuse_w4(operation, argument(name) + " has neighbours that are not adjacent");
  }
  void multiples(std::int64_t of_k, std::int64_t of_n) const {
    if (k_ % of_k != 0 || n_ % of_n != 0)
      refuse_w4(operation, "weights of n = " + std::to_string(n_) + " and k = " + std::to_string(k_) +
                               " in a layout of multiples of " + std::to_string(of_n) + " and " +
                               std::to_string(of_k));
  }

  // The place of numbers without gaps along one dimension, in words; `numbers` of them fill whole words.
  w4_place in_words(const any_view& v, std::int64_t bits, bool along_row, std::int64_t along,
                    std::int64_t other, bool turned = false) const {
    const auto width = static_cast<std::uint32_t>(bits);
    w4_place p{};
    p.address = v.address;
    p.bits = width;
    p.unit_log2 = 5;
    p.unit = along;
    std::uint32_t& count = along_row ? p.row_bits : p.column_bits;
    u32* const low = along_row ? p.of_row : p.of_column;
    // 32 numbers of three bits are three words.
    const std::uint32_t numbers = width == 3 ? 32 : 32 / width;
    for (std::uint32_t one = 1; one < numbers; one *= 2) low[count++] = one;
    if (turned) low[0] = 4, low[1] = 1, low[2] = 2;  // AutoAWQ's order
    const std::int64_t units = numbers * width / 32 * along;
    p.row_units = along_row ? units : other;
    p.column_units = along_row ? other : units;
    return p;
  }

  void resolve_codes() {
    const any_view& v = source_.words;
    const auto bits = static_cast<std::uint32_t>(source_.bits);
    const std::string_view name = source_.words_name;
    switch (source_.layout) {
      case w4_word_layout::along_k: {
        const std::int64_t words = ceil_div(k_ * bits, 32);
        const bool n_first = source_.words_n_first;
        tensor(name, v, {n_first ? n_ : words, n_first ? words : n_});
        result_.codes = in_words(v, bits, true, v.strides[n_first ? 1 : 0], v.strides[n_first ? 0 : 1]);
        break;
      }
      case w4_word_layout::along_n:
        tensor(name, v, {k_, ceil_div(n_, 8)});
        result_.codes = in_words(v, bits, false, v.strides[1], v.strides[0], true);
        break;
      case w4_word_layout::awq_fast:
        multiples(64, 4);
        tensor(name, v, {n_ / 4, k_});
        adjacent(name, v, 1);
        result_.codes = place_of(v.address, 4, {{4, 8, 16, 1, 2, 32}, {64, 128}});
        result_.codes.unit_log2 = 4;
        result_.codes.row_units = 64;
        result_.codes.column_units = v.strides[0];
        break;
      case w4_word_layout::marlin: {
        multiples(16, 64);
        const std::int64_t of_tile = bits == 4 ? 128 : 256;
        tensor(name, v, {k_ / 16, n_ / 64 * of_tile});
        adjacent(name, v, 1);
        result_.codes = bits == 4 ? place_of(v.address, 4, {{4, 32, 64, 1}, {128, 256, 512, 2, 8, 16}})
                                  : place_of(v.address, 8, {{2, 32, 64, 1}, {128, 256, 512, 4, 8, 16}});
        result_.codes.row_units = v.strides[0];
        result_.codes.column_units = of_tile;
        break;
      }
      case w4_word_layout::tinygemm: {
        const std::int64_t tiles = source_.inner_k_tiles;
        if (tiles != 2 && tiles != 4 && tiles != 8)
          refuse_w4(operation, "argument packed is of inner_k_tiles = " + std::to_string(tiles) +
                                   ", twice its last extent; 2, 4 and 8 are there");
        multiples(16 * tiles, 8);
        tensor(name, v, {n_ / 8, k_ / (16 * tiles), 32, tiles / 2});
        adjacent(name, v, 3);
        if (v.strides[2] != tiles / 2 || (v.strides[1] != 16 * tiles && v.extents[1] > 1))
          refuse_w4(operation, argument(name) + " has gaps");
        const auto lane = static_cast<std::uint32_t>(4 * tiles);
        result_.codes = place_of(v.address, 4, {{4, lane, 2 * lane, 1, 2}, {4 * lane, 8 * lane, 16 * lane}});
        for (std::uint32_t word = 8; word < 4 * tiles; word *= 2)
          result_.codes.of_row[result_.codes.row_bits++] = word;
        result_.codes.row_units = 16 * tiles;
        result_.codes.column_units = v.strides[0];
        break;
      }
    }
  }

  // Groups that the tensor has, at least those of the weights.
  std::int64_t groups_in(const any_view& v, std::uint32_t d) const {
    return source_.padded && v.rank > d && v.extents[d] > groups_ ? v.extents[d] : groups_;
  }
  // The place of scales or offsets: element [group][n].
  w4_place elements(std::string_view name, const any_view& v) const {
    w4_place p{};
    p.bits = 1;
    p.unit = 1;
    if (source_.layout == w4_word_layout::tinygemm) {
      tensor(name, v, {groups_, n_, 2});
      p.row_units = v.strides[0];
      p.column_units = v.strides[1];
    } else {
      const bool n_first = source_.scales_n_first;
      const std::uint32_t of_group = n_first ? 1 : 0;
      const std::int64_t groups = groups_in(v, of_group);
      tensor(name, v, {n_first ? n_ : groups, n_first ? groups : n_});
      if (source_.layout == w4_word_layout::marlin) {
        // With one group Marlin permutes 32 columns, else 64.
        adjacent(name, v, 1);
        p = groups_ == 1 ? place_of(0, 1, {{}, {1, 8, 16, 2, 4}})
                         : place_of(0, 1, {{}, {8, 16, 32, 1, 2, 4}});
        p.unit_log2 = 0;
      }
      p.row_units = v.strides[of_group];
      p.column_units = source_.layout == w4_word_layout::marlin ? std::int64_t{1} << p.column_bits
                                                                : v.strides[n_first ? 0 : 1];
    }
    p.address = v.address;
    return p;
  }

  void resolve_scales() {
    const any_view& v = source_.scales;
    result_.scales = elements(source_.scales_name, v);
    const bool is_bf16 = v.type == element_kind::bf16;
    result_.scales_type = static_cast<u32>(is_bf16 ? w4_scale_type::bf16 : w4_scale_type::f16);
    if (to_.shape.scales != w4_scale_type::f32 && is_bf16 != (to_.shape.scales == w4_scale_type::bf16))
      refuse_w4_shape(is_bf16 ? "scales of f16" : "scales of bf16",
                      argument(source_.scales_name) + (is_bf16 ? " is bf16" : " is f16"),
                      is_bf16 ? "scales to bf16" : "scales to f16");
  }

  void resolve_offsets() {
    const any_view& v = source_.offsets;
    result_.offsets = elements(source_.offsets_name, v);
    if (v.type != source_.scales.type)
      refuse_w4(operation, argument(source_.offsets_name) + " is not of the type of the scales");
    if (source_.layout == w4_word_layout::tinygemm) {
      const auto next = static_cast<std::uint64_t>(v.strides[2]) * sizeof(bf16);
      result_.offsets.address += next;
    }
  }

  void resolve_zeros() {
    if (source_.zeros_name.empty())
      refuse_w4_shape("zero points", argument(source_.words_name) + " is of a format without",
                      "zero_points to false");
    const any_view& v = source_.zeros;
    const auto bits = static_cast<std::uint32_t>(source_.bits);
    const std::string_view name = source_.zeros_name;
    const std::int64_t words = ceil_div(n_ * bits, 32);
    if (source_.zeros_along_group) {
      const std::int64_t of_group = ceil_div(groups_, 8);
      tensor(name, v, {n_, v.rank == 2 && v.extents[1] > of_group ? v.extents[1] : of_group});
      result_.zeros = in_words(v, bits, true, v.strides[1], v.strides[0]);
    } else {
      const bool n_first = source_.zeros_n_first;
      tensor(name, v, {n_first ? words : groups_, n_first ? groups_ : words});
      const std::int64_t along = v.strides[n_first ? 0 : 1], other = v.strides[n_first ? 1 : 0];
      if (source_.layout == w4_word_layout::marlin) {
        adjacent(name, v, 1);
        // Permuted as scales of several groups are, then each eight in AutoAWQ's order.
        result_.zeros = place_of(v.address, 4, {{}, {8, 16, 32, 4, 1, 2}});
        result_.zeros.row_units = other;
        result_.zeros.column_units = 8;
      } else {
        result_.zeros = in_words(v, bits, false, along, other, source_.layout == w4_word_layout::along_n);
      }
    }
    result_.zeros_add = source_.zeros_add;
    result_.zeros_mask = (1u << bits) - 1;
  }

  const validation check_;
  const w4_source_arguments& source_;
  const w4_weights& to_;
  std::int64_t n_, k_, groups_ = 0;
  any_view memory_;
  w4_source result_{};
};

}  // namespace

w4_source resolve_repack_w4(const void* device, const w4_source_arguments& source, const w4_weights& to) {
  return resolver(device, source, to).resolve();
}

}  // namespace kaio::ops::detail
