#pragma once
// Two ways of results from the accumulators to C on sm_90a; store_terms.hpp and store_rows.hpp have others.
// Both go through shared memory, a warp's 16 rows in panels, and no warp waits for another.
//
//   sm90_copied_store    registers --epilogue, round--> panel (swizzled) --tensor copy--> C
//                        for epilogues that work on the sums alone. Two panels alternate: one is filled while
//                        the other leaves. The copy drops elements outside C, and writes whole pieces of 16
//                        bytes: rows of C are a multiple of that long
//   sm90_finished_store  registers --> panel of sums --> epilogue, four neighbours a lane --> C
//                        for all others: their reads are then of neighbours, as their writes are

#include <kaio/dsl/memory/pointer_at.hpp>
#include <kaio/dsl/mma/stmatrix.hpp>
#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/matmul/sm90/factors.hpp>
#include <kaio/ops/matmul/sm90/mainloop.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr std::uint32_t sm90_warp_rows = 16;  // rows per warp, of a warpgroup's 64

// Rows that a thread finishes together. Registers are short if warps load words, most of all for small tiles,
// which more warps load.
template <sm90_config C>
inline constexpr std::uint32_t most_at_once = !C.loads_words() ? 4
                                              : C.n < 128      ? 1
                                                               : 2;

// Stores a warp's panel of results, `Rows` x `Columns`, from shared memory to C. If the tile owns all of it,
// a tensor copy does; otherwise threads store the owned pieces of 16 bytes. Each panel is one bulk group of
// lane 0. `OwnsAll`: tiles own all of every panel.
template <std::uint32_t Rows, std::uint32_t Columns, bool OwnsAll = false, class Place, scalar Out,
          class Panel>
constexpr void store_panel(thread t, const tensor_map<Out, 3>& map, const val<u64>& c_address,
                           const val<output_lines>& lines, const val<u32>& batch, const Place& first,
                           const Panel& staged) {
  constexpr std::uint32_t vector = 16 / sizeof(Out), vectors = Columns / vector;
  const val lane = t.let(lane_id());
  const auto copy = [&] { store_tensor(map, coordinates(first.column.at, first.row.at, batch), staged); };
  if constexpr (OwnsAll) {
    if (auto leader = t.when(lane == 0u)) {
      copy();
      bulk_commit_group(t);
    }
    return;
  }
  const val is_own = t.let(first.is_own(Rows, Columns));
  if (auto leader = t.when(lane == 0u)) {
    if (auto whole = t.when(is_own)) copy();
    bulk_commit_group(t);
  }
  if (auto moved = t.when(!is_own))
    for (auto i : t.range(lane, Rows * vectors, 32u).no_unroll()) {
      const val r = t.let(i / vectors), c = t.let(i % vectors * vector);
      const place at{batch, t.let(first.row.at + r), t.let(first.column.at + c)};
      const val stores =
          t.let(all_of(at.row >= first.row.begin, at.row < lines[&output_lines::rows],
                       at.column >= first.column.begin, at.column < lines[&output_lines::columns],
                       first.row.of_tile + r < first.rows, first.column.of_tile + c < first.columns));
      if (auto own = t.when(stores)) {
        const val x = load(dsl::place_of<ptx::access::inout, u32x4>(staged[r][c].location()));
        const val to = t.let(c_address + cast<u64>(offset_in(t, lines, at)) * u64{sizeof(Out)});
        store_vec(pointer_at<out<u32>>(t, to)[0], make_vec(x[0], x[1], x[2], x[3]));
      }
    }
}

// C = epilogue(x, place) for a warp's panel of sums in shared memory, whose first place is (row, column) of
// the tile.
template <class Epilogue, class Out, std::uint32_t Rows, std::uint32_t Columns, std::uint32_t MostAtOnce,
          class Place, class Destination, class Panel, class... Extra>
