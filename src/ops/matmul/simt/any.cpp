// f32 by multiply-adds: lines that begin anywhere, for sm_90. Older devices take the kernels of sm70.cpp.

#include "ops/matmul/simt/rows.hpp"
#include "ops/matmul/simt/splits.hpp"

namespace kaio::ops {

void add_simt_any(variant_list& list) {
  add_simt_general_layouts<simt_splits_64>(list);
  add_simt_general_layouts<simt_splits_32>(list);
}

}  // namespace kaio::ops
