// The launch of append_kv.

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/cache/append/kernel.hpp>
#include <kaio/runtime/device.hpp>

#include <vector>

#include "ops/cache/append/resolve.hpp"

namespace kaio::ops {

namespace detail {

void run_append_kv(const stream& s, const any_view& k, const any_view& v, const any_cache& cache,
                   const append_kv_options& options) {
  s.properties();  // a null stream is refused before anything is looked at
  const append_call call = resolve_append_kv(s.device_identity(), k, v, cache, options);
  if (call.rows != 0)
    append_kv_rows.launch(s, grid(row_blocks(call.rows, call.problem.lanes_log)), call.problem);
}

}  // namespace detail

void append_kv_warmup(const runtime::device& gpu) { gpu.warmup(append_kv_rows.image()); }

void list_cache_append_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&append_kv_rows.image());
}

}  // namespace kaio::ops
