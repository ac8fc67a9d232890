// Checks calls of linear_cross_entropy and of its gradients before anything runs, and launches their products and
// the kernels of cross_entropy, a chunk of classes at a time.

#include <kaio/ops/linear_cross_entropy.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/reduce.hpp>
#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

#include "ops/cross_entropy/call/losses.hpp"
#include "ops/linear_cross_entropy/call/plan.hpp"
#include "ops/matmul/call/view.hpp"

namespace kaio::ops {

namespace {

using detail::is_given, detail::named_argument, detail::refuse;

linear_shape shape_of(const any_view& x, const any_view& weight) {
  return {static_cast<std::uint64_t>(x.extents[0]), static_cast<std::uint64_t>(x.extents[1]),
          static_cast<std::uint64_t>(weight.extents[0]), x.type};
}

std::uint64_t bytes_of_chunks(std::string_view operation, loss_direction direction, const any_view& x,
                              const any_view& weight, std::uint64_t chunk) {
  if (x.rank != 2 || weight.rank != 2)
    refuse(operation,
           "a view that has not two dimensions; x has rows and features, weight classes and features");
  if (weight.extents[0] <= 0) refuse(operation, "argument weight has no classes");
  if (chunk % least_chunk != 0)
    refuse(operation,
           "chunk is " + std::to_string(chunk) + "; it is a multiple of " + std::to_string(least_chunk));
  return linear_plan::of(direction, shape_of(x, weight), chunk).bytes;
}

void check_matrix(std::string_view operation, const validation& check, std::string_view name,
                  const any_view& v) {
  check.input(name, v);
  if (v.rank != 2) refuse(operation, "argument " + std::string(name) + " has not two dimensions");
  check_adjacent(operation, name, v);
}

// Checks what both calls take, and returns the parameters of the kernels.
template <class Options>
cross_entropy_problem resolve(std::string_view operation, const validation& check, const any_view& x,
                              const any_view& weight, const any_view& targets, const Options& options) {
  check_matrix(operation, check, "x", x);
  check_matrix(operation, check, "weight", weight);
  if (!is_wide(x.type)) refuse(operation, "argument x is not f32, f16 or bf16");
  if (weight.type != x.type)
    refuse(operation, "argument weight has another element type than x; cast one of them");
  check_row_counts(operation, x);
  check.extent("weight", weight, 1, x.extents[1], "the features of x");
  check.at_most("weight", weight, 0, std::numeric_limits<std::int32_t>::max());
  if (weight.extents[0] == 0) refuse(operation, "argument weight has no classes");
  if (is_given(options.bias)) {
    check.input("bias", options.bias);
    if (options.bias.rank != 1) refuse(operation, "argument bias has more than one dimension");
    if (!is_wide(options.bias.type)) refuse(operation, "argument bias is not f32, f16 or bf16");
    check.extent("bias", options.bias, 0, weight.extents[0], "the classes of weight");
    check_adjacent(operation, "bias", options.bias);
  }
  if (!std::isfinite(options.logit_scale)) refuse(operation, "logit_scale is not finite");
  if (options.precision > matmul_precision::tf32x3) refuse(operation, "an invalid precision");
  return check_terms(operation, check, x.extents[0], weight.extents[0], targets, options);
}

// The workspace that a plan needs, and its parts as views.
class lent_memory {
 public:
  lent_memory(loss_direction direction, const linear_shape& shape, const workspace_view& memory)
      : plan(linear_plan::within(direction, shape, memory.bytes)), memory_(memory) {}

  const linear_plan plan;

