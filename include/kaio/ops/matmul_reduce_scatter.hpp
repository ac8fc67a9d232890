#pragma once
// A product whose inner dimension is divided among ranks: each rank multiplies its part, and gets the sum of some rows.
// Parts are sent while the next one is computed.
//
//   matmul_reduce_scatter(w, s, a, b, c);     // c = rows of this rank of the sum over ranks of a * b
//   reduce_scatter_with(w, s, c, [&](const stream& on, int rank, auto part) {     // any operation
//     matmul_w4(on, x.slice(0, rank * m, m), weights, part);
//   });
//
//   stream s      product for rank + 1 | product for rank + 2 | ... | own product | wait for all | sum, rank 0 first
//   copy engine                        | part to rank + 1 | signal | part to rank + 2 | signal | ...
//
// Parts have the type of c, or f32 (f32_parts); sums are f32, rank 0 first, and rounded once to c. Parts wait in memory
// of the workspace, which is in use two calls later again. Nothing is allocated or waited for but the comparison of
// peer_workspace.hpp; a call may be captured. Throws invalid_argument, which names the argument, on all ranks, before
// anything is sent; communication_error; and what the product throws.

#include <kaio/ops/all_gather_matmul.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::ops {

struct matmul_reduce_options {
  f32 alpha = 1;
  bool f32_parts = false;  // parts of f32, whatever c is: twice the copies of 16-bit parts
  matmul_precision precision = matmul_precision::ieee;
  workspace_view workspace{};
  constant_inputs constant = constant_inputs::none;
  std::string_view variant{};
};

namespace detail {

// parts: the type of the parts, f32 or that of out.
void run_reduce_scatter(std::string_view operation, const peer_workspace& w, const stream& s,
                        const any_view& out, element_kind parts, const work_of_rank& work);
void run_matmul_reduce_scatter(const peer_workspace& w, const stream& s, const matmul_view& a,
                               const matmul_view& b, const matmul_view& c,
                               const matmul_reduce_options& options);
void run_matmul_all_reduce(const peer_workspace& w, const stream& s, const matmul_view& a,
                           const matmul_view& b, const matmul_view& c, const matmul_reduce_options& options);

}  // namespace detail

// The bytes that a call takes of the workspace's product_bytes. out: the rows of one rank; parts: their type.
std::uint64_t reduce_scatter_bytes(int ranks, const any_view& out, element_kind parts);

// a: (ranks * m, k), this rank's columns; b: (k, n), its rows; k may differ among ranks. c: (m, n) with adjacent
// neighbours along n: rows rank * m to rank * m + m of the sum. Types and layouts of a and b are those of matmul.
template <class A, class B, class C>
void matmul_reduce_scatter(const peer_workspace& w, const stream& s, const tensor_view<A, 2>& a,
                           const tensor_view<B, 2>& b, const tensor_view<C, 2>& c,
                           const matmul_reduce_options& options = {}) {
  detail::require_matmul_types<A, B, C, 2, 2, 2>();
  detail::run_matmul_reduce_scatter(w, s, a, b, c, options);
}
// Refuses arguments that are no such views.
template <class A, class B, class C>
  requires(!(detail::views<0, A, B, C>))
void matmul_reduce_scatter(const peer_workspace&, const stream&, const A&, const B&, const C&,
                           const matmul_reduce_options& = {}) {
  detail::refuse_views<A, B, C>();
}

// Calls work(stream, rank, part) for all ranks, this one last: a tensor_view<T, 2> of the extents of `out`, f32, f16 or
// bf16, to which work queues what writes it. It makes the same calls each time: it is called with stream::loading before,
// for its checks. out: the sum of the parts for this rank of all ranks; neighbours are adjacent.
template <class T, class Work>
void reduce_scatter_with(const peer_workspace& w, const stream& s, const tensor_view<T, 2>& out,
                         const Work& work) {
  static_assert(is_wide(element_kind_of<T>()), "kaio: parts are f32, f16 or bf16");
  detail::run_reduce_scatter(
      "reduce_scatter_with", w, s, out, element_kind_of<T>(),
      [&](const stream& on, int rank, const any_view& part) { work(on, rank, detail::matrix_of<T>(part)); });
}

}  // namespace kaio::ops

namespace kaio {
using ops::matmul_reduce_options;
using ops::matmul_reduce_scatter;
using ops::reduce_scatter_with;
}  // namespace kaio
