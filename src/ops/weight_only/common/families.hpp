#pragma once
// The kernels of matmul_w4 and matmul_w8 by the codes of the weights; fewer rows first.

#include <kaio/ops/weight_only/call/arguments.hpp>
#include <kaio/ops/weight_only/choice/variant.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kaio::ops {

std::span<const w4_variant> matmul_w4_mma_f16();
std::span<const w4_variant> matmul_w4_mma_bf16();
std::span<const w4_variant> matmul_w4_offsets_f16();
std::span<const w4_variant> matmul_w4_offsets_bf16();
std::span<const w4_variant> matmul_w4_table_f16();
std::span<const w4_variant> matmul_w4_table_bf16();
std::span<const w4_variant> matmul_w4_mxfp4_f16();
std::span<const w4_variant> matmul_w4_mxfp4_bf16();
std::span<const w4_variant> matmul_w4_nvfp4_f16();
std::span<const w4_variant> matmul_w4_nvfp4_bf16();
std::span<const w4_variant> matmul_w8_int8_f16();
std::span<const w4_variant> matmul_w8_int8_bf16();
std::span<const w4_variant> matmul_w8_offsets_f16();
std::span<const w4_variant> matmul_w8_offsets_bf16();
std::span<const w4_variant> matmul_w8_e4m3_f16();
std::span<const w4_variant> matmul_w8_e4m3_bf16();
// The kernels with multiply-adds, for all codes.
std::span<const w4_variant> matmul_w4_simt_rows();
// The kernels for these weights and activations. Sets the numbers of a table in the problem.
std::span<const w4_variant> w4_family(w4_problem& problem);
// Sets the numbers of a table alone, for other operations with kernels for these codes.
void set_w4_numbers(w4_problem& problem);
// Whether kernels for `codes` serve the weights: those for nf4 serve fp4 too; none serves offsets.
bool are_w4_codes(const w4_shape& shape, w4_codes codes);

// The kernel that adds up the parts of K.
const ptx::kernel_image& matmul_w4_combine_image(const device_properties& device);
void run_matmul_w4_combine(const stream& s, const w4_problem& problem);

// Dequantises W to a matrix.
void run_dequantise_w4_matrix(const stream& s, const w4_matrix& matrix);
// Dequantises W to rows of 16-bit elements, adjacent along K, with the kernel of dequantise_rows.hpp if it
// can run. early: the weights may be read before the previous kernel has ended.
void run_dequantise_w4_rows(const stream& s, const w4_matrix& matrix, bool early);
const ptx::kernel_image& dequantise_w4_rows_image(const w4_packed& w, const device_properties& device);
void list_w4_repack_kernels(std::vector<const ptx::kernel_image*>& list);
void list_matmul_w4_combine_kernels(std::vector<const ptx::kernel_image*>& list);

struct w4_division {
  std::uint32_t parts = 1, cluster = 1;  // the parts may be the blocks of a cluster
  double microseconds = 0;               // by a model
};
// Chooses the number of parts of K with the least cost: of a block's tiles, and of the beginnings and ends of
// both kernels. asked: the number of parts, if not 0.
w4_division plan_w4_parts(const w4_variant& v, const w4_problem& problem, const device_properties& device,
                          std::uint32_t asked);
// plan_w4_parts for the kernels for sm_90a.
w4_division plan_w4_sm90(const w4_variant& v, const w4_problem& problem, const device_properties& device,
                         std::uint32_t asked);

}  // namespace kaio::ops
