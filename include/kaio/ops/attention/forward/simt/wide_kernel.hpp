#pragma once
// Attention by ordinary multiply-adds in f32: O = softmax(mask(score(Q K^T))) V. It is for calls with enough
// queries that tiles of 64 of them fill a device. A warp has its own rows, and all keys of them.
//
//              keys 0  1 .. 15  16 ..  127     lanes 0, 2 .. 30 have even rows, the others odd ones, so that
//                 +--------------------+       neighbours share a key
//     warp 0      | rows 0 to 15       |       a thread: 8 rows x every 16th key of S, 8 rows x fours of
//     warp 1      | rows 16 to 31      |       columns of O (D = 256: 4 rows, 8 warps)
//     ..          +--------------------+
//
// D = 128: a thread has 64 sums. For four multiply-adds of each it loads 8 + 8 times 16 bytes; each load
// takes a warp two accesses to shared memory. That takes 32 clocks of shared memory, against 64 clocks of the
// multiprocessor for the 256 multiply-adds. There are 276 instructions per 256 multiply-adds, plus the
// softmax.
// Register reads are the limit: each of two banks gives one number per clock. A multiply-add shares one
// operand with the one before. It waits if its sum is in the bank of its other operand. As ptxas places the
// sums, a fifth to a third of them wait.
//
// Chunks of K (128 keys x 32 columns; D = 256: 64) and V (as many bytes, all columns) take turns in two
// stages:
//
//   copies      | K1       | K2       | ..  | V0       | V1       | ..  | K0 of the next tile
//   multiplied  | S += QK0 | S += QK1 | ..  | S += QKn | O += PV0 | ..  | O += PVn
//
// Products of masked keys are 0 times a value: NaN if the value is NaN or infinite. If O becomes NaN while
// its sum is not, the block computes its tile again and then skips such products.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/biased_score.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/copy_rows.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/forward/simt/scores.hpp>
#include <kaio/ops/attention/forward/simt/wide_config.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <attention_simt_wide_config C>
struct attention_simt_wide_body {
  static_assert(C.valid(), "kaio: attention's kernel does not support this tile shape");
  static constexpr std::uint32_t rows = C.rows, columns = C.columns, fours = C.fours(),
                                 value_keys = C.value_keys();
  using padded = dsl::padded<C.padding>;
  using q_rows = attention_rows<f32, C.queries(), C.depth, C.threads(), padded>;
  using k_rows = attention_rows<f32, C.keys, C.chunk, C.threads(), padded>;
  using v_rows = attention_rows<f32, value_keys, C.depth, C.threads(), dsl::row_major>;
  using q_tile = typename q_rows::tile;
  using k_tile = typename k_rows::tile;
  using v_tile = typename v_rows::tile;
  using p_tile = shared_tile<f32, C.queries(), C.keys, padded>;
  using stages = dsl::shared_tiles<f32, 1, C.stage_floats(), dsl::row_major, C.stages>;
  using sums_of_o = dsl::register_array<var<f32>, rows * fours * 4>;
  using softmax_of_rows = online_softmax<rows, C.column_lanes, false, C.row_lanes>;

