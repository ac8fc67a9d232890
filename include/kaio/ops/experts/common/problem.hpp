#pragma once
// Parameters of the kernels of topk_router, sort_by_expert and combine_experts.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/any_element.hpp>
#include <kaio/ops/shared/divisor.hpp>

namespace kaio::ops {

inline constexpr u32 most_experts = 1024, most_chosen_experts = 32, most_expert_groups = 32;

// Rows of adjacent elements: row r begins `stride * r` elements after the address.
struct expert_rows {
  u64 address;
  i64 stride;
};

struct router_problem {
  expert_rows logits;
  u64 bias;  // f32; 0: none
  i64 bias_stride;
  expert_rows indices, weights;
  divisor of_group;  // experts of a group
  u32 type;          // an element_type
  u32 tokens, experts, k;
  u32 groups, kept_groups;  // equal: groups do not matter
  u32 best_two;             // a group's score is the sum of its best two, else its best
  u32 is_sigmoid, renormalise;
  f32 factor;
};

// Entry i = token * k + j is choice j of a token.
struct expert_order_problem {
  expert_rows indices, positions;  // positions: address 0 if not wanted
  u64 offsets, counts, tokens;     // i32; counts, tokens: 0 if not wanted
  u64 partial;                     // u32: experts + 1 counts of each block
  divisor k;
  u32 entries, experts;
  u32 of_warp;  // entries of a warp
  u32 blocks;
};

struct combine_problem {
  expert_rows y, positions, weights, out;
  u32 rows;  // of y
  u32 tokens, size, k;
  u32 out_type;   // an element_type
  divisor parts;  // of a token, each of 1 << lanes_log threads
  u32 lanes_log;
  u32 y_aligned, out_aligned;
  u32 accumulate;
};

// The address of row `row` of elements of 1 << shift bytes.
template <class Rows, class Shift>
constexpr val<u64> row_of_experts(thread t, const Rows& rows, const val<u32>& row, const Shift& shift) {
  return t.let(rows[&expert_rows::address] +
               (cast<u64>(cast<i64>(row) * rows[&expert_rows::stride]) << shift));
}

}  // namespace kaio::ops
