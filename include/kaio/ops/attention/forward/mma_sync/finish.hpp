#pragma once
// The end of a block of attention by mma.sync: each warp divides its O by the sums and stores it, with the
// log-sum-exp of each row. Rows that masked values made NaN are computed again (exact_rows.hpp).
//
// O passes through the warp's own part of the tile of Q, so that whole lines are written. All columns are
// written at once as T; an f32 output of 16-bit operands takes two halves of the columns, one after the other.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/exact_rows.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/common/store_rows.hpp>
#include <kaio/ops/attention/forward/mma_sync/config.hpp>
#include <kaio/ops/attention/forward/mma_sync/shared.hpp>
#include <kaio/ops/attention/forward/mma_sync/warp.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Where a warp's rows and columns of O begin in memory.
template <attention_mma_config C, class T>
struct attention_mma_output {
  using types = attention_mma_types<C, T>;
  using stored = typename types::stored;
  using column = typename types::part;

  column first_column;
  val<u32> first_row;  // query
  val<i64> pitch;
  val<u32> by_16, columns;  // columns: those of the tensor from first_column on
  out<stored> narrow;       // the rows of the head, as T
  out<f32> wide;            // as f32
  val<bool> is_wide;

  static constexpr attention_mma_output of(thread t, const val<attention_problem>& problem,
                                           const out<stored>& tensor, const attention_block& block,
                                           const attention_mma_warp<C, T>& warp, const val<u32>& v_size) {
    const auto strides = problem[&attention_problem::o];
    const column first_column = first_column_of(t, warp.part);
    const val first_row = t.let(block.first_query + warp.row);
    const val pitch = t.let(strides[&attention_strides::row]);
    const val by_16 = t.let(strides[&attention_strides::by_16]);
    const val columns = columns_from(t, v_size, first_column);
    const val offset = head_offset(t, strides, block, block.head, block.first_q_row);
    const out narrow = from_column(tensor.from(offset), first_column);
    const out wide = from_column(
        pointer_at<out<f32>>(t, t.let(strides[&attention_strides::address])).from(offset), first_column);
    const val is_wide = t.let(strides[&attention_strides::is_f32] != 0u);
    return {first_column, first_row, pitch, by_16, columns, narrow, wide, is_wide};
  }

 private:
  static constexpr column first_column_of(thread t, const typename types::part& part) {
    if constexpr (types::shares)
      return t.let(part * C.own_depth_v());
    else
      return 0u;
  }
  template <class Row>
  static constexpr Row from_column(const Row& row, const column& first) {
    if constexpr (types::shares)
      return row.from(cast<i64>(first));
    else
      return row;
  }
  static constexpr val<u32> columns_from(thread t, const val<u32>& size, const column& first) {
    if constexpr (types::shares)
      return t.let(max(size, first) - first);
    else
      return size;
  }
};

template <attention_mma_config C, class T, class Functions>
struct attention_mma_finish {
  using types = attention_mma_types<C, T>;
  using stored = typename types::stored;
  using product = typename types::product;
  using output = attention_mma_output<C, T>;
  using warp_rows = attention_mma_warp<C, T>;
  static constexpr std::uint32_t value_parts = types::value_parts;

  thread t;
  const attention_mma_shared<C, T>& shared;
  const val<attention_problem>& problem;
  const Functions& functions;
  const attention_block& block;

  // Stores O of a warp after the last step. walk_of() is the walk over the block's keys.
  template <class WalkOf>
  constexpr void store(warp_rows& warp, const out<stored>& tensor, const val<u32>& v_size,
                       const WalkOf& walk_of) const {
    const val sink = sink_of(t, problem, block);
    const auto result = array_of<2>([&](u32 r) { return warp.softmax.finish(r, warp.factor, sink); });
    const val leads = t.let(leads_row(warp));
    for (u32 r = 0; r < 2; ++r) store_lse(t, problem, block, warp.query[r], leads, result[r].lse);

    shared.wait();
    const auto own_o = column_block<C.own_depth_v()>(shared.o, warp.part);  // queries x own_depth_v
    const output to = output::of(t, problem, tensor, block, warp, v_size);
    const val row = t.let(warp.row + warp.quad_row);
    const auto wrong = array_of<2>([&](u32 r) {
      return t.let(all_of(is_any_nan(warp, r), !isnan(result[r].inverse), warp.query[r] < block.query_limit));
    });
    warp.scale_rows(array_of<2>([&](u32 r) { return result[r].inverse; }));
    if (auto to_tile = t.when(!to.is_wide)) stage(own_o, warp, row);
    if constexpr (sizeof(stored) == 2)
      if (auto to_f32 = t.when(to.is_wide)) store_wide(warp, to, row);
    sync_warp(t);
    const auto put = [&](const val<u32>& of_warp, const val<u32>& column, const val<f32>& x) {
      if (auto to_f32 = t.when(all_of(to.is_wide, column < to.columns)))
        to.wide[cast<i64>(to.first_row + of_warp) * to.pitch + cast<i64>(column)] = x;
      if (auto to_tile = t.when(!to.is_wide))
        with_type(
            [&]<class U>(U) { own_o[warp.row + of_warp][column] = bit_cast<stored>(t.let(cast<U>(x))); });
    };
    recompute_rows<T, C.own_depth_v()>(t, to.first_row, to.first_column, problem, block, walk_of, wrong,
                                       result, warp.factor, functions.score, functions.mask, put);
    if (auto from_tile = t.when(!to.is_wide))
      store_rows<stored, 16, C.own_depth_v()>(t, own_o, warp.row, to.narrow, to.pitch, to.columns, to.by_16,
                                              to.first_row, block.query_limit);
  }

