#include "ops/attention/decode/choice/forms.hpp"
#include <kaio/ops/shared/ceil_div.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kaio::ops {

namespace {

std::uint64_t blocks_without_parts(const attention_decode_variant& v, const attention_decode_call& call) {
  return call.row_tiles(v.rows) * call.split.key_heads.value * std::uint64_t{call.problem.batches};
}

double key_bytes(const attention_decode_call& call) {
  const std::uint64_t row = call.problem.qk_size + (call.values_in_keys ? 0 : call.problem.v_size);
  return static_cast<double>(call.most_keys) * call.problem.batches * call.split.key_heads.value *
         static_cast<double>(row * call.bytes_of_key_element());
}

// A cluster runs within one group of multiprocessors. Clusters of more than two blocks may leave some of a
// group idle.
std::uint64_t blocks_at_once(const attention_decode_variant& v, const attention_decode_division& division,
                             const device_properties& device) {
  const std::uint64_t all = resident_blocks(v, device);
  return division.in_cluster && division.splits > 2 ? std::max<std::uint64_t>(all * 9 / 10, 1) : all;
}

}  // namespace

double time_of(const attention_decode_variant& v, const attention_decode_call& call,
               const attention_decode_division& division, const device_properties& device,
               const attention_decode_times& times) {
  const std::uint64_t blocks = blocks_without_parts(v, call) * division.splits;
  const auto waves = static_cast<double>(ceil_div(blocks, blocks_at_once(v, division, device)));
  const auto tiles = static_cast<double>(
      ceil_div(ceil_div(std::max<std::uint64_t>(call.most_keys, 1), v.keys), division.splits));
  const double reading = std::hypot(waves * tiles * times.tile, key_bytes(call) / times.rate);
  const double combining = division.splits == 1  ? 0
                           : division.in_cluster ? times.cluster + times.of_block * division.splits
                                                 : times.second_kernel + times.of_part * division.splits;
  return waves * times.start + reading + combining;
}

attention_decode_division divide_among_clusters(const attention_decode_variant& v,
                                                const attention_decode_call& call,
                                                const device_properties& device,
                                                const attention_decode_times& times) {
  attention_decode_division best{.splits = 0};
  if (!v.has_clusters || call.batch_invariant) return best;
  double least = std::numeric_limits<double>::infinity();
  for (const std::uint32_t splits : {1u, 2u, 4u, 8u, 16u}) {
    if (call.splits != 0 && call.splits != splits) continue;
    if (splits == 1 && call.combining == attention_combining::cluster) continue;
    const attention_decode_division division{.splits = splits, .least = v.keys, .in_cluster = splits > 1};
    const double time = time_of(v, call, division, device, times);
    if (time >= least) continue;
    least = time;
    best = division;
  }
  return best;
}

attention_decode_division divide_in_best_form(const attention_decode_variant& v,
                                              const attention_decode_call& call,
                                              const device_properties& device,
                                              const attention_decode_times& times) {
  using enum attention_combining;
  const attention_decode_division clusters = call.combining == second_kernel
                                                 ? attention_decode_division{.splits = 0}
                                                 : divide_among_clusters(v, call, device, times);
  if (clusters.splits != 0 && call.combining == cluster) return clusters;
  const attention_decode_division other = divide_keys(v, call, device);
  if (clusters.splits == 0) return other;
  return time_of(v, call, clusters, device, times) <= time_of(v, call, other, device, times) ? clusters
                                                                                             : other;
}

}  // namespace kaio::ops