  // The last four are Score and Mask with their parameters. changes_scores: whether the score does anything
  // besides its factor.
  template <class ApplyScore, class Factor, class ApplyMask, class Walks>
  static constexpr void run(thread t, const in<f32>& q, const in<f32>& k, const in<f32>& v, const out<f32>& o,
                            const val<attention_problem>& problem, const val<bool>& changes_scores,
                            const ApplyScore& score, const Factor& factor_of, const ApplyMask& mask,
                            const Walks& walks) {
    const q_tile q_shared(t);  // queries x depth
    const p_tile p_shared(t);  // queries x keys
    const stages ring(t);      // keys x chunk of K, or value_keys x depth of V

    const attention_block block = find_block(t, problem, t.let(block_idx_x()), C.queries(), walks);
    const val qk_size = t.let(problem[&attention_problem::qk_size]);
    const val v_size = t.let(problem[&attention_problem::v_size]);
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = factor_of(scale);
    const val lane = t.lane_rank();
    const val of_row = t.let(t.warp_rank() * C.warp_rows() + lane % C.row_lanes);
    const val of_column = t.let(lane / C.row_lanes);
    const auto range = walks.template walk<C.keys>(t, block, C.queries());
    const auto query_of =
        array_of<rows>([&](u32 r) { return t.let(block.first_query + of_row + C.row_lanes * r); });

    const head_rows of_q(t, q, problem[&attention_problem::q], block, block.head, block.first_q_row);
    const head_rows of_k(t, k, problem[&attention_problem::k], block, block.group, block.first_k_row);
    const head_rows of_v(t, v, problem[&attention_problem::v], block, block.group, block.first_k_row);
    const auto copy_k = [&](const val<u32>& stage, const auto& keys, const auto& first_column) {
      of_k.template from_column<k_rows>(t, first_column, qk_size)
          .copy(k_tile::over(ring[stage]), keys.first, keys.limit);
    };
    const auto copy_v = [&](const val<u32>& stage, const auto& keys, const auto& first) {
      const auto rows_of_v = of_v.template from_column<v_rows>(t, 0u, v_size);
      const auto to = v_tile::over(ring[stage]);
      rows_of_v.copy(to, t.let(keys.first + first), keys.limit);
    };

    of_q.template from_column<q_rows>(t, 0u, qk_size).copy(q_shared, block.first_query, block.query_limit);
    auto sums = array_of<rows * fours * 4>([&](u32) { return var(t, 0.0f); });  // O
    softmax_of_rows softmax(t);
    var stage(t, 0u);        // stage of the next chunk
    var is_exact(t, false);  // skips products of masked keys
    for (auto attempt : t.loop()) {
      if (auto some = t.when(range.first < range.last)) copy_k(t.let(stage), range.begin(t), 0u);
      for (auto tile : t.range(range.first, range.last).no_unroll()) {
        const auto keys = range.tile(t, range.find(t, tile));
        auto s = array_of<rows * columns>([&](u32) { return var(t, 0.0f); });
        for (auto first : t.range(0u, qk_size, C.chunk).no_unroll()) {
          const val own = t.let(stage), next = t.let(first + C.chunk);
          stage ^= 1u;
          wait(t);
          if (auto further = t.when(next < qk_size)) copy_k(t.let(stage), keys, next);
          if (auto last = t.otherwise()) copy_v(t.let(stage), keys, 0u);
          multiply_keys(t, s, q_shared, k_tile::over(ring[own]), of_row, of_column, t.let(first));
        }

        // Score and mask see one row after the other, through P: for all rows at once the code would be too
        // large.
        const auto p_of = [&](const auto& row, u32 c) {
          return p_shared[of_row + C.row_lanes * row][of_column + C.column_lanes * c];
        };
        const auto each_of_p = [&](const auto& f) {
          for (u32 i = 0; i < rows * columns; ++i) f(p_of(i / columns, i % columns), s[i]);
        };
        if (auto changes = t.when(any_of(changes_scores, range.is_partial(t, keys)))) {
          each_of_p([](const auto& p, auto& x) { p = x; });
          for (auto r : t.range(0u, rows).no_unroll()) {
            auto of_one = array_of<columns>([&](u32 c) { return var(t, p_of(r, c)); });
            const simt_scores<f32, 1, columns, C.column_lanes> scores{&of_one};
            const val query = t.let(block.first_query + of_row + C.row_lanes * r);
            const val key = t.let(keys.first + of_column);
            const score_origin<1> origin = origin_of<1>(t, block, {{query}}, key, keys.end);
            score(scores, origin, scale);
            range.mask(t, keys, scores, origin, mask);
            for (u32 c = 0; c < columns; ++c) p_of(r, c) = of_one[c];
          }
          each_of_p([](const auto& p, auto& x) { x = p; });
        }
        const simt_scores<f32, rows, columns, C.column_lanes> all{&s};
        const auto correction = softmax.step(all, factor);
        for (u32 i = 0; i < rows * fours * 4; ++i) sums[i] *= correction[i / (fours * 4)];
        each_of_p([](const auto& p, auto& x) { p = x; });
        sync_warp(t);

        // Chunks of keys that no query of the tile reads are skipped.
        const val used = t.let(min(max(keys.limit, keys.first + 1u) - keys.first, C.keys));
        for (auto first : t.range(0u, used, value_keys).no_unroll()) {
          const val own = t.let(stage), next = t.let(first + value_keys);
          stage ^= 1u;
          wait(t);
          if (auto further = t.when(next < used)) copy_v(t.let(stage), keys, next);
          if (auto more = t.when(all_of(next >= used, tile + 1u < range.last)))
            copy_k(t.let(stage), range.after(t, tile, keys), 0u);
          const v_tile v_shared = v_tile::over(ring[own]);
          if (auto fast = t.when(!is_exact))
            multiply_values(t, sums, p_shared, v_shared, of_row, of_column, t.let(first));
          if (auto exact = t.otherwise())
            multiply_values_exactly(t, sums, p_shared, v_shared, of_row, of_column, t.let(first));
        }
      }

      const val<f32> sink = sink_of(t, problem, block);
      const auto result = array_of<rows>([&](u32 r) { return softmax.finish(r, factor, sink); });
      var is_wrong(t, false);
      for (u32 r = 0; r < rows; ++r) {
        var any(t, false);
        for (u32 i = 0; i < fours * 4; ++i) any |= isnan(sums[r * fours * 4 + i]);
        is_wrong |= all_of(any, !isnan(result[r].inverse), query_of[r] < block.query_limit);
      }
      const val again = t.let(all_of(block_any(t, t.let(is_wrong)), !is_exact));
      if (auto right = t.when(!again)) store(t, problem, block, sums, result, query_of, of_column, o, v_size);
      attempt.break_if(!again);
      is_exact = true;
      softmax.clear();
      for (u32 i = 0; i < rows * fours * 4; ++i) sums[i] = 0.0f;
    }
  }

