#include "ops/attention/forward/choice/cost.hpp"

#include <kaio/ops/attention/forward/choice/division.hpp>
#include <kaio/ops/shared/ceil_div.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/attention/forward/choice/fitted.hpp"
#include "ops/choice/machine.hpp"

namespace kaio::ops {

namespace {

// The lengths that the model sees (cost.hpp).
struct seen_lengths {
  std::int64_t queries, keys;
  double batches, heads, heads_of_group;
};
constexpr seen_lengths of_batch_invariant{2048, 2048, 8, 16, 1};

seen_lengths lengths_of(const attention_call& call) {
  if (call.batch_invariant) return of_batch_invariant;
  const attention_problem& p = call.problem;
  const seen_lengths of_call{p.queries, p.keys, static_cast<double>(p.batches), static_cast<double>(p.heads),
                             static_cast<double>(p.heads_of_group)};
  if (p.packed == 0) return of_call;
  const auto average = [&](std::uint32_t rows) {
    return std::max<std::int64_t>(1, (std::int64_t{rows} + p.batches - 1) / p.batches);
  };
  seen_lengths packed = of_call;
  packed.queries = std::min(of_call.queries, average(call.q.rows));
  packed.keys = average(call.k.rows);
  return packed;
}

struct step_counts {
  double tiles;  // tiles of queries per head
  double average, most;
};

// Steps of the tile of queries `first` to `last`, as in band_mask::keys and range_walk.
std::int64_t steps_of(const attention_band& band, const seen_lengths& n, std::int64_t first,
                      std::int64_t last, std::int64_t keys) {
  const std::int64_t own = band.top_left != 0 ? 0 : n.keys - n.queries;
  const auto within = [&](std::int64_t key) { return std::clamp<std::int64_t>(key, 0, n.keys); };
  const std::int64_t from = band.low == std::numeric_limits<i32>::min() ? 0 : within(first + own + band.low);
  const std::int64_t to =
      band.high == std::numeric_limits<i32>::max() ? n.keys : within(last + own + band.high + 1);
  return to > from ? ceil_div(to, keys) - from / keys : 0;
}

// Samples some of many tiles, evenly spaced.
step_counts count_steps(const attention_variant& v, const attention_call& call, const seen_lengths& n) {
  const std::int64_t least = v.family == attention_family::sm90 ? 1 : 0;  // it computes at least one step
  if (call.in_blocks) {
    // Assumes that every list is full: only the device knows their lengths.
    const std::int64_t room = std::int64_t{call.lists.partial.most} + call.lists.full.most;
    const std::int64_t blocks = ceil_div(n.keys, call.lists.keys);
    const std::int64_t visited = call.batch_invariant ? blocks : std::min(blocks, room);
    const double steps = static_cast<double>(
        std::max(least, visited * ceil_div(std::min<std::int64_t>(call.lists.keys, n.keys), v.keys)));
    const std::int64_t of_queries = std::min<std::int64_t>(call.lists.queries, n.queries);
    return {static_cast<double>(ceil_div(n.queries, call.lists.queries) * ceil_div(of_queries, v.queries)),
            steps, steps};
  }
  constexpr std::int64_t most_samples = 128;
  const std::int64_t tiles = ceil_div(n.queries, v.queries), samples = std::min(tiles, most_samples);
  step_counts result{static_cast<double>(tiles), 0, 0};
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t tile = tiles == samples ? i : (2 * i + 1) * tiles / (2 * samples);
    const std::int64_t first = tile * v.queries, last = std::min(first + v.queries, n.queries) - 1;
    const auto steps = static_cast<double>(std::max(least, steps_of(call.band, n, first, last, v.keys)));
    result.average += steps / static_cast<double>(samples);
    result.most = std::max(result.most, steps);
  }
  return result;
}

double operations_in_clock(const attention_variant& v, const machine_rates& machine) {
  switch (v.family) {
    case attention_family::sm90: return machine.tensor_16;
    case attention_family::mma_sync:
      // Instructions of half the depth, and operands that threads stage.
      if (v.image->needs.target.sm < 80 && machine.sm >= 80) return machine.mma_16 / 3;
      return v.type == element_kind::f32 ? machine.mma_tf32 : machine.mma_16;
    case attention_family::simt: return machine.fma_32;
  }
  return machine.fma_32;
}

double round_up(std::uint32_t size, std::uint32_t step) {
  const std::uint32_t steps = (size + step - 1) / step;
  return static_cast<double>(steps * step);
}

// The number of parts into which a launch divides the keys of a tile.
std::uint32_t parts_of(const attention_variant& v, const attention_call& call,
                       const device_properties& device) {
  const std::uint64_t at_once = std::uint64_t{attention_resident_blocks(v.image->needs, v.resident, device)} *
                                std::max(device.multiprocessors, 1u);
  return v.family == attention_family::sm90
             ? attention_cluster_division(call, v.queries, v.keys, v.division, at_once)
             : attention_division(call, v.queries, v.division, at_once);
}

const attention_family_costs& family_of(const attention_variant& v) {
  return fitted_attention_families[static_cast<std::size_t>(v.family)];
}

}  // namespace

