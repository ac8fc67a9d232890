#pragma once
// Matmul with the matrix instructions of a warp, from sm_70 on: C[b] = epilogue(A[b] * B[b]), A: M x K, B: K
// x N, C: M x N row by row. For a column-major C exchange the operands.
//
//            n                      a block: m x n of C in steps of k; tiles of A and B in a ring in shared
//      +----+----+                  memory, on sm_80 by asynchronous copies, some steps ahead
//    m | warps   |                  a warp: warp_m x warp_n, slice by slice of a step; while one slice is
//      +----+----+                  multiplied the next one's fragments are loaded, across steps too
//
// The blocks of a cluster may share a tile, each with a part of K. Each block then adds the partial sums of
// some places through distributed shared memory, in the order of the parts.
//
// Sums go over k from 0 up, in f32 (i32 for i8). The tile shape does not change their order; only the
// instruction's k and split-K do, whose parts are added in order.

#include <kaio/dsl/cluster.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/matmul/mma_sync/copy.hpp>
#include <kaio/ops/matmul/mma_sync/factors.hpp>
#include <kaio/ops/matmul/mma_sync/promotion.hpp>
#include <kaio/ops/matmul/mma_sync/shifted_loop.hpp>
#include <kaio/ops/matmul/mma_sync/tile_rows.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// One operand of a kernel: its ring, and how its tiles are copied.
template <mma_sync_config C, matrix_role Role, class Product, class Source>
class mma_sync_operand {
  static constexpr bool is_a = Role == matrix_role::a;
  static constexpr bool is_function = Source::is_function;
  static constexpr major memory_major = is_a ? C.a : C.b;
  static constexpr copy_form form = is_a ? C.copy_a : C.copy_b;
  using T = typename Source::element_type;
  static_assert(
      std::is_same_v<T, std::conditional_t<is_a, typename Product::a_element, typename Product::b_element>>,
      "kaio: an operand's element type differs from that of the product");
  // No load transposes bytes on their way from shared memory, so they are transposed on their way to it.
  static constexpr major tile_major = is_function || sizeof(T) == 1 ? major::k : memory_major;
  static_assert(
      is_function || form == copy_form::elements || tile_major == memory_major,
      "kaio: a matmul reads elements of 8 bits along K in vectors; take copy_form::elements for others");

 public:
  static constexpr bool is_async =
      !is_function && (form == copy_form::async || form == copy_form::async_words);
  static constexpr bool is_shifted = !is_function && form == copy_form::shifted;
  using ring = mma_sync_ring<Role, Product, T, is_a ? C.m : C.n, is_a ? C.warp_m : C.warp_n, C.k, C.stages,
                             tile_major>;

  // `x`: the batch's first element (in<T>), or a function (line, k) -> elements. `across`, `along`: where the
  // block's first tile begins along M (N) and K. `extent`: the operand's extent along M (N).
  template <class X>
  constexpr mma_sync_operand(thread t, const val<u32>& warp, const X& x, const val<i64>& leading,
                             const val<u32>& across, const val<u32>& along, const val<u32>& extent)
      : t_(t),
        ring_(t, warp),
        leading_(leading),
        across_(across),
        rest_across_(t.let(extent - across)),
        copy_(make_copy(t, ring_, x, leading, across, along, extent)) {}

  constexpr const ring& tiles() const { return ring_; }
  constexpr const val<u32>& left_across() const { return rest_across_; }
  constexpr auto& copies() { return copy_; }

  // Copies the next tile, which has `left` steps, into a stage.
  template <bool Ragged>
  constexpr void copy(const val<u32>& stage, const val<u32>& left) {
    if constexpr (is_async) copy_.template copy<Ragged>(ring_, stage, {rest_across_, left});
  }
  constexpr void advance() {
    if constexpr (is_async) copy_.advance();
  }

