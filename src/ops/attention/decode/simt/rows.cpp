// attention_decode with multiply-adds, and the kernel that adds up parts: of any element type, on any
// architecture.

#include <kaio/ops/attention/decode/common/combine.hpp>
#include <kaio/ops/attention/decode/simt/kernel.hpp>

#include <array>
#include <cstdint>

#include "ops/attention/decode/choice/table.hpp"

namespace kaio::ops {

std::span<const attention_decode_variant> attention_decode_simt_rows() {
  using config = attention_decode_simt;
  static const auto& rows = *new std::array{attention_decode_variant{
      .image = &attention_decode_by_simt.image(),
      .run =
          [](const stream& s, const attention_decode_call& call, std::uint64_t blocks) {
            attention_decode_by_simt.launch(s, grid(blocks), call.problem, call.cache, call.split, call.terms,
                                            call.band, call.codes);
          },
      .any_type = true,
      .depth = config::depth,
      .rows = config::rows,
      .keys = config::keys,
      .resident = 2}};
  return rows;
}

const ptx::kernel_image& attention_decode_combine_image(const device_properties& device) {
  return device.target.sm >= 90 ? attention_decode_combine<90>.image() : attention_decode_combine<70>.image();
}

void run_attention_decode_combine(const stream& s, const attention_decode_call& call) {
  if (s.properties().target.sm >= 90)
    attention_decode_combine<90>.launch(s, grid(call.results()).programmatic(), call.problem, call.split);
  else
    attention_decode_combine<70>.launch(s, grid(call.results()), call.problem, call.split);
}

void list_attention_decode_combine_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&attention_decode_combine<70>.image());
  list.push_back(&attention_decode_combine<90>.image());
}

void list_attention_decode_simt_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_decode_variant& v : attention_decode_simt_rows()) list.push_back(v.image);
  list_attention_decode_combine_kernels(list);
}

}  // namespace kaio::ops
