// Products of e4m3 by mma.sync on sm_89 and later, with asynchronous copies of lines along K.

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

// Takes scales and a column bias alone. A lane reads them ahead of its stores.
template <mma_sync_config C>
void append_scaled(variant_list& list) {
  matmul_variant row = describe_mma_sync<C, product, any_output, fp8_scaled>();
  row.general = false;
  row.most_batches = 65535;
  row.run = [](const stream& s, const matmul_call& call, const matmul_variant&) {
    launch_call_mma_sync<C, product, any_output, fp8_scaled>(s, call,
                                                             static_cast<const fp8_call&>(call).epilogue);
  };
  add_for_each_output(list, row);
}

}  // namespace

void add_fp8_mma_sync(variant_list& list) {
  append_scaled<mma_cuts::large_8_narrow()>(list);
  append_cut<mma_cuts::large_8(), fp8_general>(list);
}

}  // namespace kaio::ops
