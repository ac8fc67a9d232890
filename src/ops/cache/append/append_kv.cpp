// The launch of append_kv.

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/cache/append/kernel.hpp>
#include <kaio/runtime/device.hpp>

#include <vector>

#include "ops/cache/append/resolve.hpp"

namespace kaio::ops {

namespace {

constexpr u32 with_float8 = 89;

// Whether the device, and its driver, take the kernel with these instructions.
bool has_float8(const device_properties& device) {
  return device.target.sm >= with_float8 &&
         !(device.ptx_version < append_kv_rows<with_float8>.image().needs.version);
}

}  // namespace

namespace detail {

void run_append_kv(const stream& s, const any_view& k, const any_view& v, const any_cache& cache,
                   const append_kv_options& options, std::string_view caller) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const append_call call = resolve_append_kv(s.device_identity(), k, v, cache, options, caller);
  if (call.rows == 0) return;
  const auto blocks = grid(row_blocks(call.rows, call.problem.lanes_log));
  if (has_float8(device))
    append_kv_rows<with_float8>.launch(s, blocks, call.problem);
  else
    append_kv_rows<70>.launch(s, blocks, call.problem);
}

}  // namespace detail

void append_kv_warmup(const runtime::device& gpu) {
  gpu.warmup(has_float8(gpu.properties()) ? append_kv_rows<with_float8>.image() : append_kv_rows<70>.image());
}

void list_cache_append_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&append_kv_rows<70>.image());
  list.push_back(&append_kv_rows<with_float8>.image());
}

}  // namespace kaio::ops