constexpr void finish_panel(thread t, const Destination& c, const val<output_lines>& lines,
                            const tile_origin& tile, const Panel& staged, const val<u32>& row,
                            const val<u32>& column, const Extra&... extra) {
  constexpr std::uint32_t of_row = Columns / 4, apart = 32 / of_row;
  static_assert(32 % of_row == 0 && Rows % apart == 0);
  constexpr std::uint32_t at_once = rows_at_once_of<Epilogue>(Rows / apart, MostAtOnce);
  const val lane = t.let(lane_id());
  const val within = t.let(lane % of_row * 4u);
  const Place at(t, tile, row, t.let(column + within));
  const auto own = at.own(t, lines, t.let(u32{Rows}));
  for (auto below : t.range(0u, own.rows, apart * at_once).no_unroll()) {
    const val first = t.let(lane / of_row + below);
    const auto x = array_of<at_once>([&](u32 i) { return load_vec<4>(staged[first + i * apart][within]); });
    finish_strip<Epilogue, Out>(
        t, c, lines, at.template strip_of<at_once, apart, of_row>(t, tile.batch, own, first),
        array_of<4 * at_once>([&](u32 i) { return t.let(x[i / 4][i % 4]); }), extra...);
  }
}

template <sm90_config C, scalar Out, class Epilogue, class Place>
class sm90_copied_store {
  using factors = sm90_factors<C, Epilogue, Place>;

 public:
  using requested = typename factors::requested;
  using destination = tensor_map<Out, 3>;
  static constexpr std::uint32_t most_columns = sm90_config::row_bytes / sizeof(Out);
  static constexpr std::uint32_t columns = C.n < most_columns ? C.n : most_columns;
  static constexpr std::uint32_t row_bytes = columns * sizeof(Out);
  static_assert(row_bytes == 32 || row_bytes == 64 || row_bytes == 128,
                "kaio: a panel of C has rows of 32, 64 or 128 bytes");
  static constexpr std::uint32_t panels = C.n / columns;
  static_assert(C.n % columns == 0);
  static constexpr std::uint32_t fill_columns = sizeof(Out) == 2 ? 16 : 8;  // filled at a time
  // Panels of a warp that take turns: the first one of a tile follows the last one of the previous tile.
  static constexpr std::uint32_t turns = panels % C.panels == 0 ? C.panels : 1;
  static constexpr std::uint32_t box[3] = {columns, sm90_warp_rows, 1};

  constexpr sm90_copied_store(thread t, const tensor_map<Out, 3>& c, const val<output_lines>& lines,
                              const val<u64>& c_address)
      : t_(t), map_(c), lines_(lines), c_address_(c_address), staging_(t), factors_(t) {}

  // Loads what the store of a tile reads, before its products.
  template <class... Extra>
  constexpr requested request(const tile_origin& tile, const Extra&... extra) const {
    return factors_.request(tile, lines_, extra...);
  }

  // Stores epilogue(x) for each element of the tile to C.
  template <class Accumulator, class... Extra>
  constexpr void store(const Accumulator& acc, const tile_origin& tile, const requested& numbers,
                       const Extra&... extra) const {
    store_as<Out>(acc, tile, numbers, extra...);
  }

  // Called before the block ends: waits until its shared memory is read no more.
  constexpr void drain() const { bulk_wait_group_read<0>(t_); }

 protected:
  // Stores the results as elements of a type of Out's size.
  template <class Element, class Accumulator, class... Extra>
  constexpr void store_as(const Accumulator& acc, const tile_origin& tile, const requested& numbers,
                          const Extra&... extra) const {
    const val lane = t_.let(lane_id());
    const val warp = warp_rank(t_);
    const val row_of_tile = t_.let(warp * sm90_warp_rows);
    const val first_row = Place(t_, tile, row_of_tile, 0u).row.at;
    const auto make = elements(acc, tile, first_row, lane, numbers, extra...);
    for (std::uint32_t p = 0; p < panels; ++p) {
      if constexpr (is_factored<Epilogue>)
        if (p * columns % factors::columns == 0) factors_.publish(numbers, p * columns / factors::columns);
      const auto store = [&] {
        const auto staged = staging_[t_.let(warp * turns + p % turns)];
        // The store that used this panel before has read it. A tile may end with any panel, if its columns are
        // the launch's.
        if (auto leader = t_.when(lane == 0u)) {
          if (C.widths != 1 && p == 0)
            bulk_wait_group_read<0>(t_);
          else
            bulk_wait_group_read<turns - 1>(t_);
        }
        sync_warp(t_);
        if constexpr (sizeof(Out) == 2)
          fill_by_matrices<Element>(staged, lane, p, make);
        else
          fill_by_pairs(staged, lane, p, make);
        fence_proxy_async(t_);
        sync_warp(t_);
        constexpr bool owns_all = !Place::moves && C.widths == 1;
        store_panel<sm90_warp_rows, columns, owns_all>(t_, map_, c_address_, lines_, tile.batch,
                                                       Place(t_, tile, row_of_tile, p * columns), staged);
      };
      // A narrow tile has no columns in the last panels.
      if (p * columns < C.width(C.widths - 1))
        store();
      else if (auto has_columns = t_.when(p * columns < tile.columns))
        store();
    }
  }

