#pragma once
// Stores four neighbours of a row of O, in any of its element types.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/decode/common/block.hpp>
#include <kaio/ops/shared/store_four.hpp>

#include <cstdint>

namespace kaio::ops {

// The offset of column `column` of a row of O, in elements from its address.
constexpr val<i64> offset_of_output(thread t, const val<attention_problem>& problem, const val<u32>& batch,
                                    const decode_row& row, const val<u32>& column) {
  const auto strides = problem[&attention_problem::o];
  return t.let(cast<i64>(batch) * strides[&attention_strides::batch] +
               cast<i64>(row.head) * strides[&attention_strides::head] +
               cast<i64>(row.query) * strides[&attention_strides::row] + cast<i64>(column));
}

// Stores columns `column` to column + 3 of a row of O, which has `size` columns.
template <class Access, class Four>
constexpr void store_output(thread t, const val<attention_problem>& problem, const val<u32>& batch,
                            const decode_row& row, const val<u32>& column, const val<u32>& size,
                            const Four& x) {
  const auto strides = problem[&attention_problem::o];
  const val at = offset_of_output(t, problem, batch, row, column);
  const val address = t.let(strides[&attention_strides::address]);
  const val left = t.let(size - column);
  const val by_16 = t.let(strides[&attention_strides::by_16] != 0u);
  store_four<Access>(t, address, at, left, by_16, x);
}

}  // namespace kaio::ops
