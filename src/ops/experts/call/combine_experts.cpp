// Checks calls of combine_experts before anything runs, and launches them.

#include <kaio/ops/combine_experts.hpp>
#include <kaio/runtime/device.hpp>

#include <string_view>

#include "ops/experts/call/checks.hpp"
#include "ops/experts/simt/rows.hpp"
#include "ops/reduce/call/dimensions.hpp"

namespace kaio::ops {

namespace detail {

void run_combine_experts(const stream& s, const any_view& y, const any_view& weights,
                         const any_view& positions, const any_view& out,
                         const combine_experts_options& options) {
  constexpr std::string_view operation = "combine_experts";
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  check.input("y", y);
  check.input("weights", weights);
  check.input("positions", positions);
  check.output("out", out);
  for (const auto& [name, v] : {named_argument{"y", y}, named_argument{"weights", weights},
                                named_argument{"positions", positions}, named_argument{"out", out}})
    check_adjacent(operation, name, v);
  if (out.type != y.type && out.type != element_kind::f32)
    refuse(operation, "argument out has another element type than y, and is not f32; cast it");
  check.extent("positions", positions, 0, weights.extents[0], "the tokens of weights");
  check.extent("positions", positions, 1, weights.extents[1], "k, the last extent of weights");
  check.extent("out", out, 0, weights.extents[0], "the tokens of weights");
  check.extent("out", out, 1, y.extents[1], "the size of a row of y");
  check.at_most("y", y, 0, most_choices);
  check.at_most("y", y, 1, (std::int64_t{1} << 29) - 1);
  check.at_most("weights", weights, 0, most_choices);
  check.at_most("weights", weights, 1, most_choices);
  check.apart("out", out, "y", y);
  check.apart("out", out, "weights", weights);
  check.apart("out", out, "positions", positions);
  if (out.empty() || (options.accumulate && weights.empty())) return;
  combine_problem problem{};
  problem.y = rows_of_experts(y);
  problem.positions = rows_of_experts(positions);
  problem.weights = rows_of_experts(weights);
  problem.out = rows_of_experts(out);
  problem.rows = static_cast<u32>(y.extents[0]);
  problem.tokens = static_cast<u32>(out.extents[0]);
  problem.size = static_cast<u32>(out.extents[1]);
  problem.k = static_cast<u32>(weights.extents[1]);
  problem.out_type = element_type_of(out.type);
  const std::uint64_t runs = ceil(problem.size, run_size);
  problem.lanes_log = log_of(runs, 8);
  const std::uint64_t parts = ceil(runs, std::uint64_t{1} << problem.lanes_log);
  if (parts * problem.tokens > static_cast<std::uint64_t>(most_choices))
    refuse(operation, "argument out is too large for a launch; split its columns");
  problem.parts = divisor::of(static_cast<u32>(parts));
  problem.y_aligned = begins_at(y, 16) ? 1 : 0;
  problem.out_aligned = begins_at(out, 16) ? 1 : 0;
  problem.accumulate = options.accumulate ? 1 : 0;
  launch_combine(s, y.type, problem);
}

}  // namespace detail

void combine_experts_warmup(const runtime::device& gpu, element_kind kind) {
  if (!is_wide(kind)) detail::refuse("combine_experts_warmup", "elements that are not f32, f16 or bf16");
  gpu.warmup(combine_image(kind));
}

}  // namespace kaio::ops
