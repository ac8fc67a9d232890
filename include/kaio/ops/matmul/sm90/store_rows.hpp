#pragma once
// The store of a tile for an epilogue that takes whole rows, on sm_90a. A warp's 16 rows go through shared
// memory by eights, in parts of 128 columns; no warp waits for another.
//
//   before the products     the epilogue looks up its rows: lane i row i % 16
//   after them              Epilogue::rows for each part; rows.each() gives its sums
//
//   struct of_rows {
//     static constexpr bool takes_rows = true;
//     class found;   per thread; found(t), and find(t, row of C or no_row, extra...)
//     template <class Rows, class... Extra>
//     static constexpr void rows(thread t, const Rows& rows, const found& of_rows, const Extra&... extra);
//   };
//
//   Rows::columns, rows.column    the columns of a part, and where they begin in C
//   rows.own_column               columns of C before it belong to another tile too, which finishes them
//   rows.each(f)                  f(first), while rows `first` to `first` + Rows::count - 1 of 16 are staged
//   rows.four(r, c)               sums of row `first` + r in columns c to c + 3, c a multiple of four
//   rows.rank, Rows::threads      this thread's rank among those that share these rows, and their number: 32

#include <kaio/ops/matmul/mma_sync/tile_rows.hpp>
#include <kaio/ops/matmul/sm90/store_for.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// The number of a row that C does not have, or that another tile finishes.
inline constexpr u32 no_row = std::numeric_limits<u32>::max();

// fill(first): stages the sums of the rows from `first` on.
template <class Staged, class Fill, std::uint32_t Rows, std::uint32_t Columns>
struct sm90_rows {
  static constexpr std::uint32_t count = Rows, columns = Columns, threads = 32;

  thread t;
  const Staged& staged;
  const Fill& fill;
  val<u32> column, own_column, rank;

  template <class F>
  constexpr void each(const F& f) const {
    for (auto first : t.range(0u, sm90_warp_rows, count).no_unroll()) {
      const val of_warp = t.let(first);
      fill(of_warp);
      sync_warp(t);
      f(of_warp);
      sync_warp(t);
    }
  }
  constexpr dsl::register_array<val<f32>, 4> four(const val<u32>& r, const val<u32>& c) const {
    const val all = load_vec<4>(staged[r][c]);
    return array_of<4>([&](u32 e) { return t.let(all[e]); });
  }
};

template <sm90_config C, class Epilogue, class Place>
class sm90_rows_store {
 public:
  struct requested {};
  struct destination {};
  static constexpr std::uint32_t rows = 8, columns = 128;
  static_assert(C.n % columns == 0 && !C.transposed);

  constexpr sm90_rows_store(thread t, const destination&, const val<output_lines>& lines, const val<u64>&)
      : t_(t), lines_(lines), staging_(t), found_(t) {}

  // Called before the products of a tile.
  template <class... Extra>
  constexpr void prefetch(const tile_origin& tile, const Extra&... extra) {
    const tile_line first = Place(t_, tile, t_.let(warp_rank(t_) * sm90_warp_rows), 0u).row;
    const val below = t_.let(lane_id() % sm90_warp_rows);
    const val row = t_.let(first.at + below);
    const val is_own = t_.let(
        all_of(row >= first.begin, row < lines_[&output_lines::rows], first.of_tile + below < tile.rows));
    found_.find(t_, t_.let(select(is_own, row, no_row)), extra...);
  }

  // Registers have constant numbers, so branches over parts and rows pick the sums, and the epilogue is
  // emitted once.
  template <class Accumulator, class... Extra>
  constexpr void store(const Accumulator& acc, const tile_origin& tile, const requested&,
                       const Extra&... extra) const {
    const val lane = t_.let(lane_id());
    const val warp = warp_rank(t_);
    const val first_row = t_.let(warp * sm90_warp_rows);
    const auto staged = staging_[warp];
    const auto own = staged.lane(lane / 4u, t_.let(lane % 4u * 2u), 2);
    for (auto index : t_.range(0u, C.n / columns)) {
      const val part = t_.let(index);
      const Place at(t_, tile, first_row, t_.let(part * columns));
      const auto fill = [&](const val<u32>& first) {
        for (std::uint32_t p = 0; p < C.n / columns; ++p)
          for (std::uint32_t r = 0; r < sm90_warp_rows; r += rows)
            if (auto chosen = t_.when(all_of(part == p, first == r)))
              for (std::uint32_t c = 0; c < columns; c += 8) {
                const std::uint32_t i = (p * columns + c) / 2 + r / 4;
                store_vec(staged.at(own, 0, c), make_vec(acc[i], acc[i + 1]));
              }
      };
      if (auto some = t_.when(at.has_columns(lines_, columns)))
        Epilogue::rows(t_,
                       sm90_rows<decltype(staged), decltype(fill), rows, columns>{
                           t_, staged, fill, at.column.at, at.column.begin, lane},
                       found_, extra...);
    }
  }

  constexpr void drain() const {}

 private:
  thread t_;
  val<output_lines> lines_;
  shared_tiles<f32, rows, columns, padded<8>, 4 * C.consumers()> staging_;
  typename Epilogue::found found_;
};

namespace detail {
template <sm90_config C, class Out, class Epilogue, class Place>
  requires takes_rows<Epilogue>
struct sm90_store<C, Out, Epilogue, Place> {
  using type = sm90_rows_store<C, Epilogue, Place>;
};
}  // namespace detail

}  // namespace kaio::ops
