// The table of all variants, and the lists of those that fit the types and layouts of a call.

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

namespace {

constexpr std::size_t key_count = std::size_t{5} * 3 * 3 * 4;

std::size_t key_of(element_kind operand, element_kind output, matmul_precision precision, line_direction a,
                   line_direction b) {
  std::size_t key = static_cast<std::size_t>(operand);
  key = key * 3 + static_cast<std::size_t>(output);
  key = key * 3 + static_cast<std::size_t>(precision);
  return key * 4 + static_cast<std::size_t>(a) * 2 + static_cast<std::size_t>(b);
}

// Kernels with f32 results also compute splits of K, whatever the output is.
void append_split_k(variant_list& list) {
  const std::size_t count = list.size();
  for (std::size_t i = 0; i < count; ++i) {
    const matmul_variant v = list[i];
    const bool fits = v.output == element_kind::f32 && v.cluster_splits == 1 && !v.across &&
                      v.m * v.n >= 64 * 64 && v.most_rows == 0 &&
                      (v.cluster_m * v.cluster_n == 1 || !v.cluster_by_launch) &&
                      (v.family != matmul_family::sm90 || !v.general);
    if (!fits) continue;
    for (const std::uint32_t splits : {2u, 4u, 8u, 16u}) {
      if (v.cluster_by_launch && splits <= 8) continue;  // a cluster of that size suffices
      for (const element_kind output : {element_kind::f32, element_kind::f16, element_kind::bf16}) {
        matmul_variant split = v;
        split.splits = splits;
        split.output = output;
        split.general = true;
        list.push_back(split);
      }
    }
  }
}

struct table {
  variant_list all;
  std::array<std::vector<const matmul_variant*>, key_count> by_key;

  table() {
    for (const auto add : matmul_families) add(all);
    for (matmul_variant& v : all) detail::take_fitted_costs(v);
    append_split_k(all);
    for (const matmul_variant& v : all)
      by_key[key_of(v.operand, v.output, v.precision, v.a, v.b)].push_back(&v);
  }
};

const table& the_table() {
  static const table& it = *new table;  // never destroyed, like the store of tuning
  return it;
}

}  // namespace

kernel_choice matmul_variant::choice() const {
  // Names are made of a kernel's and the launch's numbers; a choice refers to one of them for good.
  static auto& mutex = *new std::mutex;  // never destroyed, as the table
  static auto& names = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return {*names.insert(name()).first, splits * cluster_splits, cluster_splits > 1};
}

std::string matmul_variant::name() const {
  std::string result(image->name);
  const bool also_splits = cluster_splits > 1 && cluster_m * cluster_n > 1;
  if (cluster_by_launch && (cluster_n > cluster_m || also_splits))
    result += "_cluster" + std::to_string(cluster_m) + "x" + std::to_string(cluster_n) +
              (also_splits ? "x" + std::to_string(cluster_splits) : "");
  else if (cluster_by_launch)
    result += "_cluster" + std::to_string(cluster_m * cluster_n * cluster_splits);
  if (is_narrow) result += "_columns" + std::to_string(n);
  if (splits != 1) {
    // The kernel writes f32; the operation writes its output.
    constexpr const char* types[] = {"f32", "f16", "bf16"};
    result += "_parts" + std::to_string(splits) + "_" + types[static_cast<std::size_t>(output)];
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
  list_split_reduce_kernels(list);
  list_backward_kernels(list);
  list_tune_kernels(list);
  // One kernel may have several rows.
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace kaio::ops
