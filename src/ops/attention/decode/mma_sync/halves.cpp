// attention_decode with matrix instructions of a warp: f16 and bf16 on sm_80 and later. A kernel serves both
// types, and is two rows of the table.

#include <kaio/ops/attention/decode/mma_sync/table_row.hpp>
#include <kaio/ops/attention/decode/mma_sync_sm90/table_row.hpp>

#include <array>

#include "ops/attention/decode/choice/table.hpp"

namespace kaio::ops {

namespace {

// The rows are in order of preference. A kernel for sm_80 with the head size of the call precedes kernels for
// larger heads.
template <scalar T>
std::span<const attention_decode_variant> rows_of() {
  static const auto& rows =
      *new std::array{describe_attention_decode_sm90<attention_decode_short_sm90(64), T>(),
                      describe_attention_decode_sm90<attention_decode_short_sm90(128), T>(),
                      describe_attention_decode_16<attention_decode_few(64), T>(),
                      describe_attention_decode_16<attention_decode_few(128), T>(),
                      describe_attention_decode_16<attention_decode_few_sm90(256), T>(),
                      describe_attention_decode_16<attention_decode_few(256), T>(),
                      describe_attention_decode_16<attention_decode_many(64), T>(),
                      describe_attention_decode_16<attention_decode_many(128), T>(),
                      describe_attention_decode_16<attention_decode_many(256), T>()};
  return rows;
}

}  // namespace

std::span<const attention_decode_variant> attention_decode_mma_f16() { return rows_of<f16>(); }
std::span<const attention_decode_variant> attention_decode_mma_bf16() { return rows_of<bf16>(); }

void list_attention_decode_mma_16bit_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_decode_variant& v : attention_decode_mma_f16()) list.push_back(v.image);
}

}  // namespace kaio::ops
