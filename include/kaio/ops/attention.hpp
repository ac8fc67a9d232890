#pragma once
// O = softmax(mask(scale * Q K^T)) V for every head of a batch, without the matrix of scores in memory.
//
//   tensor_view<const f16, 4> q(x, 2, 1000, 32, 128), k(y, 2, 1000, 8, 128), v(z, 2, 1000, 8, 128);
//   tensor_view<f16, 4> o(w, 2, 1000, 32, 128);             // batches, sequence, heads, head size
//   attention(gpu.stream(), q, k, v, o, {.causal = causal_alignment::bottom_right});
//
// Tensors are (batches, sequence, heads, head size), as in FlashAttention, with any strides whose last one is
// 1. A tensor of (batches, heads, sequence, head size), as torch's scaled_dot_product_attention takes it, is
// passed as view.exchanged(1, 2).
//
// i is a query, j a key, h a query head. Its KV head is h / (heads of q / heads of k):
//
//   x = scale * (q_i . k_j)               f32 sums; scale = 1 / sqrt(head size of q) unless given
//   x = softcap * tanh(x / softcap)       with a softcap
//   x -= slope_h * |i + Sk - Sq - j|      with ALiBi
//   x += bias[b, h, i, j]                 with a bias
//   p = exp(x - lse_i)                    over the keys that the mask keeps; lse_i = ln of the sum of exp(x)
//   o_i = sum of p * v_j                  f32 sums; p is rounded to the element type before it is multiplied
//
// A query that attends to no key, also with Sk = 0, gets zeros, and -inf as its lse. Repeated calls give
// equal bits. Nothing is allocated, copied or waited for; a kernel is loaded when it is first used on a
// device. Throws invalid_argument, which names the argument, before anything runs; unsupported_device if no
// kernel is made for the device; and what a launch throws.
//
// Sources: Vaswani et al., "Attention Is All You Need", 2017; Dao et al., "FlashAttention", 2022, and
// "FlashAttention-2", 2023.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/attention/common/arguments.hpp>
#include <kaio/ops/shared/kernel_choice.hpp>
#include <kaio/runtime/stream.hpp>

#include <string_view>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {
void run_attention(const stream& s, const attention_arguments& arguments);
}  // namespace detail

// q: (B, Sq, Hq, D), k: (B, Sk, Hkv, D), v: (B, Sk, Hkv, Dv), out: (B, Sq, Hq, Dv). All are f16, bf16 or f32.
// Or only out is f32, and kernels of mma.sync leave its sums unrounded. D and Dv are 1 to 512, Hq is a
// multiple of Hkv; B, Sq and Sk may be 0. Fastest if rows begin at multiples of 16 bytes and D and Dv are
// multiples of 8. out shares no memory with any other argument.
template <class Q, class K, class V, class O>
void attention(const stream& s, const tensor_view<Q, 4>& q, const tensor_view<K, 4>& k,
               const tensor_view<V, 4>& v, const tensor_view<O, 4>& out,
               const attention_options& options = {}) {
  detail::require_attention_types<Q, K, V, O>();
  detail::run_attention(s, {"attention", q, k, v, out, &options});
}
// Refuses arguments that are no such views.
template <class Q, class K, class V, class O>
  requires(!(detail::views<4, Q, K, V, O>))
void attention(const stream&, const Q&, const K&, const V&, const O&, const attention_options& = {}) {
  detail::refuse_views<Q, K, V, O>();
}

// attention over sequences of different lengths in one tensor: q: (rows of all sequences, Hq, D), k: (rows,
// Hkv, D), v: (rows, Hkv, Dv), out: (rows of q, Hq, Dv). The device reads which rows a sequence has, so a
// captured call may be replayed with other lengths. Rows of no sequence, and those beyond `used_q`, are not
// written. Causal masks and windows are aligned in each sequence by its own lengths.
template <class Q, class K, class V, class O>
void attention_varlen(const stream& s, const tensor_view<Q, 3>& q, const tensor_view<K, 3>& k,
                      const tensor_view<V, 3>& v, const tensor_view<O, 3>& out,
                      const attention_sequences& sequences, const attention_options& options = {}) {
  detail::require_attention_types<Q, K, V, O>();
  detail::run_attention(s, {"attention_varlen", q, k, v, out, &options, false, false, &sequences});
}
// Refuses arguments that are no such views.
template <class Q, class K, class V, class O>
  requires(!(detail::views<3, Q, K, V, O>))
void attention_varlen(const stream&, const Q&, const K&, const V&, const O&, const attention_sequences&,
                      const attention_options& = {}) {
  detail::refuse_views<Q, K, V, O>();
}

// Loads what this call launches, ahead of its first use: the call may then be captured into a graph. The
// contents of the views are not looked at. Throws what the call itself would.
void attention_warmup(const runtime::device& gpu, const attention_view& q, const attention_view& k,
                      const attention_view& v, const attention_view& out,
                      const attention_options& options = {});
// attention_warmup for attention_varlen.
void attention_varlen_warmup(const runtime::device& gpu, const attention_view& q, const attention_view& k,
                             const attention_view& v, const attention_view& out,
                             const attention_sequences& sequences, const attention_options& options = {});

// A kernel for this element type, and its properties for this call.
struct attention_variant_info {
  std::string_view name;
  std::string_view refusal;  // why it cannot run this call on this device; empty: it can
  double seconds = 0;        // by the cost model; 0: it cannot run
};
// All kernels for the element type of a call: the fastest by the cost model first, those that cannot run it
// last. attention takes the first, unless `tune` has found a better one. Empty if the call does nothing.
std::vector<attention_variant_info> attention_variants(const stream& s, const attention_view& q,
                                                       const attention_view& k, const attention_view& v,
                                                       const attention_view& out,
                                                       const attention_options& options = {});
std::vector<attention_variant_info> attention_varlen_variants(
    const stream& s, const attention_view& q, const attention_view& k, const attention_view& v,
    const attention_view& out, const attention_sequences& sequences, const attention_options& options = {});

// The name of the kernel that a call takes, the cost model's or the one that `tune` has found; empty if the
// call does nothing. Throws what the call itself would.
kernel_choice attention_choice(const stream& s, const attention_view& q, const attention_view& k,
                               const attention_view& v, const attention_view& out,
                               const attention_options& options = {});
kernel_choice attention_varlen_choice(const stream& s, const attention_view& q, const attention_view& k,
                                      const attention_view& v, const attention_view& out,
                                      const attention_sequences& sequences,
                                      const attention_options& options = {});

}  // namespace kaio::ops

namespace kaio {
using ops::attention;
using ops::attention_options;
using ops::attention_precision;
using ops::attention_sequences;
using ops::attention_varlen;
using ops::attention_varlen_warmup;
using ops::attention_warmup;
using ops::attention_window;
using ops::block_mask;
using ops::causal_alignment;
}  // namespace kaio
