#pragma once
// The stores of store.hpp for a tile of C^T. A warp's 16 rows of it are 16 columns of C, stored in panels of
// a few rows of C. A thread's pairs of sums are then in two rows of a panel.
//
//   accumulators of a warp: 16 x n        panel p of its part of C: rows x 16
//      columns of C                           rows p * rows on
//
// For operands that wgmma can read only if they are exchanged: f32 across K.

#include <kaio/ops/matmul/sm90/store.hpp>

#include <cstdint>

namespace kaio::ops {

template <sm90_config C>
struct sm90_transposed_panel {
  static constexpr std::uint32_t rows = C.n < 32 ? C.n : 32, columns = sm90_warp_rows;
  static constexpr std::uint32_t panels = C.n / rows;
  static_assert(C.n % rows == 0 && rows % 8 == 0);

  // Calls f(register, row, column) for the sums of panel p; row and column are relative to the thread's own
  // place.
  template <class F>
  static constexpr void each(std::uint32_t p, const F& f) {
    for (std::uint32_t i = 0; i < rows / 2; ++i) {
      using sums = wgmma_accumulator<f32, C.n>;
      f(p * (rows / 2) + i, sums::column(i), sums::row(i));
    }
  }
};

template <sm90_config C, scalar Out, class Epilogue, class Place>
class sm90_copied_transposed_store {
  static_assert(sizeof(Out) == 4 && !is_factored<Epilogue>);
  using panel = sm90_transposed_panel<C>;

 public:
  struct requested {};
  using destination = tensor_map<Out, 3>;
  static constexpr std::uint32_t row_bytes = panel::columns * sizeof(Out);
  static constexpr std::uint32_t turns = panel::panels % C.panels == 0 ? C.panels : 1;
  static constexpr std::uint32_t box[3] = {panel::columns, panel::rows, 1};

  constexpr sm90_copied_transposed_store(thread t, const tensor_map<Out, 3>& c,
                                         const val<output_lines>& lines, const val<u64>& c_address)
      : t_(t), map_(c), lines_(lines), c_address_(c_address), staging_(t) {}

  template <class... Extra>
  constexpr requested request(const tile_origin&, const Extra&...) const {
    return {};
  }

  // Stores epilogue(x) for each element of the tile to C.
  template <class Accumulator, class... Extra>
  constexpr void store(const Accumulator& acc, const tile_origin& tile, const requested&,
                       const Extra&... extra) const {
    const val lane = t_.let(lane_id());
    const val warp = warp_rank(t_);
    const val column_of_tile = t_.let(warp * sm90_warp_rows);
    const val own_row = t_.let(lane % 4u * 2u);
    const val own_column = t_.let(lane / 4u);
    for (std::uint32_t p = 0; p < panel::panels; ++p) {
      const auto staged = staging_[t_.let(warp * turns + p % turns)];
      // The store that used this panel before has read it.
      if (auto leader = t_.when(lane == 0u)) bulk_wait_group_read<turns - 1>(t_);
      sync_warp(t_);
      const auto own =
          array_of<2>([&](std::uint32_t i) { return staged.lane(t_.let(own_row + i), own_column, 8); });
      const Place first(t_, tile, p * panel::rows, column_of_tile);
      panel::each(p, [&](std::uint32_t i, std::uint32_t row, std::uint32_t column) {
        const place at{tile.batch, t_.let(first.row.at + own_row + row),
                       t_.let(first.column.at + own_column + column)};
        staged.at(own[row % 2], row / 2 * 2, column) =
            cast<Out>(t_.let(Epilogue{}(t_, t_.let(acc[i]), at, extra...)));
      });
      fence_proxy_async(t_);
      sync_warp(t_);
      store_panel<panel::rows, panel::columns>(t_, map_, c_address_, lines_, tile.batch, first, staged);
    }
  }

  // Called before the block ends: waits until its shared memory is read no more.
  constexpr void drain() const { bulk_wait_group_read<0>(t_); }

 private:
  thread t_;
  tensor_map<Out, 3> map_;
  val<output_lines> lines_;
  val<u64> c_address_;
  shared_tiles<Out, panel::rows, panel::columns, swizzled<row_bytes>, 4 * turns * C.consumers()> staging_;
};

template <sm90_config C, class Out, class Epilogue, class Place>
class sm90_finished_transposed_store {
  using panel = sm90_transposed_panel<C>;

 public:
  struct requested {};
  using destination = typename detail::output_of<Out>::template parameter<false>;

  constexpr sm90_finished_transposed_store(thread t, const destination& c, const val<output_lines>& lines,
                                           const val<u64>&)
      : t_(t), c_(c), lines_(lines), staging_(t) {}

  template <class... Extra>
  constexpr requested request(const tile_origin&, const Extra&...) const {
    return {};
  }

  template <class... Extra>
  constexpr void prefetch(const tile_origin&, const Extra&...) const {}

  // Stores epilogue(x, place) for each element of the tile to C; the epilogue is emitted once.
  template <class Accumulator, class... Extra>
  constexpr void store(const Accumulator& acc, const tile_origin& tile, const requested&,
                       const Extra&... extra) const {
    const val lane = t_.let(lane_id());
    const val warp = warp_rank(t_);
    const val first_column = t_.let(warp * sm90_warp_rows);
    const auto staged = staging_[warp];
    const auto staged_at = staged.lane(lane % 4u * 2u, lane / 4u);
    for (auto p : t_.range(0u, panel::panels)) {
      for (std::uint32_t known = 0; known < panel::panels; ++known)
        if (auto chosen = t_.when(p == known))
          panel::each(known, [&](std::uint32_t i, std::uint32_t row, std::uint32_t column) {
            staged.at(staged_at, row, column) = acc[i];
          });
      sync_warp(t_);
      finish_panel<Epilogue, Out, panel::rows, panel::columns, most_at_once<C>, Place>(
          t_, c_, lines_, tile, staged, t_.let(p * panel::rows), first_column, extra...);
      sync_warp(t_);
    }
  }

  constexpr void drain() const {}

 private:
  thread t_;
  destination c_;
  val<output_lines> lines_;
  shared_tiles<sum_of_epilogue<Epilogue>, panel::rows, panel::columns, padded<4>, 4 * C.consumers()> staging_;
};

}  // namespace kaio::ops
