#pragma once
// C = activation(alpha * A * B + beta * C + bias) + residual, on the fastest kernel that fits the device, the
// types, the layouts and the shape.
//
//   tensor_view a(x, m, k), b(w, k, n), c(y, m, n);                  // row by row
//   matmul(gpu.stream(), a, b, c);                                   // C = A * B
//   matmul(gpu.stream(), a, b_rows.transposed(), c,                  // weights stored N x K, read in place
//          {.bias = per_column(bias), .activation = matmul_activation::gelu});
//
// Elements: A and B both f32, f16, bf16, e4m3 or e5m2; C f32, f16 or bf16. Sums are kept in f32, results are
// rounded once, and the same call gives the same bits every time. Batches are views of three dimensions. An
// input of two dimensions, or with stride 0 or extent 1 in the first, is used for every product of the batch.
//
// Layouts: in A, in B and in C one of the last two strides is 1, the other any that is large enough (inputs
// may repeat: stride 0). So A, B or C may be transposed() or slice()d. With an extent of 0 along M, N or the
// batch, nothing is done; K = 0 is a product of zeros. alpha = 0 does not read A and B, beta = 0 does not
// read C.
//
// Nothing is allocated, copied or waited for; a kernel is loaded when it is first used on a device. Throws
// invalid_argument, which names the argument, before anything runs; unsupported_device if no kernel is made
// for the device; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/matmul/call/arguments.hpp>
#include <kaio/ops/shared/kernel_choice.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::ops {

namespace detail {

void run_matmul(const stream& s, const matmul_arguments& arguments);
void run_matmul_batch(const stream& s, std::string_view operation, std::span<const matmul_view> a,
                      std::span<const matmul_view> b, std::span<const matmul_view> c,
                      const matmul_options& options);

}  // namespace detail

// A: M x K, B: K x N, C: M x N; with three dimensions the batch comes first. Asynchronous, in the order of
// the stream. C shares no memory with A, B or bias; the residual is C itself or apart from it.
template <class A, class B, class C, std::size_t RankA, std::size_t RankB, std::size_t RankC>
void matmul(const stream& s, const tensor_view<A, RankA>& a, const tensor_view<B, RankB>& b,
            const tensor_view<C, RankC>& c, const matmul_options& options = {}) {
  detail::require_matmul_types<A, B, C, RankA, RankB, RankC>();
  detail::run_matmul(s, {"matmul", a, b, c, &options});
}
// Refuses arguments that are no such views.
template <class A, class B, class C>
  requires(!(detail::views<0, A, B, C>))
void matmul(const stream&, const A&, const B&, const C&, const matmul_options& = {}) {
  detail::refuse_views<A, B, C>();
}

// C[i] = epilogue(A[i] * B[i]) for matrices anywhere in memory, given by host arrays of their views: one
// product for each view of C, each of its own shape. The arrays may be reused when the call returns. Products
// whose views differ only in equally spaced addresses become one launch, like a strided batch. Other products
// take one launch each. No output shares memory with another or with any input. Bias and residual are used by
// every product: they have two dimensions at most and fit each shape.
template <class A, class B, class C>
void matmul_batch(const stream& s, std::span<const tensor_view<A, 2>> a, std::span<const tensor_view<B, 2>> b,
                  std::span<const tensor_view<C, 2>> c, const matmul_options& options = {}) {
  detail::require_matmul_types<A, B, C, 2, 2, 2>();
  detail::run_matmul_batch(s, "matmul_batch", std::vector<matmul_view>(a.begin(), a.end()),
                           std::vector<matmul_view>(b.begin(), b.end()),
                           std::vector<matmul_view>(c.begin(), c.end()), options);
}

// The bytes of workspace that make this call as fast as it can be; 0 if it needs none. The contents of the
// views are not looked at.
std::uint64_t matmul_workspace_bytes(const stream& s, const matmul_view& a, const matmul_view& b,
                                     const matmul_view& c, const matmul_options& options = {});

// Loads what this call launches, ahead of its first use. The first call then takes no longer than later ones,
// and may be captured into a graph. The contents of the views are not looked at. Throws what the call itself
// would.
void matmul_warmup(const runtime::device& gpu, const matmul_view& a, const matmul_view& b,
                   const matmul_view& c, const matmul_options& options = {});

// A kernel for these types and layouts, and its properties for this call.
struct matmul_variant_info {
  std::string name;
  std::string refusal;                // why it cannot run this call on this device; empty: it can
  double seconds = 0;                 // by the cost model; 0: it cannot run
  std::uint64_t workspace_bytes = 0;  // bytes that it needs
};
// All kernels for the types and layouts of a call: the fastest by the cost model first, those that cannot run
// it last. matmul takes the first, unless `tune` has found a better one.
std::vector<matmul_variant_info> matmul_variants(const stream& s, const matmul_view& a, const matmul_view& b,
                                                 const matmul_view& c, const matmul_options& options = {});

// The name of the variant that a call takes: the cost model's, or the one that `tune` has found. Throws what
// the call itself would.
kernel_choice matmul_choice(const stream& s, const matmul_view& a, const matmul_view& b, const matmul_view& c,
                            const matmul_options& options = {});

}  // namespace kaio::ops

namespace kaio {
using ops::constant_inputs;
using ops::matmul;
using ops::matmul_activation;
using ops::matmul_batch;
using ops::matmul_options;
using ops::matmul_precision;
using ops::matmul_warmup;
using ops::per_column;
using ops::per_row;
}  // namespace kaio
