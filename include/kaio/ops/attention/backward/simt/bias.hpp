#pragma once
// The gradient of a bias that serves several scores, with multiply-adds. A block owns a tile of dbias, and
// walks over the scores to which its elements are added. The walk covers the batches and heads that share the
// bias. If one element serves all queries or all keys, it covers their tiles too. Each score's gradient is
// computed as in the other kernels, and added in the order of the walk: equal calls give equal bits.
//
//   dbias (1, heads, 1, keys)     a block: a tile of keys of one head
//                                 walk: batches, then tiles of queries; then the sum over a tile's rows
//
// Masked places get zeros.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/simt/kernel.hpp>
#include <kaio/ops/attention/common/biased_score.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_backward_simt_config C>
struct attention_backward_bias_body {
  using body = attention_backward_simt_body<C>;
  using tiles = typename body::tiles;
  static constexpr std::uint32_t count = tiles::count;

  template <class Functions, class KeysOf>
  static constexpr void run(thread t, const val<attention_problem>& problem,
                            const val<attention_gradients>& gradients, const Functions& functions,
                            const KeysOf& keys_of_mask) {
    const tiles tile(t, t.let(gradients[&attention_gradients::type]));
    const auto bias = gradients[&attention_gradients::dbias];
    const val rows = t.let(bias[&attention_bias_gradient::queries]);
    const val columns = t.let(bias[&attention_bias_gradient::keys]);
    const val column_tiles = t.let((columns + (C.tile - 1)) / C.tile);
    const val row_tiles = t.let((rows + (C.tile - 1)) / C.tile);
    // The place of this block: (batch, head, tile of rows, tile of columns) of dbias.
    const val index = t.let(block_idx_x());
    const val over_columns = t.let(index / column_tiles);
    const val column_tile = t.let(index - over_columns * column_tiles);
    const val over_rows = t.let(over_columns / row_tiles);
    const val row_tile = t.let(over_columns - over_rows * row_tiles);
    const val bias_heads = t.let(bias[&attention_bias_gradient::heads]);
    const val bias_batch = t.let(over_rows / bias_heads);
    const val bias_head = t.let(over_rows - bias_batch * bias_heads);

    const val queries = t.let(problem[&attention_problem::queries]);
    const val keys = t.let(problem[&attention_problem::keys]);
    const val group_size = t.let(problem[&attention_problem::heads_of_group]);
    // The range of the walk: the block's own place, or all places.
    const val all_rows = t.let(rows == 1u), all_columns = t.let(columns == 1u);
    const val all_batches = t.let(bias[&attention_bias_gradient::batches] == 1u);
    const val all_heads = t.let(bias_heads == 1u);
    const auto last = [&](const val<bool>& all, const val<u32>& every, const val<u32>& own) {
      return t.let(select(all, every, own + 1u));
    };
    const auto first = [&](const val<bool>& all, const val<u32>& own) { return t.let(select(all, 0u, own)); };
    const val query_tiles = t.let((queries + (C.tile - 1)) / C.tile);
    const val key_tiles = t.let((keys + (C.tile - 1)) / C.tile);

    auto sums = tiles::zero_scores(t);
    // The bounds are computed first: a compiler may evaluate the arguments of a call in any order.
    const val first_batch = first(all_batches, bias_batch);
    const val last_batch = last(all_batches, t.let(problem[&attention_problem::batches]), bias_batch);
    for (auto b : t.range(first_batch, last_batch).no_unroll()) {
      const val first_head = first(all_heads, bias_head);
      const val last_head = last(all_heads, t.let(problem[&attention_problem::heads]), bias_head);
      for (auto h : t.range(first_head, last_head).no_unroll()) {
        const val first_tile = first(all_rows, row_tile), last_tile = last(all_rows, query_tiles, row_tile);
        for (auto i : t.range(first_tile, last_tile).no_unroll()) {
          const attention_block block{t.let(b),
                                      t.let(h),
                                      t.let(h / group_size),
                                      t.let(i * C.tile),
                                      queries,
                                      queries,
                                      keys,
                                      t.let(b),
                                      t.let(0u),
                                      t.let(0u),
                                      t.let(cast<i32>(keys) - cast<i32>(queries))};
          const key_range range = keys_of_block(t, block, C.tile, keys_of_mask);
          const auto of = body::operands::of(t, problem, gradients, block);
          const val first_column_tile = first(all_columns, column_tile);
          const val last_column_tile = last(all_columns, key_tiles, column_tile);
          const val from = t.let(max(first_column_tile, range.first / C.tile));
          const val to = t.let(min(last_column_tile, (range.last + (C.tile - 1)) / C.tile));
          for (auto j : t.range(from, to).no_unroll()) {
            const val first_key = t.let(j * C.tile);
            const auto tile_of =
                body::differentiate(t, tile, of, problem, gradients, block, first_key, keys, keys, functions,
                                    [&](const auto& s, const auto& origin) { functions.mask(s, origin); });
            for (u32 e = 0; e < count; ++e) sums[e] += tile_of.ds[e];
          }
        }
      }
    }

    // If one element serves all queries, sum over the rows; if it serves all keys, over the columns.
    tile.put(sums, false);
    t.barrier();
    const val first_row = t.let(select(all_rows, 0u, row_tile * C.tile));
    const val first_column = t.let(select(all_columns, 0u, column_tile * C.tile));
    with_any_element(t, t.let(bias[&attention_bias_gradient::type]), [&]<class A>(A) {
      const auto memory =
          pointer_at<out<typename A::stored>>(t, t.let(bias[&attention_bias_gradient::address]));
      for (auto e : t.block_stride(C.tile * C.tile)) {
        const val row = t.let(e / C.tile), column = t.let(e % C.tile);
        if (auto exists = t.when(all_of(first_row + row < rows, first_column + column < columns))) {
          var sum(t, 0.0f);
          const val end_row = t.let(select(all_rows, C.tile, row + 1u));
          const val end_column = t.let(select(all_columns, C.tile, column + 1u));
          for (auto r : t.range(row, end_row).no_unroll())
            for (auto c : t.range(column, end_column).no_unroll()) sum += tile.weight(t.let(r), t.let(c));
          const val at = t.let(cast<i64>(bias_batch) * bias[&attention_bias_gradient::batch] +
                               cast<i64>(bias_head) * bias[&attention_bias_gradient::head] +
                               cast<i64>(first_row + row) * bias[&attention_bias_gradient::query] +
                               cast<i64>(first_column + column) * bias[&attention_bias_gradient::key]);
          memory[at] = A::write(t, t.let(sum));
        }
      }
    });
  }
};

template <attention_backward_simt_config C>
inline constexpr auto attention_backward_bias =
    kaio::kernel<"attention_backward_bias_" + decimal<C.tile> + "x" + decimal<C.tile>, block_size{C.threads},
                 kernel_options{.large_shared = true, .min_blocks = 1}>(
        [](thread t, val<attention_problem> problem, val<attention_gradients> gradients,
           val<attention_terms> terms, val<attention_score_tensor> bias, val<attention_score_tensor> keep,
           val<attention_band> band) {
          attention_backward_bias_body<C>::run(
              t, problem, gradients,
              backward_functions_of<biased_score, band_mask>::of(t, gradients, terms, bias, keep, band),
              [t, &band](const attention_block& block, const val<u32>& first, const val<u32>& last) {
                return keys_of<band_mask>(t, first, last, block.keys, block.offset, band);
              });
        });

}  // namespace kaio::ops
