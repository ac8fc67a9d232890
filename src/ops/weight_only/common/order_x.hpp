#pragma once
// The kernel that permutes the columns of x into the act-order of weights.

#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <vector>

namespace kaio::ops {

// Column c of out is column order[c] of x; elements have 16 bits.
struct w4_ordered_x {
  u64 x, act_order, out;  // order: i32
  i64 x_row;
  u32 m, k;
  divisor pieces;  // pieces of 16 bytes per row of out
};

const ptx::kernel_image& order_w4_x_image(const device_properties& device);
void run_order_w4_x(const stream& s, const w4_ordered_x& problem);

}  // namespace kaio::ops
