#pragma once
// A grouped product of packed weights by f32 multiply-adds, for devices before sm_80 and for all codes: a
// block is that of matmul_w4 (weight_only/simt), with the rows and the weights of its group.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/simt/kernel.hpp>
#include <kaio/ops/weight_only_grouped/common/gate.hpp>
#include <kaio/ops/weight_only_grouped/common/group.hpp>
#include <kaio/ops/weight_only_grouped/common/rows.hpp>

namespace kaio::ops {

// Launched with a block for each tile that the groups may have.
inline constexpr auto matmul_w4_grouped_simt =
    kaio::kernel<"matmul_w4_grouped_simt", block_size{w4_simt::threads}, kernel_options{.min_blocks = 4}>(
        [](thread t, val<w4_grouped_problem> problem) {
          with_w4_group<w4_simt::rows>(t, problem, [&](const grouped_tile& tile) {
            w4_problem_of_group own = with_w4_inputs<true>(t, problem, tile);
            add_w4_outputs(t, own, problem, tile);
            // w4_weight_reader reads the divisor as a whole, from registers.
            const auto w = problem[&w4_grouped_problem::of][&w4_problem::w];
            for (const auto number : {&divisor::value, &divisor::multiplier, &divisor::shift})
              own.replace(number, t.let(w[&w4_packed::group][number]));
            const val last = t.let(w[&w4_packed::tiles_k]);
            w4_simt_body::run(t, own.problem(), {t.let(0u), t.let(0u), last, t.let(0u), tile.n},
                              w4_grouped_rows{problem, tile}, w4_grouped_store{problem});
          });
        });

}  // namespace kaio::ops
