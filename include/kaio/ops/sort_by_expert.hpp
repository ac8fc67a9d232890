#pragma once
// Sorts the choices of tokens by expert, for products in groups: rows of one expert become neighbours.
//
//   sort_by_expert(s, indices, offsets, {.tokens = tokens, .positions = positions, .workspace = w});
//
//   indices     (tokens, k)    2 0 | 2 1          experts of two tokens
//   offsets     (experts + 1)  0 1 2 4            where the rows of each expert begin
//   tokens      (tokens * k)   0 1 0 1            the token of each sorted row: experts 0, 1, 2, 2
//   positions   (tokens, k)    2 0 | 3 1          the sorted row of each choice
//
// Rows of an expert are in the order of tokens; equal calls give equal results. A choice that is negative, or not
// below the number of experts, is left out: its position is -1, and the rows after offsets[experts] have token
// -1. Nothing is allocated, read back or waited for, so a call may be captured into a graph; kernels are loaded
// when they are first used on a device (sort_by_expert_warmup). Throws invalid_argument, which names the argument,
// before anything runs; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/output_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

struct sort_by_expert_options {
  output_view counts{};        // (experts), i32: rows of each expert
  output_view tokens{};        // (tokens * k), i32
  output_view positions{};     // (tokens, k), i32; rows of any stride, neighbours adjacent
  workspace_view workspace{};  // sort_by_expert_workspace_bytes bytes, at a multiple of 16
};

namespace detail {
void run_sort_by_expert(const stream& s, const any_view& indices, const any_view& offsets,
                        const sort_by_expert_options& options);
std::uint64_t sort_by_expert_bytes(const any_view& indices, const any_view& offsets);
}  // namespace detail

// indices: (tokens, k), i32, rows of any stride, neighbours adjacent; fewer than 2^31 choices. offsets:
// (experts + 1), i32, of 1 to 1024 experts. offsets, counts and tokens have neighbours adjacent. Outputs are apart
// from everything else.
template <class Index, class Offset>
void sort_by_expert(const stream& s, const tensor_view<Index, 2>& indices,
                    const tensor_view<Offset, 1>& offsets, const sort_by_expert_options& options = {}) {
  static_assert(std::is_same_v<std::remove_const_t<Index>, i32>,
                "kaio: the indices of sort_by_expert are i32");
  static_assert(std::is_same_v<Offset, i32>, "kaio: the offsets of sort_by_expert are i32, and not const");
  detail::run_sort_by_expert(s, indices, offsets, options);
}
// Refuses arguments that are no such views.
template <class Index, class Offset>
  requires(!(detail::views<2, Index> && detail::views<1, Offset>))
void sort_by_expert(const stream&, const Index&, const Offset&, const sort_by_expert_options& = {}) {
  detail::refuse_views<Index, Offset>();
}

// The bytes of workspace that sort_by_expert needs: 0 for at most 2048 choices, else below 512 KiB + 4 bytes for
// each choice.
template <class Index, class Offset>
std::uint64_t sort_by_expert_workspace_bytes(const tensor_view<Index, 2>& indices,
                                             const tensor_view<Offset, 1>& offsets) {
  return detail::sort_by_expert_bytes(indices, offsets);
}

// Loads the kernels ahead of their first use.
void sort_by_expert_warmup(const runtime::device& gpu);

}  // namespace kaio::ops

namespace kaio {
using ops::sort_by_expert;
using ops::sort_by_expert_options;
using ops::sort_by_expert_warmup;
using ops::sort_by_expert_workspace_bytes;
}  // namespace kaio
