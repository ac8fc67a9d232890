#pragma once
// Attention of few queries over a cache of keys and values: the decode steps of a language model, its
// speculative steps, and chunks of a prompt.
//
//   kv_cache<f16> cache{.k = k, .v = v, .table = table, .lengths = lengths};  // all of it on the device
//   buffer<u8> memory = gpu.allocate<u8>(attention_decode_workspace_bytes(s, q, cache));
//   attention_decode(s, q, cache, o, {.causal = causal_alignment::bottom_right, .workspace = memory});
//
// The formula is that of attention. Keys are those of each sequence in the cache, which already has the new
// keys: n queries are the last n of `lengths` keys. Lengths, tables and the other numbers of the cache are
// read when the kernels run, so a captured call may be replayed with others.
//
// Blocks split the keys of a sequence, by the largest number of keys that it may have. A second
// kernel adds up their results in the workspace. On sm_90, if few blocks have little to read, the blocks add
// up themselves, as a cluster. Repeated calls give equal bits. Nothing is allocated, copied or waited for;
// kernels are loaded when they are first used on a device. Throws invalid_argument, which names the argument,
// before anything runs; unsupported_device if no kernel is made for the device; and what a launch throws.
//
// Sources: Dao et al., "Flash-Decoding for long-context inference", 2023; Kwon et al., "Efficient Memory
// Management for Large Language Model Serving with PagedAttention", 2023.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/attention/decode/call/arguments.hpp>
#include <kaio/ops/shared/kernel_choice.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {
void run_attention_decode(const stream& s, const attention_decode_arguments& arguments);
}  // namespace detail

// q: (B, Sq, Hq, D), out: (B, Sq, Hq, Dv). The cache has Hkv heads of D and Dv elements; Hq is a multiple of
// Hkv. All are f16, bf16 or f32; or only out is f32; or only the cache is e4m3, e5m2 or i8. D and Dv are 1 to
// 512. In multi-head latent attention, cache.v is the first elements of the rows of cache.k. Then D is up to
// 576 for f16 and bf16 on sm_80 and later, and append.k has the D - Dv elements after the values of a row,
// which append.rotary rotates. Made for Sq from 1 to 128. Fastest if rows of keys begin at multiples of 16 bytes
// and D and Dv are multiples of 16 bytes. out, lse and the workspace share no memory with any other argument.
template <class Q, class C, class O>
void attention_decode(const stream& s, const tensor_view<Q, 4>& q, const kv_cache<C>& cache,
                      const tensor_view<O, 4>& out, const attention_decode_options& options = {}) {
  detail::require_attention_decode_types<Q, C, O>();
  detail::run_attention_decode(s, {"attention_decode", q, cache, out, &options});
}
// Refuses arguments that are no such views.
template <class Q, class O, class C>
  requires(!(detail::views<4, Q, O>))
void attention_decode(const stream&, const Q&, const kv_cache<C>&, const O&,
                      const attention_decode_options& = {}) {
  detail::refuse_views<Q, O>();
}

// attention_decode for sequences with different numbers of queries: q: (rows of all sequences, Hq, D), out:
// (rows, Hq, Dv), options.lse: (heads, rows). Sequence b has rows cu_q[b] to before cu_q[b + 1], at most
// `max_q`; they are its last queries. The other members of attention_sequences are not given. These numbers
// are read on the device too; rows of no sequence are not written. New keys and values, (rows, Hkv, D),
// belong to the rows of q.
template <class Q, class C, class O>
void attention_decode_varlen(const stream& s, const tensor_view<Q, 3>& q, const kv_cache<C>& cache,
                             const tensor_view<O, 3>& out, const attention_sequences& sequences,
                             const attention_decode_options& options = {}) {
  detail::require_attention_decode_types<Q, C, O>();
  detail::run_attention_decode(
      s, {"attention_decode_varlen", q, cache, out, &options, false, false, false, &sequences});
}
// Refuses arguments that are no such views.
template <class Q, class O, class C>
  requires(!(detail::views<3, Q, O>))
void attention_decode_varlen(const stream&, const Q&, const kv_cache<C>&, const O&,
                             const attention_sequences&, const attention_decode_options& = {}) {
  detail::refuse_views<Q, O>();
}

// The bytes of workspace that a call takes; 0 if no second kernel runs. They depend on the extents,
// max_length, the window, batch_invariant and the device, not on what is in device memory. The workspace of
// the options is not looked at. Throws what the call itself would.
std::uint64_t attention_decode_workspace_bytes(const stream& s, const attention_view& q,
                                               const attention_cache_view& cache,
                                               const attention_decode_options& options = {});
std::uint64_t attention_decode_varlen_workspace_bytes(const stream& s, const attention_view& q,
                                                      const attention_cache_view& cache,
                                                      const attention_sequences& sequences,
                                                      const attention_decode_options& options = {});

// Loads what this call launches, ahead of its first use: the call may then be captured into a graph. The
// contents of the views and the workspace are not looked at. Throws what the call itself would.
void attention_decode_warmup(const runtime::device& gpu, const attention_view& q,
                             const attention_cache_view& cache, const attention_view& out,
                             const attention_decode_options& options = {});
// attention_decode_warmup for attention_decode_varlen.
void attention_decode_varlen_warmup(const runtime::device& gpu, const attention_view& q,
                                    const attention_cache_view& cache, const attention_view& out,
                                    const attention_sequences& sequences,
                                    const attention_decode_options& options = {});

// The kernel that a call runs, and the number of splits of its keys; nothing if the call does nothing. Throws
// what the call itself would, except for its workspace.
kernel_choice attention_decode_choice(const stream& s, const attention_view& q,
                                      const attention_cache_view& cache, const attention_view& out,
                                      const attention_decode_options& options = {});
kernel_choice attention_decode_varlen_choice(const stream& s, const attention_view& q,
                                             const attention_cache_view& cache, const attention_view& out,
                                             const attention_sequences& sequences,
                                             const attention_decode_options& options = {});

// The images of all kernels that attention_decode may launch: to list them, and to load them ahead with
// device::warmup.
std::vector<const ptx::kernel_image*> attention_decode_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::attention_append;
using ops::attention_cache_scale;
using ops::attention_combining;
using ops::attention_decode;
using ops::attention_decode_options;
using ops::attention_decode_varlen;
using ops::attention_decode_varlen_warmup;
using ops::attention_decode_varlen_workspace_bytes;
using ops::attention_decode_warmup;
using ops::attention_decode_workspace_bytes;
using ops::attention_sequences;
using ops::attention_window;
using ops::causal_alignment;
using ops::constant_inputs;
}  // namespace kaio
