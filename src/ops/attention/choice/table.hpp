#pragma once
// The table of attention's kernels, by families.

#include <kaio/ops/attention/choice/variant.hpp>

#include <span>
#include <vector>

namespace kaio::ops {

// Each family's kernels, the smaller head sizes first.
std::span<const attention_variant> attention_sm90_f16();
std::span<const attention_variant> attention_sm90_bf16();
std::span<const attention_variant> attention_mma_f16();
std::span<const attention_variant> attention_mma_bf16();
std::span<const attention_variant> attention_mma_sm75();
std::span<const attention_variant> attention_mma_tf32();
std::span<const attention_variant> attention_simt_f32();
std::span<const attention_variant> attention_simt_f16();
// Those for block-sparse masks.
std::span<const attention_variant> attention_sm90_blocks_f16();
std::span<const attention_variant> attention_sm90_blocks_bf16();
std::span<const attention_variant> attention_mma_blocks_f16();
std::span<const attention_variant> attention_mma_blocks_bf16();
std::span<const attention_variant> attention_simt_blocks_f32();

// All of them, in the order in which they are tried.
std::span<const attention_variant> all_attention_variants();

}  // namespace kaio::ops
