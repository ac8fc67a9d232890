// attention_decode with multiply-adds, and the kernel that adds up splits: for any element type and
// architecture.

#include <kaio/ops/attention/decode/common/combine.hpp>
#include <kaio/ops/attention/decode/simt/table_row.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

#include "ops/attention/decode/choice/table.hpp"

namespace kaio::ops {

std::span<const attention_decode_variant> attention_decode_simt_rows() {
  const auto row_of = []<std::uint32_t Depth>(std::integral_constant<std::uint32_t, Depth>) {
    attention_decode_variant row = describe_attention_decode_simt<Depth>();
    row.run = launch_attention_decode_simt<Depth>;
    return row;
  };
  static const auto& rows = *new std::array{row_of(std::integral_constant<std::uint32_t, 256>{}),
                                            row_of(std::integral_constant<std::uint32_t, 512>{})};
  return rows;
}

namespace {

// Calls f(kernel) with the kernel that adds up the splits of a call.
template <class F>
void with_combine(const device_properties& device, const attention_decode_call& call, const F& f) {
  const bool is_wide = call.problem.v_size > 256, has_programmatic = device.target.sm >= 90;
  if (has_programmatic && is_wide) return f(attention_decode_combine<90, 512>);
  if (has_programmatic) return f(attention_decode_combine<90>);
  if (is_wide) return f(attention_decode_combine<70, 512>);
  f(attention_decode_combine<70>);
}

}  // namespace

const ptx::kernel_image& attention_decode_combine_image(const device_properties& device,
                                                        const attention_decode_call& call) {
  const ptx::kernel_image* image = nullptr;
  with_combine(device, call, [&](const auto& kernel) { image = &kernel.image(); });
  return *image;
}

void detail::combine_attention_decode(const stream& s, const attention_decode_call& call) {
  if (call.split.splits.value <= 1 || call.split.in_cluster != 0) return;
  attention_problem problem = call.problem;
  if (call.is_packed()) problem.queries = static_cast<u32>(call.packed_rows);
  const auto blocks = grid(call.results());
  with_combine(s.properties(), call, [&](const auto& kernel) {
    kernel.launch(s, s.properties().target.sm >= 90 ? blocks.programmatic() : blocks, problem, call.split);
  });
}

void list_attention_decode_simt_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_decode_variant& v : attention_decode_simt_rows()) list.push_back(v.image);
  list_attention_decode_combine_kernels(list);
}

void list_attention_decode_combine_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&attention_decode_combine<70>.image());
  list.push_back(&attention_decode_combine<90>.image());
  list.push_back(&attention_decode_combine<70, 512>.image());
  list.push_back(&attention_decode_combine<90, 512>.image());
}

}  // namespace kaio::ops
