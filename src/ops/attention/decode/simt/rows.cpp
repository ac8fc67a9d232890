// attention_decode with multiply-adds, and the kernel that adds up parts: of any element type, on any
// architecture.

#include <kaio/ops/attention/decode/common/combine.hpp>
#include <kaio/ops/attention/decode/simt/table_row.hpp>

#include <array>
#include <cstdint>

#include "ops/attention/decode/choice/table.hpp"

namespace kaio::ops {

std::span<const attention_decode_variant> attention_decode_simt_rows() {
  static const auto& rows = *new std::array{[] {
    attention_decode_variant row = describe_attention_decode_simt<>();
    row.run = launch_attention_decode_simt<>;
    return row;
  }()};
  return rows;
}

const ptx::kernel_image& attention_decode_combine_image(const device_properties& device) {
  return device.target.sm >= 90 ? attention_decode_combine<90>.image() : attention_decode_combine<70>.image();
}

void detail::combine_attention_decode(const stream& s, const attention_decode_call& call) {
  if (call.split.parts <= 1) return;
  attention_problem problem = call.problem;
  if (call.is_packed()) problem.queries = static_cast<u32>(call.packed_rows);
  if (s.properties().target.sm >= 90)
    attention_decode_combine<90>.launch(s, grid(call.results()).programmatic(), problem, call.split);
  else
    attention_decode_combine<70>.launch(s, grid(call.results()), problem, call.split);
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
