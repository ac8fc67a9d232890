#pragma once
// The end of a block. Each of its warps has left the results of its keys for the rows of the tile; the block
// adds them up. If it has a split of the keys, the sums go to the workspace, or to the blocks of its cluster,
// which share the columns.
//
//   warp 0 .. 3: largest, sum, and sums of p * v, in shared memory of the block
//   barrier of the block
//   a row's four columns: the sum of the warps -- to the output, the workspace, or the inbox of their block
//   inbox: the sum of the splits -- to the output
//
// An mbarrier counts the bytes sent to an inbox. A block thus waits only for the bytes that it reads, and no
// store is fenced. A block arrives at the barrier of the cluster at the beginning, when its mbarrier is
// initialised. It waits there before the first store.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/warp.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/decode/common/cluster.hpp>

#include <bit>
#include <cstdint>
#include <limits>

namespace kaio::ops {

// Row r of entry w of the ring has the sums of row r of warp w. totals[16 * w + r] has its largest exponent
// and its sum.
template <auto C, class Ring>
class attention_decode_warp_sums {
  static constexpr f32 nothing = -std::numeric_limits<f32>::infinity();
  static constexpr std::uint32_t fours = C.depth / 4, most_splits = 16,
                                 bits_of_depth = static_cast<std::uint32_t>(std::countr_zero(C.depth));
  static_assert(std::has_single_bit(C.depth));

 public:
  constexpr attention_decode_warp_sums(thread t, const Ring& ring)
      : t_(t), sums_(ring), totals_(t), inbox_(t), inbox_totals_(t), arrived_(t) {}

  // Called before any wait.
  constexpr void open(const val<attention_split>& split) const {
    if (auto nearby = t_.when(split[&attention_split::in_cluster] != 0u)) {
      if (auto one = t_.when(t_.thread_rank() == 0u)) {
        arrived_[0].init(1);
        fence_mbarrier_init(t_);
      }
      sync_warp(t_);
      cluster_arrive_relaxed(t_);
    }
  }

  template <class Warp>
  constexpr auto of_warp(const Warp& warp) const {
    return sums_[warp];
  }
  constexpr void put(const val<u32>& warp, const val<u32>& row, const softmax_total& total) const {
    store_vec(totals_[warp * 16u + row][0], make_vec(total.largest, total.sum));
  }

  // Called by all threads of all blocks. T: the output's type if it is not f32. works: the block had keys.
  template <class T>
  constexpr void combine(const val<attention_problem>& problem, const val<attention_split>& split,
                         const decode_block& block, const val<bool>& works) const {
    t_.barrier();
    const val splits = t_.let(splits_of(split));
    const val in_cluster = t_.let(split[&attention_split::in_cluster] != 0u);
    const val rows = rows_of_sequence(t_, split, block);
    const val own_rows = t_.let(min(max(rows, block.first_row) - block.first_row, u32{C.rows}));
    if (auto nearby = t_.when(in_cluster)) {
      const val bits = t_.let(bits_of_depth - popc(splits - 1u));  // splits are a power of two
      const val columns = t_.let(u32{1} << bits);                  // per block
      if (auto one = t_.when(t_.thread_rank() == 0u))
        arrived_[0].arrive_expect_tx(t_.let(splits * own_rows * (columns * 4u + 8u)));
      cluster_wait(t_);
      each_four(own_rows, [&](const val<u32>& row, const val<u32>& column) {
        const row_sums sums = of_warps(row, column);
        send(block, bits, row, column, sums);
      });
      // `splits` lanes share four columns, one lane per split.
      const val split_bits = t_.let(popc(splits - 1u));
      const val own_split = t_.let(t_.thread_rank() & (splits - 1u)),
                own = t_.let(t_.thread_rank() >> split_bits);
      const val ends = t_.let(own_rows * columns / 4u), first = t_.let(block.split * columns);
      for (auto round : t_.range(0u, ends, t_.let(u32{C.threads()} >> split_bits)).no_unroll()) {
        const val i = t_.let(min(round + own, ends - 1u));
        const val row = t_.let(i * 4u >> bits), column = t_.let(i * 4u & (columns - 1u));
        const output_place to = place_of_output(problem, split, block, row, t_.let(first + column));
        arrived_[0].wait(0);
        const row_sums sums = of_splits(splits, own_split, bits, row, column);
        if (auto leads = t_.when(all_of(own_split == 0u, round + own < ends)))
          finish<T>(problem, split, block, to, sums);
      }
    }
    if (auto apart = t_.otherwise())
      each_four(own_rows, [&](const val<u32>& row, const val<u32>& column) {
        const row_sums sums = of_warps(row, column);
        if (auto alone = t_.when(splits == 1u))
          finish<T>(problem, split, block, place_of_output(problem, split, block, row, column), sums);
        if (auto partial = t_.otherwise()) leave(problem, split, block, works, row, column, sums);
      });
  }

