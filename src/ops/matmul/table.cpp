// The table of all variants, and the lists of those that fit the types and layouts of a call.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "ops/matmul/variant.hpp"

namespace kaio::ops {

namespace {

constexpr std::size_t key_count = std::size_t{5} * 3 * 3 * 4;

std::size_t key_of(matmul_type operand, matmul_type output, matmul_precision precision, line_direction a,
                   line_direction b) {
  std::size_t key = static_cast<std::size_t>(operand);
  key = key * 3 + static_cast<std::size_t>(output);
  key = key * 3 + static_cast<std::size_t>(precision);
  return key * 4 + static_cast<std::size_t>(a) * 2 + static_cast<std::size_t>(b);
}

// Kernels with f32 results also compute parts of K, whatever the output is.
void add_parts(variant_list& list) {
  const std::size_t count = list.size();
  for (std::size_t i = 0; i < count; ++i) {
    const matmul_variant v = list[i];
    const bool fits = v.output == matmul_type::f32 && v.splits == 1 && !v.across && v.m * v.n >= 64 * 64 &&
                      v.most_rows == 0 && (v.family != matmul_family::sm90 || !v.general);
    if (!fits) continue;
    for (const std::uint32_t parts : {2u, 4u, 8u, 16u})
      for (const matmul_type output : {matmul_type::f32, matmul_type::f16, matmul_type::bf16}) {
        matmul_variant split = v;
        split.parts = parts;
        split.output = output;
        split.general = true;
        list.push_back(split);
      }
  }
}

struct table {
  variant_list all;
  std::array<std::vector<const matmul_variant*>, key_count> by_key;

  table() {
    for (const auto add : {add_sm90_f16_f16, add_sm90_f16_f32, add_sm90_bf16_bf16, add_sm90_bf16_f32,
                           add_sm90_general_f16, add_sm90_general_bf16, add_sm90_rows_f16, add_sm90_rows_bf16,
                           add_sm90_split_f16, add_sm90_split_bf16, add_sm90_f8, add_simt_f32_tensor,
                           add_simt_f32, add_simt_any, add_simt_sm70, add_skinny, add_mma_sync})
      add(all);
    add_parts(all);
    for (const matmul_variant& v : all)
      by_key[key_of(v.operand, v.output, v.precision, v.a, v.b)].push_back(&v);
  }
};

const table& the_table() {
  static const table it;
  return it;
}

}  // namespace

std::string matmul_variant::name() const {
  std::string result(image->name);
  if (parts != 1) {
    // The kernel writes f32; the operation writes its output.
    constexpr const char* types[] = {"f32", "f16", "bf16"};
    result += "_parts" + std::to_string(parts) + "_" + types[static_cast<std::size_t>(output)];
  }
  return result;
}

std::span<const matmul_variant> all_variants() { return the_table().all; }

std::span<const matmul_variant* const> variants_for(const matmul_call& call) {
  return the_table().by_key[key_of(call.operand, call.output, call.precision, call.a.lines, call.b.lines)];
}

std::vector<const ptx::kernel_image*> matmul_kernels() {
  std::vector<const ptx::kernel_image*> list;
  for (const matmul_variant& v : all_variants()) list.push_back(v.image);
  list_finishing_kernels(list);
  list_backward_kernels(list);
  list_tuning_kernels(list);
  // One kernel may have several rows.
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace kaio::ops
