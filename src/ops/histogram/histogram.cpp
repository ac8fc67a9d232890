// Checks calls of histogram before anything runs, and launches them.

#include <kaio/ops/histogram.hpp>
#include <kaio/ops/histogram/simt/kernel.hpp>
#include <kaio/ops/shared/rows.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "ops/families.hpp"
#include "ops/histogram/clear.hpp"
#include "ops/reduce/call/dimensions.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

constexpr std::string_view operation = "histogram";
constexpr std::uint64_t most_chunk = 16384;

using detail::refuse;

// The bins of integers as those of unsigned numbers.
void set_integers(histogram_problem& problem, const any_view& x, std::int64_t first) {
  const bool is_unsigned = x.type != element_kind::i32 && x.element_bytes() == 4;
  const std::int64_t least = is_unsigned ? 0 : std::numeric_limits<std::int32_t>::min();
  const std::int64_t beyond = least + (std::int64_t{1} << 32);
  if (first < least || first > beyond - problem.bins)
    refuse(operation, "first is " + std::to_string(first) + ", and its " + std::to_string(problem.bins) +
                          " bins are not all from " + std::to_string(least) + " to " +
                          std::to_string(beyond - 1));
  problem.flip = is_unsigned ? 0 : u32{1} << 31;
  problem.first = static_cast<u32>(first) ^ problem.flip;
}
void set_edges(histogram_problem& problem, f32 low, f32 high) {
  const f32 range = high - low;
  if (!(low < high) || !std::isfinite(range))
    refuse(operation, "low and high are not finite edges with low below high");
  problem.low = low;
  problem.high = high;
  problem.scale = static_cast<f32>(problem.bins) / range;
}

void set_rows(histogram_problem& problem, const any_view& x) {
  using namespace detail;
  dimensions all;
  for (std::uint32_t d = 0; d < x.rank; ++d)
    all.push_back({static_cast<std::uint64_t>(x.extents[d]), x.strides[d], x.strides[d]});
  std::sort(all.begin(), all.end(), [](const dimension& a, const dimension& b) { return a.from > b.from; });
  all = joined(all);
  if (all.empty()) all.push_back({1, 1, 1});
  const dimension row = all.back();
  all.pop_back();
  const std::uint64_t width = 16 / x.element_bytes();
  const std::uint64_t rows = product(all), chunk = std::min(row.extent, most_chunk);
  const std::uint64_t splits = ceil(row.extent, chunk);
  problem.from = x.address;
  problem.stride = row.from;
  problem.size = row.extent;
  problem.chunk = static_cast<u32>(chunk);
  problem.lanes_log = log_of(ceil(chunk, 16), 8);
  const std::uint64_t units = row_blocks(rows, problem.lanes_log) * splits;
  if (rows > most_rows || units > most_rows) refuse(operation, "argument x has too many rows; split it");
  problem.rows = static_cast<u32>(rows);
  problem.splits = divisor::of(static_cast<u32>(splits));
  problem.units = static_cast<u32>(units);
  bool aligned = row.from == 1 && x.address % 16 == 0;
  for (const dimension& d : all) aligned = aligned && static_cast<std::uint64_t>(d.from) % width == 0;
  problem.aligned = aligned ? 1 : 0;
  problem.kept = kept_of(all);
}

void clear(const stream& s, const any_view& counts) {
  detail::clear_counts(s, counts.address, counts.strides[0], static_cast<u64>(counts.extents[0]));
}

}  // namespace

namespace detail {

void clear_counts(const stream& s, u64 address, i64 stride, u64 size) {
  histogram_clear<>.launch(s, over(size), address, stride, size);
}
void clear_counts_warmup(const runtime::device& gpu) { gpu.warmup(histogram_clear<>.image()); }

void run_histogram(const stream& s, const any_view& x, const any_view& counts,
                   const histogram_options& options) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  check.input("x", x);
  check.output("counts", counts);
  check.at_most("counts", counts, 0, std::numeric_limits<std::int32_t>::max());
  check.not_empty("counts", counts);
  check.apart("counts", counts, "x", x);
  const any_view& outside = options.outside;
  const bool has_outside = is_given(outside);
  if (has_outside) {
    check.output("outside", outside);
    if (outside.rank != 1 || outside.element_bytes() != 4)
      refuse(operation, "argument outside is no view (3) of u32");
    check.extent("outside", outside, 0, 3, "below, above, NaN");
    check.apart("outside", outside, "x", x);
    check.apart("outside", outside, "counts", counts);
  }
  histogram_problem problem{};
  problem.bins = static_cast<u32>(counts.extents[0]);
  if (x.type == element_kind::f32)
    set_edges(problem, options.low, options.high);
  else
    set_integers(problem, x, options.first);
  if (!x.empty()) set_rows(problem, x);
  if (!options.accumulate) {
    clear(s, counts);
    if (has_outside) clear(s, outside);
  }
  if (x.empty()) return;
  problem.in_shared = problem.bins <= histogram_words ? 1 : 0;
  if (problem.in_shared != 0)
    problem.copies_log = std::min(static_cast<u32>(std::bit_width(histogram_words / problem.bins)) - 1, 3u);
  problem.counts = counts.address;
  problem.counts_stride = counts.strides[0];
  if (has_outside) {
    problem.outside = outside.address;
    problem.outside_stride = outside.strides[0];
  }
  const grid blocks(std::min<u64>(problem.units, u64{8} * device.multiprocessors));
  if (x.type == element_kind::f32)
    histogram_bins<f32>.launch(s, blocks, problem);
  else if (x.element_bytes() == 4)
    histogram_bins<u32>.launch(s, blocks, problem);
  else
    histogram_bins<u8>.launch(s, blocks, problem);
}

}  // namespace detail

void histogram_warmup(const runtime::device& gpu) {
  std::vector<const ptx::kernel_image*> list;
  list_histogram_kernels(list);
  for (const ptx::kernel_image* image : list) gpu.warmup(*image);
}

void list_histogram_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&histogram_bins<u8>.image());
  list.push_back(&histogram_bins<u32>.image());
  list.push_back(&histogram_bins<f32>.image());
  list.push_back(&histogram_clear<>.image());
}

}  // namespace kaio::ops
