#pragma once
// Measures every kernel that can run a call, and remembers the fastest for this shape: for this process, and
// in a file for the next one. Calls of the same shape, layout and types take it from then on.
//
//   tune_report r = tune(gpu, a, b, c, {.activation = matmul_activation::silu});
//   std::cout << r.variant << ": " << r.seconds * 1e6 << " us, was " << r.seconds_before * 1e6 << '\n';
//   matmul(gpu.stream(), a, b, c, {.activation = matmul_activation::silu});    // runs r.variant
//
//   tune(gpu, q, k, v, o, {.causal = causal_alignment::bottom_right});         // the same of an attention
//
// The views say shape, strides and types alone: measuring takes memory of its own, filled with random
// numbers, and never touches the caller's. Kernels differ in the order in which they add up a sum, so a
// result may differ in its last bits between variants; each of them keeps the error bounds of the operation,
// and repeats its bits.
//
// Files are in $XDG_CACHE_HOME/kaio/tune (or ~/.cache/kaio/tune), which must belong to the user and be
// writable by no other; each is written anew and renamed, and carries checksums. A file that is damaged,
// foreign or of another device, driver or version is a miss, never an error; where it cannot be written, the
// results hold for this process alone. Programs with elevated rights use no files. Threads may tune, forget and call
// operations at once.

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
  std::uint32_t repetitions = 20;  // of each variant; the median counts
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
tune_report tune(const device& gpu, const matmul_view& a, const matmul_view& b, const matmul_view& c,
                 const matmul_options& options = {}, const tune_options& how = {});

// The same for matmul_int8 and matmul_fp8.
tune_report tune_matmul_int8(const device& gpu, const matmul_view& a, const matmul_view& b,
                             const matmul_view& c, const matmul_int8_options& options = {},
                             const tune_options& how = {});
tune_report tune_matmul_fp8(const device& gpu, const matmul_view& a, const matmul_view& b,
                            const matmul_view& c, const matmul_fp8_options& options = {},
                            const tune_options& how = {});

// The same for matmul_w4 and matmul_w8: every kernel for the device with several numbers of parts of K, which a variant's
// name has after a colon ("matmul_w4_few_rows_f16_8_sm90:4", or ":4:cluster"); with options.parts, with so many. x: (m, k),
// out: (m, n), f16 or bf16 (out also f32), as the call takes them; the weights are those of a file that repack has
// packed, and are not read. Later calls take the fastest where their workspace is large enough for it, as one of
// matmul_w4_workspace_bytes is, asked after tuning. Where a call of so many rows may round
// weights (matmul_w4_options::exact_weights), what does it is measured too: "dequantise:4" is in four slices. The result
// is for calls of the same m, n, k, codes and scales, groups, alignment of x, options.parts and exact_weights. Its
// entries are empty where m is 0. Throws invalid_argument for weights of own codes too.
tune_report tune_matmul_w4(const device& gpu, const any_view& x, const w4_weights& w, const any_view& out,
                           const matmul_w4_options& options = {}, const tune_options& how = {});
tune_report tune_matmul_w8(const device& gpu, const any_view& x, const w8_weights& w, const any_view& out,
                           const matmul_w8_options& options = {}, const tune_options& how = {});

// The same for gate_up_project: its kernels of one launch, where they can run the call, and "separate". The products of
// that are what they are by their own tuning; tune them first. The result is for calls of the same rows, K, F, types,
// scales, groups and alignment of x, whose workspace is large enough for it. Its entries are empty where there are no
// rows.
tune_report tune_gate_up_project(const device& gpu, const any_view& x, const gate_up_weights& weights,
                                 const any_view& out, const gate_up_options& options = {},
                                 const tune_options& how = {});

// The same for qkv_project: its kernels of one launch, those for few rows with each number of parts of K ("kernel:2"),
// and "separate". K and V are measured as if they went into tensors, also where outputs are a cache, and tokens as if all
// were at position 0. The result is for calls without options.parts, of the same tokens, K, heads, sizes, types and kinds
// of steps, whose workspace is large enough for it. Its entries are empty where there are no tokens.
tune_report tune_qkv_project(const device& gpu, const any_view& x, const qkv_weights& weights,
                             const qkv_outputs& outputs, const qkv_options& options = {},
                             const tune_options& how = {});

namespace detail {
tune_report tune_attention_call(const device& gpu, const attention_arguments& arguments,
                                const tune_options& how);
}  // namespace detail

// The same for attention. What is in memory is not looked at: `keep` is measured as if it masked nothing, and
// lists of blocks as if they were full. The result is for calls of the same lengths, heads, head sizes, types,
// alignments and options; with batch_invariant for those of any lengths, batches and packing, so that a
// sequence still takes one kernel wherever it is. Its entries are empty where there are no queries or no keys.
template <class Q, class K, class V, class O>
tune_report tune(const device& gpu, const tensor_view<Q, 4>& q, const tensor_view<K, 4>& k,
                 const tensor_view<V, 4>& v, const tensor_view<O, 4>& out,
                 const attention_options& options = {}, const tune_options& how = {}) {
  detail::require_attention_types<Q, K, V, O>();
  return detail::tune_attention_call(gpu, {"tune", q, k, v, out, &options}, how);
}
// Of attention_varlen: as if the rows were shared equally by all sequences.
template <class Q, class K, class V, class O>
tune_report tune(const device& gpu, const tensor_view<Q, 3>& q, const tensor_view<K, 3>& k,
                 const tensor_view<V, 3>& v, const tensor_view<O, 3>& out,
                 const attention_sequences& sequences, const attention_options& options = {},
                 const tune_options& how = {}) {
  detail::require_attention_types<Q, K, V, O>();
  return detail::tune_attention_call(gpu, {"tune", q, k, v, out, &options, false, false, &sequences}, how);
}

// The same for attention_decode: every kernel that can run a call, with several numbers of parts of the keys ("kernel:4",
// or "kernel:4:cluster"). Measured as if all sequences had max_length keys, or as many as the cache has room for, and
// packed ones equally many queries; the cache's memory is as much again, but for pages beyond those. New keys and values
// are left out. Later calls take the fastest where their workspace is large enough for it, as one of
// attention_decode_workspace_bytes is, asked after tuning. The result is for calls of the same batches, queries, heads,
// sizes, room, pages, max_length, window, types and alignments. Its entries are empty where the call does nothing or has
// no keys, where options.parts or options.combining choose, and with batch_invariant, whose parts follow from the
// sequence alone.
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
// The folder of the files; empty where there is none that may be used.
std::string tuning_folder();

}  // namespace kaio::ops

namespace kaio {
using ops::tune;
}  // namespace kaio
