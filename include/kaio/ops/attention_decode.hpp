#pragma once
// Attention of few queries over a cache of keys and values: the decode steps of a language model, its
// speculative ones, and chunks of a prompt.
//
//   kv_cache<f16> cache{.k = k, .v = v, .table = table, .lengths = lengths};  // all of it on the device
//   buffer<u8> memory = gpu.allocate<u8>(attention_decode_workspace_bytes(s, q, cache));
//   attention_decode(s, q, cache, o, {.causal = causal_alignment::bottom_right, .workspace = memory});
//
// The formula is that of attention. Keys are those of each sequence in the cache, which is read as it is: new
// keys are there already, so that with n queries they are the last n of `lengths` keys. Lengths, tables and
// the other numbers of the cache are read when the kernels run: a call that was captured into a graph may be
// replayed with others.
//
// The keys of a sequence are divided among blocks, by the most keys that there may be; a second kernel adds
// up what these leave in the workspace, or on sm_90, where few blocks have little to read, they do it
// themselves as a cluster. The same call gives the same bits every time. Nothing is allocated, copied or
// waited for; kernels are loaded when they are used for the first time on a device. Throws
// invalid_argument, by the name of the argument, before anything runs; unsupported_device where no kernel
// is made for the device; and what a launch throws.
//
// Sources: Dao et al., "Flash-Decoding for long-context inference", 2023; Kwon et al., "Efficient Memory
// Management for Large Language Model Serving with PagedAttention", 2023.

#include <kaio/ops/attention/decode/call/arguments.hpp>
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

// q: (B, Sq, Hq, D), out: (B, Sq, Hq, Dv), the cache of Hkv heads of D and Dv elements, of which Hq is a
// multiple; all f16, bf16 or f32, or out alone f32, or the cache alone e4m3, e5m2 or i8. D and Dv are 1 to
// 512; where cache.v is the first elements of the rows of cache.k, as of multi-head latent attention, D is up to
// 576 for f16 and bf16 on sm_80 and later. Made for Sq from 1 to 128. Fastest where rows of keys
// begin at multiples of 16 bytes and D and Dv are multiples of 16 bytes. Where values are in the keys,
// append.k is what follows them in a row, D - Dv elements, and is not rotated. out, lse and the workspace
// share no memory with any other argument.
template <class Q, class C, class O>
void attention_decode(const stream& s, const tensor_view<Q, 4>& q, const kv_cache<C>& cache,
                      const tensor_view<O, 4>& out, const attention_decode_options& options = {}) {
  detail::require_attention_decode_types<Q, C, O>();
  detail::run_attention_decode(s, {"attention_decode", q, cache, out, &options});
}

// The same of sequences that have different numbers of queries: q: (rows of all sequences, Hq, D), out: (rows,
// Hq, Dv), options.lse: (heads, rows). Sequence b has rows cu_q[b] to before cu_q[b + 1], at most `max_q`, which are
// its last queries; what else attention_sequences has is not given. These numbers are read on the device too;
// rows of no sequence are not written. New keys and values, (rows, Hkv, D), are of the rows of q.
template <class Q, class C, class O>
void attention_decode_varlen(const stream& s, const tensor_view<Q, 3>& q, const kv_cache<C>& cache,
                             const tensor_view<O, 3>& out, const attention_sequences& sequences,
                             const attention_decode_options& options = {}) {
  detail::require_attention_decode_types<Q, C, O>();
  detail::run_attention_decode(
      s, {"attention_decode_varlen", q, cache, out, &options, false, false, false, &sequences});
}

// How many bytes of workspace a call takes: it depends on the extents, max_length, the window,
// batch_invariant and the device, not on what is in device memory. 0 where no second kernel runs. The
// workspace of the options is not looked at. Throws what the call itself would.
std::uint64_t attention_decode_workspace_bytes(const stream& s, const attention_view& q,
                                               const attention_cache_view& cache,
                                               const attention_decode_options& options = {});
std::uint64_t attention_decode_varlen_workspace_bytes(const stream& s, const attention_view& q,
                                                      const attention_cache_view& cache,
                                                      const attention_sequences& sequences,
                                                      const attention_decode_options& options = {});

// Loads what this call launches, ahead of its first use: the call may then be captured into a graph. The
// contents of the views are not looked at, nor is the workspace. Throws what the call itself would.
void attention_decode_warmup(const runtime::device& gpu, const attention_view& q,
                             const attention_cache_view& cache, const attention_view& out,
                             const attention_decode_options& options = {});
// The same of attention_decode_varlen.
void attention_decode_varlen_warmup(const runtime::device& gpu, const attention_view& q,
                                    const attention_cache_view& cache, const attention_view& out,
                                    const attention_sequences& sequences,
                                    const attention_decode_options& options = {});

// What a call runs, and into how many parts it divides the keys; nothing where it does nothing. Throws what
// the call itself would, but for its workspace.
struct attention_decode_choice_info {
  std::string_view name;
  std::uint32_t parts = 0;
  bool in_cluster = false;  // the parts of a tile are a cluster; else a second kernel adds them up
};
attention_decode_choice_info attention_decode_choice(const stream& s, const attention_view& q,
                                                     const attention_cache_view& cache,
                                                     const attention_view& out,
                                                     const attention_decode_options& options = {});
attention_decode_choice_info attention_decode_varlen_choice(const stream& s, const attention_view& q,
                                                            const attention_cache_view& cache,
                                                            const attention_view& out,
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
}  // namespace kaio
