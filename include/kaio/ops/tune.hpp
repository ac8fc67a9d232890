#pragma once
// tune measures every kernel that can run a call, and remembers the fastest for this shape: for this process,
// and in a file for the next one. Later calls of the same shape, layout and types take it.
//
//   tune_report r = tune_matmul(gpu, a, b, c, {.activation = matmul_activation::silu});
//   std::cout << r.variant << ": " << r.seconds * 1e6 << " us, was " << r.seconds_before * 1e6 << '\n';
//   matmul(gpu.stream(), a, b, c, {.activation = matmul_activation::silu});    // runs r.variant
//
//   tune_attention(gpu, q, k, v, o, {.causal = causal_alignment::bottom_right});
//
// The views give only shape, strides and types: measuring takes memory of its own, filled with random
// numbers, and never touches the caller's. Kernels add up a sum in different orders, so a result may differ
// in its last bits between variants. Each variant keeps the error bounds of the operation, and repeats its
// bits.
//
// Files are in $XDG_CACHE_HOME/kaio/tune (or ~/.cache/kaio/tune), which must belong to the user and be
// writable by no other. Each file is written anew and renamed, and carries checksums. A file that is damaged,
// foreign or of another device, driver or version is a miss, never an error. If a file cannot be written, the
// results hold for this process alone. Programs with elevated rights use no files. Threads may tune, forget
// and call operations at once.

#include <kaio/ops/attention.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/runtime/device.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kaio::ops {

struct tune_options {
  std::uint32_t repetitions = 20;  // per variant; the median counts
  bool remember = true;            // false: measure only
  bool use_files = true;           // false: for this process alone
};

struct tune_entry {
  std::string variant;
  double seconds = 0;  // median
};
struct tune_report {
  std::string variant;  // the fastest
  double seconds = 0;
  std::string variant_before;  // the one that calls took until now
  double seconds_before = 0;
  bool saved = false;               // in a file
  std::vector<tune_entry> entries;  // all that were measured, the fastest first
};

// Waits for the device. Throws what the call would, and out_of_memory.
tune_report tune_matmul(const device& gpu, const matmul_view& a, const matmul_view& b, const matmul_view& c,
                        const matmul_options& options = {}, const tune_options& how = {});

// tune_matmul for matmul_int8 and matmul_fp8.
tune_report tune_matmul_int8(const device& gpu, const matmul_view& a, const matmul_view& b,
                             const matmul_view& c, const matmul_int8_options& options = {},
                             const tune_options& how = {});
tune_report tune_matmul_fp8(const device& gpu, const matmul_view& a, const matmul_view& b,
                            const matmul_view& c, const matmul_fp8_options& options = {},
                            const tune_options& how = {});

// matmul_w4 and matmul_w8: every kernel for the device with several numbers of splits of K, or with
// options.splits if given. A variant's name has its splits after a colon ("matmul_w4_few_rows_f16_8_sm90:4", or
// ":4:cluster"). x: (m, k), out: (m, n), f16 or bf16 (out also f32), as the call takes them. The weights are
// those of a file, packed by repack, and are not read. Later calls take the fastest if their workspace is
// large enough for it, as one of matmul_w4_workspace_bytes is, asked after tuning. If a call with these rows
// may round weights (matmul_w4_options::exact_weights), the forms that round are measured too: "dequantise:4"
// is in four slices. The result is for calls of the same m, n, k, codes and scales, groups, alignment of x,
// options.splits and exact_weights. Its entries are empty if m is 0. Also throws invalid_argument for weights
// of own codes.
tune_report tune_matmul_w4(const device& gpu, const any_view& x, const w4_weights& w, const any_view& out,
                           const matmul_w4_options& options = {}, const tune_options& how = {});
tune_report tune_matmul_w8(const device& gpu, const any_view& x, const w8_weights& w, const any_view& out,
                           const matmul_w8_options& options = {}, const tune_options& how = {});

