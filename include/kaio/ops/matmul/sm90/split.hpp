#pragma once
// Matmul for sm_90a if C has few tiles. The blocks of a cluster share one tile of C, each with its own part
// of K. They add their sums through distributed shared memory in the order of K, so that results repeat bit
// for bit. Without a split it is the kernel for skinny problems, whose time is that of reading the large
// operand.
//
//   block 0: A[:, 0..]  * B[0.., :]  --+
//   block 1: A[:, k1..] * B[k1.., :] --+--> sum, epilogue, each block a part of the tile --> C
//
// Skinny problems are computed transposed, C^T = B^T * A^T. The 64 rows of wgmma are then columns of C, and
// the few rows of C are its N, which may be as small as 8.

#include <kaio/ops/matmul/common/finish.hpp>
#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/matmul/sm90/any_lines.hpp>
#include <kaio/ops/matmul/sm90/byte_lines.hpp>
#include <kaio/ops/matmul/sm90/mainloop.hpp>
#include <kaio/ops/matmul/sm90/promotion.hpp>
#include <kaio/ops/matmul/sm90/short_lines.hpp>
#include <kaio/ops/matmul/sm90/word_loads.hpp>
#include <kaio/ops/shared/divisor.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

struct sm90_split_config {
  std::uint32_t m = 64, n = 64;  // the tile, as wgmma sees it
  std::uint32_t stages = 8;
  std::uint32_t depth = 1;   // steps of 128 bytes along K per stage
  std::uint32_t splits = 1;  // blocks along K, 1 to 8; 0: the launch gives the number, a power of two
  bool transposed = false;   // A and B are exchanged, and the tile is one of C^T
  bool reuses_ring = false;  // the sums meet in the ring's memory instead of memory of their own
  // Blocks with the same part of K also share tiles of A or B, in the shape that the launch gives. A cluster
  // is then blocks along M x blocks along N x parts of K.
  bool shares = false;
  std::uint32_t min_blocks = 1;  // per multiprocessor
  std::uint32_t raw_stages = 0;  // above 0: lines of A and B begin at any element, see any_lines.hpp
  // Operands that are loaded word by word: f32, see word_loads.hpp; a B of 16 bits, see short_lines.hpp; both
  // operands of 8 bits, see byte_lines.hpp.
  bool loads_a = false, loads_b = false;
  major a = major::k, b = major::k;
  bool a_by_launch = false, b_by_launch = false, type_by_launch = false;  // see sm90_config

  constexpr bool by_launch() const { return splits == 0; }
  constexpr bool has_cluster() const { return splits != 1; }
  constexpr bool any_lines() const { return raw_stages != 0; }
  constexpr bool loads_words() const { return loads_a || loads_b; }
  constexpr sm90_config loop() const {
    return {.m = m,
            .n = n,
            .stages = stages,
            .depth = depth,
            .cluster_m = shares ? 0u : 1u,
            .planes = shares,
            .loads_a = loads_a,
            .loads_b = loads_b,
            .a = a,
            .b = b,
            .a_by_launch = a_by_launch,
            .b_by_launch = b_by_launch,
            .type_by_launch = type_by_launch};
  }
  constexpr sm90_split_config of_kernel() const {
    sm90_split_config result = *this;
    result.a = loop().of_kernel().a;
    result.b = loop().of_kernel().b;
    return result;
  }
  friend constexpr bool operator==(const sm90_split_config&, const sm90_split_config&) = default;
};

struct sm90_split_problem {
  output_lines c;
  u32 k_blocks;       // stages along K, at least one for each split
  divisor tiles_m;    // tiles along the M of wgmma
  u32 a_is_constant;  // 1: no kernel of the stream that may still run writes the A of this one
  u32 split_bits;     // splits = 1 << split_bits, if the launch gives the splits
  sm90_tile tile;
  // For operands of any lines.
  u32 a_shifts = 0, b_shifts = 0, a_is_raw = 0, b_is_raw = 0, a_lines_of_batch = 0, b_lines_of_batch = 0;
  u32 k = 0;
};

