// Checks calls of matmul_w4_grouped before anything runs, and launches them.

#include <kaio/ops/matmul_w4_grouped.hpp>
#include <kaio/ops/matmul_w8_grouped.hpp>
#include <kaio/runtime/device.hpp>

#include <string>

#include "ops/choice/strict.hpp"
#include "ops/matmul_grouped/common/gate.hpp"
#include "ops/shared/row_checks.hpp"
#include "ops/weight_only/common/resolve.hpp"
#include "ops/weight_only_grouped/choice/plan.hpp"

namespace kaio::ops {

namespace detail {

namespace {

constexpr std::int64_t most = 0x7fffffff;

std::uint64_t bytes_of_groups(std::string_view operation, w4_shape shape, std::int64_t groups) {
  if (groups < 0 || groups >= most)
    refuse(operation, "weights of " + std::to_string(groups) + " groups; 0 to 2^31 - 2 are supported");
  const std::uint64_t bytes = check_w4_shape(operation, shape).bytes;
  if (groups != 0 && bytes > (std::uint64_t{1} << 62) / static_cast<std::uint64_t>(groups))
    refuse(operation, "weights of 2^62 bytes or more; divide them by groups");
  return bytes * static_cast<std::uint64_t>(groups);
}

// The rows of out: those of x, or their indices.
std::int64_t rows_of(const matmul_w4_grouped_arguments& a) {
  return a.options->rows.exists() ? a.options->rows.extents[0] : a.x.extents[0];
}

// x and the weights.
w4_grouped_problem resolve_inputs(const void* device, const matmul_w4_grouped_arguments& a,
                                  bool choice_alone) {
  const std::string_view operation = a.operation;
  const validation check(operation, device);
  const grouped_w4_weights& w = *a.weights;
  const std::uint64_t bytes = bytes_of_groups(operation, w.shape, w.groups);
  if (w.shape.codes == w4_codes::own)
    refuse(operation, "weights with own codes; their kernels have no groups");
  if (a.x.rank != 2 || (a.x.type != element_kind::f16 && a.x.type != element_kind::bf16))
    refuse(operation, "argument x is no (rows, k) of f16 or bf16; cast it");
  check.input("x", a.x);
  check.extent("x", a.x, 1, w.shape.k, "k of the weights");
  check_adjacent(operation, "x", a.x);
  check.at_most("x", a.x, 0, most);
  const matmul_w4_grouped_options& options = *a.options;
  if (options.rows.exists()) {
    if (options.rows.rank != 1 || options.rows.type != element_kind::i32)
      refuse(operation, "argument rows is no (rows) of i32");
    check.input("rows", options.rows);
    check_adjacent(operation, "rows", options.rows);
    check.at_most("rows", options.rows, 0, most);
  }
  if (!choice_alone && w.groups != 0) check.workspace("weights", w.memory.facts(), bytes, 16);
  w4_grouped_problem problem{};
  w4_problem& p = problem.of;
  p.w = check_w4_weights(operation, device, {w.shape, w.memory}, false);
  p.type = element_type_of(a.x.type);
  p.unit = 1;
  p.x = a.x.address;
  p.x_row = a.x.strides[0];
  p.x_by_16 = begins_at(a.x, 16) && p.w.rows == 0 ? 1 : 0;
  p.m = static_cast<u32>(rows_of(a));
  problem.gather = {options.rows.exists() ? options.rows.address : 0, static_cast<u32>(a.x.extents[0])};
  if (a.x.extents[0] == 0) p.x_by_16 = 1;  // no row exists, and pieces of such rows are not read
  const bool is_for_copies = a.x.extents[0] == 1 || (p.x_row > 0 && p.x_row < i64{1} << 39);
  problem.by_warps = options.rows.exists() || !is_for_copies ? 1 : 0;
  if (options.gate != matmul_activation::none) {
    problem.gate =
        checked_gate(operation, "gate", options.gate, options.alpha, options.limit, options.up_offset);
    if (w.shape.n % 2 != 0) refuse(operation, "weights of an odd number of columns have no pairs for a gate");
  }
  problem.weights_apart = w.groups == 0 ? 0 : bytes / static_cast<std::uint64_t>(w.groups);
  const any_view& bias = options.bias;
  if (bias.exists()) {
    if (bias.rank != 2 || bias.type != a.x.type)
      refuse(operation, "argument bias is no (groups, n) of the element type of x");
    check.input("bias", bias);
    check.extent("bias", bias, 0, w.groups, "the groups of the weights");
    check.extent("bias", bias, 1, w.shape.n, "n of the weights");
    check_adjacent(operation, "bias", bias);
    p.bias = bias.address;
    problem.bias_apart = bias.strides[0];
  }
  problem.tiles = {.offsets = a.offsets.address,
                   .groups = static_cast<u32>(w.groups),
                   .rows = p.m,
                   .of_n = {},
                   .of_band = {},
                   .band = grouped_band};
  return problem;
}

w4_grouped_problem resolve(const void* device, const matmul_w4_grouped_arguments& a) {
  const std::string_view operation = a.operation;
  const validation check(operation, device);
  w4_grouped_problem problem = resolve_inputs(device, a, false);
  w4_problem& p = problem.of;
  check.input("offsets", a.offsets);
  check.extent("offsets", a.offsets, 0, a.weights->groups + 1, "the groups of the weights, and one");
  check_adjacent(operation, "offsets", a.offsets);
  check.output("out", a.out);
  const bool is_gathered = a.options->rows.exists(), is_gated = a.options->gate != matmul_activation::none;
  check.extent("out", a.out, 0, rows_of(a), is_gathered ? "those of rows" : "the rows of x");
  check.extent("out", a.out, 1, a.weights->shape.n / (is_gated ? 2 : 1),
               is_gated ? "half of n of the weights" : "n of the weights");
  check_adjacent(operation, "out", a.out);
  p.out = a.out.address;
  p.out_row = a.out.strides[0];
  p.out_type = element_type_of(a.out.type);
  p.out_by_four = begins_at(a.out, 4 * a.out.element_bytes()) ? 1 : 0;
  check.apart("out", a.out, "x", a.x);
  check.apart("out", a.out, "offsets", a.offsets);
  if (a.weights->groups != 0) check.apart("out", a.out, "weights", memory_view({{}, a.weights->memory}));
  if (p.bias != 0) check.apart("out", a.out, "bias", a.options->bias);
  if (is_gathered) check.apart("out", a.out, "rows", a.options->rows);
  return problem;
}

planned_w4_grouped plan(const void* device, const device_properties& properties,
                        const matmul_w4_grouped_arguments& a, bool choice_alone) {
  const w4_grouped_problem problem = choice_alone ? resolve_inputs(device, a, true) : resolve(device, a);
  if (problem.of.m == 0 || problem.tiles.groups == 0) return {};
  return plan_w4_grouped(a.operation, problem, properties, a.options->variant);
}

}  // namespace

void run_matmul_w4_grouped(const stream& s, const matmul_w4_grouped_arguments& arguments) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(arguments.operation);
  if (arguments.options->variant.empty())
    check_strictly(
        s, [&](const device_properties& other) { plan(s.device_identity(), other, arguments, false); });
  const planned_w4_grouped planned = plan(s.device_identity(), device, arguments, false);
  if (planned.variant != nullptr) planned.variant->run(s, planned.problem, planned.blocks);
}

}  // namespace detail