  // Loads the tile at `along`, which has `left` steps, into registers.
  template <bool Ragged, class X>
  constexpr void fetch(const X& x, const val<u32>& along, const val<u32>& left) {
    const operand_rest rest{rest_across_, left};
    if constexpr (is_function) {
      copy_.template fetch_elements<Ragged, Source::width>(
          [&](const val<u32>& a, const val<u32>& k) {
            const val line = t_.let(across_ + a);
            return x(line, t_.let(along + k));
          },
          rest);
    } else if constexpr (form == copy_form::vectors) {
      const val line = t_.let(memory_major == major::k ? across_ : along);
      const val column = t_.let(memory_major == major::k ? along : across_);
      copy_.template fetch_vectors<Ragged>(x.from(cast<i64>(line) * leading_ + cast<i64>(column)), leading_,
                                           rest);
    }
  }
  // Loads the tile element by element. Each element is checked, even if the tile is whole.
  template <class X>
  constexpr void fetch_elements(const X& x, const val<u32>& along, const val<u32>& left) {
    if constexpr (!is_function && form == copy_form::elements)
      copy_.template fetch_elements<true, 1>(
          [&](const val<u32>& a, const val<u32>& k) {
            const val line = t_.let(memory_major == major::k ? across_ + a : along + k);
            const val column = t_.let(memory_major == major::k ? along + k : across_ + a);
            return array_of<1>(
                [&](u32) { return t_.let(x[cast<i64>(line) * leading_ + cast<i64>(column)]); });
          },
          {rest_across_, left});
  }
  constexpr void put(const val<u32>& stage) const {
    if constexpr (!is_async) copy_.put(ring_, stage);
  }

 private:
  using copy_type = std::conditional_t<
      is_async, async_copy<ring, T, C.threads(), form == copy_form::async ? 16 : 4>,
      std::conditional_t<is_shifted, shifted_copy<ring, T, C.threads()>, staged_copy<ring, T, C.threads()>>>;
  template <class X>
  static constexpr copy_type make_copy(thread t, const ring& r, const X& x, const val<i64>& leading,
                                       const val<u32>& across, const val<u32>& along,
                                       const val<u32>& extent) {
    if constexpr (is_shifted)
      return copy_type(t, r, x, leading, across, along, extent);
    else if constexpr (is_async)
      return copy_type(t, r, x, leading, across, along);
    else
      return copy_type(t, r);
  }

  thread t_;
  ring ring_;
  val<i64> leading_;
  val<u32> across_, rest_across_;
  copy_type copy_;
};

template <mma_sync_config C, class Product, class Out, class Epilogue, class SourceA, class SourceB>
struct mma_sync_body {
  static_assert(C.valid(), "kaio: matmul's kernel does not support this tile shape");
  using operand_a = mma_sync_operand<C, matrix_role::a, Product, SourceA>;
  using operand_b = mma_sync_operand<C, matrix_role::b, Product, SourceB>;
  using output = detail::output_of<Out>;
  using ring_a = typename operand_a::ring;
  using ring_b = typename operand_b::ring;
  using sum = typename Product::accumulator::element_type;
  static constexpr std::uint32_t slices = ring_a::slices;
  static_assert(slices % 2 == 0, "kaio: a step of a matmul has an even number of slices");
  static constexpr bool has_async = operand_a::is_async || operand_b::is_async;
  static constexpr bool has_staged = !operand_a::is_async || !operand_b::is_async;
  static constexpr bool is_shifted = operand_a::is_shifted;
  static_assert(operand_a::is_shifted == operand_b::is_shifted,
                "kaio: copy_form::shifted is for both operands, in memory");

