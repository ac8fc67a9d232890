#pragma once
// Attention by ordinary multiply-adds: O = softmax(mask(score(Q K^T))) V, computed in f32. f16 is converted
// when loaded and rounded when stored, so that one kernel can serve both types (f32_or_f16).
//
// A block has eight warps. Each takes a few rows of the block's queries and every `groups`-th tile of 32
// keys, so that `groups` warps share rows. The launch gives `groups`: with more of them a block has fewer
// queries, and few queries still fill a device.
//
//            keys  0     32    64    96    128        groups = 4, 16 rows per warp: 32 queries
//                +-----+-----+-----+-----+-- ..
//     rows 0     | w 0 | w 1 | w 2 | w 3 | w 0        a warp: row_lanes x column_lanes; a thread: 4 queries,
//     rows 16    | w 4 | w 5 | w 6 | w 7 | w 4        every column_lanes-th key, and fours of columns of O
//                +-----+-----+-----+-----+-- ..
//
//   for each `groups` tiles of keys:
//     for 32 columns at a time:       K to shared memory; S += Q K^T
//     softmax in registers, P to shared memory, each warp for itself
//     for value_keys keys at a time:  V to the memory of K; O += P V
//   add the O of warps that share rows in their order, each corrected to the largest score of all
//
// A barrier precedes each use of data that other threads wrote.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/forward/simt/config.hpp>
#include <kaio/ops/attention/forward/simt/loads.hpp>
#include <kaio/ops/attention/forward/simt/scores.hpp>
#include <kaio/ops/attention/forward/simt/totals.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <attention_simt_config C, class T, class Score, class Mask>
struct attention_simt_body {
  static_assert(C.valid(), "kaio: attention's kernel does not support this tile shape");
  static constexpr std::uint32_t rows = C.rows, lanes = C.column_lanes(), columns = C.tile_keys / lanes,
                                 fours = C.depth / (4 * lanes), value_keys = C.value_keys(),
                                 step_keys = std::min(value_keys, 4u);
  using stored = stored_element<T>;
  // Element type of a bias, besides f32.
  using score_element = std::conditional_t<std::is_same_v<T, f32_or_f16>, f16, T>;
  using q_tile = shared_tile<f32, C.queries(C.least_groups), C.depth, dsl::padded<C.padding>>;
  using kv_memory = shared_tile<f32, 1, C.kv_floats(), dsl::row_major>;
  using k_tile = shared_tile<f32, C.keys(C.most_groups), C.chunk, dsl::padded<C.padding>>;
  using v_tile = shared_tile<f32, C.most_groups * value_keys, C.depth, dsl::padded<C.padding>>;
  using p_tile = shared_tile<f32, C.warps * C.warp_rows(), C.tile_keys, dsl::padded<C.padding>>;

