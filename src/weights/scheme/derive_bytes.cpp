// Layers whose codes have eight bits: {N, K}, or {E, N, K} for experts.

#include <optional>
#include <utility>

#include "host/printable.hpp"
#include "runtime/base/text.hpp"
#include "weights/base/json.hpp"
#include "weights/scheme/derive.hpp"

namespace kaio::weights {
namespace {

using runtime::text;
using std::uint64_t;

// The scales of one matrix, rows x columns. `is_matrix` is false if they have one dimension or none.
struct scale_extents {
  uint64_t count = 1, rows = 1, columns = 1;
  bool is_matrix = false;
};

// Sets N and K, and returns the scales of each matrix. Experts {E, N, K} have scales {E, ...}, or one for all. Nothing:
// `problem` has the reason.
std::optional<scale_extents> set_extents(quantised_layer& layer, std::string& problem) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  const std::size_t rank = codes.shape.size();
  if (rank != 2 && rank != 3) {
    problem = text("weight is not of 2 dimensions, and 3 of experts, but of ", rank);
    return std::nullopt;
  }
  layer.n = codes.shape[rank - 2];
  layer.k = codes.shape[rank - 1];
  layer.bits = 8;
  std::span<const uint64_t> of_one = scales.shape;
  if (rank == 3 && scales.elements != 1) {
    if (of_one.empty() || of_one[0] != codes.shape[0]) {
      problem = "the scales are not of as many experts as weight";
      return std::nullopt;
    }
    of_one = of_one.subspan(1);
  }
  scale_extents extents;
  extents.is_matrix = of_one.size() == 2;
  for (const uint64_t extent : of_one) extents.count *= extent;  // does not overflow: checked with the file
  if (extents.is_matrix) extents.rows = of_one[0], extents.columns = of_one[1];
  if (of_one.size() == 1) extents.rows = of_one[0];
  if (of_one.size() > 2 && extents.count != 1) {
    problem = "the scales are neither one, nor one a row, nor of blocks";
    return std::nullopt;
  }
  return extents;
}

// Whether the scales are MXFP8's, by their type and number.
bool are_of_mxfp8(const quantised_layer& layer, const scale_extents& scales) {
  return is_e8m0(*find(layer, weight_part::scales)) && scales.is_matrix && scales.rows == layer.n &&
         scales.columns != 1;
}

// LLM.int8's weight_format, which a file may leave out: 0, row after row. Older files may have the order of a kernel of
// bitsandbytes: 1, col32; 2, col_turing; 3, col_ampere.
std::string problem_of_weight_format(const quantised_layer& layer) {
  const tensor_entry* const order = find(layer, weight_part::state);
  if (!order) return {};
  if (order->format != weight_format::u8 || order->elements != 1)
    return "weight_format is not one number of U8";
  const auto value = std::to_integer<unsigned>(order->bytes[0]);
  if (value == 0) return {};
  return text("weight_format is ", value,
              ", the order of a kernel of bitsandbytes; kaio reads 0, row after row");
}

// ComfyUI's comfy_quant, a text of JSON with the format of the layer.
std::string problem_of_comfy_quant(const quantised_layer& layer) {
  const tensor_entry* const state = find(layer, weight_part::state);
  if (!state) return {};
  try {
    const json values = parse_json({reinterpret_cast<const char*>(state->bytes.data()), state->bytes.size()},
                                   json_dialect::python);
    const std::string_view format = values.text_of("format");
    if (format == "float8_e4m3fn" || format == "float8_e5m2") return {};
    return text("comfy_quant has the format ", host::printable(format),
                "; kaio reads float8_e4m3fn, float8_e5m2");
  } catch (const json_error&) {
    return "comfy_quant is no JSON";
  }
}

// The scheme has no zero points. Older files of compressed-tensors have them, all 0; others are refused.
std::string problem_of_zeros_of_fp8(const quantised_layer& layer) {
  const tensor_entry* const zeros = find(layer, weight_part::zero_points);
  if (!zeros || std::ranges::all_of(zeros->bytes, [](std::byte b) { return b == std::byte{0}; })) return {};
  return "weight_zero_point is not 0, and FP8 has no zero points";
}

}  // namespace

