#pragma once
// The epilogue of matmul_w4 for few rows of x from sm_90 on, for programmatic launches. If the splits of K are
// the blocks of a cluster, each block adds the sums of its warps and hands them to the blocks that store
// them, in equal shares. A block adds what it was handed in the order of K. A second kernel that reads such
// sums from memory took up to 2.6 us more (H200).

#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/mma_sync/block.hpp>
#include <kaio/ops/weight_only/mma_sync/store.hpp>
#include <kaio/ops/weight_only/skinny/config.hpp>

#include <cstdint>

namespace kaio::ops {

template <w4_few_rows_config C, scalar T>
struct w4_few_rows_end : w4_product_end<C, T> {
  const val<w4_problem>& problem;

  constexpr explicit w4_few_rows_end(const val<w4_problem>& of) : problem(of) {}
  constexpr val<bool> weights_are_constant(thread t) const {
    return t.let(problem[&w4_problem::constant] != 0u);
  }
  static constexpr void begin(thread) {}
  // The split is the rank in the cluster: blocks of a cluster have the same rows and columns.
  static constexpr val<u32> split_in_cluster(thread t) { return t.let(cluster_rank(t)); }

  template <class Totals, class Codes>
  static constexpr void store(thread t, const val<w4_problem>& problem, const w4_block& block,
                              const Totals& totals, const Codes& words) {
    static_assert(C.rows_at_once() == C.rows);
    constexpr std::uint32_t fours = C.columns() / 4, all = C.rows * fours;
    constexpr std::uint32_t inbox =
        C.rows * C.pitch() * C.warps_k();  // the first word after the sums of the warps
    static_assert(inbox + all * 4 <= C.room());
    const val at_once = t.let(cluster_size(t)), rank = t.let(cluster_rank(t));
    const val m = t.let(problem[&w4_problem::m]), n = t.let(problem[&w4_problem::w][&w4_packed::n]);
    const val own_bits = t.let(log2_all - popc(at_once - 1u));  // log2 of the fours that a block stores
    const auto is_stored = [&](const auto& i) {
      return t.let(all_of(block.row + i / fours < m, block.column + i % fours * 4u < n));
    };
    const auto sums_of = [&](const val<u32>& i) {
      return staged_w4_sums<C>(t, words, t.let(i / fours * C.pitch() + i % fours * 4u));
    };
    stage_w4_sums<C>(t, block, totals, words, 0);
    if (auto several = t.when(at_once != 1u)) {
      cluster_barrier(t);  // no block reads its tiles any more
      for (auto i : t.block_stride(all).no_unroll())
        if (auto stored = t.when(is_stored(i))) {
          const auto sums = sums_of(i);
          const val owner = t.let(i >> own_bits);
          const val place = t.let((rank << own_bits) + (i - (owner << own_bits)));
          store_vec(remote(words.template as<f32>()[inbox + place * 4u], owner),
                    make_vec(sums[0], sums[1], sums[2], sums[3]));
        }
      cluster_barrier(t);  // the sums of all blocks have arrived
    }
    // Without a cluster the sums may be of a split of K, for the second kernel.
    const val whole = t.let(problem[&w4_problem::splits] == at_once);
    const val own = t.let(1u << own_bits);
    for (auto i : t.block_stride(own).no_unroll()) {
      const val of_all = t.let((rank << own_bits) + i);
      if (auto stored = t.when(is_stored(of_all))) {
        auto y = array_of<4>([&](u32) { return var(t, -0.0f); });
        if (auto alone = t.when(at_once == 1u)) {
          const auto sums = sums_of(of_all);
          for (u32 e = 0; e < 4; ++e) y[e] = sums[e];
        }
        if (auto several = t.otherwise())
          for (auto split : t.range(0u, at_once).no_unroll()) {
            const val more = load_vec<4>(words.template as<f32>()[inbox + ((split << own_bits) + i) * 4u]);
            for (u32 e = 0; e < 4; ++e) y[e] += more[e];
          }
        const val row = t.let(block.row + of_all / fours), column = t.let(block.column + of_all % fours * 4u);
        if (auto complete = t.when(whole)) finish_w4<w4_element<T>>(t, problem, row, column, y);
        if (auto of_split = t.otherwise()) store_w4_part(t, problem, block.split, row, column, y);
      }
    }
  }

 private:
  static constexpr std::uint32_t log2_all = [] {
    std::uint32_t bits = 0;
    while (1u << bits < C.rows * C.columns() / 4) ++bits;
    return bits;
  }();
};

}  // namespace kaio::ops
