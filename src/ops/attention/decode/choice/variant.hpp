#pragma once
// One kernel that attention_decode may run, as data, and how its work is divided.

#include <kaio/ops/attention/decode/call/call.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops {

struct attention_decode_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const attention_decode_call&, std::uint64_t blocks) = nullptr;
  attention_type type = attention_type::f32;
  bool any_type = false;        // whatever `type` is
  bool takes_codes = false;     // of f16 and bf16, a cache of 8 bits; `type` is unused
  bool copies_rows = false;     // rows of keys begin at multiples of 16 bytes, and are as long
  std::uint32_t depth = 0;      // the most elements of a row
  std::uint32_t rows = 0;       // of a tile
  std::uint32_t most_rows = 0;  // it is for calls with at most so many; 0: any number
  std::uint32_t keys = 0;       // of a tile
  std::uint32_t resident = 1;   // blocks on a multiprocessor at once, at most
};

// How the keys of each tile of rows are divided, by numbers of the host alone.
struct attention_decode_plan {
  std::uint32_t parts = 1;
  std::uint32_t chunk = 0;  // keys of a part; 0: as many for each part as the sequence gives, and
  std::uint32_t least = 0;  // so many at least
};
attention_decode_plan plan_attention_decode(const attention_decode_variant& v,
                                            const attention_decode_call& call,
                                            const device_properties& device);

// Bytes of the workspace: sums, then totals. 0 with one part. Throws invalid_argument where they overflow.
struct attention_decode_room {
  std::uint64_t sums = 0, totals = 0;
  std::uint32_t pitch = 0;  // f32 of a row of sums
  std::uint64_t bytes() const { return sums + totals; }
};
attention_decode_room room_of(std::string_view operation, const attention_decode_call& call,
                              const attention_decode_plan& plan);

}  // namespace kaio::ops
