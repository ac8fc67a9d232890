// Checks calls of rms_norm_backward and layer_norm_backward before anything runs, and launches them.

#include <kaio/ops/norm_backward.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ops/families.hpp"
#include "ops/norm/backward/plan.hpp"
#include "ops/norm/backward/rows.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

using detail::is_given, detail::named_argument, detail::refuse;

struct backward_call {
  std::string_view operation;
  const any_view &x, &weight, &dy, &dx, &dweight, &dbias;
  rms_norm_backward_options options;

  u32 sums() const { return (is_given(dweight) ? 1u : 0u) + (is_given(dbias) ? 1u : 0u); }
};

void check_like_x(const backward_call& call, const validation& check, std::string_view name,
                  const any_view& v) {
  if (v.rank != call.x.rank)
    refuse(call.operation, "argument " + std::string(name) + " has " + std::to_string(v.rank) +
                               " dimensions, and x has " + std::to_string(call.x.rank));
  if (v.type != call.x.type)
    refuse(call.operation, "argument " + std::string(name) + " has another element type than x; cast it");
  for (std::uint32_t d = 0; d < call.x.rank; ++d)
    check.extent(name, v, d, call.x.extents[d], "the extents of x");
  check_adjacent(call.operation, name, v);
}

// The weight and its gradients: (size), f32 or of x's type.
void check_factor(const backward_call& call, const validation& check, std::string_view name,
                  const any_view& v) {
  if (v.rank != 1)
    refuse(call.operation,
           "argument " + std::string(name) + " has " + std::to_string(v.rank) + " dimensions; it has one");
  if (v.type != call.x.type && v.type != element_kind::f32)
    refuse(call.operation,
           "argument " + std::string(name) + " is neither f32 nor of the element type of x; cast it");
  check.extent(name, v, 0, call.x.extents[call.x.rank - 1], "the last extent of x");
  check_adjacent(call.operation, name, v);
}

void check_all(const backward_call& call, const validation& check) {
  const any_view& dh = call.options.dh;
  check.input("x", call.x);
  check.input("dy", call.dy);
  check.output("dx", call.dx);
  if (call.x.rank < 2 || call.x.rank > 4)
    refuse(call.operation, "argument x has neither two, three nor four dimensions");
  if (!is_wide(call.x.type)) refuse(call.operation, "argument x is neither f32, f16 nor bf16");
  if (is_given(call.weight)) check.input("weight", call.weight);
  if (is_given(dh)) check.input("dh", dh);
  detail::check_epsilon(call.operation, "epsilon", call.options.epsilon);
  check_adjacent(call.operation, "x", call.x);
  check_like_x(call, check, "dy", call.dy);
  check_like_x(call, check, "dx", call.dx);
  if (is_given(dh)) check_like_x(call, check, "dh", dh);
  if (is_given(call.weight)) check_factor(call, check, "weight", call.weight);
  for (const auto& [name, v] : {named_argument{"dweight", call.dweight}, {"dbias", call.dbias}})
    if (is_given(v)) {
      check.output(name, v);
      check_factor(call, check, name, v);
    }
  check_row_counts(call.operation, call.x);

  const std::vector<named_argument> inputs{
      {"x", call.x}, {"dy", call.dy}, {"weight", call.weight}, {"dh", dh}};
  std::vector<named_argument> outputs;
  for (const named_argument& to :
       {named_argument{"dx", call.dx}, {"dweight", call.dweight}, {"dbias", call.dbias}}) {
    if (!is_given(to.view)) continue;
    for (const named_argument& from : inputs)
      if (is_given(from.view) &&
          !(to.name == "dx" && from.name == "dh" && detail::same_view(to.view, from.view)))
        check.apart(to.name, to.view, from.name, from.view);
    for (const named_argument& other : outputs) check.apart(to.name, to.view, other.name, other.view);
    outputs.push_back(to);
  }
  if (call.options.workspace.address != 0)
    for (const std::vector<named_argument>* list :
         {&inputs, static_cast<const std::vector<named_argument>*>(&outputs)})
      for (const named_argument& one : *list)
        if (is_given(one.view)) check.workspace_apart(call.options.workspace.facts(), one.name, one.view);
}

