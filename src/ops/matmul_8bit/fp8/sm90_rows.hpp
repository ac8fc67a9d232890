#pragma once
// Makes the table rows of matmul_fp8 from configurations of matmul's sm_90a kernels.

#include <kaio/ops/matmul/sm90/table_row.hpp>

#include "ops/matmul_8bit/common/few_rows.hpp"
#include "ops/matmul_8bit/common/tiles.hpp"
#include "ops/matmul_8bit/fp8/call.hpp"

namespace kaio::ops {

// Takes all epilogue arguments and every type of C.
template <sm90_config C, class T, class Epilogue>
void append_fp8_tile(variant_list& list) {
  add_fp8_rows(list, describe_sm90<C, T, fp8_output, Epilogue>(),
               [](const stream& s, const fp8_call& call, const matmul_variant&) {
                 launch_call_sm90<C, T, fp8_output, Epilogue>(s, call, call.epilogue);
               });
}
// Takes the arguments that threads apply in registers. C has one type and is stored by tensor copies.
template <sm90_config C, class Out, class Epilogue>
void append_fp8_in_registers(variant_list& list) {
  matmul_variant row = describe_sm90<C, e4m3, Out, Epilogue>();
  row.general = false;
  row.run = [](const stream& s, const matmul_call& call, const matmul_variant&) {
    launch_call_sm90<C, e4m3, Out, Epilogue>(s, call, static_cast<const fp8_call&>(call).epilogue);
  };
  list.push_back(row);
}
template <sm90_config C>
void append_fp8_scaled(variant_list& list) {
  append_fp8_in_registers<C, bf16, fp8_scaled>(list);
  append_fp8_in_registers<C, f16, fp8_scaled>(list);
}
template <sm90_split_config C, class Epilogue>
void append_fp8_split(variant_list& list) {
  for (const std::uint32_t splits : few_rows_splits)
    add_fp8_rows(list, describe_split<C, e4m3, fp8_output, Epilogue>(splits),
                 [](const stream& s, const fp8_call& call, const matmul_variant& v) {
                   launch_call_splits<C, e4m3, fp8_output, Epilogue>(s, call, v.cluster_splits,
                                                                     call.epilogue);
                 });
}

}  // namespace kaio::ops