 private:
  // Whether the lane writes numbers of its rows.
  static constexpr auto leads_row(const warp_rows& warp) {
    if constexpr (types::shares)
      return all_of(warp.lane % 4u == 0u, warp.part == 0u);
    else
      return warp.lane % 4u == 0u;
  }
  // f(T{}) for the element type of the operands.
  template <class F>
  constexpr void with_type(const F& f) const {
    if constexpr (std::is_same_v<T, any_half>)
      with_half(t, t.let(problem[&attention_problem::element] == static_cast<u32>(element_type::bf16)), f);
    else
      f(T{});
  }
  // Whether any number of row r is NaN.
  constexpr val<bool> is_any_nan(const warp_rows& warp, u32 r) const {
    const auto& parts = warp.o;
    if constexpr (C.sm >= 80) {
      var any(t, parts[0].registers[2 * r]);
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (u32 e = 2 * r; e < 2 * r + 2; ++e)
          if (j != 0 || e != 2 * r) any = max_nan(any, parts[j].registers[e]);
      return t.let(isnan(any));
    } else {
      var found(t, isnan(parts[0].registers[2 * r]));
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (u32 e = 2 * r; e < 2 * r + 2; ++e) found |= isnan(parts[j].registers[e]);
      return t.let(found);
    }
  }

  // Stores the warp's O to its part of the tile, as T; `row` is the lane's.
  template <class Tile>
  constexpr void stage(const Tile& to, const warp_rows& warp, const val<u32>& row) const {
    const auto& parts = warp.o;
    if constexpr (sizeof(stored) == 2) {
      using words =
          shared_tile<typename product::pair, C.queries(), C.own_depth_v() / 2, typename types::swizzle>;
      auto rounded = array_of<2 * value_parts / types::a_fragment::register_count>(
          [&](u32) { return typename types::a_fragment(t); });
      with_product<C, T>(t, problem, [&]<class Product>(Product) {
        for (std::uint32_t j = 0; j < value_parts; ++j)
          for (u32 r = 0; r < 2; ++r)
            word_of(rounded, j, r) =
                Product::packed(parts[j].registers[2 * r], parts[j].registers[2 * r + 1]);
      });
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (u32 r = 0; r < 2; ++r)
          words::over(to)[row + 8 * r][warp.quad_column / 2u + 4 * j] = word_of(rounded, j, r);
    } else {
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (u32 r = 0; r < 2; ++r) {
          const auto& from = parts[j].registers;
          store_vec(to[row + 8 * r][warp.quad_column + 8 * j],
                    make_vec(t.let(from[2 * r]), t.let(from[2 * r + 1])));
        }
    }
  }
  // The two numbers of row r of part j, rounded.
  template <class Rounded>
  static constexpr auto& word_of(Rounded& rounded, std::uint32_t j, u32 r) {
    constexpr u32 of_fragment = types::a_fragment::register_count;
    const u32 at = 2 * j + r;
    return rounded[at / of_fragment].registers[at % of_fragment];
  }

  // Stores the warp's O to memory as f32, one half of the columns after the other.
  constexpr void store_wide(const warp_rows& warp, const output& to, const val<u32>& row) const {
    constexpr std::uint32_t half_columns = C.own_depth_v() / 2;
    for (std::uint32_t first = 0; first < C.own_depth_v(); first += half_columns) {
      const auto half = column_block<half_columns>(types::halves::over(shared.of_queries), warp.part);
      stage_half(half, first, warp, row);
      sync_warp(t);
      const auto of_half = to.wide.from(i64{first});
      const val columns = t.let(max(to.columns, first) - first);
      store_rows<f32, 16, half_columns>(t, half, warp.row, of_half, to.pitch, columns, to.by_16, to.first_row,
                                        block.query_limit);
      sync_warp(t);
    }
  }
  // Stores half of the columns to the tile, from `first` on, as f32.
  template <class Tile>
  constexpr void stage_half(const Tile& to, std::uint32_t first, const warp_rows& warp,
                            const val<u32>& row) const {
    for (std::uint32_t c = 0; c < C.own_depth_v() / 2; c += 8)
      for (u32 r = 0; r < 2; ++r) {
        const auto& from = warp.o[(first + c) / 8].registers;
        store_vec(to[row + 8 * r][warp.quad_column + c],
                  make_vec(t.let(from[2 * r]), t.let(from[2 * r + 1])));
      }
  }
};

}  // namespace kaio::ops
