#pragma once
// How the work of an attention_decode is divided.

#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops {

// The division of the keys of each tile of rows. It depends on numbers of the host alone.
struct attention_decode_division {
  std::uint32_t splits = 1;
  std::uint32_t chunk = 0;  // keys per split; 0: a sequence is divided evenly,
  std::uint32_t least = 0;  // with at least this many keys per split
  bool in_cluster = false;  // the splits of a tile are a cluster
};
// The number of blocks of a kernel that a device runs at once.
std::uint64_t resident_blocks(const attention_decode_variant& v, const device_properties& device);
// The division into splits that a second kernel adds up.
attention_decode_division divide_keys(const attention_decode_variant& v, const attention_decode_call& call,
                                      const device_properties& device);

// Bytes of the workspace: sums, then totals. 0 with one split. Throws invalid_argument if they overflow.
struct attention_decode_room {
  std::uint64_t sums = 0, totals = 0;
  std::uint32_t pitch = 0;  // f32 per row of sums
  std::uint64_t bytes() const { return sums + totals; }
};
attention_decode_room room_of(std::string_view operation, const attention_decode_call& call,
                              const attention_decode_division& division);

}  // namespace kaio::ops