 private:
  // The total of a row, and four columns of its sums.
  struct row_sums {
    softmax_total total;
    dsl::register_array<val<f32>, 4> x;
  };

  template <class F>
  constexpr void each_four(const val<u32>& own_rows, const F& f) const {
    for (auto i : t_.range(t_.thread_rank(), t_.let(own_rows * fours), u32{C.threads()}).no_unroll()) {
      const val row = t_.let(i / fours), column = t_.let(i % fours * 4u);
      f(row, column);
    }
  }

  constexpr row_sums of_warps(const val<u32>& row, const val<u32>& column) const {
    const auto total = array_of<C.key_warps>([&](u32 w) { return load_vec<2>(totals_[row + 16 * w][0]); });
    const auto four = array_of<C.key_warps>([&](u32 w) { return load_vec<4>(sums_[w][row][column]); });
    var most(t_, total[0][0]);
    for (std::uint32_t w = 1; w < C.key_warps; ++w) most = max(most, total[w][0]);
    var sum(t_, 0.0f);
    auto x = array_of<4>([&](u32) { return var(t_, 0.0f); });
    for (std::uint32_t w = 0; w < C.key_warps; ++w) add(most, total[w][0], total[w][1], four[w], sum, x);
    return {{t_.let(most), t_.let(sum)}, array_of<4>([&](u32 e) { return t_.let(x[e]); })};
  }

  // Sends sums to the block that has these columns.
  constexpr void send(const decode_block& block, const val<u32>& bits, const val<u32>& row,
                      const val<u32>& column, const row_sums& sums) const {
    const val to = t_.let(column >> bits), own = t_.let(column - (to << bits));
    const val slot = t_.let(block.split * 16u + row);
    const val at = t_.let(((slot << bits) + own) / 2u);
    for (std::uint32_t h = 0; h < 2; ++h)
      store_async(remote(inbox_[at + h], to), pair_of(sums.x[2 * h], sums.x[2 * h + 1]), arrived_[0]);
    if (auto once = t_.when(own == 0u))
      store_async(remote(inbox_totals_[slot], to), pair_of(sums.total.largest, sums.total.sum), arrived_[0]);
  }

  // Adds up all splits; each lane has one.
  constexpr row_sums of_splits(const val<u32>& splits, const val<u32>& own_split, const val<u32>& bits,
                               const val<u32>& row, const val<u32>& column) const {
    const val slot = t_.let(own_split * 16u + row);
    const val both = t_.let(inbox_totals_[slot]);
    const val two = load_vec<2>(inbox_[t_.let(((slot << bits) + column) / 2u)]);
    const val largest = half_of(both, 0), total = half_of(both, 1);
    const auto four = array_of<4>([&](u32 e) { return half_of(t_.let(two[e / 2]), e % 2); });
    var most(t_, largest), sum(t_, 0.0f);
    auto x = array_of<4>([&](u32) { return var(t_, 0.0f); });
    const auto over_splits = [&](const auto& f) {
      for (std::uint32_t apart = 1; apart < most_splits; apart *= 2)
        if (auto more = t_.when(splits > apart)) f(apart);
    };
    over_splits([&](std::uint32_t apart) { most = max(most, shfl_xor(most, apart)); });
    add(most, largest, total, four, sum, x);
    over_splits([&](std::uint32_t apart) {
      sum += shfl_xor(sum, apart);
      for (auto& one : x) one += shfl_xor(one, apart);
    });
    return {{t_.let(most), t_.let(sum)}, array_of<4>([&](u32 e) { return t_.let(x[e]); })};
  }