attention_kernel_costs kernel_costs_of(const attention_variant& v) {
  for (const attention_kernel_costs& row : fitted_attention_kernels)
    if (row.family == v.family && row.sm == v.image->needs.target.sm &&
        row.element_bytes == bytes_of(v.type) && row.depth_qk == v.depth_qk && row.depth_v == v.depth_v &&
        row.queries == v.queries && row.keys == v.keys)
      return row;
  attention_kernel_costs result{};
  result.rate = family_of(v).rate;
  return result;
}

attention_work work_of(const attention_variant& undivided, const attention_call& call,
                       const device_properties& device) {
  const attention_problem& p = call.problem;
  const seen_lengths n = lengths_of(call);
  // A tile divided among blocks has more keys. If it is divided among warps it also has fewer queries, and
  // warps without keys wait.
  attention_variant v = undivided;
  const std::uint32_t parts = parts_of(v, call, device);
  const double blocks_of_tile = v.family == attention_family::simt ? 1 : parts;
  v.keys *= parts;
  if (v.family == attention_family::simt) {
    v.queries /= parts;
    v.keys = std::min(v.keys, static_cast<std::uint32_t>(std::max<std::int64_t>(undivided.keys, n.keys)));
  }
  const step_counts steps = count_steps(v, call, n);
  const double queries = v.queries, keys = v.keys / blocks_of_tile, size = bytes_of(call.type);
  const double qk = round_up(p.qk_size, v.qk_step), of_v = round_up(p.v_size, v.v_step);

  attention_work work{};
  work.tiles = steps.tiles * n.heads * n.batches * blocks_of_tile;
  work.resident = attention_resident_blocks(v.image->needs, v.resident, device);
  work.steps = steps.average;
  work.most_steps = steps.most;
  if (blocks_of_tile > 1) {
    work.steps += attention_cluster_steps;
    work.most_steps += attention_cluster_steps;
  }
  work.operations = 2 * queries * keys * (qk + of_v);
  work.operations_in_clock = operations_in_clock(v, generations[generation_of(device)]);
  work.padded = 1 - (p.qk_size + p.v_size) / (qk + of_v);
  work.scores = queries * keys;
  work.loaded_bytes = keys * (p.qk_size + p.v_size) * size;
  if ((p.k.by_16 & p.v.by_16) == 0) work.copied = keys * (p.qk_size + p.v_size);
  work.softcap = call.terms.softcap > 0 ? 1 : 0;
  work.alibi = call.terms.alibi != 0 ? 1 : 0;
  work.tensors = (call.bias.address != 0 ? 1.0 : 0.0) + (call.keep.address != 0 ? 1.0 : 0.0);
  work.results = queries * of_v;

  const double rows_of_q = static_cast<double>(n.queries) * n.heads * n.batches;
  const double rows_of_k = static_cast<double>(n.keys) * n.heads / n.heads_of_group * n.batches;
  work.read_and_written = rows_of_q * (p.qk_size * size + p.v_size * bytes_of(call.output)) +
                          rows_of_k * (p.qk_size + p.v_size) * size;
  return work;
}

double seconds_of(const attention_work& work, const attention_variant& v, const device_properties& device) {
  const attention_device_costs& costs = fitted_attention_device;
  const attention_family_costs& family = family_of(v);
  const attention_kernel_costs kernel = kernel_costs_of(v);
  const double multiprocessors = multiprocessors_of(device);

  const double at_once = work.resident * multiprocessors, filled = work.tiles / at_once,
               whole = std::ceil(filled);
  const double running = std::min(work.tiles, at_once);
  // Blocks on one multiprocessor share its resources.
  const double blocks = std::max(1.0, running / multiprocessors),
               sharing = std::max(blocks, std::min(family.alone, static_cast<double>(v.resident)));
  const double waves = std::max(std::min(whole, 1.0), filled + family.last_wave * (whole - filled));

  const double tensor = work.operations / (work.operations_in_clock * kernel.rate) * sharing *
                        (1 + work.padded * costs.padding);
  const double softmax = work.scores * (1 / costs.exponentials + costs.score_clocks) * sharing;
  const double l2 =
      work.loaded_bytes / std::min(costs.l2_of_one / blocks, costs.l2_of_all * multiprocessors / running);
  const double terms = (v.plain ? 0 : costs.general_clocks) + work.softcap * costs.softcap_clocks +
                       work.alibi * costs.alibi_clocks + work.tensors * costs.tensor_clocks;
  const double step = std::max({tensor, softmax, l2}) + work.copied * costs.copy_clocks * blocks +
                      work.scores * terms * sharing + family.step_clocks;

  constexpr double usual_results = 128 * 128;
  const double tile =
      family.tile_clocks * (1 + work.results / usual_results) / 2 * blocks + kernel.tile_clocks;
  const bool persistent = v.family == attention_family::sm90;
  const double average = tile + work.steps * step, longest = tile + work.most_steps * step;
  const double clocks = family.start_clocks * (persistent ? 1 : waves) + std::max(waves * average, longest);
  const double computing = clocks / clock_of(device);
  const double reading = work.read_and_written / dram_bandwidth(device, costs.dram_share);
  return costs.launch_seconds + std::max(computing, reading) +
         costs.not_hidden * std::min(computing, reading);
}

double cost(const attention_variant& v, const attention_call& call, const device_properties& device) {
  return seconds_of(work_of(v, call, device), v, device);
}

}  // namespace kaio::ops
