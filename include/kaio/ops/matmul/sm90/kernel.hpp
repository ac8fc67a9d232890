#pragma once
// Matmul for sm_90a: persistent, warp-specialised, with tensor copies and wgmma.
//
//   C[b] = epilogue(A[b] * B[b])      A: M x K, B: K x N, C: M x N, each by a tensor map of three dimensions
//
// The clusters that fit on the device at once walk over the tiles of C. In every block the consumer
// warpgroups have 64 rows each, and the last warp is the producer. It runs ahead into the next tile while the
// consumers store the last one.
//
// If the last wave would leave half of the clusters or more without a tile, its tiles are computed in halves
// of 64 rows per block, by twice the number of clusters:
//
//   cluster   0    1    2    3
//             t0   t1   t2   t3
//             t4   t5   t6   t7
//             t8a  t8b  t9a  t9b

#include <kaio/ops/matmul/sm90/mainloop.hpp>
#include <kaio/ops/matmul/sm90/promotion.hpp>
#include <kaio/ops/matmul/sm90/store_for.hpp>
#include <kaio/ops/matmul/sm90/word_loads.hpp>
#include <kaio/ops/shared/tile_scheduler.hpp>

#include <cstdint>

namespace kaio::ops {

struct sm90_problem {
  tile_scheduler scheduler;  // over the tiles of clusters
  output_lines c;
  u32 k_blocks;     // stages along K, at least one; the last may be partial
  u32 whole_tiles;  // these come first; the others are computed in halves
  u32 parts;        // whole tiles and halves
  sm90_tile tile;
  u64 c_address;

  // The tiles left after the last full wave of `clusters` are computed in halves, if there is a cluster for
  // each half.
  static constexpr sm90_problem of(const tile_scheduler& scheduler, const output_lines& c, u32 k_blocks,
                                   std::uint64_t clusters, bool in_halves, const sm90_tile& tile,
                                   u64 c_address) {
    const auto rest = static_cast<u32>(scheduler.tiles % clusters);
    const u32 halved = in_halves && 2 * std::uint64_t{rest} <= clusters ? rest : 0;
    return {scheduler, c, k_blocks, scheduler.tiles - halved, scheduler.tiles + halved, tile, c_address};
  }
};

// The products of a batch in their order, with operands that are complete when the kernel begins. Another order, or
// operands that arrive later, are a policy with these two functions: ops/distributed/peer/gathered_matmul.hpp.
struct sm90_batch_order {
  // The product of the batch that comes at place `index`.
  constexpr const val<u32>& product(const val<u32>& index) const { return index; }
  // The producer calls it for each of its tiles. Calls load(loop) once the operands of the product are there.
  template <class Mainloop, class Load>
  constexpr void when_there(const Mainloop& loop, const val<u32>&, const Load& load) const {
    load(loop);
  }
};

namespace detail {
template <sm90_config C, scalar T>
struct sm90_whole_mainloop {
  using type = sm90_mainloop<C, T>;
  static constexpr std::uint32_t threads = C.threads();
};
template <sm90_config C>
  requires(C.loads_words())
struct sm90_whole_mainloop<C, f32> {
  using type = word_mainloop<C>;
  static constexpr std::uint32_t threads = type::threads;
};
}  // namespace detail

template <sm90_config C, scalar T, class Out, class Epilogue>
struct sm90_matmul_body {
  using mainloop = typename detail::sm90_whole_mainloop<C, T>::type;
  using tile_place = sm90_place<mainloop, C.transposed, !promotes<Epilogue>>;
  using store = sm90_store_for<C, Out, Epilogue, tile_place>;

  template <class Order>
  static constexpr tile_origin origin_of(thread t, const val<sm90_problem>& problem, const val<u32>& index,
                                         const mainloop& loop, const Order& order) {
    const tile_index tile = tile_at(t, problem[&sm90_problem::scheduler], index);
    const val<u32>& batch = order.product(tile.batch);
    const val m = t.let((tile.m * loop.size_m() + loop.rank_m()) * loop.tile_m());
    const val n = t.let((tile.n * loop.size_n() + loop.rank_n()) * loop.tile_n());
    return tile_place::origin(t, loop, problem[&sm90_problem::c], batch, m, n);
  }
  static constexpr val<bool> is_whole(thread t, const val<sm90_problem>& problem, const val<u32>& index) {
    return t.let(index < problem[&sm90_problem::whole_tiles]);
  }
  // A half is half of all rows of a cluster's tile; the cluster's blocks share it as they share a whole tile.
  template <class Order>
  static constexpr tile_part part_of(thread t, const val<sm90_problem>& problem, const val<u32>& index,
                                     const mainloop& loop, const Order& order) {
    const val whole_tiles = t.let(problem[&sm90_problem::whole_tiles]);
    const val whole = is_whole(t, problem, index);
    const val half = t.let(index - whole_tiles);
    const tile_index tile =
        tile_at(t, problem[&sm90_problem::scheduler], t.let(select(whole, index, whole_tiles + half / 2u)));
    const val<u32>& batch = order.product(tile.batch);
    const val first = t.let(tile.m * (loop.size_m() * C.m));
    const val row = t.let(
        select(whole, loop.rank_m() * C.m, (half % 2u * loop.size_m() + loop.rank_m()) * C.warpgroup_rows));
    const val m = t.let(first + row);
    const val n = t.let((tile.n * loop.size_n() + loop.rank_n()) * loop.tile_n());
    return {tile_place::origin(t, loop, problem[&sm90_problem::c], batch, m, n), whole};
  }

