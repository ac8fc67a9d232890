#pragma once
// The gradients of an attention: dQ, dK and dV, and those of a bias, of sinks and through the log-sum-exp,
// without the matrix of scores in memory.
//
//   attention(s, q, k, v, out, {.causal = causal_alignment::bottom_right, .lse = lse});
//   auto memory = gpu.allocate<u8>(attention_backward_workspace_bytes(s, q, k, v));
//   attention_backward(s, dout, q, k, v, out, lse, dq, dk, dv,
//                      {.forward = {.causal = causal_alignment::bottom_right}, .workspace = memory});
//
// x, p and o are those of attention.hpp, and s = scale * (q . k):
//
//   delta_i = (sum of dO_i * o_i) - dlse_i
//   dp_ij = dO_i . v_j;   dx_ij = p_ij * (dp_ij - delta_i);   ds_ij = dx_ij * dx/ds
//   dq_i = scale * sum of ds_ij * k_j;   dk_j = scale * sum of ds_ij * q_i;   dv_j = sum of p_ij * dO_i
//   dbias = dx, summed over the dimensions that the bias repeats
//   dsink_h = - sum of exp(sink_h - lse_i) * delta_i
//
// dx/ds is 1 - tanh(s / softcap)^2 with a softcap, else 1. Sums are f32; those of dk and dv run over all
// query heads of a KV head. A query that attends to no key adds nothing, whatever its numbers are, and its dq
// is zero. A key that no query attends to gets zeros. Slopes of ALiBi have no gradient. There are no atomic
// additions: repeated calls give equal bits. Nothing is allocated, copied or waited for. Throws
// invalid_argument, which names the argument, before anything runs; unsupported_device if no kernel is made
// for the device; and what a launch throws.
//
// Source: Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.

#include <kaio/ops/attention.hpp>
#include <kaio/ops/attention/backward/call/arguments.hpp>
#include <kaio/ops/shared/kernel_choice.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops {

// The bytes of workspace that a call takes, from the extents alone, whatever its options are. Throws
// invalid_argument for views of other dimensions than the call takes.
std::uint64_t attention_backward_workspace_bytes(const stream& s, const attention_view& q,
                                                 const attention_view& k, const attention_view& v);
std::uint64_t attention_backward_varlen_workspace_bytes(const stream& s, const attention_view& q,
                                                        const attention_view& k, const attention_view& v,
                                                        const attention_sequences& sequences);

// dout: (B, Sq, Hq, Dv), q: (B, Sq, Hq, D), k: (B, Sk, Hkv, D), v: (B, Sk, Hkv, Dv), all f32, f16 or bf16.
// out: (B, Sq, Hq, Dv), that type or f32, and lse: (B, Hq, Sq), as attention wrote them with these options.
// dq, dk and dv have the shapes of q, k and v, with any strides whose last one is 1; a null view leaves a
// gradient out. A call without them, dbias and dsinks is checked like any other and takes its workspace, but
// writes no gradient. Gradients and the workspace share no memory with any other argument.
void attention_backward(const stream& s, const attention_view& dout, const attention_view& q,
                        const attention_view& k, const attention_view& v, const attention_view& out,
                        const attention_row_input& lse, const attention_gradient& dq,
                        const attention_gradient& dk, const attention_gradient& dv,
                        const attention_backward_options& options = {});

// attention_backward for attention_varlen: tensors are (rows, heads, head size), lse and dlse (Hq, rows of
// q). Not written: rows of no sequence, rows of dq beyond `used_q`, rows of dk and dv beyond `used_k`.
void attention_backward_varlen(const stream& s, const attention_view& dout, const attention_view& q,
                               const attention_view& k, const attention_view& v, const attention_view& out,
                               const attention_row_input& lse, const attention_gradient& dq,
                               const attention_gradient& dk, const attention_gradient& dv,
                               const attention_sequences& sequences,
                               const attention_backward_options& options = {});

// Loads what this call launches, ahead of its first use: the call may then be captured into a graph. The
// contents of the views and the workspace are not looked at. Throws what the call itself would.
void attention_backward_warmup(const runtime::device& gpu, const attention_view& dout,
                               const attention_view& q, const attention_view& k, const attention_view& v,
                               const attention_view& out, const attention_row_input& lse,
                               const attention_gradient& dq, const attention_gradient& dk,
                               const attention_gradient& dv, const attention_backward_options& options = {});
// attention_backward_warmup for attention_backward_varlen.
void attention_backward_varlen_warmup(const runtime::device& gpu, const attention_view& dout,
                                      const attention_view& q, const attention_view& k,
                                      const attention_view& v, const attention_view& out,
                                      const attention_row_input& lse, const attention_gradient& dq,
                                      const attention_gradient& dk, const attention_gradient& dv,
                                      const attention_sequences& sequences,
                                      const attention_backward_options& options = {});

// The name of the kernel that a call takes for dk and dv. Throws what the call itself would.
kernel_choice attention_backward_choice(const stream& s, const attention_view& dout, const attention_view& q,
                                        const attention_view& k, const attention_view& v,
                                        const attention_view& out, const attention_row_input& lse,
                                        const attention_gradient& dq, const attention_gradient& dk,
                                        const attention_gradient& dv,
                                        const attention_backward_options& options = {});
kernel_choice attention_backward_varlen_choice(const stream& s, const attention_view& dout,
                                               const attention_view& q, const attention_view& k,
                                               const attention_view& v, const attention_view& out,
                                               const attention_row_input& lse, const attention_gradient& dq,
                                               const attention_gradient& dk, const attention_gradient& dv,
                                               const attention_sequences& sequences,
                                               const attention_backward_options& options = {});

}  // namespace kaio::ops

namespace kaio {
using ops::attention_backward;
using ops::attention_backward_options;
using ops::attention_backward_varlen;
using ops::attention_backward_varlen_warmup;
using ops::attention_backward_varlen_workspace_bytes;
using ops::attention_backward_warmup;
using ops::attention_backward_workspace_bytes;
using ops::attention_gradient;
}  // namespace kaio
