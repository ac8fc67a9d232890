#pragma once
// A grouped product of operands of 8 bits for sm_90a: the main loop and the epilogues of matmul_fp8 and
// matmul_int8, and tiles that each warp finds on the device (matmul_grouped/common). A is one matrix for all
// groups: its tensor map repeats it along the batch, so that a group is a product of a batch. Rows of A after
// a group's end belong to the next one; they are multiplied, and only the group's own rows are stored. Rows may be
// gathered (matmul_grouped/sm90/loader.hpp).
//
// A tile with at most 64 rows is half a tile: the second warpgroup of consumers idles.

#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/matmul/sm90/promotion.hpp>
#include <kaio/ops/matmul/sm90/store.hpp>
#include <kaio/ops/matmul_8bit_grouped/common/epilogue.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>
#include <kaio/ops/matmul_grouped/sm90/loader.hpp>

#include <cstdint>

namespace kaio::ops {

struct grouped_bytes_sm90_problem {
  grouped_tiles tiles;
  output_lines c;
  u32 k_blocks;  // stages along K, at least one; the last may be partial
  sm90_tile tile;
  grouped_rows_of_a rows;
};

// Epilogue: that of common/epilogue.hpp; its batch is the group.
template <sm90_config C, scalar T, class Epilogue>
struct grouped_bytes_sm90_body {
  static_assert(C.halves() && !C.has_cluster() && sizeof(T) == 1);
  using p = grouped_bytes_sm90_problem;
  using mainloop = grouped_mainloop<C, T, false>;
  using tile_place = sm90_place<sm90_mainloop<C, T>, false, false>;
  using store = sm90_finished_store<C, grouped_bytes_output<sum_of_epilogue<Epilogue>>, Epilogue, tile_place>;

  // Parts stay where they are: a copy may reach after the last row of A.
  static constexpr tile_origin origin_of(thread t, const val<p>& problem, const grouped_tile& tile,
                                         const mainloop& loop) {
    const val column = t.let(tile.n * C.n);
    const tile_origin all = tile_place::origin(t, loop, problem[&p::c], tile.group, tile.row, column);
    return {all.batch,    all.row,         all.column,
            all.last_row, all.last_column, t.let(min(tile.end - tile.row, C.m)),
            all.columns,  all.row_parts,   all.column_parts};
  }
  static constexpr val<bool> is_whole(thread t, const grouped_tile& tile) {
    return t.let(tile.end - tile.row > C.warpgroup_rows);
  }

  static constexpr void run(thread t, const tensor_map<T, 3>& a, const tensor_map<T, 3>& b,
                            const typename store::destination& c, const val<p>& problem,
                            const val<grouped_bytes_terms>& terms) {
    mainloop loop{t, a, b, b, t.let(problem[&p::tile])};
    const store output(t, c, problem[&p::c], t.let(u64{0}));
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
      decrease_registers<40>(t);
      if (auto works = t.when(any_of(gathers, warp_rank(t) == 4 * C.consumers()))) {
        for (auto l : t.loop()) {
          const grouped_tile tile = walk.find(t.let(index));
          l.break_if(!tile.exists);
          const tile_part part{origin_of(t, problem, tile, loop), is_whole(t, tile)};
          if (auto by_warps = t.when(gathers)) loop.gather(at, part, k_blocks, tile, rows_of_a);
          if (auto by_copies = t.otherwise())
            if (auto one = t.when(lane_id() == 0u)) loop.copy(at, part, k_blocks);
          index += grid_dim_x();
        }
        loop.finish_gather();
      }
    }
    if (auto consumer = t.otherwise()) {
      increase_registers<232>(t);
      typename mainloop::accumulator acc(t);
      const named_barrier<1> passed(t, 128);
      for (auto l : t.loop()) {
        const grouped_tile tile = walk.find(t.let(index));
        l.break_if(!tile.exists);
        if (auto works = t.when(any_of(is_whole(t, tile), warpgroup == 0u))) {
          const tile_origin origin = origin_of(t, problem, tile, loop);
          if constexpr (promotes<Epilogue>)
            sm90_promotion<mainloop, C.depth, 2, Epilogue, false>(t, loop, origin, warpgroup, problem[&p::c],
                                                                  t.let(0u), terms)
                .multiply(at, acc, k_blocks);
          else
            loop.multiply(at, acc, warpgroup, k_blocks);
          output.store(acc, origin, {}, terms);
        }
        if (auto idles = t.otherwise()) {
          // One thread waits for the stages, and the others for it: a stage's barrier distinguishes two
          // rounds only.
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

template <sm90_config C, scalar T, class Epilogue>
struct grouped_bytes_sm90_kernel {
  using body = grouped_bytes_sm90_body<C, T, Epilogue>;
  static constexpr auto name = "matmul_grouped_sm90_" + type_name<T> + "_" + decimal<C.m> + "x" +
                               decimal<C.n> + "_s" + decimal<C.stages> + "_" + epilogue_name<Epilogue>;
  static constexpr kernel_options options{
      .target = {90, true}, .large_shared = true, .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, tensor_map<T, 3> a, tensor_map<T, 3> b, typename body::store::destination c,
         val<grouped_bytes_sm90_problem> problem,
         val<grouped_bytes_terms> terms) { body::run(t, a, b, c, problem, terms); });
};

// Launched with at most a block for each tile that the groups may have; the launch may be programmatic.
template <sm90_config C, scalar T, class Epilogue>
inline constexpr auto grouped_bytes_sm90 = grouped_bytes_sm90_kernel<C, T, Epilogue>::kernel;

}  // namespace kaio::ops
