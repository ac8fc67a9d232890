#pragma once
// The products of KAIO with quantised weights by the names that its users know, on compact row-major buffers,
// without the limits of KAIO: any m, n and k.
//
//   matmul_int8(gpu, a8, b8, c, scale, m, n, k);                        // i8 x i8 -> scale * exact sums, f32
//   matmul_int4(gpu, a16, b_packed, scales, c, m, n, k, group_size);    // f16 x four bits -> f32
//   qkv_project_int8(gpu, x16, w_q, w_k, w_v, scale_q, scale_k, scale_v, q, k, v, m, n, k);
//
// Buffers may be larger than needed. All run on gpu.stream(). Throws invalid_argument if a buffer is too
// small or null.

#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/device.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace kaio::ops {

namespace detail {
// qkv_project has heads of up to 512 elements, so n columns become heads of one size: the largest multiple of
// 8 that divides n, else the largest divisor.
constexpr std::uint32_t head_size_of(std::uint32_t n) {
  for (std::uint32_t size = 512; size >= 8; size -= 8)
    if (n % size == 0) return size;
  std::uint32_t size = 512;
  while (n % size != 0) --size;
  return size;
}
inline void compact_qkv_project(const device& gpu, const buffer<f16>& x, const qkv_weights& weights,
                                const std::array<buffer<f16>*, 3>& out, std::uint32_t m, std::uint32_t n,
                                std::uint32_t k) {
  const std::uint32_t size = head_size_of(n);
  const auto heads = [&](std::size_t i) { return tensor_view<f16, 3>(*out[i], m, n / size, size); };
  const qkv_outputs outputs{heads(0), heads(1), heads(2)};
  const tensor_view<const f16, 2> rows(x, m, k);
  const auto workspace =
      gpu.allocate<u8>(qkv_project_workspace_bytes(gpu.stream(), rows, weights, outputs), uninitialised);
  ops::qkv_project(gpu.stream(), rows, weights, outputs, {.workspace = workspace});
}
}  // namespace detail

// C = scale * (A * B) of 8-bit integers, with exact sums. KAIO required K a multiple of 32.
inline void matmul_int8(const device& gpu, const buffer<i8>& a, const buffer<i8>& b, buffer<f32>& c,
                        f32 scale, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  ops::matmul_int8(gpu.stream(), tensor_view<const i8, 2>(a, m, k), tensor_view<const i8, 2>(b, k, n),
                   tensor_view<f32, 2>(c, m, n), {.alpha = scale});
}

// C = A * W, A: m x k of f16, W: k x n of four bits as in qkv_project_int4, C: m x n in f32. It packs the
// weights at every call, in memory that it allocates, and returns when it has run: to pack them once, see
// repack and matmul_w4. Groups are multiples of 16, or k (KAIO: 128). n and k are at least 1. Throws
// unsupported_device before sm_70.
inline void matmul_int4(const device& gpu, const buffer<f16>& a, const buffer<u32>& b_packed,
                        const buffer<f16>& scales, buffer<f32>& c, std::uint32_t m, std::uint32_t n,
                        std::uint32_t k, std::uint32_t group_size) {
  const w4_shape shape{.n = n, .k = k, .group = group_size};
  auto memory = gpu.allocate<u8>(packed_bytes(shape), uninitialised);  // throws if the groups are not valid
  const std::int64_t groups = (shape.k + shape.group - 1) / shape.group;
  const w4_weights weights{shape, memory};
  repack(gpu.stream(),
         kaio_int4{.packed = tensor_view<const u32, 2>(b_packed, n, (k + 7) / 8),
                   .scales = tensor_view<const f16, 2>(scales, groups, n)},
         weights);
  const tensor_view<const f16, 2> x(a, m, k);
  matmul_w4_options options{.exact_weights = true};
  auto workspace =
      gpu.allocate<u8>(matmul_w4_workspace_bytes(gpu.stream(), x, weights, options), uninitialised);
  options.workspace = workspace;
  ops::matmul_w4(gpu.stream(), x, weights, tensor_view<f32, 2>(c, m, n), options);
}

