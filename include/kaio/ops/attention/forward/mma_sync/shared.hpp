#pragma once
// The tiles of a block of attention by mma.sync in shared memory, the rows of tensors that are copied to
// them, and the numbers of fragments that follow from their shapes.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/copy_rows.hpp>
#include <kaio/ops/attention/forward/mma_sync/config.hpp>
#include <kaio/ops/attention/forward/mma_sync/product.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <attention_mma_config C, class T>
struct attention_mma_types {
  using stored = stored_element<T>;
  using product = attention_product<T, C.sm>;
  using accumulator = typename product::accumulator;
  using a_fragment = typename product::a_fragment;
  using swizzle = dsl::swizzled<128>;
  static constexpr bool asynchronous = C.sm >= 80;
  static constexpr bool shares = C.column_warps > 1;  // whether warps share queries
  template <std::uint32_t Rows, std::uint32_t Columns, class Layout = swizzle>
  using rows = attention_rows<stored, Rows, Columns, C.threads(), Layout, asynchronous>;
  using q_rows = rows<C.queries(), C.depth_qk>;
  using k_rows = rows<C.keys, C.depth_qk>;
  using v_rows = rows<C.keys, C.depth_v, typename product::v_layout>;
  using o_tile = shared_tile<stored, C.queries(), C.depth_v, swizzle>;
  using halves = shared_tile<f32, C.queries(), C.depth_v / 2, swizzle>;  // per warp: half of its columns
  // Per warp: slices of Q and K, parts of the keys of S, slices of P, parts of the columns of O.
  static constexpr std::uint32_t slices = C.own_depth_qk() / product::k, key_parts = C.keys / 8,
                                 p_slices = C.keys / product::k, value_parts = C.own_depth_v() / 8;
  static constexpr std::uint32_t at_once = product::at_once;
  static_assert(key_parts % at_once == 0 && value_parts % at_once == 0);
  // A warp's part of the columns; a number of the host if warps do not share queries.
  using part = std::conditional_t<shares, val<u32>, u32>;
};

// Q and, after the last step, O share their memory.
template <attention_mma_config C, class T>
struct attention_mma_shared {
  using types = attention_mma_types<C, T>;
  static constexpr std::uint32_t depth = std::max(C.depth_qk, C.depth_v);
  using q_tile = typename types::q_rows::tile;
  using q_memory = shared_tile<typename types::stored, C.queries(), depth, typename types::swizzle>;

  q_memory of_queries;             // queries x depth
  q_tile q;                        // queries x depth_qk
  typename types::o_tile o;        // queries x depth_v
  typename types::k_rows::tile k;  // keys x depth_qk
  typename types::v_rows::tile v;  // keys x depth_v

  constexpr explicit attention_mma_shared(thread t)
      : of_queries(t), q(q_tile::over(of_queries)), o(types::o_tile::over(of_queries)), k(t), v(t), t_(t) {}

  // All copies have arrived, and all threads' writes are visible.
  constexpr void wait() const {
    if constexpr (types::asynchronous) cp_async_wait_group<0>(t_);
    t_.barrier();
  }

 private:
  thread t_;
};

// The rows of a block's head in memory.
template <attention_mma_config C, class T>
struct attention_mma_tensors {
  using types = attention_mma_types<C, T>;
  using memory = in<typename types::stored>;

  val<u32> qk_size, v_size;
  typename types::q_rows q;  // queries x qk_size
  typename types::k_rows k;  // keys x qk_size
  typename types::v_rows v;  // keys x v_size

  constexpr attention_mma_tensors(thread t, const val<attention_problem>& problem,
                                  const attention_block& block, const memory& q_tensor,
                                  const memory& k_tensor, const memory& v_tensor)
      : qk_size(t.let(problem[&attention_problem::qk_size])),
        v_size(t.let(problem[&attention_problem::v_size])),
        q(of<typename types::q_rows>(t, q_tensor, problem[&attention_problem::q], block, block.head,
                                     block.first_q_row, qk_size)),
        k(of<typename types::k_rows>(t, k_tensor, problem[&attention_problem::k], block, block.group,
                                     block.first_k_row, qk_size)),
        v(of<typename types::v_rows>(t, v_tensor, problem[&attention_problem::v], block, block.group,
                                     block.first_k_row, v_size)) {}

 private:
  template <class Rows, class Strides>
  static constexpr Rows of(thread t, const memory& tensor, const Strides& strides,
                           const attention_block& block, const val<u32>& head, const val<u32>& first_row,
                           const val<u32>& size) {
    return Rows{t, tensor.from(head_offset(t, strides, block, head, first_row)),
                t.let(strides[&attention_strides::row]), size, t.let(strides[&attention_strides::by_16])};
  }
};

// f(product{}), with all products of a step in one branch.
template <attention_mma_config C, class T, class F>
constexpr void with_product(thread t, const val<attention_problem>& problem, const F& f) {
  with_attention_product<T, C.sm>(t, t.let(problem[&attention_problem::element]), f);
}

}  // namespace kaio::ops
