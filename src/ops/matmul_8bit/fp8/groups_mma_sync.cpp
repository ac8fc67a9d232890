// Products of e4m3 with group scales by mma.sync, on sm_89 and later.

#include <kaio/ops/matmul/mma_sync/cuts.hpp>
#include <kaio/ops/matmul/mma_sync/table_row.hpp>

#include "ops/matmul_8bit/fp8/call.hpp"

namespace kaio::ops {

namespace {

using product = instruction_product<mma_m16n8k32<f32, e4m3>>;

template <mma_sync_config C, class Epilogue>
void append_cut(variant_list& list) {
  add_fp8_rows(list, describe_mma_sync<C, product, fp8_output, Epilogue>(),
               [](const stream& s, const fp8_call& call, const matmul_variant&) {
                 launch_call_mma_sync<C, product, fp8_output, Epilogue>(s, call, call.epilogue);
               });
}

}  // namespace

void add_fp8_groups_mma_sync(variant_list& list) {
  append_cut<mma_cuts::promoted_8(), fp8_grouped<fp8_general>>(list);
}

}  // namespace kaio::ops
