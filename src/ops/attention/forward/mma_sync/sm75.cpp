// Attention by mma.sync: f16 on sm_75.

#include <array>

#include "ops/attention/forward/mma_sync/rows.hpp"

namespace kaio::ops {

std::span<const attention_variant> attention_mma_sm75() {
  static const auto& rows = *new std::array{attention_mma_row<attention_mma_sm75(64), f16>(),
                                            attention_mma_row<attention_mma_sm75(128), f16>(),
                                            attention_mma_row<attention_mma_sm75(256), f16>()};
  return rows;
}

void list_attention_mma_sm75_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_variant& v : attention_mma_sm75()) list.push_back(v.image);
}

}  // namespace kaio::ops
