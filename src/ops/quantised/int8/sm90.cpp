// Products of i8 on sm_90a, both operands along K: wgmma has no other.

#include <kaio/ops/matmul/sm90/table_row.hpp>

#include "ops/quantised/int8/call.hpp"

namespace kaio::ops {

namespace {

template <sm90_config C>
void append_tile(variant_list& list) {
  add_int8_rows(list, describe_sm90<C, i8, int8_output, int8_general>(),
                [](const stream& s, const matmul_call& call, const int8_terms& terms) {
                  launch_call_sm90<C, i8, int8_output, int8_general>(s, call, terms);
                });
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
  append_tile<{.m = 128, .n = 256, .stages = 4, .cluster_m = 2}>(list);
  append_tile<{.m = 128, .n = 128, .stages = 6}>(list);
  // Few rows of C, as columns of its transpose: the time is that of reading B.
  append_split<{.m = 64, .n = 16, .stages = 5, .depth = 4, .splits = 2, .transposed = true}>(list);
  append_split<{.m = 64, .n = 64, .stages = 6, .depth = 2, .splits = 2, .transposed = true}>(list);
}

}  // namespace kaio::ops