// Q, K and V of x: m x k, each x W rounded once to f16, m x n. KAIO's weights are of one n. Both functions
// pack the weights at every call, in memory that they allocate, and return when they have run. To pack them
// once, and for heads, GQA, biases, norms, rotation and caches, see repack and qkv_project. n and k are at
// least 1. Throws unsupported_device before sm_70.

// W: k x n of i8, times its scale. KAIO required k a multiple of 16, n of 2.
inline void qkv_project_int8(const device& gpu, const buffer<f16>& x, const buffer<i8>& w_q,
                             const buffer<i8>& w_k, const buffer<i8>& w_v, f32 scale_q, f32 scale_k,
                             f32 scale_v, buffer<f16>& q_out, buffer<f16>& k_out, buffer<f16>& v_out,
                             std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  const w8_shape shape{.n = n, .k = k};
  const auto scales = gpu.upload({scale_q, scale_k, scale_v});
  const std::uint64_t bytes = packed_bytes(shape);
  const auto pack = [&](const buffer<i8>& from, std::size_t i, buffer<u8>& to) {
    const tensor_view<const f32, 2> scale(scales.slice(i, 1), extents(n, 1), strides(0, 1));
    repack(gpu.stream(),
           int8_w8{.weight = tensor_view<const i8, 2>(from, k, n).transposed(), .scales = scale},
           w8_weights{shape, to});
    return projection_weight(w8_weights{shape, to});
  };
  auto q = gpu.allocate<u8>(bytes, uninitialised), of_k = gpu.allocate<u8>(bytes, uninitialised),
       v = gpu.allocate<u8>(bytes, uninitialised);
  const qkv_weights weights{pack(w_q, 0, q), pack(w_k, 1, of_k), pack(w_v, 2, v)};
  detail::compact_qkv_project(gpu, x, weights, {&q_out, &k_out, &v_out}, m, n, k);
}

// W: k x n of four bits, two's complement. Words: (n, k / 8), rounded up, each with eight neighbours along k.
// Scales: (k / group_size, n), rounded up. KAIO required groups of 128, and n a multiple of 2; groups are
// multiples of 16 here.
inline void qkv_project_int4(const device& gpu, const buffer<f16>& x, const buffer<u32>& w_q_packed,
                             const buffer<u32>& w_k_packed, const buffer<u32>& w_v_packed,
                             const buffer<f16>& scales_q, const buffer<f16>& scales_k,
                             const buffer<f16>& scales_v, buffer<f16>& q_out, buffer<f16>& k_out,
                             buffer<f16>& v_out, std::uint32_t m, std::uint32_t n, std::uint32_t k,
                             std::uint32_t group_size) {
  const w4_shape shape{.n = n, .k = k, .group = group_size};
  const std::uint64_t bytes = packed_bytes(shape);  // throws if the groups are not valid
  const std::int64_t groups = (shape.k + shape.group - 1) / shape.group;
  const auto pack = [&](const buffer<u32>& from, const buffer<f16>& scales, buffer<u8>& to) {
    repack(gpu.stream(),
           kaio_int4{.packed = tensor_view<const u32, 2>(from, n, (k + 7) / 8),
                     .scales = tensor_view<const f16, 2>(scales, groups, n)},
           w4_weights{shape, to});
    return projection_weight(w4_weights{shape, to});
  };
  auto q = gpu.allocate<u8>(bytes, uninitialised), of_k = gpu.allocate<u8>(bytes, uninitialised),
       v = gpu.allocate<u8>(bytes, uninitialised);
  const qkv_weights weights{pack(w_q_packed, scales_q, q), pack(w_k_packed, scales_k, of_k),
                            pack(w_v_packed, scales_v, v)};
  detail::compact_qkv_project(gpu, x, weights, {&q_out, &k_out, &v_out}, m, n, k);
}

}  // namespace kaio::ops
