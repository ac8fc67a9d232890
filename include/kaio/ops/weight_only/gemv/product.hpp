#pragma once
// matmul_w4 and matmul_w8 for one row of x, by w4_one_row_body with units of one tile of 32 columns.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/gemv/kernel.hpp>
#include <kaio/ops/weight_only/mma_sync/store.hpp>

#include <cstdint>

namespace kaio::ops {

template <w4_one_row_config C, scalar T>
struct w4_one_row_end {
  static constexpr u32 tiles_of_unit = 1;
  static constexpr bool has_warp = false;
  const val<w4_problem>& problem;

  static constexpr val<u32> tile(thread t, const val<u32>& first_unit, const val<u32>& i) {
    return t.let(first_unit + i);
  }
  constexpr void store(thread t, const w4_one_row_sums<C>& sums, const val<u32>& first_unit,
                       const val<u32>& first, const val<u32>& count, const val<u32>& split) const {
    constexpr u32 fours = w4_tile_n / 4;
    for (auto i : t.block_stride(count * fours).no_unroll()) {
      const val of_batch = t.let(i / fours), four = t.let(i % fours * 4u);
      const val unit = t.let(first + of_batch);
      const val column = t.let((first_unit + unit) * w4_tile_n + four);
      if (auto own =
              t.when(all_of(unit % sums.splits == split, column < problem[&w4_problem::w][&w4_packed::n]))) {
        const auto y = sums.four(of_batch, four);
        finish_w4<w4_element<T>>(t, problem, val<u32>(0u), column, y);
      }
    }
  }
};

template <w4_one_row_config C, scalar T>
struct w4_one_row_kernel {
  using body = w4_one_row_body<C, T>;
  using end = w4_one_row_end<C, T>;
  static constexpr auto name = "matmul_" + w4_one_row_name<C, T>;
  static constexpr auto kernel =
      kaio::kernel<name, block_size{body::template threads<end>()}, w4_one_row_options>(
          [](thread t, val<w4_problem> problem, val<w4_one_row_work> work) {
            body::run(t, problem, work, end{problem});
          });
};

// Launched as w4_one_row_launch has it, with a unit for each 32 columns.
template <w4_one_row_config C, scalar T>
inline constexpr auto matmul_w4_one_row = w4_one_row_kernel<C, T>::kernel;

}  // namespace kaio::ops
