// Shapes of the tensors of a layer, as docs/weights.md lists them. Extents come from a file: products are
// checked.

#include "weights/scheme/derive.hpp"

#include <algorithm>

#include "weights/base/byte_reader.hpp"
#include "weights/base/checks.hpp"
#include "weights/base/json.hpp"

namespace kaio::weights {
namespace {

using std::uint64_t;

const tensor_entry* find(const quantised_layer& layer, weight_part part) {
  for (const quantised_part& p : layer.parts)
    if (p.part == part) return p.tensor;
  return nullptr;
}

bool is(const tensor_entry& t, std::initializer_list<uint64_t> shape) {
  return std::ranges::equal(t.shape, shape);
}

uint64_t ratio_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// n * bits / 32; nothing where these are no whole words.
std::optional<uint64_t> words(uint64_t n, unsigned bits) {
  const auto total = product(n, bits);
  if (!total || *total % 32 != 0) return std::nullopt;
  return *total / 32;
}

// Where a layer cannot be what its tensors' names say.
bool contradicts(quantised_layer& layer, std::string_view problem) {
  layer.problem = problem;
  layer.n = layer.k = layer.group = 0;
  return true;
}

bool of_method(const quantisation_config* config, std::string_view method) {
  return config && config->method == method;
}

// Groups along K from the number of scales.
bool set_group(quantised_layer& layer, uint64_t groups) {
  if (groups == 0 || groups > layer.k) return false;
  layer.group = ratio_up(layer.k, groups);
  return ratio_up(layer.k, layer.group) == groups;
}

// Groups along K that the configuration alone has, and the files of AutoAWQ's gemv kernels `words` words of eight
// zero points of. Gives the problem, if there is one.
std::string_view set_group_of_gemv(quantised_layer& layer, const quantisation_config* config,
                                   uint64_t words) {
  if (!config || !config->group || *config->group == 0) return {};
  const uint64_t group = *config->group < 0 ? layer.k : static_cast<uint64_t>(*config->group);
  if (group == 0 || layer.k % group != 0) return "the configuration's group_size does not divide K";
  // Groups of 64 and 32 are padded to 2 and 4 words; other ones below 128 AutoAWQ does not write.
  const uint64_t needed = ratio_up(layer.k / group, 8), multiple = group == 64 ? 2 : group == 32 ? 4 : 1;
  if (group >= 128 || multiple != 1 ? words != ratio_up(needed, multiple) * multiple : words < needed)
    return "qzeros and scales do not have the groups of the configuration's group_size";
  layer.group = group;
  return {};
}

// A g_idx that is neither k / group nor all 0, which means the same.
bool is_permuted(const tensor_entry& index, uint64_t group) {
  bool zeros = true, in_order = true;
  for (uint64_t k = 0; k < index.elements && (zeros || in_order); ++k) {
    const auto g = load<std::int32_t>(index.bytes.data() + 4 * k);
    zeros = zeros && g == 0;
    in_order = in_order && g >= 0 && static_cast<uint64_t>(g) == k / group;
  }
  return !zeros && !in_order;
}

}  // namespace

// codes {K * bits / 32, N}, scales {G, N}, zero points {G, N * bits / 32}, index {K}
bool derive_gptq(quantised_layer& layer, const quantisation_config* config) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  const tensor_entry *const zeros = find(layer, weight_part::zero_points), *const index =
                                                                               find(layer,
                                                                                    weight_part::group_index);
  if (of_method(config, "awq") || codes.shape.size() != 2 || scales.shape.size() != 2) return false;
  if (codes.shape[1] != scales.shape[1] || codes.elements == 0 || scales.elements == 0) return false;
  layer.n = codes.shape[1];
  for (const unsigned bits : {4u, 8u, 3u, 2u})
    if (of_method(config, "gptq") && config->bits != 0
            ? bits == config->bits
            : zeros && zeros->shape.size() == 2 && words(layer.n, bits) == zeros->shape[1])
      layer.bits = bits;
  if (layer.bits == 0 && !zeros) layer.bits = 4;
  const auto code_bits = product(codes.shape[0], 32);
  if (layer.bits == 0 || !code_bits || *code_bits % layer.bits != 0)
    return contradicts(layer, "qweight, qzeros and scales do not fit");
  layer.k = *code_bits / layer.bits;
  if (!set_group(layer, scales.shape[0])) return contradicts(layer, "scales have more groups than K");
  const auto zero_words = words(layer.n, layer.bits);
  if (zeros && !(zero_words && is(*zeros, {scales.shape[0], *zero_words})))
    return contradicts(layer, "qzeros do not fit scales");
  if (index && !is(*index, {layer.k})) return contradicts(layer, "g_idx is not of K numbers");
  layer.act_order = index && is_permuted(*index, layer.group);
  return true;
}