  // `c` is a tensor map of C, or its memory.
  template <class Destination, class... Extra>
  static constexpr void run(thread t, const typename mainloop::operand_a& a,
                            const typename mainloop::operand_b& b, const Destination& c,
                            const val<sm90_problem>& problem, const Extra&... extra) {
    sm90_batch_order order;
    run_in(order, t, a, b, c, problem, extra...);
  }
  template <class Order, class Destination, class... Extra>
  static constexpr void run_in(Order& order, thread t, const typename mainloop::operand_a& a,
                               const typename mainloop::operand_b& b, const Destination& c,
                               const val<sm90_problem>& problem, const Extra&... extra) {
    const mainloop loop = make_loop(t, a, b, problem);
    store output(t, c, problem[&sm90_problem::c], problem[&sm90_problem::c_address]);
    const val warpgroup = warpgroup_rank(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      loop.prefetch_maps();
      if constexpr (works_in_registers<Epilogue>) prefetch(c);
      loop.initialise();
    }
    if constexpr (!C.loads_words()) loop.clear_rest();
    wait_for_all(t, loop);
    launch_dependents(t);
    grid_dependency_wait(t);

    const val cluster = cluster_of(t);
    const val clusters = clusters_of(t);
    const val parts = t.let(problem[&sm90_problem::parts]);
    const val k_blocks = t.let(problem[&sm90_problem::k_blocks]);

    if (auto producer = t.when(warpgroup >= C.consumers())) {
      if constexpr (C.loads_words()) {
        if constexpr (mainloop::moves_registers) decrease_registers<mainloop::mover_registers>(t);
        auto turn = loop.first_turn();
        const val zero = t.let(0u);
        for (auto index : t.range(cluster, parts, clusters))
          loop.move(turn, origin_of(t, problem, t.let(index), loop, order), zero, k_blocks);
      } else {
        if constexpr (C.whole_producer) decrease_registers<24>(t);
        if (auto one = t.when(t.thread_rank() == 128 * C.consumers())) {
          ring_position at(t);
          const val zero = t.let(0u);
          for (auto index : t.range(cluster, parts, clusters))
            if constexpr (C.halves()) {
              const tile_part part = part_of(t, problem, t.let(index), loop, order);
              order.when_there(loop, part.origin.batch,
                               [&](const mainloop& from) { from.load(at, part, k_blocks); });
            } else {
              const tile_origin tile = origin_of(t, problem, t.let(index), loop, order);
              order.when_there(loop, tile.batch,
                               [&](const mainloop& from) { from.load(at, tile, zero, k_blocks); });
            }
          if constexpr (C.has_cluster()) loop.wait_for_readers(at);
        }
      }
    }
    if (auto consumer = t.otherwise()) {
      if constexpr (C.whole_producer) increase_registers<240>(t);
      if constexpr (C.loads_words())
        if constexpr (mainloop::moves_registers) increase_registers<mainloop::consumer_registers>(t);
      ring_position at(t);
      typename mainloop::accumulator acc(t);
      // Narrow products do not write these columns; the store reads them and drops them.
      if constexpr (C.widths != 1)
        for (u32 i = C.width(C.widths - 1) / 2; i < C.n / 2; ++i) acc[i] = sum_of<T>{};
      if constexpr (adds_tile_terms<Epilogue>) output.initialise(extra...);
      for (auto index : t.range(cluster, parts, clusters)) {
        // origin() computes the tile's origin again once the sums are there: before, registers are short.
        const auto compute = [&](const auto& origin) {
          if constexpr (adds_tile_terms<Epilogue>) {
            const val begun = output.begin(acc, origin(), extra...);
            loop.multiply(at, acc, warpgroup, k_blocks, columns_of(origin), begun);
            output.store(acc, origin(), extra...);
          } else if constexpr (works_in_registers<Epilogue> || promotes<Epilogue>) {
            const tile_origin tile = origin();
            const auto requested = output.request(tile, extra...);
            if constexpr (promotes<Epilogue>)
              sm90_promotion<mainloop, C.depth, C.whole_producer && C.n <= promoted_k ? 2 : 1, Epilogue,
                             false>(t, loop, tile, warpgroup, problem[&sm90_problem::c], t.let(0u), extra...)
                  .multiply(at, acc, k_blocks);
            else
              loop.multiply(at, acc, warpgroup, k_blocks, columns_of([&] { return tile; }));
            output.store(acc, tile, requested, extra...);
          } else {
            output.prefetch(origin(), extra...);
            loop.multiply(at, acc, warpgroup, k_blocks, columns_of(origin));
            output.store(acc, origin(), {}, extra...);
          }
        };
        if constexpr (C.halves()) {
          const val has_rows = t.let(any_of(is_whole(t, problem, t.let(index)), warpgroup == 0u));
          if (auto works = t.when(has_rows))
            compute([&] { return part_of(t, problem, t.let(index), loop, order).origin; });
          if (auto idles = t.otherwise()) loop.pass(at, k_blocks);
        } else {
          compute([&] { return origin_of(t, problem, t.let(index), loop, order); });
        }
      }
      output.drain();
    }
  }