 private:
  // The rows of a head of Q, K or V in memory.
  struct head_rows {
    in<f32> memory;
    val<i64> pitch;
    val<u32> by_16;

    template <class Strides>
    constexpr head_rows(thread t, const in<f32>& tensor, const Strides& strides, const attention_block& block,
                        const val<u32>& head, const val<u32>& first_row)
        : memory(tensor.from(head_offset(t, strides, block, head, first_row))),
          pitch(t.let(strides[&attention_strides::row])),
          by_16(t.let(strides[&attention_strides::by_16])) {}

    // Rows of `size` elements from element `column` on, for copies by Rows.
    template <class Rows, class Column>
    constexpr Rows from_column(thread t, const Column& column, const val<u32>& size) const {
      if constexpr (dsl::device<Column>)
        return Rows{t, memory.from(cast<i64>(column)), pitch, t.let(size - column), by_16};
      else
        return Rows(t, memory, pitch, size, by_16);
    }
  };

  // All threads have the copied data, and are done with the other stage.
  static constexpr void wait(thread t) {
    cp_async_wait_group<0>(t);
    t.barrier();
  }

  // i of n, forwards and backwards in turns. A product then shares two of its three numbers with the one
  // before, and ptxas does not read them again.
  static constexpr u32 to_and_fro(u32 i, u32 n, u32 turn) { return turn % 2 == 0 ? i : n - 1 - i; }

  // S += Q K^T for the columns of a chunk; columns beyond the rows are zero.
  template <class Scores>
  static constexpr void multiply_keys(thread t, Scores& s, const q_tile& q_shared, const k_tile& k_shared,
                                      const val<u32>& of_row, const val<u32>& of_column,
                                      const val<u32>& first) {
    for (auto eight : t.range(0u, C.chunk, 8u).no_unroll())
      for (u32 half = 0; half < 8; half += 4) {
        const val d = t.let(eight + half);
        const auto q_fours =
            array_of<rows>([&](u32 r) { return load_vec<4>(q_shared[of_row + C.row_lanes * r][first + d]); });
        const auto k_fours = array_of<columns>(
            [&](u32 c) { return load_vec<4>(k_shared[of_column + C.column_lanes * c][d]); });
        for (u32 c = 0; c < columns; ++c)
          for (u32 i = 0; i < 4; ++i)
            for (u32 j = 0; j < rows; ++j) {
              const u32 e = to_and_fro(i, 4, c), r = to_and_fro(j, rows, i);
              auto& sum = s[r * columns + c];
              sum = fma(q_fours[r][e], k_fours[c][e], sum);
            }
      }
  }

  // O += P V for the keys of a chunk.
  static constexpr void multiply_values(thread t, sums_of_o& sums, const p_tile& p_shared,
                                        const v_tile& v_shared, const val<u32>& of_row,
                                        const val<u32>& of_column, const val<u32>& first) {
    for (auto eight : t.range(0u, value_keys, 8u).no_unroll())
      for (u32 half = 0; half < 8; half += 4) {
        const val key = t.let(eight + half);
        const auto p = array_of<rows>(
            [&](u32 r) { return load_vec<4>(p_shared[of_row + C.row_lanes * r][first + key]); });
        const auto x = array_of<4 * fours>([&](u32 i) {
          return load_vec<4>(v_shared[key + i / fours][of_column * 4u + 4 * C.column_lanes * (i % fours)]);
        });
        for (u32 k = 0; k < 4; ++k)
          for (u32 i = 0; i < 4; ++i)
            for (u32 j = 0; j < fours * rows; ++j) {
              const u32 e = to_and_fro(i, 4, k), f = to_and_fro(j / rows, fours, i);
              const u32 r = to_and_fro(j % rows, rows, i * fours + j / rows);
              auto& sum = sums[(r * fours + f) * 4 + e];
              sum = fma(p[r][k], x[k * fours + f][e], sum);
            }
      }
  }

