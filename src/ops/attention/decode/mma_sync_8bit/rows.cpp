// attention_decode over caches of 8 bits with matrix instructions of a warp: for sm_90, for sm_80, and for
// sm_89, where conversions of 8-bit floats are instructions.

#include <kaio/ops/attention/decode/mma_sync_8bit/table_row.hpp>

#include <array>
#include <cstdint>

#include "ops/attention/decode/choice/table.hpp"

namespace kaio::ops {

namespace {

template <attention_decode_config C, std::uint16_t Sm>
attention_decode_variant row_of() {
  attention_decode_variant row = describe_attention_decode_quantised<C, Sm>();
  row.run = launch_attention_decode_quantised<C, Sm>;
  return row;
}

}  // namespace

std::span<const attention_decode_variant> attention_decode_mma_codes() {
  static const auto& rows =
      *new std::array{describe_attention_decode_sm90_codes<attention_decode_short_codes_sm90(64)>(),
                      describe_attention_decode_sm90_codes<attention_decode_short_codes_sm90(128)>(),
                      row_of<attention_decode_codes(64), 89>(),
                      row_of<attention_decode_codes(128), 89>(),
                      row_of<attention_decode_codes_sm90(256), 90>(),
                      row_of<attention_decode_codes(256), 89>(),
                      row_of<attention_decode_codes(64), 80>(),
                      row_of<attention_decode_codes(128), 80>(),
                      row_of<attention_decode_codes(256), 80>()};
  return rows;
}

void list_attention_decode_mma_codes_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_decode_variant& v : attention_decode_mma_codes()) list.push_back(v.image);
}

}  // namespace kaio::ops
