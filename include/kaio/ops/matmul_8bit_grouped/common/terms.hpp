#pragma once
// The arguments of a grouped product of operands of 8 bits, as its kernels take them.
//
// With a gate, the 2 n columns of B are four gates and their four values in turn:
//
//   column of B    0 1 2 3    4 5 6 7      8 9 10 11    12 13 14 15
//                  gates      values       gates        values
//   column of C    0 1 2 3    0 1 2 3      4 5 6 7      4 5 6 7
//
// So a gate and its value are in neighbouring lanes wherever lanes have four columns each. A thread's columns of
// a matrix instruction are all gates (lanes 0 and 1 of four) or all values (lanes 2 and 3).

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/matmul_grouped/common/terms.hpp>

namespace kaio::ops {

struct grouped_bytes_terms {
  matmul_term scale_a, scale_b, bias;  // a batch is a group; type none: none
  matmul_term zero_a, column_sums;     // of integers: i32, although their types say f32
  matmul_term groups_a, blocks_b;      // f32: along K, the columns of groups_a and the rows of blocks_b
  grouped_gather gather;               // scale_a, zero_a and groups_a have rows of A
  grouped_gate gate;                   // activation none: none; its biases are not read
  u32 groups;                          // of 128 along K
  u32 gates;                           // columns of C, which B has twice; 0: no gate
};

// The column of all gates, then all values, for a column of B.
constexpr val<u32> column_by_halves(thread t, const val<u32>& column, const val<u32>& gates) {
  const val of_gates = t.let(column / 8u * 4u + column % 4u + select((column & 4u) != 0u, gates, 0u));
  return t.let(select(gates == 0u, column, of_gates));
}

}  // namespace kaio::ops
