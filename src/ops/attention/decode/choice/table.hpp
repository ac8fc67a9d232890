#pragma once
// The table of the kernels of attention_decode, by families.

#include <kaio/ops/attention/decode/choice/variant.hpp>

#include <span>
#include <vector>

#include "ops/families.hpp"

namespace kaio::ops {

// The kernel that adds up the splits.
const ptx::kernel_image& attention_decode_combine_image(const device_properties& device,
                                                        const attention_decode_call& call);
void list_attention_decode_combine_kernels(std::vector<const ptx::kernel_image*>& list);

// All variants, in order of preference.
std::span<const attention_decode_variant> attention_decode_variants();

}  // namespace kaio::ops
