#pragma once
// Combines the softmax of rows that several warps share, each for its own keys.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/forward/simt/config.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops::simt {

// The final softmax of each warp's rows, and 1 / sum of each row of the block.
template <attention_simt_config C>
class row_totals {
 public:
  constexpr explicit row_totals(thread t) : largest_(t), sum_(t), inverse_(t) {}
  constexpr void put(const val<u32>& row, const softmax_total& total) const {
    largest_[row] = total.largest;
    sum_[row] = total.sum;
  }
  constexpr void put_inverse(const val<u32>& row, const val<f32>& inverse) const { inverse_[row] = inverse; }
  constexpr val<f32> inverse(thread t, const val<u32>& row) const { return t.let(inverse_[row]); }

  // The softmax of row `row` of the block over all groups.
  constexpr softmax_total all(thread t, const val<u32>& row, const val<u32>& groups) const {
    const val most = largest(t, row, groups);
    var sum(t, 0.0f);
    for (auto g : t.range(0u, groups).no_unroll())
      sum += sum_[place(t, row, groups, g)] * weight_to(t, t.let(largest_[place(t, row, groups, g)]), most);
    return {most, t.let(sum)};
  }
  // The factor that rescales a group's sums to the largest score of all groups.
  constexpr val<f32> weight(thread t, const val<u32>& row, const val<u32>& groups,
                            const val<u32>& group) const {
    const val own = t.let(largest_[place(t, row, groups, group)]);
    return weight_to(t, own, largest(t, row, groups));
  }

 private:
  static constexpr f32 nothing = -std::numeric_limits<f32>::infinity();
  static constexpr val<u32> place(thread t, const val<u32>& row, const val<u32>& groups,
                                  const val<u32>& group) {
    return t.let((row / C.warp_rows() * groups + group) * C.warp_rows() + row % C.warp_rows());
  }
  static constexpr val<f32> weight_to(thread t, const val<f32>& own, const val<f32>& most) {
    return t.let(select(own == nothing, 0.0f, fast::ftz::exp2(own - most)));
  }
  constexpr val<f32> largest(thread t, const val<u32>& row, const val<u32>& groups) const {
    var most(t, nothing);
    for (auto g : t.range(0u, groups).no_unroll()) most = max(most, largest_[place(t, row, groups, g)]);
    return t.let(most);
  }
  shared<f32, C.warps * C.warp_rows()> largest_, sum_;
  shared<f32, C.queries(C.least_groups)> inverse_;
};

}  // namespace kaio::ops::simt