  // O += P V for the keys of a chunk. A masked key adds nothing, even if its value is NaN or infinite.
  static constexpr void multiply_values_exactly(thread t, sums_of_o& sums, const p_tile& p_shared,
                                                const v_tile& v_shared, const val<u32>& of_row,
                                                const val<u32>& of_column, const val<u32>& first) {
    for (auto key : t.range(0u, value_keys).no_unroll())
      for (u32 r = 0; r < rows; ++r) {
        const val p = t.let(p_shared[of_row + C.row_lanes * r][first + key]);
        if (auto counts = t.when(p != 0.0f))
          for (u32 f = 0; f < fours; ++f) {
            const val x = load_vec<4>(v_shared[key][of_column * 4u + 4 * C.column_lanes * f]);
            for (u32 e = 0; e < 4; ++e) {
              auto& sum = sums[(r * fours + f) * 4 + e];
              sum = fma(p, x[e], sum);
            }
          }
      }
  }

  template <class Result>
  static constexpr void store(thread t, const val<attention_problem>& problem, const attention_block& block,
                              const sums_of_o& sums, const Result& result,
                              const dsl::register_array<val<u32>, rows>& query_of, const val<u32>& of_column,
                              const out<f32>& o, const val<u32>& size) {
    const auto strides = problem[&attention_problem::o];
    const out to = o.from(head_offset(t, strides, block, block.head, block.first_q_row));
    const val pitch = t.let(strides[&attention_strides::row]);
    const val by_16 = t.let(strides[&attention_strides::by_16] != 0u);
    for (u32 r = 0; r < rows; ++r) {
      store_lse(t, problem, block, query_of[r], t.let(of_column == 0u), result[r].lse);
      if (auto exists = t.when(query_of[r] < block.query_limit)) {
        const val row = t.let(cast<i64>(query_of[r]) * pitch);
        for (u32 f = 0; f < fours; ++f) {
          const val column = t.let(of_column * 4u + 4 * C.column_lanes * f);
          const val at = t.let(row + cast<i64>(column));
          const auto x =
              array_of<4>([&](u32 e) { return t.let(sums[(r * fours + f) * 4 + e] * result[r].inverse); });
          if (auto whole = t.when(all_of(by_16, column < size)))
            store_vec(to[at], make_vec(x[0], x[1], x[2], x[3]));
          if (auto single = t.when(!by_16))
            for (u32 e = 0; e < 4; ++e)
              if (auto has = t.when(column + e < size)) to[at + i64{e}] = x[e];
        }
      }
    }
  }
};

// Whether a score with terms does anything besides its factor in this call.
template <class... Others>
constexpr val<bool> changes_scores(thread t, const val<attention_terms>& terms, const Others&...) {
  return t.let(terms[&attention_terms::plain] == 0u);
}

template <attention_simt_wide_config C, class Score, class Mask, class OfScore, class OfMask>
struct attention_simt_wide_kernel;

template <attention_simt_wide_config C, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_simt_wide_kernel<C, Score, Mask, attention_parameters<OfScore...>,
                                  attention_parameters<OfMask...>> {
  static constexpr auto name = "attention_simt_wide_f32_d" + decimal<C.depth> + "_" + decimal<C.queries()> +
                               "x" + decimal<C.keys> + "_" + attention_function_name<Score> + "_" +
                               attention_function_name<Mask>;
  static constexpr kernel_options options{.large_shared = true, .min_blocks = C.blocks};

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, in<f32> q, in<f32> k, in<f32> v, out<f32> o, val<attention_problem> problem,
         OfScore... of_score, OfMask... of_mask) {
        attention_simt_wide_body<C>::run(
            t, q, k, v, o, problem, changes_scores(t, of_score...),
            [&](const auto& s, const auto& origin, const val<f32>& scale) {
              apply_score<Score>(t, s, origin, scale, of_score...);
            },
            [&](const val<f32>& scale) { return exponent_factor<Score>(t, scale, of_score...); },
            [&](const auto& s, const auto& origin) { apply_mask<Mask>(t, s, origin, of_mask...); },
            walks_of<Mask>(t, of_mask...));
      });
};

// Launched like attention_mma.
template <attention_simt_wide_config C, class Score, class Mask>
inline constexpr auto attention_simt_wide =
    attention_simt_wide_kernel<C, Score, Mask, parameters_of_score<Score>, parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops
