#pragma once
// Matmul with at most 16 rows, for f32: C[b] = epilogue(A[b] * B[b]), A: M x K with M <= 16, B: K x N.
// The time is that of loading B; each of its numbers is used M times. For few columns instead of few rows
// exchange the operands.
//
//   B by columns (major::k)     a warp takes `columns` columns; its lanes share K, 4 numbers each at a time
//
//        k ->  lane 0 1 2 ... 31 | 0 1 2 ...         and add their sums at the end by shuffles
//
//   B by rows (major::mn)       a lane takes `columns` columns, 32 apart; the warps of a block share K,
//                               8 steps each at a time, and add their sums at the end in shared memory
//
// The order of additions depends only on the kernel's tile shape and on K.

#include <kaio/ops/matmul/common/epilogue.hpp>

#include <cstdint>

namespace kaio::ops {

using dsl::major;

struct skinny_config {
  std::uint32_t rows = 16;    // at least M
  std::uint32_t columns = 4;  // per warp (major::k), per lane (major::mn)
  std::uint32_t warps = 8;
  major b = major::k;
  // 4: rows of A are along k, and lines of A and B (major::mn: of A only) begin at multiples of 16 bytes. 1:
  // any.
  std::uint32_t vector = 4;

  constexpr std::uint32_t threads() const { return 32 * warps; }
  constexpr std::uint32_t block_columns() const { return b == major::k ? columns * warps : 32 * columns; }
  constexpr bool valid() const {
    return rows >= 1 && rows <= 16 && columns >= 1 && columns <= 8 && warps >= 1 && warps <= 32 &&
           (vector == 1 || vector == 4) &&
           (b == major::k || ((columns == 1 || columns == 2 || columns == 4) && warps >= 8));
  }
  friend constexpr bool operator==(const skinny_config&, const skinny_config&) = default;
};

struct skinny_problem {
  i64 a_row, a_k;                 // strides of A in elements; a_k is 1 if the kernel reads vectors
  i64 b_line;                     // from one column (major::k) or row (major::mn) of B to the next
  i64 c_row, c_column;            // strides of C
  i64 batch_a, batch_b, batch_c;  // batch_c: from one split to the next
  u32 m, n, k;
  u32 column_blocks;       // blocks along N
  u32 splits, k_of_split;  // parts of K, each a batch of C of its own; k_of_split: a multiple of 8
  u32 exchanged;           // 1: rows and columns of C are exchanged for the epilogue
};

template <skinny_config C>
constexpr u32 skinny_column_blocks(u32 n) {
  return (n + C.block_columns() - 1) / C.block_columns();
}

template <skinny_config C, scalar Out, class Epilogue>
struct skinny_matmul_body {
  static_assert(C.valid(), "kaio: this tile shape of a skinny matmul is none that the kernel can run");
  static constexpr std::uint32_t steps = 8;  // steps of k at a time, in by_rows

  template <class... Extra>
  static constexpr void run(thread t, const in<f32>& a_memory, const in<f32>& b_memory,
                            const out<Out>& c_memory, const val<skinny_problem>& problem,
                            const Extra&... extra) {
    const val blocks = t.let(problem[&skinny_problem::column_blocks]);
    const val part = t.let(block_idx_x() / blocks);
    const val first_column = t.let(block_idx_x() % blocks * C.block_columns());
    const val batch = t.let(part / problem[&skinny_problem::splits]);
    const val split = t.let(part % problem[&skinny_problem::splits]);
    const val k = t.let(problem[&skinny_problem::k]);
    const val k_first = t.let(min(split * problem[&skinny_problem::k_of_split], k));
    const val k_last = t.let(min(k_first + problem[&skinny_problem::k_of_split], k));
    const in a = a_memory.from(cast<i64>(batch) * problem[&skinny_problem::batch_a]);
    const in b = b_memory.from(cast<i64>(batch) * problem[&skinny_problem::batch_b]);
    const out c = c_memory.from(cast<i64>(part) * problem[&skinny_problem::batch_c]);
    const auto store = [&](const val<f32>& sum, const val<u32>& row, const val<u32>& column) {
      if (auto inside =
              t.when(all_of(row < problem[&skinny_problem::m], column < problem[&skinny_problem::n]))) {
        const val exchanged = t.let(problem[&skinny_problem::exchanged] != 0);
        const place at{batch, t.let(select(exchanged, column, row)), t.let(select(exchanged, row, column))};
        const val value = t.let(cast<Out>(Epilogue{}(t, sum, at, extra...)));
        c[cast<i64>(row) * problem[&skinny_problem::c_row] +
          cast<i64>(column) * problem[&skinny_problem::c_column]] = value;
      }
    };
    // Rows beyond M repeat the last one; their sums are not stored.
    const auto rows = array_of<C.rows>([&](std::uint32_t r) {
      const val row = t.let(min(r, problem[&skinny_problem::m] - 1u));
      return a.from(cast<i64>(row) * problem[&skinny_problem::a_row]);
    });
    if constexpr (C.b == major::k)
      by_columns(t, rows, b, problem, k_first, k_last, first_column, store);
    else
      by_rows(t, rows, b, problem, k_first, k_last, first_column, store);
  }

