#pragma once
// A grouped product of operands of 8 bits for sm_90a: the main loop and the epilogues of matmul_fp8 and
// matmul_int8, and tiles that each warp finds on the device (matmul_grouped/common). A is one matrix for all
// groups: its tensor map repeats it along the batch, so that a group is a product of a batch. Rows of A after
// a group's end belong to the next one; they are multiplied, and only the group's own rows are stored.
//
// A tile with at most 64 rows is half a tile: the second warpgroup of consumers idles.

#include <kaio/ops/matmul/sm90/mainloop.hpp>
#include <kaio/ops/matmul/sm90/promotion.hpp>
#include <kaio/ops/matmul/sm90/store.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>

#include <cstdint>

namespace kaio::ops {

struct grouped_bytes_sm90_problem {
  grouped_tiles tiles;
  output_lines c;
  u32 k_blocks;  // stages along K, at least one; the last may be partial
  sm90_tile tile;
};

// Epilogue: takes the arguments `extra` of a call; its batch is the group.
template <sm90_config C, scalar T, class Out, class Epilogue>
struct grouped_bytes_sm90_body {
  static_assert(C.halves() && !C.has_cluster() && sizeof(T) == 1);
  using p = grouped_bytes_sm90_problem;
  using mainloop = sm90_mainloop<C, T>;
  using tile_place = sm90_place<mainloop, false, false>;
  using store = sm90_finished_store<C, Out, Epilogue, tile_place>;

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

  template <class... Extra>
  static constexpr void run(thread t, const typename mainloop::operand_a& a,
                            const typename mainloop::operand_b& b, const typename store::destination& c,
                            const val<p>& problem, const Extra&... extra) {
    const mainloop loop{t, a, b, t.let(problem[&p::tile])};
    const store output(t, c, problem[&p::c], t.let(u64{0}));
    const val warpgroup = warpgroup_rank(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      loop.prefetch_maps();
      loop.initialise();
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
      if constexpr (C.whole_producer) decrease_registers<40>(t);
      if (auto works = t.when(warp_rank(t) == 4 * C.consumers()))
        for (auto l : t.loop()) {
          const grouped_tile tile = walk.find(t.let(index));
          l.break_if(!tile.exists);
          if (auto one = t.when(lane_id() == 0u))
            loop.load(at, tile_part{origin_of(t, problem, tile, loop), is_whole(t, tile)}, k_blocks);
          index += grid_dim_x();
        }
    }
    if (auto consumer = t.otherwise()) {
      if constexpr (C.whole_producer) increase_registers<232>(t);
      typename mainloop::accumulator acc(t);
      const named_barrier<1> passed(t, 128);
      for (auto l : t.loop()) {
        const grouped_tile tile = walk.find(t.let(index));
        l.break_if(!tile.exists);
        if (auto works = t.when(any_of(is_whole(t, tile), warpgroup == 0u))) {
          const tile_origin origin = origin_of(t, problem, tile, loop);
          if constexpr (promotes<Epilogue>)
            sm90_promotion<mainloop, C.depth, 2, Epilogue, false>(t, loop, origin, warpgroup, problem[&p::c],
                                                                  t.let(0u), extra...)
                .multiply(at, acc, k_blocks);
          else
            loop.multiply(at, acc, warpgroup, k_blocks);
          output.store(acc, origin, {}, extra...);
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

template <sm90_config C, scalar T, class Out, class Epilogue, class Parameters>
struct grouped_bytes_sm90_kernel;

template <sm90_config C, scalar T, class Out, class Epilogue, class... Extra>
struct grouped_bytes_sm90_kernel<C, T, Out, Epilogue, epilogue_parameters<Extra...>> {
  using body = grouped_bytes_sm90_body<C, T, Out, Epilogue>;
  static constexpr auto name = "matmul_grouped_sm90_" + type_name<T> + "_" + decimal<C.m> + "x" +
                               decimal<C.n> + "_s" + decimal<C.stages> + "_" + epilogue_name<Epilogue>;
  static constexpr kernel_options options{
      .target = {90, true}, .large_shared = true, .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, tensor_map<T, 3> a, tensor_map<T, 3> b, typename body::store::destination c,
         val<grouped_bytes_sm90_problem> problem,
         Extra... extra) { body::run(t, a, b, c, problem, extra...); });
};

// Launched with at most a block for each tile that the groups may have; the launch may be programmatic.
template <sm90_config C, scalar T, class Out, class Epilogue>
inline constexpr auto grouped_bytes_sm90 =
    grouped_bytes_sm90_kernel<C, T, Out, Epilogue, parameters_of_epilogue<Epilogue>>::kernel;

}  // namespace kaio::ops
