// The choice of a kernel for a grouped product of packed weights.

#include "ops/weight_only_grouped/choice/plan.hpp"

#include <kaio/ops/matmul_w4_grouped.hpp>
#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/ops/weight_only/common/codes.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <string>

#include "ops/families.hpp"
#include "ops/weight_only/common/families.hpp"

namespace kaio::ops {

namespace {

// The kernels for these weights and activations, the best one for fewer rows first.
std::span<const w4_grouped_variant> family_of(const w4_problem& p) {
  const bool is_half = p.type == static_cast<u32>(element_type::f16), has_offsets = p.w.offsets != 0;
  switch (static_cast<w4_codes>(p.w.codes_type)) {
    case w4_codes::nf4:
    case w4_codes::fp4: return is_half ? w4_grouped_table_f16() : w4_grouped_table_bf16();
    case w4_codes::e2m1:
      if (p.w.scale_type == static_cast<u32>(w4_scale_type::e8m0))
        return is_half ? w4_grouped_mxfp4_f16() : w4_grouped_mxfp4_bf16();
      return is_half ? w4_grouped_nvfp4_f16() : w4_grouped_nvfp4_bf16();
    case w4_codes::int8:
      if (has_offsets) return is_half ? w8_grouped_offsets_f16() : w8_grouped_offsets_bf16();
      return is_half ? w8_grouped_int8_f16() : w8_grouped_int8_bf16();
    case w4_codes::e4m3: return is_half ? w8_grouped_e4m3_f16() : w8_grouped_e4m3_bf16();
    default:
      if (has_offsets) return is_half ? w4_grouped_offsets_f16() : w4_grouped_offsets_bf16();
      return is_half ? w4_grouped_int4_f16() : w4_grouped_int4_bf16();
  }
}

// Why a kernel cannot run a problem on a device; empty: it can.
std::string_view refusal(const w4_grouped_variant& v, const w4_problem& p, const device_properties& device) {
  if (const std::string_view why = device_refusal(v.image->needs, device); !why.empty()) return why;
  if (p.w.rows != 0 && !v.has_act_order) return "it takes no weights with act-order";
  if (!v.has_pieces) return {};
  if (p.w.slots > v.slots) return "it needs groups of multiples of 64 codes";
  if (p.x_by_16 == 0) return "it takes rows of x that begin at multiples of 16 bytes";
  if (p.w.tiles_k < v.tiles) return "K is shorter than one of its stages";
  return {};
}

// The most rows of a group of the mean size for which a kernel is the best one of a family. Kernels for few
// rows read weights faster. Groups vary in size, and larger ones take several tiles: a tile is best for means
// below its rows. Measured on an H200 with 8 to 256 groups of random sizes.
std::uint32_t most_rows_of(const w4_grouped_variant& v) {
  if (v.rows == 8) return 5;
  if (v.rows == 16) return 12;
  return v.has_pieces && v.rows == 32 ? 28 : std::numeric_limits<std::uint32_t>::max();
}

const w4_grouped_variant& choose(std::string_view operation, const w4_grouped_problem& problem,
                                 const device_properties& device, std::string_view forced) {
  const w4_problem& p = problem.of;
  const bool by_multiply_adds =
      device.target.sm < 80 || forced == matmul_w4_grouped_simt_rows().front().image->name;
  const std::uint32_t mean = p.m / std::min(p.m, problem.tiles.groups);
  const w4_grouped_variant* best = nullptr;
  for (const w4_grouped_variant& v : by_multiply_adds ? matmul_w4_grouped_simt_rows() : family_of(p)) {
    if (!forced.empty() ? v.image->name != forced : !refusal(v, p, device).empty()) continue;
    best = &v;
    if (mean <= most_rows_of(v)) break;
  }
  const std::string of(operation);
  if (best == nullptr && !forced.empty())
    throw invalid_argument(
        "kaio: " + of + ": there is no variant " + std::string(forced) +
        " for these activations and codes; leave it out, or take one that a choice has named");
  const std::string_view why = best == nullptr ? "none is for its architecture" : refusal(*best, p, device);
  if (why.empty()) return *best;
  if (!forced.empty())
    throw invalid_argument("kaio: " + of + ": the variant " + std::string(forced) +
                           " cannot run this call on " + device.name + ": " + std::string(why) +
                           "; leave it out, or take another");
  throw unsupported_device("kaio: " + of + ": no kernel for " + device.name + " (sm_" +
                           std::to_string(device.target.sm) + "): " + std::string(why) +
                           "; dequantise the weights, and multiply by matmul_grouped");
}

}  // namespace

planned_w4_grouped plan_w4_grouped(std::string_view operation, const w4_grouped_problem& problem,
                                   const device_properties& device, std::string_view forced) {
  const w4_grouped_variant& v = choose(operation, problem, device, forced);
  planned_w4_grouped result{&v, problem};
  w4_problem& p = result.problem.of;
  const grouped_tiles& tiles = problem.tiles;
  if (&v != &matmul_w4_grouped_simt_rows().front()) set_w4_numbers(p);  // which decodes no table
  p.unit *= v.unit;
  p.splits = p.cluster = 1;
  p.steps = static_cast<u32>(ceil_div(p.w.tiles_k, v.tiles));
  const std::uint64_t tiles_n = ceil_div(p.w.n, v.columns);
  result.problem.tiles = grouped_tiles::of(tiles.offsets, tiles.groups, tiles.rows, tiles_n);
  result.blocks = grouped_tiles::most(tiles.rows, tiles.groups, v.rows) * tiles_n;
  if (result.blocks > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
    throw invalid_argument("kaio: " + std::string(operation) +
                           ": more than 2^31 blocks; divide the rows of x, or the columns of the weights");
  return result;
}

std::vector<const ptx::kernel_image*> w4_grouped_kernels() {
  std::vector<const ptx::kernel_image*> list;
  for (const auto family : w4_grouped_variant_families)
    for (const w4_grouped_variant& v : family()) list.push_back(v.image);
  return list;
}

}  // namespace kaio::ops
