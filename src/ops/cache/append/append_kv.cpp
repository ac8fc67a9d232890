// The launch of append_kv.

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/cache/append/kernel.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/runtime/device.hpp>

#include <vector>

#include "ops/cache/append/resolve.hpp"

namespace kaio::ops {

namespace {

// Whether the device and its driver can run the kernel for an architecture.
template <u32 Sm>
bool takes(const device_properties& device) {
  return runs_on(append_kv_rows<Sm>.image(), device);
}

// Calls f(kernel, programmatic) with the kernel for a device; programmatic: it is launched programmatically.
template <class F>
void with_kernel(const device_properties& device, const F& f) {
  if (takes<90>(device)) return f(append_kv_rows<90>, true);
  if (takes<89>(device)) return f(append_kv_rows<89>, false);
  f(append_kv_rows<70>, false);
}

}  // namespace

namespace detail {

void run_append_kv(const stream& s, const any_view& k, const any_view& v, const any_cache& cache,
                   const append_kv_options& options, std::string_view caller) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(caller.empty() ? "append_kv" : caller);
  const append_call call = resolve_append_kv(s.device_identity(), k, v, cache, options, caller);
  if (call.rows == 0) return;
  const auto blocks = grid(row_blocks(call.rows, call.problem.lanes_log));
  with_kernel(device, [&](const auto& kernel, bool programmatic) {
    kernel.launch(s, programmatic ? blocks.programmatic() : blocks, call.problem);
  });
}

}  // namespace detail

void append_kv_warmup(const runtime::device& gpu) {
  with_kernel(gpu.properties(), [&](const auto& kernel, bool) { gpu.warmup(kernel.image()); });
}

void list_cache_append_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&append_kv_rows<70>.image());
  list.push_back(&append_kv_rows<89>.image());
  list.push_back(&append_kv_rows<90>.image());
}

}  // namespace kaio::ops
