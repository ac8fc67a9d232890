#pragma once
// The kernel that turns packed weights (layout.hpp) into a matrix.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/any_element.hpp>
#include <kaio/ops/weight_only/common/weights.hpp>

#include <cstdint>

namespace kaio::ops {

// Launched with a block for each tile. Each weight is computed in f32, as (number * scale + offset) * column
// factor, and rounded once.
inline constexpr auto dequantise_w4_tiles =
    kaio::kernel<"dequantise_w4", block_size{w4_tile_threads}>([](thread t, val<w4_matrix> matrix) {
      const auto w = matrix[&w4_matrix::w];
      const val n = t.let(w[&w4_packed::n]), k = t.let(w[&w4_packed::k]);
      const val tile = t.let(block_idx_x());
      const w4_word word = find_word(t, tile, t.let(w[&w4_packed::tiles_k]));
      const val rows = t.let(w[&w4_packed::rows]), factors = t.let(w[&w4_packed::factors]);
      const auto weights = w4_weight_reader(t, w).weights(word);
      const auto weight = array_of<8>([&](u32 i) {
        var result(t, weights[i]);
        if (auto some = t.when(factors != u64{0}))
          result *= pointer_at<in<f32>>(t, factors)[word.n + w4_word::further_n(i)];
        return t.let(result);
      });
      const auto source_of = array_of<8>([&](u32 i) {
        const val own_k = t.let(min(word.k + w4_word::further_k(i), k - 1u));
        var row(t, own_k);
        if (auto act_order = t.when(rows != u64{0})) row = cast<u32>(pointer_at<in<i32>>(t, rows)[own_k]);
        return t.let(row);
      });
      with_any_element(t, t.let(matrix[&w4_matrix::type]), [&]<class A>(A) {
        const auto to = pointer_at<out<typename A::stored>>(t, t.let(matrix[&w4_matrix::out]));
        for (u32 i = 0; i < 8; ++i) {
          const val own_n = t.let(word.n + w4_word::further_n(i));
          if (auto exists = t.when(all_of(own_n < n, word.k + w4_word::further_k(i) < k))) {
            const val at = t.let(cast<i64>(own_n) * matrix[&w4_matrix::out_n] +
                                 cast<i64>(source_of[i]) * matrix[&w4_matrix::out_k]);
            to[at] = A::write(t, weight[i]);
          }
        }
      });
    });

}  // namespace kaio::ops
