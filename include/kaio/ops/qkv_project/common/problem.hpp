#pragma once
// What the kernels of qkv_project take.

#include <kaio/ops/cache/append/problem.hpp>
#include <kaio/ops/cache/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

// Q, K or V. bias, norm: addresses of elements of the type of Q; 0: there are none.
struct qkv_part {
  cache_rows to;  // of a tensor that is no cache: pages are batches, rows are tokens
  u64 bias, norm;
  f32 scale;  // of the result
  u32 heads;
  u32 column;         // of the product, where the first head begins
  u32 terms_aligned;  // bias and norm begin at multiples of 16 bytes, and so does each head of the bias
};

struct qkv_problem {
  append_problem append;  // its k, v, q, of_k and of_v are not used
  qkv_part q, k, v;
  u64 offsets;  // i32, added to the positions of a sequence; 0: none
  f32 epsilon, norm_offset;
  u32 cached;      // K and V go into a cache
  u32 heads;       // of Q, K and V together
  u32 all_tokens;  // of all batches
  u32 has_norms;
};

// Weights, (N, K) of lines of one pitch: those of column n of the product begin at the address of its part
// plus n lines, whether they are one tensor or three.
struct qkv_matrices {
  u64 q, k, v;
};
struct qkv_w16_weights {
  qkv_matrices at;
  i64 row;  // from one line to the next, in elements
};

// The product in memory: a row for each token, of elements of the type of Q.
struct qkv_product {
  u64 address;
  i64 row;      // from one to the next, in elements
  u32 aligned;  // the runs of all heads begin at multiples of 16 bytes
};

}  // namespace kaio::ops
