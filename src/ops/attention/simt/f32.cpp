// Attention with multiply-adds, f32, on any architecture.

#include <kaio/ops/attention/simt/table_row.hpp>

#include <array>

#include "ops/attention/choice/table.hpp"

namespace kaio::ops {

namespace {

constexpr attention_simt_config small{.depth = 256, .tile = 16};

template <attention_simt_config Config>
attention_variant row() {
  attention_variant result = describe_attention_simt<Config, biased_score, band_mask>();
  result.run = launch_attention_simt<Config, biased_score, band_mask>;
  return result;
}

}  // namespace

std::span<const attention_variant> attention_simt_f32() {
  // The last one is for devices whose blocks have 64 KB of shared memory (sm_75).
  static const auto& rows = *new std::array{row<attention_simt_for(64)>(), row<attention_simt_for(128)>(),
                                            row<attention_simt_for(256)>(), row<small>()};
  return rows;
}

void list_attention_simt_f32_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_variant& v : attention_simt_f32()) list.push_back(v.image);
}

}  // namespace kaio::ops
