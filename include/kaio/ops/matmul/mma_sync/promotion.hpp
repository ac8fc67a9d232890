#pragma once
// The promotion of sums, for epilogues that promote. After each group of 128 along K a warp multiplies its
// sums by a scale of their row and a scale of their columns, and adds them to f32 totals.

#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/common/finish.hpp>
#include <kaio/ops/matmul/mma_sync/config.hpp>
#include <kaio/ops/matmul/mma_sync/product.hpp>

#include <cstdint>

namespace kaio::ops {

// For epilogues that do not promote.
struct no_promotion {};

template <mma_sync_config C, class Product, class Epilogue>
class mma_sync_promotion {
  using line = typename Epilogue::line;
  using accumulator = typename Product::accumulator;
  using layout = typename accumulator::layout;
  static constexpr std::uint32_t parts_m = C.warp_m / Product::m, parts_n = C.warp_n / Product::n;
  static constexpr std::uint32_t rows = 2 * parts_m;  // per thread: two of each 16
  static_assert(Product::m == 16 && promoted_k % C.k == 0 && promoted_k % C.warp_n == 0 &&
                C.n % C.warp_n == 0 && C.cluster_splits == 1);

 public:
  // `first`: where the warp's part of the tile begins.
  template <class... Extra>
  constexpr mma_sync_promotion(thread t, const place& first, const val<output_lines>& lines,
                               const Extra&... extra)
      : t_(t),
        rows_(lines_of_rows(t, first, lines, extra...)),
        columns_(Epilogue::line_of_columns(t, first.batch, first.column, extra...)),
        of_rows_(array_of<rows>([&](u32) { return var<f32>(t, 0.0f); })),
        of_columns_(t, 0.0f),
        totals_(array_of<parts_m>(
            [&](u32) { return array_of<parts_n>([&](u32) { return accumulator(t, 0.0f); }); })) {}

  // Loads the scales of the group of the step at `k`.
  constexpr void load(const val<u32>& k) {
    const val group = t_.let(k / promoted_k);
    of_columns_ = columns_.at(t_, group);
    for (u32 i = 0; i < rows; ++i) of_rows_[i] = rows_[i].at(t_, group);
  }
  // Called after the step at `k`. If a group or the range of K ends there, adds the sums to the totals and
  // clears them.
  template <class Sums>
  constexpr void add(Sums& sums, const val<u32>& k, const val<u32>& k_last) {
    const val next = t_.let(k + C.k);
    if (auto ends = t_.when(any_of(next % promoted_k == 0u, next >= k_last)))
      for (u32 i = 0; i < parts_m; ++i) {
        const auto scales =
            array_of<2>([&](u32 half) { return t_.let(of_rows_[2 * i + half] * of_columns_); });
        for (u32 j = 0; j < parts_n; ++j)
          for (u32 e = 0; e < accumulator::size; ++e) {
            auto& total = totals_[i][j].registers[e];
            total = fma(sums[i][j].registers[e], scales[layout::element_row(e) / 8], total);
            sums[i][j].registers[e] = 0.0f;
          }
      }
  }
  constexpr const auto& totals() const { return totals_; }

 private:
  template <class... Extra>
  static constexpr auto lines_of_rows(thread t, const place& first, const val<output_lines>& lines,
                                      const Extra&... extra) {
    const val lane = t.lane_rank();
    const val row = t.let(first.row + layout::lane_row(lane));
    const val last = t.let(lines[&output_lines::rows] - 1u);
    return array_of<rows>([&](u32 i) {
      return Epilogue::line_of_row(t, first.batch, t.let(min(row + i * 8, last)), extra...);
    });
  }

  thread t_;
  dsl::register_array<line, rows> rows_;
  line columns_;
  dsl::register_array<var<f32>, rows> of_rows_;
  var<f32> of_columns_;
  dsl::register_array<dsl::register_array<accumulator, parts_n>, parts_m> totals_;
};

}  // namespace kaio::ops
