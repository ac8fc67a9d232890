// f32 by multiply-adds: lines that begin anywhere, and outputs of 16 bits.

#include "ops/matmul/simt_variants.hpp"

namespace kaio::ops {

void add_simt_any(variant_list& list) {
  add_simt_layouts<simt_anywhere, f32, general>(list);
  add_simt_layouts<simt_anywhere, f16, general>(list);
  add_simt_layouts<simt_anywhere, bf16, general>(list);
}

}  // namespace kaio::ops