  // Returns make, where make(first)(i) is the result of accumulator register i, in the few columns from
  // `first` on.
  template <class Accumulator, class... Extra>
  constexpr auto elements(const Accumulator& acc, const tile_origin& tile, const val<u32>& first_row,
                          const val<u32>& lane, const requested& numbers, const Extra&... extra) const {
    if constexpr (is_factored<Epilogue>) {
      const val pair = t_.let(lane % 4u * 2u);  // first of two in each eight columns
      return [this, pair, &numbers, &acc, &extra...](std::uint32_t first) {
        const auto of_pairs = array_of<fill_columns / 8>([&](std::uint32_t j) {
          return factors_.of_pair(t_.let(pair + (first % factors::columns + 8 * j)));
        });
        return [this, of_pairs, &numbers, &acc, &extra...](std::uint32_t i) {
          const std::uint32_t column = acc.column(i) % fill_columns;
          return t_.let(Epilogue::apply(t_, t_.let(acc[i]), numbers.rows[acc.row(i) / 8],
                                        of_pairs[column / 8][column % 2], extra...));
        };
      };
    } else {
      return [this, &acc, &tile, &first_row, &lane, &extra...](std::uint32_t first) {
        const val column = t_.let(Place(t_, tile, 0u, first).column.at + lane % 4u * 2u);
        return [this, &acc, &tile, &first_row, &lane, first, column, &extra...](std::uint32_t i) {
          const place at{tile.batch, t_.let(first_row + lane / 4u + acc.row(i)),
                         t_.let(column + (acc.column(i) - first))};
          return t_.let(Epilogue{}(t_, t_.let(acc[i]), at, extra...));
        };
      };
    }
  }

  // 16 bits: stmatrix writes 16 rows x 16 columns of a warp at once. Lane i gives the address of row i % 16,
  // columns 8 * (i / 16) on.
  template <class Element, class Panel, class Make>
  constexpr void fill_by_matrices(const Panel& staged, const val<u32>& lane, std::uint32_t p,
                                  const Make& make) const {
    using pair = std::conditional_t<std::is_same_v<Element, f16>, f16x2, bf16x2>;
    const auto place_of_lane = staged.lane(lane % 16u, lane / 16u * 8u, 16);
    for (std::uint32_t c = 0; c < columns; c += 16) {
      const std::uint32_t first = (p * columns + c) / 2;
      const auto element = make(p * columns + c);
      const auto packed = array_of<4>([&](std::uint32_t i) {
        const auto one = element(first + 2 * i), other = element(first + 2 * i + 1);
        return t_.let(pack<pair>(one, other));
      });
      stmatrix_x4(shared_address(staged.at(place_of_lane, 0, c)), packed[0], packed[1], packed[2], packed[3]);
    }
  }

  // 32 bits: each thread writes its pairs.
  template <class Panel, class Make>
  constexpr void fill_by_pairs(const Panel& staged, const val<u32>& lane, std::uint32_t p,
                               const Make& make) const {
    const auto place_of_lane = staged.lane(lane / 4u, lane % 4u * 2u, 8);
    for (std::uint32_t c = 0; c < columns; c += 8) {
      const auto element = make(p * columns + c);
      for (std::uint32_t half = 0; half < 2; ++half) {
        const std::uint32_t first = (p * columns + c) / 2 + 2 * half;
        const auto one = element(first), other = element(first + 1);
        store_vec(staged.at(place_of_lane, 8 * half, c), make_vec(cast<Out>(one), cast<Out>(other)));
      }
    }
  }

