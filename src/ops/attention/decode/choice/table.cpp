// The table of attention_decode's kernels.

#include <kaio/ops/attention_decode.hpp>

#include <algorithm>

#include "ops/attention/decode/choice/table.hpp"

namespace kaio::ops {

std::span<const attention_decode_variant> attention_decode_variants() {
  static const auto& all = *new std::vector<attention_decode_variant>([] {
    std::vector<attention_decode_variant> list;
    for (const auto family : attention_decode_variant_families)
      for (const attention_decode_variant& v : family()) list.push_back(v);
    return list;
  }());
  return all;
}

std::vector<const ptx::kernel_image*> attention_decode_kernels() {
  std::vector<const ptx::kernel_image*> list;
  for (const attention_decode_variant& v : attention_decode_variants())
    if (std::find(list.begin(), list.end(), v.image) == list.end()) list.push_back(v.image);
  list_attention_decode_combine_kernels(list);
  return list;
}

}  // namespace kaio::ops
