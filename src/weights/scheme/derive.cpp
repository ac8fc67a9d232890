// Shapes of the tensors of a layer, as docs/weights.md lists them. Extents come from a file: products are
// checked.

#include "weights/scheme/derive.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/base/text.hpp"
#include "weights/base/byte_reader.hpp"
#include "weights/base/checks.hpp"
#include "weights/base/json.hpp"

namespace kaio::weights {
namespace {

using runtime::text;
using std::uint64_t;

// n * bits / 32; nothing if these are no whole words.
std::optional<uint64_t> words(uint64_t n, unsigned bits) {
  const auto total = product(n, bits);
  if (!total || *total % 32 != 0) return std::nullopt;
  return *total / 32;
}

bool of_method(const quantisation_config* config, std::string_view method) {
  return config && config->method == method;
}

// Compares the bits of the tensors with the configuration's. Returns the problem, if there is one.
std::string problem_of_bits(const quantised_layer& layer, const quantisation_config* config) {
  if (!config || config->per_layer || config->bits == 0 || config->bits == layer.bits) return {};
  return text("the configuration has codes of ", config->bits, " bits, and the tensors have ", layer.bits);
}

// Sets the group, which only the configuration has. The files of AutoAWQ's gemv kernels have `words` words of eight zero
// points for the groups. Returns the problem, if there is one.
std::string set_group_of_gemv(quantised_layer& layer, const quantisation_config* config, uint64_t words) {
  if (!config || !config->group || *config->group == 0)
    return "the group size needs a configuration that has it; none is given";
  const uint64_t group = *config->group < 0 ? layer.k : static_cast<uint64_t>(*config->group);
  if (group == 0 || layer.k % group != 0) return "the configuration's group_size does not divide K";
  // AutoAWQ pads to multiples of 2 words for groups of 64, and of 4 for 32. It writes no other groups below 128.
  const uint64_t needed = ratio_up(layer.k / group, 8), multiple = group == 64 ? 2 : group == 32 ? 4 : 1;
  if (group >= 128 || multiple != 1 ? words != ratio_up(needed, multiple) * multiple : words < needed)
    return "qzeros and scales do not have the groups of the configuration's group_size";
  layer.group = group;
  return {};
}

// The bits of GPTQ's codes: from the words of zero points, else from the index, else the configuration's; 0: not known.
unsigned bits_of_gptq(const quantised_layer& layer, uint64_t words_of_k, const quantisation_config* config) {
  const tensor_entry* const zeros = find(layer, weight_part::zero_points);
  const tensor_entry* const index = find(layer, weight_part::group_index);
  for (unsigned bits = 2; bits <= 8; ++bits)
    if (zeros ? zeros->shape.size() == 2 && words(layer.n, bits) == zeros->shape[1]
              : index && words(index->elements, bits) == words_of_k)
      return bits;
  const bool is_said = !zeros && !index && config && !config->per_layer;
  return is_said && config->bits >= 2 && config->bits <= 8 ? config->bits : 0;
}

}  // namespace

const tensor_entry* find(const quantised_layer& layer, weight_part part) {
  for (const quantised_part& p : layer.parts)
    if (p.part == part) return p.tensor;
  return nullptr;
}

bool contradicts(quantised_layer& layer, std::string problem) {
  layer.problem = std::move(problem);
  layer.n = layer.k = layer.group = 0;
  layer.block_rows = layer.block_columns = layer.nested_group = 0;
  return true;
}

// codes {K * bits / 32, N}, scales {G, N}, zero points {G, N * bits / 32}, index {K}
bool derive_gptq(quantised_layer& layer, const quantisation_config* config) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  const tensor_entry *const zeros = find(layer, weight_part::zero_points), *const index =
                                                                               find(layer,
                                                                                    weight_part::group_index);
  if (of_method(config, "awq") || codes.shape.size() != 2 || scales.shape.size() != 2) return false;
  if (codes.shape[1] != scales.shape[1] || codes.elements == 0 || scales.elements == 0) return false;
  layer.n = codes.shape[1];
  if (zeros && (zeros->shape.size() != 2 || zeros->shape[0] != scales.shape[0]))
    return contradicts(layer, "qzeros do not fit scales");
  layer.bits = bits_of_gptq(layer, codes.shape[0], config);
  if (layer.bits == 0)
    return contradicts(layer, zeros ? "qzeros do not fit scales"
                              : index
                                  ? "g_idx is not of K numbers"
                                  : "the number of bits needs a configuration that has it; none is given");
  if (std::string problem = problem_of_bits(layer, config); !problem.empty())
    return contradicts(layer, std::move(problem));
  const auto code_bits = product(codes.shape[0], 32);
  if (!code_bits || *code_bits % layer.bits != 0)
    return contradicts(layer, "qweight, qzeros and scales do not fit");
  layer.k = *code_bits / layer.bits;
  if (index && !is(*index, {layer.k})) return contradicts(layer, "g_idx is not of K numbers");
  std::string problem = set_group(layer, scales.shape[0], config, index);
  if (problem.empty()) problem = problem_of_missing_zeros(layer, config);
  return problem.empty() || contradicts(layer, std::move(problem));
}