  thread t_;
  tensor_map<Out, 3> map_;
  val<output_lines> lines_;
  val<u64> c_address_;
  shared_tiles<Out, sm90_warp_rows, columns, swizzled<row_bytes>, 4 * turns * C.consumers()> staging_;
  factors factors_;
};

template <sm90_config C, class Out, class Epilogue, class Place>
class sm90_finished_store {
 public:
  struct requested {};
  using destination = typename detail::output_of<Out>::template parameter<false>;
  static constexpr std::uint32_t columns = C.n < 32 ? C.n : 32;
  static constexpr std::uint32_t panels = C.n / columns;
  static_assert(C.n % columns == 0 && columns % 8 == 0);

  constexpr sm90_finished_store(thread t, const destination& c, const val<output_lines>& lines,
                                const val<u64>&)
      : t_(t), c_(c), lines_(lines), staging_(t) {}

  template <class... Extra>
  constexpr requested request(const tile_origin&, const Extra&...) const {
    return {};
  }

  // Prefetches to L2 what the store of a tile will read, before its products.
  template <class... Extra>
  constexpr void prefetch(const tile_origin& tile, const Extra&... extra) const {
    if constexpr (
        requires { Epilogue::takes_strips; } &&
        requires(place p, val<u32> n) { Epilogue::prefetch(t_, p, n, n, extra...); }) {
      const Place at(t_, tile, t_.let(warp_rank(t_) * sm90_warp_rows), t_.let(0u));
      const val of_c = t_.let(lines_[&output_lines::rows]),
                columns_of_c = t_.let(lines_[&output_lines::columns]);
      const val own_rows = t_.let(min(of_c - min(at.row.at, of_c), sm90_warp_rows));
      const val own_columns = t_.let(min(columns_of_c - min(at.column.at, columns_of_c), u32{C.n}));
      Epilogue::prefetch(t_, {tile.batch, at.row.at, at.column.at}, own_rows, own_columns, extra...);
    }
  }

  // Stores epilogue(x, place) for each element of the tile to C. Registers have constant numbers, so branches
  // over the panels pick those of one panel, and the epilogue is emitted once.
  template <class Accumulator, class... Extra>
  constexpr void store(const Accumulator& acc, const tile_origin& tile, const requested&,
                       const Extra&... extra) const {
    const val lane = t_.let(lane_id());
    const val warp = warp_rank(t_);
    const val first_row = t_.let(warp * sm90_warp_rows);
    const auto staged = staging_[warp];
    const val row = t_.let(lane / 4u);
    const val column = t_.let(lane % 4u * 2u);
    for (auto p : t_.range(0u, panels))
      if (auto some = t_.when(Place(t_, tile, first_row, t_.let(p * columns)).has_columns(lines_, columns))) {
        for (std::uint32_t known = 0; known < panels; ++known)
          if (auto chosen = t_.when(p == known))
            for (std::uint32_t i = 0; i < columns / 2; i += 2) {
              const std::uint32_t r = known * (columns / 2) + i;
              store_vec(staged[row + acc.row(i)][column + acc.column(i)], make_vec(acc[r], acc[r + 1]));
            }
        sync_warp(t_);
        finish_panel<Epilogue, Out, sm90_warp_rows, columns, most_at_once<C>, Place>(
            t_, c_, lines_, tile, staged, first_row, t_.let(p * columns), extra...);
        sync_warp(t_);
      }
  }

  constexpr void drain() const {}

 private:
  thread t_;
  destination c_;
  val<output_lines> lines_;
  shared_tiles<sum_of_epilogue<Epilogue>, sm90_warp_rows, columns, padded<8>, 4 * C.consumers()> staging_;
};

}  // namespace kaio::ops
