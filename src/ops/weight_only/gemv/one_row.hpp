#pragma once
// The calls that the kernels for one row of x and packed integers can run.

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/weight_only/common/weights.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>

#include <cstdint>
#include <string_view>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

// Why they cannot run one row of x by integers without offsets; empty: they can. x_by_16: x begins at a
// multiple of 16 bytes. whole_groups: groups are multiples of 64 codes. With a norm of x they follow no
// act-order.
constexpr std::string_view refusal_of_one_row(const w4_one_row_config& config, bool x_by_16, std::int64_t k,
                                              bool act_order, bool whole_groups) {
  if (!x_by_16 || k % 8 != 0) return "it copies pieces of 16 bytes of x";
  if (act_order && k > std::int64_t{config.act_order_k()})
    return "with act-order, k exceeds what its shared memory holds";
  if (!whole_groups) return "it needs groups of multiples of 64 codes";
  if (k > std::int64_t{config.most_splits} * config.k) return "a block has no room for its split of x";
  return {};
}
inline std::string_view refusal_of_one_row(const w4_one_row_config& config, const w4_shape& shape,
                                           const any_view& x) {
  const std::int64_t k = x.extents[x.rank - 1], group = shape.group;
  return refusal_of_one_row(config, detail::begins_at(x, 16), k, shape.act_order,
                            group % w4_tile_k == 0 || group <= 0 || group >= k);
}

}  // namespace kaio::ops
