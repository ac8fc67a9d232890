#pragma once
// The end of a block of attention by multiply-adds. Warps that share rows add up their O in their order, each
// corrected to the largest score of all. O is then divided by the sums and stored, with the log-sum-exp.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/forward/simt/config.hpp>
#include <kaio/ops/attention/forward/simt/shared.hpp>
#include <kaio/ops/attention/forward/simt/totals.hpp>
#include <kaio/ops/attention/forward/simt/warp.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <attention_simt_config C, class T, class Walks>
struct attention_simt_finish {
  using stored = stored_element<T>;
  using shape = attention_simt_shape<C>;
  using warp_sums = attention_simt_warp<C>;
  static constexpr std::uint32_t rows = shape::rows, lanes = shape::lanes, fours = shape::fours;

  thread t;
  const attention_simt_shared<C>& shared;
  const val<attention_problem>& problem;
  const attention_block& block;
  const Walks& walks;  // divided_walks

  // Stores the O of all warps. `size`: columns of O.
  constexpr void store(warp_sums& warp, const val<f32>& factor, const out<stored>& o,
                       const val<u32>& size) const {
    put_totals(warp, factor);
    t.barrier();
    put_results(warp.place);
    weigh(warp);
    add_groups(warp);
    const val queries = walks.queries(t);
    store_rows(o, size, queries);
  }

 private:
  constexpr void put_totals(warp_sums& warp, const val<f32>& factor) const {
    for (u32 r = 0; r < rows; ++r) {
      const softmax_total total = warp.softmax.total(r, factor);
      if (auto leads = t.when(warp.own.column == 0u))
        shared.totals.put(t.let(warp.own.p_row + C.row_lanes * r), total);
    }
  }
  // The softmax of each row over all groups, a thread per row.
  constexpr void put_results(const attention_simt_place& place) const {
    const val<f32> sink = sink_of(t, problem, block);
    if (auto has_row = t.when(place.rank < walks.queries(t))) {
      const softmax_total all = shared.totals.all(t, place.rank, place.groups);
      const softmax_row result = softmax_result(t, all.largest, all.sum, sink);
      shared.totals.put_inverse(place.rank, result.inverse);
      const val query = t.let(block.first_query + place.rank);
      const val exists = t.let(query < block.query_limit);
      store_lse(t, problem, block, query, exists, result.lse);
    }
  }
  // Rescales the warp's sums to the largest score of all groups.
  constexpr void weigh(warp_sums& warp) const {
    for (u32 r = 0; r < rows; ++r) {
      const val row = t.let(warp.own.row + C.row_lanes * r);
      const val weight = shared.totals.weight(t, row, warp.place.groups, warp.place.group);
      for (u32 i = 0; i < fours * 4; ++i) warp.sums[r * fours * 4 + i] *= weight;
    }
  }
  // Adds up the sums of the groups, one after the other, in the tile of Q.
  constexpr void add_groups(const warp_sums& warp) const {
    const auto& own = warp.own;
    for (auto g : t.range(0u, warp.place.groups).no_unroll()) {
      if (auto in_turn = t.when(warp.place.group == g))
        for (u32 r = 0; r < rows; ++r)
          for (u32 f = 0; f < fours; ++f) {
            const auto place = shared.q[own.row + C.row_lanes * r][own.column * 4u + 4 * lanes * f];
            auto x = array_of<4>([&](u32 e) { return var(t, warp.sums[(r * fours + f) * 4 + e]); });
            if (auto further = t.when(g != 0u)) {
              const val before = load_vec<4>(place);
              for (u32 e = 0; e < 4; ++e) x[e] += before[e];
            }
            store_vec(place, make_vec(x[0], x[1], x[2], x[3]));
          }
      t.barrier();
    }
  }

  template <class U>
  static constexpr auto elements_of(const out<stored>& o) {
    if constexpr (std::is_same_v<stored, U>)
      return o;
    else
      return out<U>{o.trace, o.base, o.scope, o.offset};
  }
  // Divides O of the block by the sums and stores it to memory.
  constexpr void store_rows(const out<stored>& o, const val<u32>& size, const val<u32>& block_rows) const {
    const auto strides = problem[&attention_problem::o];
    const val begin = head_offset(t, strides, block, block.head, block.first_q_row);
    const val type = t.let(problem[&attention_problem::element]);
    const val pitch = t.let(strides[&attention_strides::row]);
    const val by_16 = t.let(strides[&attention_strides::by_16] != 0u);
    for (auto i : t.range(t.thread_rank(), t.let(block_rows * (C.depth / 4)), C.threads).no_unroll()) {
      const val row = t.let(i / (C.depth / 4)), column = t.let(i % (C.depth / 4) * 4u);
      const val query = t.let(block.first_query + row);
      if (auto exists = t.when(all_of(query < block.query_limit, column < size))) {
        const val inverse = shared.totals.inverse(t, row);
        const val x = load_vec<4>(shared.q[row][column]);
        const val at = t.let(cast<i64>(query) * pitch + cast<i64>(column));
        with_operands<T>(t, type, [&]<class U>(U) {
          const auto y = array_of<4>([&](u32 e) { return t.let(cast<U>(x[e] * inverse)); });
          const auto to = elements_of<U>(o).from(begin);
          if (auto whole = t.when(by_16)) store_vec(to[at], make_vec(y[0], y[1], y[2], y[3]));
          if (auto single = t.otherwise())
            for (u32 e = 0; e < 4; ++e)
              if (auto has = t.when(column + e < size)) to[at + i64{e}] = y[e];
        });
      }
    }
  }
};

}  // namespace kaio::ops
