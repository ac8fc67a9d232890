// Plans calls of reduce: which kernel, how an axis is divided, and where partial results are.

#include <kaio/ops/reduce/call/plan.hpp>
#include <kaio/ops/shared/rows.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <algorithm>
#include <string>

#include "ops/reduce/call/dimensions.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::uint64_t least_chunk = 16384, most_splits = 16384;

// Where a reduction reads and writes. If the result is not finished, it is accumulators that follow each other.
struct places {
  std::uint64_t from, to;
  std::uint32_t element_bytes;
  bool of_accumulators, finished;
};

class planner {
 public:
  planner(std::uint32_t accumulator_bytes, u64 count, u32 out_type)
      : accumulator_bytes_(accumulator_bytes), count_(count), out_type_(out_type) {}

  std::vector<reduce_step> steps;
  std::uint64_t bytes = 0;  // of the workspace

  // Reserves accumulators and returns the offset of the first.
  std::uint64_t reserve(std::uint64_t accumulators) {
    const std::uint64_t first = first_free_;
    first_free_ += ceil(accumulators * accumulator_bytes_, 256) * 256;
    bytes = std::max(bytes, first_free_);
    return first;
  }

  void add(const places& at, const dimension& axis, const dimensions& kept, std::uint64_t workspace) {
    if (product(kept) > most_rows) {
      add_parts(at, axis, kept, workspace);
      return;
    }
    const auto column =
        std::find_if(kept.begin(), kept.end(), [](const dimension& d) { return d.from == 1; });
    reduce_step step{};
    step.problem.from = at.from;
    step.problem.stride = axis.from;
    step.problem.size = axis.extent;
    step.problem.count = count_;
    step.problem.out_type = out_type_;
    dimensions order = kept;
    if (axis.from == 1 || column == kept.end()) {
      divide_rows(step, at, axis, kept);
    } else {
      const dimension of_column = *column;
      order.erase(order.begin() + (column - kept.begin()));
      divide_columns(step, at, axis, order, of_column);
      order.push_back(of_column);
    }
    const std::uint64_t splits = step.problem.splits, before = first_free_;
    step.splits = static_cast<u32>(splits);
    const bool ends = splits == 1;
    step.problem.finished = ends && at.finished ? 1 : 0;
    step.problem.to = ends ? at.to : workspace + reserve(product(kept) * splits);
    steps.push_back(step);
    if (!ends) add_final(at, order, splits, steps.back().problem.to);
    first_free_ = before;
  }

 private:
  void add_parts(const places& at, const dimension& axis, const dimensions& kept, std::uint64_t workspace) {
    const auto largest = static_cast<std::size_t>(
        std::max_element(kept.begin(), kept.end(),
                         [](const dimension& a, const dimension& b) { return a.extent < b.extent; }) -
        kept.begin());
    const std::uint64_t half = kept[largest].extent / 2;
    dimensions part = kept;
    part[largest].extent = half;
    add(at, axis, part, workspace);
    places rest = at;
    rest.from += half * static_cast<std::uint64_t>(kept[largest].from) * at.element_bytes;
    rest.to += at.finished ? half * static_cast<std::uint64_t>(kept[largest].to) * out_bytes_
                           : product(part) * accumulator_bytes_;
    part[largest].extent = kept[largest].extent - half;
    add(rest, axis, part, workspace);
  }

  static bool is_aligned(const places& at, const dimensions& kept, const dimension* axis) {
    const auto fits = [&](const dimension& d) {
      return d.extent <= 1 || static_cast<std::uint64_t>(d.from) * at.element_bytes % 16 == 0;
    };
    return at.from % 16 == 0 && std::all_of(kept.begin(), kept.end(), fits) &&
           (axis == nullptr || fits(*axis));
  }

