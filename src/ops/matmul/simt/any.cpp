// f32 by multiply-adds: lines that begin anywhere.

#include "ops/matmul/simt/rows.hpp"

namespace kaio::ops {

void add_simt_any(variant_list& list) {
  add_simt_general_layouts<simt_anywhere>(list);
  add_simt_general_layouts<simt_split_anywhere>(list);
}

}  // namespace kaio::ops
