#pragma once
// The kernels that qkv_project may run, except those of its product.

#include <kaio/ops/qkv_project/common/problem.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/weight_only/common/codes.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "ops/families.hpp"

namespace kaio::ops {

// The steps of the heads, on a product in memory.
const ptx::kernel_image& qkv_heads_image(const device_properties& device);
void run_qkv_heads(const stream& s, const qkv_problem& problem, const qkv_product& product);

// Product and heads in one launch.
struct qkv_fused_call {
  std::uint64_t x = 0, x_bytes = 0;
  const void* device = nullptr;
  std::int64_t x_row = 0, w_row = 0;  // strides in elements
  qkv_matrices w{};
  std::uint32_t n = 0, k = 0;
  qkv_problem heads{};
};
struct qkv_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const qkv_fused_call&) = nullptr;
  std::uint32_t rows = 0, columns = 0;  // tile shape; rows are tokens
  bool copies_tensors = false;          // needs one weight for all heads, and rows that do not overlap
};

// Product and heads in one launch, for few rows of x, in clusters.
struct qkv_few_rows_call {
  w4_problem product{};
  qkv_problem heads{};
  qkv_w16_weights matrices{};  // for weights of 16 bits
  w4_one_row_work norm{};      // norm of x, if x has one row
  bool constant_weights = false;
  std::uint64_t blocks = 0;  // blocks of all clusters
};
struct qkv_few_rows_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const qkv_few_rows_call&) = nullptr;
  element_type type = element_type::f16;       // element type of x
  std::uint32_t bits = 4;                      // bits of a weight; 16: weights are no codes
  w4_codes codes = w4_codes::int4;             // nf4 also takes fp4
  std::uint32_t rows = 0;                      // rows of x, at most
  const w4_one_row_config* one_row = nullptr;  // for qkv_project_w4_one_row, else none
  std::uint32_t blocks_n = 1;                  // blocks of a cluster along its 128 columns
  std::uint32_t warps_k = 1;                   // tiles of K that a block works on at once
  std::uint32_t resident = 1;                  // resident blocks on a multiprocessor, at most
  f32 unit = 1;                                // w4_problem::unit, if the decoder has one
};

}  // namespace kaio::ops