 private:
  // `N` numbers of a row of A from step k on.
  template <std::uint32_t N>
  static constexpr auto numbers_of(thread t, const in<f32>& row, const val<i64>& a_k, const val<u32>& k) {
    if constexpr (C.vector == 4) {
      const auto fours = array_of<N / 4>([&](std::uint32_t i) { return load_vec<4>(row[k + 4 * i]); });
      return array_of<N>([&](std::uint32_t i) { return t.let(fours[i / 4][i % 4]); });
    } else {
      return array_of<N>([&](std::uint32_t i) { return t.let(row[cast<i64>(k + i) * a_k]); });
    }
  }

  template <class Rows, class Store>
  static constexpr void by_columns(thread t, const Rows& rows, const in<f32>& b,
                                   const val<skinny_problem>& problem, const val<u32>& k_first,
                                   const val<u32>& k_last, const val<u32>& first_column, const Store& store) {
    const val lane = t.let(lane_id());
    const val first = t.let(first_column + t.thread_rank() / 32u * C.columns);
    const val a_k = t.let(problem[&skinny_problem::a_k]);
    const auto columns = array_of<C.columns>([&](std::uint32_t c) {
      const val column = t.let(min(first + c, problem[&skinny_problem::n] - 1u));
      return b.from(cast<i64>(column) * problem[&skinny_problem::b_line]);
    });
    auto sums = array_of<C.rows * C.columns>([&](std::uint32_t) { return var(t, 0.0f); });

    // Adds `Rounds` times 128 steps of k, from lane 0's `k` on. All of B is loaded before its first number is
    // used.
    const auto add = [&]<std::uint32_t Rounds>(const val<u32>& k, const dsl::index_list<Rounds>&) {
      const auto of_b = array_of<Rounds>([&](std::uint32_t i) {
        return array_of<C.columns>(
            [&](std::uint32_t c) { return four_of(t, columns[c], t.let(k + 128 * i)); });
      });
      for (std::uint32_t i = 0; i < Rounds; ++i)
        for (std::uint32_t r = 0; r < C.rows; ++r) {
          const auto x = numbers_of<4>(t, rows[r], a_k, t.let(k + 128 * i));
          for (std::uint32_t c = 0; c < C.columns; ++c)
            for (std::uint32_t j = 0; j < 4; ++j) sums[r * C.columns + c] += x[j] * of_b[i][c][j];
        }
    };
    constexpr std::uint32_t rounds = C.rows <= 4 ? 4 : 2;
    const val length = t.let(k_last - k_first);
    const val many = t.let(k_first + length / (128 * rounds) * (128 * rounds));
    const val whole = t.let(k_first + (length & ~3u));
    for (auto k : t.range(k_first + lane * 4u, many, 128 * rounds)) add(t.let(k), dsl::index_list<rounds>{});
    for (auto k : t.range(many + lane * 4u, whole, 128u)) add(t.let(k), dsl::index_list<1>{});
    // At most three steps are left.
    if (auto rest = t.when(lane < k_last - whole)) {
      const val at = t.let(whole + lane);
      const auto ones = array_of<C.columns>([&](std::uint32_t c) { return t.let(columns[c][at]); });
      for (std::uint32_t r = 0; r < C.rows; ++r) {
        const val x = rows[r][cast<i64>(at) * a_k];
        for (std::uint32_t c = 0; c < C.columns; ++c) sums[r * C.columns + c] += x * ones[c];
      }
    }
    // All lanes get all sums; lane i stores sums i, i + 32, ...
    for (std::uint32_t i = 0; i < C.rows * C.columns; i += 32) {
      var mine(t, 0.0f);
      for (std::uint32_t j = i; j < i + 32 && j < C.rows * C.columns; ++j) {
        const val sum = warp_reduce(t, t.let(sums[j]), plus{});
        mine = select(lane == j - i, sum, mine);
      }
      const val number = t.let(lane + i);
      if (auto in_warp = t.when(number < C.rows * C.columns)) {
        const val result = t.let(mine);
        const val row = t.let(number / C.columns);
        store(result, row, t.let(first + number % C.columns));
      }
    }
  }
  static constexpr auto four_of(thread t, const in<f32>& column, const val<u32>& k) {
    if constexpr (C.vector == 4) {
      return load_vec<4>(column[k]);
    } else {
      return array_of<4>([&](std::uint32_t i) { return t.let(column[k + i]); });
    }
  }

