// Attention by mma.sync: f32 rounded to tf32, on sm_80 and later.

#include <array>

#include "ops/attention/forward/mma_sync/rows.hpp"

namespace kaio::ops {

std::span<const attention_variant> attention_mma_tf32() {
  static const auto& rows = *new std::array{attention_mma_row<attention_mma_tf32(64), f32>(),
                                            attention_mma_row<attention_mma_tf32(128), f32>(),
                                            attention_mma_row<attention_mma_tf32(256), f32>()};
  return rows;
}

void list_attention_mma_tf32_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_variant& v : attention_mma_tf32()) list.push_back(v.image);
}

}  // namespace kaio::ops