  // input_a, input_b: (batch, stride) -> what the operand reads.
  template <class InputA, class InputB, class Result, class... Extra>
  static constexpr void run(thread t, const InputA& input_a, const InputB& input_b, const Result& result,
                            const val<mma_sync_problem>& problem, const Extra&... extra) {
    const tile_index tile = tile_at(t, problem[&mma_sync_problem::scheduler], place_of_tile(t));
    const quotient part = divide(t, tile.batch, problem[&mma_sync_problem::splits]);
    const auto blocks = blocks_of_cluster(t);
    const val first_step = t.let(part.rest * blocks + rank_in_cluster(t));
    const val row = t.let(tile.m * C.m);
    const val column = t.let(tile.n * C.n);
    const val k = t.let(problem[&mma_sync_problem::k]);
    const val k_first = t.let(min(first_step * problem[&mma_sync_problem::k_of_split], k));
    const val k_last = t.let(min(k_first + problem[&mma_sync_problem::k_of_split], k));
    const val warp = t.warp_rank();
    const val warp_m = t.let(warp / C.warps_n());
    const val warp_n = t.let(warp % C.warps_n());
    const auto x_a = input_a(part.whole, t.let(problem[&mma_sync_problem::batch_a]));
    const auto x_b = input_b(part.whole, t.let(problem[&mma_sync_problem::batch_b]));
    compute(t, {tile.batch, row, column}, {warp_m, warp_n}, x_a, x_b, k_first, k_last, result, problem,
            extra...);
  }

  // The place of a warp in its block's tile, in tiles of warps.
  struct warp_place {
    val<u32> m, n;
  };
  // Multiplies steps k_first to before k_last for the tile at `at`. Its place in C ends with the rows and columns
  // of problem.c. x_a, x_b: what the operands read for its batch.
  template <class XA, class XB, class Result, class... Extra>
  static constexpr void compute(thread t, const place& at, const warp_place& warp, const XA& x_a,
                                const XB& x_b, const val<u32>& k_first, const val<u32>& k_last,
                                const Result& result, const val<mma_sync_problem>& problem,
                                const Extra&... extra) {
    operand_a a{t,
                warp.m,
                x_a,
                t.let(problem[&mma_sync_problem::lda]),
                at.row,
                k_first,
                t.let(problem[&mma_sync_problem::c][&output_lines::rows])};
    operand_b b{t,
                warp.n,
                x_b,
                t.let(problem[&mma_sync_problem::ldb]),
                at.column,
                k_first,
                t.let(problem[&mma_sync_problem::c][&output_lines::columns])};
    const auto finish = [&](const auto& sums) {
      t.barrier();
      if constexpr (takes_rows<Epilogue>)
        store_rows<C, Product, Epilogue>(t, sums, a.tiles(), b.tiles(), warp.m, warp.n, at, extra...);
      else
        store(t, sums, a.tiles(), b.tiles(), warp.m, warp.n, at, output::bind(t, result, at.batch), problem,
              extra...);
    };
    if constexpr (is_shifted)
      multiply_shifted(t, a, b, k_first, k_last, finish);
    else if constexpr (promotes<Epilogue>)
      multiply_tiles(
          t, a, b, x_a, x_b, k_first, k_last, finish,
          mma_sync_promotion<C, Product, Epilogue>(
              t, {at.batch, t.let(at.row + warp.m * C.warp_m), t.let(at.column + warp.n * C.warp_n)},
              problem[&mma_sync_problem::c], extra...));
    else
      multiply_tiles(t, a, b, x_a, x_b, k_first, k_last, finish, no_promotion{});
  }

 private:
  static constexpr auto zero_sums(thread t) {
    return array_of<ring_a::parts>([&](u32) {
      return array_of<ring_b::parts>([&](u32) { return typename Product::accumulator(t, sum{}); });
    });
  }
  // The parts of A and B for one slice.
  static constexpr auto parts_of_a(thread t) {
    return array_of<ring_a::parts>([&](u32) { return typename ring_a::part(t); });
  }
  static constexpr auto parts_of_b(thread t) {
    return array_of<ring_b::parts>([&](u32) { return typename ring_b::part(t); });
  }

  // Multiplies all steps with copies by shifted vectors, then calls finish(sums). A slice's loads end while
  // pieces of the next tile are shifted, so that one slice's registers are enough.
  template <class Finish>
  static constexpr void multiply_shifted(thread t, operand_a& a, operand_b& b, const val<u32>& k_first,
                                         const val<u32>& k_last, const Finish& finish) {
    shifted_loop loop(t, a.tiles(), a.copies(), b.tiles(), b.copies(), k_first, k_last);
    loop.fill();
    auto sums = zero_sums(t);
    auto parts_a = parts_of_a(t);
    auto parts_b = parts_of_b(t);
    loop.run(
        [&](const val<u32>& stage, std::uint32_t slice) {
          a.tiles().load(parts_a, stage, slice);
          b.tiles().load(parts_b, stage, slice);
        },
        [&] { multiply(sums, parts_a, parts_b); });
    finish(sums);
  }

