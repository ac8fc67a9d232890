// Checks calls of rms_norm and layer_norm before anything runs, and launches them.

#include <kaio/ops/layer_norm.hpp>
#include <kaio/ops/rms_norm.hpp>
#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/runtime/device.hpp>

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "ops/families.hpp"
#include "ops/norm/simt/rows.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

using detail::is_given, detail::operation_scope, detail::refuse;

// A call of either norm.
struct norm_call {
  std::string_view operation, out_name;
  any_view x, weight, bias;
  any_view out;     // y; null if only codes are made
  any_view codes;   // null: none
  any_view scales;  // null: none; (..., 1) of rows, or (..., blocks)
  bool has_block_scales = false;
  f32 code_scale = 0;
  bool is_centred = false;
  f32 epsilon = 0, weight_offset = 0;
  any_view residual, residual_out, gate, scale, shift;
  norm_casting casting = norm_casting::gemma;
};

template <class Options>
norm_call call_of(std::string_view operation, const any_view& x, const any_view& weight, const Options& o) {
  norm_call call;
  call.operation = operation;
  call.out_name = "out";
  call.x = x;
  call.weight = weight;
  call.epsilon = o.epsilon;
  call.weight_offset = o.weight_offset;
  call.residual = o.residual;
  call.residual_out = o.residual_out;
  call.gate = o.gate;
  call.scale = o.scale;
  call.shift = o.shift;
  call.casting = o.casting;
  return call;
}

void check_factors(const norm_call& call, const validation& check, std::string_view name, const any_view& v) {
  if (!is_given(v)) return;
  const std::string argument = "argument " + std::string(name);
  check.input(name, v);
  if (v.rank != 1) refuse(call.operation, argument + " has more than one dimension; it is (size)");
  check.extent(name, v, 0, call.x.extents[call.x.rank - 1], "the last extent of x");
  check_adjacent(call.operation, name, v);
  if (v.type != call.x.type && v.type != element_kind::f32)
    refuse(call.operation, argument + " has neither the element type of x nor f32; cast it");
}

using named_views = std::array<std::pair<std::string_view, const any_view*>, 7>;

void check_like_x(const norm_call& call, const validation& check, std::string_view name, const any_view& v,
                  bool is_output) {
  const std::string argument = "argument " + std::string(name);
  is_output ? check.output(name, v) : check.input(name, v);
  if (v.rank != call.x.rank)
    refuse(call.operation, argument + " has " + std::to_string(v.rank) + " dimensions, and x has " +
                               std::to_string(call.x.rank));
  if (v.type != call.x.type && !(&v == &call.codes && is_quantised(v.type)))
    refuse(call.operation, argument + " has another element type than x; cast it");
  for (std::uint32_t d = 0; d < v.rank; ++d) check.extent(name, v, d, call.x.extents[d], "the extents of x");
  check_adjacent(call.operation, name, v);
}

