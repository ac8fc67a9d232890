#pragma once
// The numbers that a factored epilogue reads on sm_90a. Before the products of a tile, a thread loads the
// numbers of its two rows and of one column in each 128, so that no store waits for memory. After the
// products the numbers of 128 columns at a time go through shared memory to all threads of the warpgroup:
//
//   request   C's rows and columns  --load-->   registers, while wgmma multiplies
//   publish   128 columns of them   --store-->  shared memory, 1 KB for each warpgroup; narrower tiles publish
//                                               their columns
//   of_pair   two neighbours        <--load--   for the sums that a thread has there
//
// Loads at the store would take as long as 16 round trips to L2 for each tile of 256 columns.

#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/matmul/sm90/mainloop.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// Empty for epilogues that are not factored.
template <sm90_config C, class Epilogue, class Place, bool Factored = is_factored<Epilogue>>
class sm90_factors {
 public:
  struct requested {};
  constexpr explicit sm90_factors(thread) {}
  template <class... Extra>
  constexpr requested request(const tile_origin&, const val<output_lines>&, const Extra&...) const {
    return {};
  }
};

template <sm90_config C, class Epilogue, class Place>
class sm90_factors<C, Epilogue, Place, true> {
 public:
  static constexpr std::uint32_t threads = 128;  // of a warpgroup
  // Columns published at a time, at most one per thread.
  static constexpr std::uint32_t columns = std::min(C.n, threads);
  static_assert(C.n % columns == 0 && threads % columns == 0 && Place::part_columns == C.n,
                "kaio: a tile of a factored epilogue has 8, 16, 32, 64 or a multiple of 128 columns, and its "
                "operands are along K");

  struct requested {
    dsl::register_array<val<f32>, 2> rows;                                              // 8 apart
    dsl::register_array<typename Epilogue::column_numbers, C.n / columns> own_columns;  // 128 apart
  };

  constexpr explicit sm90_factors(thread t) : t_(t), published_(t) {}

  // Rows and columns outside C get the numbers of the last row or column.
  template <class... Extra>
  constexpr requested request(const tile_origin& tile, const val<output_lines>& lines,
                              const Extra&... extra) const {
    const val last_row = t_.let(lines[&output_lines::rows] - 1u);
    const val last_column = t_.let(lines[&output_lines::columns] - 1u);
    const Place first{t_, tile, t_.let(warp_rank(t_) * 16u + lane_id() / 4u),
                      t_.let(t_.thread_rank() % columns)};
    const auto rows = array_of<2>([&](std::uint32_t i) {
      return Epilogue::of_row(t_, tile.batch, t_.let(min(first.row.at + i * 8, last_row)), extra...);
    });
    return {rows, array_of<C.n / columns>([&](std::uint32_t i) {
              const val column = t_.let(min(first.column.at + i * columns, last_column));
              return Epilogue::of_column(t_, tile.batch, column, extra...);
            })};
  }

  // All threads of a warpgroup call it. It overwrites what was published before.
  constexpr void publish(const requested& numbers, std::uint32_t part) const {
    const val warpgroup = warpgroup_rank(t_);
    const named_barrier all(t_, t_.let(warpgroup + 1u), threads);
    const auto& own = numbers.own_columns[part];
    const val rank = t_.let(t_.thread_rank() % threads);
    all.sync();
    const auto store = [&] { store_vec(published_[warpgroup][rank * 2u], make_vec(own[0], own[1])); };
    if constexpr (columns == threads)
      store();
    else if (auto publishes = t_.when(rank < columns))
      store();
    all.sync();
  }
  // The numbers of published columns `first` and `first` + 1; `first` is even.
  constexpr dsl::register_array<typename Epilogue::column_numbers, 2> of_pair(const val<u32>& first) const {
    const val x = load_vec<4>(published_[warpgroup_rank(t_)][first * 2u]);
    return array_of<2>([&](std::uint32_t i) {
      return typename Epilogue::column_numbers{{t_.let(x[2 * i]), t_.let(x[2 * i + 1])}};
    });
  }

 private:
  thread t_;
  shared<f32, C.consumers(), columns * 2> published_;
};

}  // namespace kaio::ops
