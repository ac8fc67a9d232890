#include "ops/qkv_project/call/few_rows.hpp"

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>
#include <kaio/ops/weight_only/gemv/launch.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "ops/choice/signature.hpp"
#include "ops/qkv_project/call/fused.hpp"
#include "ops/qkv_project/common/product.hpp"
#include "ops/shared/row_checks.hpp"
#include "ops/weight_only/common/families.hpp"
#include "ops/weight_only/common/resolve.hpp"
#include "ops/weight_only/gemv/one_row.hpp"

namespace kaio::ops {

namespace {

constexpr u32 columns = 128, most_blocks = 8;  // per cluster

std::uint32_t tiles_of(const detail::qkv_call& call) { return (call.k + w4_tile_k - 1) / w4_tile_k; }

bool fits(const qkv_few_rows_variant& v, std::uint32_t splits, std::uint32_t tiles_k) {
  if (v.one_row != nullptr &&
      (splits > tiles_k || (tiles_k + splits - 1) / splits * w4_tile_k > v.one_row->k))
    return false;
  return splits != 0 && (splits & (splits - 1)) == 0 && splits * v.blocks_n <= most_blocks;
}

std::string_view refusal(const qkv_few_rows_variant& v, const detail::qkv_arguments& a,
                         const detail::qkv_call& call, const device_properties& device) {
  const projection_weight& w = a.weights->of[0];
  if (v.bits == 16) {
    if (const std::string_view why = refusal_of_matrices(a, call); !why.empty()) return why;
  } else {
    if (call.count != 1) return "it takes one weight for Q, K and V, not three";
    if (!w.is_packed || !are_w4_codes(w.packed.shape, v.codes))
      return v.codes == w4_codes::int4   ? "the weights are not 4-bit integers"
             : v.codes == w4_codes::int8 ? "the weights are no integers of 8 bits"
                                         : "the weights are neither nf4 nor fp4";
    if (const std::string_view why = refusal_of_heads(call.problem); !why.empty()) return why;
  }
  if (call.tokens > v.rows) return "x has more rows";
  if (v.one_row != nullptr) {
    if (const std::string_view why = refusal_of_one_row(*v.one_row, w.packed.shape, a.x); !why.empty())
      return why;
    if (call.n % 128 != 0) return "the columns of the product are not a multiple of 128";
    const std::uint32_t splits = a.options->splits;
    if (splits != 0 && !fits(v, splits, tiles_of(call))) return "a block has no room for its split of x";
  }
  return device_refusal(v.image->needs, device);
}

const qkv_few_rows_variant* choose(std::span<const qkv_few_rows_variant> variants,
                                   const detail::qkv_arguments& a, const detail::qkv_call& call,
                                   const device_properties& device) {
  const std::string_view forced = a.options->variant;
  for (const qkv_few_rows_variant& v : variants) {
    if (v.type != static_cast<element_type>(call.problem.append.type)) continue;
    if (!forced.empty() && v.image->name != forced) continue;
    const std::string_view why = a.has_own ? "it has no head functions" : refusal(v, a, call, device);
    if (why.empty()) return &v;
    if (!forced.empty())
      detail::refuse(a.operation, "variant " + std::string(forced) + " cannot run this call: " +
                                      std::string(why) + "; leave it out, or take \"separate\"");
  }
  return nullptr;
}

}  // namespace

std::uint32_t plan_qkv_splits(const qkv_few_rows_variant& v, std::uint32_t clusters, std::uint32_t tiles_k,
                              const device_properties& device) {
  // Costs are in tiles of a warp. A block that begins after another has ended waits for its first weights.
  // Each split of K hands its sums over. Parts that make a third block on a multiprocessor gain nothing.
  constexpr double start_and_end = 6, of_a_split = 0.25, alone = 1.25;
  const std::uint64_t units = std::max(device.multiprocessors, 1u);
  std::uint32_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t splits = 1; fits(v, splits, tiles_k); splits *= 2) {
    const std::uint64_t blocks = std::uint64_t{clusters} * v.blocks_n * splits;
    if (v.resident > 2 && splits > 1 && blocks > 2 * units) break;
    const double cost =
        static_cast<double>(ceil_div(blocks, units) * ceil_div(ceil_div(tiles_k, splits), v.warps_k)) *
            (blocks <= units ? alone : 1.0) +
        start_and_end * static_cast<double>(ceil_div(blocks, units * v.resident)) + of_a_split * splits;
    if (cost < least) {
      least = cost;
      best = splits;
    }
  }
  return best;
}

