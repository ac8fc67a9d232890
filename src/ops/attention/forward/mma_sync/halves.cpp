// Attention by mma.sync for block-sparse masks: f16 and bf16 on sm_80 and later. A kernel serves both types
// and is two rows of the table.

#include <kaio/ops/attention/forward/mma_sync/table_row.hpp>

#include <array>

#include "ops/attention/forward/choice/table.hpp"

namespace kaio::ops {

namespace {

template <scalar T>
std::span<const attention_variant> rows_of() {
  static const auto& rows = *new std::array{describe_attention_mma_blocks<attention_mma_for(64, 64), T>(),
                                            describe_attention_mma_blocks<attention_mma_for(128, 128), T>(),
                                            describe_attention_mma_blocks<attention_mma_for(192, 128), T>(),
                                            describe_attention_mma_blocks<attention_mma_for(256, 256), T>(),
                                            describe_attention_mma_blocks<attention_mma_for(512, 512), T>(),
                                            describe_attention_mma_blocks<attention_mma_512_small, T>()};
  return rows;
}

}  // namespace

std::span<const attention_variant> attention_mma_blocks_f16() { return rows_of<f16>(); }
std::span<const attention_variant> attention_mma_blocks_bf16() { return rows_of<bf16>(); }

void list_attention_mma_16bit_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_variant& v : attention_mma_blocks_f16()) list.push_back(v.image);
}

}  // namespace kaio::ops
