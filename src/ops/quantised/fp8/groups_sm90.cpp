// Products of e4m3 with scales of groups on sm_90a, both operands along K.

#include <kaio/ops/matmul/sm90/table_row.hpp>

#include "ops/quantised/fp8/call.hpp"

namespace kaio::ops {

namespace {

using general = fp8_grouped<fp8_general>;
using alone = fp8_grouped<fp8_alpha>;

template <sm90_config C>
void append_tile(variant_list& list) {
  add_fp8_rows(list, describe_sm90<C, e4m3, fp8_output, general>(),
               [](const stream& s, const fp8_call& call) {
                 launch_call_sm90<C, e4m3, fp8_output, general>(s, call, call.epilogue);
               });
}
template <sm90_config C>
void append_alone(variant_list& list) {
  matmul_variant row = describe_sm90<C, e4m3, bf16, alone>();
  row.general = false;
  row.run = [](const stream& s, const matmul_call& call, const matmul_variant&) {
    launch_call_sm90<C, e4m3, bf16, alone>(s, call, static_cast<const fp8_call&>(call).epilogue);
  };
  list.push_back(row);
}
template <sm90_split_config C>
void append_split(variant_list& list) {
  add_fp8_rows(list, describe_split<C, e4m3, fp8_output, general>(),
               [](const stream& s, const fp8_call& call) {
                 launch_call_split<C, e4m3, fp8_output, general>(s, call, call.epilogue);
               });
}

}  // namespace

void add_fp8_groups_sm90(variant_list& list) {
  constexpr sm90_config large{.m = 128, .n = 256, .stages = 4, .cluster_m = 2, .whole_producer = true};
  constexpr sm90_config medium{.m = 128, .n = 128, .stages = 6, .whole_producer = true};
  append_alone<large>(list);
  append_alone<medium>(list);
  append_tile<medium>(list);
  // Few rows of C, as columns of its transpose: the time is that of reading B.
  constexpr sm90_split_config rows_16{
      .m = 64, .n = 16, .stages = 5, .depth = 4, .splits = 2, .transposed = true};
  constexpr sm90_split_config rows_64{
      .m = 64, .n = 64, .stages = 6, .depth = 2, .splits = 2, .transposed = true};
  append_split<rows_16>(list);
  append_split<rows_64>(list);
}

}  // namespace kaio::ops
