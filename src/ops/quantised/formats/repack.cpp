// Blocks as the packed weights of matmul_w4: the checks and the launch.

#include <kaio/ops/quantised/dequantise.hpp>
#include <kaio/ops/quantised/formats/repack_blocks.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <string>
#include <vector>

#include "ops/quantised/formats/check.hpp"
#include "ops/quantised/formats/kernels.hpp"
#include "ops/quantised/w4/resolve.hpp"

namespace kaio::ops {

void repack(const stream& s, const gguf_q4_0& source, const w4_weights& to) {
  constexpr std::string_view operation = "repack";
  s.properties();  // a null stream is refused before anything is looked at
  const validation check(operation, s.device_identity());
  const w4_packed w = detail::check_w4_weights(operation, s.device_identity(), to, true);
  const w4_shape& shape = to.shape;
  if (w.group.value != 32 || shape.k % 32 != 0 || shape.scales != w4_scale_type::f16 || shape.zero_points ||
      shape.ordered)
    detail::refuse_format(
        operation,
        "weights whose shape is not that of Q4_0: groups of 32, scales of f16, without zero "
        "points and order");
  const any_view bytes = source.bytes;
  check.input("bytes", bytes);
  detail::check_line(operation, "bytes", bytes);
  check.extent("bytes", bytes, 0,
               static_cast<std::int64_t>(packed_bytes(block_format::q4_0, shape.n * shape.k)),
               "the bytes of n x k weights");
  if (bytes.address % 2 != 0)
    detail::refuse_format(operation,
                          "argument bytes begins at an odd address, and blocks have numbers of 16 bits");
  check.apart("weights", detail::memory_view(to), "bytes", bytes);
  const u64 blocks = u64{w.tiles_n} * w.tiles_k + u64{w.tiles_n} * w.groups;
  repack_q4_0.launch(s, grid(blocks), q4_0_source{w, bytes.address});
}

void warm_up_repack_q4_0(const runtime::device& gpu) { gpu.warmup(repack_q4_0.image()); }

void list_repack_q4_0_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&repack_q4_0.image());
}

}  // namespace kaio::ops
