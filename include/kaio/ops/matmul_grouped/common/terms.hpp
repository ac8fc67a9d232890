#pragma once
// Terms of a grouped product as kernel parameters: where rows of A come from, and what follows the sums.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>

namespace kaio::ops {

// Row r of the product is of row rows[r] of A. An index that is no row of A gives a row of zeros.
struct grouped_gather {
  u64 rows;   // i32; 0: row r itself
  u32 count;  // rows of A
  u32 unused = 0;

  // The row of A for row `row`; at least `count`: none.
  template <class Gather>
  static constexpr val<u32> source(thread t, const Gather& of, const val<u32>& row) {
    var result(t, row);
    const val rows = t.let(of[&grouped_gather::rows]);
    if (auto gathers = t.when(rows != 0u)) result = pointer_at<in<u32>>(t, rows)[row];
    return t.let(result);
  }
};

// A bias for each group and column: f32, neighbours along the columns.
struct grouped_bias {
  u64 address;  // 0: none
  i64 group;    // elements from one group to the next

  template <class Bias>
  static constexpr val<f32> at(thread t, const Bias& of, const val<u32>& group, const val<u32>& column) {
    var result(t, 0.0f);
    const val address = t.let(of[&grouped_bias::address]);
    if (auto some = t.when(address != 0u))
      result =
          pointer_at<in<f32>>(t, address)[cast<i64>(group) * of[&grouped_bias::group] + cast<i64>(column)];
    return t.let(result);
  }
};

// An epilogue that adds the bias. The batch of a place is its group.
struct add_grouped_bias {
  static constexpr fixed_string name = "bias";
  constexpr val<f32> operator()(thread t, val<f32> x, place at, val<grouped_bias> bias) const {
    return t.let(x + grouped_bias::at(t, bias, at.batch, at.column));
  }
};

// The end of gate_up_grouped:
//   y = activation(min(gate, limit)) * (clamp(up, -limit, limit) + offset),  silu(x) = x / (1 + e^(-alpha x))
struct grouped_gate {
  grouped_bias gate, up;
  f32 limit, alpha, offset;
  u32 activation;  // a matmul_activation, not none
};

}  // namespace kaio::ops
