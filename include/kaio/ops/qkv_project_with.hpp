#pragma once
// qkv_project with a step of your own in every head, compiled where it is used.
//
//   struct soft_cap {                                         // y = cap * tanh(y / cap) of Q and K
//     static constexpr fixed_string name = "soft_cap";
//     constexpr void operator()(thread t, ops::qkv_row& row, val<f32> cap) const {
//       row.each(t, [&](const val<f32>& x, const val<u32>&) {
//         return t.let(select(row.is_v, x, cap * tanh(x / cap)));
//       });
//     }
//   };
//   const auto bytes = qkv_project_with_workspace_bytes<soft_cap>(s, x, w, {q, cache}, options);
//   auto workspace = gpu.allocate<u8>(bytes);
//   options.workspace = workspace;
//   qkv_project_with(s, x, w, {q, cache}, soft_cap{}, options, 30.0f);
//
// The function sees a row of a head in f32, as the norms (`before_rotary`) or the rotation left it. It also
// sees its place: Q, K or V, head, token, position. <kaio/ops/qkv_project/common/head_function.hpp> describes
// all of it, and sums over the row. Positions may be given without tables, for a rotation of your own. The
// arguments after the options are those of the function's own parameters, as a launch takes them: buffers or
// device_pointers for in<T> and inout<T>, exact types for val<T>. The memory that they point to is not
// checked.
//
// It runs in the launch after the product: the variant "separate" of qkv_project. Two kernels are compiled:
// for sm_90 and later, and for everything before.

#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/qkv_project/call/product_launch.hpp>
#include <kaio/ops/qkv_project/heads/kernel.hpp>
#include <kaio/runtime/device.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::ops {

// qkv_project with the step Own. Throws what qkv_project does, and invalid_argument if the options name
// another variant.
template <class X, std::size_t Rank, qkv_head_function Own, class... Extra>
void qkv_project_with(const stream& s, const tensor_view<X, Rank>& x, const qkv_weights& weights,
                      const qkv_outputs& outputs, Own, const qkv_project_options& options,
                      const Extra&... extra) {
  const detail::operation_scope traced("qkv_project_with");
  detail::require_qkv_types<X, Rank>();
  const detail::launched_qkv_product of =
      detail::run_qkv_product(s, {"qkv_project_with", x, &weights, &outputs, &options, true});
  if (of.problem.append.rows != 0) launch_qkv_heads<Own>(s, of.problem, of.product, extra...);
}

template <qkv_head_function Own>
std::uint64_t qkv_project_with_workspace_bytes(const stream& s, const any_view& x, const qkv_weights& weights,
                                               const qkv_outputs& outputs,
                                               const qkv_project_options& options = {}) {
  return detail::workspace_of_qkv(
      s, {"qkv_project_with_workspace_bytes", x, &weights, &outputs, &options, true});
}

// Loads what this call launches, ahead of its first use: the call may then be captured into a graph.
template <qkv_head_function Own>
void qkv_project_with_warmup(const runtime::device& gpu, const any_view& x, const qkv_weights& weights,
                             const qkv_outputs& outputs, const qkv_project_options& options = {}) {
  if (detail::warm_up_qkv_product(gpu, {"qkv_project_with_warmup", x, &weights, &outputs, &options, true}))
    gpu.warmup(qkv_heads_image_for<Own>(gpu.properties()));
}

}  // namespace kaio::ops

namespace kaio {
using ops::qkv_project_with;
using ops::qkv_project_with_workspace_bytes;
using ops::qkv_row;
}  // namespace kaio
