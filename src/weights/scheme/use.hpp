#pragma once
// The operation for the layers of each scheme, including repack or dequantise before it.

#include "weights/scheme/scheme_table.hpp"

namespace kaio::weights {

using use_function = layer_use(const quantised_layer& layer);
use_function use_of_words, use_of_awq_gemv_fast, use_of_int8, use_of_llm_int8, use_of_fp8,
    use_of_bitsandbytes, use_of_e2m1, use_of_tinygemm, use_of_int4_plain, use_of_mx;

}  // namespace kaio::weights
