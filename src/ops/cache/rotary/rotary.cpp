// The checks of rotary and rotary_table before anything runs, and their launches.

#include <kaio/ops/cache/rotary/kernel.hpp>
#include <kaio/ops/cache/rotary/table.hpp>
#include <kaio/ops/rotary.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ops/cache/common/check.hpp"
#include "ops/cache/rotary/frequencies.hpp"

namespace kaio::ops {

namespace detail {

void run_rotary(const stream& s, const any_view& x, const any_view& out, const any_view& cos,
                const any_view& sin, const rotary_options& options) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(x.rank == 3 ? "rotary_varlen" : "rotary");
  const bool packed = x.rank == 3;
  const std::string_view operation = packed ? "rotary_varlen" : "rotary";
  const validation check(operation, s.device_identity());
  check.input("x", x);
  check.output("out", out);
  check_rows(operation, "x", x);
  for (std::uint32_t d = 0; d < x.rank; ++d) check.extent("out", out, d, x.extents[d], "the extents of x");
  check_rows(operation, "out", out);
  const row_shape shape = row_shape::of(x);
  rotary_problem problem{};
  problem.tables =
      check_tables(check, operation, {}, cos, sin, shape.size, options.interleaved, options.inverse);
  problem.positions = check_token_numbers(check, "positions", options.positions, shape);
  const bool has_cu = !options.cu_seqlens.is_null();
  if (problem.positions.address != 0 && !options.offsets.is_null())
    refuse(operation, "offsets next to positions; add them to the positions");
  if (problem.positions.address != 0 && has_cu)
    refuse(operation, "cu_seqlens next to positions; each token has its position already");
  if (!packed && has_cu)
    refuse(operation, "cu_seqlens of a tensor of four dimensions; rotary_varlen takes it");
  if (packed && !has_cu && !is_given(options.positions.view))
    refuse(operation, "neither cu_seqlens nor positions; give one of them");
  std::int64_t sequences = shape.batches;
  if (has_cu) {
    sequences = check_sequences(check, operation, options.cu_seqlens);
    problem.cu = options.cu_seqlens.address();
    problem.sequences = static_cast<u32>(sequences);
  }
  problem.offsets = check_numbers(check, operation, "offsets", options.offsets, sequences, "the sequences");
  const bool in_place = x.address == out.address && x.extents == out.extents && x.strides == out.strides;
  if (!in_place) check.apart("out", out, "x", x);
  check.apart("out", out, "cos", cos);
  check.apart("out", out, "sin", sin);
  if (options.positions.view.exists() && problem.positions.address != 0)
    check.apart("out", out, "positions", options.positions.view);
  if (problem.offsets != 0) check.apart("out", out, "offsets", options.offsets);
  if (has_cu) check.apart("out", out, "cu_seqlens", options.cu_seqlens);

