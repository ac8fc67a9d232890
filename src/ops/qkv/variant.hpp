#pragma once
// The kernels that qkv_project may run besides those of its product.

#include <kaio/ops/qkv/problem.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kaio::ops {

// The steps of the heads, on a product in memory.
const ptx::kernel_image& qkv_heads_image(const device_properties& device);
void run_qkv_heads(const stream& s, const qkv_problem& problem, const qkv_product& product);

// Product and heads in one launch.
struct qkv_fused_call {
  std::uint64_t x = 0, x_bytes = 0;
  const void* device = nullptr;
  std::int64_t x_row = 0, w_row = 0;  // elements
  qkv_matrices w{};
  std::uint32_t n = 0, k = 0;
  qkv_problem heads{};
};
struct qkv_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const qkv_fused_call&) = nullptr;
  std::uint32_t rows = 0;  // tokens of a tile
};

// Fewer rows first.
std::span<const qkv_variant> qkv_mma_f16_rows();
std::span<const qkv_variant> qkv_mma_bf16_rows();

void list_qkv_heads_kernels(std::vector<const ptx::kernel_image*>& list);
void list_qkv_mma_f16_kernels(std::vector<const ptx::kernel_image*>& list);
void list_qkv_mma_bf16_kernels(std::vector<const ptx::kernel_image*>& list);

}  // namespace kaio::ops
