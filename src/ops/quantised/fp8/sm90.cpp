// Products of 8-bit floats on sm_90a, both operands along K: wgmma has no other.

#include <kaio/ops/matmul/sm90/table_row.hpp>

#include "ops/quantised/fp8/call.hpp"

namespace kaio::ops {

namespace {

template <sm90_config C, class T>
void append_tile(variant_list& list) {
  add_fp8_rows(list, describe_sm90<C, T, fp8_output, fp8_general>(),
               [](const stream& s, const fp8_call& call) {
                 launch_call_sm90<C, T, fp8_output, fp8_general>(s, call, call.epilogue);
               });
}
// With scales and a bias alone, which the threads apply in registers; C of bf16 leaves by tensor copies.
template <sm90_config C>
void append_scaled(variant_list& list) {
  matmul_variant row = describe_sm90<C, e4m3, bf16, fp8_scaled>();
  row.general = false;
  row.run = [](const stream& s, const matmul_call& call, const matmul_variant&) {
    launch_call_sm90<C, e4m3, bf16, fp8_scaled>(s, call, static_cast<const fp8_call&>(call).epilogue);
  };
  list.push_back(row);
}
template <sm90_split_config C>
void append_split(variant_list& list) {
  add_fp8_rows(list, describe_split<C, e4m3, fp8_output, fp8_general>(),
               [](const stream& s, const fp8_call& call) {
                 launch_call_split<C, e4m3, fp8_output, fp8_general>(s, call, call.epilogue);
               });
}

}  // namespace

void add_fp8_sm90(variant_list& list) {
  constexpr sm90_config medium{.m = 128, .n = 128, .stages = 6};
  constexpr sm90_config medium_scaled{.m = 128, .n = 128, .stages = 6, .whole_producer = true};
  append_scaled<medium_scaled>(list);
  append_tile<medium, e4m3>(list);
  append_tile<medium, e5m2>(list);
  // Few rows of C, as columns of its transpose: the time is that of reading B.
  constexpr sm90_split_config rows_16{
      .m = 64, .n = 16, .stages = 5, .depth = 4, .splits = 2, .transposed = true};
  constexpr sm90_split_config rows_64{
      .m = 64, .n = 64, .stages = 6, .depth = 2, .splits = 2, .transposed = true};
  append_split<rows_16>(list);
  append_split<rows_64>(list);
}

}  // namespace kaio::ops
