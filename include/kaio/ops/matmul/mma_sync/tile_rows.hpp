#pragma once
// The end of a matmul whose epilogue sees whole rows of a tile, e.g. to normalise them. Portions of all
// warps' rows, as large as fit, go to shared memory, and the epilogue works on those:
//
//   struct of_rows {
//     template <class Rows, class... Extra>
//     static constexpr void rows(thread t, const Rows& rows, const Extra&... extra);
//   };
//
//   Rows::count, Rows::columns    numbers of rows and columns
//   rows.row(r), rows.column      row r and the first column, as places in C
//   rows.four(r, c)               the sums of row r in the tile's columns c to c + 3, c a multiple of four
//   rows.rank, Rows::threads      this thread's rank among those that share the rows, in all blocks of a
//                                 cluster, and the number of these threads

#include <kaio/dsl/cluster.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/mma_sync/config.hpp>
#include <kaio/ops/matmul/mma_sync/product.hpp>

#include <cstdint>

namespace kaio::ops {

// Whether an epilogue has a function `rows` instead of an operator().
template <class E>
inline constexpr bool takes_rows = requires { E::takes_rows; };

template <mma_sync_config C, class Sum, std::uint32_t OfWarp>
struct rows_of_tile {
  static constexpr std::uint32_t count = C.warps_m() * OfWarp, columns = C.n;
  static_assert(!C.by_launch(), "kaio: an epilogue that takes rows knows the blocks of a cluster");
  static constexpr std::uint32_t threads = C.threads() * C.cluster_splits;
  using staging = shared_tile<Sum, count, C.n, dsl::padded<8>>;

  thread t;
  const staging& staged;
  val<u32> first_row, column, rank;

  constexpr val<u32> row(const val<u32>& r) const {
    if constexpr (C.warps_m() == 1)
      return t.let(first_row + r);
    else
      return t.let(first_row + r / OfWarp * C.warp_m + r % OfWarp);
  }
  constexpr dsl::register_array<val<Sum>, 4> four(const val<u32>& r, const val<u32>& c) const {
    if constexpr (C.cluster_splits == 1) {
      const val all = load_vec<4>(staged[r][c]);
      return array_of<4>([&](u32 e) { return t.let(all[e]); });
    } else {
      const auto parts =
          array_of<C.cluster_splits>([&](u32 s) { return load_vec<4>(remote(staged[r][c], s)); });
      return array_of<4>([&](u32 e) {
        var all(t, parts[0][e]);
        for (u32 s = 1; s < C.cluster_splits; ++s) all += parts[s][e];
        return val<Sum>(t.let(all));
      });
    }
  }
};

// `first`: the place of the tile.
template <mma_sync_config C, class Product, class Epilogue, class Sums, class RingA, class RingB,
          class... Extra>
constexpr void store_rows(thread t, const Sums& sums, const RingA& a, const RingB& b, const val<u32>& warp_m,
                          const val<u32>& warp_n, const place& first, const Extra&... extra) {
  using sum = typename Product::accumulator::element_type;
  constexpr bool in_a = RingA::tiles::bytes >= RingB::tiles::bytes;
  constexpr std::uint32_t room = in_a ? RingA::tiles::bytes : RingB::tiles::bytes;
  constexpr auto bytes_for = [](std::uint32_t parts) {
    return C.warps_m() * parts * Product::m * (C.n + 8) * 4;
  };
  constexpr std::uint32_t down = [&] {
    std::uint32_t parts = RingA::parts;
    while (parts > 1 && bytes_for(parts) > room) parts /= 2;
    return parts;
  }();
  static_assert(RingA::parts % down == 0 && bytes_for(down) <= room,
                "kaio: the tiles of this cut have no room for whole rows of its sums; take more stages");
  constexpr std::uint32_t of_warp = down * Product::m, portions = RingA::parts / down;
  using rows_type = rows_of_tile<C, sum, of_warp>;
  using staging = typename rows_type::staging;
  const staging staged = [&] {
    if constexpr (in_a)
      return staging::over(a.memory());
    else
      return staging::over(b.memory());
  }();
  const val lane = t.lane_rank();
  const auto own = staged.lane(warp_m * of_warp + accumulator_row<Product>(lane),
                               t.let(warp_n * C.warp_n + accumulator_column<Product>(lane)));
  using layout = typename Product::accumulator::layout;
  const auto keep = [&](std::uint32_t portion) {
    for (std::uint32_t i = 0; i < down; ++i)
      for (std::uint32_t j = 0; j < RingB::parts; ++j)
        for (std::uint32_t e = 0; e < Product::accumulator::size; e += 2) {
          const auto& c = sums[portion * down + i][j];
          store_vec(staged.at(own, i * Product::m + layout::element_row(e),
                              j * Product::n + layout::element_column(e)),
                    make_vec(c.element(e), c.element(e + 1)));
        }
  };
  const auto meet = [&] {
    if constexpr (C.cluster_splits == 1)
      t.barrier();
    else
      cluster_barrier(t);
  };
  const val rank = [&] {
    if constexpr (C.cluster_splits == 1)
      return t.let(t.thread_rank());
    else
      return t.let(cluster_rank(t) * C.threads() + t.thread_rank());
  }();
  for (auto portion : t.range(0u, portions)) {
    if constexpr (portions == 1) {
      keep(0);
    } else {
      for (std::uint32_t p = 0; p < portions; ++p)
        if (auto its_turn = t.when(portion == p)) keep(p);
    }
    meet();
    const rows_type rows{t, staged, t.let(first.row + portion * of_warp), first.column, rank};
    Epilogue::rows(t, rows, extra...);
    meet();
  }
}

}  // namespace kaio::ops