namespace detail {
template <sm90_split_config C, scalar T>
struct sm90_split_mainloop {
  using type = sm90_mainloop<C.loop(), T, C.shares>;  // A arrives in boxes that two blocks share
  static constexpr std::uint32_t threads = C.loop().threads();
};
template <sm90_split_config C, scalar T>
  requires(C.any_lines())
struct sm90_split_mainloop<C, T> {
  using type = any_lines_mainloop<C.loop(), T, C.raw_stages>;
  static constexpr std::uint32_t threads = type::threads;
};
template <sm90_split_config C>
  requires(C.loads_words())
struct sm90_split_mainloop<C, f32> {
  using type = word_mainloop<C.loop()>;
  static constexpr std::uint32_t threads = type::threads;
};
template <sm90_split_config C, scalar T>
  requires(C.loads_words() && sizeof(T) == 1)
struct sm90_split_mainloop<C, T> {
  using type = byte_lines_mainloop<C.loop(), T>;
  static constexpr std::uint32_t threads = type::threads;
};
template <sm90_split_config C, scalar T>
  requires(C.loads_words() && sizeof(T) == 2)
struct sm90_split_mainloop<C, T> {
  using type = short_lines_mainloop<C.loop(), T>;
  static constexpr std::uint32_t threads = type::threads;
};
}  // namespace detail

template <sm90_split_config C, scalar T, class Out, class Epilogue>
struct sm90_split_body {
  using mainloop = typename detail::sm90_split_mainloop<C, T>::type;
  static constexpr std::uint32_t rows = C.transposed ? C.n : C.m;  // per tile of C
  static constexpr std::uint32_t columns = C.transposed ? C.m : C.n;
  static constexpr std::uint32_t consumers = 128 * C.loop().consumers();
  using tile_place = sm90_place<mainloop, C.transposed, !promotes<Epilogue>>;
  // A block's inbox has the sums of its own rows from each part of K, in the order of the parts.
  static constexpr bool has_room = !C.reuses_ring || mainloop::free_ring::bytes >= rows * (columns + 4) * 4;
  using layout = std::conditional_t<has_room, dsl::padded<4>, dsl::swizzled<128>>;
  using sum = sum_of<T>;
  using sums = shared_tile<sum, rows, columns, layout>;
  static_assert(C.by_launch() ? std::has_single_bit(rows) && rows >= 8 : rows % C.splits == 0);

