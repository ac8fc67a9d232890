#pragma once
// What the shapes of a layer's tensors say about its weight, by families of schemes.

#include <kaio/weights/quantisation.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>

namespace kaio::weights {

inline bool is(const tensor_entry& t, std::initializer_list<std::uint64_t> shape) {
  return std::ranges::equal(t.shape, shape);
}

inline std::uint64_t ratio_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// Files store E8M0 as U8 too.
inline bool is_e8m0(const tensor_entry& t) {
  return t.format == weight_format::e8m0 || t.format == weight_format::u8;
}

// The first tensor of a layer that is this part of it; null: there is none.
const tensor_entry* find(const quantised_layer& layer, weight_part part);

// For a layer that cannot be what its tensors' names say, or that contradicts the configuration: sets the problem, and
// clears the numbers. Returns true, as the derive_function then does.
bool contradicts(quantised_layer& layer, std::string problem);

// Sets the group along K: the configuration's if it fits the number of scales, else that of the index (I32, U32 or I64, K
// numbers), else the only size that fits. The last group may have fewer codes. Returns the problem, if there is one.
std::string set_group(quantised_layer& layer, std::uint64_t groups, const quantisation_config* config,
                      const tensor_entry* index = nullptr);

// Sets blocks for `rows` x `columns` scales: the configuration's, else 128 x 128, else the only size that fits. Returns
// the problem, if there is one.
std::string set_blocks(quantised_layer& layer, std::uint64_t rows, std::uint64_t columns,
                       const quantisation_config* config, bool only_of_128);

// Zero points of one byte each, signed, that fit into the bits of a code. Returns the problem, if there is one.
std::string problem_of_signed_zeros(const tensor_entry& zeros, unsigned bits);

// The configuration says that codes have zero points, and the layer has none. Returns the problem, if there is one.
std::string problem_of_missing_zeros(const quantised_layer& layer, const quantisation_config* config);

// The scales of a swizzled layer, row after row.
std::vector<std::byte> unswizzled(const quantised_layer& layer);

using derive_function = bool(quantised_layer& layer, const quantisation_config* config);
derive_function derive_gptq, derive_awq_gemm, derive_awq_gemv, derive_awq_gemv_fast, derive_packed_int,
    derive_rows, derive_llm_int8, derive_blocks, derive_bitsandbytes, derive_fp4_pairs, derive_mxfp4_blocks,
    derive_mxfp8, derive_torchao_bytes, derive_torchao_tinygemm, derive_torchao_int4_plain,
    derive_torchao_nvfp4, derive_torchao_mx;

}  // namespace kaio::weights
