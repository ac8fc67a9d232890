#pragma once
// gate_up_project in one launch, for few rows of x and weights of four or eight bits. It is the kernel of
// matmul_w4 for few rows, with 64 columns of a block: 32 of the gate, and the same 32 of up. For up to eight
// rows of x, or weights of eight bits, the first of two warps has the gate and the second has up; else a warp
// has both. So shared memory has both when the sums are added up, and only their product is stored.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/gate_up_project/combine/kernel.hpp>
#include <kaio/ops/weight_only/skinny/kernel.hpp>

#include <cstdint>

namespace kaio::ops {

template <class D, std::uint32_t Rows, std::uint32_t Sm>
constexpr w4_few_rows_config gate_up_w4_rows() {
  w4_few_rows_config config = w4_few_rows_of<D>(Rows, Sm);
  if (config.tiles_n == 1) config.warps_n = 2;
  return config;
}

// Sums of four columns of the gate or of up: rounded as a product in memory is, plus the bias.
template <scalar T, class Sums>
constexpr auto rounded_with_bias(thread t, const Sums& sums, const val<f32>& unit, const val<u64>& bias,
                                 const val<u32>& column) {
  auto y = array_of<4>([&](u32 e) { return var<f32>(t, cast<f32>(cast<T>(sums[e] * unit))); });
  if (auto some = t.when(bias != u64{0})) {
    const auto from = pointer_at<in<T>>(t, bias);
    for (u32 e = 0; e < 4; ++e) y[e] += cast<f32>(from[column + e]);
  }
  return y;
}

// activate_run for four elements. The long functions take one element after the other, with one copy of their
// instructions.
template <class Four>
constexpr void activate_four(thread t, const val<u32>& which, Four& y) {
  const auto is = [&](matmul_activation a) { return t.let(which == static_cast<u32>(a)); };
  const auto each = [&](matmul_activation a, const auto& f) {
    if (auto chosen = t.when(is(a)))
      for (auto& one : y) one = f(t, t.let(one));
  };
  const auto one_by_one = [&](matmul_activation a, const auto& f) {
    if (auto chosen = t.when(is(a)))
      for ([[maybe_unused]] auto e : t.range(0u, 4u).no_unroll()) {
        const val first = t.let(y[0]);
        for (u32 i = 0; i < 3; ++i) y[i] = t.let(y[i + 1]);
        y[3] = f(t, first);
      }
  };
  each(matmul_activation::silu, activation::silu{});
  each(matmul_activation::relu, activation::relu{});
  one_by_one(matmul_activation::gelu_tanh, activation::gelu_tanh{});
  one_by_one(matmul_activation::gelu, activation::gelu{});
}

// Stores columns `column` to column + 3 of row `row` of the output, from the sums of both products.
template <scalar T, class Sums>
constexpr void store_gated(thread t, const val<gate_up_problem>& problem, const val<f32>& unit,
                           const val<u32>& row, const val<u32>& column, const Sums& gate_sums,
                           const Sums& up_sums) {
  auto gate = rounded_with_bias<T>(t, gate_sums, unit, t.let(problem[&gate_up_problem::gate_bias]), column);
  const auto up = rounded_with_bias<T>(t, up_sums, unit, t.let(problem[&gate_up_problem::up_bias]), column);
  activate_four(t, t.let(problem[&gate_up_problem::activation]), gate);
  for (u32 e = 0; e < 4; ++e) gate[e] *= up[e];
  const quotient place = divide(t, row, problem[&gate_up_problem::rows]);
  const val to = t.let(cast<i64>(place.whole) * problem[&gate_up_problem::out_batch] +
                       cast<i64>(place.rest) * problem[&gate_up_problem::out_row] + cast<i64>(column));
  const val whole = t.let(problem[&gate_up_problem::out_aligned] != 0u);
  const val left = t.let(problem[&gate_up_problem::columns] - column);
  store_four<w4_element<T>>(t, t.let(problem[&gate_up_problem::out]), to, left, whole, gate);
}

template <auto C, scalar T>
struct gate_up_w4_end {
  static_assert(C.columns() == 2 * w4_tile_n);
  val<gate_up_problem> problem;

  // The second half of the tiles is up.
  static constexpr val<u32> tile_of_warp(thread t, const val<w4_problem>& of, const val<u32>& column,
                                         const val<u32>& index) {
    const val half = t.let(of[&w4_problem::w][&w4_packed::tiles_n] / 2u);
    return t.let(column / C.columns() + select(index != 0u, half, 0u));
  }

  template <class Totals, class Codes>
  constexpr void store(thread t, const val<w4_problem>& of, const w4_block& block, const Totals& totals,
                       const Codes& shared_sums) const {
    constexpr std::uint32_t fours = w4_tile_n / 4;
    static_assert(C.rows_at_once() == C.rows);
    stage_w4_sums<C>(t, block, totals, shared_sums, 0);
    const val m = t.let(of[&w4_problem::m]);
    const val unit = t.let(of[&w4_problem::unit]);
    for (auto i : t.block_stride(C.rows * fours).no_unroll()) {
      const val row = t.let(i / fours), four = t.let(i % fours * 4u);
      if (auto exists = t.when(block.row + row < m)) {
        const val at = t.let(row * C.pitch() + four);
        const auto gate = staged_w4_sums<C>(t, shared_sums, at);
        const auto up = staged_w4_sums<C>(t, shared_sums, t.let(at + w4_tile_n));
        store_gated<T>(t, problem, unit, t.let(block.row + row), t.let(block.column / 2u + four), gate, up);
      }
    }
  }
};

// gate_up_w4_end for a kernel that is launched programmatically.
template <auto C, scalar T>
struct gate_up_w4_programmatic_end : gate_up_w4_end<C, T> {
  const val<w4_problem>& product;

  constexpr gate_up_w4_programmatic_end(const val<gate_up_problem>& layer, const val<w4_problem>& of)
      : gate_up_w4_end<C, T>{layer}, product(of) {}
  constexpr val<bool> weights_are_constant(thread t) const {
    return t.let(product[&w4_problem::constant] != 0u);
  }
  static constexpr void begin(thread) {}
};

// Launched with F / 32 blocks along x, from sm_90 on programmatically. F, the columns of the gate, is a
// multiple of 32.
template <class D, std::uint32_t Rows, scalar T, std::uint32_t Sm>
inline constexpr auto gate_up_w4 =
    kaio::kernel<"gate_up_w" + decimal<D::bits> + "_mma_" + D::name + type_name<T> + "_" + decimal<Rows> +
                     "_sm" + decimal<Sm>,
                 block_size{gate_up_w4_rows<D, Rows, Sm>().threads()},
                 kernel_options{.target = {Sm},
                                .large_shared = true,
                                .min_blocks = gate_up_w4_rows<D, Rows, Sm>().min_blocks}>(
        [](thread t, val<w4_problem> product, val<gate_up_problem> problem) {
          constexpr auto C = gate_up_w4_rows<D, Rows, Sm>();
          if constexpr (Sm >= 90) {
            launch_dependents(t);
            w4_few_rows_body<C, D, T>::run(t, product, gate_up_w4_programmatic_end<C, T>(problem, product));
          } else {
            w4_few_rows_body<C, D, T>::run(t, product, gate_up_w4_end<C, T>{problem});
          }
        });

}  // namespace kaio::ops
