#pragma once
// The kernels of mixtures of experts, and their launches.

#include <kaio/ops/experts/common/problem.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

namespace kaio::ops {

void launch_router(const stream& s, const router_problem& problem);
// With one block, only the kernel that places.
void launch_expert_order(const stream& s, const expert_order_problem& problem);
void launch_combine(const stream& s, element_kind y, const combine_problem& problem);

const ptx::kernel_image& router_image();
const ptx::kernel_image& expert_count_image();
const ptx::kernel_image& expert_place_image();
const ptx::kernel_image& combine_image(element_kind y);

}  // namespace kaio::ops
