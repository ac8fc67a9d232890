#pragma once
// The common part of the f32 matmul kernels, however their operands are copied to shared memory. It has the
// tile of C, a thread's rows and columns, the products of a tile, and the sums' way through the epilogue.
//
// A thread reads its operands in pieces of 16 bytes. If a line of the tile goes along k, a piece is 4 steps
// of k for one row (for B: column), and a thread's rows are `lanes` apart. If it goes along the rows, a piece
// is 4 neighbouring rows at one step of k. Either way 4 steps of k for `rows` rows are `rows` pieces.

#include <kaio/dsl/block/grid_dependency.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/common/general.hpp>
#include <kaio/ops/matmul/simt/config.hpp>
#include <kaio/ops/matmul/simt/shared_sums.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The rows of a thread along one operand, and the numbers in its pieces.
template <major Major, std::uint32_t Lanes>
struct simt_rows {
  static constexpr bool along_k = Major == major::k;
  static constexpr std::uint32_t unit =
      along_k ? 1 : 4;  // pieces that complete `unit` rows for four steps of k

  // The thread's first row, if its warp begins at row 0.
  static constexpr val<u32> first(thread t, const val<u32>& lane) { return t.let(lane * unit); }
  // The distance from there to its row `r`.
  static constexpr std::uint32_t of(std::uint32_t r) {
    return along_k ? r * Lanes : r / 4 * (4 * Lanes) + r % 4;
  }
  static constexpr val<u32> of(thread t, const val<u32>& r) {
    if constexpr (along_k)
      return t.let(r * Lanes);
    else
      return t.let(r / 4u * (4 * Lanes) + r % 4u);
  }
  // The row of piece `p`, counted like `of`, and its first step of k.
  static constexpr std::uint32_t row_of_piece(std::uint32_t p) {
    return along_k ? p * Lanes : p / 4 * (4 * Lanes);
  }
  static constexpr std::uint32_t k_of_piece(std::uint32_t p) { return along_k ? 0 : p % 4; }