  template <class... Extra>
  static constexpr void run(thread t, const typename mainloop::operand_a& a,
                            const typename mainloop::operand_b& b,
                            const typename detail::output_of<Out>::template parameter<false>& c,
                            const val<sm90_split_problem>& problem, const Extra&... extra) {
    const mainloop loop = make_loop(t, a, b, problem);
    const sums inbox = [&] {
      if constexpr (C.reuses_ring)
        return sums::over(loop.free_tiles());
      else
        return sums(t);
    }();
    const val warpgroup = warpgroup_rank(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      loop.prefetch_maps();
      loop.initialise();
    }
    if constexpr (!C.any_lines() && !C.loads_words()) loop.clear_rest();
    t.barrier();
    if constexpr (C.has_cluster()) cluster_arrive_relaxed(t);  // the others may write to the inbox
    launch_dependents(t);
    // A block that shares tiles writes to the rings of others.
    const auto is_alone = shares_nothing(t, loop);
    if constexpr (C.shares)
      if (auto sharing = t.when(!is_alone)) cluster_wait(t);

    // This block's part of K; parts differ by at most one step.
    const val part = rank_of_part(t);
    const auto splits = splits_of(t, problem);
    const auto share = share_of(t, problem);
    const auto own_rows = share.rows;
    const val steps = t.let(problem[&sm90_split_problem::k_blocks] / splits);
    const val longer = t.let(problem[&sm90_split_problem::k_blocks] % splits);
    const val first_step = t.let(part * steps + min(part, longer));
    const val own_steps = t.let(steps + cast<u32>(part < longer));
    const quotient tile = divide(t, index_of_tile(t, splits), problem[&sm90_split_problem::tiles_m]);
    const val batch = batch_of(t);
    const val m = t.let((tile.rest * loop.size_m() + loop.rank_m()) * loop.tile_m()),
              n = t.let((tile.whole * loop.size_n() + loop.rank_n()) * loop.tile_n());
    const tile_origin origin = tile_place::origin(t, loop, problem[&sm90_split_problem::c], batch, m, n);

    if constexpr (C.any_lines()) {
      const val rank = t.thread_rank();
      if (auto copier = t.when(rank == mainloop::first_copier)) {
        grid_dependency_wait(t);
        loop.copy_directly(origin, first_step, own_steps);
      }
      if (auto copier = t.when(rank == mainloop::first_copier + 32)) {
        grid_dependency_wait(t);
        loop.copy_raw(origin, first_step, own_steps);
      }
      if (auto mover = t.when(rank >= mainloop::first_mover))
        loop.move(origin, first_step, own_steps, t.let(problem[&sm90_split_problem::k]));
    } else if constexpr (C.loads_words()) {
      if (auto mover = t.when(t.thread_rank() >= mainloop::first_mover)) {
        if constexpr (mainloop::moves_registers) decrease_registers<mainloop::mover_registers>(t);
        grid_dependency_wait(t);
        if constexpr (sizeof(T) <= 2) {
          loop.move(origin, first_step, own_steps);
        } else {
          auto turn = loop.first_turn();
          loop.move(turn, origin, first_step, own_steps);
        }
      }
    } else if (auto producer = t.when(t.thread_rank() == consumers)) {
      if constexpr (C.shares) {
        grid_dependency_wait(t);
        ring_position at(t);
        loop.load(at, origin, first_step, own_steps);
      } else {
        // While the previous kernel ends, the ring is filled with the operand that does not depend on it.
        const val most = t.let(min(own_steps, problem[&sm90_split_problem::a_is_constant] * C.stages));
        loop.load_a_first(origin, first_step, most);
        grid_dependency_wait(t);
        ring_position at(t);
        loop.load_b_behind(at, origin, first_step, most);
        const val next = t.let(first_step + most);
        loop.load(at, origin, next, t.let(own_steps - most));
      }
    }
    if constexpr (C.shares) {
      if (auto alone = t.when(is_alone)) cluster_wait(t);
    } else if constexpr (C.has_cluster()) {
      cluster_wait(t);
    }
    const val is_consumer = t.let(warpgroup < C.loop().consumers());
    if (auto consumer = t.when(is_consumer)) {
      if constexpr (C.loads_words())
        if constexpr (mainloop::moves_registers) increase_registers<mainloop::consumer_registers>(t);
      grid_dependency_wait(t);
      ring_position at(t);
      typename mainloop::accumulator acc(t);
      if constexpr (promotes<Epilogue>)
        sm90_promotion<mainloop, C.depth, 1, Epilogue, C.transposed>(t, loop, origin, warpgroup,
                                                                     problem[&sm90_split_problem::c],
                                                                     t.let(first_step * C.depth), extra...)
            .multiply(at, acc, own_steps);
      else
        loop.multiply(at, acc, warpgroup, own_steps);
      if constexpr (C.reuses_ring) wait_for_all(t);
      hand_out(t, loop, acc, inbox, part, share, t.thread_rank());
    }
    if constexpr (C.reuses_ring)
      if (auto producer = t.otherwise()) wait_for_all(t);
    // The sums of all blocks have arrived, and no block writes to another any more.
    wait_for_all(t);
    if (auto consumer = t.when(is_consumer)) {
      constexpr std::uint32_t of_row = columns / 4, apart = consumers / of_row;
      constexpr std::uint32_t at_once = rows_of_strip(apart);
      // The lanes that have neighbours of a row; they work together only if all lanes of a warp have the same
      // number of rows.
      constexpr std::uint32_t least_rows = rows / (C.by_launch() ? 8 : C.splits);
      constexpr bool in_order = of_row % 32 == 0 || (32 % of_row == 0 && least_rows % (32 / of_row) == 0);
      constexpr std::uint32_t lanes = in_order ? std::min(of_row, 32u) : 1;
      static_assert(consumers % of_row == 0 && tile_place::part_rows % (apart * at_once) == 0);
      const val column = t.let(t.thread_rank() % of_row * 4u);
      for (auto row : t.range(t.thread_rank() / of_row, own_rows, apart * at_once)) {
        const auto x = total<at_once, apart>(t, inbox, splits, own_rows, t.let(row), column);
        const tile_place at(t, origin, t.let(part * own_rows + row), column);
        const val<output_lines> lines = problem[&sm90_split_problem::c];
        const auto own = at.own(t, lines, t.let(own_rows - row));
        finish_strip<Epilogue, Out>(
            t, c, lines, at.template strip_of<at_once, apart, lanes>(t, origin.batch, own, t.let(0u)), x,
            extra...);
      }
    }
  }

