#pragma once
// The numbers that a factored epilogue reads for the sums that a warp stores together: a portion of Rows
// rows. A lane stores four neighbours of a row:
//
//   lane       0        1       ...   of_row - 1    of_row       ...
//   row        0        0             0             1                   next round: 32 / of_row further
//   columns    0..3     4..7          last four     0..3
//
// A lane's columns are the same in all rounds, so it reads their numbers once. The numbers of all rows are
// read at once, one row per lane, and shuffled to the round that uses them: no round waits for memory.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/output.hpp>

#include <cstdint>

namespace kaio::ops {

template <class Epilogue, std::uint32_t Rows, std::uint32_t OfRow>
class mma_sync_factors {
 public:
  static_assert(32 % OfRow == 0, "kaio: the lanes of a warp are whole rows of a portion");
  static constexpr std::uint32_t rounds = Rows * OfRow / 32;

  // Loads the numbers of the portion at `first`. Rows and columns outside C get those of C's last row or
  // column.
  template <class... Extra>
  constexpr mma_sync_factors(thread t, const val<output_lines>& lines, const place& first,
                             const Extra&... extra)
      : t_(t),
        rows_(array_of<(Rows + 31) / 32>([&](u32 i) {
          const val row = t.let(min(first.row + 32 * i + lane_id(), lines[&output_lines::rows] - 1u));
          return Epilogue::of_row(t, first.batch, row, extra...);
        })),
        columns_(array_of<4>([&](u32 e) {
          const val column = t.let(first.column + lane_id() % OfRow * 4u + e);
          return Epilogue::of_column(t, first.batch, t.let(min(column, lines[&output_lines::columns] - 1u)),
                                     extra...);
        })) {}

  // The results of a lane's four sums in a round; `row`: their row of the portion. All lanes of the warp call
  // it.
  template <class Sum, class... Extra>
  constexpr dsl::register_array<val<f32>, 4> results(const val<u32>& row,
                                                     const dsl::register_array<val<Sum>, 4>& x,
                                                     const Extra&... extra) const {
    var own(t_, rows_[0]);
    for (u32 i = 1; i < (Rows + 31) / 32; ++i) own = select(row / 32u == i, rows_[i], own);
    const val of_row = shfl_idx(own, row % 32u);
    return array_of<4>(
        [&](u32 e) { return t_.let(Epilogue::apply(t_, x[e], of_row, columns_[e], extra...)); });
  }

 private:
  thread t_;
  dsl::register_array<val<f32>, (Rows + 31) / 32> rows_;
  dsl::register_array<typename Epilogue::column_numbers, 4> columns_;
};

}  // namespace kaio::ops
