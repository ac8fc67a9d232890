// The backward of attention with multiply-adds: f32, f16 and bf16, on any architecture.

#include <kaio/ops/attention/backward/simt/table_row.hpp>
#include <kaio/ops/attention/backward/sm90/last.hpp>

#include <array>
#include <cstddef>

#include "ops/attention/backward/choice/table.hpp"

namespace kaio::ops {

namespace {

// Rows longer than C.depth are computed in parts.
template <attention_backward_simt_config C>
attention_backward_variant row(std::uint32_t depth) {
  attention_backward_variant result = describe_attention_backward_simt<C, biased_score, band_mask>();
  result.run = launch_attention_backward_simt<C, biased_score, band_mask>;
  result.depth_qk = result.depth_v = depth;
  return result;
}

// Flagged blocks of the kernels for sm_90a: small tiles, so that the kernel is short.
constexpr attention_backward_simt_config of_flagged{.depth = 64, .tile = 32};

}  // namespace

std::span<const attention_backward_variant> attention_backward_simt_rows() {
  static const auto& rows =
      *new std::array{row<attention_backward_simt_for(64)>(64), row<attention_backward_simt_for(128)>(128),
                      row<attention_backward_simt_for(256)>(512)};
  return rows;
}

const attention_backward_variant& attention_backward_simt_row(std::uint32_t depth) {
  const auto rows = attention_backward_simt_rows();
  std::size_t i = 0;
  while (i + 1 < rows.size() && depth > rows[i].depth_qk) ++i;
  return rows[i];
}

void run_attention_backward_simt(const stream& s, const attention_backward_call& call, std::uint32_t depth) {
  attention_backward_simt_row(depth).run(s, call);
}

const ptx::kernel_image& attention_backward_last_image() {
  return attention_backward_last<of_flagged, biased_score, band_mask>.image();
}

void run_attention_backward_last(const stream& s, const attention_backward_call& call) {
  launch_attention_backward_last<of_flagged, biased_score, band_mask>(s, call);
}

void list_attention_backward_simt_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&attention_backward_last_image());
  for (const attention_backward_variant& v : attention_backward_simt_rows())
    for (const ptx::kernel_image* const image : v.images)
      if (image != nullptr) list.push_back(image);
}

}  // namespace kaio::ops