  void check(const validation& check, std::initializer_list<named_argument> apart) const {
    check.workspace("workspace", memory_.facts(), plan.bytes, loss_workspace_alignment);
    if (plan.bytes == 0) return;
    for (const named_argument& one : apart)
      if (is_given(one.view)) check.workspace_apart(memory_.facts(), one.name, one.view);
  }
  u64 address(std::uint64_t offset) const { return memory_.address + offset; }
  any_view matrix(std::uint64_t offset, element_kind type, std::int64_t rows, std::int64_t columns,
                  std::uint64_t pitch) const {
    any_view v;
    v.type = type;
    v.rank = 2;
    v.address = address(offset);
    v.bytes = plan.bytes - offset;
    v.device = memory_.device;
    v.extents = {rows, columns};
    v.strides = {static_cast<std::int64_t>(pitch), 1};
    return v;
  }
  workspace_view rest() const {
    if (plan.rest == plan.bytes) return {};
    workspace_view result = memory_;
    result.address += plan.rest;
    result.bytes = plan.bytes - plan.rest;
    return result;
  }

 private:
  workspace_view memory_;
};

// A chunk of classes: those from `first` on.
struct class_chunk {
  std::int64_t number, first, size;
  bool is_last;
};
template <class F>
void for_each_chunk(const linear_plan& plan, std::int64_t classes, const F& f) {
  const auto most = static_cast<std::int64_t>(plan.chunk);
  for (std::int64_t first = 0, number = 0; first < classes; first += most, ++number)
    f(class_chunk{number, first, std::min(most, classes - first), classes - first <= most});
}
// The part of a view whose first dimension counts classes.
any_view part_of(const any_view& v, const class_chunk& of) {
  any_view result = v;
  const std::uint64_t skipped =
      static_cast<std::uint64_t>(of.first) * static_cast<std::uint64_t>(v.strides[0]) * v.element_bytes();
  result.address += skipped;
  result.bytes -= skipped;
  result.extents[0] = of.size;
  return result;
}

// The products of a call.
template <class Options>
class products {
 public:
  products(const stream& s, std::string_view operation, const Options& options, const workspace_view& rest)
      : s_(s), operation_(operation), options_(options) {
    of_all_.alpha = options.logit_scale;
    of_all_.precision = options.precision;
    of_all_.workspace = rest;
  }
  // The logits of a chunk, in f32. Elements after the end of a row, which its last piece has, become 0.
  void logits(const any_view& x, const any_view& weight, const class_chunk& of, const any_view& to) const {
    if (to.extents[1] % 4 != 0) {
      const auto count = static_cast<std::size_t>(to.extents[0] * to.strides[0]);
      runtime::fill(s_, device_pointer<f32>{to.address, count, to.device, true}, 0.0f);
    }
    matmul_options own = of_all_;
    if (is_given(options_.bias)) own.bias.vector = matmul_view_of(part_of(options_.bias, of));
    run(x, transposed(matmul_view_of(part_of(weight, of))), to, own);
  }
  // to = beta * to + scale * a * b + residual
  void gradient(const any_view& a, const any_view& b, const any_view& to, f32 beta,
                const any_view& residual) const {
    matmul_options own = of_all_;
    own.beta = beta;
    own.residual = matmul_view_of(residual);
    run(a, matmul_view_of(b), to, own);
  }

 private:
  void run(const any_view& a, const matmul_view& b, const any_view& c, const matmul_options& own) const {
    detail::run_matmul(s_, {operation_, matmul_view_of(a), b, matmul_view_of(c), &own});
  }