  static void divide_rows(reduce_step& step, const places& at, const dimension& axis,
                          const dimensions& kept) {
    const std::uint64_t width = 16 / at.element_bytes;
    const std::uint64_t chunk =
        at.of_accumulators && axis.extent <= most_splits
            ? most_splits
            : std::max<std::uint64_t>(least_chunk, ceil(ceil(axis.extent, most_splits), 1024) * 1024);
    step.kernel = at.of_accumulators ? reduce_kernel::final : reduce_kernel::rows;
    step.problem.rows = static_cast<u32>(product(kept));
    step.problem.columns = 1;
    step.problem.chunk = static_cast<u32>(chunk);
    step.problem.splits = static_cast<u32>(std::max<std::uint64_t>(ceil(axis.extent, chunk), 1));
    // Three to six vectors for each thread, so that a few more than a power of two need no more threads.
    step.problem.lanes_log = log_of(ceil(ceil(std::min(axis.extent, chunk), width), 6), 8);
    step.problem.column_blocks = divisor::of(1);
    step.problem.aligned = axis.from == 1 && is_aligned(at, kept, nullptr) ? 1 : 0;
    step.problem.kept = kept_of(kept);
    step.blocks = row_blocks(step.problem.rows, step.problem.lanes_log);
  }

  static void divide_columns(reduce_step& step, const places& at, const dimension& axis,
                             const dimensions& rows, const dimension& column) {
    const std::uint64_t width = 16 / at.element_bytes, vectors = ceil(column.extent, width);
    // Each thread has at least eight elements of a long axis.
    const std::uint32_t wanted_log = log_of(ceil(axis.extent, 8), 8);
    const std::uint32_t lanes_log = log_of(vectors, 8 - std::min(wanted_log, 3u));
    const std::uint32_t depth_log = std::min(wanted_log, 8 - lanes_log);
    const std::uint64_t column_blocks = ceil(vectors, std::uint64_t{1} << lanes_log);
    const std::uint64_t depth = std::uint64_t{1} << depth_log;
    const std::uint64_t wanted_splits = std::clamp<std::uint64_t>(4096 / column_blocks, 1, most_splits);
    const std::uint64_t chunk =
        std::max(depth * 32, ceil(ceil(axis.extent, wanted_splits), depth * 4) * depth * 4);
    step.kernel = reduce_kernel::columns;
    step.problem.to_column = column.to;
    step.problem.rows = static_cast<u32>(product(rows));
    step.problem.columns = static_cast<u32>(column.extent);
    step.problem.column_blocks = divisor::of(static_cast<u32>(column_blocks));
    step.problem.chunk = static_cast<u32>(chunk);
    step.problem.splits = static_cast<u32>(std::max<std::uint64_t>(ceil(axis.extent, chunk), 1));
    // Three to six vectors for each thread, so that a few more than a power of two need no more threads.
    step.problem.lanes_log = lanes_log;
    step.problem.depth_log = depth_log;
    step.problem.aligned = is_aligned(at, rows, &axis) ? 1 : 0;
    step.problem.kept = kept_of(rows);
    step.blocks = ceil(step.problem.rows, reduce_threads >> (lanes_log + depth_log)) * column_blocks;
  }

  // Rows of `splits` accumulators, in the order of `kept`, into the places of the whole reduction.
  void add_final(const places& at, const dimensions& kept, std::uint64_t splits, std::uint64_t from) {
    dimensions of_accumulators = kept;
    std::int64_t stride = static_cast<std::int64_t>(splits);
    for (std::size_t i = kept.size(); i-- > 0;) {
      of_accumulators[i].from = stride;
      stride *= static_cast<std::int64_t>(kept[i].extent);
    }
    add({from, at.to, accumulator_bytes_, true, at.finished}, {splits, 1, 0}, of_accumulators, 0);
  }

  std::uint32_t accumulator_bytes_;
  u64 count_;
  u32 out_type_;
  std::uint64_t first_free_ = 0;

 public:
  std::uint32_t out_bytes_ = 4;
};

struct checked {
  dimensions reduced, kept;
};

