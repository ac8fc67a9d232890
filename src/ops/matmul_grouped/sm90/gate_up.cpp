// gate_up_grouped with wgmma: tiles of 128 rows and 128 columns, of both matrices.

#include "ops/families.hpp"
#include "ops/matmul_grouped/sm90/launch.hpp"
#include "ops/matmul_grouped/sm90/rows.hpp"

namespace kaio::ops {

namespace {

constexpr sm90_config config_of(major b) { return detail::with_b(detail::grouped_config(256, 4, 1), b); }
constexpr auto& kernel = grouped_gate_up_sm90<config_of(major::k).of_kernel(), detail::grouped_element>;

template <major B>
void launch(const stream& s, const grouped_call& call) {
  constexpr sm90_config config = config_of(B);
  using body = grouped_sm90_body<config_of(major::k).of_kernel(), detail::grouped_element, true, true>;
  using half = sm90_operand<detail::grouped_element, B, body::columns, 1, 1>;
  constexpr sm90_boxes boxes = sm90_mainloop<config, detail::grouped_element>::whole_boxes(1);
  constexpr sm90_box box = half::box_of(half::box_lines);
  auto problem = detail::grouped_problem<body>(call, boxes, B == major::k);
  problem.terms = call.gate();
  const auto map_of = [&](const any_view& b) {
    return detail::lines_of_b(b, B == major::k).map(s, box.sizes, sm90_config::row_bytes);
  };
  kernel.launch(s, grid(detail::grouped_blocks<body, config>(s, call, kernel.image())).programmatic(),
                detail::grouped_lines_of_a(call).map(s, boxes.a.sizes, sm90_config::row_bytes),
                map_of(call.b), map_of(call.up), detail::grouped_copies_to<body>(s, call), problem);
}

}  // namespace

void launch_gate_up_sm90(const stream& s, const grouped_call& call) {
  if (call.b_is_along_k())
    launch<major::k>(s, call);
  else
    launch<major::mn>(s, call);
}
const ptx::kernel_image& gate_up_sm90_image() { return kernel.image(); }

void list_gate_up_grouped_sm90_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&gate_up_sm90_image());
}

}  // namespace kaio::ops
