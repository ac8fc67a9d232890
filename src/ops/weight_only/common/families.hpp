#pragma once
// The kernels of matmul_w4 and matmul_w8 by the codes of the weights; fewer rows first.

#include <kaio/ops/weight_only/call/arguments.hpp>
#include <kaio/ops/weight_only/choice/variant.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "ops/families.hpp"

namespace kaio::ops {

// The kernels for these weights and activations. Sets the numbers of a table in the problem.
std::span<const w4_variant> w4_family(w4_problem& problem);
// Sets the numbers of a table alone, for other operations with kernels for these codes.
void set_w4_numbers(w4_problem& problem);
// Whether kernels for `codes` serve the weights: those for nf4 serve fp4 too; none serves offsets.
bool are_w4_codes(const w4_shape& shape, w4_codes codes);

// The kernel that adds up the splits of K.
const ptx::kernel_image& matmul_w4_combine_image(const device_properties& device);
void run_matmul_w4_combine(const stream& s, const w4_problem& problem);

// Dequantises W to a matrix.
void run_dequantise_w4_matrix(const stream& s, const w4_matrix& matrix);
// Dequantises W to rows of 16-bit elements, adjacent along K, with the kernel of dequantise_rows.hpp if it
// can run. early: the weights may be read before the previous kernel has ended.
void run_dequantise_w4_rows(const stream& s, const w4_matrix& matrix, bool early);
const ptx::kernel_image& dequantise_w4_rows_image(const w4_packed& w, const device_properties& device);

// Steps of a kernel along K.
inline u32 w4_steps_of(const w4_variant& v, const w4_problem& p) {
  return (p.w.tiles_k + v.tiles - 1) / v.tiles;
}
// Whether this number of splits of K may be the blocks of a cluster.
inline bool can_be_a_cluster(const w4_variant& v, std::uint32_t splits) {
  return v.has_clusters && (splits == 2 || splits == 4 || splits == 8);
}

struct w4_division {
  std::uint32_t splits = 1, cluster = 1;  // the splits may be the blocks of a cluster
  double microseconds = 0;                // by a model
};
// Chooses the number of splits of K with the least cost: of a block's tiles, and of the beginnings and ends of
// both kernels. asked: the number of splits, if not 0.
w4_division plan_w4_splits(const w4_variant& v, const w4_problem& problem, const device_properties& device,
                           std::uint32_t asked);
// plan_w4_splits for the kernels for sm_90a: those that round no weights, and those that do.
w4_division plan_w4_sm90(const w4_variant& v, const w4_problem& problem, const device_properties& device,
                         std::uint32_t asked);
w4_division plan_w4_rounded(const w4_variant& v, const w4_problem& problem, const device_properties& device,
                            std::uint32_t asked);

}  // namespace kaio::ops
