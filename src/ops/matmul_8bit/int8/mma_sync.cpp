// Products of i8 by mma.sync:
//
//   sm_80 on    lines along K, aligned: asynchronous copies
//               lines along K that begin at multiples of 4 bytes: asynchronous copies of 4 bytes
//               any address, B across K
//   sm_75       lines along K, aligned

#include <kaio/ops/matmul/mma_sync/cuts.hpp>
#include <kaio/ops/matmul/mma_sync/table_row.hpp>

#include "ops/matmul_8bit/int8/call.hpp"

namespace kaio::ops {

namespace {

using product = instruction_product<mma_m16n8k32<i32, i8>>;

template <mma_sync_config C, class Product = product>
void append_cut(variant_list& list) {
  add_int8_rows(list, describe_mma_sync<C, Product, int8_output, int8_general>(),
                [](const stream& s, const int8_call& call, const matmul_variant&) {
                  launch_call_mma_sync<C, Product, int8_output, int8_general>(s, call, call.epilogue);
                });
}

// Takes scales and a column bias alone. A lane reads them ahead of its stores.
template <mma_sync_config C>
void append_scaled(variant_list& list) {
  matmul_variant row = describe_mma_sync<C, product, any_output, int8_scaled>();
  row.general = false;
  row.most_batches = 65535;
  row.run = [](const stream& s, const matmul_call& call, const matmul_variant&) {
    launch_call_mma_sync<C, product, any_output, int8_scaled>(s, call,
                                                              static_cast<const int8_call&>(call).epilogue);
  };
  add_for_each_output(list, row);
}

}  // namespace

void add_int8_mma_sync(variant_list& list) {
  append_scaled<mma_cuts::large_8()>(list);
  append_cut<mma_cuts::large_8()>(list);
  append_cut<mma_cuts::words_8()>(list);
  append_cut<mma_cuts::unaligned(major::k, major::mn, 64)>(list);
  append_cut<mma_cuts::large_8_sm75(), int8_quarters_product>(list);
}

}  // namespace kaio::ops