  // The last four are Score and Mask with their parameters.
  template <class ApplyScore, class Factor, class ApplyMask, class Walks>
  static constexpr void run(thread t, const in<stored>& q, const in<stored>& k, const in<stored>& v,
                            const out<stored>& o, const val<attention_problem>& problem,
                            const val<u32>& groups, const ApplyScore& score, const Factor& factor_of,
                            const ApplyMask& mask, const Walks& walks) {
    const q_tile q_shared(t);  // queries x depth; at the end O
    const kv_memory kv_shared(t);
    const k_tile k_shared = k_tile::over(kv_shared);  // keys of all groups x chunk
    const v_tile v_shared = v_tile::over(kv_shared);  // value_keys of each group x depth
    const p_tile p_shared(t);                         // rows of all warps x keys of one
    const simt::key_tiles<C> tiles(t);
    const simt::row_totals<C> totals(t);

    const val rank = t.thread_rank(), warp = t.let(t.warp_rank()), lane = t.lane_rank();
    const val group = t.let(warp % groups), row_group = t.let(warp / groups);
    const divided_walks<Walks> own_walks{walks, groups};
    const attention_block block = find_block(t, problem, t.let(block_idx_x()), most_queries, own_walks);
    const val queries = block.query_limit;
    const val qk_size = t.let(problem[&attention_problem::qk_size]);
    const val v_size = t.let(problem[&attention_problem::v_size]);
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = factor_of(scale);
    const val of_column = t.let(lane % lanes), of_row = t.let(row_group * C.warp_rows() + lane / lanes);
    const val p_row = t.let(warp * C.warp_rows() + lane / lanes);
    const auto range = own_walks.walk(t, block);
    const simt::tensor_rows<T> of_q(t, problem, q, problem[&attention_problem::q], block, block.head,
                                    block.first_q_row, qk_size);
    const simt::tensor_rows<T> of_k(t, problem, k, problem[&attention_problem::k], block, block.group,
                                    block.first_k_row, qk_size);

    for (auto i : t.range(rank, t.let(own_walks.queries(t) * (C.depth / 4)), C.threads).no_unroll()) {
      const val row = t.let(i / (C.depth / 4)), column = t.let(i % (C.depth / 4) * 4u);
      auto x = simt::zeros(t);
      of_q.with_elements(t, [&](const auto& elements) {
        of_q.four(t, x, elements, t.let(block.first_query + row), queries, column);
      });
      store_vec(q_shared[row][column], make_vec(x[0], x[1], x[2], x[3]));
    }
    auto sums = array_of<rows * fours * 4>([&](u32) { return var(t, 0.0f); });  // O
    online_softmax<rows, lanes> softmax(t);

    for (auto j : t.range(range.first, range.last, groups).no_unroll()) {
      const val number = t.let(j + group);
      const val works = t.let(number < range.last);
      const auto keys = range.tile(t, range.find(t, t.let(min(number, range.last - 1u))));
      if (auto leads = t.when(rank < groups * 32u)) tiles.put(t, group, works, keys.first, keys.limit);
      auto s = array_of<rows * columns>([&](u32) { return var(t, 0.0f); });
      for (auto first : t.range(0u, qk_size, C.chunk).no_unroll()) {
        t.barrier();
        simt::load_tiles<C, C.chunk>(t, k_shared, of_k, tiles, groups, 0u, t.let(first));
        t.barrier();
        if (auto some = t.when(works))
          for (auto d : t.range(0u, C.chunk, 4u).no_unroll()) {  // columns beyond the row are zero
            const auto q_fours = array_of<rows>(
                [&](u32 r) { return load_vec<4>(q_shared[of_row + C.row_lanes * r][first + d]); });
            const auto k_fours = array_of<columns>(
                [&](u32 c) { return load_vec<4>(k_shared[group * C.tile_keys + of_column + lanes * c][d]); });
            for (u32 e = 0; e < 4; ++e)
              for (u32 i = 0; i < rows * columns; ++i)
                s[i] = fma(q_fours[i / columns][e], k_fours[i % columns][e], s[i]);
          }
      }
      if (auto some = t.when(works)) {
        const simt_scores<score_element, rows, columns, lanes> scores{&s};
        const auto query_of =
            array_of<rows>([&](u32 r) { return t.let(block.first_query + of_row + C.row_lanes * r); });
        const score_origin<rows> origin =
            origin_of<rows>(t, block, query_of, t.let(keys.first + of_column), keys.end);
        score(scores, origin, scale);
        range.mask(t, keys, scores, origin, mask);
        const auto correction = softmax.step(scores, factor);
        for (u32 i = 0; i < rows * fours * 4; ++i) sums[i] *= correction[i / (fours * 4)];
        for (u32 i = 0; i < rows * columns; ++i)
          p_shared[p_row + C.row_lanes * (i / columns)][of_column + lanes * (i % columns)] = s[i];
        sync_warp(t);
      }
      for (auto first : t.range(0u, C.tile_keys, value_keys).no_unroll()) {
        t.barrier();
        // The offset of V is computed for each part: kept in registers, it spilled on sm_70.
        const simt::tensor_rows<T> of_v(t, problem, v, problem[&attention_problem::v], block, block.group,
                                        block.first_k_row, v_size);
        simt::load_tiles<C, C.depth>(t, v_shared, of_v, tiles, groups, t.let(first), 0u);
        t.barrier();
        if (auto some = t.when(works))
          for (auto key : t.range(0u, value_keys, step_keys).no_unroll()) {
            const auto p = array_of<rows>(
                [&](u32 r) { return load_vec<step_keys>(p_shared[p_row + C.row_lanes * r][first + key]); });
            for (u32 i = 0; i < step_keys; ++i)
              for (u32 f = 0; f < fours; ++f) {
                const val x =
                    load_vec<4>(v_shared[group * value_keys + key + i][of_column * 4u + 4 * lanes * f]);
                for (u32 r = 0; r < rows; ++r)
                  for (u32 e = 0; e < 4; ++e) {
                    auto& sum = sums[(r * fours + f) * 4 + e];
                    // A masked key adds nothing, even if its value is NaN or infinite.
                    sum = select(p[r][i] == 0.0f, sum, fma(p[r][i], x[e], sum));
                  }
              }
          }
      }
    }

    // The warps that share rows combine their sums.
    for (u32 r = 0; r < rows; ++r) {
      const softmax_total total = softmax.total(r, factor);
      if (auto leads = t.when(of_column == 0u)) totals.put(t.let(p_row + C.row_lanes * r), total);
    }
    t.barrier();
    const val<f32> sink = sink_of(t, problem, block);
    if (auto has_row = t.when(rank < own_walks.queries(t))) {
      const softmax_total all = totals.all(t, rank, groups);
      const softmax_row result = softmax_result(t, all.largest, all.sum, sink);
      totals.put_inverse(rank, result.inverse);
      store_lse(t, problem, block, t.let(block.first_query + rank), t.let(block.first_query + rank < queries),
                result.lse);
    }
    for (u32 r = 0; r < rows; ++r) {
      const val weight = totals.weight(t, t.let(of_row + C.row_lanes * r), groups, group);
      for (u32 i = 0; i < fours * 4; ++i) sums[r * fours * 4 + i] *= weight;
    }
    for (auto g : t.range(0u, groups).no_unroll()) {
      if (auto own = t.when(group == g))
        for (u32 r = 0; r < rows; ++r)
          for (u32 f = 0; f < fours; ++f) {
            const auto place = q_shared[of_row + C.row_lanes * r][of_column * 4u + 4 * lanes * f];
            auto x = array_of<4>([&](u32 e) { return var(t, sums[(r * fours + f) * 4 + e]); });
            if (auto further = t.when(g != 0u)) {
              const val before = load_vec<4>(place);
              for (u32 e = 0; e < 4; ++e) x[e] += before[e];
            }
            store_vec(place, make_vec(x[0], x[1], x[2], x[3]));
          }
      t.barrier();
    }
    store(t, problem, block, q_shared, totals, o, queries, v_size, own_walks.queries(t));
  }

