// Attention by multiply-adds for many queries: f32, on sm_80 and later.

#include <kaio/ops/attention/forward/simt/wide_table_row.hpp>

#include <array>

#include "ops/attention/forward/choice/table.hpp"

namespace kaio::ops {

namespace {

template <std::uint32_t Depth>
attention_variant row() {
  constexpr attention_simt_wide_config config = attention_simt_wide_for(Depth);
  attention_variant result = describe_attention_simt_wide<config, biased_score, band_mask>();
  result.run = launch_attention_simt_wide<config, biased_score, band_mask>;
  return result;
}

}  // namespace

std::span<const attention_variant> attention_simt_wide_f32() {
  static const auto& rows = *new std::array{row<64>(), row<128>(), row<256>()};
  return rows;
}

void list_attention_simt_wide_f32_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_variant& v : attention_simt_wide_f32()) list.push_back(v.image);
}

}  // namespace kaio::ops
