#pragma once
// Products of groups of rows, each with packed weights of its own of eight bits, integers or e4m3 (W8A16).
//
//   const grouped_w8_weights w{shape, 8, packed};               // packed: packed_bytes(shape, 8) bytes
//   for (std::int64_t g = 0; g < w.groups; ++g) repack(s, int8_w8{...}, w[g]);
//   matmul_w8_grouped(s, rows, w, offsets, y);
//
// The kernels are those of matmul_w4_grouped with other codes. Its header applies here too.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/matmul_w4_grouped.hpp>
#include <kaio/ops/matmul_w8.hpp>

namespace kaio::ops {

using matmul_w8_grouped_options = matmul_w4_grouped_options;

// x: (rows, k), offsets: (groups + 1), out: (rows, n), as in matmul_w4_grouped.
template <class X, class Offset, class Out>
void matmul_w8_grouped(const stream& s, const tensor_view<X, 2>& x, const grouped_w8_weights& w,
                       const tensor_view<Offset, 1>& offsets, const tensor_view<Out, 2>& out,
                       const matmul_w8_grouped_options& options = {}) {
  detail::require_w4_grouped_types<X, Offset, Out>();
  const grouped_w4_weights weights = detail::as_w4_weights(w);
  detail::run_matmul_w4_grouped(s, {"matmul_w8_grouped", x, offsets, out, &weights, &options});
}
// Refuses arguments that are no such views.
template <class X, class Offset, class Out>
  requires(!(detail::views<2, X, Out> && detail::views<1, Offset>))
void matmul_w8_grouped(const stream&, const X&, const grouped_w8_weights&, const Offset&, const Out&,
                       const matmul_w8_grouped_options& = {}) {
  detail::refuse_views<X, Offset, Out>();
}

kernel_choice matmul_w8_grouped_choice(const stream& s, const any_view& x, const grouped_w8_weights& w,
                                       const matmul_w8_grouped_options& options = {});
void matmul_w8_grouped_warmup(const runtime::device& gpu, const any_view& x, const grouped_w8_weights& w,
                              const matmul_w8_grouped_options& options = {});

}  // namespace kaio::ops

namespace kaio {
using ops::grouped_w8_weights;
using ops::matmul_w8_grouped;
using ops::matmul_w8_grouped_options;
using ops::matmul_w8_grouped_warmup;
}  // namespace kaio