std::uint64_t packed_bytes(const w4_shape& shape, std::int64_t groups) {
  return detail::bytes_of_groups("packed_bytes", shape, groups);
}
std::uint64_t packed_bytes(const w8_shape& shape, std::int64_t groups) {
  return packed_bytes(detail::as_w4_shape(shape), groups);
}

namespace {

workspace_view memory_of_group(const workspace_view& all, std::uint64_t bytes, std::int64_t groups,
                               std::int64_t group) {
  if (group < 0 || group >= groups)
    detail::refuse("packed weights", "group " + std::to_string(group) + " of " + std::to_string(groups));
  workspace_view own = all;
  own.address += bytes * static_cast<std::uint64_t>(group);
  own.bytes = bytes;
  return own;
}

}  // namespace

w4_weights grouped_w4_weights::operator[](std::int64_t group) const {
  return {shape, memory_of_group(memory, packed_bytes(shape), groups, group)};
}
w8_weights grouped_w8_weights::operator[](std::int64_t group) const {
  return {shape, memory_of_group(memory, packed_bytes(shape), groups, group)};
}

kernel_choice matmul_w4_grouped_choice(const stream& s, const any_view& x, const grouped_w4_weights& w,
                                       const matmul_w4_grouped_options& options) {
  const planned_w4_grouped planned = detail::plan(
      s.device_identity(), s.properties(), {"matmul_w4_grouped_choice", x, {}, {}, &w, &options}, true);
  if (planned.variant == nullptr) return {};
  return {planned.variant->image->name};
}

void matmul_w4_grouped_warmup(const runtime::device& gpu, const any_view& x, const grouped_w4_weights& w,
                              const matmul_w4_grouped_options& options) {
  const planned_w4_grouped planned = detail::plan(
      gpu.identity(), gpu.properties(), {"matmul_w4_grouped_warmup", x, {}, {}, &w, &options}, true);
  if (planned.variant != nullptr) gpu.warmup(*planned.variant->image);
}

kernel_choice matmul_w8_grouped_choice(const stream& s, const any_view& x, const grouped_w8_weights& w,
                                       const matmul_w8_grouped_options& options) {
  return matmul_w4_grouped_choice(s, x, detail::as_w4_weights(w), options);
}

void matmul_w8_grouped_warmup(const runtime::device& gpu, const any_view& x, const grouped_w8_weights& w,
                              const matmul_w8_grouped_options& options) {
  matmul_w4_grouped_warmup(gpu, x, detail::as_w4_weights(w), options);
}

}  // namespace kaio::ops
