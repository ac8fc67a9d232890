#pragma once
// The common part of the f32 matmul kernels, however their operands are copied to shared memory. It has the
// tile of C, a thread's rows and columns, and the products of a tile. store.hpp takes the sums to C.

#include <kaio/dsl/block/grid_dependency.hpp>
#include <kaio/ops/matmul/simt/config.hpp>
#include <kaio/ops/matmul/simt/rows.hpp>

#include <cstdint>

namespace kaio::ops {

template <simt_config C>
struct simt_block {
  static_assert(C.valid(), "kaio: this tile shape of a matmul is none that the kernel can run");
  static_assert(C.thread_m >= C.thread_n, "kaio: a thread has at least as many rows as columns");
  using rows_of_a = simt_rows<C.a, simt_config::lanes_m>;
  using rows_of_b = simt_rows<C.b, simt_config::lanes_n>;

  // The place of the block: its batch, its split (counted over all batches), its tile and its range of K.
  struct origin {
    val<u32> batch, part, row, column, k_first, k_last;
  };
  static constexpr origin find(thread t, const val<simt_problem>& problem) {
    const tile_index tile = tile_at(t, problem[&simt_problem::scheduler], tile_number(t, problem));
    const quotient part = divide(t, tile.batch, problem[&simt_problem::splits]);
    const val k = t.let(problem[&simt_problem::k]);
    const val k_first = t.let(min(split_of(t, problem, part.rest) * problem[&simt_problem::k_of_split], k));
    return {part.whole,          tile.batch, t.let(tile.m * C.m),
            t.let(tile.n * C.n), k_first,    t.let(min(k_first + problem[&simt_problem::k_of_split], k))};
  }

  // Called before the first access to memory that the previous kernel may write. The condition always holds;
  // it makes ptxas compute the origin before the wait and not after it.
  static constexpr void wait(thread t, const origin& at, const val<simt_problem>& problem) {
    const val inside =
        t.let(all_of(at.row < problem[&simt_problem::m], at.column < problem[&simt_problem::n]));
    if (auto always = t.when(all_of(inside, at.k_first <= at.k_last))) grid_dependency_wait(t);
  }

  // The first row and column of a thread in its block. Neighbouring lanes share a row, lanes two apart a
  // column: a load of 16 bytes by all lanes of a warp is then one access to shared memory. `k`: the first
  // step of its group in a tile.
  struct lanes {
    val<u32> row, column, k;
  };
  static constexpr lanes lanes_of(thread t) {
    const val lane = t.let(lane_id());
    const val warp = t.let(t.thread_rank() % C.group_threads() / 32u);
    const val row = rows_of_a::first(t, t.let((lane >> 1 & 1) | (lane >> 3 & 2)));
    const val column = rows_of_b::first(t, t.let((lane & 1) | (lane >> 1 & 6)));
    return {t.let(warp / C.warps_n() * C.warp_m() + row), t.let(warp % C.warps_n() * C.warp_n() + column),
            t.let(t.thread_rank() / C.group_threads() * (C.k / C.groups))};
  }

  static constexpr auto zeros(thread t) {
    return array_of<C.thread_m>(
        [&](std::uint32_t) { return array_of<C.thread_n>([&](std::uint32_t) { return var(t, 0.0f); }); });
  }

  // Four steps of k at a time: loads all pieces of B, and those of A as they are used. ptxas moves the loads
  // up to hide their latency, as far as there are registers.
  template <class A, class B, class Sums>
  static constexpr void multiply(const A& piece_of_a, const B& piece_of_b, Sums& sums) {
    constexpr std::uint32_t unit = rows_of_a::unit;
    for (std::uint32_t k = 0; k < C.k / C.groups; k += 4) {
      const auto of_b = array_of<C.thread_n>([&](std::uint32_t p) { return piece_of_b(k, p); });
      for (std::uint32_t first = 0; first < C.thread_m; first += unit) {
        const auto of_a = array_of<unit>([&](std::uint32_t p) { return piece_of_a(k, first + p); });
        for (std::uint32_t r = 0; r < unit; ++r)
          for (std::uint32_t j = 0; j < 4; ++j)
            for (std::uint32_t i = 0; i < C.thread_n; ++i) {
              // To and fro: consecutive multiply-adds share a number of A or of B.
              const std::uint32_t n = (r + j) % 2 == 0 ? i : C.thread_n - 1 - i;
              sums[first + r][n] += rows_of_a::number(of_a, r, j) * rows_of_b::number(of_b, n, j);
            }
      }
    }
  }

 private:
  static constexpr val<u32> tile_number(thread t, const val<simt_problem>& problem) {
    if constexpr (C.clusters)
      return t.let(block_idx_x() >> problem[&simt_problem::cluster_bits]);
    else
      return t.let(block_idx_x());
  }
  // The index of this block's split; `split`: that of its cluster.
  static constexpr val<u32> split_of(thread t, const val<simt_problem>& problem, const val<u32>& split) {
    if constexpr (C.clusters)
      return t.let((split << problem[&simt_problem::cluster_bits]) +
                   (block_idx_x() & ((1u << problem[&simt_problem::cluster_bits]) - 1u)));
    else
      return split;
  }
};

// A part of the kernels' names.
template <simt_config C>
inline constexpr auto simt_name =
    fixed_string(C.a == major::k ? "n" : "t") + fixed_string(C.b == major::k ? "t" : "n") + "_" +
    decimal<C.m> + "x" + decimal<C.n> + "x" + decimal<C.k> + "_t" + decimal<C.thread_m> + "x" +
    decimal<C.thread_n> +
    [] {
      if constexpr (C.groups != 1)
        return "x" + decimal<C.groups>;
      else
        return fixed_string("");
    }() +
    "_s" + decimal<C.stages> + "_v" + decimal<C.vector_a> + decimal<C.vector_b> +
    fixed_string(C.pointers ? "_p"
                 : C.async  ? "_b"
                            : "_r") +
    [] {
      if constexpr (C.clusters)
        return fixed_string("_splits");
      else
        return fixed_string("");
    }();

}  // namespace kaio::ops
