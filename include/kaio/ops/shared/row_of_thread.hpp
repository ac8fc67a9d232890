#pragma once
// The row, and the lane in the row's group, of a thread of a kernel of rows (rows.hpp).

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/rows.hpp>

namespace kaio::ops {

struct row_place {
  val<u32> row, lane, lanes;
};
constexpr row_place place_of_thread(thread t, const val<u32>& lanes_log) {
  const val lanes = t.let(val<u32>(1u) << lanes_log);
  const val rank = t.let(t.thread_rank());
  return {t.let(block_idx_x() * (val<u32>(row_threads) >> lanes_log) + (rank >> lanes_log)),
          t.let(rank & (lanes - 1u)), lanes};
}

// The address of a row of elements of 1 << shift bytes.
template <class Strides>
constexpr val<u64> row_address(thread t, const Strides& strides, const val<u32>& batch, const val<u32>& token,
                               const val<u32>& head, const val<u32>& shift) {
  const val offset =
      t.let(cast<i64>(batch) * strides[&row_strides::batch] +
            cast<i64>(token) * strides[&row_strides::token] + cast<i64>(head) * strides[&row_strides::head]);
  return t.let(strides[&row_strides::address] + (cast<u64>(offset) << shift));
}

}  // namespace kaio::ops