// codes {K, N / 8}, scales {G, N}, zero points {G, N / 8}
bool derive_awq_gemm(quantised_layer& layer, const quantisation_config*) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  if (codes.shape.size() != 2 || scales.shape.size() != 2 || codes.elements == 0) return false;
  if (product(codes.shape[1], 8) != scales.shape[1]) return false;
  layer.n = scales.shape[1];
  layer.k = codes.shape[0];
  layer.bits = 4;
  if (!set_group(layer, scales.shape[0])) return contradicts(layer, "scales have more groups than K");
  if (!is(*find(layer, weight_part::zero_points), {scales.shape[0], codes.shape[1]}))
    return contradicts(layer, "qzeros do not fit scales");
  return true;
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
  const std::string_view problem = set_group_of_gemv(layer, config, zeros.shape[1]);
  return problem.empty() || contradicts(layer, problem);
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
  const std::string_view problem = scales.shape[0] % 8 != 0
                                       ? "scales are not padded to 8 groups"
                                       : set_group_of_gemv(layer, config, scales.shape[0] / 8);
  return problem.empty() || contradicts(layer, problem);
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
  for (const unsigned bits : {4u, 8u, 1u, 2u, 3u, 5u, 6u, 7u}) {
    const auto total = product(layer.k, bits);
    const bool is_wanted =
        !of_method(config, "compressed-tensors") || config->bits == 0 || config->bits == bits;
    if (layer.bits == 0 && is_wanted && total && ratio_up(*total, 32) == codes.shape[1]) layer.bits = bits;
  }
  if (layer.bits == 0) return contradicts(layer, "weight_packed does not have K codes of 1 to 8 bits");
  if (!set_group(layer, scales.shape[1])) return contradicts(layer, "weight_scale has more groups than K");
  const tensor_entry* const index = find(layer, weight_part::group_index);
  if (index && index->elements == layer.k) layer.act_order = is_permuted(*index, layer.group);
  return true;
}

// codes {N, K} of 8 bits, scales of all of it or of each row
bool derive_rows(quantised_layer& layer, const quantisation_config*) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  if (codes.shape.size() != 2) return contradicts(layer, "weight is not of 2 dimensions");
  layer.n = codes.shape[0];
  layer.k = codes.shape[1];
  layer.bits = 8;
  if (scales.elements == 1 ||
      (scales.elements == layer.n && (scales.shape.size() == 1 || scales.shape[0] == layer.n)))
    layer.group = layer.k;
  else if (scales.shape.size() != 2)
    return contradicts(layer, "the scales are neither one, nor one a row, nor of blocks");
  else if (scales.shape[0] == layer.n && !set_group(layer, scales.shape[1]))
    return contradicts(layer, "the scales have more groups than K");
  return true;
}

// codes {N, K} of 8 bits, scales of blocks in both dimensions
bool derive_blocks(quantised_layer& layer, const quantisation_config*) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  if (codes.shape.size() != 2 || scales.shape.size() != 2)
    return contradicts(layer, "weight and weight_scale_inv are not of 2 dimensions");
  layer.n = codes.shape[0];
  layer.k = codes.shape[1];
  layer.bits = 8;
  if (scales.shape[0] != ratio_up(layer.n, 128) || scales.shape[1] != ratio_up(layer.k, 128))
    return contradicts(layer, "weight_scale_inv is not of blocks of 128 x 128");
  return true;
}

// Everything is in the state, a text of JSON.
bool derive_bitsandbytes(quantised_layer& layer, const quantisation_config*) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &state = *find(layer, weight_part::state),
                     &scales = *find(layer, weight_part::scales);
  json text;
  try {
    text = parse_json({reinterpret_cast<const char*>(state.bytes.data()), state.bytes.size()});
  } catch (const json_error&) {
    return contradicts(layer, "quant_state is no JSON");
  }
  const json* const shape = text.find("shape");
  const uint64_t block = text.number_of("blocksize", 0);
  if (!shape || shape->items.size() != 2 || !shape->items[0].is_unsigned() ||
      !shape->items[1].is_unsigned() || block == 0)
    return contradicts(layer, "quant_state has no shape of 2 dimensions, or no blocksize");
  layer.n = shape->items[0].number;
  layer.k = shape->items[1].number;
  layer.bits = 4;
  layer.group = block;
  const auto elements = product(layer.n, layer.k);
  if (!elements || ratio_up(*elements, 2) != codes.bytes.size())
    return contradicts(layer, "weight does not have the codes of quant_state's shape");
  if (ratio_up(*elements, block) != scales.elements)
    return contradicts(layer, "absmax is not of one number a block");
  return true;
}

// codes {N, K / 2}, scales {N, K / group}: 16 in NVFP4, 32 in MXFP4
bool derive_fp4_pairs(quantised_layer& layer, const quantisation_config*) {
  const tensor_entry &codes = *find(layer, weight_part::codes), &scales = *find(layer, weight_part::scales);
  const unsigned group = layer.scheme == weight_scheme::mxfp4_packed ? 32 : 16;
  const std::size_t rank = codes.shape.size();
  const auto k = rank < 2 ? std::nullopt : product(codes.shape[rank - 1], 2);
  if (!k || scales.shape.size() != rank)
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