qkv_few_rows choose_qkv_few_rows(const void* device, const device_properties& properties,
                                 const detail::qkv_arguments& arguments, const detail::qkv_call& call,
                                 bool takes_norm) {
  qkv_few_rows result;
  const std::uint32_t splits = arguments.options->splits;
  result.variant = choose(qkv_one_row_variants(), arguments, call, properties);
  if (takes_norm && result.variant == nullptr) return result;
  if (result.variant == nullptr) result.variant = choose(qkv_w4_variants(), arguments, call, properties);
  if (result.variant == nullptr) result.variant = choose(qkv_w16_variants(), arguments, call, properties);
  if (result.variant == nullptr) {
    if (splits != 0)
      detail::refuse(arguments.operation,
                     "splits is given, and no kernel for this call splits K; leave it out");
    return result;
  }
  const qkv_few_rows_variant& v = *result.variant;
  const std::uint32_t tiles_k = tiles_of(call);
  if (splits != 0 && !fits(v, splits, tiles_k))
    detail::refuse(arguments.operation, std::to_string(splits) + " splits of K; variant " +
                                            std::string(v.image->name) + " has 1 to " +
                                            std::to_string(most_blocks / v.blocks_n) + ", a power of two");
  const any_view x = detail::rows_of_x(arguments.x);
  w4_problem& p = result.call.product;
  if (v.bits == 16) {
    p.w.n = call.n;
    p.w.k = call.k;
    p.w.tiles_k = (call.k + w4_tile_k - 1) / w4_tile_k;
    p.x = x.address;
    p.x_row = x.strides[0];
    p.m = static_cast<u32>(call.tokens);
    p.unit = 1;
    result.call.matrices = matrices_of(arguments, call);
  } else {
    const matmul_w4_options options;
    const w4_weights& weights = arguments.weights->of[0].packed;
    p = detail::resolve_w4_product(device, {arguments.operation, x, {}, &weights, &options}, true);
    set_w4_numbers(p);
    p.unit *= v.unit;
  }
  const std::uint32_t clusters = (call.n + columns - 1) / columns;
  p.splits =
      splits != 0 ? splits
      : v.one_row != nullptr
          ? plan_w4_one_row(*v.one_row, clusters, columns / w4_tile_n, p.w.tiles_k, 0, properties).splits
          : plan_qkv_splits(v, clusters, p.w.tiles_k, properties);
  p.steps = p.w.tiles_k / p.splits;
  p.rest = p.w.tiles_k % p.splits;
  result.call.heads = call.problem;
  result.call.constant_weights = has_any(arguments.options->constant, constant_inputs::weights);
  result.call.blocks = std::uint64_t{clusters} * v.blocks_n * p.splits;
  return result;
}

void list_qkv_few_rows(std::vector<qkv_choice>& choices, const detail::qkv_arguments& arguments,
                       const detail::qkv_call& call, const device_properties& properties) {
  for (const auto family : {qkv_one_row_variants, qkv_w4_variants, qkv_w16_variants})
    for (const qkv_few_rows_variant& v : family()) {
      if (v.type != static_cast<element_type>(call.problem.append.type) ||
          !refusal(v, arguments, call, properties).empty())
        continue;
      for (std::uint32_t splits = 1; splits * v.blocks_n <= most_blocks && (splits - 1) * w4_tile_k < call.k;
           splits *= 2)
        if (fits(v, splits, tiles_of(call))) choices.push_back({v.image->name, splits});
    }
}

void run_qkv_few_rows(const stream& s, const detail::qkv_arguments& arguments, const qkv_few_rows& of) {
  qkv_few_rows_call call = of.call;
  if (of.variant->bits != 16)
    call.product.w = detail::check_w4_weights(arguments.operation, s.device_identity(),
                                              arguments.weights->of[0].packed, true);
  of.variant->run(s, call);
}

}  // namespace kaio::ops
