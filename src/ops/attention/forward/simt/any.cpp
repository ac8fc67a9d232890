// Attention by multiply-adds on any architecture: f32, also for block-sparse masks, and f16, for
// architectures without the matrix instructions of the other families. A kernel serves all three, and is
// three rows of the table.

#include <kaio/ops/attention/forward/simt/table_row.hpp>

#include <array>

#include "ops/attention/forward/choice/table.hpp"

namespace kaio::ops {

namespace {

template <scalar T, bool InBlocks>
std::span<const attention_variant> rows_of() {
  static const auto& rows =
      *new std::array{describe_attention_simt_any<attention_simt_for(64), T, InBlocks>(),
                      describe_attention_simt_any<attention_simt_for(128), T, InBlocks>(),
                      describe_attention_simt_any<attention_simt_for(256), T, InBlocks>(),
                      describe_attention_simt_any<attention_simt_for(512), T, InBlocks>(),
                      describe_attention_simt_any<attention_simt_small, T, InBlocks>()};
  return rows;
}

}  // namespace

std::span<const attention_variant> attention_simt_f32() { return rows_of<f32, false>(); }
std::span<const attention_variant> attention_simt_f16() { return rows_of<f16, false>(); }
std::span<const attention_variant> attention_simt_blocks_f32() { return rows_of<f32, true>(); }

void list_attention_simt_any_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_variant& v : attention_simt_f32()) list.push_back(v.image);
}

}  // namespace kaio::ops