 private:
  static constexpr mainloop make_loop(thread t, const typename mainloop::operand_a& a,
                                      const typename mainloop::operand_b& b,
                                      const val<sm90_split_problem>& problem) {
    return {t, a, b, t.let(problem[&sm90_split_problem::tile])};
  }
  static constexpr void wait_for_all(thread t) {
    if constexpr (C.has_cluster())
      cluster_barrier(t);
    else
      t.barrier();
  }
  // Whether no other block shares this block's tiles.
  static constexpr val<bool> shares_nothing(thread t, const mainloop& loop) {
    if constexpr (C.shares)
      return t.let(loop.size_m() * loop.size_n() == 1u);
    else
      return val<bool>(true);
  }
  // The tile of a block, or of the blocks that share tiles, and its batch.
  template <class Splits>
  static constexpr val<u32> index_of_tile(thread t, const Splits& splits) {
    if constexpr (C.shares)
      return t.let(cluster_idx_x());
    else
      return t.let(block_idx_x() / splits);
  }
  static constexpr val<u32> batch_of(thread t) {
    if constexpr (C.shares)
      return t.let(cluster_idx_z());
    else
      return t.let(block_idx_z());
  }
  static constexpr val<u32> rank_of_part(thread t) {
    if constexpr (C.shares)
      return t.let(block_idx_in_cluster_z());
    else if constexpr (C.has_cluster())
      return cluster_rank(t);
    else
      return t.let(0u);
  }
  // Constants of the kernel, or numbers of the launch.
  static constexpr auto splits_of(thread t, const val<sm90_split_problem>& problem) {
    if constexpr (C.by_launch())
      return val<u32>(t.let(1u << problem[&sm90_split_problem::split_bits]));
    else
      return C.splits;
  }
  // The rows of a tile that one block adds up. owner: the block of a row; place: the row's index among that
  // block's rows.
  struct share_by_launch {
    val<u32> rows, bits;
    constexpr auto owner(thread t, const val<u32>& row) const { return val<u32>(t.let(row >> bits)); }
    constexpr auto place(thread t, const val<u32>& row) const { return val<u32>(t.let(row & (rows - 1u))); }
  };
  struct constant_share {
    static constexpr u32 rows = sm90_split_body::rows / std::max(C.splits, 1u);
    constexpr auto owner(thread t, const val<u32>& row) const { return val<u32>(t.let(row / rows)); }
    constexpr auto place(thread t, const val<u32>& row) const { return val<u32>(t.let(row % rows)); }
  };
  static constexpr auto share_of(thread t, const val<sm90_split_problem>& problem) {
    if constexpr (C.by_launch()) {
      const val bits = t.let(problem[&sm90_split_problem::split_bits]);
      return share_by_launch{t.let(rows >> bits), t.let(std::countr_zero(rows) - bits)};
    } else {
      return constant_share{};
    }
  }

