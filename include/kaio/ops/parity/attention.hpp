#pragma once
// The attention of KAIO by the names that its users know: one head in compact row-major buffers of f32,
// seq_len x d_k each. attention_tc takes f16 buffers with a result of f32. All of them are ops::attention,
// without the limits of KAIO: any seq_len, d_k from 1 to 512, no matrix of scores in memory (KAIO's
// `attention` allocates two at every call). `attention_flash` and `attention` are the same.
//
//   attention(gpu, q, k, v, out, seq_len, d_k);
//   attention_flash_causal_with_stats(gpu, q, k, v, out, stats, seq_len, d_k);   // seq_len numbers: lse
//   attention_tc(gpu, q, k, v, out, seq_q, seq_k, d_k, d_v);                     // f16, out of f32
//
//   attention_flash_bwd(gpu, grad_out, q, k, v, out, stats, dq, dk, dv, seq_len, d_k);
//
// Buffers may be larger than needed. All run on gpu.stream(), asynchronously. Throws invalid_argument if a
// buffer is too small or null.

#include <kaio/ops/attention.hpp>
#include <kaio/ops/attention_backward.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/device.hpp>

#include <cstdint>
#include <string>

namespace kaio::ops {

namespace detail {
inline void compact_attention(const device& gpu, const buffer<f32>& q, const buffer<f32>& k,
                              const buffer<f32>& v, buffer<f32>& out, std::uint32_t seq_len,
                              std::uint32_t d_k, bool causal, buffer<f32>* stats = nullptr) {
  attention_options options{.causal = causal ? causal_alignment::top_left : causal_alignment::none};
  if (stats != nullptr) options.lse = tensor_view<f32, 3>(*stats, 1, 1, seq_len);
  const extents shape(1, seq_len, 1, d_k);
  ops::attention(gpu.stream(), tensor_view<const f32, 4>(q, shape), tensor_view<const f32, 4>(k, shape),
                 tensor_view<const f32, 4>(v, shape), tensor_view<f32, 4>(out, shape), options);
}
inline void compact_attention_backward(const device& gpu, const buffer<f32>& grad_out, const buffer<f32>& q,
                                       const buffer<f32>& k, const buffer<f32>& v, const buffer<f32>& out,
                                       const buffer<f32>& stats, buffer<f32>& dq, buffer<f32>& dk,
                                       buffer<f32>& dv, std::uint32_t seq_len, std::uint32_t d_k,
                                       bool causal) {
  const extents shape(1, seq_len, 1, d_k);
  using input = tensor_view<const f32, 4>;
  using output = tensor_view<f32, 4>;
  const auto workspace = gpu.allocate<u8>(
      attention_backward_workspace_bytes(gpu.stream(), input(q, shape), input(k, shape), input(v, shape)));
  ops::attention_backward(
      gpu.stream(), input(grad_out, shape), input(q, shape), input(k, shape), input(v, shape),
      input(out, shape), tensor_view<const f32, 3>(stats, 1, 1, seq_len), output(dq, shape),
      output(dk, shape), output(dv, shape),
      {.forward = {.causal = causal ? causal_alignment::top_left : causal_alignment::none},
       .workspace = workspace});
}
inline void compact_attention_tc(const device& gpu, const buffer<f16>& q, const buffer<f16>& k,
                                 const buffer<f16>& v, buffer<f32>& out, std::uint32_t seq_q,
                                 std::uint32_t seq_k, std::uint32_t d_k, std::uint32_t d_v, bool causal) {
  ops::attention(gpu.stream(), tensor_view<const f16, 4>(q, 1, seq_q, 1, d_k),
                 tensor_view<const f16, 4>(k, 1, seq_k, 1, d_k),
                 tensor_view<const f16, 4>(v, 1, seq_k, 1, d_v), tensor_view<f32, 4>(out, 1, seq_q, 1, d_v),
                 {.causal = causal ? causal_alignment::top_left : causal_alignment::none});
}
}  // namespace detail

// softmax(q k^T / sqrt(d_k)) v.
inline void attention(const device& gpu, const buffer<f32>& q, const buffer<f32>& k, const buffer<f32>& v,
                      buffer<f32>& out, std::uint32_t seq_len, std::uint32_t d_k) {
  detail::compact_attention(gpu, q, k, v, out, seq_len, d_k, false);
}
// attention, where row i attends to rows 0 to i.
inline void attention_causal(const device& gpu, const buffer<f32>& q, const buffer<f32>& k,
                             const buffer<f32>& v, buffer<f32>& out, std::uint32_t seq_len,
                             std::uint32_t d_k) {
  detail::compact_attention(gpu, q, k, v, out, seq_len, d_k, true);
}

inline void attention_flash(const device& gpu, const buffer<f32>& q, const buffer<f32>& k,
                            const buffer<f32>& v, buffer<f32>& out, std::uint32_t seq_len,
                            std::uint32_t d_k) {
  detail::compact_attention(gpu, q, k, v, out, seq_len, d_k, false);
}
inline void attention_flash_causal(const device& gpu, const buffer<f32>& q, const buffer<f32>& k,
                                   const buffer<f32>& v, buffer<f32>& out, std::uint32_t seq_len,
                                   std::uint32_t d_k) {
  detail::compact_attention(gpu, q, k, v, out, seq_len, d_k, true);
}

// Also writes the natural logarithm of each row's sum of exponentials into `stats`, seq_len numbers.
inline void attention_flash_with_stats(const device& gpu, const buffer<f32>& q, const buffer<f32>& k,
                                       const buffer<f32>& v, buffer<f32>& out, buffer<f32>& stats,
                                       std::uint32_t seq_len, std::uint32_t d_k) {
  detail::compact_attention(gpu, q, k, v, out, seq_len, d_k, false, &stats);
}
inline void attention_flash_causal_with_stats(const device& gpu, const buffer<f32>& q, const buffer<f32>& k,
                                              const buffer<f32>& v, buffer<f32>& out, buffer<f32>& stats,
                                              std::uint32_t seq_len, std::uint32_t d_k) {
  detail::compact_attention(gpu, q, k, v, out, seq_len, d_k, true, &stats);
}

// The gradients of attention_flash_with_stats, from its out and stats. It allocates workspace, and returns
// when it has run.
inline void attention_flash_bwd(const device& gpu, const buffer<f32>& grad_out, const buffer<f32>& q,
                                const buffer<f32>& k, const buffer<f32>& v, const buffer<f32>& out,
                                const buffer<f32>& stats, buffer<f32>& dq, buffer<f32>& dk, buffer<f32>& dv,
                                std::uint32_t seq_len, std::uint32_t d_k) {
  detail::compact_attention_backward(gpu, grad_out, q, k, v, out, stats, dq, dk, dv, seq_len, d_k, false);
}
// The gradients of attention_flash_causal_with_stats; KAIO's plan has both names.
inline void attention_flash_bwd_causal(const device& gpu, const buffer<f32>& grad_out, const buffer<f32>& q,
                                       const buffer<f32>& k, const buffer<f32>& v, const buffer<f32>& out,
                                       const buffer<f32>& stats, buffer<f32>& dq, buffer<f32>& dk,
                                       buffer<f32>& dv, std::uint32_t seq_len, std::uint32_t d_k) {
  detail::compact_attention_backward(gpu, grad_out, q, k, v, out, stats, dq, dk, dv, seq_len, d_k, true);
}
inline void attention_flash_causal_bwd(const device& gpu, const buffer<f32>& grad_out, const buffer<f32>& q,
                                       const buffer<f32>& k, const buffer<f32>& v, const buffer<f32>& out,
                                       const buffer<f32>& stats, buffer<f32>& dq, buffer<f32>& dk,
                                       buffer<f32>& dv, std::uint32_t seq_len, std::uint32_t d_k) {
  detail::compact_attention_backward(gpu, grad_out, q, k, v, out, stats, dq, dk, dv, seq_len, d_k, true);
}

// softmax(q k^T / sqrt(d_k)) v of f16 operands, not rounded to f16: q is seq_q x d_k, k seq_k x d_k, v seq_k
// x d_v, out seq_q x d_v. seq_q and seq_k are any, d_k and d_v 1 to 512; KAIO had seq_k up to 384 and sizes
// up to 128 in multiples of 8 or 16. Throws unsupported_device below sm_75, and above 256 elements below
// sm_80.
inline void attention_tc(const device& gpu, const buffer<f16>& q, const buffer<f16>& k, const buffer<f16>& v,
                         buffer<f32>& out, std::uint32_t seq_q, std::uint32_t seq_k, std::uint32_t d_k,
                         std::uint32_t d_v) {
  detail::compact_attention_tc(gpu, q, k, v, out, seq_q, seq_k, d_k, d_v, false);
}
// attention_tc, where row i attends to rows 0 to i of k and v.
inline void attention_tc_causal(const device& gpu, const buffer<f16>& q, const buffer<f16>& k,
                                const buffer<f16>& v, buffer<f32>& out, std::uint32_t seq_q,
                                std::uint32_t seq_k, std::uint32_t d_k, std::uint32_t d_v) {
  detail::compact_attention_tc(gpu, q, k, v, out, seq_q, seq_k, d_k, d_v, true);
}

// The choice is always automatic; KAIO had two kernels to choose from.
inline void attention_auto(const device& gpu, const buffer<f32>& q, const buffer<f32>& k,
                           const buffer<f32>& v, buffer<f32>& out, std::uint32_t seq_len, std::uint32_t d_k) {
  detail::compact_attention(gpu, q, k, v, out, seq_len, d_k, false);
}
inline void attention_auto_causal(const device& gpu, const buffer<f32>& q, const buffer<f32>& k,
                                  const buffer<f32>& v, buffer<f32>& out, std::uint32_t seq_len,
                                  std::uint32_t d_k) {
  detail::compact_attention(gpu, q, k, v, out, seq_len, d_k, true);
}

// Measures the kernels for these calls by ops::tune, which remembers the fastest; returns its name. Throws
// what ops::tune does.
std::string tune_attention(const device& gpu, std::uint32_t seq_len, std::uint32_t d_k);
std::string tune_attention_causal(const device& gpu, std::uint32_t seq_len, std::uint32_t d_k);

}  // namespace kaio::ops