void check_call(const norm_call& call, const validation& check) {
  const any_view& x = call.x;
  check.input("x", x);
  if (call.operation == "rms_norm" && !is_given(call.weight)) check.input("weight", call.weight);
  detail::check_epsilon(call.operation, "epsilon", call.epsilon);
  check_adjacent(call.operation, "x", x);
  check_factors(call, check, "weight", call.weight);
  check_factors(call, check, "bias", call.bias);
  if (is_given(call.weight) && is_given(call.bias) && call.weight.type != call.bias.type)
    refuse(call.operation, "weight and bias have different element types; cast one of them");
  if (is_given(call.residual_out) && !is_given(call.residual) && !is_given(call.gate))
    refuse(call.operation, "residual_out is given without residual; give both");
  check_row_counts(call.operation, x);

  const named_views inputs{{{"residual", &call.residual},
                            {"gate", &call.gate},
                            {"scale", &call.scale},
                            {"shift", &call.shift},
                            {"weight", &call.weight},
                            {"bias", &call.bias},
                            {"x", &x}}};
  for (std::size_t i = 0; i < 4; ++i)
    if (is_given(*inputs[i].second)) check_like_x(call, check, inputs[i].first, *inputs[i].second, false);
  const std::array<std::pair<std::string_view, const any_view*>, 4> outputs{
      {{call.out_name, &call.out},
       {"codes", &call.codes},
       {"residual_out", &call.residual_out},
       {"scales", &call.scales}}};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [name, view] = outputs[i];
    if (!view->exists() || (view == &call.residual_out && !is_given(*view))) continue;
    if (view == &call.scales) {
      check.output(name, *view);
      if (view->rank != x.rank)
        refuse(call.operation, "argument scales has " + std::to_string(view->rank) +
                                   " dimensions; it is (...), with one " +
                                   "scale of each row of x, or (..., ceil(size / 128))");
      for (std::uint32_t d = 0; d + 1 < x.rank; ++d)
        check.extent(name, *view, d, x.extents[d], "the rows of x");
      if (call.has_block_scales)
        check.extent(name, *view, x.rank - 1, ceil_div(x.extents[x.rank - 1], std::int64_t{norm_code_block}),
                     "the blocks of 128 elements of a row of x");
    } else {
      check_like_x(call, check, name, *view, true);
    }
    for (const auto& [input_name, input] : inputs) {
      if (!is_given(*input)) continue;
      const bool in_place =
          detail::same_view(*view, *input) &&
          ((view == &call.out && input == &x) || (view == &call.residual_out && input == &call.residual));
      if (!in_place) check.apart(name, *view, input_name, *input);
    }
    for (std::size_t j = 0; j < i; ++j)
      if (is_given(*outputs[j].second)) check.apart(name, *view, outputs[j].first, *outputs[j].second);
  }
}

void run(const stream& s, const norm_call& call) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(call.operation);
  check_call(call, validation(call.operation, s.device_identity()));
  const bool has_codes = call.codes.exists();
  if (has_codes && !call.scales.exists() && !(std::isfinite(call.code_scale) && call.code_scale > 0))
    refuse(call.operation, "scale is not finite and above 0");
  const bool is_f32 =
      call.x.type != element_kind::f32 && ((is_given(call.weight) && call.weight.type == element_kind::f32) ||
                                           (is_given(call.bias) && call.bias.type == element_kind::f32));
  const bool is_general =
      has_codes || is_f32 || is_given(call.gate) || is_given(call.scale) || is_given(call.shift);
  const any_view none;
  // The general kernel has no room for both: it waits longest for the residual.
  const bool stages_more = is_given(is_general ? call.residual : call.weight);
  const row_plan plan = plan_rows(
      device, call.x,
      {&call.out, &call.codes, &call.residual, &call.residual_out, &call.gate, &call.scale, &call.shift},
      {is_f32 ? &none : &call.weight, is_f32 ? &none : &call.bias, is_general ? &call.residual : &none},
      stages_more ? row_staging::row_and_factors : row_staging::row, {&call.scales});
  if (plan.is_empty()) return;
  if (plan.is_long && has_codes && !is_given(call.out))
    refuse(call.operation,
           "a row of " + std::to_string(plan.problem.size) +
               " elements does not fit the device's shared memory: give y_out too, where it is kept");
  norm_problem problem{.rows = plan.problem,
                       .x = rows_of(call.x),
                       .out = rows_of(call.out),
                       .residual = rows_of(call.residual),
                       .residual_out = rows_of(call.residual_out),
                       .weight = is_given(call.weight) ? call.weight.address : 0,
                       .bias = is_given(call.bias) ? call.bias.address : 0,
                       .epsilon = call.epsilon,
                       .weight_offset = call.weight_offset,
                       .is_centred = call.is_centred ? 1u : 0u,
                       .casts = call.casting == norm_casting::llama ? 1u : 0u};
  if (!is_general) return variant_of(norm_variants(), call.x.type, plan).run(s, plan, problem);
  const general_norm_problem general{
      .norm = problem,
      .is_weight_f32 = is_f32 ? 1u : 0u,
      .gate = rows_of(call.gate),
      .scale = rows_of(call.scale),
      .shift = rows_of(call.shift),
      .codes = rows_of(call.codes),
      .scales = rows_of(call.scales),
      .scale_step = call.has_block_scales ? call.scales.strides[call.scales.rank - 1] : 0,
      .has_block_scales = call.has_block_scales ? 1u : 0u,
      .kept = has_codes ? static_cast<u32>(detail::kept_as(call.codes.type)) : 0,
      .code_scale = call.code_scale};
  variant_of(general_norm_variants(), call.x.type, plan).run(s, plan, general);
}

