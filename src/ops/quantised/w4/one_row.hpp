#pragma once
// Which calls the kernels for one row of x by weights of four bits have.

#include <kaio/ops/quantised/w4/one_row/config.hpp>
#include <kaio/ops/quantised/w4/weights.hpp>
#include <kaio/ops/tensor/any_view.hpp>

#include <cstdint>
#include <string_view>

#include "ops/cache/common/check.hpp"

namespace kaio::ops {

// Why they cannot run a call of one row, of integers without offsets; empty: they can. With a norm of x they
// follow no order of K.
inline std::string_view obstacle_of_one_row(const w4_shape& shape, const any_view& x) {
  const std::int64_t k = x.extents[x.rank - 1];
  if (!detail::begins_at(x, 16) || k % 8 != 0) return "it copies pieces of 16 bytes of x";
  if (shape.ordered && k > std::int64_t{w4_one_row.ordered_k()})
    return "x in another order than the weights' has no room";
  if (shape.group % w4_tile_k != 0 && shape.group > 0 && shape.group < k)
    return "its groups are multiples of 64 codes";
  if (k > std::int64_t{w4_one_row.most_parts} * w4_one_row.k) return "a block has no room for its part of x";
  return {};
}

}  // namespace kaio::ops
