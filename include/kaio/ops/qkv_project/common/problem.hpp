#pragma once
// Parameters of the kernels of qkv_project.

#include <kaio/ops/cache/append/problem.hpp>
#include <kaio/ops/cache/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

// Q, K or V. bias, norm: addresses of elements of Q's type; 0: none.
struct qkv_part {
  cache_rows to;  // for a tensor, not a cache: pages are batches, rows are tokens
  u64 bias, norm;
  f32 scale;  // factor of the result
  u32 heads;
  u32 column;         // column of the product where the first head begins
  u32 terms_aligned;  // bias, norm and each head of the bias begin at multiples of 16 bytes
};

struct qkv_problem {
  append_problem append;  // its k, v, q, of_k and of_v are not used
  qkv_part q, k, v;
  u64 offsets;  // i32, added to the positions of a sequence; 0: none
  f32 epsilon, norm_offset;
  u32 cached;      // K and V go into a cache
  u32 heads;       // heads of Q, K and V together
  u32 all_tokens;  // tokens of all batches
  u32 has_norms;
};

// Weights, (N, K), with one pitch for all lines. The line of column n of the product begins at the address of
// its split plus n lines, whether the weights are one tensor or three.
struct qkv_matrices {
  u64 q, k, v;
};
struct qkv_w16_weights {
  qkv_matrices at;
  i64 row;  // elements from one line to the next
};

// The product in memory: a row for each token, with elements of Q's type.
struct qkv_product {
  u64 address;
  i64 row;      // elements from one row to the next
  u32 aligned;  // the runs of all heads begin at multiples of 16 bytes
};

}  // namespace kaio::ops
