#pragma once
// gate_up_project in one launch, for one row of x and weights of four or eight bits. It is the kernel of
// matmul_w4 for one row, with units of 32 columns of the gate and the same 32 of up.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/gate_up_project/skinny/kernel.hpp>
#include <kaio/ops/weight_only/gemv/kernel.hpp>

#include <cstdint>

namespace kaio::ops {

template <w4_one_row_config C, scalar T>
struct gate_up_w4_one_row_end {
  static constexpr u32 tiles_of_unit = 2;
  static constexpr bool has_warp = false;
  const val<w4_problem>& product;
  const val<gate_up_problem>& problem;

  // The second half of the tiles is up.
  constexpr val<u32> tile(thread t, const val<u32>& first_unit, const val<u32>& i) const {
    const val half = t.let(product[&w4_problem::w][&w4_packed::tiles_n] / 2u);
    return t.let(first_unit + i / 2u + select(i % 2u != 0u, half, 0u));
  }
  constexpr void store(thread t, const w4_one_row_sums<C>& sums, const val<u32>& first_unit,
                       const val<u32>& first, const val<u32>& count, const val<u32>& split) const {
    constexpr u32 fours = w4_tile_n / 4;
    const val unit_of = t.let(product[&w4_problem::unit]);
    for (auto i : t.block_stride(count / 2u * fours).no_unroll()) {
      const val pair = t.let(i / fours), four = t.let(i % fours * 4u);
      const val unit = t.let(first / 2u + pair);
      if (auto own = t.when(unit % sums.splits == split)) {
        const auto gate = sums.four(t.let(pair * 2u), four);
        const auto up = sums.four(t.let(pair * 2u + 1u), four);
        store_gated<T>(t, problem, unit_of, val<u32>(0u), t.let((first_unit + unit) * w4_tile_n + four), gate,
                       up);
      }
    }
  }
};

template <w4_one_row_config C, scalar T>
struct gate_up_w4_one_row_kernel {
  using body = w4_one_row_body<C, T>;
  using end = gate_up_w4_one_row_end<C, T>;
  static constexpr auto name = "gate_up_" + w4_one_row_name<C, T>;
  static constexpr auto kernel =
      kaio::kernel<name, block_size{body::template threads<end>()}, w4_one_row_options>(
          [](thread t, val<w4_problem> product, val<gate_up_problem> problem, val<w4_one_row_work> work) {
            body::run(t, product, work, end{product, problem});
          });
};

// Launched as w4_one_row_launch says, with F / 32 units; F is a multiple of 32.
template <w4_one_row_config C, scalar T>
inline constexpr auto gate_up_w4_one_row = gate_up_w4_one_row_kernel<C, T>::kernel;

}  // namespace kaio::ops