 private:
  static constexpr std::uint32_t most_queries = C.queries(C.least_groups);

  // The walks over keys of a block whose number of queries depends on `groups`. Tiles are those of one warp.
  template <class Walks>
  struct divided_walks {
    Walks walks;
    val<u32> groups;

    constexpr val<u32> queries(thread t) const { return t.let(C.warps * C.warp_rows() / groups); }
    constexpr val<u32> first_query(thread t, const var<u32>& tile, std::uint32_t) const {
      return either(t, [&](std::uint32_t size) { return walks.first_query(t, tile, size); });
    }
    constexpr val<u32> query_limit(thread t, const var<u32>& tile, const val<u32>& all, std::uint32_t) const {
      return either(t, [&](std::uint32_t size) { return walks.query_limit(t, tile, all, size); });
    }
    constexpr auto walk(thread t, const attention_block& block) const {
      const val last = t.let(min(block.queries, block.first_query + queries(t)));
      const attention_block own{
          block.batch, block.head,         block.group,       block.first_query, block.query_limit, last,
          block.keys,  block.tensor_batch, block.first_q_row, block.first_k_row, block.offset};
      return walks.template walk<C.tile_keys>(t, own, most_queries);
    }

   private:
    template <class Of>
    constexpr val<u32> either(thread t, const Of& of) const {
      var<u32> result(t, of(most_queries));
      if constexpr (C.least_groups != C.most_groups)
        if (auto few = t.when(groups != C.least_groups)) result = of(C.queries(C.most_groups));
      return t.let(result);
    }
  };

