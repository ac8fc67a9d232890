#pragma once
// The epilogue of matmul_w4 for sm_90a. The sums in a block's wgmma accumulators go to y through the shared
// memory of the cluster's blocks, or with split-K to the workspace.

#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/mma_sync/store.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The sums meet in the Bytes bytes where the tiles of x were: [block][own rows of y][columns].
template <w4_sm90_config C, scalar T, std::uint32_t Bytes>
class w4_sm90_sums {
 public:
  using accumulator = wgmma_accumulator<f32, C.rows>;

  template <class XTiles>
  constexpr w4_sm90_sums(thread t, const val<w4_problem>& problem, const XTiles& x_tiles, const val<u32>& row,
                         const val<u32>& column)
      : t_(t), problem_(problem), inbox_(inbox_type::over(x_tiles)), row_(row), column_(column) {}

  // Whether the cluster has all of K. It is computed at each use, as the loops have no register for it.
  constexpr val<bool> are_whole() const { return t_.let(problem_[&w4_problem::splits] == cluster_size(t_)); }

  // Sends each sum of the thread to the block that owns its row of y.
  template <class Totals>
  constexpr void hand_out(const Totals& totals, const val<u32>& warp) const {
    const val own_bits = find_own_bits(), own_rows = t_.let(1u << own_bits);
    const val first_place = t_.let(cluster_rank(t_) << own_bits);
    const val first_row = first_row_of_lane(), column = column_of_lane(warp);
    for_sums(totals, [&](u32 further, const auto& both) {
      const val row = t_.let(first_row + further);
      const val place = t_.let(first_place + (row & (own_rows - 1u)));
      store_vec(remote(inbox_[place][column], t_.let(row >> own_bits)), both);
    });
  }
  // Stores the thread's sums of a split of K into the workspace.
  template <class Totals>
  constexpr void store_part(const Totals& totals, const val<u32>& warp, const val<u32>& split) const {
    const val m = t_.let(problem_[&w4_problem::m]), n = t_.let(problem_[&w4_problem::w][&w4_packed::n]);
    const val row = t_.let(row_ + first_row_of_lane()), column = t_.let(column_ + column_of_lane(warp));
    // Rows from the thread's first row on; 0 if the thread stores nothing.
    const val left = t_.let(select(all_of(row < m, column < n), m - row, 0u));
    const val to = t_.let(w4_part_address(t_, problem_, split, row, column));
    const val pitch = t_.let(cast<u64>(problem_[&w4_problem::w][&w4_packed::tiles_n] * (w4_tile_n * 4)));
    for_sums(totals, [&](u32 further, const auto& both) {
      if (auto exists = t_.when(left > further))
        store_vec(pointer_at<out<f32>>(t_, t_.let(to + pitch * u64{further}))[0], both);
    });
  }
  // Adds the sums handed to the block in the order of K, and stores them to y. All its threads call it.
  template <class Store = w4_store>
  constexpr void finish(const Store& store = {}) const {
    const val m = t_.let(problem_[&w4_problem::m]), n = t_.let(problem_[&w4_problem::w][&w4_packed::n]);
    const val at_once = t_.let(cluster_size(t_)), own_bits = find_own_bits();
    const val own_rows = t_.let(1u << own_bits);
    const val first_row = t_.let(row_ + (cluster_rank(t_) << own_bits));
    constexpr std::uint32_t fours = C.columns() / 4;
    for (auto i : t_.range(t_.thread_rank(), own_rows * fours, C.threads()).no_unroll()) {
      const val of_rows = t_.let(i / fours), of_columns = t_.let(i % fours * 4u);
      const val y_row = t_.let(first_row + of_rows), y_column = t_.let(column_ + of_columns);
      if (auto exists = t_.when(all_of(y_row < m, y_column < n))) {
        const val here = load_vec<4>(inbox_[of_rows][of_columns]);
        auto total = array_of<4>([&](u32 e) { return var<f32>(t_, here[e]); });
        for (auto p : t_.range(1u, at_once).no_unroll()) {
          const val more = load_vec<4>(inbox_[of_rows + (p << own_bits)][of_columns]);
          for (u32 e = 0; e < 4; ++e) total[e] += more[e];
        }
        finish_w4<w4_element<T>>(t_, problem_, y_row, y_column, total, store);
      }
    }
  }

 private:
  static constexpr bool has_room = Bytes >= C.rows * (C.columns() + 4) * 4;
  using inbox_type =
      shared_tile<f32, C.rows, C.columns(), std::conditional_t<has_room, dsl::padded<4>, dsl::swizzled<128>>>;
  static constexpr std::uint32_t log2_rows = [] {
    std::uint32_t bits = 0;
    while (1u << bits < C.rows) ++bits;
    return bits;
  }();

  // Log2 of the rows of y that a block finishes.
  constexpr val<u32> find_own_bits() const { return t_.let(log2_rows - popc(cluster_size(t_) - 1u)); }
  // The lane's first row and even column of y, from the block's first ones on. Rows g and g + 8 of a fragment
  // are the even and the odd column of a pair (layout.hpp).
  constexpr val<u32> first_row_of_lane() const { return t_.let(t_.lane_rank() % 4u * 2u); }
  constexpr val<u32> column_of_lane(const val<u32>& warp) const {
    return t_.let(warp * 16u + t_.lane_rank() / 4u * 2u);
  }
  // Calls f(rows after the first one, the sums of both columns).
  template <class Totals, class F>
  static constexpr void for_sums(const Totals& totals, const F& f) {
    static_assert(accumulator::row(2) == 8 && accumulator::column(2) == 0);
    for (u32 i = 0; i < accumulator::size(); ++i)
      if (accumulator::row(i) == 0) f(u32{accumulator::column(i)}, make_vec(totals[i], totals[i + 2]));
  }

  thread t_;
  const val<w4_problem>& problem_;
  inbox_type inbox_;
  val<u32> row_, column_;  // first row and column of the block, of y
};

}  // namespace kaio::ops