checked check_arguments(const validation& check, const reduce_arguments& of) {
  const any_view &x = of.x, &out = of.out;
  check.input("x", x);
  check.output("out", out);
  check.apart("out", out, "x", x);
  checked result;
  if (of.options->all) {
    for (std::uint32_t d = 0; d < out.rank; ++d) check.extent("out", out, d, 1, "all dimensions are reduced");
    for (std::uint32_t d = 0; d < x.rank; ++d)
      result.reduced.push_back({static_cast<std::uint64_t>(x.extents[d]), x.strides[d], x.strides[d]});
    return result;
  }
  const std::int64_t rank = x.rank, axis = of.options->axis < 0 ? of.options->axis + rank : of.options->axis;
  if (axis < 0 || axis >= rank)
    refuse(of.operation, "axis is " + std::to_string(of.options->axis) + ", and x has " +
                             std::to_string(rank) + " dimensions");
  const bool keeps = out.rank == x.rank;
  const bool is_one = x.rank == 1 && out.rank == 1;
  if (!keeps && out.rank + 1 != x.rank)
    refuse(of.operation, "argument out has " + std::to_string(out.rank) + " dimensions, and x has " +
                             std::to_string(rank) + "; give as many, or one less");
  std::uint32_t of_out = 0;
  for (std::uint32_t d = 0; d < x.rank; ++d) {
    const auto extent = static_cast<std::uint64_t>(x.extents[d]);
    if (d == static_cast<std::uint32_t>(axis)) {
      result.reduced.push_back({extent, x.strides[d], x.strides[d]});
      if (keeps || is_one) check.extent("out", out, of_out++, 1, "the axis that is reduced");
    } else {
      check.extent("out", out, of_out, x.extents[d], "the extents of x");
      result.kept.push_back({extent, x.strides[d], out.strides[of_out++]});
    }
  }
  return result;
}

planner plan(const reduce_arguments& of, const checked& arguments) {
  const dimensions kept = joined(arguments.kept);
  dimensions reduced = arguments.reduced;
  std::sort(reduced.begin(), reduced.end(),
            [](const dimension& a, const dimension& b) { return a.from > b.from; });
  std::uint64_t count = product(reduced);
  reduced = count == 0 ? dimensions{{0, 1, 1}} : joined(reduced);
  if (reduced.empty()) reduced.push_back({1, 1, 1});
  const bool is_wide_out = is_wide(of.out.type);
  planner p(of.accumulator_bytes, count, is_wide_out ? element_type_of(of.out.type) : 0);
  p.out_bytes_ = of.out.element_bytes();
  if (of.out.empty()) return p;
  const std::uint64_t workspace = of.options->workspace.address;
  const places whole{of.x.address, of.out.address, of.x.element_bytes(), false, true};
  const dimension axis = reduced.back();
  if (reduced.size() == 1) {
    p.add(whole, axis, kept, workspace);
    return p;
  }
  // Several dimensions that are no run: the innermost first, then the accumulators of all others.
  reduced.pop_back();
  const std::uint64_t others = product(reduced), first = workspace + p.reserve(others);
  for (dimension& d : reduced) d.to = 0;
  p.add({whole.from, first, whole.element_bytes, false, false}, axis, reduced, workspace);
  p.add({first, whole.to, of.accumulator_bytes, true, true}, {others, 1, 1}, {}, workspace);
  return p;
}

}  // namespace

std::vector<reduce_step> plan_reduce(const void* device, const reduce_arguments& of) {
  const validation check(of.operation, device);
  planner p = plan(of, check_arguments(check, of));
  const workspace_facts memory = of.options->workspace.facts();
  check.workspace("workspace", memory, p.bytes, 16);
  if (p.bytes != 0) {
    check.workspace_apart(memory, "x", of.x);
    check.workspace_apart(memory, "out", of.out);
  }
  return std::move(p.steps);
}

std::uint64_t reduce_bytes(const reduce_arguments& of) {
  const validation check(of.operation, nullptr);
  return plan(of, check_arguments(check, of)).bytes;
}

}  // namespace kaio::ops::detail