  template <class U>
  static constexpr auto elements_of(const out<stored>& o) {
    if constexpr (std::is_same_v<stored, U>)
      return o;
    else
      return out<U>{o.trace, o.base, o.scope, o.offset};
  }
  // Divides O, which is in `of_block`, by the sums and stores it.
  static constexpr void store(thread t, const val<attention_problem>& problem, const attention_block& block,
                              const q_tile& of_block, const simt::row_totals<C>& totals, const out<stored>& o,
                              const val<u32>& queries, const val<u32>& size, const val<u32>& block_rows) {
    const auto strides = problem[&attention_problem::o];
    const val begin = head_offset(t, strides, block, block.head, block.first_q_row);
    const val type = t.let(problem[&attention_problem::element]);
    const val pitch = t.let(strides[&attention_strides::row]);
    const val by_16 = t.let(strides[&attention_strides::by_16] != 0u);
    for (auto i : t.range(t.thread_rank(), t.let(block_rows * (C.depth / 4)), C.threads).no_unroll()) {
      const val row = t.let(i / (C.depth / 4)), column = t.let(i % (C.depth / 4) * 4u);
      const val query = t.let(block.first_query + row);
      if (auto exists = t.when(all_of(query < queries, column < size))) {
        const val inverse = totals.inverse(t, row);
        const val x = load_vec<4>(of_block[row][column]);
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

template <attention_simt_config C, class T, class Score, class Mask, class OfScore, class OfMask>
struct attention_simt_kernel;

template <attention_simt_config C, class T, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_simt_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
                             attention_parameters<OfMask...>> {
  static constexpr auto element_name() {
    if constexpr (std::is_same_v<T, f32_or_f16>)
      return fixed_string("any");
    else
      return type_name<T>;
  }
  static constexpr auto name = "attention_simt_" + element_name() + "_d" + decimal<C.depth> + "_" +
                               decimal<C.queries(C.least_groups)> + "x" + decimal<C.keys(C.least_groups)> +
                               "_" + attention_function_name<Score> + "_" + attention_function_name<Mask>;
  static constexpr kernel_options options{.large_shared = true, .min_blocks = C.blocks};

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads}, options>(
      [](thread t, in<stored_element<T>> q, in<stored_element<T>> k, in<stored_element<T>> v,
         out<stored_element<T>> o, val<attention_problem> problem, val<u32> groups, OfScore... of_score,
         OfMask... of_mask) {
        attention_simt_body<C, T, Score, Mask>::run(
            t, q, k, v, o, problem, groups,
            [&](const auto& s, const auto& origin, const val<f32>& scale) {
              apply_score<Score>(t, s, origin, scale, of_score...);
            },
            [&](const val<f32>& scale) { return exponent_factor<Score>(t, scale, of_score...); },
            [&](const auto& s, const auto& origin) { apply_mask<Mask>(t, s, origin, of_mask...); },
            walks_of<Mask>(t, of_mask...));
      });
};

// Launched like attention_mma, with `groups` after the problem.
template <attention_simt_config C, class T, class Score, class Mask>
inline constexpr auto attention_simt =
    attention_simt_kernel<C, T, Score, Mask, parameters_of_score<Score>, parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops
