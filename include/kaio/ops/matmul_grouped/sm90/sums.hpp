#pragma once
// C[g] = A[g]^T * B[g] for sm_90a. Tensor copies bring steps of 64 rows from a group's first row on. The last step may
// bring rows of the next group: the consumers clear them in shared memory, before they multiply.

#include <kaio/ops/matmul/sm90/mainloop.hpp>
#include <kaio/ops/matmul/sm90/store.hpp>
#include <kaio/ops/matmul_grouped/common/sums.hpp>
#include <kaio/ops/matmul_grouped/sm90/store.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

struct grouped_sums_sm90_problem {
  grouped_sum_tiles tiles;
  sm90_tile tile;
  grouped_sum_terms terms;
};

template <sm90_config C, scalar T>
class grouped_sums_loop : public sm90_mainloop<C, T> {
  using base = sm90_mainloop<C, T>;
  using of_a = sm90_operand<T, major::mn, C.m, 1, 1>;
  using of_b = sm90_operand<T, major::mn, C.n, 1, 1>;
  static constexpr u32 line_bytes = sm90_config::row_bytes;
  static_assert(C.a == major::mn && C.b == major::mn && C.depth == 1 && !C.has_cluster());

 public:
  static constexpr u32 k = base::k;  // rows of a step
  static constexpr sm90_box box_of_a = of_a::box_of(of_a::box_lines),
                            box_of_b = of_b::box_of(of_b::box_lines);

  constexpr grouped_sums_loop(thread t, const tensor_map<T, 3>& a, const tensor_map<T, 3>& b,
                              const val<sm90_tile>& of)
      : base(t, a, b, of), t_(t), a_map_(a), b_map_(b) {}

  // One thread: copies the steps of a tile.
  constexpr void copy(ring_position& at, const tile_origin& origin, const val<u32>& first_row,
                      const val<u32>& k_blocks) const {
    const auto a = of_a::share_of(t_, of_a::box_rows, 0u,
                                  [&](const auto& of_tile) { return this->row_of(origin, of_tile); });
    const auto b = of_b::share_of(t_, of_b::box_rows, 0u,
                                  [&](const auto& of_tile) { return this->column_of(origin, of_tile); });
    const val matrix = t_.let(0u);
    for (auto block : t_.range(0u, k_blocks)) {
      this->wait_until_empty(at);
      this->expect(at.stage, t_.let(u32{C.stage_bytes()}));
      const val row = t_.let(first_row + block * k);
      const auto full = this->full_of(at.stage);
      of_a::load(a, t_.let(this->tile_of_a(at.stage).address() + 0u), a_map_, full, row, matrix);
      of_b::load(b, t_.let(this->tile_of_b(at.stage).address() + 0u), b_map_, full, row, matrix);
      at.template advance<C.stages>();
    }
  }

  // All consumers: acc = A * B over `rows` rows, at least one.
  template <class Barrier>
  constexpr void multiply_rows(ring_position& at, typename base::accumulator& acc, const val<u32>& warpgroup,
                               const val<u32>& rows, const Barrier& consumers) const {
    const val whole = t_.let((rows - 1u) / k);
    const val begun = t_.let(whole != 0u);
    if (auto several = t_.when(begun)) this->multiply(at, acc, warpgroup, whole);
    this->wait(at);
    clear_after(at.stage, t_.let(rows - whole * k));
    fence_proxy_async(t_);
    consumers.sync();
    this->multiply(at, acc, warpgroup, t_.let(1u), val<u32>(C.n), begun);
  }

 private:
  // Clears the lines of a stage from `line` on.
  constexpr void clear_after(const var<u32>& stage, const val<u32>& line) const {
    constexpr u32 pieces = line_bytes / 16;
    const val zero = t_.let(0u);
    const val first = t_.let(t_.thread_rank() / pieces + line);
    const val column = t_.let(t_.thread_rank() % pieces * (16 / sizeof(T)));
    const auto a = this->tile_of_a(stage);
    const auto b = this->tile_of_b(stage);
    for (auto row : t_.range(first, k, 128 * C.consumers() / pieces).no_unroll()) {
      const auto clear = [&](const auto& tile, u32 panels) {
        for (u32 p = 0; p < panels; ++p) {
          const auto cell = tile[row][t_.let(column + p * of_a::width)];
          dsl::place_of<ptx::access::inout, u32x4>(cell.location()) = make_vec(zero, zero, zero, zero);
        }
      };
      clear(a, of_a::panels);
      clear(b, of_b::panels);
    }
  }

  thread t_;
  tensor_map<T, 3> a_map_, b_map_;
};

// Copied: C has the operands' type, and rows at multiples of 16 bytes; nothing is added to it.
template <sm90_config C, scalar T, bool Copied>
struct grouped_sums_body {
  using p = grouped_sums_sm90_problem;
  using loop_type = grouped_sums_loop<C, T>;
  using tile_place = sm90_place<sm90_mainloop<C, T>, false, true>;
  using store = std::conditional_t<Copied, grouped_copied_store<C, T, tile_place>,
                                   sm90_finished_store<C, any_output, add_to_grouped, tile_place>>;

  template <class Destination>
  static constexpr void run(thread t, const tensor_map<T, 3>& a, const tensor_map<T, 3>& b,
                            const Destination& c, const val<p>& problem) {
    const loop_type loop(t, a, b, t.let(problem[&p::tile]));
    const val<grouped_sum_terms> terms = t.let(problem[&p::terms]);
    const val<output_lines> lines = t.let(terms[&grouped_sum_terms::c]);
    const store output(t, c, lines, t.let(terms[&grouped_sum_terms::memory][&output_memory::address]));
    const val is_second = t.let(problem[&p::tile][&sm90_tile::is_second] != 0u);
    const val warpgroup = warpgroup_rank(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      loop.prefetch_maps();
      loop.initialise();
    }
    t.barrier();
    launch_dependents(t);
    grid_dependency_wait(t);

    const auto tiles = problem[&p::tiles];
    const val count = t.let(tiles[&grouped_sum_tiles::count]);
    const auto origin_of = [&](const grouped_sum_tile& tile) {
      const val column = t.let(tile.n * C.n), row = t.let(tile.m * C.m);
      return tile_place::origin(t, loop, lines, tile.group, row, column);
    };
    ring_position at(t);
    if (auto producer = t.when(warpgroup >= C.consumers())) {
      decrease_registers<40>(t);
      if (auto one = t.when(t.thread_rank() == 128 * C.consumers()))
        for (auto index : t.range(t.let(block_idx_x() + 0u), count, grid_dim_x())) {
          const grouped_sum_tile tile = sum_tile_at(t, tiles, t.let(index));
          const val steps = t.let((tile.rows + (loop_type::k - 1)) / loop_type::k);
          loop.copy(at, origin_of(tile), tile.first, steps);
        }
    }
    if (auto consumer = t.otherwise()) {
      increase_registers<232>(t);
      typename loop_type::accumulator acc(t);
      const named_barrier<1> consumers(t, 128 * C.consumers());
      for (auto index : t.range(t.let(block_idx_x() + 0u), count, grid_dim_x())) {
        const grouped_sum_tile tile = sum_tile_at(t, tiles, t.let(index));
        if (auto some = t.when(tile.rows != 0u)) loop.multiply_rows(at, acc, warpgroup, tile.rows, consumers);
        if (auto none = t.otherwise()) acc.clear();
        if constexpr (Copied)
          output.store_typed(acc, origin_of(tile), is_second);
        else
          output.store(acc, origin_of(tile), {}, terms);
      }
      output.drain();
    }
  }
};

template <sm90_config C, scalar T, bool Copied>
inline constexpr auto grouped_sums_sm90 =
    kaio::kernel<"matmul_grouped_sums_sm90_" + grouped_store_name<Copied> + "_" + decimal<C.m> + "x" +
                     decimal<C.n> + "_s" + decimal<C.stages>,
                 block_size{C.threads()},
                 kernel_options{.target = {90, true}, .large_shared = true, .min_blocks = C.min_blocks}>(
        [](thread t, tensor_map<T, 3> a, tensor_map<T, 3> b,
           typename grouped_sums_body<C, T, Copied>::store::destination c,
           val<grouped_sums_sm90_problem> problem) {
          grouped_sums_body<C, T, Copied>::run(t, a, b, c, problem);
        });

}  // namespace kaio::ops