// gate_up_project: its kernels of one launch that can run the call, and "separate". The products of
// "separate" follow from their own tuning; tune them first. The result is for calls of the same rows, K, F,
// types, scales, groups and alignment of x, whose workspace is large enough for it. Its entries are empty if
// there are no rows.
tune_report tune_gate_up_project(const device& gpu, const any_view& x, const gate_up_weights& weights,
                                 const any_view& out, const gate_up_project_options& options = {},
                                 const tune_options& how = {});

// qkv_project: its kernels of one launch, those for few rows with each number of splits of K
// ("kernel:2"), and "separate". K and V are measured as if they went into tensors, even if outputs are a
// cache, and tokens as if all were at position 0. The result is for calls without options.splits, of the same
// tokens, K, heads, sizes, types and kinds of steps, whose workspace is large enough for it. Its entries are
// empty if there are no tokens.
tune_report tune_qkv_project(const device& gpu, const any_view& x, const qkv_weights& weights,
                             const qkv_outputs& outputs, const qkv_project_options& options = {},
                             const tune_options& how = {});

namespace detail {
tune_report tune_attention_call(const device& gpu, const attention_arguments& arguments,
                                const tune_options& how);
}  // namespace detail

// attention: every kernel that can run a call. Memory is not looked at: `keep` is measured as if it masked
// nothing, lists of blocks as if they were full. The result is for calls of the same lengths, heads, head
// sizes, types, alignments and options. With batch_invariant it is for calls of any lengths, batches and
// packing, so a sequence takes one kernel wherever it is. Its entries are empty if there are no queries or no
// keys.
template <class Q, class K, class V, class O>
tune_report tune_attention(const device& gpu, const tensor_view<Q, 4>& q, const tensor_view<K, 4>& k,
                           const tensor_view<V, 4>& v, const tensor_view<O, 4>& out,
                           const attention_options& options = {}, const tune_options& how = {}) {
  detail::require_attention_types<Q, K, V, O>();
  return detail::tune_attention_call(gpu, {"tune_attention", q, k, v, out, &options}, how);
}
// attention_varlen, as if all sequences had equally many rows.
template <class Q, class K, class V, class O>
tune_report tune_attention_varlen(const device& gpu, const tensor_view<Q, 3>& q, const tensor_view<K, 3>& k,
                                  const tensor_view<V, 3>& v, const tensor_view<O, 3>& out,
                                  const attention_sequences& sequences, const attention_options& options = {},
                                  const tune_options& how = {}) {
  detail::require_attention_types<Q, K, V, O>();
  return detail::tune_attention_call(
      gpu, {"tune_attention_varlen", q, k, v, out, &options, false, false, &sequences}, how);
}

// attention_decode: every kernel that can run a call, with several numbers of splits of the keys
// ("kernel:4", or "kernel:4:cluster"). All sequences are measured with max_length keys, or with all keys that
// the cache has room for; packed sequences with equally many queries. Measuring takes the memory of a second
// cache, without pages beyond those keys. New keys and values are left out. Later calls take the fastest if
// their workspace is large enough for it, as one of attention_decode_workspace_bytes is, asked after tuning.
// The result is for calls of the same batches, queries, heads, sizes, room, pages, max_length, window, types
// and alignments. Its entries are empty if the call does nothing or has no keys, if options.splits or
// options.combining choose, and with batch_invariant, whose parts follow from the sequence alone.
tune_report tune_attention_decode(const device& gpu, const attention_view& q,
                                  const attention_cache_view& cache, const attention_view& out,
                                  const attention_decode_options& options = {}, const tune_options& how = {});
tune_report tune_attention_decode_varlen(const device& gpu, const attention_view& q,
                                         const attention_cache_view& cache, const attention_view& out,
                                         const attention_sequences& sequences,
                                         const attention_decode_options& options = {},
                                         const tune_options& how = {});

// Forgets the results of this process and reads the files again when they are needed.
void forget_tuning() noexcept;
// The folder of the files; empty if there is none that may be used.
std::string tuning_folder();

}  // namespace kaio::ops

namespace kaio {
using ops::tune_attention;
using ops::tune_attention_varlen;
using ops::tune_matmul;
}  // namespace kaio
