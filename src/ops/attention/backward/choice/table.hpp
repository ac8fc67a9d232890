#pragma once
// The table of the kernels of attention_backward, by families.

#include <kaio/ops/attention/backward/choice/variant.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "ops/families.hpp"

namespace kaio::ops {

// Runs the multiply-add kernels for head sizes up to `depth`. If a call has flags, only the flagged blocks
// are computed.
void run_attention_backward_simt(const stream& s, const attention_backward_call& call, std::uint32_t depth);
const attention_backward_variant& attention_backward_simt_row(std::uint32_t depth);
// Runs the last kernel after one for sm_90a.
void run_attention_backward_last(const stream& s, const attention_backward_call& call);
const ptx::kernel_image& attention_backward_last_image();

// The kernels that run with every variant.
std::vector<const ptx::kernel_image*> attention_backward_common_kernels();

namespace detail {
// Whether all kernels of the variant are made for the architecture.
bool is_made_for(const attention_backward_variant& variant, const ptx::target& target);
}  // namespace detail

// All variants, in the order in which they are tried.
std::span<const attention_backward_variant> all_attention_backward_variants();

}  // namespace kaio::ops
