// Checks calls of scan, and plans their launches.

#include <kaio/ops/scan/call/plan.hpp>
#include <kaio/ops/shared/rows.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <algorithm>
#include <string>

#include "ops/reduce/call/dimensions.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::uint64_t least_chunk = 16384, most_splits = 16384;

struct row_shape_of_scan {
  std::uint64_t rows, size, chunk, splits, bytes;
};

row_shape_of_scan shape_of(const any_view& x) {
  row_shape_of_scan shape{1, static_cast<std::uint64_t>(x.extents[x.rank - 1]), 0, 0, 0};
  for (std::uint32_t d = 0; d + 1 < x.rank; ++d) shape.rows *= static_cast<std::uint64_t>(x.extents[d]);
  shape.chunk = std::max<std::uint64_t>(least_chunk, ceil(ceil(shape.size, most_splits), 1024) * 1024);
  shape.splits = ceil(shape.size, shape.chunk);
  if (shape.splits > 1) shape.bytes = shape.rows * shape.splits * x.element_bytes();
  return shape;
}

void check_arguments(const validation& check, std::string_view operation, const any_view& x,
                     const any_view& out) {
  check.input("x", x);
  check.output("out", out);
  for (std::uint32_t d = 0; d < x.rank; ++d) check.extent("out", out, d, x.extents[d], "the extents of x");
  if (!same_view(x, out)) check.apart("out", out, "x", x);
  double rows = 1;
  for (std::uint32_t d = 0; d + 1 < x.rank; ++d) rows *= static_cast<double>(x.extents[d]);
  if (rows > static_cast<double>(most_rows))
    refuse(operation, "2^31 rows or more exceed a launch; split them");
}

bool is_aligned(const any_view& v) { return v.strides[v.rank - 1] == 1 && begins_at(v, 16); }

u32 lanes_for(std::uint64_t size, std::uint32_t element_bytes) {
  return log_of(ceil(size, 16 / element_bytes), 8);
}

}  // namespace

std::vector<scan_launch> plan_scan(const void* device, std::string_view operation, const any_view& x,
                                   const any_view& out, const scan_options& options) {
  const validation check(operation, device);
  check_arguments(check, operation, x, out);
  if (x.empty()) return {};
  const row_shape_of_scan shape = shape_of(x);
  const workspace_facts memory = options.workspace.facts();
  check.workspace("workspace", memory, shape.bytes, 16);
  if (shape.bytes != 0) {
    check.workspace_apart(memory, "x", x);
    check.workspace_apart(memory, "out", out);
  }
  dimensions rows;
  for (std::uint32_t d = 0; d + 1 < x.rank; ++d)
    rows.push_back({static_cast<std::uint64_t>(x.extents[d]), x.strides[d], out.strides[d]});
  scan_problem problem{};
  problem.from = x.address;
  problem.to = out.address;
  problem.carries = memory.address;
  problem.from_stride = x.strides[x.rank - 1];
  problem.to_stride = out.strides[x.rank - 1];
  problem.size = shape.size;
  problem.chunk = static_cast<u32>(shape.chunk);
  problem.splits = static_cast<u32>(shape.splits);
  problem.rows = static_cast<u32>(shape.rows);
  problem.lanes_log = lanes_for(std::min(shape.size, shape.chunk), x.element_bytes());
  problem.from_aligned = is_aligned(x) ? 1 : 0;
  problem.to_aligned = is_aligned(out) ? 1 : 0;
  problem.exclusive = options.exclusive ? 1 : 0;
  problem.step = static_cast<u32>(scan_step::whole);
  problem.kept = kept_of(joined(rows));
  const std::uint64_t blocks = row_blocks(shape.rows, problem.lanes_log);
  if (shape.splits == 1) return {{problem, blocks, 1}};

  scan_problem totals = problem, chunks = problem;
  totals.step = static_cast<u32>(scan_step::totals);
  chunks.step = static_cast<u32>(scan_step::carried);
  scan_problem sums{};
  sums.from = sums.to = memory.address;
  sums.from_stride = sums.to_stride = 1;
  sums.size = shape.splits;
  sums.chunk = static_cast<u32>(most_splits);
  sums.splits = 1;
  sums.rows = problem.rows;
  sums.lanes_log = lanes_for(shape.splits, x.element_bytes());
  const bool aligned = shape.rows == 1 || shape.splits * x.element_bytes() % 16 == 0;
  sums.from_aligned = sums.to_aligned = aligned ? 1 : 0;
  sums.exclusive = 1;
  sums.step = static_cast<u32>(scan_step::whole);
  const auto splits = static_cast<std::int64_t>(shape.splits);
  sums.kept = kept_of({{shape.rows, splits, splits}});
  const auto grid_splits = static_cast<u32>(shape.splits);
  return {{totals, blocks, grid_splits},
          {sums, row_blocks(shape.rows, sums.lanes_log), 1},
          {chunks, blocks, grid_splits}};
}

std::uint64_t scan_bytes(const any_view& x, const any_view& out) {
  const std::string_view operation = "scan_workspace_bytes";
  check_arguments(validation(operation, nullptr), operation, x, out);
  return x.empty() ? 0 : shape_of(x).bytes;
}

}  // namespace kaio::ops::detail
