#pragma once
// The table of the kernels of attention_decode, by families.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/attention/decode/choice/variant.hpp"

namespace kaio::ops {

// Each family's kernels, the smaller head sizes first.
std::span<const attention_decode_variant> attention_decode_mma_f16();
std::span<const attention_decode_variant> attention_decode_mma_bf16();
std::span<const attention_decode_variant> attention_decode_mma_codes();
std::span<const attention_decode_variant> attention_decode_simt_rows();
// What adds up the parts.
const ptx::kernel_image& attention_decode_combine_image(const device_properties& device);
void list_attention_decode_combine_kernels(std::vector<const ptx::kernel_image*>& list);
void run_attention_decode_combine(const stream& s, const attention_decode_call& call);

// The kernel that a call takes: the one that is named, or the first one that can run it. Throws
// unsupported_device or invalid_argument where there is none.
const attention_decode_variant& choose(std::string_view operation, const attention_decode_call& call,
                                       const device_properties& device, std::string_view forced);

}  // namespace kaio::ops