  template <class Rows, class Store>
  static constexpr void by_rows(thread t, const Rows& rows, const in<f32>& b,
                                const val<skinny_problem>& problem, const val<u32>& k_first,
                                const val<u32>& k_last, const val<u32>& first_column, const Store& store) {
    const val lane = t.let(lane_id());
    const val warp = t.let(t.thread_rank() / 32u);
    const val a_k = t.let(problem[&skinny_problem::a_k]);
    const val line = t.let(problem[&skinny_problem::b_line]);
    const val last = t.let(problem[&skinny_problem::n] - 1u);
    // Columns beyond N repeat the last one.
    const auto columns = array_of<C.columns>(
        [&](std::uint32_t c) { return b.from(cast<i64>(t.let(min(first_column + lane + 32 * c, last)))); });
    auto sums = array_of<C.rows * C.columns>([&](std::uint32_t) { return var(t, 0.0f); });
    const auto add = [&](std::uint32_t r, const val<f32>& x, const auto& of_b) {
      for (std::uint32_t c = 0; c < C.columns; ++c) sums[r * C.columns + c] += x * of_b[c];
    };

    const val length = t.let(k_last - k_first);
    const val whole = t.let(k_first + length / steps * steps);
    for (auto k : t.range(k_first + warp * steps, whole, C.warps * steps)) {
      const val at = t.let(k);
      const auto of_b = array_of<steps>([&](std::uint32_t s) {
        return array_of<C.columns>(
            [&](std::uint32_t c) { return t.let(columns[c][cast<i64>(at + s) * line]); });
      });
      for (std::uint32_t r = 0; r < C.rows; ++r) {
        const auto x = numbers_of<steps>(t, rows[r], a_k, at);
        for (std::uint32_t s = 0; s < steps; ++s) add(r, x[s], of_b[s]);
      }
    }
    // Each warp takes one of the steps that are left.
    if (auto rest = t.when(warp < k_last - whole)) {
      const val at = t.let(whole + warp);
      const auto of_b =
          array_of<C.columns>([&](std::uint32_t c) { return t.let(columns[c][cast<i64>(at) * line]); });
      for (std::uint32_t r = 0; r < C.rows; ++r)
        if constexpr (C.vector == 4)  // along k
          add(r, t.let(rows[r][at]), of_b);
        else
          add(r, t.let(rows[r][cast<i64>(at) * a_k]), of_b);
    }

    constexpr std::uint32_t width = 32 * C.columns;
    shared<f32, C.warps, C.rows, width> parts(t);
    for (std::uint32_t r = 0; r < C.rows; ++r)
      for (std::uint32_t c = 0; c < C.columns; ++c) parts[warp][r][lane + 32 * c] = sums[r * C.columns + c];
    t.barrier();
    for (auto i : t.block_stride(C.rows * width)) {
      const val row = t.let(i / width);
      const val column = t.let(i % width);
      var sum = parts[0][row][column];
      for (std::uint32_t w = 1; w < C.warps; ++w) sum += parts[w][row][column];
      store(t.let(sum), row, t.let(first_column + column));
    }
  }
};

template <skinny_config C, scalar Out, class Epilogue, class Parameters>
struct skinny_matmul_kernel;

template <skinny_config C, scalar Out, class Epilogue, class... Extra>
struct skinny_matmul_kernel<C, Out, Epilogue, epilogue_parameters<Extra...>> {
  static constexpr auto name = "matmul_skinny_" + fixed_string(C.b == major::k ? "t" : "n") + "_" +
                               decimal<C.rows> + "x" + decimal<C.columns> + "_w" + decimal<C.warps> + "_v" +
                               decimal<C.vector> + "_" + type_name<Out> + "_" + epilogue_name<Epilogue>;
  static constexpr auto kernel =
      kaio::kernel<name, block_size{C.threads()}, kernel_options{.large_shared = C.b == major::mn}>(
          [](thread t, in<f32> a, in<f32> b, out<Out> c, val<skinny_problem> problem, Extra... extra) {
            skinny_matmul_body<C, Out, Epilogue>::run(t, a, b, c, problem, extra...);
          });
};

// Launched with a grid of column_blocks * splits * batches blocks along x, and the arguments a, b, c, the
// problem, and those of the epilogue.
template <skinny_config C, scalar Out, class Epilogue>
inline constexpr auto skinny_matmul =
    skinny_matmul_kernel<C, Out, Epilogue, parameters_of_epilogue<Epilogue>>::kernel;

}  // namespace kaio::ops