  // The columns of a tile that its products need.
  template <class Origin>
  static constexpr val<u32> columns_of(const Origin& origin) {
    if constexpr (C.widths == 1)
      return val<u32>(C.n);
    else
      return origin().columns;
  }

  // The fence of `initialise` makes the barriers visible to the cluster. The block's barrier makes what
  // `clear_rest` wrote visible to the block.
  static constexpr void wait_for_all(thread t, const mainloop& loop) {
    const auto of_cluster = [&] {
      cluster_arrive_relaxed(t);
      t.barrier();
      cluster_wait(t);
    };
    if constexpr (C.by_launch()) {
      if (auto shares = t.when(loop.size_m() * loop.size_n() != 1u)) of_cluster();
      if (auto alone = t.otherwise()) t.barrier();
    } else if constexpr (C.has_cluster()) {
      of_cluster();
    } else {
      t.barrier();
    }
  }
  static constexpr mainloop make_loop(thread t, const typename mainloop::operand_a& a,
                                      const typename mainloop::operand_b& b,
                                      const val<sm90_problem>& problem) {
    return {t, a, b, t.let(problem[&sm90_problem::tile])};
  }
  // The index of this block's cluster in the grid, and the number of clusters.
  static constexpr val<u32> cluster_of(thread t) {
    if constexpr (C.by_launch())
      return t.let(cluster_idx_x());
    else
      return t.let(block_idx_x() / C.cluster_blocks());
  }
  static constexpr val<u32> clusters_of(thread t) {
    if constexpr (C.by_launch())
      return t.let(grid_dim_in_clusters_x());
    else
      return t.let(grid_dim_x() / C.cluster_blocks());
  }
};

template <sm90_config C>
inline constexpr auto producer_name = [] {
  if constexpr (C.whole_producer)
    return fixed_string("_w");
  else
    return fixed_string("");
}();

template <sm90_config C>
inline constexpr auto transposed_name = [] {
  if constexpr (C.transposed)
    return fixed_string("_transposed");
  else
    return fixed_string("");
}();

template <sm90_config C>
inline constexpr auto cluster_m_name = [] {
  if constexpr (C.by_launch())
    return fixed_string("n");
  else
    return decimal<C.cluster_m>;
}();

// The kernel with the parameters that its operands and its epilogue take.
template <sm90_config C, scalar T, class Out, class Epilogue, class A, class B, class Signature>
struct sm90_matmul_kernel;

template <sm90_config C, scalar T, class Out, class Epilogue, class... A, class... B, class... Extra>
struct sm90_matmul_kernel<C, T, Out, Epilogue, sm90_inputs<A...>, sm90_inputs<B...>,
                          epilogue_parameters<Extra...>> {
  static constexpr auto name =
      "matmul_sm90_" + sm90_operand_name_of<C, T> + "_" + detail::output_of<Out>::name + "_" +
      layout_name_of<C> + transposed_name<C> + "_" + loads_name<C> + decimal<C.m> + "x" + decimal<C.n> + "x" +
      decimal<C.depth> + "_s" + decimal<C.stages> + "_c" + cluster_m_name<C> + "x" + decimal<C.cluster_n> +
      "_b" + decimal<C.min_blocks> + producer_name<C> + "_" + epilogue_name<Epilogue>;
  static constexpr kernel_options options{
      .target = {90, true},
      .large_shared = true,
      .cluster = C.cluster_blocks() <= 1 ? block_size{0, 0, 0} : block_size{C.cluster_blocks()},
      .min_blocks = C.min_blocks};
  using destination = typename sm90_matmul_body<C, T, Out, Epilogue>::store::destination;
  static constexpr auto kernel =
      kaio::kernel<name, block_size{detail::sm90_whole_mainloop<C, T>::threads}, options>(
          [](thread t, A... a, B... b, destination c, val<sm90_problem> problem, Extra... extra) {
            using body = sm90_matmul_body<C, T, Out, Epilogue>;
            using mainloop = typename body::mainloop;
            body::run(t, typename mainloop::operand_a{a...}, typename mainloop::operand_b{b...}, c, problem,
                      extra...);
          });
};

template <sm90_config C, scalar T, class Out, class Epilogue>
inline constexpr auto sm90_matmul = sm90_matmul_kernel<
    C.of_kernel(), sm90_element<C, T>, Out, Epilogue, sm90_inputs_of<sm90_element<C, T>, C.loads_a>,
    sm90_inputs_of<sm90_element<C, T>, C.loads_b>, parameters_of_epilogue<Epilogue>>::kernel;

}  // namespace kaio::ops
