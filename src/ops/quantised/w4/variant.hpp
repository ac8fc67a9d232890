#pragma once
// The kernels that matmul_w4 may run, as data, and how K is divided.

#include <kaio/ops/attention/common/element_type.hpp>
#include <kaio/ops/quantised/w4/problem.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kaio::ops {

struct w4_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const w4_problem&, std::uint64_t blocks) = nullptr;
  element_type type = element_type::f16;  // of x
  std::uint32_t rows = 0;                 // of x, of a block
  std::uint32_t columns = 0;              // of y, of a block
  std::uint32_t warps_k = 1;              // tiles of K that a block works on at once
  std::uint32_t resident = 1;             // blocks on a multiprocessor at once, at most
};

// Fewer rows first.
std::span<const w4_variant> matmul_w4_mma_f16();
std::span<const w4_variant> matmul_w4_mma_bf16();

// What adds up the parts.
const ptx::kernel_image& matmul_w4_combine_image();
void run_matmul_w4_combine(const stream& s, const w4_problem& problem);

// W as a matrix; what repack and dequantise launch.
void run_dequantise_w4_matrix(const stream& s, const w4_matrix& matrix);
const ptx::kernel_image& dequantise_w4_image();
void list_w4_repack_kernels(std::vector<const ptx::kernel_image*>& list);

// Into how many parts K is divided: where the cost of a block's tiles and of both kernels' beginnings and
// ends is the least.
std::uint32_t plan_w4_parts(const w4_variant& v, const w4_problem& problem, const device_properties& device);

}  // namespace kaio::ops
