#pragma once
// The end of a tile of queries in a consumer warpgroup for sm_90a. O leaves from registers, divided by its
// sums, with the log-sum-exp of each row. If blocks of a cluster share the tile, they combine their parts
// (cluster.hpp). Rows that masked values made NaN are computed again (exact_rows.hpp).

#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/exact_rows.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/forward/sm90/cluster.hpp>
#include <kaio/ops/attention/forward/sm90/config.hpp>
#include <kaio/ops/attention/forward/sm90/shared.hpp>
#include <kaio/ops/attention/forward/sm90/store.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kaio::ops {

// A thread's two rows of a tile after the last step, and where its O belongs.
struct attention_sm90_ended_tile {
  const attention_block& block;
  const attention_output& o;
  const dsl::register_array<softmax_total, 2>& totals;
};

template <attention_sm90_config C, scalar T, class Functions>
struct attention_sm90_finish {
  using softmax = online_softmax<2, 4, true>;
  using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
  using ended_tile = attention_sm90_ended_tile;
  static constexpr f32 nothing = -std::numeric_limits<f32>::infinity();
  // The numbers of softmax_row that O needs.
  struct shifted_row {
    val<f32> largest, inverse;
  };
  // The numbers with which O was stored, and the rows that have to be recomputed.
  struct stored_rows {
    dsl::register_array<shifted_row, 2> result;
    dsl::register_array<val<bool>, 2> wrong;
  };

  thread t;
  const attention_sm90_shared<C, T>& shared;
  const val<attention_problem>& problem;
  const Functions& functions;
  const named_barrier<>& own_group;
  const val<f32>& factor;
  const val<u32>& own_row;  // the thread's first row among the block's queries

  // Stores `sums`, O of the warpgroup's queries of a tile. `done` is the softmax of all its steps.
  template <class Sums>
  constexpr void store(const attention_block& block, softmax& done, const Sums& sums) const {
    const auto totals = array_of<2>([&](u32 r) { return done.total(r, factor); });
    const attention_output o = output_of(t, problem, block, sizeof(T));
    const ended_tile tile{block, o, totals};
    if constexpr (C.most_parts() > 1) {
      finished_rows rows(t);
      const val in_cluster = t.let(cluster_size(t) > 1u);
      if (auto parts = t.when(in_cluster))
        shared.divided.combine(problem, block, sums, totals, o, own_group, rows);
      if (auto alone = t.otherwise()) put(rows, store_alone(tile, sums), block);
      const stored_rows stored = stored_of(rows);
      recompute(tile, stored, t.let(rows.first_query));
    } else {
      const stored_rows stored = store_alone(tile, sums);
      recompute(tile, stored, t.let(block.first_query + t.warp_rank() * 16u));
    }
  }

 private:
  // Stores a tile that the block has for itself.
  template <class Sums>
  constexpr stored_rows store_alone(const ended_tile& tile, const Sums& sums) const {
    const attention_block& block = tile.block;
    const auto& totals = tile.totals;
    const val query = t.let(block.first_query + own_row);
    const val sink = sink_of(t, problem, block);
    const auto with_sink =
        array_of<2>([&](u32 r) { return add_sink(t, totals[r].largest, totals[r].sum, sink); });
    const auto result = array_of<2>([&](u32 r) { return result_of(totals[r], with_sink[r]); });
    if (auto wanted = t.when(problem[&attention_problem::lse] != 0u)) store_lse_of(block, query, with_sink);
    // NaN if any number of the row is.
    auto any = array_of<2>([&](u32) { return var(t, bit_cast<pair>(t.let(0u))); });
    store_quads<T>(t, sums, {{result[0].inverse, result[1].inverse}}, tile.o, query,
                   [&](u32 r, const val<pair>& two) { any[r] = max_nan(any[r], two); });
    const auto wrong = array_of<2>([&](u32 r) {
      const val found = t.let(any_of(isnan(cast<f32>(low(any[r]))), isnan(cast<f32>(high(any[r])))));
      return t.let(all_of(found, !isnan(result[r].inverse), query + 8 * r < block.query_limit));
    });
    return {result, wrong};
  }
  // A sum is 0, or at least about 1; there the reciprocal is off by one unit in the last place.
  constexpr shifted_row result_of(const softmax_total& total, const softmax_with_sink& with_sink) const {
    const auto& [shift, share, sum] = with_sink;
    const val inverse = t.let(select(sum == 0.0f, 0.0f, share * fast::ftz::rcp(sum)));
    const val none = t.let(total.largest == nothing);
    return {t.let(select(none, 0.0f, total.largest)), inverse};
  }
  constexpr void store_lse_of(const attention_block& block, const val<u32>& query,
                              const dsl::register_array<softmax_with_sink, 2>& with_sink) const {
    const val leads_row = t.let(t.lane_rank() % 4u == 0u);
    for (u32 r = 0; r < 2; ++r) {
      const val of_row = t.let(query + 8 * r);
      store_lse(t, problem, block, of_row, leads_row, with_sink[r].lse(t, t.let(with_sink[r].sum == 0.0f)));
    }
  }

  // The rows as cluster_rows::combine leaves them.
  constexpr void put(finished_rows& rows, const stored_rows& stored, const attention_block& block) const {
    rows.first_query = block.first_query + t.warp_rank() * 16u;
    for (u32 r = 0; r < 2; ++r) {
      rows.rows[r].largest = stored.result[r].largest;
      rows.rows[r].inverse = stored.result[r].inverse;
      rows.rows[r].wrong = select(stored.wrong[r], 1u, 0u);
    }
  }
  constexpr stored_rows stored_of(const finished_rows& rows) const {
    const auto result = array_of<2>([&](u32 r) {
      return shifted_row{t.let(rows.rows[r].largest), t.let(rows.rows[r].inverse)};
    });
    const auto wrong = array_of<2>([&](u32 r) { return t.let(rows.rows[r].wrong != 0u); });
    return {result, wrong};
  }

  // Recomputes the warp's wrong rows; its first row is `first_query`.
  constexpr void recompute(const ended_tile& tile, const stored_rows& stored,
                           const val<u32>& first_query) const {
    recompute_rows<T, C.depth_v>(
        t, first_query, 0u, problem, tile.block,
        [&] { return functions.walks.template walk<C.keys>(t, tile.block, C.queries()); }, stored.wrong,
        stored.result, factor, functions.score, functions.mask,
        [&](const val<u32>& row, const val<u32>& column, const val<f32>& x) {
          store_element(t, tile.o, t.let(first_query + row), column, t.let(cast<T>(x)));
        });
  }
};

}  // namespace kaio::ops
