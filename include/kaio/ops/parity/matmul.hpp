#pragma once
// The products of KAIO by the names that its users know, on compact row-major buffers. Each is ops::matmul
// with views of the buffers, without the limits of KAIO: any M, N and K (KAIO: K a multiple of 16 for tensor
// cores, and nothing zero), any device that has a kernel, and no kernel is rebuilt at a call.
//
//   matmul(gpu, a, b, c, m, n, k);                   // f32 x f32 -> f32
//   matmul_tc(gpu, a16, b16, c, m, n, k);            // f16 x f16 -> f32
//   matmul_auto_tc(gpu, a16, b16, c, m, n, k);       // like matmul_tc: the choice is always automatic here
//
// Buffers may be larger than needed. All run on gpu.stream(), asynchronously. Throws invalid_argument if a
// buffer is too small or null.

#include <kaio/ops/matmul.hpp>
#include <kaio/ops/tune.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/device.hpp>

#include <cstdint>
#include <string>

namespace kaio::ops {

namespace detail {
template <class T, class Out>
void compact_matmul(const device& gpu, const buffer<T>& a, const buffer<T>& b, buffer<Out>& c,
                    std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  ops::matmul(gpu.stream(), tensor_view<const T, 2>(a, m, k), tensor_view<const T, 2>(b, k, n),
              tensor_view<Out, 2>(c, m, n));
}
}  // namespace detail

// C = A * B, A: m x k, B: k x n, C: m x n, in f32 with f32 multiply-adds.
inline void matmul(const device& gpu, const buffer<f32>& a, const buffer<f32>& b, buffer<f32>& c,
                   std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  detail::compact_matmul(gpu, a, b, c, m, n, k);
}
// The variant that tuning found, or the cost model's. KAIO had two kernels to choose from.
inline void matmul_auto(const device& gpu, const buffer<f32>& a, const buffer<f32>& b, buffer<f32>& c,
                        std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  detail::compact_matmul(gpu, a, b, c, m, n, k);
}

// f16 operands on tensor cores, sums and C in f32.
inline void matmul_tc(const device& gpu, const buffer<f16>& a, const buffer<f16>& b, buffer<f32>& c,
                      std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  detail::compact_matmul(gpu, a, b, c, m, n, k);
}
// KAIO's variant with asynchronous copies; here every kernel has them if the device has.
inline void matmul_tc_async(const device& gpu, const buffer<f16>& a, const buffer<f16>& b, buffer<f32>& c,
                            std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  detail::compact_matmul(gpu, a, b, c, m, n, k);
}
inline void matmul_auto_tc(const device& gpu, const buffer<f16>& a, const buffer<f16>& b, buffer<f32>& c,
                           std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  detail::compact_matmul(gpu, a, b, c, m, n, k);
}

// bf16 operands on tensor cores, sums and C in f32.
inline void matmul_tc_bf16(const device& gpu, const buffer<bf16>& a, const buffer<bf16>& b, buffer<f32>& c,
                           std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  detail::compact_matmul(gpu, a, b, c, m, n, k);
}
inline void matmul_tc_bf16_async(const device& gpu, const buffer<bf16>& a, const buffer<bf16>& b,
                                 buffer<f32>& c, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  detail::compact_matmul(gpu, a, b, c, m, n, k);
}
inline void matmul_auto_tc_bf16(const device& gpu, const buffer<bf16>& a, const buffer<bf16>& b,
                                buffer<f32>& c, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  detail::compact_matmul(gpu, a, b, c, m, n, k);
}

// Measures the kernels for one shape of compact operands and remembers the fastest; returns its name. Takes
// memory of its own for operands and result.
std::string tune_matmul(const device& gpu, std::uint32_t m, std::uint32_t n, std::uint32_t k);  // f32
std::string tune_matmul_tc(const device& gpu, std::uint32_t m, std::uint32_t n,
                           std::uint32_t k);  // f16 into f32

}  // namespace kaio::ops
