// matmul_w8, by matmul_w4.

#include <kaio/ops/matmul_w8.hpp>

namespace kaio::ops {

std::uint64_t packed_bytes(const w8_shape& shape) { return packed_bytes(detail::as_w4_shape(shape)); }

std::uint64_t matmul_w8_workspace_bytes(const stream& s, const any_view& x, const w8_weights& w,
                                        const matmul_w8_options& options) {
  const w4_weights weights = detail::as_w4_weights(w);
  return detail::workspace_of_matmul_w4(s, {"matmul_w8_workspace_bytes", x, {}, &weights, &options});
}

kernel_choice matmul_w8_choice(const stream& s, const any_view& x, const w8_weights& w,
                               const matmul_w8_options& options) {
  return matmul_w4_choice(s, x, detail::as_w4_weights(w), options);
}

void matmul_w8_warmup(const runtime::device& gpu, const any_view& x, const w8_weights& w,
                      const matmul_w8_options& options) {
  matmul_w4_warmup(gpu, x, detail::as_w4_weights(w), options);
}

}  // namespace kaio::ops