  // Sends each accumulator of a warpgroup to the block that owns its row.
  template <class Accumulator, class Share>
  static constexpr void hand_out(thread t, const mainloop& loop, const Accumulator& acc, const sums& inbox,
                                 const val<u32>& part, const Share& share, const val<u32>& rank) {
    // The block that adds up a row.
    const auto owner_of = [&](const val<u32>& of_tile) {
      if constexpr (C.shares)
        return loop.rank_in_plane(share.owner(t, of_tile));
      else
        return share.owner(t, of_tile);
    };
    const val lane = t.let(rank % 32u);
    const val row = t.let(rank / 32u * 16u + lane / 4u);
    const val column = t.let(lane % 4u * 2u);
    // Where the owner of a row keeps this part's sums of it.
    const auto row_of_part = [&](const val<u32>& of_tile) {
      return t.let(part * share.rows + share.place(t, of_tile));
    };
    if constexpr (C.transposed) {
      for (std::uint32_t i = 0; i < Accumulator::size(); ++i) {
        const val across = t.let(column + Accumulator::column(i));
        const val down = t.let(row + Accumulator::row(i));
        const auto cell_of_part = inbox[row_of_part(across)][down];
        hand_one(cell_of_part, owner_of(across), [&](const auto& cell) { cell = acc[i]; });
      }
    } else {
      for (const std::uint32_t below : {0u, 8u}) {  // a thread's two rows
        const val own_row = t.let(row + below);
        const auto first = inbox.lane(row_of_part(own_row), column, 8);
        const val owner = owner_of(own_row);
        for (std::uint32_t i = 0; i < Accumulator::size(); i += 2)
          if (Accumulator::row(i) == below)
            hand_one(inbox.at(first, 0, Accumulator::column(i)), owner,
                     [&](const auto& cell) { store_vec(cell, make_vec(acc[i], acc[i + 1])); });
      }
    }
  }
  template <class Cell, class Store>
  static constexpr void hand_one(const Cell& cell, const val<u32>& owner, const Store& store) {
    if constexpr (C.splits == 1)
      store(cell);
    else
      store(remote(cell, owner));
  }

  // Rows that a thread finishes together: at most those that it has with the largest number of splits.
  static constexpr std::uint32_t rows_of_strip(std::uint32_t apart) {
    constexpr std::uint32_t own_rows = rows / (C.by_launch() ? 8 : C.splits);
    std::uint32_t result = rows_at_once<Epilogue>;
    while (result > 1 && own_rows < apart * result) result /= 2;
    return result;
  }

  // The sums of all parts, in their order, for rows that are `Apart` from each other. Rows past the block's
  // own repeat its last one.
  template <std::uint32_t Together, std::uint32_t Apart, class Splits, class Rows>
  static constexpr auto total(thread t, const sums& inbox, const Splits& splits, const Rows& own_rows,
                              const val<u32>& row, const val<u32>& column) {
    const auto line =
        array_of<Together>([&](u32 i) { return i == 0 ? row : t.let(min(row + i * Apart, own_rows - 1u)); });
    const auto first = array_of<Together>([&](u32 i) { return load_vec<4>(inbox[line[i]][column]); });
    auto all = array_of<4 * Together>([&](u32 i) { return var<sum>(t, first[i / 4][i % 4]); });
    const auto add = [&](const auto& part) {
      const auto next =
          array_of<Together>([&](u32 i) { return load_vec<4>(inbox[line[i] + part * own_rows][column]); });
      for (u32 i = 0; i < 4 * Together; ++i) all[i] += next[i / 4][i % 4];
    };
    if constexpr (C.by_launch())
      for (auto s : t.range(1u, splits)) add(s);
    else
      for (u32 s = 1; s < C.splits; ++s) add(s);
    return array_of<4 * Together>([&](u32 i) { return val<sum>(t.let(all[i])); });
  }
};