// codes {K, N / 8}, scales {G, N}, zero points {G, N / 8}
bool derive_awq_gemm(quantised_layer& layer, const quantisation_config* config) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  if (codes.shape.size() != 2 || scales.shape.size() != 2 || codes.elements == 0) return false;
  if (product(codes.shape[1], 8) != scales.shape[1]) return false;
  layer.n = scales.shape[1];
  layer.k = codes.shape[0];
  layer.bits = 4;
  if (!is(*find(layer, weight_part::zero_points), {scales.shape[0], codes.shape[1]}))
    return contradicts(layer, "qzeros do not fit scales");
  std::string problem = problem_of_bits(layer, config);
  if (problem.empty()) problem = set_group(layer, scales.shape[0], config);
  return problem.empty() || contradicts(layer, std::move(problem));
}

// codes {N, K / 8}, scales {N, 8 * Z}, zero points {N, Z}, padded
bool derive_awq_gemv(quantised_layer& layer, const quantisation_config* config) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales),
                     &zeros = *find(layer, weight_part::zero_points);
  if (codes.shape.size() != 2 || scales.shape.size() != 2 || zeros.shape.size() != 2) return false;
  const auto k = product(codes.shape[1], 8);
  if (!k || codes.shape[0] != scales.shape[0] || codes.shape[0] != zeros.shape[0]) return false;
  layer.n = codes.shape[0];
  layer.k = *k;
  layer.bits = 4;
  if (product(zeros.shape[1], 8) != scales.shape[1]) return contradicts(layer, "qzeros do not fit scales");
  std::string problem = problem_of_bits(layer, config);
  if (problem.empty()) problem = set_group_of_gemv(layer, config, zeros.shape[1]);
  return problem.empty() || contradicts(layer, std::move(problem));
}

// codes of 16 bits {N / 4, K}, scales {8 * Z, N}, zero points the same
bool derive_awq_gemv_fast(quantised_layer& layer, const quantisation_config* config) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  if (codes.shape.size() != 2 || scales.shape.size() != 2) return false;
  layer.n = scales.shape[1];
  layer.k = codes.shape[1];
  layer.bits = 4;
  if (product(codes.shape[0], 4) != layer.n) return contradicts(layer, "qweight does not fit scales");
  if (find(layer, weight_part::zero_points)->shape != scales.shape)
    return contradicts(layer, "qzeros do not fit scales");
  if (scales.shape[0] % 8 != 0) return contradicts(layer, "scales are not padded to 8 groups");
  std::string problem = problem_of_bits(layer, config);
  if (problem.empty()) problem = set_group_of_gemv(layer, config, scales.shape[0] / 8);
  return problem.empty() || contradicts(layer, std::move(problem));
}

// codes {N, ceil(K * bits / 32)}, scales {N, G}, shape {2}: N, K
bool derive_packed_int(quantised_layer& layer, const quantisation_config* config) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales),
                     &shape = *find(layer, weight_part::shape);
  if (!is(shape, {2}) || codes.shape.size() != 2 || scales.shape.size() != 2)
    return contradicts(layer,
                       "weight_packed, weight_scale and weight_shape are not of 2, 2 and 1 dimensions");
  const auto extent = [&](std::size_t i) -> std::int64_t {
    if (shape.format == weight_format::i32) return load<std::int32_t>(shape.bytes.data() + 4 * i);
    return load<std::int64_t>(shape.bytes.data() + 8 * i);
  };
  const std::int64_t n = extent(0), k = extent(1);
  if (n <= 0 || k <= 0 || static_cast<uint64_t>(n) != codes.shape[0] || codes.shape[0] != scales.shape[0])
    return contradicts(layer, "weight_shape does not fit weight_packed and weight_scale");
  layer.n = static_cast<uint64_t>(n);
  layer.k = static_cast<uint64_t>(k);
  const auto has_bits = [&](unsigned bits) {
    const auto total = product(layer.k, bits);
    return total && ratio_up(*total, 32) == codes.shape[1];
  };
  const tensor_entry* const zeros = find(layer, weight_part::zero_points);
  const bool are_bytes = zeros && zeros->format == weight_format::i8;  // of an older layout: {N, G}, signed
  const auto zeros_have_bits = [&](unsigned bits) {
    const auto total = product(layer.n, bits);
    const uint64_t rows = are_bytes ? layer.n : total ? ratio_up(*total, 32) : 0;
    return !zeros || (total && is(*zeros, {rows, scales.shape[1]}));
  };
  // If K codes need less than a word, several numbers of bits need the same number of words.
  if (config && config->bits >= 1 && config->bits <= 8 && has_bits(config->bits)) layer.bits = config->bits;
  for (const unsigned bits : {4u, 8u, 1u, 2u, 3u, 5u, 6u, 7u})
    if (layer.bits == 0 && has_bits(bits) && zeros_have_bits(bits)) layer.bits = bits;
  for (const unsigned bits : {4u, 8u, 1u, 2u, 3u, 5u, 6u, 7u})
    if (layer.bits == 0 && has_bits(bits)) layer.bits = bits;
  if (layer.bits == 0) return contradicts(layer, "weight_packed does not have K codes of 1 to 8 bits");
  std::string problem = problem_of_bits(layer, config);
  const tensor_entry* const index = find(layer, weight_part::group_index);
  if (problem.empty() && !zeros_have_bits(layer.bits))
    problem = "weight_zero_point does not fit weight_scale";
  if (problem.empty() && are_bytes) problem = problem_of_signed_zeros(*zeros, layer.bits);
  if (problem.empty()) problem = problem_of_missing_zeros(layer, config);
  if (problem.empty() && index && !is(*index, {layer.k})) problem = "weight_g_idx is not of K numbers";
  if (problem.empty()) problem = set_group(layer, scales.shape[1], config, index);
  return problem.empty() || contradicts(layer, std::move(problem));
}

