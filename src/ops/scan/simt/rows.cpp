// The kernels of the library's scans, and their launches. Sums of i32 are those of u32, bit for bit.

#include <kaio/ops/reduce/simt/operators.hpp>
#include <kaio/ops/scan.hpp>
#include <kaio/runtime/device.hpp>

#include "ops/families.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace detail {

void run_scan(const stream& s, const any_view& x, const any_view& out, const scan_options& options) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced("scan");
  if (out.rank != x.rank) refuse("scan", "argument out has another number of dimensions than x");
  if (out.type != x.type) refuse("scan", "argument out has another element type than x; cast it");
  const auto launches = plan_scan(s.device_identity(), "scan", x, out, options);
  if (x.type == element_kind::f32)
    launch_scan<f32, sum_operator>(s, launches, f32{0});
  else if (x.element_bytes() == 4)
    launch_scan<i32, sum_operator>(s, launches, i32{0});
  else
    launch_scan<i64, sum_operator>(s, launches, i64{0});
}

}  // namespace detail

void scan_warmup(const runtime::device& gpu, element_kind kind) {
  switch (kind) {
    case element_kind::f32: return gpu.warmup(scan_rows<f32, sum_operator>.image());
    case element_kind::i32: return gpu.warmup(scan_rows<i32, sum_operator>.image());
    case element_kind::i64: return gpu.warmup(scan_rows<i64, sum_operator>.image());
    default: detail::refuse("scan_warmup", "elements that are not f32, i32 or i64");
  }
}

void list_scan_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&scan_rows<f32, sum_operator>.image());
  list.push_back(&scan_rows<i32, sum_operator>.image());
  list.push_back(&scan_rows<i64, sum_operator>.image());
}

}  // namespace kaio::ops