void run(const stream& s, const backward_call& call, bool is_centred) {
  const device_properties& device = s.properties();
  const validation check(call.operation, s.device_identity());
  check_all(call, check);
  const rms_norm_backward_options& options = call.options;
  const u32 sums = call.sums();
  const bool is_weight_f32 = call.weight.type == element_kind::f32;
  const norm_backward_plan plan =
      plan_norm_backward(device, call.x, {&call.dy, &call.dx, &options.dh}, {&call.weight}, sums);
  const std::uint64_t bytes = sums * plan.sums_bytes + plan.statistics_bytes;
  if (bytes != 0) check.workspace("workspace", options.workspace.facts(), bytes, 16);
  u64 at = options.workspace.address;
  const u64 statistics = plan.by_columns ? at : 0;
  at += plan.statistics_bytes;
  const u64 weight_sums = is_given(call.dweight) ? at : 0;
  const u64 bias_sums = is_given(call.dbias) ? at + (weight_sums != 0 ? plan.sums_bytes : 0) : 0;
  if (!call.x.empty()) {
    const bool with_rows = !plan.by_columns;
    const norm_backward_problem problem{.rows = plan.rows.problem,
                                        .x = rows_of(call.x),
                                        .dy = rows_of(call.dy),
                                        .dx = rows_of(call.dx),
                                        .dh = rows_of(options.dh),
                                        .weight = is_given(call.weight) ? call.weight.address : 0,
                                        .weight_sums = with_rows ? weight_sums : 0,
                                        .bias_sums = with_rows ? bias_sums : 0,
                                        .statistics = statistics,
                                        .epsilon = options.epsilon,
                                        .weight_offset = options.weight_offset,
                                        .is_weight_f32 = is_weight_f32 ? 1u : 0u,
                                        .is_centred = is_centred ? 1u : 0u,
                                        .groups = plan.groups,
                                        .has_third_x = plan.has_third_x && is_centred ? 1u : 0u};
    variant_of(norm_backward_variants(), call.x.type, plan.rows).run(s, plan.rows, problem);
    if (plan.by_columns)
      launch_norm_columns(s, plan,
                          {.rows = plan.rows.problem,
                           .x = rows_of(call.x),
                           .dy = rows_of(call.dy),
                           .weight_sums = weight_sums,
                           .bias_sums = bias_sums,
                           .statistics = statistics,
                           .type = detail::element_type_of(call.x.type),
                           .rows_of_partial = plan.rows_of_partial});
  }
  const std::int64_t size = call.x.extents[call.x.rank - 1];
  if (sums == 0 || size == 0) return;
  const auto type_of = [](const any_view& v) { return is_given(v) ? detail::element_type_of(v.type) : 0; };
  launch_norm_partials(s, {.weight_sums = weight_sums,
                           .bias_sums = bias_sums,
                           .dweight = is_given(call.dweight) ? call.dweight.address : 0,
                           .dbias = is_given(call.dbias) ? call.dbias.address : 0,
                           .dweight_type = type_of(call.dweight),
                           .dbias_type = type_of(call.dbias),
                           .partials = plan.partials,
                           .size = static_cast<u32>(size)});
}

}  // namespace

namespace detail {

void run_rms_norm_backward(const stream& s, const any_view& x, const any_view& weight, const any_view& dy,
                           const any_view& dx, const any_view& dweight,
                           const rms_norm_backward_options& options) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced("rms_norm_backward");
  const any_view none;
  run(s, {"rms_norm_backward", x, weight, dy, dx, dweight, none, options}, false);
}

void run_layer_norm_backward(const stream& s, const any_view& x, const any_view& weight, const any_view& dy,
                             const any_view& dx, const any_view& dweight, const any_view& dbias,
                             const layer_norm_backward_options& options) {
  s.properties();
  const operation_scope traced("layer_norm_backward");
  const rms_norm_backward_options common{options.epsilon, options.weight_offset, options.dh,
                                         options.workspace};
  run(s, {"layer_norm_backward", x, weight, dy, dx, dweight, dbias, common}, true);
}

std::uint64_t norm_backward_workspace(const stream& s, const any_view& x) {
  constexpr std::string_view operation = "norm_backward_workspace_bytes";
  if (x.rank < 2 || x.rank > 4) refuse(operation, "argument x has neither two, three nor four dimensions");
  if (!is_wide(x.type)) refuse(operation, "argument x is neither f32, f16 nor bf16");
  check_row_counts(operation, x);
  std::uint64_t most = 0;
  any_view shifted = x;  // rows of single elements, as a call with other operands may have them
  shifted.address += x.element_bytes();
  for (const u32 sums : {1u, 2u})
    for (const any_view* like : {&x, static_cast<const any_view*>(&shifted)}) {
      const norm_backward_plan plan = plan_norm_backward(s.properties(), x, {like}, {}, sums);
      most = std::max(most, sums * plan.sums_bytes + plan.statistics_bytes);
    }
  return most;
}

}  // namespace detail

void norm_backward_warmup(const runtime::device& gpu, element_kind kind) {
  if (!is_wide(kind))
    detail::refuse("norm_backward_warmup", "elements that norms do not take; they are f32, f16 or bf16");
  row_plan plan;
  plan.is_newer = gpu.properties().target.sm >= 90;
  for (const bool vectors : {false, true}) {
    plan.vectors = vectors;
    gpu.warmup(*variant_of(norm_backward_variants(), kind, plan).image);
  }
  for (const ptx::kernel_image* image : norm_backward_sums_kernels(gpu.properties())) gpu.warmup(*image);
}

std::vector<const ptx::kernel_image*> norm_backward_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_norm_backward_kernels(list);
  return list;
}

}  // namespace kaio::ops