  if (x.empty() || (has_cu && sequences == 0)) return;
  const std::uint64_t rows = row_count(operation, shape);
  problem.x = strides_of(x);
  problem.y = strides_of(out);
  problem.tokens = static_cast<u32>(shape.tokens);
  problem.heads = static_cast<u32>(shape.heads);
  problem.rows = static_cast<u32>(rows);
  problem.size = static_cast<u32>(shape.size);
  problem.type = element_type_of(x.type);
  const u32 pairs = problem.tables.pairs;
  const u32 copied = in_place ? 0 : (problem.size - 2 * pairs + 7) / 8;
  if (pairs == 0 && copied == 0) return;
  problem.lanes_log = lanes_log2(std::max(units_of_row(pairs, problem.size, false), copied));
  problem.in_place = in_place ? 1 : 0;
  problem.aligned =
      begins_at(x, 16) && begins_at(out, 16) && pairs % run_size == 0 && problem.size % run_size == 0 ? 1 : 0;
  rotary_rows.launch(s, grid(row_blocks(rows, problem.lanes_log)), problem);
}

namespace {

constexpr std::string_view table_operation = "rotary_table";

// Pairs of one launch, `step` apart. The positions of one axis turn them.
struct pair_run {
  u32 axis, first, step, pairs;
};

u32 axis_of(const rotary_sections& sections, u32 axes, u32 pair) {
  if (sections.pairs.empty()) return 0;
  if (sections.interleaved) {
    const u32 section = pair % axes;
    return pair < axes * sections.pairs[section] ? section : 0;
  }
  u32 section = 0;
  for (u32 end = sections.pairs[0]; pair >= end; end += sections.pairs[section]) ++section;
  return section % axes;
}

std::vector<pair_run> runs_of(const rotary_sections& sections, u32 axes, u32 pairs) {
  const u32 step = sections.interleaved ? axes : 1;
  std::vector<pair_run> runs;
  for (u32 first = 0; first < std::min(step, pairs); ++first) {
    pair_run run{axis_of(sections, axes, first), first, step, 0};
    for (u32 pair = first; pair < pairs; pair += step) {
      const u32 axis = axis_of(sections, axes, pair);
      if (axis != run.axis || run.pairs == rotary_table_pairs) {
        runs.push_back(run);
        run = {axis, pair, step, 0};
      }
      ++run.pairs;
    }
    runs.push_back(run);
  }
  return runs;
}

void check_sections(const rotary_sections& sections, bool has_positions, std::int64_t axes,
                    std::int64_t pairs) {
  if (axes == 0) refuse(table_operation, "positions has no rows; it has one for each axis");
  if (sections.pairs.empty()) {
    if (sections.interleaved) refuse(table_operation, "sections.interleaved without sections.pairs");
    if (axes > 1)
      refuse(table_operation,
             "positions has " + std::to_string(axes) + " rows and no sections; give sections.pairs");
    return;
  }
  if (!has_positions) refuse(table_operation, "sections without positions; give the positions of each axis");
  std::int64_t sum = 0;
  for (const u32 count : sections.pairs) sum += count;
  if (sum != pairs)
    refuse(table_operation, "sections.pairs has " + std::to_string(sum) + " pairs, and the tables have " +
                                std::to_string(pairs));
  const auto count = static_cast<std::int64_t>(sections.pairs.size());
  if (axes > count || (sections.interleaved && axes != count))
    refuse(table_operation, "positions has " + std::to_string(axes) + " rows for " + std::to_string(count) +
                                " sections; one for each section");
}

}  // namespace

void run_rotary_table(const stream& s, const any_view& cos, const any_view& sin,
                      const rotary_table_options& options) {
  s.properties();
  const operation_scope traced(table_operation);
  const validation check(table_operation, s.device_identity());
  check.output("cos", cos);
  check.output("sin", sin);
  check_tables(check, table_operation, {}, cos, sin, most_row_size, false, false);
  check.apart("sin", sin, "cos", cos);
  const std::int64_t rows = cos.extents[0], pairs = cos.extents[1];
  const any_view& positions = options.positions.view;
  const std::int64_t axes = is_given(positions) && positions.rank == 2 ? positions.extents[0] : 1;
  rotary_table_problem problem{};
  problem.positions = check_token_numbers(check, "positions", options.positions, {axes, rows, 1, 1});
  check_sections(options.sections, is_given(positions), axes, pairs);
  if (is_given(positions)) {
    check.apart("cos", cos, "positions", positions);
    check.apart("sin", sin, "positions", positions);
    if (options.first_position != 0)
      refuse(table_operation, "first_position next to positions; add it to them");
  }
  if (options.first_position < 0)
    refuse(table_operation,
           "first_position is " + std::to_string(options.first_position) + "; positions begin at 0");
  if (options.first_position > (std::int64_t{1} << 32) - rows)
    refuse(table_operation, "positions of 2^32 and more; angles are not exact there");
  const rotary_frequencies of = frequencies_of(options, static_cast<std::uint32_t>(pairs));
  if (cos.empty()) return;

  problem.cos = cos.address;
  problem.sin = sin.address;
  problem.cos_row = cos.strides[0];
  problem.sin_row = sin.strides[0];
  problem.first_position = static_cast<u64>(options.first_position);
  problem.rows = static_cast<u32>(rows);
  problem.type = element_type_of(cos.type);
  problem.factor = of.factor;
  for (const pair_run& run : runs_of(options.sections, static_cast<u32>(axes), static_cast<u32>(pairs))) {
    problem.axis = run.axis;
    problem.first_pair = run.first;
    problem.pair_step = run.step;
    problem.pairs = run.pairs;
    for (u32 i = 0; i < run.pairs; ++i) problem.half_turns[i] = of.half_turns[run.first + i * run.step];
    rotary_table_rows.launch(s, grid((static_cast<std::uint64_t>(rows) + 7) / 8), problem);
  }
}

}  // namespace detail

void rotary_warmup(const runtime::device& gpu) {
  gpu.warmup(rotary_rows.image());
  gpu.warmup(rotary_table_rows.image());
}

void list_cache_rotary_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&rotary_rows.image());
  list.push_back(&rotary_table_rows.image());
}

}  // namespace kaio::ops
