#pragma once
// A block-sparse mask, as FlexAttention's BlockMask has it: queries and keys are cut into blocks, and for
// each block of queries of a head two lists name the blocks of keys that are visited. Everything is read on
// the device when the call runs, so that a call that was captured into a graph may be replayed with other
// lists.
//
//   block_mask blocks{.kv_num_blocks = counts, .kv_indices = indices};     // i32, (1, 1, Qb), (1, 1, Qb, Kb)
//   attention(s, q, k, v, out, {.causal = causal_alignment::top_left, .blocks = blocks});

#include <kaio/ops/attention/common/view.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Numbers of i32 that an operation reads, of Rank dimensions.
template <std::size_t Rank>
struct block_mask_input {
  attention_view view;  // of elements of four bytes
  block_mask_input() = default;
  template <class T, std::size_t R>
  block_mask_input(const tensor_view<T, R>& v) : view(detail::view_of_numbers(v)) {
    static_assert(std::is_same_v<std::remove_const_t<T>, i32>, "kaio: the numbers of a block mask are i32");
    static_assert(R == Rank,
                  "kaio: num_blocks of a block mask have three dimensions, (batches, heads, blocks); indices "
                  "have a fourth one, along the lists");
  }
};

// The same, which it writes.
template <std::size_t Rank>
struct block_mask_numbers : block_mask_input<Rank> {
  block_mask_numbers() = default;
  template <class T, std::size_t R>
  block_mask_numbers(const tensor_view<T, R>& v) : block_mask_input<Rank>(v) {
    static_assert(!std::is_const_v<T>, "kaio: a block mask is written to views of i32 that are not const");
  }
};

// How many queries, and keys, a block has: any number from 1 on. Fastest where both are multiples of 128: a
// tile of queries or keys of a kernel never reaches over the end of a block, so that smaller blocks, and
// those that are no multiple of the kernel's tiles, leave a part of a tile unused.
struct block_mask_size {
  std::int64_t queries = 128, keys = 128;
};

// With Qb = ceil(Sq / size.queries) blocks of queries and lists that have room for Kb numbers, which may
// differ between both kinds, batches B' either those of q or 1, and heads H' either those of q or 1:
//
//   kv_num_blocks       (B', H', Qb)      how many blocks of keys are visited with the mask
//   kv_indices          (B', H', Qb, Kb)  which: from 0 to before ceil(Sk / size.keys), in any order
//   full_kv_*           the same          those of which every key is kept; the mask does not run
//
// No block is in a list twice or in both; blocks in neither are skipped. The full lists may be left out.
// Numbers past a count may be anything. Neighbours of a list are adjacent; other strides are free, also 0.
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