// Everything is in the state, a text of JSON.
bool derive_bitsandbytes(quantised_layer& layer, const quantisation_config*) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &state = *find(layer, weight_part::state),
                     &scales = *find(layer, weight_part::scales);
  json values;
  try {
    values = parse_json({reinterpret_cast<const char*>(state.bytes.data()), state.bytes.size()},
                        json_dialect::python);
  } catch (const json_error&) {
    return contradicts(layer, "quant_state is no JSON");
  }
  const json* const shape = values.find("shape");
  if (!shape || shape->items.size() != 2 || !shape->items[0].is_unsigned() || !shape->items[1].is_unsigned())
    return contradicts(layer, "quant_state has no shape of 2 dimensions");
  const uint64_t block = values.number_of("blocksize", 0);
  if (block == 0) return contradicts(layer, "quant_state has no blocksize that is a number from 1 on");
  layer.n = shape->items[0].number;
  layer.k = shape->items[1].number;
  layer.bits = 4;
  layer.group = block;
  const auto elements = product(layer.n, layer.k);
  if (!elements || ratio_up(*elements, 2) != codes.bytes.size())
    return contradicts(layer, "weight does not have the codes of quant_state's shape");
  const uint64_t blocks = ratio_up(*elements, block);
  if (blocks != scales.elements) return contradicts(layer, "absmax is not of one number a block");
  if (scales.format != weight_format::u8) return true;
  const tensor_entry *const outer = find(layer, weight_part::nested_scales), *const table = find(
                                                                                 layer,
                                                                                 weight_part::nested_table);
  if (!outer || !table)
    return contradicts(layer, "absmax is of codes, and has no nested_absmax and nested_quant_map");
  if (table->elements != 256) return contradicts(layer, "nested_quant_map is not of 256 numbers");
  layer.nested_group = values.number_of("nested_blocksize", 0);
  if (layer.nested_group == 0)
    return contradicts(layer, "quant_state has no nested_blocksize that is a number from 1 on");
  if (ratio_up(blocks, layer.nested_group) != outer->elements)
    return contradicts(layer, "nested_absmax is not of one number a block of absmax");
  const double offset = values.real_of("nested_offset", std::nan(""));
  if (!std::isfinite(offset)) return contradicts(layer, "quant_state has no nested_offset that is a number");
  layer.nested_offset = static_cast<float>(offset);
  return true;
}

// codes {N, K / 2}, scales {N, K / group}: 16 in NVFP4, 32 in MXFP4
bool derive_fp4_pairs(quantised_layer& layer, const quantisation_config*) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  const unsigned group = layer.scheme == weight_scheme::mxfp4_packed ? 32 : 16;
  const std::size_t rank = codes.shape.size();
  const unsigned codes_of_an_element = codes.format == weight_format::f4_e2m1 ? 1 : 2;
  const auto k = rank < 2 ? std::nullopt : product(codes.shape[rank - 1], codes_of_an_element);
  if (!k || scales.shape.size() != rank ||
      !std::equal(scales.shape.begin(), scales.shape.end() - 2, codes.shape.begin()))
    return contradicts(layer, "the codes and scales are not of the same dimensions");
  layer.n = codes.shape[rank - 2];
  layer.k = *k;
  layer.bits = 4;
  layer.group = group;
  if (layer.k % group != 0 || scales.shape[rank - 1] != layer.k / group || scales.shape[rank - 2] != layer.n)
    return contradicts(layer, "the scales are not one for each group of a row");
  return true;
}

// codes {..., N, K / 32, 16}, scales {..., N, K / 32}
bool derive_mxfp4_blocks(quantised_layer& layer, const quantisation_config*) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  const std::size_t rank = codes.shape.size();
  if (rank < 3 || codes.shape[rank - 1] != 16) return contradicts(layer, "the blocks are not of 16 bytes");
  if (!std::ranges::equal(std::span(codes.shape).first(rank - 1), scales.shape))
    return contradicts(layer, "the scales are not one for each block");
  const auto k = product(codes.shape[rank - 2], 32);
  if (!k) return contradicts(layer, "K does not fit into 64 bits");
  layer.n = codes.shape[rank - 3];
  layer.k = *k;
  layer.bits = 4;
  layer.group = 32;
  return true;
}

}  // namespace kaio::weights
