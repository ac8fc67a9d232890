#pragma once
// The end of a grouped product whose even columns are gates and whose odd ones are their values:
//
//   column of W     0   1   2   3   4   5  ...      y[j] = activation(min(g, limit)) * (clamp(u, ...) + offset)
//                   g0  u0  g1  u1  g2  u2          with g = column 2 j, u = column 2 j + 1

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul_grouped/common/gate.hpp>
#include <kaio/ops/weight_only/mma_sync/store.hpp>
#include <kaio/ops/weight_only_grouped/common/group.hpp>

namespace kaio::ops {

struct w4_grouped_store {
  const val<w4_grouped_problem>& all;

  template <class Access, class Four>
  constexpr void store(thread t, const val<w4_problem>& problem, const val<u32>& row, const val<u32>& column,
                       const val<u32>& left, Four& y) const {
    const auto gate = all[&w4_grouped_problem::gate];
    var to(t, column), count(t, left);
    if (auto gated = t.when(gate[&grouped_gate::activation] != 0u)) {
      auto gates = array_of<2>([&](u32 i) { return var<f32>(t, y[2 * i]); });
      for (u32 i = 0; i < 2; ++i) limit_gate(t, gates[i], y[2 * i + 1], gate);
      activate_gate<2>(t, gates, gate);
      y[0] = gates[0] * y[1];
      y[1] = gates[1] * y[3];
      to = column / 2u;
      count = min(left, 4u) / 2u;
    }
    w4_store::store<Access>(t, problem, row, t.let(to), t.let(count), y);
  }
};

}  // namespace kaio::ops