  template <class Largest, class Total, class Four, class X>
  constexpr void add(const var<f32>& most, const Largest& largest, const Total& total, const Four& four,
                     var<f32>& sum, X& x) const {
    const val weight = t_.let(select(largest == nothing, 0.0f, fast::ftz::exp2(largest - most)));
    sum += total * weight;
    for (u32 e = 0; e < 4; ++e) x[e] += four[e] * weight;
  }

  constexpr val<u64> pair_of(const val<f32>& low, const val<f32>& high) const {
    return t_.let(cast<u64>(bit_cast<u32>(high)) << 32 | cast<u64>(bit_cast<u32>(low)));
  }
  constexpr val<f32> half_of(const val<u64>& pair, u32 h) const {
    return t_.let(bit_cast<f32>(cast<u32>(pair >> (32 * h))));
  }

  // The place of four columns of a row, and what else the row needs. It is found while sums are in flight.
  struct output_place {
    decode_row at;
    val<u32> column;
    val<u64> address;
    val<i64> offset;
    val<u32> left;  // columns that exist
    val<f32> sink;
  };
  constexpr output_place place_of_output(const val<attention_problem>& problem,
                                         const val<attention_split>& split, const decode_block& block,
                                         const val<u32>& row, const val<u32>& column) const {
    const decode_row at = find_row(t_, split, block, t_.let(block.first_row + row));
    const val size = t_.let(problem[&attention_problem::v_size]);
    const auto strides = problem[&attention_problem::o];
    return {at,
            column,
            t_.let(strides[&attention_strides::address]),
            offset_of_output(t_, problem, block.batch, row_of_tensor(t_, block, at), column),
            t_.let(select(column < size, size - column, 0u)),
            sink_of(t_, problem, block_of_row(t_, block, at))};
  }

  // Writes a row with all keys to the output.
  template <class T>
  constexpr void finish(const val<attention_problem>& problem, const val<attention_split>& split,
                        const decode_block& block, const output_place& to, const row_sums& sums) const {
    if (auto exists = t_.when(to.left != 0u)) {
      const softmax_row result = softmax_result(t_, sums.total.largest, sums.total.sum, to.sink);
      store_lse(t_, problem, block_of_row(t_, block, to.at), to.at.query, t_.let(to.column == 0u),
                result.lse);
      const auto four = array_of<4>([&](u32 e) { return t_.let(sums.x[e] * result.inverse); });
      const val whole = t_.let(problem[&attention_problem::o][&attention_strides::by_16] != 0u);
      with_output_type<T>(t_, problem, split, [&]<class A>(A) {
        store_four<A>(t_, to.address, to.offset, to.left, whole, four);
      });
    }
  }

  // Writes a row with a split of the keys to the workspace.
  constexpr void leave(const val<attention_problem>& problem, const val<attention_split>& split,
                       const decode_block& block, const val<bool>& works, const val<u32>& row,
                       const val<u32>& column, const row_sums& sums) const {
    const decode_row at = find_row(t_, split, block, t_.let(block.first_row + row));
    const val to = partial_row(t_, problem, split, block, at);
    if (auto once = t_.when(column == 0u))
      store_total(t_, split, to, {sums.total.largest, t_.let(select(works, sums.total.sum, -1.0f))});
    if (auto has = t_.when(all_of(works, column < problem[&attention_problem::v_size]))) {
      const val first = t_.let(to * cast<u64>(split[&attention_split::pitch]) + cast<u64>(column));
      store_vec(pointer_at<out<f32>>(t_, t_.let(split[&attention_split::sums]))[first],
                make_vec(sums.x[0], sums.x[1], sums.x[2], sums.x[3]));
    }
  }

  thread t_;
  Ring sums_;
  shared<f32, C.key_warps * 16, 2> totals_;
  shared<u64, 16 * C.depth / 2> inbox_;         // (split, row, column of the block), two f32 each
  shared<u64, most_splits * 16> inbox_totals_;  // (split, row): largest, sum
  mbarriers<1> arrived_;
};

}  // namespace kaio::ops