  // Multiplies all steps with asynchronous copies and copies through registers, then calls finish(sums).
  template <class InputA, class InputB, class Finish, class Promotion>
  static constexpr void multiply_tiles(thread t, operand_a& a, operand_b& b, const InputA& x_a,
                                       const InputB& x_b, const val<u32>& k_first, const val<u32>& k_last,
                                       const Finish& finish, Promotion&& promotion) {
    const val inside = t.let(all_of(a.left_across() >= C.m, b.left_across() >= C.n));

    auto sums = zero_sums(t);
    auto parts_a = array_of<2>([&](u32) { return parts_of_a(t); });
    auto parts_b = array_of<2>([&](u32) { return parts_of_b(t); });

    // The next tile to copy: its stage, and the steps of K that are left there.
    var fill_stage(t, 0u);
    var<u32> left(t, k_last - k_first);
    const auto copy = [&] {
      if constexpr (has_async) {
        const val stage = fill_stage;
        const val rest = left;
        if (auto whole = t.when(all_of(inside, rest >= C.k))) {
          a.template copy<false>(stage, rest);
          b.template copy<false>(stage, rest);
        }
        if (auto ragged = t.otherwise()) {
          a.template copy<true>(stage, rest);
          b.template copy<true>(stage, rest);
        }
        cp_async_commit_group(t);
        a.advance();
        b.advance();
        left -= min(rest, C.k);
        fill_stage = following(t, stage);
      }
    };
    // Loads the tile at `along` into registers.
    const auto fetch = [&](const val<u32>& along) {
      if constexpr (has_staged) {
        const val rest = t.let(k_last - min(along, k_last));
        if (auto whole = t.when(all_of(inside, rest >= C.k))) {
          a.template fetch<false>(x_a, along, rest);
          b.template fetch<false>(x_b, along, rest);
        }
        if (auto ragged = t.otherwise()) {
          a.template fetch<true>(x_a, along, rest);
          b.template fetch<true>(x_b, along, rest);
        }
        a.fetch_elements(x_a, along, rest);
        b.fetch_elements(x_b, along, rest);
      }
    };
    // Makes the tile of the next step visible to all threads.
    const auto arrive = [&](const val<u32>& stage) {
      a.put(stage);
      b.put(stage);
      if constexpr (has_async) cp_async_wait_group<C.stages - 2>(t);
      t.barrier();
    };
    const auto load = [&](const val<u32>& stage, std::uint32_t slice) {
      a.tiles().load(parts_a[slice % 2], stage, slice);
      b.tiles().load(parts_b[slice % 2], stage, slice);
    };

    if constexpr (has_async)
      for ([[maybe_unused]] auto s : t.range(1u, C.stages).no_unroll()) copy();
    fetch(k_first);
    var stage(t, 0u);
    arrive(stage);
    load(stage, 0);
    for (auto step : t.range(k_first, k_last, C.k)) {
      const val now = stage;
      const val next = following(t, now);
      if constexpr (promotes<Epilogue>) promotion.load(t.let(step));
      for (std::uint32_t slice = 0; slice < slices; ++slice) {
        if (slice + 1 == slices) {
          arrive(next);
          load(next, 0);
        } else {
          load(now, slice + 1);
        }
        if (slice == 0) {
          copy();
          fetch(t.let(step + C.k));
        }
        multiply(sums, parts_a[slice % 2], parts_b[slice % 2]);
      }
      if constexpr (promotes<Epilogue>) promotion.add(sums, t.let(step), k_last);
      stage = next;
    }
    if constexpr (has_async) cp_async_wait_all(t);
    if constexpr (promotes<Epilogue>)
      finish(promotion.totals());
    else
      finish(sums);
  }

  static constexpr val<u32> following(thread t, const val<u32>& stage) {
    return t.let(select(stage == C.stages - 1, 0u, stage + 1u));
  }