// For operands of any lines: eight tensor maps each.
template <sm90_split_config C, scalar T, bool LoadsWords>
using sm90_split_inputs =
    std::conditional_t<C.any_lines(),
                       sm90_inputs<tensor_map<T, 3>, tensor_map<T, 3>, tensor_map<T, 3>, tensor_map<T, 3>,
                                   tensor_map<T, 3>, tensor_map<T, 3>, tensor_map<T, 3>, tensor_map<T, 3>>,
                       sm90_inputs_of<T, LoadsWords>>;

template <sm90_split_config C, scalar T, class Out, class Epilogue, class A, class B, class Parameters>
struct sm90_split_kernel;

template <sm90_split_config C, scalar T, class Out, class Epilogue, class... A, class... B, class... Extra>
struct sm90_split_kernel<C, T, Out, Epilogue, sm90_inputs<A...>, sm90_inputs<B...>,
                         epilogue_parameters<Extra...>> {
  using output = detail::output_of<Out>;
  static constexpr auto name = "matmul_sm90_split" +
                               [] {
                                 if constexpr (C.by_launch())
                                   return fixed_string("n");
                                 else
                                   return decimal<C.splits>;
                               }() +
                               "_" + sm90_operand_name_of<C, T> + "_" + output::name + "_" +
                               layout_name_of<C> +
                               (C.transposed ? fixed_string("_across_") : fixed_string("_direct_")) +
                               [] {
                                 if constexpr (C.any_lines())
                                   return fixed_string("anywhere_");
                                 else
                                   return loads_name<C.loop()>;
                               }() +
                               decimal<C.m> + "x" + decimal<C.n> + "x" + decimal<C.depth> + "_s" +
                               decimal<C.stages> + "_" + epilogue_name<Epilogue>;
  static constexpr kernel_options options{
      .target = {90, true},
      .large_shared = true,
      .cluster = C.splits <= 1 ? block_size{0, 0, 0} : block_size{C.splits},
      .min_blocks = C.min_blocks};
  static constexpr auto kernel =
      kaio::kernel<name, block_size{detail::sm90_split_mainloop<C, T>::threads}, options>(
          [](thread t, A... a, B... b, typename output::template parameter<false> c,
             val<sm90_split_problem> problem, Extra... extra) {
            using body = sm90_split_body<C, T, Out, Epilogue>;
            if constexpr (C.any_lines()) {
              const any_lines<T> of_a{{a...},
                                      t.let(problem[&sm90_split_problem::a_shifts]),
                                      t.let(problem[&sm90_split_problem::a_is_raw] != 0u),
                                      t.let(problem[&sm90_split_problem::a_lines_of_batch])};
              const any_lines<T> of_b{{b...},
                                      t.let(problem[&sm90_split_problem::b_shifts]),
                                      t.let(problem[&sm90_split_problem::b_is_raw] != 0u),
                                      t.let(problem[&sm90_split_problem::b_lines_of_batch])};
              body::run(t, of_a, of_b, c, problem, extra...);
            } else {
              using mainloop = typename body::mainloop;
              body::run(t, typename mainloop::operand_a{a...}, typename mainloop::operand_b{b...}, c, problem,
                        extra...);
            }
          });
};

template <sm90_split_config C, scalar T, class Out, class Epilogue>
inline constexpr auto sm90_split_matmul = sm90_split_kernel<
    C.of_kernel(), sm90_element<C, T>, Out, Epilogue, sm90_split_inputs<C, sm90_element<C, T>, C.loads_a>,
    sm90_split_inputs<C, sm90_element<C, T>, C.loads_b>, parameters_of_epilogue<Epilogue>>::kernel;

}  // namespace kaio::ops