template <class Options>
void make_codes(norm_call& call, const any_view& codes, const any_view& scales, f32 scale, const Options& o) {
  call.out_name = "y_out";
  if (is_given(o.y_out)) call.out = o.y_out;
  call.codes = codes;
  call.code_scale = scale;
  call.scales = scales;
  call.has_block_scales = scales.exists() && scales.rank == call.x.rank;
  if (scales.exists() && scales.rank + 1 == call.x.rank) {  // as a tensor with one element of each row
    call.scales.rank = call.x.rank;
    call.scales.extents[scales.rank] = call.scales.strides[scales.rank] = 1;
  }
}
template <class Options>
void make_y(norm_call& call, const any_view& out, const Options& o) {
  if (is_given(o.y_out))
    refuse(call.operation, "y_out is given without codes; it is `out` of a call into codes");
  call.out = out;
}

void warmup(std::string_view name, const runtime::device& gpu, element_kind kind) {
  if (!is_wide(kind)) refuse(name, "elements that it does not take; they are f32, f16 or bf16");
  row_plan plan;
  plan.is_newer = gpu.properties().target.sm >= 90;
  for (const bool vectors : {false, true}) {
    plan.vectors = vectors;
    gpu.warmup(*variant_of(norm_variants(), kind, plan).image);
    gpu.warmup(*variant_of(general_norm_variants(), kind, plan).image);
  }
}

}  // namespace

namespace detail {

void run_rms_norm(const stream& s, const any_view& x, const any_view& weight, const any_view& out,
                  const rms_norm_options& options) {
  norm_call call = call_of("rms_norm", x, weight, options);
  make_y(call, out, options);
  run(s, call);
}
void run_rms_norm_codes(const stream& s, const any_view& x, const any_view& weight, const any_view& codes,
                        const any_view& scales, f32 scale, const rms_norm_options& options) {
  norm_call call = call_of("rms_norm", x, weight, options);
  make_codes(call, codes, scales, scale, options);
  run(s, call);
}
void run_layer_norm(const stream& s, const any_view& x, const any_view& weight, const any_view& bias,
                    const any_view& out, const layer_norm_options& options) {
  norm_call call = call_of("layer_norm", x, weight, options);
  call.bias = bias;
  call.is_centred = true;
  make_y(call, out, options);
  run(s, call);
}
void run_layer_norm_codes(const stream& s, const any_view& x, const any_view& weight, const any_view& bias,
                          const any_view& codes, const any_view& scales, f32 scale,
                          const layer_norm_options& options) {
  norm_call call = call_of("layer_norm", x, weight, options);
  call.bias = bias;
  call.is_centred = true;
  make_codes(call, codes, scales, scale, options);
  run(s, call);
}

}  // namespace detail

void rms_norm_warmup(const runtime::device& gpu, element_kind kind) { warmup("rms_norm_warmup", gpu, kind); }
void layer_norm_warmup(const runtime::device& gpu, element_kind kind) {
  warmup("layer_norm_warmup", gpu, kind);
}

std::vector<const ptx::kernel_image*> rms_norm_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_norm_kernels(list);
  list_norm_general_kernels(list);
  return list;
}

}  // namespace kaio::ops
