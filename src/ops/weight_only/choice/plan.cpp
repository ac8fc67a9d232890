// The choice of a kernel for a matmul_w4, and the division of K.

#include "ops/weight_only/choice/plan.hpp"

#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "ops/choice/recent_choices.hpp"
#include "ops/choice/signature.hpp"
#include "ops/weight_only/common/as_matrix.hpp"
#include "ops/weight_only/common/families.hpp"
#include "ops/weight_only/common/resolve.hpp"
#include "ops/weight_only/gemv/one_row.hpp"

namespace kaio::ops {

namespace {

constexpr std::uint64_t most_blocks = std::numeric_limits<std::int32_t>::max();

// Kernels for sm_90a with more rows than these are for calls with more rows.
constexpr u32 many_rows = 64;

// Whether as many tiles of fewer rows would do, for a kernel whose launch chooses them: it computes rows that no
// one wants.
bool has_idle_rows(const w4_variant& v, const w4_problem& p) {
  constexpr u32 step = 16;
  return v.rounds && v.rows > step && ceil_div(p.m, v.rows - step) == ceil_div(p.m, v.rows);
}

// Why a kernel cannot run a problem on a device; empty: it can.
std::string_view refusal(const w4_variant& v, const w4_problem& p, std::int64_t splits,
                         const device_properties& device) {
  const ptx::needs& needs = v.image->needs;
  if (needs.target.sm > device.target.sm && device.target.sm < 80)
    return "kernels for own codes need sm_80 or later";
  if (const std::string_view why = device_refusal(needs, device); !why.empty()) return why;
  if (v.one_row != nullptr) {
    if (p.m != 1) return "it is for one row of x";
    const std::string_view why =
        refusal_of_one_row(*v.one_row, p.x % 16 == 0, p.w.k, p.w.rows != 0, p.w.slots == 1);
    if (!why.empty()) return why;
    if (plan_w4_one_row(*v.one_row, p.w.tiles_n, 1, p.w.tiles_k, static_cast<u32>(splits), device).splits ==
        0)
      return "it splits K among 1, 2 or 4 blocks of a cluster, and a block's split of x exceeds its shared memory";
  }
  if (!v.has_tensor_copies) return {};
  if (v.rounds ? p.w.slots > 1 && p.w.group.value % 32 != 0 : p.w.slots > v.slots)
    return v.rounds ? "it needs groups of multiples of 32 codes" : "it needs groups of multiples of 64 codes";
  const bool are_own = (p.w.scales_bf16 != 0) == (p.type == static_cast<u32>(element_type::bf16));
  if (v.own_scales && !are_own) return "it needs scales of the type of x";
  if (v.other_scales && are_own) return "it needs scales of another type than x";
  if (p.x_by_16 == 0 || (p.m > 1 && (p.x_row <= 0 || p.x_row >= i64{1} << 39)))
    return "tensor copies take rows of x that begin at multiples of 16 bytes, and no order";
  if (p.w.tiles_k < v.tiles) return "K is shorter than one of its stages";
  if (splits > static_cast<std::int64_t>(w4_steps_of(v, p)))
    return "K has fewer steps than splits; a step is two or four tiles of 64";
  return {};
}

// For devices without the matrix instructions of the other kernels, and for calls that name the multiply-add
// kernel.
bool is_for_multiply_adds(const device_properties& device, std::string_view forced) {
  return device.target.sm < 80 || forced == matmul_w4_simt_rows().front().image->name;
}

std::uint64_t tiles_of(const w4_variant& v, const w4_problem& p) {
  return ceil_div(p.m, v.rows) * ceil_div(p.w.n, v.columns);
}

// The problem with the fields that a kernel decides, except for the division of K.
w4_problem problem_of(w4_problem p, const w4_variant& v) {
  p.unit *= v.unit;
  p.m_tiles = divisor::of(static_cast<u32>(ceil_div(p.m, v.rows)));
  p.n_tiles = divisor::of(static_cast<u32>(ceil_div(p.w.n, v.columns)));
  p.tile_rows = v.rows;
  p.stages = v.stages;
  return p;
}

w4_division plan_division(const w4_variant& v, const w4_problem& problem, std::uint32_t asked,
                          const device_properties& device) {
  const w4_problem p = problem_of(problem, v);
  if (v.one_row != nullptr) {
    const w4_one_row_division d = plan_w4_one_row(*v.one_row, p.w.tiles_n, 1, p.w.tiles_k, asked, device);
    return {d.splits, d.splits, d.microseconds};
  }
  return v.rounds              ? plan_w4_rounded(v, p, device, asked)
         : v.has_tensor_copies ? plan_w4_sm90(v, p, device, asked)
                               : plan_w4_splits(v, p, device, asked);
}

// The model's time for more than 16 rows of x, as medians of 125 random problems on an H200 correct it: the
// models of kernels that round no weights were made for few rows and for groups of 128. Of 260 + 260 further
// problems, 76 took such kernels, and 1.18 of that time.
double microseconds_of(const w4_variant& v, const w4_problem& p, const device_properties& device) {
  constexpr double further = 1.18;
  const double time = plan_division(v, p, 0, device).microseconds;
  const bool four = v.bits == 4;
  if (v.rounds) return time;
  if (v.has_tensor_copies) {
    if (!four) return further * time * (v.rows > 64 ? 0.79 : 0.97);
    return further * time *
           (v.rows > 64 ? 0.66 + 0.25 * time / (time + 100) : 0.72 + 0.17 * time / (time + 15));
  }
  const double fine = further * (p.w.slots == 1 ? 1 : 1.3);  // groups shorter than 64
  if (v.has_few_rows) return time * fine * (v.rows <= 8 ? (four ? 0.95 : 0.74) : (four ? 1.2 : 0.92));
  return time * fine * (v.rows <= 32 ? (four ? 1.55 : 1.22) : (four ? 2.8 : 1.95));
}

// Whether the kernel for one row takes less time than the kernel for few rows. With act-order it does: in the
// other kernel each block would gather x. The models have no types, hence `clearly`: the kernel for few rows
// decodes f16 with fewer instructions than bf16, and integers of eight bits with fewer than of four.
bool is_for_one_row(std::span<const w4_variant> family, const w4_variant& one, const w4_problem& problem,
                    std::int64_t splits, const device_properties& device) {
  const double clearly = one.bits == 8                                         ? 0.88
                         : problem.type == static_cast<u32>(element_type::f16) ? 0.92
                                                                               : 0.97;
  if (!refusal(one, problem, splits, device).empty()) return false;
  const auto asked = static_cast<std::uint32_t>(splits);
  const auto few =
      std::find_if(family.begin(), family.end(), [](const w4_variant& v) { return v.has_few_rows; });
  return problem.w.rows != 0 || plan_division(one, problem, asked, device).microseconds <
                                    clearly * plan_division(*few, problem, asked, device).microseconds;
}

const w4_variant& choose_w4(std::string_view operation, std::span<const w4_variant> family,
                            const w4_problem& problem, std::int64_t splits, const device_properties& device,
                            std::string_view forced) {
  const w4_variant* best = nullptr;
  for (const w4_variant& v : family) {
    if (!forced.empty()) {
      if (v.name() == forced) best = &v;
      continue;
    }
    // In a family fewer rows come first; with equal rows later devices; kernels for sm_90a last. Kernels for
    // few rows have eight warps per tile of 32 or 64 columns, and read it faster than kernels for sm_90a.
    if (v.image->needs.target.sm > std::max<std::uint32_t>(device.target.sm, 80)) continue;
    if (v.rounds || (v.one_row != nullptr && !is_for_one_row(family, v, problem, splits, device))) continue;
    const bool is_few =
        best != nullptr && (best->one_row != nullptr || best->has_few_rows) && problem.m <= best->rows;
    if (v.has_tensor_copies && (is_few || (v.rows > many_rows && problem.m <= many_rows))) continue;
    if ((v.has_tensor_copies || v.has_few_rows) && !refusal(v, problem, splits, device).empty()) continue;
    if (best == nullptr || best->rows < problem.m || (v.has_tensor_copies && !best->has_tensor_copies))
      best = &v;
  }
  // Tiles of few rows fill a device better if the product is small.
  constexpr u32 most_few_rows = 64;
  if (forced.empty() && splits == 0 && best != nullptr && best->rows > 16 && problem.m <= most_few_rows &&
      device.target.sm >= 90) {
    double least = microseconds_of(*best, problem, device);
    for (const w4_variant& v : family)
      if (v.has_few_rows && v.image->needs.target.sm >= 90 && refusal(v, problem, 0, device).empty())
        if (const double time = microseconds_of(v, problem, device); time < least) {
          least = time;
          best = &v;
        }
  }
  if (best == nullptr)
    throw invalid_argument(
        "kaio: " + std::string(operation) + ": there is no variant " + std::string(forced) +
        " for these activations and codes; leave it out, or take one that a choice has named");
  const std::string_view why = refusal(*best, problem, splits, device);
  if (!why.empty() && !forced.empty())
    throw invalid_argument("kaio: " + std::string(operation) + ": the variant " + std::string(forced) +
                           " cannot run this call on " + device.name + ": " + std::string(why) +
                           "; leave it out, or take another");
  if (!why.empty())
    throw unsupported_device("kaio: " + std::string(operation) + ": no kernel for " + device.name + " (sm_" +
                             std::to_string(device.target.sm) +
                             (device.target.arch_specific ? "a): " : "): ") + std::string(why) +
                             "; make a matrix of the weights, and multiply by matmul");
  return *best;
}

// From this number of rows of x on weights may be rounded: by a matrix of them, or by a kernel that rounds.
constexpr u32 rounded_rows = 17;

bool may_round(const w4_problem& p, const matmul_w4_options& options) {
  return options.splits == 0 && !options.exact_weights && p.m >= rounded_rows;
}

// The time of the kernel that rounds no weights.
double microseconds_of_exact(w4_problem p, const device_properties& device) {
  const w4_variant& v = choose_w4("matmul_w4", w4_family(p), p, 0, device, {});
  if (p.w.rows == 0) return microseconds_of(v, p, device);
  // Kernels that follow an order of K gather x in every block.
  const double operations_in_us = 5e5 * std::max(device.multiprocessors, 1u);
  return 2.0 * p.m * p.w.n * p.w.k / operations_in_us;
}

using w4_signature = words_signature<6>;

// Only what is known before there is an output, a bias or a workspace: matmul_w4_workspace_bytes chooses as
// the call.
w4_signature signature_of(const w4_problem& p, const matmul_w4_options& options) {
  packed_word kind;
  kind.add(p.type, 2).add(p.w.codes_type, 4).add(p.w.scale_type, 4);
  for (const bool is :
       {p.w.zeros != 0, p.w.rows != 0, p.w.factors != 0, p.w.offsets != 0, p.w.scales_bf16 != 0,
        p.x_by_16 != 0, p.x % 16 == 0, p.x_row > 0 && p.x_row < i64{1} << 39})
    kind.add(is, 1);
  const std::uint64_t asked =
      static_cast<std::uint64_t>(options.splits) << 1 | (options.exact_weights ? 1 : 0);
  return {{p.m, p.w.n, p.w.k, p.w.group.value, kind.value(), asked}};
}

// Columns per slice by the model, which is made for sm_90a; other devices have all columns at once.
std::uint32_t slice_of(const w4_problem& p, const device_properties& device) {
  if (!(device.target == ptx::target{90, true}) || p.m == 0) return p.w.n;
  thread_local recent_choices<w4_signature, std::uint32_t> recent;
  return recent.find(signature_of(p, {}), device, [&] { return plan_w4_slices(p, device).columns; });
}

// Columns per slice of "dequantise" (by the model) or "dequantise:4". 0: another name, or no such slices.
std::uint32_t slice_named(const w4_problem& problem, const device_properties& device, std::string_view name) {
  if (name == w4_as_matrix) return slice_of(problem, device);
  const std::uint32_t slices = splits_of_name(name);
  if (slices < 1 || slices > problem.w.n || name != name_with_splits(w4_as_matrix, slices)) return 0;
  const std::uint32_t columns = w4_slice_of(problem.w, slices);
  return w4_slices(problem.w, columns) == slices ? columns : 0;
}

// Each kernel with each number of splits, or with `asked` splits. rounding: kernels that round weights too.
std::vector<w4_choice> kernel_choices(w4_problem& problem, std::int64_t asked, bool rounding,
                                      const device_properties& device) {
  constexpr std::uint64_t most_splits = 64;
  constexpr std::uint64_t blocks_of_splits = 4;  // blocks on a multiprocessor, beyond which K is not divided
  std::vector<w4_choice> result;
  for (const w4_variant& v : is_for_multiply_adds(device, {}) ? matmul_w4_simt_rows() : w4_family(problem)) {
    if (v.one_row != nullptr) {
      for (const std::uint32_t splits : {1u, 2u, 4u})
        if ((asked == 0 || asked == splits) && refusal(v, problem, splits, device).empty())
          result.push_back({&v, {splits, splits}});
      continue;
    }
    if (!refusal(v, problem, asked, device).empty() || (v.rounds && !rounding)) continue;
    if (asked == 0 && has_idle_rows(v, problem)) continue;
    const std::uint64_t steps = w4_steps_of(v, problem), tiles = tiles_of(v, problem),
                        fill = blocks_of_splits * std::max(device.multiprocessors, 1u);
    const auto from = static_cast<std::uint32_t>(asked != 0 ? asked : 1);
    const auto to = asked != 0 ? from : static_cast<std::uint32_t>(std::min(most_splits, steps));
    for (std::uint32_t splits = from; splits <= to && tiles <= most_blocks / splits; ++splits) {
      if (asked == 0 &&
          (splits != ceil_div(steps, ceil_div(steps, splits)) || (splits > 1 && tiles * splits > fill)))
        continue;
      result.push_back({&v, {splits, 1}});
      if (can_be_a_cluster(v, splits)) result.push_back({&v, {splits, splits}});
    }
  }
  return result;
}

// The choice of this name with `asked` splits (0: any number), or none.
w4_choice choice_named(w4_problem& problem, std::int64_t asked, const device_properties& device,
                       std::string_view name) {
  if (const std::uint32_t columns = slice_named(problem, device, name); columns != 0)
    return {.slice = columns};
  const std::int64_t splits = splits_of_name(name);
  if (splits < 1 || splits > problem.w.tiles_k || (asked != 0 && splits != asked)) return {};
  for (const w4_choice& c : kernel_choices(problem, splits, true, device))
    if (c.name(problem.w.n) == name) return c;
  return {};
}

// Choices to take if the workspace has room, the best one first. After them: the best kernel that rounds
// nothing.
using early_choices = std::array<w4_choice, 2>;

// The choices that round weights and are faster than that kernel, by the models of sm_90a.
early_choices rounding_choices(const w4_problem& problem, const device_properties& device) {
  w4_problem p = problem;
  double least = microseconds_of_exact(problem, device);
  w4_choice kernel;
  for (const w4_variant& v : w4_family(p))
    if (v.rounds && !has_idle_rows(v, p) && refusal(v, p, 1, device).empty())
      if (const w4_division d = plan_division(v, p, 0, device); d.microseconds < least) {
        least = d.microseconds;
        kernel = {.variant = &v, .division = d};
      }
  // Unaligned rows of x are slow for matmul too.
  if (problem.x_by_16 == 0 && problem.w.rows == 0) return {kernel};
  const w4_slicing slicing = plan_w4_slices(problem, device);
  if (slicing.microseconds >= least) return {kernel};
  return {w4_choice{.slice = slicing.columns}, kernel};
}

// The tuned choice, or the choices that round weights.
const early_choices& find_early(w4_problem& problem, const matmul_w4_options& options,
                                const device_properties& device) {
  thread_local recent_choices<w4_signature, early_choices> recent;
  return recent.find(signature_of(problem, options), device, [&]() -> early_choices {
    const bool may = may_round(problem, options);
    if (const std::string name = find_tuned(device, tuning_key(problem, options)); !name.empty())
      if (const w4_choice tuned = choice_named(problem, options.splits, device, name);
          tuned.variant != nullptr ? may || !tuned.variant->rounds : tuned.slice != 0 && may)
        return {tuned};
    return may && device.target == ptx::target{90, true} ? rounding_choices(problem, device)
                                                         : early_choices{};
  });
}

}  // namespace

std::string w4_choice::name(std::uint32_t n) const {
  if (slice != 0) return name_with_splits(w4_as_matrix, (n + slice - 1) / slice);
  return name_with_splits(variant->name(), division.splits, division.cluster != 1);
}

std::string tuning_key(const w4_problem& problem, const matmul_w4_options& options) {
  return signature_of(problem, options).text("matmul_w4");
}

std::vector<w4_choice> w4_choices(w4_problem& problem, const matmul_w4_options& options,
                                  const device_properties& device) {
  constexpr std::uint32_t most_slices = 12;
  const bool may = may_round(problem, options);
  std::vector<w4_choice> result = kernel_choices(problem, options.splits, may, device);
  if (may && device.target.sm >= 80)
    for (std::uint32_t slices = 1; slices <= most_slices; ++slices)
      if (const std::uint32_t columns = w4_slice_of(problem.w, slices);
          w4_slices(problem.w, columns) == slices)
        result.push_back({.slice = columns});
  return result;
}

planned_w4 divide_w4(std::string_view operation, const w4_problem& problem, const w4_choice& choice) {
  if (choice.slice != 0)
    return {.problem = problem, .choice = choice, .workspace = w4_slice_bytes(problem.w, choice.slice)};
  const w4_variant& v = *choice.variant;
  planned_w4 result{.problem = problem_of(problem, v), .choice = choice};
  w4_problem& p = result.problem;
  p.splits = choice.division.splits;
  p.cluster = choice.division.cluster;
  p.steps = w4_steps_of(v, p) / p.splits;
  p.rest = w4_steps_of(v, p) % p.splits;
  const bool combines = p.splits > p.cluster;
  const std::uint64_t tiles = tiles_of(v, p), of_combine = !combines ? 0 : ceil_div(p.w.n, 512) * p.m;
  if (tiles > most_blocks / p.splits || of_combine > most_blocks)
    throw invalid_argument("kaio: " + std::string(operation) +
                           ": more than 2^31 blocks; divide the rows of x, or give fewer splits");
  result.blocks = tiles * p.splits;
  if (combines) result.workspace = std::uint64_t{p.splits} * p.m * p.w.tiles_n * (w4_tile_n * sizeof(f32));
  return result;
}

void run_planned_w4(const stream& s, const detail::matmul_w4_arguments& arguments,
                    const planned_w4& planned) {
  const w4_choice& choice = planned.choice;
  if (choice.slice != 0) return run_w4_as_matrix(s, arguments, planned.problem, choice.slice);
  w4_problem problem = planned.problem;
  problem.sums = arguments.options->workspace.address;
  choice.variant->run(s, problem, planned.blocks);
  if (planned.workspace != 0) run_matmul_w4_combine(s, problem);
}

planned_w4 plan_w4(const void* device, const device_properties& properties,
                   const detail::matmul_w4_arguments& arguments, bool choice_alone) {
  const matmul_w4_options& options = *arguments.options;
  planned_w4 result;
  result.problem = detail::resolve_w4_product(device, arguments, choice_alone);
  w4_problem& p = result.problem;
  if (p.m == 0) return result;
  const bool own = arguments.weights->shape.codes == w4_codes::own;
  if (own && arguments.own == nullptr)
    detail::refuse_w4(arguments.operation, "weights with own codes need matmul_w4_with");
  // w4_family also sets the numbers of a table, whatever is chosen.
  const auto family = own ? std::span(arguments.own, arguments.own_count)
                      : is_for_multiply_adds(properties, options.variant) ? matmul_w4_simt_rows()
                                                                          : w4_family(p);
  if (options.variant.empty() && !own) {
    const bool is_free = choice_alone && options.workspace.address == 0;
    for (const w4_choice& early : find_early(p, options, properties)) {
      // Overlapping rows of x are for the kernels, which address each of them.
      const bool overlap = p.m > 1 && p.x_row < i64{p.w.k};
      if (!early.exists() || (early.slice != 0 && overlap)) continue;
      const planned_w4 divided = divide_w4(arguments.operation, p, early);
      if (is_free || divided.workspace <= options.workspace.bytes) return divided;
    }
  } else if (!own && !options.variant.empty()) {
    if (const w4_choice c = choice_named(p, options.splits, properties, options.variant); c.exists())
      return divide_w4(arguments.operation, p, c);
  }
  const w4_variant& v =
      choose_w4(arguments.operation, family, p, options.splits, properties, options.variant);
  return divide_w4(arguments.operation, p,
                   {&v, plan_division(v, p, static_cast<std::uint32_t>(options.splits), properties)});
}

}  // namespace kaio::ops
