#pragma once
// Repacks weights of four bits from the layouts of files into that of matmul_w4, once at load, and
// dequantises them to a matrix.
//
//   const w4_shape shape{.n = 4096, .k = 11008, .group = 128, .zero_points = true};
//   buffer<u8> memory = gpu.allocate<u8>(packed_bytes(shape));
//   const w4_weights w{shape, memory};
//   repack(s, gptq_w4{.qweight = ..., .qzeros = ..., .scales = ...}, w);     // or awq_w4, mxfp4_w4, ...
//   dequantise(s, w, tensor_view<f16, 2>(matrix, 4096, 11008));              // W, (n, k)
//
// Nothing is allocated, read back or waited for. Throws invalid_argument with the argument's name before
// anything runs, and what a launch throws. The host does not read codes, zero points or the index of groups:
// every code is one of sixteen, and an index without valid groups leaves k / group.
//
// Sources of the layouts: GPTQModel, AutoAWQ, compressed-tensors, bitsandbytes, transformers (gpt-oss), 2026.

#include <kaio/ops/weight_only/call/arguments_packed.hpp>
#include <kaio/runtime/stream.hpp>

#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {
void run_repack_w4(const stream& s, const w4_source_arguments& source, const w4_weights& to);
void run_repack_w4(const stream& s, const w4_bytes_arguments& source, const w4_weights& to);
void run_dequantise_w4(const stream& s, const w4_weights& w, const any_view& out);
}  // namespace detail

// The memory of `to` does not overlap the tensors.
template <class Source>
  requires(!detail::is_of_w8<Source>) && requires(const Source& source) { detail::arguments_of(source); }
void repack(const stream& s, const Source& source, const w4_weights& to) {
  detail::run_repack_w4(s, detail::arguments_of(source), to);
}

// out: (n, k) with any strides, f32, f16 or bf16, in the file's order of k. Each weight is number * scale in
// f32, exact except for nf4 and fp4, plus an offset, times the column's factor. It is rounded once more to
// f16 or bf16. Not for own codes.
template <class T>
void dequantise(const stream& s, const w4_weights& w, const tensor_view<T, 2>& out) {
  static_assert(is_wide(element_kind_of<T>()) && !std::is_const_v<T>,
                "kaio: weights are dequantised to a view of f32, f16 or bf16 that are not const");
  detail::run_dequantise_w4(s, w, out);
}

// Loads the kernels of repack and dequantise ahead of their first use.
void repack_w4_warmup(const runtime::device& gpu);

}  // namespace kaio::ops

namespace kaio {
using ops::awq_gemv_fast_w4;
using ops::awq_gemv_w4;
using ops::awq_w4;
using ops::bitsandbytes_w4;
using ops::compressed_tensors_w4;
using ops::dequantise;
using ops::gptq_w4;
using ops::kaio_int4;
using ops::marlin_w4;
using ops::mxfp4_w4;
using ops::nvfp4_w4;
using ops::packed_bytes;
using ops::repack;
using ops::tinygemm_w4;
using ops::torchao_int4_w4;
using ops::w4_codes;
using ops::w4_scale_type;
using ops::w4_shape;
using ops::w4_weights;
}  // namespace kaio
