#pragma once
// A grouped product for sm_90a: the main loop of matmul, with tensor copies and wgmma, and tiles that each warp
// finds on the device (common/tiles.hpp). A is one matrix for all groups: its tensor map repeats it along the
// batch, so that a group is a product of a batch. Rows of A after a group's end belong to the next one; they are
// multiplied, and only the group's own rows are stored. Rows may be gathered (loader.hpp).
//
// A tile with at most 64 rows is half a tile: the second warpgroup of consumers idles.
//
// Paired: a tile has the same n / 2 columns of two matrices, for gate_up_grouped.

#include <kaio/ops/matmul_grouped/common/tiles.hpp>
#include <kaio/ops/matmul_grouped/sm90/loader.hpp>
#include <kaio/ops/matmul_grouped/sm90/store.hpp>

#include <cstdint>

namespace kaio::ops {

// Terms: grouped_bias, or grouped_gate if the tiles are paired.
template <class Terms>
struct grouped_sm90_problem {
  grouped_tiles tiles;
  output_lines c;
  u32 k_blocks;  // stages along K, at least one; the last may be partial
  sm90_tile tile;
  u64 c_address;
  grouped_rows_of_a rows;
  Terms terms;
};

template <sm90_config C, scalar T, bool Copied, bool Paired = false>
struct grouped_sm90_body {
  static_assert(C.halves() && !C.has_cluster() && (Copied || !Paired));
  using problem_type = grouped_sm90_problem<std::conditional_t<Paired, grouped_gate, grouped_bias>>;
  using p = problem_type;
  using mainloop = grouped_mainloop<C, T, Paired>;
  using tile_place = sm90_place<sm90_mainloop<C, T>, false, true>;
  using store = std::conditional_t<Paired, grouped_gated_store<C, T, tile_place>,
                                   grouped_store<C, T, tile_place, Copied>>;
  static constexpr u32 columns = Paired ? C.n / 2 : C.n;

  // Rows stay where they are: a copy may reach after the last row of A. Columns move as those of matmul, except in
  // pairs.
  static constexpr tile_part part_of(thread t, const val<p>& problem, const grouped_tile& tile,
                                     const mainloop& loop) {
    const val column = t.let(tile.n * columns);
    const val rows = t.let(min(tile.end - tile.row, C.m)), last = t.let(~0u);
    const val is_whole = t.let(rows > C.warpgroup_rows);
    if constexpr (Paired) {
      const val parts = t.let(0u);
      return {{tile.group, tile.row, column, last, last, rows, t.let(columns), parts, parts}, is_whole};
    } else {
      const tile_origin all = tile_place::origin(t, loop, problem[&p::c], tile.group, tile.row, column);
      return {{all.batch, all.row, all.column, last, all.last_column, rows, all.columns, all.row_parts,
               all.column_parts},
              is_whole};
    }
  }

  template <class Destination>
  static constexpr void run(thread t, const tensor_map<T, 3>& a, const tensor_map<T, 3>& b,
                            const tensor_map<T, 3>& second, const Destination& c, const val<p>& problem) {
    mainloop loop{t, a, b, second, t.let(problem[&p::tile])};
    const store output(t, c, problem[&p::c], problem[&p::c_address]);
    const val is_second = t.let(problem[&p::tile][&sm90_tile::is_second] != 0u);
    const auto rows_of_a = problem[&p::rows];
    const val gathers = t.let(rows_of_a[&grouped_rows_of_a::gather][&grouped_gather::rows] != 0u);
    const val warpgroup = warpgroup_rank(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      loop.prefetch_maps();
      if (auto by_copies = t.when(!gathers)) loop.initialise(mainloop::arrivals);
      if (auto by_warps = t.otherwise()) loop.initialise(mainloop::gathering_arrivals);
    }
    t.barrier();
    launch_dependents(t);
    grid_dependency_wait(t);

    const auto tiles = problem[&p::tiles];
    const val k_blocks = t.let(problem[&p::k_blocks]);
    ring_position at(t);
    grouped_walk<C.m, decltype(tiles)> walk(t, tiles);
    var index(t, block_idx_x());
    if (auto producer = t.when(warpgroup >= C.consumers())) {
      decrease_registers<56>(t);
      if (auto works = t.when(any_of(gathers, warp_rank(t) == 4 * C.consumers()))) {
        for (auto l : t.loop()) {
          const grouped_tile tile = walk.find(t.let(index));
          l.break_if(!tile.exists);
          const tile_part part = part_of(t, problem, tile, loop);
          if (auto by_warps = t.when(gathers)) loop.gather(at, part, k_blocks, tile, rows_of_a);
          if (auto by_copies = t.otherwise())
            if (auto one = t.when(lane_id() == 0u)) loop.copy(at, part, k_blocks);
          index += grid_dim_x();
        }
        loop.finish_gather();
      }
    }
    if (auto consumer = t.otherwise()) {
      increase_registers<224>(t);
      typename mainloop::accumulator acc(t);
      const named_barrier<1> passed(t, 128);
      for (auto l : t.loop()) {
        const grouped_tile tile = walk.find(t.let(index));
        l.break_if(!tile.exists);
        const tile_part part = part_of(t, problem, tile, loop);
        if (auto works = t.when(any_of(part.is_whole, warpgroup == 0u))) {
          loop.multiply(at, acc, warpgroup, k_blocks);
          output.store(acc, part.origin, is_second, t.let(problem[&p::terms]));
        }
        if (auto idles = t.otherwise()) {
          // One thread waits for the stages, and the others for it: a stage's barrier distinguishes two rounds
          // only.
          loop.pass(at, k_blocks);
          passed.sync();
          for (auto block : t.range(0u, k_blocks).no_unroll()) {
            (void)block;
            at.template advance<C.stages>();
          }
        }
        index += grid_dim_x();
      }
      output.drain();
    }
  }
};

template <sm90_config C>
inline constexpr auto grouped_sm90_shape = "_" + decimal<C.m> + "x" + decimal<C.n> + "_s" + decimal<C.stages>;
template <sm90_config C>
inline constexpr kernel_options grouped_sm90_options{
    .target = {90, true}, .large_shared = true, .min_blocks = C.min_blocks};

template <sm90_config C, scalar T, bool Copied>
inline constexpr auto grouped_sm90 =
    kaio::kernel<"matmul_grouped_sm90_" + grouped_store_name<Copied> + grouped_sm90_shape<C>,
                 block_size{C.threads()}, grouped_sm90_options<C>>(
        [](thread t, tensor_map<T, 3> a, tensor_map<T, 3> b,
           typename grouped_sm90_body<C, T, Copied>::store::destination c,
           val<typename grouped_sm90_body<C, T, Copied>::problem_type> problem) {
          grouped_sm90_body<C, T, Copied>::run(t, a, b, b, c, problem);
        });

template <sm90_config C, scalar T>
inline constexpr auto grouped_gate_up_sm90 = kaio::kernel<"gate_up_grouped_sm90_half" + grouped_sm90_shape<C>,
                                                          block_size{C.threads()}, grouped_sm90_options<C>>(
    [](thread t, tensor_map<T, 3> a, tensor_map<T, 3> gate, tensor_map<T, 3> up,
       typename grouped_sm90_body<C, T, true, true>::store::destination c,
       val<typename grouped_sm90_body<C, T, true, true>::problem_type> problem) {
      grouped_sm90_body<C, T, true, true>::run(t, a, gate, up, c, problem);
    });

}  // namespace kaio::ops