  // Goes along the columns to and fro: consecutive multiplications share a part of A or of B.
  template <class Sums, class PartsA, class PartsB>
  static constexpr void multiply(Sums& sums, PartsA& a, PartsB& b) {
    for (auto& one : a) one.prepare();
    for (auto& one : b) one.prepare();
    for (std::uint32_t i = 0; i < ring_a::parts; ++i)
      for (std::uint32_t j = 0; j < ring_b::parts; ++j) {
        const std::uint32_t column = i % 2 == 0 ? j : ring_b::parts - 1 - j;
        Product::multiply(sums[i][column], a[i], b[column]);
      }
  }

  // Stores the sums in portions: the largest number of parts that fits goes to shared memory, and from there
  // four by four to C.
  template <class Sums, class Result, class... Extra>
  static constexpr void store(thread t, const Sums& sums, const ring_a& a, const ring_b& b,
                              const val<u32>& warp_m, const val<u32>& warp_n, const place& first,
                              const Result& result, const val<mma_sync_problem>& problem,
                              const Extra&... extra) {
    constexpr std::uint32_t warps = C.threads() / 32;
    constexpr bool in_a = ring_a::tiles::bytes >= ring_b::tiles::bytes;
    constexpr std::uint32_t room = in_a ? ring_a::tiles::bytes : ring_b::tiles::bytes;
    constexpr auto bytes_for = [](std::uint32_t parts_m, std::uint32_t parts_n) {
      return warps * parts_m * Product::m * (parts_n * Product::n + 8) * 4;
    };
    // A portion has whole rows. If the tiles have no room for those of one part, it has memory of its own.
    constexpr std::uint32_t across = ring_b::parts;
    constexpr bool fits = bytes_for(1, across) <= room;
    constexpr std::uint32_t down = [&] {
      std::uint32_t parts = ring_a::parts;
      while (parts > 1 && bytes_for(parts, across) > room) parts /= 2;
      return parts;
    }();
    static_assert(ring_a::parts % down == 0,
                  "kaio: the portions of an epilogue must divide a warp's parts of A");
    constexpr std::uint32_t rows = down * Product::m;
    constexpr std::uint32_t columns = across * Product::n;
    using staging = shared_tile<sum, warps * rows, columns, dsl::padded<8>>;
    const staging staged = [&] {
      if constexpr (!fits)
        return staging(t);
      else if constexpr (in_a)
        return staging::over(a.memory());
      else
        return staging::over(b.memory());
    }();
    const val lane = t.lane_rank();
    const val of_warp = t.let(t.warp_rank() * rows);
    const auto own =
        staged.lane(of_warp + accumulator_row<Product>(lane), t.let(accumulator_column<Product>(lane)));
    using layout = typename Product::accumulator::layout;
    // Register numbers are compile-time constants, so each portion has its own stores; the rest is emitted
    // once.
    const auto keep = [&](std::uint32_t part_m, std::uint32_t part_n) {
      for (std::uint32_t i = 0; i < down; ++i)
        for (std::uint32_t j = 0; j < across; ++j)
          for (std::uint32_t e = 0; e < Product::accumulator::size; e += 2) {
            const auto& c = sums[part_m + i][part_n + j];
            store_vec(staged.at(own, i * Product::m + layout::element_row(e),
                                j * Product::n + layout::element_column(e)),
                      make_vec(c.element(e), c.element(e + 1)));
          }
    };
    constexpr std::uint32_t portions_n = ring_b::parts / across;
    constexpr std::uint32_t portions = ring_a::parts / down * portions_n;
    for (auto portion : t.range(0u, portions)) {
      if constexpr (portions == 1) {
        keep(0, 0);
      } else {
        for (std::uint32_t p = 0; p < portions; ++p)
          if (auto its_turn = t.when(portion == p)) keep(p / portions_n * down, p % portions_n * across);
      }
      meet(t);
      constexpr std::uint32_t of_row = columns / 4;
      const val<output_lines> lines = problem[&mma_sync_problem::c];
      const place corner{first.batch, t.let(first.row + warp_m * C.warp_m + portion / portions_n * rows),
                         t.let(first.column + warp_n * C.warp_n + portion % portions_n * columns)};
      if constexpr (is_factored<Epilogue>) {
        const mma_sync_factors<Epilogue, rows, of_row> factors(t, lines, corner, extra...);
        for (auto round : t.range(0u, factors.rounds).no_unroll()) {
          const val line = t.let(round * (32 / of_row) + lane / of_row);
          const val within = t.let(lane % of_row * 4u);
          const auto y = factors.results(line, total(t, staged[of_warp + line][within]), extra...);
          const place at{first.batch, t.let(corner.row + line), t.let(corner.column + within)};
          store_results<Out>(t, result, lines, strip_of<1, 1, of_row>(t, lines, at), y);
        }
      } else {
        static_assert(32 % of_row == 0 && rows * of_row % 32 == 0,
                      "kaio: the lanes of a warp are whole rows of a portion");
        constexpr std::uint32_t apart = 32 / of_row * C.least_splits();
        // With 128 sums per thread, registers are short for more rows and for exchanges between lanes.
        constexpr bool is_short = C.warp_m * C.warp_n >= 64 * 64;
        constexpr std::uint32_t most = is_short ? 2 : 4, lanes = is_short ? 1 : of_row;
        constexpr std::uint32_t at_once =
            C.by_launch() || rows < apart ? 1 : rows_at_once_of<Epilogue>(rows / apart, most);
        const val within = t.let(lane % of_row * 4u);
        // The portion's rows inside C; if registers are short, all of its rows.
        const auto end = [&] {
          if constexpr (is_short) {
            return rows;
          } else {
            const val of_c = t.let(lines[&output_lines::rows]);
            return val<u32>(t.let(select(corner.column < lines[&output_lines::columns],
                                         min(of_c - min(corner.row, of_c), rows), 0u)));
          }
        }();
        const val rank = rank_in_cluster(t);
        const auto blocks = blocks_of_cluster(t);
        for (auto round : t.range(rank * (32 / of_row), end, blocks * (32 / of_row * at_once))) {
          const val line = t.let(round + lane / of_row);
          const auto x =
              array_of<at_once>([&](u32 j) { return total(t, staged[of_warp + line + j * apart][within]); });
          const place at{first.batch, t.let(corner.row + line), t.let(corner.column + within)};
          finish_strip<Epilogue, Out>(t, result, lines, strip_of<at_once, apart, lanes>(t, lines, at),
                                      array_of<4 * at_once>([&](u32 j) { return x[j / 4][j % 4]; }),
                                      extra...);
        }
      }
      meet(t);
    }
  }