  const stream& s_;
  std::string_view operation_;
  const Options& options_;
  matmul_options of_all_;
};

void check_gradient(std::string_view operation, const validation& check, const named_argument& gradient,
                    const named_argument& of, element_kind type) {
  const std::string argument = "argument " + std::string(gradient.name);
  check.output(gradient.name, gradient.view);
  if (gradient.view.rank != of.view.rank)
    refuse(operation, argument + " has not the dimensions of " + std::string(of.name));
  if (gradient.view.type != type && gradient.view.type != element_kind::f32)
    refuse(operation, argument + " has neither the element type of x nor f32");
  for (std::uint32_t d = 0; d < of.view.rank; ++d)
    check.extent(gradient.name, gradient.view, d, of.view.extents[d],
                 "the extents of " + std::string(of.name));
  if (of.view.rank == 2) check_adjacent(operation, gradient.name, gradient.view);
}

}  // namespace

namespace detail {

void run_linear_cross_entropy(const stream& s, const any_view& x, const any_view& weight,
                              const any_view& targets, const any_view& loss,
                              const linear_cross_entropy_options& options) {
  constexpr std::string_view operation = "linear_cross_entropy";
  static_cast<void>(s.properties());  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  cross_entropy_forward_problem problem{};
  problem.of = resolve(operation, check, x, weight, targets, options);
  const std::int64_t rows = x.extents[0];
  const named_argument of_x{"x", x}, of_weight{"weight", weight}, of_targets{"targets", targets},
      bias{"bias", options.bias}, weights{"weights", options.weights};
  check_losses(operation, check, rows, loss, options, {of_x, of_weight, of_targets, bias, weights});
  const lent_memory memory(loss_direction::forward, shape_of(x, weight), options.workspace);
  memory.check(check, {of_x,
                       of_weight,
                       of_targets,
                       bias,
                       weights,
                       {"loss", loss},
                       {"lse", options.lse},
                       {"total_weight", options.total_weight}});
  const bool sums = options.reduction != loss_reduction::none;
  const linear_plan& plan = memory.plan;
  if (rows != 0) {
    if (is_given(options.lse)) problem.of.lse = numbers_of(options.lse);
    problem.losses = sums ? row_numbers{memory.address(plan.losses), 1} : numbers_of(loss);
    if (sums) problem.target_weights = memory.address(plan.losses) + sizeof(f32) * static_cast<u64>(rows);
    if (plan.chunks > 1) problem.states = memory.address(plan.states);
    const products multiply(s, operation, options, memory.rest());
    for_each_chunk(plan, weight.extents[0], [&](const class_chunk& chunk) {
      const any_view logits = memory.matrix(plan.logits, element_kind::f32, rows, chunk.size, plan.pitch);
      multiply.logits(x, weight, chunk, logits);
      set_logits(problem.of, logits, chunk.first);
      problem.has_before = chunk.number != 0 ? 1 : 0;
      problem.is_last = chunk.is_last ? 1 : 0;
      cross_entropy_variant_for(element_kind::f32, true)
          .run(s, static_cast<std::uint32_t>(row_blocks(problem.of.rows, problem.of.lanes_log)), problem);
    });
  }
  if (sums)
    run_totals(s, memory.address(plan.losses), static_cast<std::uint64_t>(rows), options.reduction, loss,
               options.total_weight);
}

void run_linear_cross_entropy_backward(const stream& s, const any_view& x, const any_view& weight,
                                       const any_view& targets, const any_view& lse, const any_view& dloss,
                                       const any_view& dx, const any_view& dweight,
                                       const linear_cross_entropy_backward_options& options) {
  constexpr std::string_view operation = "linear_cross_entropy_backward";
  const device_properties& device = s.properties();
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  cross_entropy_backward_problem problem{};
  problem.of = resolve(operation, check, x, weight, targets, options);
  const std::int64_t rows = x.extents[0];
  check_upstream(operation, check, rows, lse, dloss, options);
  const named_argument of_x{"x", x}, of_weight{"weight", weight}, bias{"bias", options.bias};
  const named_argument total{"total_weight", options.total_weight}, to_x{"dx", dx},
      to_weight{"dweight", dweight}, to_bias{"dbias", options.dbias};
  const bool has_x = is_given(dx), has_weight = is_given(dweight), has_bias = is_given(options.dbias);
  if (has_x) check_gradient(operation, check, to_x, of_x, x.type);
  if (has_weight) check_gradient(operation, check, to_weight, of_weight, x.type);
  if (has_bias) {
    any_view one_of_class = weight;
    one_of_class.rank = 1;
    check_gradient(operation, check, to_bias, {"the classes of weight", one_of_class}, x.type);
  }
  const named_argument inputs[] = {of_x,
                                   of_weight,
                                   {"targets", targets},
                                   {"lse", lse},
                                   {"dloss", dloss},
                                   bias,
                                   {"weights", options.weights},
                                   total};
  for (const named_argument& to : {to_x, to_weight, to_bias})
    if (is_given(to.view))
      for (const named_argument& from : inputs) check_apart(check, to, {from});
  if (has_x) check_apart(check, to_x, {to_weight, to_bias});
  if (has_weight) check_apart(check, to_weight, {to_bias});
  const lent_memory memory(loss_direction::backward, shape_of(x, weight), options.workspace);
  for (const named_argument& one : inputs) memory.check(check, {one});
  memory.check(check, {to_x, to_weight, to_bias});
  if (!has_x && !has_weight && !has_bias) return;

  const linear_plan& plan = memory.plan;
  const bool is_half = x.type != element_kind::f32;
  if (rows != 0) {
    problem.of.lse = numbers_of(lse);
    problem.dlosses =
        options.reduction != loss_reduction::none ? row_numbers{dloss.address, 0} : numbers_of(dloss);
    problem.total_weight = options.reduction == loss_reduction::mean ? total.view.address : 0;
  }
  row_plan launch;
  launch.vectors = true;
  launch.is_newer = device.target.sm >= 90 && !is_half;
  const auto& of_gradient = is_half ? cross_entropy_backward_to(x.type)
                                    : variant_of(cross_entropy_backward_variants(), x.type, launch);
  const products multiply(s, operation, options, memory.rest());
  for_each_chunk(plan, weight.extents[0], [&](const class_chunk& chunk) {
    any_view g = memory.matrix(plan.gradients, x.type, rows, chunk.size, plan.pitch);
    if (rows == 0) {
      g.address = x.address;  // nothing is read
      g.device = x.device;
    } else {
      const any_view logits = memory.matrix(plan.logits, element_kind::f32, rows, chunk.size, plan.pitch);
      multiply.logits(x, weight, chunk, logits);
      set_logits(problem.of, logits, chunk.first);
      problem.dlogits = {g.address, g.strides[0]};
      run_gradient(s, of_gradient, launch, problem);
    }
    if (has_weight) multiply.gradient(transposed(matmul_view_of(g)), x, part_of(dweight, chunk), 0, {});
    if (has_bias)
      run_reduce(s, reduction::sum, g, part_of(options.dbias, chunk),
                 {.axis = 0, .workspace = memory.rest()});
    if (!has_x) return;
    const any_view w = part_of(weight, chunk);
    if (dx.type == element_kind::f32 || plan.chunks == 1)
      return multiply.gradient(g, w, dx, chunk.number == 0 ? 0.0f : 1.0f, {});
    const any_view sums =
        memory.matrix(plan.sums, element_kind::f32, rows, x.extents[1], static_cast<u64>(x.extents[1]));
    if (chunk.is_last) return multiply.gradient(g, w, dx, 0, sums);
    multiply.gradient(g, w, sums, chunk.number == 0 ? 0.0f : 1.0f, {});
  });
}

}  // namespace detail

std::uint64_t linear_cross_entropy_workspace_bytes(const any_view& x, const any_view& weight,
                                                   std::uint64_t chunk) {
  return bytes_of_chunks("linear_cross_entropy_workspace_bytes", loss_direction::forward, x, weight, chunk);
}
std::uint64_t linear_cross_entropy_backward_workspace_bytes(const any_view& x, const any_view& weight,
                                                            std::uint64_t chunk) {
  return bytes_of_chunks("linear_cross_entropy_backward_workspace_bytes", loss_direction::backward, x, weight,
                         chunk);
}

void linear_cross_entropy_warmup(const runtime::device& gpu, const any_view& x, const any_view& weight,
                                 const any_view& targets, const any_view& loss,
                                 const linear_cross_entropy_options& options) {
  detail::run_linear_cross_entropy(stream::loading(gpu), x, weight, targets, loss, options);
}
void linear_cross_entropy_backward_warmup(const runtime::device& gpu, const any_view& x,
                                          const any_view& weight, const any_view& targets,
                                          const any_view& lse, const any_view& dloss, const output_view& dx,
                                          const output_view& dweight,
                                          const linear_cross_entropy_backward_options& options) {
  detail::run_linear_cross_entropy_backward(stream::loading(gpu), x, weight, targets, lse, dloss, dx, dweight,
                                            options);
}

}  // namespace kaio::ops
