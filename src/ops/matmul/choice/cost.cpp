#include "ops/matmul/choice/cost.hpp"

#include <kaio/ops/matmul/sm90/tile_spacing.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "ops/choice/machine.hpp"
#include "ops/matmul/choice/fitted.hpp"

namespace kaio::ops {

namespace {

// For devices without measurements: the bandwidths of the papers, and the fixed costs of sm_90.
constexpr device_costs with_bandwidths(double l2_of_all, double shared, double launch_seconds) {
  device_costs costs = fitted_device;
  costs.l2_of_one = 64;
  costs.l2_of_all = l2_of_all;
  costs.shared = shared;
  costs.dram_share = 0.87;
  costs.launch_seconds = launch_seconds;
  costs.second_kernel_seconds = launch_seconds;
  return costs;
}

// In the order of `generations`.
constexpr device_costs costs_of_generations[] = {
    with_bandwidths(26, 128, 2.5e-6), with_bandwidths(24, 64, 2.5e-6), with_bandwidths(47, 128, 2.2e-6),
    with_bandwidths(32, 128, 2.2e-6), fitted_device};
static_assert(std::size(costs_of_generations) == generation_count);

double operations_in_clock(const matmul_variant& v, const machine_rates& machine) {
  const bool eight = v.operand >= element_kind::e4m3;
  switch (v.family) {
    case matmul_family::sm90:
    case matmul_family::sm90_split:
      // tf32 has half the rate.
      return eight ? machine.tensor_8 : machine.tensor_16 / (v.operand == element_kind::f32 ? 2 : 1);
    case matmul_family::mma_sync:
      // Their instructions have half the depth, and threads stage their operands.
      if (v.image->needs.target.sm < 80 && machine.sm >= 80) return machine.mma_16 / 3;
      if (v.operand != element_kind::f32) return eight ? machine.mma_8 : machine.mma_16;
      return v.precision == matmul_precision::tf32x3 ? machine.mma_tf32 / 3 : machine.mma_tf32;
    case matmul_family::simt: return machine.fma_32;
  }
  return machine.fma_32;
}

// A cluster is within a GPC, and a GPC's multiprocessors are not always a multiple of 4 or 8. An H200 with
// 132 runs 30 clusters of 4 at once, not 33, and 15 of 8, not 16; with two blocks per multiprocessor 62 and
// 30.
constexpr double share_for_four = 0.93;

constexpr std::uint64_t l2_line_bytes = 128, sector_bytes = 32, short_line_bytes = 32, vector_bytes = 16;

// The part of an operand that a step loads: `across` lines of M or N, whose extent is `extent`. It is loaded
// once for `shared_by` blocks of a cluster.
struct operand_tile {
  const matmul_operand& x;
  double across;
  std::uint64_t extent;
  double shared_by;
  bool by_words;
};

// Whether tensor copies find lines at odd multiples of 16 bytes. If lines begin anywhere, a copy takes each
// eighth line.
bool has_odd_lines(const matmul_operand& x, std::uint64_t size) {
  if (x.aligned(size, vector_bytes)) return !x.aligned(size, sector_bytes);
  return 8 * x.pitch * size % sector_bytes != 0;
}

// The 16-byte pieces that the tensor copies of a step fetch singly: (1) lines that begin at odd multiples of
// 16 bytes, (2) elements outside the operand. Columns of a tile (`is_n`) outside cost nothing: the copies
// skip them. Elements of the last step outside of K are spread over all steps.
struct single_vectors {
  double odd, outside;
};
single_vectors single_vectors_of(const operand_tile& tile, std::uint64_t of_k, double step,
                                 std::uint64_t size, bool is_n, std::uint64_t part) {
  const double steps = static_cast<double>(ceil_div(of_k, static_cast<std::uint64_t>(step)));
  const double rows = std::min(tile.across, static_cast<double>(tile.extent));
  const bool reaches_outside =
      !is_n && tile.extent < std::min<std::uint64_t>(part, static_cast<std::uint64_t>(tile.across));
  const double beyond_k = (steps * step - static_cast<double>(of_k)) / steps;
  const bool is_odd = has_odd_lines(tile.x, size), along_k = tile.x.lines == line_direction::along_k;
  const double loaded = (is_n ? rows : tile.across) * step;
  const double beyond = along_k ? (beyond_k != 0 ? rows * step / steps : 0) : tile.across * beyond_k;
  const double small = !reaches_outside ? 0 : along_k ? (tile.across - rows) * step : loaded;
  const double vectors = static_cast<double>(size) / vector_bytes / tile.shared_by;
  return {is_odd ? loaded * vectors : 0, std::max(beyond, small) * vectors};
}

// The extents of a tile. m, n: lines of C along the kernel's M and N. loaded_m, loaded_n: lines of A and B
// that a block loads for it, before a cluster shares them. For kernels with tensor copies they are those of
// sm90_mainloop::boxes_for.
struct tile_extents {
  double m, n, loaded_m, loaded_n;
  bool fits_m;  // nothing outside A is loaded
};
tile_extents extents_of(const matmul_variant& v, const matmul_call& call, const device_properties& device) {
  tile_extents result{static_cast<double>(v.m), static_cast<double>(v.n), static_cast<double>(v.m),
                      static_cast<double>(v.n), false};
  const bool is_split = v.family == matmul_family::sm90_split;
  if ((!is_split && v.family != matmul_family::sm90) || v.a_alignment != vector_bytes ||
      v.b_alignment != vector_bytes)
    return result;
  const std::uint64_t at_once = std::uint64_t{v.cluster_m} * v.cluster_n * v.cluster_splits;
  const sm90_extents of{
      v.across ? call.n : call.m, v.across ? call.m : call.n, call.batches,
      static_cast<std::uint32_t>(ceil_div(call.k, v.k) / v.cluster_splits),
      std::max<std::uint64_t>(std::uint64_t{device.multiprocessors} * v.resident / at_once, 1) * v.cluster_n};
  if (of.k_blocks <= v.stages) return result;
  const bool a_along_k = (v.across ? v.b : v.a) == line_direction::along_k,
             b_along_k = (v.across ? v.a : v.b) == line_direction::along_k;
  std::uint32_t m = v.m, n = v.n;
  if (v.cluster_m == 1 && b_along_k) n = lines_of_tile(of.n, v.n, of.m, of);
  // Parts of 64 rows are moved one by one.
  const bool in_halves = v.m == 128 && (!is_split || (v.cluster_by_launch && bytes_of(v.operand) == 2));
  if (!in_halves && v.cluster_n == 1) {
    if (of.n <= n && a_along_k) m = lines_of_tile(of.m, v.m, of.n, of);
    result.fits_m = true;
    result.loaded_m = static_cast<double>(std::min<std::uint64_t>(m, of.m));
  }
  result.m = m;
  result.n = n;
  const std::uint64_t panel = l2_line_bytes / bytes_of(v.operand);
  result.loaded_n =
      static_cast<double>(std::min<std::uint64_t>(b_along_k ? n : ceil_div(n, panel) * panel, of.n));
  return result;
}

const family_costs& family_of(const matmul_variant& v) {
  // Kernels for few rows have no tiles.
  return v.most_rows != 0 ? fitted_few_rows : fitted_families[static_cast<std::size_t>(v.family)];
}

}  // namespace

void detail::take_fitted_costs(matmul_variant& v) {
  const auto fits = [&](const kernel_costs& row) {
    return row.family == v.family && row.precision == v.precision && row.sm == v.image->needs.target.sm &&
           row.element_bytes == bytes_of(v.operand) && row.m == v.m && row.n == v.n && row.k == v.k &&
           row.stages == v.stages && row.cluster == v.cluster_m * v.cluster_n &&
           row.cluster_splits == v.cluster_splits && row.resident == v.resident &&
           row.alignment == std::max(v.a_alignment, v.b_alignment) && row.across == v.across;
  };
  const kernel_costs* found = nullptr;
  for (const kernel_costs& row : fitted_kernels)
    if (fits(row) && (found == nullptr || row.general == v.general)) found = &row;
  const family_costs& family = family_of(v);
  v.start_clocks = found != nullptr ? found->start_clocks : family.start_clocks;
  v.rate = found != nullptr ? found->rate : family.rate;
  v.step_clocks = found != nullptr ? found->step_clocks : family.step_clocks;
}

kernel_work work_of(const matmul_variant& v, const matmul_call& call, const device_properties& device) {
  const machine_rates& machine = generations[generation_of(device)];
  kernel_work work{};

  const tile_extents tile_of = extents_of(v, call, device);
  const double tile_rows = v.across ? tile_of.n : tile_of.m, tile_columns = v.across ? tile_of.m : tile_of.n;
  const std::uint64_t rows = ceil_div(call.m, static_cast<std::uint64_t>(tile_rows)),
                      columns = ceil_div(call.n, static_cast<std::uint64_t>(tile_columns));
  const std::uint64_t along_m = v.across ? columns : rows, along_n = v.across ? rows : columns;
  // Only whole clusters run.
  const double batches = static_cast<double>(call.batches);
  const double tiles = static_cast<double>(ceil_div(along_m, v.cluster_m) * v.cluster_m) *
                       static_cast<double>(ceil_div(along_n, v.cluster_n) * v.cluster_n) * batches * v.splits;
  const std::uint64_t at_once = std::uint64_t{v.cluster_m} * v.cluster_n * v.cluster_splits;
  const auto clusters = static_cast<std::uint64_t>(multiprocessors_of(device) * v.resident *
                                                   (at_once >= 4 ? share_for_four : 1)) /
                        at_once;
  const std::uint64_t slots = clusters * at_once;
  work.blocks = tiles * v.cluster_splits;
  work.at_once = static_cast<double>(std::max<std::uint64_t>(slots, at_once));
  work.steps =
      static_cast<double>(ceil_div(ceil_div(call.k, v.k), std::uint64_t{v.cluster_splits} * v.splits));
  work.clusters = at_once > 1;
  work.exchanges = v.family == matmul_family::sm90_split || v.cluster_splits != 1;
  work.halves = v.halves;
  work.cluster_splits = v.cluster_splits;

  const double m = v.m, n = v.n, k = v.k;
  const double size = bytes_of(call.operand);
  work.operations = 2 * m * n * k;
  work.operations_in_clock = operations_in_clock(v, machine);
  const bool by_warps = v.family == matmul_family::mma_sync || v.family == matmul_family::simt;
  // wgmma reads A for each 64 rows once and B for each of them again; the other kernels read both for each
  // warp's part.
  work.shared_bytes = by_warps ? (m * std::max(1.0, n / 64) + n * std::max(1.0, m / 64)) * k * size
                               : (m + n * std::max(1.0, m / 64)) * k * size;
  work.loaded_bytes = (tile_of.loaded_m / v.cluster_n + tile_of.loaded_n / v.cluster_m) * k * size;
  const double share_a = v.across ? v.cluster_m : v.cluster_n, share_b = v.across ? v.cluster_n : v.cluster_m;
  for (const operand_tile& tile :
       {operand_tile{call.a, tile_rows, call.m, share_a, loads_words(v.a_alignment)},
        operand_tile{call.b, tile_columns, call.n, share_b, loads_words(v.b_alignment)}}) {
    const matmul_operand& x = tile.x;
    if (!x.aligned(bytes_of(call.operand), l2_line_bytes))
      work.crossing_bytes += tile.across / tile.shared_by * k * size;
    if (by_warps || tile.by_words) continue;
    // The part of a tile that is moved if C ends in it: the rows of a box, or its columns.
    const bool is_whole = v.family == matmul_family::sm90_split && x.lines == line_direction::along_k;
    const single_vectors found =
        single_vectors_of(tile, call.k, k, bytes_of(call.operand),
                          tile_of.fits_m || (&x == &call.a) == v.across, is_whole ? v.m : 64);
    work.odd_vectors += found.odd;
    work.outside_vectors += found.outside;
    if (x.lines == line_direction::across_k && tile.extent * bytes_of(call.operand) < short_line_bytes)
      work.short_lines += k;
  }
  // Copies of single elements or words take instructions; others take none.
  work.copied = v.slow_copies ? (m + n) * k * size / std::max(size, static_cast<double>(v.a_alignment)) : 0;

  const double c_size = bytes_of(call.output);
  work.results = std::min(static_cast<double>(call.m), tile_rows) *
                 std::min(static_cast<double>(call.n), tile_columns) / v.cluster_splits;
  work.outside = tile_rows * tile_columns / v.cluster_splits - work.results;
  work.result_bytes = v.splits == 1 ? c_size : sizeof(f32);
  const matmul_terms& terms = call.terms;
  if (terms.plain == 0) {
    work.bias = terms.bias.type != 0 ? 1 : 0;
    work.addends = (terms.c.type != 0 ? 1.0 : 0.0) + (terms.residual.type != 0 ? 1.0 : 0.0);
    work.activation = static_cast<matmul_activation>(terms.activation);
  }

  const auto bytes = [&](std::uint64_t elements, const matmul_operand& x, double element) {
    return static_cast<double>(elements) * (x.batch_pitch == 0 ? 1 : batches) * element;
  };
  work.read_and_written = bytes(call.m * call.k, call.a, size) + bytes(call.n * call.k, call.b, size) +
                          static_cast<double>(call.m * call.n) * batches * c_size * (1 + work.addends);
  work.sums = v.splits == 1 ? 0 : static_cast<double>(v.workspace_bytes(call));
  return work;
}

double seconds_of(const kernel_work& work, const matmul_variant& v, const device_properties& device) {
  const device_costs& costs = costs_of_generations[generation_of(device)];
  const family_costs& family = family_of(v);
  const double clock = clock_of(device);
  const double multiprocessors = multiprocessors_of(device);

  const double filled = work.blocks / work.at_once, rounds = std::floor(filled);
  const bool halved = work.halves && filled > rounds && filled - rounds <= 0.5;
  const double running = std::min(work.blocks * (halved ? 2 : 1), work.at_once);
  const double load = running / multiprocessors;
  // Blocks on one multiprocessor share its resources, so one with the most blocks ends last.
  const double sharing = std::max(1.0, std::ceil(load));
  // The waves as if the last one were full, or half full.
  const double whole = halved ? rounds + family.half_wave : std::ceil(filled);
  const double waves = std::max(std::min(whole, 1.0), filled + family.last_wave * (whole - filled));

  const double tensor = work.operations / (work.operations_in_clock * v.rate) * sharing;
  const double shared = work.shared_bytes / costs.shared * sharing;
  const double of_one = costs.l2_of_one / sharing, of_all = costs.l2_of_all / load;
  const double l2 =
      work.loaded_bytes / std::min(of_one, of_all) + work.short_lines * costs.short_line_clocks * sharing;
  const double crossing_lines = work.crossing_bytes / l2_line_bytes;
  const double vectors =
      (work.odd_vectors * costs.odd_clocks + work.outside_vectors * costs.outside_clocks) * sharing;
  const double busy = std::max({tensor, shared, l2}) + vectors +
                      crossing_lines * (costs.crossing_clocks * sharing + costs.crossing_l2_clocks * load) +
                      work.copied * costs.copy_clocks * sharing;
  const double step = std::max(busy, busy / sharing + v.step_clocks);

  const double elements = work.results + work.outside * family.outside;
  // Kernels with tensor copies store plain sums of a split.
  const bool plain = !v.general || (v.splits != 1 && v.family == matmul_family::sm90);
  double store = (elements * work.result_bytes / family.store_bytes +
                  (plain ? 0 : elements / 32 * family.general_clocks)) *
                 sharing;
  if (v.splits == 1) {
    const double activation = work.activation == matmul_activation::gelu        ? family.gelu_clocks
                              : work.activation == matmul_activation::gelu_tanh ? family.gelu_tanh_clocks
                              : work.activation == matmul_activation::silu      ? family.silu_clocks
                                                                                : 0;
    const double bias = v.general ? work.bias * family.bias_clocks : 0;
    store += work.results / 32 *
             (bias + (v.general ? 1 : family.terms_share) *
                         (work.addends * family.addend_clocks + activation * sharing));
  }
  const double exchanged = work.results * sizeof(f32) * (work.cluster_splits - 1);
  const double start =
      v.start_clocks + load * costs.contention_clocks + (work.clusters ? costs.cluster_clocks : 0) +
      (work.exchanges ? costs.exchange_clocks * work.cluster_splits + exchanged / costs.exchange_bytes : 0);
  const bool persistent = v.family == matmul_family::sm90;
  const double starts = persistent ? 1 : 1 + family.restart * (waves - 1);
  const double computing = (starts * start + waves * (work.steps * step + store)) / clock;

  const double reading = work.read_and_written / dram_bandwidth(device, costs.dram_share);
  const double first = 1 / std::max(1.0, filled);
  const double not_hidden = first * family.not_hidden + (1 - first) * family.later_not_hidden;
  // Partial sums are written and read again, by L2 if they fit.
  const double second = v.splits == 1 ? 0
                                      : costs.second_kernel_seconds +
                                            2 * work.sums / (costs.sum_bytes * multiprocessors * clock);
  return costs.launch_seconds + std::max(computing, reading) + not_hidden * std::min(computing, reading) +
         second;
}

double cost(const matmul_variant& v, const matmul_call& call, const device_properties& device) {
  return seconds_of(work_of(v, call, device), v, device);
}

}  // namespace kaio::ops
