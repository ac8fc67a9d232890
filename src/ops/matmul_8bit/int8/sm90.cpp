// Products of i8 on sm_90a, both operands along K: wgmma takes no other layout of 8-bit operands.

#include <kaio/ops/matmul/sm90/table_row.hpp>

#include "ops/matmul_8bit/common/few_rows.hpp"
#include "ops/matmul_8bit/int8/call.hpp"

namespace kaio::ops {

namespace {

template <sm90_config C>
void append_tile(variant_list& list) {
  add_int8_rows(list, describe_sm90<C, i8, int8_output, int8_general>(),
                [](const stream& s, const matmul_call& call, const int8_terms& terms) {
                  launch_call_sm90<C, i8, int8_output, int8_general>(s, call, terms);
                });
}
// Takes scales and a column bias alone, or none; threads apply them in registers. C has one type and is
// stored by tensor copies.
template <sm90_config C, class Out, class Epilogue>
void append_scaled(variant_list& list) {
  matmul_variant row = describe_sm90<C, i8, Out, Epilogue>();
  row.general = false;
  row.run = [](const stream& s, const matmul_call& call, const matmul_variant&) {
    if constexpr (std::is_same_v<Epilogue, int8_sums>)
      launch_call_sm90<C, i8, Out, Epilogue>(s, call);
    else
      launch_call_sm90<C, i8, Out, Epilogue>(s, call, static_cast<const int8_call&>(call).epilogue);
  };
  list.push_back(row);
}
template <sm90_config C>
void append_scaled_outputs(variant_list& list) {
  append_scaled<C, f32, int8_scaled>(list);
  append_scaled<C, f16, int8_scaled>(list);
  append_scaled<C, bf16, int8_scaled>(list);
  append_scaled<C, i32, int8_sums>(list);
}
template <sm90_split_config C>
void append_split(variant_list& list) {
  add_int8_rows(list, describe_split<C, i8, int8_output, int8_general>(),
                [](const stream& s, const matmul_call& call, const int8_terms& terms) {
                  launch_call_split<C, i8, int8_output, int8_general>(s, call, terms);
                });
}

}  // namespace

void add_int8_sm90(variant_list& list) {
  constexpr sm90_config medium{.m = 128, .n = 128, .stages = 6};
  constexpr sm90_config large{.m = 128, .n = 256, .stages = 4, .cluster_m = 2};
  append_scaled_outputs<large>(list);
  append_scaled_outputs<medium>(list);
  append_tile<medium>(list);
  append_split<few_rows_16>(list);
  append_split<few_rows_32>(list);
  append_split<few_rows_64>(list);
  append_split<few_rows_64_deep>(list);
}

}  // namespace kaio::ops
