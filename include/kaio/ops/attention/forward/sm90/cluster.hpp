#pragma once
// Divides the keys of a tile of queries among the blocks of a cluster, for calls with fewer tiles than run at
// once. Each block has a part of the steps, and at the end a part of the rows. It adds up its rows from the
// shared memory of all blocks, in the order of the keys.
//
//   block 0: O of steps 0 and 1   | block 1: O of steps 2 and 3   64 x depth f32; largest and sum of each row
//   barrier of the cluster
//   block 0: rows 0 to 31         | block 1: rows 32 to 63        of all parts
//   barrier of the cluster: no block ends while others read its O
//
// A block without steps has zeros for O, and -inf for the largest. In a launch without clusters, each block
// is its own cluster with all keys.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/forward/sm90/store.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kaio::ops {

// Step numbers: from first to before last. A part without steps begins at the end of all steps.
struct step_range {
  val<u32> first, last;
};
// Part `part` of 2^bits parts.
constexpr step_range steps_of_part(thread t, const step_range& all, const val<u32>& part,
                                   const val<u32>& bits) {
  const val end = t.let(max(all.first, all.last));
  const val count = t.let(end - all.first);
  const val first = t.let(all.first + (count * part >> bits));
  const val last = t.let(all.first + (count * (part + 1u) >> bits));
  return {t.let(select(first == last, end, first)), t.let(select(first == last, end, last))};
}
// log2 of the number of blocks of a cluster, which is a power of two.
constexpr val<u32> bits_of_cluster(thread t) { return t.let(popc(cluster_size(t) - 1u)); }

// Rows of O that may need recomputation: lane l has rows l / 4 and l / 4 + 8 of its warp (exact_rows.hpp).
struct finished_rows {
  struct row {
    var<f32> largest, inverse;
    var<u32> wrong;
  };
  dsl::register_array<row, 2> rows;
  var<u32> first_query;  // first query of the warp

  constexpr explicit finished_rows(thread t)
      : rows(array_of<2>([&](u32) {
          return row{var(t, 0.0f), var(t, 0.0f), var(t, 0u)};
        })),
        first_query(t, 0u) {}
};

// The rows of one warpgroup of 64 queries. T: element type of O.
template <scalar T, std::uint32_t Depth>
class cluster_rows {
  static constexpr f32 nothing = -std::numeric_limits<f32>::infinity();
  static constexpr u32 queries = 64, most_parts = 8;
  static constexpr u32 lanes = Depth < 128 ? Depth / 4 : 32;  // per row of O, four columns each
  static constexpr u32 rows_at_once = 32 / lanes, halves = Depth / (4 * lanes);
  static constexpr u32 at_once = 8;  // loads of a lane in flight
  static_assert(Depth == 64 || Depth == 128 || Depth == 256);
  using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;

 public:
  constexpr explicit cluster_rows(thread t) : t_(t), sums_(t), totals_(t), weights_(t), results_(t) {}

  // Called by the threads of each block's warpgroup, with its accumulator and the totals of its two rows.
  // `group` is the warpgroup's barrier.
  template <class Accumulator, class Totals, class Barrier>
  constexpr void combine(const val<attention_problem>& problem, const attention_block& block,
                         const Accumulator& sums, const Totals& totals, const attention_output& o,
                         const Barrier& group, finished_rows& finished) const {
    put(sums, totals);
    cluster_barrier(t_);
    const val parts = cluster_size(t_), part = cluster_rank(t_);
    const val bits = bits_of_cluster(t_);
    const val own_rows = t_.let(queries >> bits), first_row = t_.let(part * own_rows);
    const val first_query = t_.let(block.first_query + first_row);
    if (auto has_total = t_.when(t_.thread_rank() < queries))
      add_totals(problem, block, parts, bits, first_row, first_query);
    group.sync();
    const val rows_of_warp = t_.let(own_rows / 4u), warp_row = t_.let(t_.warp_rank() * rows_of_warp);
    const val of_row = t_.let(t_.lane_rank() / lanes), column = t_.let(t_.lane_rank() % lanes * 4u);
    var wrong(t_, 0u);  // bit i * halves + h: this lane's columns in half h of row i * rows_at_once + of_row
    // Every lane has Depth / 8 vectors of four to add up, for any number of parts.
    for (auto first : t_.range(0u, Depth / 8, at_once).no_unroll()) {
      const auto number = array_of<at_once>([&](u32 n) { return t_.let((first + n) >> bits); });
      const auto row = array_of<at_once>(
          [&](u32 n) { return t_.let(warp_row + number[n] / halves * rows_at_once + of_row); });
      const auto at =
          array_of<at_once>([&](u32 n) { return t_.let(column + number[n] % halves * (4 * lanes)); });
      const auto of_part = array_of<at_once>([&](u32 n) { return t_.let(n & parts - 1u); });
      const auto four = array_of<at_once>(
          [&](u32 n) { return load_vec<4>(remote(sums_[first_row + row[n]][at[n]], of_part[n])); });
      auto x = array_of<4>([&](u32) { return var(t_, 0.0f); });
      for (u32 n = 0; n < at_once; ++n) {
        const val weight = t_.let(weights_[row[n] * parts + of_part[n]]);
        // A part without keys has multiplied values by zero; the product is NaN if they are.
        for (u32 e = 0; e < 4; ++e) x[e] += select(weight < 0.0f, 0.0f, four[n][e] * weight);
        if (auto last = t_.when(of_part[n] == parts - 1u)) {
          const val is_nan = store(o, t_.let(first_query + row[n]), at[n], x);
          wrong = wrong | select(is_nan, u32{1} << number[n], 0u);
          for (auto& one : x) one = 0.0f;
        }
      }
    }
    cluster_arrive(t_);
    // Moves the flags to the lanes that recompute_rows asks for a row.
    for (u32 apart = 1; apart < lanes; apart *= 2) wrong = wrong | shfl_xor(wrong, apart);
    const val row_of_lane = t_.let(t_.lane_rank() / 4u);
    const val found = shfl_idx(wrong, t_.let(row_of_lane % rows_at_once * lanes));
    finished.first_query = first_query + warp_row;
    auto& to = finished.rows[0];
    if (auto has_row = t_.when(row_of_lane < rows_of_warp)) {
      const val result = load_vec<2>(results_[warp_row + row_of_lane][0]);
      to.largest = result[0];
      to.inverse = result[1];
      const val own = t_.let(found >> row_of_lane / rows_at_once * halves & ((1u << halves) - 1u));
      to.wrong = select(isnan(result[1]), 0u, own);
    }
    cluster_wait(t_);
  }

