#pragma once
// A mask within the blocks of keys that an attention's option `blocks` lists. Kernels visit only these
// blocks, and run the mask in the partial ones.
//
//   attention_with<128>(s, q, k, v, out, ops::general_score{}, ops::block_sparse<same_document>{},
//                       {.blocks = blocks}, documents);
//
// It is a mask like any other; its first parameter is the lists.

#include <kaio/ops/attention/common/block_lists.hpp>
#include <kaio/ops/attention/common/mask.hpp>

namespace kaio::ops {

namespace detail {
template <class Mask, class Parameters>
struct block_sparse_call;
template <class Mask, class... OfMask>
struct block_sparse_call<Mask, attention_parameters<OfMask...>> {
  constexpr val<bool> operator()(thread t, attention_place at, val<attention_block_lists>,
                                 OfMask... of_mask) const {
    return Mask{}(t, at, of_mask...);
  }
  template <class Scores, std::uint32_t Rows>
  static constexpr void tile(thread t, Scores& s, const score_origin<Rows>& origin,
                             const val<attention_block_lists>&, const OfMask&... of_mask) {
    apply_mask<Mask>(t, s, origin, of_mask...);
  }
  static constexpr key_range keys(thread t, const val<u32>& first_query, const val<u32>& last_query,
                                  const val<u32>& keys, const val<i32>& offset,
                                  const val<attention_block_lists>&, const OfMask&... of_mask) {
    return keys_of<Mask>(t, first_query, last_query, keys, offset, of_mask...);
  }
};

template <class Mask>
struct block_sparse_reads {};
template <class Mask>
  requires requires { Mask::reads_nothing; }
struct block_sparse_reads<Mask> {
  static constexpr bool reads_nothing = true;
};
}  // namespace detail

template <attention_mask Mask>
struct block_sparse : detail::block_sparse_call<Mask, parameters_of_mask<Mask>>,
                      detail::block_sparse_reads<Mask> {
  using mask = Mask;
  static constexpr auto name = "blocks_" + attention_function_name<Mask>;
};

// For kernels that run with or without lists. Without lists (their `queries` is 0) they visit the range of
// keys that the mask keeps.
template <attention_mask Mask>
struct in_any_blocks : detail::block_sparse_call<Mask, parameters_of_mask<Mask>>,
                       detail::block_sparse_reads<Mask> {
  using mask = Mask;
  static constexpr auto name = attention_function_name<Mask>;
};

template <class Mask>
inline constexpr bool is_block_sparse = false;
template <class Mask>
inline constexpr bool is_block_sparse<block_sparse<Mask>> = true;

template <class Mask>
inline constexpr bool is_in_any_blocks = false;
template <class Mask>
inline constexpr bool is_in_any_blocks<in_any_blocks<Mask>> = true;
// Whether the mask's first parameter is lists of blocks.
template <class Mask>
inline constexpr bool takes_blocks = is_block_sparse<Mask> || is_in_any_blocks<Mask>;

namespace detail {
template <class Mask>
struct mask_in_blocks {
  using type = Mask;
};
template <class Mask>
struct mask_in_blocks<block_sparse<Mask>> {
  using type = Mask;
};
template <class Mask>
struct mask_in_blocks<in_any_blocks<Mask>> {
  using type = Mask;
};
}  // namespace detail

// The mask itself: Mask, or the one inside block_sparse or in_any_blocks.
template <class Mask>
using mask_of_blocks = typename detail::mask_in_blocks<Mask>::type;

}  // namespace kaio::ops
