#pragma once
// The table rows of a tile shape of the kernels with matrix instructions of a warp, and their launch. The
// launch gives the element type of C, so that one kernel has three rows.

#include <kaio/ops/matmul/common/general.hpp>
#include <kaio/ops/matmul/mma_sync/cuts.hpp>
#include <kaio/ops/matmul/mma_sync/table_row.hpp>

#include <cstdint>

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

template <mma_sync_config C, class Product>
void add_mma_sync_cut(variant_list& list, matmul_precision precision = matmul_precision::ieee) {
  const auto add = [&](std::uint32_t cluster_splits) {
    matmul_variant row = describe_mma_sync<C, Product, any_output, general>(cluster_splits);
    row.precision = precision;
    row.run = [](const stream& s, const matmul_call& call, const matmul_variant& v) {
      launch_call_mma_sync_splits<C, Product, any_output, general>(s, call, v.cluster_splits, call.terms);
    };
    add_for_each_output(list, row);
  };
  add(C.least_splits());
  if constexpr (C.by_launch()) add(2 * C.least_splits());
}

// Adds a tile shape, a function of the directions of both operands' lines: for an A along K, or for all four
// combinations.
template <auto Cut, class Product>
void add_mma_sync_along_k(variant_list& list, matmul_precision precision = matmul_precision::ieee) {
  add_mma_sync_cut<Cut(major::k, major::k), Product>(list, precision);
  add_mma_sync_cut<Cut(major::k, major::mn), Product>(list, precision);
}
template <auto Cut, class Product>
void add_mma_sync_layouts(variant_list& list, matmul_precision precision = matmul_precision::ieee) {
  add_mma_sync_along_k<Cut, Product>(list, precision);
  add_mma_sync_cut<Cut(major::mn, major::k), Product>(list, precision);
  add_mma_sync_cut<Cut(major::mn, major::mn), Product>(list, precision);
}

template <std::uint32_t K>
constexpr mma_sync_config unaligned_cut(major a, major b) {
  return mma_cuts::unaligned(a, b, K);
}

}  // namespace kaio::ops
