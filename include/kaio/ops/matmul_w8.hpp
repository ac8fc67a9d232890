#pragma once
// y = x W^T + bias with weights of eight bits, integers or e4m3, and activations of f16 or bf16 (W8A16).
// repack brings the tensors of files into the layout that the kernels read, once at load.
//
//   const w8_shape shape{.n = 4096, .k = 11008};                     // int8, a scale for each column
//   buffer<u8> packed = gpu.allocate<u8>(packed_bytes(shape));
//   const w8_weights w{shape, packed};
//   repack(s, int8_w8{.weight = ..., .scales = ...}, w);             // or gptq_w8, q8_0_w8, e4m3_w8, ...
//   buffer<u8> memory = gpu.allocate<u8>(matmul_w8_workspace_bytes(s, x, w));
//   matmul_w8(s, x, w, y, {.workspace = memory});
//
// The kernels are those of matmul_w4 with other codes. Its header applies here too: numbers, bits, parts,
// options and errors.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/weight_only/call/arguments_w8.hpp>

#include <cstdint>
#include <vector>

namespace kaio::ops {

using matmul_w8_options = matmul_w4_options;

// The memory of `to` overlaps none of the tensors.
template <class Source>
  requires requires(const Source& source) { detail::arguments_of(source); }
void repack(const stream& s, const Source& source, const w8_weights& to) {
  static_assert(detail::is_of_w8<Source>,
                "kaio: repack: these tensors are packed into w4_weights; w8_weights are made of gptq_w8, "
                "compressed_tensors_w8, int8_w8, llm_int8_w8, e4m3_w8, q8_0_w8 or marlin_w8");
  detail::run_repack_w4(s, detail::arguments_of(source), detail::as_w4_weights(to));
}

template <class Source>
  requires detail::is_of_w8<Source>
void repack(const stream&, const Source&, const w4_weights&) {
  static_assert(!detail::is_of_w8<Source>,
                "kaio: repack: these tensors have codes of eight bits, which are packed into w8_weights");
}

// out: (n, k) of any strides, f32, f16 or bf16, in the file's order of k: number * scale in f32, rounded
// once.
template <class T>
void dequantise(const stream& s, const w8_weights& w, const tensor_view<T, 2>& out) {
  dequantise(s, detail::as_w4_weights(w), out);
}

// x: (m, k), out: (m, n), of any strides from row to row; neighbours along a row are adjacent.
template <class X, class Out>
void matmul_w8(const stream& s, const tensor_view<X, 2>& x, const w8_weights& w,
               const tensor_view<Out, 2>& out, const matmul_w8_options& options = {}) {
  detail::require_w4_types<X, Out>();
  const w4_weights weights = detail::as_w4_weights(w);
  detail::run_matmul_w4(s, {"matmul_w8", x, out, &weights, &options});
}
// Refuses arguments that are no such views.
template <class X, class Out>
  requires(!(detail::views<2, X, Out>))
void matmul_w8(const stream&, const X&, const w8_weights&, const Out&, const matmul_w8_options& = {}) {
  detail::refuse_views<X, Out>();
}

std::uint64_t matmul_w8_workspace_bytes(const stream& s, const any_view& x, const w8_weights& w,
                                        const matmul_w8_options& options = {});
kernel_choice matmul_w8_choice(const stream& s, const any_view& x, const w8_weights& w,
                               const matmul_w8_options& options = {});
void matmul_w8_warmup(const runtime::device& gpu, const any_view& x, const w8_weights& w,
                      const matmul_w8_options& options = {});

}  // namespace kaio::ops

namespace kaio {
using ops::compressed_tensors_w8;
using ops::constant_inputs;
using ops::e4m3_w8;
using ops::gptq_w8;
using ops::int8_w8;
using ops::llm_int8_w8;
using ops::marlin_w8;
using ops::matmul_w8;
using ops::matmul_w8_options;
using ops::matmul_w8_warmup;
using ops::matmul_w8_workspace_bytes;
using ops::q8_0_w8;
using ops::w8_codes;
using ops::w8_shape;
using ops::w8_weights;
}  // namespace kaio
