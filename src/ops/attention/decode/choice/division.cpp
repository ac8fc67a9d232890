// The number of splits of the keys. A split costs its tiles of keys, a start and an end. Several splits also
// cost the second kernel. The cheapest number is computed for the most keys that a sequence may have, since
// the host knows only these. In a shorter sequence, each split has fewer keys.

#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <limits>
#include <string>

#include "ops/attention/decode/choice/division.hpp"

namespace kaio::ops {

namespace {

// Costs in tiles of keys.
constexpr double start_and_end = 2, second_kernel = 3, of_a_part = 1.0 / 16;
constexpr std::uint64_t most_splits = 256, least_tiles = 2;
// Smallest number of tiles per split if the device is full without splits. It keeps sequences that are much
// shorter than max_length from splits with mostly starts and ends. Parts without keys end at once.
constexpr std::uint64_t least_tiles_of_many = 8;
// Keeps one block from having all of a sequence that is longer than the others.
constexpr std::uint64_t most_keys_of_part = 8192;

}  // namespace

std::uint64_t resident_blocks(const attention_decode_variant& v, const device_properties& device) {
  const std::uint32_t shared = std::max(v.image->needs.shared_bytes, v.image->needs.dynamic_shared_bytes);
  const std::uint64_t fit = std::max(device.shared_per_multiprocessor / std::max(shared, 1u), 1u);
  return std::max(device.multiprocessors, 1u) * std::min<std::uint64_t>(fit, v.resident);
}

attention_decode_division divide_keys(const attention_decode_variant& v, const attention_decode_call& call,
                                      const device_properties& device) {
  if (call.batch_invariant) {
    const std::uint32_t chunk = call.split.rows <= 16 ? 512 : 4096;
    return {static_cast<std::uint32_t>(std::max<std::uint64_t>(ceil_div(call.most_keys, chunk), 1)), chunk};
  }
  if (call.splits != 0) return {.splits = call.splits, .least = v.keys};
  const std::uint64_t at_once = resident_blocks(v, device);
  const std::uint64_t blocks =
      call.row_tiles(v.rows) * call.split.key_heads.value * std::uint64_t{call.problem.batches};
  const std::uint64_t tiles = ceil_div(call.most_keys, v.keys);
  // Parts write and read at most an eighth of the bytes of the keys.
  const double key_bytes =
      static_cast<double>(call.most_keys) * call.problem.batches * call.split.key_heads.value *
      (call.problem.qk_size + (call.values_in_keys ? 0 : call.problem.v_size)) * call.bytes_of_key_element();
  const double part_bytes = static_cast<double>(call.results()) * call.problem.v_size * sizeof(f32);
  const auto by_bytes = static_cast<std::uint64_t>(
      std::clamp(key_bytes / 8 / std::max(part_bytes, 1.0), 1.0, static_cast<double>(most_splits)));
  const std::uint64_t most = std::max<std::uint64_t>(std::min(by_bytes, tiles / least_tiles), 1);
  std::uint64_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint64_t splits = std::min(ceil_div(call.most_keys, most_keys_of_part), most); splits <= most;
       ++splits) {
    if (splits == 0) continue;
    const auto waves = static_cast<double>(ceil_div(blocks * splits, at_once));
    const double one = static_cast<double>(ceil_div(tiles, splits)) + start_and_end;
    const double cost =
        waves * one + (splits == 1 ? 0 : second_kernel + of_a_part * static_cast<double>(splits));
    if (cost < least) {
      least = cost;
      best = splits;
    }
  }
  const std::uint64_t least_keys = (blocks >= at_once ? least_tiles_of_many : least_tiles) * v.keys;
  return {.splits = static_cast<std::uint32_t>(best), .least = static_cast<std::uint32_t>(least_keys)};
}

attention_decode_room room_of(std::string_view operation, const attention_decode_call& call,
                              const attention_decode_division& division) {
  attention_decode_room room;
  room.pitch = (call.problem.v_size + 3) / 4 * 4;
  if (division.splits <= 1 || division.in_cluster) return room;
  const double rows = static_cast<double>(call.results()) * division.splits;
  if (rows * (room.pitch + 2) * sizeof(f32) > 9e18)
    throw invalid_argument("kaio: " + std::string(operation) +
                           ": the workspace has more than 2^63 bytes; give a "
                           "smaller max_length, or divide the batch");
  const std::uint64_t count = call.results() * division.splits;
  room.sums = count * room.pitch * sizeof(f32);
  room.totals = count * 2 * sizeof(f32);
  return room;
}

}  // namespace kaio::ops
