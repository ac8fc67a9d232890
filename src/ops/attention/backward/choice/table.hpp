#pragma once
// The table of the kernels of attention_backward, by families.

#include <kaio/ops/attention/backward/choice/variant.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kaio::ops {

// Each family's kernels, the smaller head sizes first.
std::span<const attention_backward_variant> attention_backward_sm90_f16();
std::span<const attention_backward_variant> attention_backward_sm90_bf16();
std::span<const attention_backward_variant> attention_backward_mma_f16();
std::span<const attention_backward_variant> attention_backward_mma_bf16();
std::span<const attention_backward_variant> attention_backward_simt_rows();

// The kernels of multiply-adds for head sizes up to `depth`: where a call has flags, of the blocks with one.
void run_attention_backward_simt(const stream& s, const attention_backward_call& call, std::uint32_t depth);
const attention_backward_variant& attention_backward_simt_row(std::uint32_t depth);

// The kernels that every variant runs with.
std::vector<const ptx::kernel_image*> attention_backward_common_kernels();

namespace detail {
// Whether the architecture is one that all kernels of the variant are made for.
bool is_made_for(const attention_backward_variant& variant, const ptx::target& target);
}  // namespace detail

// All of them, in the order in which they are tried.
std::span<const attention_backward_variant> all_attention_backward_variants();

}  // namespace kaio::ops
