// The table of attention's kernels.

#include <algorithm>

#include "ops/attention/forward/choice/table.hpp"

namespace kaio::ops {

std::span<const attention_variant> all_attention_variants() {
  static const auto& all = *new std::vector<attention_variant>([] {
    std::vector<attention_variant> list;
    for (const auto family : attention_variant_families)
      for (const attention_variant& v : family()) list.push_back(v);
    return list;
  }());
  return all;
}

std::vector<const ptx::kernel_image*> attention_kernels() {
  std::vector<const ptx::kernel_image*> list;
  for (const attention_variant& v : all_attention_variants())
    if (std::find(list.begin(), list.end(), v.image) == list.end()) list.push_back(v.image);
  return list;
}

}  // namespace kaio::ops
