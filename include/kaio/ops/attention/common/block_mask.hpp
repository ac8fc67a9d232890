#pragma once
// A block-sparse mask in the form of FlexAttention's BlockMask. Queries and keys are cut into blocks. For
// each block of queries of a head, two lists name the blocks of keys that are visited. The device reads
// everything when the call runs, so a call captured into a graph can be replayed with other lists.
//
//   block_mask blocks{.kv_num_blocks = counts, .kv_indices = indices};     // i32, (1, 1, Qb), (1, 1, Qb, Kb)
//   attention(s, q, k, v, out, {.causal = causal_alignment::top_left, .blocks = blocks});

#include <kaio/ops/attention/common/view.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// i32 numbers that an operation reads, of Rank dimensions.
template <std::size_t Rank>
struct block_mask_input {
  attention_view view;  // elements of four bytes
  block_mask_input() = default;
  template <detail::without_view M>
  block_mask_input(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t R>
  block_mask_input(const tensor_view<T, R>& v) : view(detail::view_of_numbers(v)) {
    static_assert(std::is_same_v<std::remove_const_t<T>, i32>, "kaio: the numbers of a block mask are i32");
    static_assert(R == Rank,
                  "kaio: num_blocks of a block mask have three dimensions, (batches, heads, blocks); indices "
                  "have a fourth one, along the lists");
  }
};

// i32 numbers that an operation writes.
template <std::size_t Rank>
struct block_mask_numbers : block_mask_input<Rank> {
  block_mask_numbers() = default;
  template <detail::without_view M>
  block_mask_numbers(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t R>
  block_mask_numbers(const tensor_view<T, R>& v) : block_mask_input<Rank>(v) {
    static_assert(!std::is_const_v<T>, "kaio: a block mask is written to views of i32 that are not const");
  }
};

// Queries and keys of a block, each at least 1. Multiples of 128 are fastest. A kernel's tile never crosses
// the end of a block, so other block sizes leave a part of some tiles unused.
struct block_mask_size {
  std::int64_t queries = 128, keys = 128;
};

// The lists of a mask. The queries are cut into Qb = ceil(Sq / size.queries) blocks. A list has room for Kb
// numbers; Kb may differ between the two kinds. The batches B' are those of q or 1, and so are the heads H':
//
//   kv_num_blocks       (B', H', Qb)      number of blocks of keys that are visited with the mask
//   kv_indices          (B', H', Qb, Kb)  their indices, each below ceil(Sk / size.keys), in any order
//   full_kv_*           likewise          the blocks whose keys are all kept; the mask does not run
//
// No block is in a list twice or in both; blocks in neither are skipped. The full lists may be left out.
// Numbers after a count may be anything. Neighbours of a list are adjacent; other strides are free, also 0.
struct block_mask {
  block_mask_input<3> kv_num_blocks{};
  block_mask_input<4> kv_indices{};
  block_mask_input<3> full_kv_num_blocks{};
  block_mask_input<4> full_kv_indices{};
  block_mask_size size{};

  bool exists() const noexcept {
    return kv_num_blocks.view.exists() || kv_indices.view.exists() || full_kv_num_blocks.view.exists() ||
           full_kv_indices.view.exists();
  }
};

}  // namespace kaio::ops
