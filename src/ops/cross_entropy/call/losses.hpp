#pragma once
// What cross_entropy and linear_cross_entropy share: the checks of their options, and the launches of the kernels
// of rows of logits.

#include <kaio/ops/cross_entropy.hpp>

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <string>
#include <string_view>

#include "ops/cross_entropy/simt/rows.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

inline constexpr std::uint64_t loss_workspace_alignment = 16;

// The bytes that hold the rows' losses and weights, and the sums of blocks of them.
std::uint64_t loss_workspace_bytes(std::uint64_t rows);

row_numbers numbers_of(const any_view& v);
// Refuses another view than one of `count` numbers of f32.
void check_numbers_of_rows(std::string_view operation, const validation& check,
                           const detail::named_argument& of, std::int64_t count, std::string_view reason);
// Refuses an output that shares memory with one of `others` that is given.
void check_apart(const validation& check, const detail::named_argument& output,
                 std::initializer_list<detail::named_argument> others);

// The outputs of the forward call for `rows` rows: loss, and of the options lse and total_weight, apart from each
// other and from `inputs`. Options: cross_entropy_options, or others with its members.
template <class Options>
void check_losses(std::string_view operation, const validation& check, std::int64_t rows,
                  const any_view& loss, const Options& options,
                  std::initializer_list<detail::named_argument> inputs) {
  using detail::is_given, detail::named_argument;
  const bool sums = options.reduction != loss_reduction::none;
  check.output("loss", loss);
  check_numbers_of_rows(operation, check, {"loss", loss}, sums ? 1 : rows,
                        sums ? "one number" : "the rows of logits, without a reduction");
  const named_argument lse{"lse", options.lse}, total{"total_weight", options.total_weight};
  if (is_given(lse.view)) {
    check.output(lse.name, lse.view);
    check_numbers_of_rows(operation, check, lse, rows, "the rows of logits");
  }
  if (is_given(total.view)) {
    if (!sums) detail::refuse(operation, "total_weight is given without a reduction");
    check.output(total.name, total.view);
    check_numbers_of_rows(operation, check, total, 1, "one number");
  }
  check_apart(check, {"loss", loss}, inputs);
  check_apart(check, {"loss", loss}, {lse, total});
  if (is_given(lse.view)) {
    check_apart(check, lse, inputs);
    check_apart(check, lse, {total});
  }
  if (is_given(total.view)) check_apart(check, total, inputs);
}

// What the gradient takes from the forward call, and the gradient of the loss.
template <class Options>
void check_upstream(std::string_view operation, const validation& check, std::int64_t rows,
                    const any_view& lse, const any_view& dloss, const Options& options) {
  const bool sums = options.reduction != loss_reduction::none;
  check.input("lse", lse);
  check_numbers_of_rows(operation, check, {"lse", lse}, rows, "the rows of logits");
  check.input("dloss", dloss);
  check_numbers_of_rows(operation, check, {"dloss", dloss}, sums ? 1 : rows,
                        sums ? "one number" : "the rows of logits, without a reduction");
  const detail::named_argument total{"total_weight", options.total_weight};
  if (detail::is_given(total.view)) {
    check.input(total.name, total.view);
    check_numbers_of_rows(operation, check, total, 1, "one number");
  } else if (options.reduction == loss_reduction::mean) {
    detail::refuse(operation, "total_weight is missing; the mean divides by that of the forward call");
  }
}

// Checks the options of both directions, and returns the parameters of the kernels without the logits.
template <class Options>
cross_entropy_problem check_terms(std::string_view operation, const validation& check, std::int64_t rows,
                                  std::int64_t classes, const any_view& targets, const Options& options) {
  using detail::is_given, detail::refuse;
  check.input("targets", targets);
  check.extent("targets", targets, 0, rows, "the rows of logits");
  if (is_given(options.weights)) {
    check.input("weights", options.weights);
    check_numbers_of_rows(operation, check, {"weights", options.weights}, classes, "the classes of logits");
    check_adjacent(operation, "weights", options.weights);
  }
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
    refuse(operation, "label_smoothing is not from 0 to 1");
  if (!std::isfinite(options.z_loss)) refuse(operation, "z_loss is not finite");
  if (!(options.softcap >= 0 && std::isfinite(options.softcap)))
    refuse(operation, "softcap is neither 0 nor finite and above 0");
  if (options.reduction > loss_reduction::mean) refuse(operation, "reduction is not none, sum or mean");

  cross_entropy_problem problem{};
  problem.rows = static_cast<u32>(rows);
  problem.classes = static_cast<u32>(classes);
  problem.has_wide_targets = targets.type == element_kind::i64 ? 1 : 0;
  problem.targets = {targets.address, targets.strides[0]};
  problem.terms = {.ignored = options.ignore_index,
                   .weights = is_given(options.weights) ? options.weights.address : 0,
                   .smoothing = options.label_smoothing,
                   .z_loss = options.z_loss,
                   .softcap = options.softcap,
                   .cap_scale = options.softcap == 0 ? 0 : 2 * std::numbers::log2e_v<f32> / options.softcap};
  return problem;
}

// Adds the classes from `first` on, whose logits are adjacent in rows.
void set_logits(cross_entropy_problem& problem, const any_view& logits, std::int64_t first);

// Adds the rows' losses and weights, which are the first numbers of the workspace. total_weight: may be missing.
void run_totals(const stream& s, u64 workspace, std::uint64_t rows, loss_reduction reduction,
                const any_view& loss, const any_view& total_weight);

// Launches a gradient kernel. Sets plan.blocks and problem.parts_log.
void run_gradient(const stream& s, const row_variant<cross_entropy_backward_problem>& variant, row_plan plan,
                  cross_entropy_backward_problem problem);

}  // namespace kaio::ops
