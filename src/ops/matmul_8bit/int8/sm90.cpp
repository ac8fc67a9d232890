// Products of i8 on sm_90a, both operands along K: wgmma takes no other layout of 8-bit operands.

#include <kaio/ops/matmul/sm90/table_row.hpp>

#include "ops/matmul/sm90/rows.hpp"
#include "ops/matmul_8bit/common/few_rows.hpp"
#include "ops/matmul_8bit/common/tiles.hpp"
#include "ops/matmul_8bit/int8/call.hpp"

namespace kaio::ops {

namespace {

template <sm90_config C>
void append_tile(variant_list& list) {
  add_int8_rows(list, describe_sm90<C, i8, int8_output, int8_general>(),
                [](const stream& s, const int8_call& call, const matmul_variant&) {
                  launch_call_sm90<C, i8, int8_output, int8_general>(s, call, call.epilogue);
                });
}
// Takes scales and a column bias alone, or none; threads apply them in registers. C has one type and is
// stored by tensor copies.
template <sm90_config C, class Out, class Epilogue>
void append_scaled(variant_list& list) {
  for_each_cluster<C>([&](sm90_cluster cluster) {
    matmul_variant row = describe_sm90<C, i8, Out, Epilogue>(cluster);
    row.general = false;
    row.run = [](const stream& s, const matmul_call& call, const matmul_variant& v) {
      const sm90_cluster of_call{v.cluster_m, v.cluster_n, v.is_narrow ? v.n : 0};
      if constexpr (std::is_same_v<Epilogue, int8_sums>)
        launch_call_clusters<C, i8, Out, Epilogue>(s, call, of_call);
      else
        launch_call_clusters<C, i8, Out, Epilogue>(s, call, of_call,
                                                   static_cast<const int8_call&>(call).epilogue);
    };
    list.push_back(row);
  });
}
template <sm90_config C>
void append_scaled_halves(variant_list& list) {
  append_scaled<C, f16, int8_scaled>(list);
  append_scaled<C, bf16, int8_scaled>(list);
}
template <sm90_split_config C>
void append_split(variant_list& list) {
  for (const std::uint32_t splits : few_rows_splits)
    add_int8_rows(list, describe_split<C, i8, int8_output, int8_general>(splits),
                  [](const stream& s, const int8_call& call, const matmul_variant& v) {
                    launch_call_splits<C, i8, int8_output, int8_general>(s, call, v.cluster_splits,
                                                                         call.epilogue);
                  });
}

}  // namespace

void add_int8_sm90(variant_list& list) {
  append_scaled_halves<bytes_large>(list);
  append_scaled_halves<bytes_medium>(list);
  append_scaled_halves<bytes_64x128>(list);
  append_scaled_halves<bytes_64x64>(list);
  append_scaled_halves<bytes_64x32>(list);
  append_scaled<bytes_large, f32, int8_scaled>(list);
  append_scaled<bytes_medium, f32, int8_scaled>(list);
  append_scaled<bytes_64x64, f32, int8_scaled>(list);
  append_scaled<bytes_wide, i32, int8_sums>(list);
  append_scaled<bytes_narrow, i32, int8_sums>(list);
  append_scaled<bytes_64x128, i32, int8_sums>(list);
  append_scaled<bytes_across_64x32, i32, int8_sums>(list);
  append_scaled<bytes_across_128x32, i32, int8_sums>(list);
  append_tile<bytes_medium>(list);
  append_split<few_rows_16>(list);
  append_split<few_rows_32>(list);
  append_split<few_rows_64>(list);
  append_split<byte_lines_64>(list);
}

}  // namespace kaio::ops
