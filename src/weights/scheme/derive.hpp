#pragma once
// What the shapes of a layer's tensors say about its weight, by families of schemes.

#include <kaio/weights/quantisation.hpp>

#include <string>

namespace kaio::weights {

// The first tensor of a layer that is this part of it; null: there is none.
const tensor_entry* find(const quantised_layer& layer, weight_part part);

// Where a layer cannot be what its tensors' names say, or not by the configuration: has the problem, and no numbers.
// True, which a derive_function returns for it.
bool contradicts(quantised_layer& layer, std::string problem);

using derive_function = bool(quantised_layer& layer, const quantisation_config* config);
derive_function derive_gptq, derive_awq_gemm, derive_awq_gemv, derive_awq_gemv_fast, derive_packed_int,
    derive_rows, derive_blocks, derive_bitsandbytes, derive_fp4_pairs, derive_mxfp4_blocks, derive_mxfp8,
    derive_torchao_bytes, derive_torchao_tinygemm, derive_torchao_int4_plain, derive_torchao_nvfp4,
    derive_torchao_mx;

}  // namespace kaio::weights