  // The number for row `r` at step `k` of four; `pieces` begins with a unit.
  template <class Pieces>
  static constexpr auto number(const Pieces& pieces, std::uint32_t r, std::uint32_t k) {
    if constexpr (along_k)
      return pieces[r][k];
    else
      return pieces[r / 4 * 4 + k][r % 4];
  }
};

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
    const tile_index tile = tile_at(t, problem[&simt_problem::walk], tile_number(t, problem));
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

  // `memory(f)` calls f with C as out<T>, T its element type. `is_f32`: whether T is f32. `offset`: that of
  // the batch, in elements.
  template <class Epilogue, class Sums, class Memory, class... Extra>
  static constexpr void store(thread t, const val<u32>& batch, const val<u32>& first_row,
                              const val<u32>& first_column, Sums& sums, const Memory& memory,
                              const val<bool>& is_f32, const val<i64>& offset,
                              const val<simt_problem>& problem, const Extra&... extra) {
    const val m = t.let(problem[&simt_problem::m]);
    const val n = t.let(problem[&simt_problem::n]);
    const val exchanged = t.let(problem[&simt_problem::exchanged] != 0);
    const val vectors = t.let(problem[&simt_problem::vector_stores] != 0);
    const val ldc = t.let(problem[&simt_problem::ldc]);
    const val last = t.let(n - 1u);
    const val first_offset = t.let(offset + cast<i64>(first_column));
    const auto column =
        array_of<C.thread_n>([&](std::uint32_t i) { return t.let(first_column + rows_of_b::of(i)); });
    const auto exists = array_of<C.thread_n>([&](std::uint32_t i) { return t.let(column[i] < n); });
    const auto whole = array_of<C.thread_n / 4>(
        [&](std::uint32_t four) { return t.let(all_of(vectors, exists[4 * four + 3])); });
    // The place of column i. If it is beyond C, another column of this thread takes its place.
    const auto place_of = [&](const val<u32>& row, std::uint32_t first, std::uint32_t i) {
      if constexpr (works_in_registers<Epilogue>) {
        return place{batch, row, column[i]};
      } else {
        const val inside = t.let(select(exists[i], column[i], C.b == major::mn ? last : column[first]));
        return place{batch, t.let(select(exchanged, inside, row)), t.let(select(exchanged, row, inside))};
      }
    };
    // Stores four columns of a row from `i` on; drops those beyond C.
    const auto store_four = [&](const auto& line, std::uint32_t i, const auto& z) {
      const auto one_by_one = [&] {
        for (std::uint32_t j = 0; j < 4; ++j)
          if (auto there = t.when(exists[i + j])) line[rows_of_b::of(i + j)] = z[j];
      };
      if constexpr (C.b == major::mn) {
        if (auto together = t.when(whole[i / 4]))
          store_vec(line[rows_of_b::of(i)], make_vec(z[0], z[1], z[2], z[3]));
        if (auto apart = t.otherwise()) one_by_one();
      } else {
        one_by_one();
      }
    };
    // Stores one row of the thread, four columns at a time. `x`: its sums.
    const auto store_row = [&](const val<u32>& row, const auto& x) {
      if (auto in_rows = t.when(row < m)) {
        const val row_offset = t.let(first_offset + cast<i64>(row) * ldc);
        for (std::uint32_t i = 0; i < C.thread_n; i += 4) {
          if (auto in_columns = t.when(exists[i])) {
            const auto y = finished<Epilogue>(
                t, array_of<4>([&](std::uint32_t j) { return val<f32>(t.let(x[i + j])); }),
                array_of<4>([&](std::uint32_t j) { return place_of(row, i, i + j); }), extra...);
            memory([&]<class Out>(const out<Out>& c) {
              const out line = c.from(row_offset);
              store_four(line, i, array_of<4>([&](std::uint32_t j) { return t.let(cast<Out>(y[j])); }));
            });
          }
        }
      }
    };
    if constexpr (C.clusters) {
      // Read here from special registers, so that they take no registers during the loop.
      const val blocks = cluster_size(t);
      const val alone = t.let(blocks == 1u);
      const simt_shared_sums<C> shared_sums(t, blocks);
      const auto row_of = [&](std::uint32_t r) {
        if constexpr (C.groups == 1)
          return t.let(first_row + rows_of_a::of(r));
        else
          return t.let(first_row + rows_of_a::of(t, shared_sums.row(r)));
      };
      const auto store_own = [&](const auto& own) {
        // For one block: alpha times its sums as f32, straight from registers. The rows do not wait for each
        // other.
        const auto directly = [&](const val<f32>& alpha) {
          memory([&]<class Out>(const out<Out>& c) {
            if constexpr (std::is_same_v<Out, f32>)
              for (std::uint32_t r = 0; r < shared_sums.own_rows; ++r) {
                const val row = row_of(r);
                const out line = c.from(first_offset + cast<i64>(row) * ldc);
                const auto y =
                    array_of<C.thread_n>([&](std::uint32_t i) { return t.let(own[r][i] * alpha); });
                if (auto in_rows = t.when(row < m))
                  for (std::uint32_t i = 0; i < C.thread_n; i += 4)
                    store_four(line, i, array_of<4>([&](std::uint32_t j) { return y[i + j]; }));
              }
          });
        };
        // Emits the epilogue for one row only.
        const auto by_rows = [&] {
          shared_sums.stage(own);
          shared_sums.meet();
          shared_sums.template for_each_row<!works_in_registers<Epilogue>>(
              cluster_rank(t), [&](const val<u32>& r, const auto& x) {
                store_row(t.let(first_row + rows_of_a::of(t, r)), x);
              });
          shared_sums.meet();
        };
        if constexpr (works_in_registers<Epilogue>) {
          if (auto one = t.when(alone))
            for (std::uint32_t r = 0; r < shared_sums.own_rows; ++r) store_row(row_of(r), own[r]);
          if (auto many = t.otherwise()) by_rows();
        } else if constexpr (std::is_same_v<Epilogue, general>) {
          // The terms say whether alpha is all that the epilogue does.
          const auto by_terms = [&](const val<matmul_terms>& terms) {
            const val plain = t.let(all_of(alone, is_f32, terms[&matmul_terms::plain] != 0u));
            if (auto direct = t.when(plain)) directly(t.let(terms[&matmul_terms::alpha]));
            if (auto others = t.otherwise()) by_rows();
          };
          by_terms(extra...);
        } else {
          by_rows();
        }
      };
      if constexpr (C.groups == 1)
        store_own(sums);
      else
        store_own(shared_sums.add_groups(sums));
    } else if constexpr (works_in_registers<Epilogue>) {
      for (std::uint32_t r = 0; r < C.thread_m; ++r) store_row(t.let(first_row + rows_of_a::of(r)), sums[r]);
    } else {
      // Registers have constant numbers, so selects pick the row, and the epilogue is emitted for one row
      // only.
      for (auto r : t.range(0u, C.thread_m).no_unroll()) {
        auto x = array_of<C.thread_n>([&](std::uint32_t i) { return var(t, sums[0][i]); });
        var row(t, first_row + rows_of_a::of(0));
        for (std::uint32_t known = 1; known < C.thread_m; ++known)
          if (auto chosen = t.when(r == known)) {
            row = first_row + rows_of_a::of(known);
            for (std::uint32_t i = 0; i < C.thread_n; ++i) x[i] = sums[known][i];
          }
        store_row(t.let(row), x);
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