  static constexpr void meet(thread t) {
    if constexpr (C.has_cluster())
      cluster_barrier(t);
    else
      sync_warp(t);
  }
  // The index of this block's tile in the grid.
  static constexpr val<u32> place_of_tile(thread t) {
    if constexpr (C.has_cluster())
      return t.let(cluster_idx_x());
    else
      return t.let(block_idx_x());
  }
  static constexpr val<u32> rank_in_cluster(thread t) {
    if constexpr (C.has_cluster())
      return cluster_rank(t);
    else
      return t.let(0u);
  }
  static constexpr auto blocks_of_cluster(thread t) {
    if constexpr (C.by_launch())
      return cluster_size(t);
    else
      return C.cluster_splits;
  }
  // The sums of four neighbours over the parts of all blocks of the cluster.
  template <class Cell>
  static constexpr dsl::register_array<val<sum>, 4> total(thread t, const Cell& first) {
    if constexpr (!C.has_cluster()) {
      const val four = load_vec<4>(first);
      return array_of<4>([&](u32 e) { return t.let(four[e]); });
    } else {
      constexpr std::uint32_t at_once = C.least_splits();
      const auto parts_from = [&](u32 begin) {
        return array_of<at_once>([&](u32 s) { return load_vec<4>(remote(first, begin + s)); });
      };
      const auto parts = parts_from(0);
      auto all = array_of<4>([&](u32 e) {
        var sums(t, parts[0][e]);
        for (u32 s = 1; s < at_once; ++s) sums += parts[s][e];
        return sums;
      });
      if constexpr (C.by_launch())
        if (auto more = t.when(cluster_size(t) > at_once)) {
          const auto rest = parts_from(at_once);
          for (u32 s = 0; s < at_once; ++s)
            for (u32 e = 0; e < 4; ++e) all[e] += rest[s][e];
        }
      return array_of<4>([&](u32 e) { return val<sum>(t.let(all[e])); });
    }
  }
};

