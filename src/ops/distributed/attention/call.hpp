#pragma once
// A call of context_attention, after the ranks have compared theirs.

#include <kaio/ops/context_attention.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/distributed/attention/plan.hpp"
#include "ops/distributed/common/transport.hpp"

namespace kaio::ops::detail {

struct context_arguments {
  std::string_view operation;
  attention_view q, k, v;
  // forward: out. Gradients: all; dq, dk and dv may be left out. Neither, for the bytes of workspace.
  attention_view out{}, dout{}, lse{}, dq{}, dk{}, dv{};
  const context_attention_options* options = nullptr;
  bool has_tensors = true;  // out and others are given
  bool backward = false;
};

// A step of the ring: what this rank computes with the keys of another group, which of them it needs, and which of its
// own keys the rank that has them in this step needs.
struct ring_step {
  std::vector<ring_item> items;
  std::vector<context_rows> needed_here, needed_there;
};

struct context_call {
  group_rank& rank;
  std::int64_t batches, q_heads, k_heads, qk_size, v_size;
  element_kind type;
  context_layout layout;
  int ranks, head_ranks, ring_ranks;
  int group, place;  // number of the group of ranks that exchange heads, and of the rank in it
  key_band band;
  bool loads;                                                // the stream runs nothing
  std::vector<std::vector<context_rows>> of_rank, of_group;  // rows by place in the sequence
  std::vector<std::int64_t> lengths{};                       // of packed sequences
  std::vector<ring_step> steps{};

  std::int64_t rows() const;        // of this rank
  std::int64_t group_rows() const;  // of its group
  std::int64_t most_rows() const;   // of any group
  // Whether a group has rows of one of its ranks between those of another one, sequence by sequence.
  bool mixes_rows() const { return head_ranks > 1 && !lengths.empty() && layout == context_layout::zigzag; }
  // The rank of another group with the same heads.
  int rank_of(int other_group) const { return other_group * head_ranks + place; }
  // In a step, this group has the keys of `owner`; its own keys are with `holder`.
  int owner(int step) const { return (group + ring_ranks - step) % ring_ranks; }
  int holder(int step) const { return (group + step) % ring_ranks; }
  // Rows of a rank of this group in the memory of the group, piece by piece.
  std::vector<context_rows> in_group(int member) const;
};

// Checks the arguments of all ranks. Throws invalid_argument on all if one is wrong, or if they do not match.
context_call resolve_context(const communicator& c, const stream& s, const context_arguments& given);

// Throws invalid_argument on all ranks if the workspace of one is too small. All ranks call it.
void check_workspace(const context_call& call, std::string_view operation, const workspace_view& memory,
                     std::uint64_t bytes);

// Transfers within an operation: all ranks call it.
void exchange_in(const context_call& call, std::string_view operation, const stream& s,
                 std::span<const transfer> sends, std::span<const transfer> receives);
// Adds rows of (B, rows, ...) without gaps, batch by batch.
void add_rows(std::vector<transfer>& list, const any_view& v, std::span<const context_rows> rows, int rank);

// Options of the attention of an item. `first`: with the sinks.
attention_options options_of(const context_attention_options& given, const ring_item& item, f32 scale);

}  // namespace kaio::ops::detail
