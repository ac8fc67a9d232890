#pragma once
// The end of a block of attention_decode. It adds the sums of the warps that share rows. If the block had all
// keys, the result goes to the output, otherwise to the workspace or to the cluster that has all splits.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/decode/common/block.hpp>
#include <kaio/ops/attention/decode/common/cluster.hpp>
#include <kaio/ops/attention/decode/common/store.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// Each of the `Rows` rows of a tile has sums in KeyWarps warps of 16 rows. Row r of warp w is row 16 * w + r
// of the sums.
template <std::uint32_t Rows, std::uint32_t KeyWarps, std::uint32_t Depth, std::uint32_t Threads,
          class Layout = dsl::swizzled<128>, bool HasClusters = false>
class attention_decode_finish {
  static constexpr std::uint32_t all_rows = Rows * KeyWarps;
  static_assert(KeyWarps == 1 || Rows == 16);

 public:
  using sums_tile = shared_tile<f32, all_rows, Depth, Layout>;

  constexpr attention_decode_finish(thread t, const sums_tile& sums)
      : t_(t), sums_(sums), largest_(t), sum_(t), weights_(t), inverses_(t) {}

  // all_rows x Depth: sum of p * v.
  constexpr const sums_tile& sums() const { return sums_; }
  constexpr void put(const val<u32>& row, const softmax_total& total) const {
    largest_[row] = total.largest;
    sum_[row] = total.sum;
  }

  // Called by all threads, after a barrier. T: the output's type if it is not f32, or any_element, which
  // takes the split's out_type.
  template <class T>
  constexpr void store(const val<attention_problem>& problem, const val<attention_split>& split,
                       const decode_block& block) const {
    const val rows = rows_of_sequence(t_, split, block);
    const val is_alone = t_.let(splits_of(split) == 1u);
    for (auto i : t_.block_stride(Rows)) {
      const val row = t_.let(i), packed = t_.let(block.first_row + row);
      if (auto exists = t_.when(packed < rows)) {
        const decode_row at = find_row(t_, split, block, packed);
        const softmax_total total = add_totals(row);
        if (auto alone = t_.when(is_alone)) {
          const attention_block as_block = block_of_row(t_, block, at);
          const softmax_row result =
              softmax_result(t_, total.largest, total.sum, sink_of(t_, problem, as_block));
          store_lse(t_, problem, as_block, at.query, t_.let(row == row), result.lse);
          inverses_[row] = result.inverse;
        }
        if (auto partial = t_.otherwise())
          leave(
              split, [&] { put(row, total); },
              [&] { store_total(t_, split, partial_row(t_, problem, split, block, at), total); });
      }
    }
    t_.barrier();
    const val size = t_.let(problem[&attention_problem::v_size]);
    for (auto i : t_.block_stride(Rows * Depth / 4)) {
      const val row = t_.let(i / (Depth / 4)), column = t_.let(i % (Depth / 4) * 4u);
      const val packed = t_.let(block.first_row + row);
      if (auto exists = t_.when(all_of(packed < rows, column < size))) {
        const decode_row at = find_row(t_, split, block, packed);
        auto x = array_of<4>([&](u32) { return var(t_, 0.0f); });
        for (std::uint32_t w = 0; w < KeyWarps; ++w) {
          const val weight = t_.let(weights_[row + Rows * w]);
          const val four = load_vec<4>(sums_[row + Rows * w][column]);
          for (u32 e = 0; e < 4; ++e)
            if (w == 0)
              x[e] = four[e] * weight;
            else
              x[e] += four[e] * weight;
        }
        if (auto alone = t_.when(is_alone)) {
          // Applied after the sum, as in attention_decode_combine: with one split the bits are the same.
          const val inverse = t_.let(inverses_[row]);
          for (auto& one : x) one *= inverse;
          with_output_type<T>(t_, problem, split, [&]<class A>(A) {
            store_output<A>(t_, problem, block.batch, row_of_tensor(t_, block, at), column, size, x);
          });
        }
        if (auto partial = t_.otherwise())
          leave(
              split, [&] { store_vec(sums_[row][column], make_vec(x[0], x[1], x[2], x[3])); },
              [&] {
                const val to = t_.let(partial_row(t_, problem, split, block, at) *
                                          cast<u64>(split[&attention_split::pitch]) +
                                      cast<u64>(column));
                store_vec(pointer_at<out<f32>>(t_, t_.let(split[&attention_split::sums]))[to],
                          make_vec(x[0], x[1], x[2], x[3]));
              });
      }
    }
  }

  // Writes the totals of a block without work, for its tile of rows.
  constexpr void store_nothing(const val<attention_problem>& problem, const val<attention_split>& split,
                               const decode_block& block) const {
    const auto nothing_in_memory = [&] {
      for (auto i : t_.block_stride(Rows)) {
        const val row = t_.let(i);
        put(row, {t_.let(-std::numeric_limits<f32>::infinity()), t_.let(-1.0f)});
      }
    };
    leave(split, nothing_in_memory, [&] { ops::store_nothing(t_, problem, split, block, Rows); });
  }

  // Adds up what the blocks have left if they are a cluster. Called by all threads of the grid.
  template <class T>
  constexpr void combine(const val<attention_problem>& problem, const val<attention_split>& split,
                         const decode_block& block) const {
    if constexpr (HasClusters)
      if (auto cluster = t_.when(split[&attention_split::in_cluster] != 0u))
        combine_in_cluster<T, Rows, Depth, Threads>(t_, problem, split, sums_, largest_, sum_,
                                                    [&] { return find_again(t_, problem, block); });
  }

 private:
  // Leaves the results of a split for the cluster, or in the workspace.
  template <class Cluster, class Workspace>
  constexpr void leave(const val<attention_split>& split, const Cluster& cluster,
                       const Workspace& workspace) const {
    if constexpr (HasClusters) {
      if (auto nearby = t_.when(split[&attention_split::in_cluster] != 0u)) cluster();
      if (auto distant = t_.otherwise()) workspace();
    } else {
      workspace();
    }
  }

  // Adds the totals of the warps that share a row, and stores the weight of each warp's sums.
  constexpr softmax_total add_totals(const val<u32>& row) const {
    constexpr f32 nothing = -std::numeric_limits<f32>::infinity();
    var largest(t_, largest_[row]);
    for (std::uint32_t w = 1; w < KeyWarps; ++w) largest = max(largest, largest_[row + Rows * w]);
    var sum(t_, 0.0f);
    for (std::uint32_t w = 0; w < KeyWarps; ++w) {
      const val own = t_.let(largest_[row + Rows * w]);
      const val weight = t_.let(select(own == nothing, 0.0f, fast::ftz::exp2(own - largest)));
      weights_[row + Rows * w] = weight;
      sum += sum_[row + Rows * w] * weight;
    }
    return {t_.let(largest), t_.let(sum)};
  }

  thread t_;
  sums_tile sums_;
  shared<f32, all_rows> largest_, sum_, weights_;
  shared<f32, Rows> inverses_;
};

}  // namespace kaio::ops