template <mma_sync_config C>
inline constexpr auto mma_sync_name =
    fixed_string(C.a == major::k ? "n" : "t") + fixed_string(C.b == major::k ? "t" : "n") + "_" +
    decimal<C.m> + "x" + decimal<C.n> + "x" + decimal<C.k> + "_w" + decimal<C.warp_m> + "x" +
    decimal<C.warp_n> + "_s" + decimal<C.stages> + "_r" + decimal<C.min_blocks> + "_c" +
    decimal<static_cast<u32>(C.copy_a)> + decimal<static_cast<u32>(C.copy_b)> + [] {
      if constexpr (!C.has_cluster())
        return fixed_string("");
      else if constexpr (C.by_launch())
        return fixed_string("_splitn");
      else
        return "_split" + decimal<C.cluster_splits>;
    }();

template <mma_sync_config C, class Product, class Out, class Epilogue, class SourceA, class SourceB,
          class OfA, class OfB, class OfEpilogue>
struct mma_sync_kernel;

template <mma_sync_config C, class Product, class Out, class Epilogue, class SourceA, class SourceB,
          class... OfA, class... OfB, class... Extra>
struct mma_sync_kernel<C, Product, Out, Epilogue, SourceA, SourceB, source_parameters<OfA...>,
                       source_parameters<OfB...>, epilogue_parameters<Extra...>> {
  using output = detail::output_of<Out>;
  static constexpr auto name = "matmul_mma_" + Product::name + "_" + output::name + "_" + mma_sync_name<C> +
                               "_" + SourceA::name + "_" + SourceB::name + "_" + epilogue_name<Epilogue>;
  static constexpr bool is_async = mma_sync_operand<C, matrix_role::a, Product, SourceA>::is_async ||
                                   mma_sync_operand<C, matrix_role::b, Product, SourceB>::is_async;
  static constexpr std::uint16_t sm = C.has_cluster() ? 90 : is_async && Product::sm < 80 ? 80 : Product::sm;
  static constexpr kernel_options options{
      .target = {sm},
      .large_shared = true,
      .cluster = C.cluster_splits <= 1 ? block_size{0, 0, 0} : block_size{C.cluster_splits},
      .min_blocks = C.min_blocks};
  using result = typename output::template parameter<C.pointers>;

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, OfA... of_a, OfB... of_b, result c, val<mma_sync_problem> problem, Extra... extra) {
        mma_sync_body<C, Product, Out, Epilogue, SourceA, SourceB>::run(
            t,
            [&](const val<u32>& batch, const val<i64>& stride) {
              return SourceA::input(t, batch, stride, of_a...);
            },
            [&](const val<u32>& batch, const val<i64>& stride) {
              return SourceB::input(t, batch, stride, of_b...);
            },
            c, problem, extra...);
      });
};

// Launched with a grid of scheduler.tiles * cluster_splits blocks along x. Arguments: those of A, those of B
// (in_memory: the operand; made_by: what the function takes), c, the problem, those of the epilogue. With
// C.pointers, operands in memory and c are arrays of addresses: one per batch, for c one per split.
template <mma_sync_config C, class Product, class Out, class Epilogue,
          class SourceA = in_memory<typename Product::a_element, C.pointers>,
          class SourceB = in_memory<typename Product::b_element, C.pointers>>
inline constexpr auto mma_sync_matmul =
    mma_sync_kernel<C, Product, Out, Epilogue, SourceA, SourceB, typename SourceA::parameters,
                    typename SourceB::parameters, parameters_of_epilogue<Epilogue>>::kernel;

}  // namespace kaio::ops
