// Checks calls of matmul_grouped before anything runs, and launches them.

#include <kaio/ops/matmul_grouped.hpp>
#include <kaio/runtime/device.hpp>

#include <string_view>

#include "ops/families.hpp"
#include "ops/matmul_grouped/call/checks.hpp"

namespace kaio::ops {

namespace detail {

void run_matmul_grouped(const stream& s, const any_view& a, const any_view& b, const any_view& offsets,
                        const any_view& c, const matmul_grouped_options& options) {
  constexpr std::string_view operation = "matmul_grouped";
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  check.input("a", a);
  check.input("b", b);
  check.input("offsets", offsets);
  check.output("c", c);
  if (b.type != a.type) refuse(operation, "argument b has another element type than a; cast it");
  if (c.type != a.type && c.type != element_kind::f32)
    refuse(operation, "argument c has another element type than a, and is not f32; cast it");
  check.extent("b", b, 1, a.extents[1], "the columns of a");
  check.extent("offsets", offsets, 0, b.extents[0] + 1, "the groups of b, and one");
  check.extent("c", c, 1, b.extents[2], "the columns of b");
  grouped_call call{a, b, offsets, c};
  call.indices = checked_rows(check, operation, a, c, "a", "c", options.rows);
  call.bias = checked_bias(check, operation, b, c, "bias", "c", options.bias);
  check_adjacent(operation, "offsets", offsets);
  for (std::uint32_t d = 0; d < 2; ++d) check.at_most("a", a, d, most_grouped);
  check.at_most("b", b, 0, most_grouped - 1);
  for (std::uint32_t d = 0; d < 2; ++d) check.at_most("c", c, d, most_grouped);
  check.apart("c", c, "a", a);
  check.apart("c", c, "b", b);
  check.apart("c", c, "offsets", offsets);
  if (c.empty() || call.groups() == 0) return;
  launch_grouped(operation, s, call);
}

}  // namespace detail

void matmul_grouped_warmup(const runtime::device& gpu) {
  gpu.warmup(grouped_simt_image());
  const bool has_wgmma = runs_on(*grouped_sm90_images()[0], gpu.properties());
  for (const ptx::kernel_image* image : has_wgmma ? grouped_sm90_images() : grouped_mma_images())
    if (runs_on(*image, gpu.properties())) gpu.warmup(*image);
}

std::vector<const ptx::kernel_image*> matmul_grouped_kernels() {
  std::vector<const ptx::kernel_image*> list = grouped_sm90_images();
  for (const ptx::kernel_image* image : grouped_mma_images()) list.push_back(image);
  list.push_back(&grouped_simt_image());
  return list;
}

}  // namespace kaio::ops
