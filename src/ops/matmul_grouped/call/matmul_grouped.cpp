// Checks calls of matmul_grouped before anything runs, and launches them.

#include <kaio/ops/matmul_grouped.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/runtime/device.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "ops/families.hpp"
#include "ops/matmul_grouped/mma_sync/rows.hpp"
#include "ops/matmul_grouped/simt/rows.hpp"
#include "ops/matmul_grouped/sm90/rows.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace detail {

void run_matmul_grouped(const stream& s, const any_view& a, const any_view& b, const any_view& offsets,
                        const any_view& c) {
  constexpr std::string_view operation = "matmul_grouped";
  constexpr std::int64_t most = 0x7fffffff;
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
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
  check.extent("c", c, 0, a.extents[0], "the rows of a");
  check.extent("c", c, 1, b.extents[2], "the columns of b");
  if (offsets.strides[0] != 1 && offsets.extents[0] > 1)
    refuse(operation, "argument offsets has stride " + std::to_string(offsets.strides[0]) +
                          "; neighbours are adjacent: stride 1");
  for (std::uint32_t d = 0; d < 2; ++d) check.at_most("a", a, d, most);
  check.at_most("b", b, 0, most - 1);
  check.at_most("c", c, 1, most);
  check.apart("c", c, "a", a);
  check.apart("c", c, "b", b);
  check.apart("c", c, "offsets", offsets);
  const grouped_call call{a, b, offsets, c};
  if (c.empty() || call.groups() == 0) return;
  if (grouped_simt_blocks(call) > static_cast<std::uint64_t>(most))
    refuse(operation, "argument c has more tiles than a launch has blocks; split its columns");
  if (!call.is_aligned()) return launch_grouped_simt(s, call);
  if (runs_on(*grouped_sm90_images()[0], device)) return launch_grouped_sm90(s, call);
  if (runs_on(grouped_mma_image(call), device)) return launch_grouped_mma(s, call);
  launch_grouped_simt(s, call);
}

}  // namespace detail

void matmul_grouped_warmup(const runtime::device& gpu) {
  gpu.warmup(grouped_simt_image());
  const bool has_wgmma = runs_on(*grouped_sm90_images()[0], gpu.properties());
  for (const ptx::kernel_image* image : has_wgmma ? grouped_sm90_images() : grouped_mma_images())
    if (runs_on(*image, gpu.properties())) gpu.warmup(*image);
}

std::vector<const ptx::kernel_image*> matmul_grouped_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_matmul_grouped_simt_kernels(list);
  list_matmul_grouped_sm90_kernels(list);
  list_matmul_grouped_mma_kernels(list);
  return list;
}

}  // namespace kaio::ops
