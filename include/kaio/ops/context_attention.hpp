#pragma once
// Attention over a sequence whose rows are divided among ranks (context parallelism): forward and gradients. Each rank has
// its rows of q, k, v and out; all attend to the keys of all.
//
//   communicator c = ...;                                    // this rank's, see distributed/communicator.hpp
//   const context_attention_options options{.causal = causal_alignment::top_left};   // zigzag layout
//   auto memory = gpu.allocate<u8>(context_attention_workspace_bytes(c, s, q, k, v, options));
//   context_attention(c, s, q, k, v, out, {.causal = causal_alignment::top_left, .lse = lse, .workspace = memory});
//
// Two ways, and both together:
//
//   ring     the keys and values of another rank arrive, in a stream of their own, while this rank attends to those that
//            came before. Results are joined in f32, by their log-sum-exp (merge_states)
//   Ulysses  `head_ranks` neighbouring ranks exchange heads for rows: each has all their rows of a part of the heads. It
//            then takes part in rings of ranks / head_ranks. The heads of k are a multiple of head_ranks
//
//   step of the ring, 4 ranks    0      1      2      3
//   rank 0 attends to keys of    0      3      2      1
//   rank 1                       1      0      3      2
//   rank 2                       2      1      0      3
//   rank 3                       3      2      1      0
//
// Packed sequences of different lengths, as in attention_varlen, are given by their lengths. The layouts then divide
// them as layout.hpp says, and a step remains one or two calls of attention, however many sequences there are.
//
// Rows that no query of a rank attends to are not sent. The order of all sums is fixed: repeated calls give equal bits.
// All ranks call with equal options, batches, heads and head sizes; numbers of rows may differ where the layout says so,
// and contiguous rows may have any. Otherwise all throw invalid_argument before anything is sent; see communicator.hpp for
// ranks that fail. With stream::loading the call loads its kernels; all ranks call it then too.
//
// Sources: Liu et al., "Ring Attention with Blockwise Transformers", 2023; Jacobs et al., "DeepSpeed Ulysses", 2023; Fang
// and Zhao, "USP", 2024.

#include <kaio/ops/attention/backward/call/arguments.hpp>
#include <kaio/ops/attention/common/arguments.hpp>
#include <kaio/ops/distributed/communicator.hpp>
#include <kaio/ops/distributed/layout.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace kaio::ops {

struct context_attention_options {
  std::optional<f32> scale{};  // as attention_options, over the whole sequence: own key i of query i
  causal_option causal = causal_alignment::none;
  attention_window window{};
  f32 softcap = 0;
  attention_sinks sinks{};  // (heads of q); each query attends to its sink once
  attention_lse lse{};      // (batches, heads of q, rows): written; not by the gradients
  attention_gradient
      dsinks{};  // (heads of q), f32, f16 or bf16: written by the gradients, equal on all ranks
  context_layout layout = context_layout::zigzag;
  // The rows of packed sequences, which follow each other in the rows of all ranks; none: one sequence. Equal on all
  // ranks. Masks and windows count in each sequence. Host memory, read before the call returns.
  std::span<const std::int64_t> lengths{};
  int head_ranks = 1;  // ranks that exchange heads: divides the ranks, and the heads of k
  workspace_view workspace{};
};

// The bytes of workspace of a call with these options, at a multiple of 256 bytes. All ranks call them.
std::uint64_t context_attention_workspace_bytes(const communicator& c, const stream& s,
                                                const attention_view& q, const attention_view& k,
                                                const attention_view& v,
                                                const context_attention_options& options = {});
std::uint64_t context_attention_backward_workspace_bytes(const communicator& c, const stream& s,
                                                         const attention_view& q, const attention_view& k,
                                                         const attention_view& v,
                                                         const context_attention_options& options = {});

// q: (B, rows, Hq, D), k: (B, rows, Hkv, D), v: (B, rows, Hkv, Dv), out: (B, rows, Hq, Dv): this rank's rows, all f32, f16
// or bf16, any strides whose last one is 1. B is 1 for packed sequences. Results of steps are rounded to the elements' type before they are joined.
void context_attention(const communicator& c, const stream& s, const attention_view& q,
                       const attention_view& k, const attention_view& v, const attention_view& out,
                       const context_attention_options& options = {});

// Gradients. dout and out as out above, and lse as context_attention wrote it with these options. dq, dk, dv: as q, k and
// v. Gradients of steps are rounded to the elements' type, and added in f32. dsinks is that of attention_backward over
// all rows; a rank without rows gets it too.
void context_attention_backward(const communicator& c, const stream& s, const attention_view& dout,
                                const attention_view& q, const attention_view& k, const attention_view& v,
                                const attention_view& out, const attention_row_input& lse,
                                const attention_gradient& dq, const attention_gradient& dk,
                                const attention_gradient& dv, const context_attention_options& options = {});

}  // namespace kaio::ops

namespace kaio {
using ops::attention_window;
using ops::causal_alignment;
using ops::context_attention;
using ops::context_attention_backward;
using ops::context_attention_backward_workspace_bytes;
using ops::context_attention_options;
using ops::context_attention_workspace_bytes;
}  // namespace kaio
