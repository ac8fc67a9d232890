#pragma once
// The second kernel of attention_decode: adds up the results of the splits of a row's keys. Four warps share a
// row. Each takes every fourth split, in order, so that the bits do not depend on how many splits without keys
// follow.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/decode/common/store.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

struct attention_combine_config {
  static constexpr std::uint32_t warps = 4, threads = warps * 32;
  static constexpr std::uint32_t at_once = 4;  // splits that a warp reads at once
};

template <std::uint32_t Depth>
inline constexpr auto attention_combine_name = [] {
  if constexpr (Depth == 256)
    return fixed_string("attention_decode_combine_sm");
  else
    return "attention_decode_combine_d" + decimal<Depth> + "_sm";
}();

// Launched with one block per (batch, query, head) along x. If packed, it has one batch, with all rows as its
// queries, and `packed` is the number of sequences. From sm_90 on the launch is programmatic, before the
// kernel of the splits has ended.
// Depth: the longest row, up to 512 elements.
template <std::uint32_t Sm, std::uint32_t Depth = 256>
inline constexpr auto attention_decode_combine =
    kaio::kernel<attention_combine_name<Depth> + decimal<Sm>, block_size{attention_combine_config::threads},
                 kernel_options{.target = {Sm, false}}>([](thread t, val<attention_problem> problem,
                                                           val<attention_split> split) {
      using config = attention_combine_config;
      constexpr u32 fours = Depth / 128;  // per lane
      constexpr f32 nothing = -std::numeric_limits<f32>::infinity();
      const shared<f32, config::warps, Depth> of_warps(t);
      const shared<f32, config::warps> sum_of_warps(t);
      const val heads = t.let(problem[&attention_problem::heads]);
      const val queries = t.let(problem[&attention_problem::queries]);
      const val row = t.let(block_idx_x());
      const val of_heads = t.let(row / heads), head = t.let(row - of_heads * heads);
      const val batch = t.let(of_heads / queries), query = t.let(of_heads - batch * queries);
      const val splits = t.let(splits_of(split));
      const val size = t.let(problem[&attention_problem::v_size]);
      const val none = t.let(0u);
      const val lane = t.lane_rank(), warp = t.let(t.warp_rank());
      const val first = t.let(cast<u64>(row) * cast<u64>(splits));
      const in totals = pointer_at<in<f32>>(t, t.let(split[&attention_split::totals])).from(first * u64{2});
      const val pitch = t.let(cast<u64>(split[&attention_split::pitch]));
      const in sums = pointer_at<in<f32>>(t, t.let(split[&attention_split::sums])).from(first * pitch);

      if constexpr (Sm >= 90) {
        launch_dependents(t);
        grid_dependency_wait(t);
      }
      // If packed, queries are rows of O. Rows of no sequence are left as they are.
      var exists(t, true);
      if (auto packed = t.when(problem[&attention_problem::packed] != 0u)) {
        const val cu = t.let(problem[&attention_problem::cu_q]);
        const val begin = cached_number(t, cu, none);
        const val end = cached_number(t, cu, t.let(problem[&attention_problem::packed]));
        exists = all_of(cast<i32>(query) >= begin, cast<i32>(query) < end);
      }
      const val is_row = t.let(exists);
      const val own_splits = t.let(select(is_row, splits, 0u));
      // Parts with keys come first.
      var largest(t, nothing);
      var used(t, 0u);
      for (auto p : t.range(lane, own_splits, 32u)) {
        const val total = load_vec<2>(totals[p * 2u]);
        largest = max(largest, total[0]);
        used = select(total[1] < 0.0f, used, p + 1u);
      }
      const val most = t.let(warp_reduce(t, largest, maximum{}));
      const val count = t.let(warp_reduce(t, used, maximum{}));

      // -0 + x is x for every x: with one split the sums are those of that split, bit for bit.
      auto x = array_of<fours * 4>([&](u32) { return var(t, -0.0f); });
      var sum(t, 0.0f);
      // Several splits are loaded together, so that the warp does not wait for each alone.
      for (auto base : t.range(warp, count, config::warps * config::at_once).no_unroll()) {
        const auto some_splits =
            array_of<config::at_once>([&](u32 i) { return t.let(base + i * config::warps); });
        auto total =
            array_of<config::at_once>([&](u32) { return array_of<2>([&](u32) { return var(t, 0.0f); }); });
        auto four = array_of<config::at_once * fours>(
            [&](u32) { return array_of<4>([&](u32) { return var(t, 0.0f); }); });
        for (u32 i = 0; i < config::at_once; ++i)
          if (auto is_part = t.when(some_splits[i] < count)) {
            const val of_part = load_vec<2>(totals[some_splits[i] * 2u]);
            for (u32 e = 0; e < 2; ++e) total[i][e] = of_part[e];
            for (u32 f = 0; f < fours; ++f)
              if (auto has = t.when(lane * 4u + 128 * f < size)) {
                const val loaded =
                    load_vec<4>(sums.from(cast<u64>(some_splits[i]) * pitch)[lane * 4u + 128 * f]);
                for (u32 e = 0; e < 4; ++e) four[i * fours + f][e] = loaded[e];
              }
          }
        for (u32 i = 0; i < config::at_once; ++i)
          if (auto is_part = t.when(some_splits[i] < count)) {
            const val weight =
                t.let(select(total[i][0] == nothing, 0.0f, fast::ftz::exp2(total[i][0] - most)));
            sum += total[i][1] * weight;
            for (u32 f = 0; f < fours; ++f)
              for (u32 e = 0; e < 4; ++e) x[4 * f + e] += four[i * fours + f][e] * weight;
          }
      }
      for (u32 f = 0; f < fours; ++f)
        for (u32 e = 0; e < 4; ++e) of_warps[warp][lane * 4u + (128 * f + e)] = x[4 * f + e];
      if (auto leads = t.when(lane == 0u)) sum_of_warps[warp] = sum;
      t.barrier();

      var all(t, sum_of_warps[0]);
      for (u32 w = 1; w < config::warps; ++w) all += sum_of_warps[w];
      const attention_block as_block = block_of_row(t, batch, head, queries, none);
      const softmax_row result = softmax_result(t, most, all, sink_of(t, problem, as_block));
      store_lse(t, problem, as_block, query, t.let(all_of(is_row, t.thread_rank() == 0u)), result.lse);
      const val column = t.let(t.thread_rank() * 4u);
      if (auto has = t.when(all_of(is_row, column < size))) {
        const auto four = array_of<4>([&](u32 e) {
          var y(t, of_warps[0][column + e]);
          for (u32 w = 1; w < config::warps; ++w) y += of_warps[w][column + e];
          return t.let(y * result.inverse);
        });
        with_any_element(t, t.let(split[&attention_split::out_type]), [&]<class A>(A) {
          store_output<A>(t, problem, batch, decode_row{query, head}, column, size, four);
        });
      }
    });

}  // namespace kaio::ops
