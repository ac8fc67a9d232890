#pragma once
// The kernels of matmul_w4 and matmul_w8, by what weights mean; fewer rows first.

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
// Those by multiply-adds, for all of them.
std::span<const w4_variant> matmul_w4_simt_rows();
// Those for these weights and activations; sets what the launch has of them.
std::span<const w4_variant> w4_family(w4_problem& problem);
// The same of kernels that other operations have for the codes: the numbers of a table.
void set_w4_numbers(w4_problem& problem);
// Whether weights have the codes of kernels for `codes`; those for nf4 are for fp4 too. None has offsets.
bool are_w4_codes(const w4_shape& shape, w4_codes codes);

// What adds up the parts.
const ptx::kernel_image& matmul_w4_combine_image(const device_properties& device);
void run_matmul_w4_combine(const stream& s, const w4_problem& problem);

// W as a matrix; what repack and dequantise launch.
void run_dequantise_w4_matrix(const stream& s, const w4_matrix& matrix);
// The same by the kernel for rows of 16 bits, whose neighbours along K are adjacent (dequantise_rows.hpp), where it
// can run. `early`: the weights may be read before the kernel before has ended.
void run_dequantise_w4_rows(const stream& s, const w4_matrix& matrix, bool early);
const ptx::kernel_image& dequantise_w4_rows_image(const w4_packed& w, const device_properties& device);
void list_w4_repack_kernels(std::vector<const ptx::kernel_image*>& list);
void list_matmul_w4_combine_kernels(std::vector<const ptx::kernel_image*>& list);

struct w4_division {
  std::uint32_t parts = 1, cluster = 1;  // the parts may be the blocks of a cluster
  double microseconds = 0;               // as its model has it
};
// Into how many parts K is divided: where the cost of a block's tiles and of both kernels' beginnings and
// ends is the least. `asked`: so many parts, where that is not 0.
w4_division plan_w4_parts(const w4_variant& v, const w4_problem& problem, const device_properties& device,
                          std::uint32_t asked);
// The same for the kernels for sm_90a.
w4_division plan_w4_sm90(const w4_variant& v, const w4_problem& problem, const device_properties& device,
                         std::uint32_t asked);

}  // namespace kaio::ops