 private:
  template <class Accumulator, class Totals>
  constexpr void put(const Accumulator& sums, const Totals& totals) const {
    const val row = Accumulator::first_row(t_), column = Accumulator::first_column(t_);
    for (std::uint32_t i = 0; i < sums.size(); i += 2)
      store_vec(sums_[row + Accumulator::row(i)][column + Accumulator::column(i)],
                make_vec(sums[i], sums[i + 1]));
    if (auto leads = t_.when(t_.lane_rank() % 4u == 0u))
      for (u32 r = 0; r < 2; ++r)
        store_vec(totals_[row + 8 * r][0], make_vec(totals[r].largest, totals[r].sum));
  }

  // Adds up the block's own rows, a thread per row and part; the parts of a row are neighbours. A part's
  // weight is the factor of its sums, or -1 if it had no keys.
  constexpr void add_totals(const val<attention_problem>& problem, const attention_block& block,
                            const val<u32>& parts, const val<u32>& bits, const val<u32>& first_row,
                            const val<u32>& first_query) const {
    const val rank = t_.thread_rank();
    const val row = t_.let(rank >> bits), of_part = t_.let(rank & parts - 1u);
    const val total = load_vec<2>(remote(totals_[first_row + row][0], of_part));
    var<f32> most(t_, total[0]);
    for (u32 apart = 1; apart < most_parts; apart *= 2)
      most = select(parts > apart, max(most, shfl_xor(most, apart)), most);
    const val none = t_.let(total[0] == nothing);
    const val weight = t_.let(select(none, 0.0f, fast::ftz::exp2(total[0] - most)));
    var<f32> sum(t_, total[1] * weight);
    for (u32 apart = 1; apart < most_parts; apart *= 2)
      sum = select(parts > apart, sum + shfl_xor(sum, apart), sum);
    const softmax_row result = softmax_result(t_, t_.let(most), sum, sink_of(t_, problem, block));
    weights_[rank] = select(none, -1.0f, weight * result.inverse);
    const val leads = t_.let(of_part == 0u);
    if (auto once = t_.when(leads)) store_vec(results_[row][0], make_vec(result.largest, result.inverse));
    store_lse(t_, problem, block, t_.let(first_query + row), leads, result.lse);
  }

  // Stores the four columns of a row of O that exist. Returns whether one of them is NaN.
  template <class Four>
  constexpr val<bool> store(const attention_output& o, const val<u32>& query, const val<u32>& column,
                            const Four& x) const {
    const val low_two = t_.let(pack<pair>(x[0], x[1])), high_two = t_.let(pack<pair>(x[2], x[3]));
    const val exists = t_.let(all_of(query < o.rows, column < o.columns));
    if (auto has = t_.when(exists)) {
      const val at = t_.let(cast<i64>(query) * o.pitch + cast<i64>(column));
      store_vec(pointer_at<out<u32>>(t_, t_.let(o.address + cast<u64>(at * i64{sizeof(T)})))[0],
                make_vec(bit_cast<u32>(low_two), bit_cast<u32>(high_two)));
    }
    const val any = t_.let(max_nan(low_two, high_two));
    return t_.let(all_of(exists, any_of(isnan(cast<f32>(low(any))), isnan(cast<f32>(high(any))))));
  }

  thread t_;
  shared_tile<f32, queries, Depth, dsl::padded<8>> sums_;  // O of this block's part
  shared<f32, queries, 2> totals_;                         // largest and sum of each row of this part
  shared<f32, queries> weights_;                           // per own row and part
  shared<f32, queries / 2, 2> results_;  // largest and 1 / sum of the block's own rows, over all parts
};

}  // namespace kaio::ops
