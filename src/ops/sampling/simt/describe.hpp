#pragma once
// A kernel of sample or top_k as a row of a table.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/sampling/simt/memory.hpp>

#include "ops/sampling/simt/rows.hpp"

namespace kaio::ops {

template <const auto& Kernel, class Problem, u32 Sm>
sample_variant<Problem> describe_team_kernel() {
  constexpr bool has_clusters = Sm >= 90;
  return {.image = &Kernel.image(),
          .has_clusters = has_clusters,
          .run = [](const stream& s, const Problem& problem, u32 teams, u32 blocks) {
            const grid all = grid(teams * blocks).shared_bytes(sample_shared_bytes);
            Kernel.launch(s, has_clusters ? all.cluster(blocks).programmatic() : all, problem);
          }};
}

}  // namespace kaio::ops
