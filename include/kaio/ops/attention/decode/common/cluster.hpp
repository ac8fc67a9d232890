#pragma once
// The sum of the splits of a tile's keys, if the splits are the blocks of a cluster (sm_90). Each block adds up
// its share of the sums from the shared memory of all blocks, in the order of the keys. No second kernel
// runs, and nothing goes through the workspace.
//
//   block 0: sums of its keys | block 1: sums of its keys | ...       shared memory of each
//   barrier of the cluster
//   block 0: columns 0 to 31  | block 1: columns 32 to 63 | ...       of all splits: one row after the other
//   barrier of the cluster: no block ends while others read its sums

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/decode/common/block.hpp>
#include <kaio/ops/attention/decode/common/store.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kaio::ops {

// The suffix of a kernel's name for an architecture.
template <std::uint32_t Sm>
inline constexpr auto decode_target_name = [] {
  if constexpr (Sm == 80)
    return fixed_string("");
  else
    return "_sm" + decimal<Sm>;
}();

// Calls put(access) with the output's type. T: that type if it is not f32; or any_element or any_half, which
// take the split's out_type.
template <class T, class Put>
constexpr void with_output_type(thread t, const val<attention_problem>& problem,
                                const val<attention_split>& split, const Put& put) {
  if constexpr (std::is_same_v<T, any_element>) {
    with_any_element(t, t.let(split[&attention_split::out_type]), put);
  } else if constexpr (std::is_same_v<T, any_half>) {
    const val type = t.let(split[&attention_split::out_type]);
    if (auto wide = t.when(type == static_cast<u32>(element_type::f32))) put(stored_as<f32>{});
    if (auto half = t.when(type == static_cast<u32>(element_type::f16))) put(stored_as<f16>{});
    if (auto brain = t.when(type == static_cast<u32>(element_type::bf16))) put(stored_as<bf16>{});
  } else {
    const val is_f32 = t.let(problem[&attention_problem::o][&attention_strides::is_f32] != 0u);
    if (auto wide = t.when(is_f32)) put(stored_as<f32>{});
    if (auto narrow = t.otherwise()) put(stored_as<T>{});
  }
}

// The end of a block in a cluster; called by all threads of all its blocks. sums: rows x columns. largest and
// sum: one per row. All are at the same places in all blocks. A sum of -1 means that the block had no keys.
// find() returns the block, with its queries.
template <class T, std::uint32_t Rows, std::uint32_t Depth, std::uint32_t Threads, class Sums, class Numbers,
          class Find>
constexpr void combine_in_cluster(thread t, const val<attention_problem>& problem,
                                  const val<attention_split>& split, const Sums& sums, const Numbers& largest,
                                  const Numbers& sum, const Find& find) {
  constexpr f32 nothing = -std::numeric_limits<f32>::infinity();
  constexpr u32 fours = Depth / 4, run = 8;  // run: fours that follow each other in a block, 128 bytes
  cluster_barrier(t);
  const decode_block block = find();
  const val splits = t.let(splits_of(split));
  const val size = t.let(problem[&attention_problem::v_size]);
  const val rows = rows_of_sequence(t, split, block);
  const val own_rows = t.let(min(max(rows, block.first_row) - block.first_row, Rows));
  const val rank = t.thread_rank();
  const val first = t.let((rank / run * splits + block.split) * run + rank % run);
  const val last = t.let(own_rows * fours), step = t.let(splits * Threads);
  for (auto i : t.range(first, last, step).no_unroll()) {
    const val row = t.let(i / fours), column = t.let(i % fours * 4u);
    if (auto has = t.when(column < size)) {
      // Parts with keys come first.
      var most(t, nothing);
      var count(t, 0u);
      for (auto p : t.range(0u, splits).template unroll<4>()) {
        const val of_part = t.let(remote(largest[row], p)), total = t.let(remote(sum[row], p));
        most = max(most, of_part);
        count = select(total < 0.0f, count, p + 1u);
      }
      auto x = array_of<4>([&](u32) { return var(t, -0.0f); });
      var all(t, 0.0f);
      for (auto p : t.range(0u, t.let(count)).template unroll<4>()) {
        const val of_part = t.let(remote(largest[row], p)), total = t.let(remote(sum[row], p));
        const val four = load_vec<4>(remote(sums[row][column], p));
        const val weight = t.let(select(of_part == nothing, 0.0f, fast::ftz::exp2(of_part - most)));
        all += total * weight;
        for (u32 e = 0; e < 4; ++e) x[e] += four[e] * weight;
      }
      const decode_row at = find_row(t, split, block, t.let(block.first_row + row));
      const attention_block as_block = block_of_row(t, block, at);
      const softmax_row result = softmax_result(t, t.let(most), all, sink_of(t, problem, as_block));
      store_lse(t, problem, as_block, at.query, t.let(column == 0u), result.lse);
      for (auto& one : x) one *= result.inverse;
      with_output_type<T>(t, problem, split, [&]<class A>(A) {
        store_output<A>(t, problem, block.batch, row_of_tensor(t, block, at), column, size, x);
      });
    }
  }
  cluster_barrier(t);
}

}  // namespace kaio::ops
