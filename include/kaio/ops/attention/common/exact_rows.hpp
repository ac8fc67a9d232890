#pragma once
// Rows of O that became NaN because of a value that they do not attend to. The products of matrix
// instructions multiply the values of masked keys by 0, which is NaN where the value is NaN or infinite. Such
// rows, which a kernel finds by their NaN next to a sum that is none, are computed once more, key by key,
// without what is masked. No other input pays more than the test.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/place.hpp>
#include <kaio/ops/attention/common/softmax.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// The 16 rows of a warp, from `first_query` on, and Depth columns of them from `first_column` on; lane l has
// rows l / 4 and l / 4 + 8, of which `wrong` and `results` are. put(row, column, x) takes these elements of the
// rows of wrong lanes anew, columns counted from first_column. walk_of() is the kernel's walk over keys;
// score(s, origin, scale) and mask(s, origin) are those of the kernel.
template <scalar T, std::uint32_t Depth, class Column, class WalkOf, class ApplyScore, class ApplyMask,
          class Put>
constexpr void recompute_rows(thread t, const val<u32>& first_query, const Column& first_column,
                              const val<attention_problem>& problem, const attention_block& block,
                              const WalkOf& walk_of, const dsl::register_array<val<bool>, 2>& wrong,
                              const dsl::register_array<softmax_row, 2>& results, const val<f32>& factor,
                              const ApplyScore& score, const ApplyMask& mask, const Put& put) {
  const auto lanes = array_of<2>([&](u32 r) { return t.let(ballot(wrong[r])); });
  if (auto any = t.when((lanes[0] | lanes[1]) != 0u)) {
    sync_warp(t);  // other lanes' stores of these rows come before
    const auto memory_of_head = [&](auto member, const val<u32>& head, const val<u32>& first_row) {
      const auto strides = problem[member];
      return pointer_at<in<T>>(t, t.let(strides[&attention_strides::address]))
          .from(head_offset(t, strides, block, head, first_row));
    };
    const in q = memory_of_head(&attention_problem::q, block.head, block.first_q_row);
    const in k = memory_of_head(&attention_problem::k, block.group, block.first_k_row);
    const in v = memory_of_head(&attention_problem::v, block.group, block.first_k_row);
    const val q_row = t.let(problem[&attention_problem::q][&attention_strides::row]);
    const val k_row = t.let(problem[&attention_problem::k][&attention_strides::row]);
    const val v_row = t.let(problem[&attention_problem::v][&attention_strides::row]);
    const val qk_size = t.let(problem[&attention_problem::qk_size]);
    const val v_size = t.let(problem[&attention_problem::v_size]);
    const val scale = t.let(problem[&attention_problem::scale]);
    const auto keys = walk_of();
    const val lane = t.lane_rank(), column = t.let(lane + first_column);
    for (auto row : t.range(0u, 16u).no_unroll()) {
      const val first_lane = t.let(row % 8u * 4u);
      const val upper = t.let(row < 8u);
      if (auto flagged = t.when((select(upper, lanes[0], lanes[1]) >> first_lane & 15u) != 0u)) {
        const val shift = shfl_idx(select(upper, results[0].largest, results[1].largest), first_lane);
        const val inverse = shfl_idx(select(upper, results[0].inverse, results[1].inverse), first_lane);
        const val query = t.let(first_query + row);
        const in of_q = q.from(cast<i64>(query) * q_row);
        auto sums = array_of<Depth / 32>([&](u32) { return var(t, 0.0f); });  // columns lane + 32 i
        keys.each_key(t, [&](const val<u32>& key, const auto& where_masked) {
          const in of_k = k.from(cast<i64>(key) * k_row);
          var dot(t, 0.0f);
          for (auto d : t.range(lane, qk_size, 32u).no_unroll())
            dot += cast<f32>(of_q[d]) * cast<f32>(of_k[d]);
          var x(t, warp_reduce(t, dot, plus{}));
          const single_score<T> one{&x};
          const score_origin<1> origin = origin_of<1>(t, block, {{query}}, key, block.keys);
          score(one, origin, scale);
          where_masked([&] { mask(one, origin); });
          if (auto kept = t.when(x != -std::numeric_limits<f32>::infinity())) {
            const val p = t.let(cast<f32>(cast<T>(fast::ftz::exp2(x * factor - shift))));
            const in of_v = v.from(cast<i64>(key) * v_row);
            for (u32 i = 0; i < Depth / 32; ++i)
              if (auto exists = t.when(column + 32 * i < v_size))
                sums[i] += p * cast<f32>(of_v[column + 32 * i]);
          }
        });
        for (u32 i = 0; i < Depth / 32; ++i) put(t.let(row), t.let(lane + 32 * i), t.let(sums[i] * inverse));
      }
    }
    sync_warp(t);
  }
}

}  // namespace kaio::ops