// codes {N, K}, SCB {N}
bool derive_llm_int8(quantised_layer& layer, const quantisation_config*) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  if (codes.shape.size() != 2) return contradicts(layer, "weight is not of 2 dimensions");
  layer.n = codes.shape[0];
  layer.k = layer.group = codes.shape[1];
  layer.bits = 8;
  if (scales.elements != layer.n || (scales.shape.size() != 1 && scales.shape[0] != layer.n))
    return contradicts(layer, "SCB is not of one number a row");
  std::string problem = problem_of_weight_format(layer);
  return problem.empty() || contradicts(layer, std::move(problem));
}

// scales: one, one a row, of groups of a row, or of blocks; as many zero points as scales
bool derive_rows(quantised_layer& layer, const quantisation_config* config) {
  const bool is_fp8 = layer.scheme == weight_scheme::fp8;
  std::string problem;
  const auto scales = set_extents(layer, problem);
  if (!scales) return contradicts(layer, std::move(problem));
  if (is_fp8 && are_of_mxfp8(layer, *scales)) return false;
  if (scales->count == 1 || (scales->count == layer.n && scales->rows == layer.n))
    layer.group = layer.k;
  else if (!scales->is_matrix)
    problem = "the scales are neither one, nor one a row, nor of blocks";
  else if (scales->rows == layer.n)
    problem = set_group(layer, scales->columns, config);
  else
    problem = set_blocks(layer, scales->rows, scales->columns, config, false);
  const tensor_entry* const zeros = find(layer, weight_part::zero_points);
  if (problem.empty() && is_fp8) problem = problem_of_zeros_of_fp8(layer);
  if (problem.empty() && is_fp8) problem = problem_of_comfy_quant(layer);
  if (problem.empty() && !is_fp8 && zeros && zeros->elements != find(layer, weight_part::scales)->elements)
    problem = "weight_zero_point does not have as many numbers as weight_scale";
  if (problem.empty() && !is_fp8) problem = problem_of_missing_zeros(layer, config);
  return problem.empty() || contradicts(layer, std::move(problem));
}

// scales of blocks in both dimensions, or one
bool derive_blocks(quantised_layer& layer, const quantisation_config* config) {
  std::string problem;
  const auto scales = set_extents(layer, problem);
  if (!scales) return contradicts(layer, std::move(problem));
  if (!scales->is_matrix && scales->count != 1)
    return contradicts(layer, "weight and weight_scale_inv are not of 2 dimensions");
  if (config && config->inverse_scales)
    return contradicts(layer,
                       "the configuration's weight_scale_semantics is inverse: its codes are divided by "
                       "weight_scale_inv, and kaio multiplies");
  if (are_of_mxfp8(layer, *scales)) return false;
  // If an expert has one scale, it is that of its whole matrix.
  const bool is_of_experts = find(layer, weight_part::codes)->shape.size() == 3;
  if (!scales->is_matrix || (is_of_experts && scales->count == 1)) {
    layer.group = layer.k;
    return true;
  }
  problem = set_blocks(layer, scales->rows, scales->columns, config, true);
  return problem.empty() || contradicts(layer, std::move(problem));
}

// scales {N, K / 32}
bool derive_mxfp8(quantised_layer& layer, const quantisation_config*) {
  std::string problem;
  const auto scales = set_extents(layer, problem);
  if (!scales) return contradicts(layer, std::move(problem));
  layer.group = 32;
  return (layer.k % 32 == 0 && scales->is_matrix && scales->rows == layer.n &&
          scales->columns == layer.k / 32) ||
         contradicts(layer, "the scales are not one for each group of a row");
}

}  // namespace kaio::weights
