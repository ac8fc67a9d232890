#pragma once
// A product whose inner dimension is divided among ranks, on all ranks.
//
//   matmul_all_reduce(w, s, a, b, c);     // c = the sum over ranks of a * b
//
//   bytes of c                           how
//   up to sum_bytes of the workspace     matmul, then all_reduce in place
//   more                                 matmul_reduce_scatter of each rank's rows, then they are gathered (not captured)
//
// Parts have the type of c; in the second form, f32 with f32_parts. Sums are f32, rank 0 first, and rounded once: all ranks
// have equal bits.

#include <kaio/ops/matmul_reduce_scatter.hpp>

#include <cstddef>

namespace kaio::ops {

// a: (m, k), this rank's columns; b: (k, n), its rows; k may differ among ranks. c: (m, n) without gaps. If c is larger
// than sum_bytes, m is a multiple of the ranks.
template <class A, class B, class C>
void matmul_all_reduce(const peer_workspace& w, const stream& s, const tensor_view<A, 2>& a,
                       const tensor_view<B, 2>& b, const tensor_view<C, 2>& c,
                       const matmul_reduce_options& options = {}) {
  detail::require_matmul_types<A, B, C, 2, 2, 2>();
  detail::run_matmul_all_reduce(w, s, a, b, c, options);
}
// Refuses arguments that are no such views.
template <class A, class B, class C>
  requires(!(detail::views<0, A, B, C>))
void matmul_all_reduce(const peer_workspace&, const stream&, const A&, const B&, const C&,
                       const matmul_reduce_options& = {}) {
  detail::refuse_views<A, B, C>();
}

}  // namespace kaio::ops

namespace kaio {
using ops::matmul_all_reduce;
}  // namespace kaio
