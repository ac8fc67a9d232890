#pragma once
// The router of a mixture of experts: the k experts of each token, and their weights.
//
//   topk_router(s, logits, indices, weights, {.renormalise = true});              // Mixtral, Qwen3
//   topk_router(s, logits, indices, weights, {.score = router_score::sigmoid, .bias = bias, .groups = 8,
//                                             .kept_groups = 4, .renormalise = true, .factor = 2.5f});
//                                                                                 // DeepSeek-V3
//
// With s the softmax or the sigmoids of a token's logits, in f32, the experts with the largest s + bias are
// chosen, the largest first; among equal ones the lower index first. The weights are s, without the bias. Nothing
// is allocated, read back or waited for, so a call may be captured into a graph; the kernel is loaded when it is
// first used on a device (topk_router_warmup). Throws invalid_argument, which names the argument, before anything
// runs; and what a launch throws. Source: DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 2.1.2.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

enum class router_score : std::uint8_t { softmax, sigmoid };

struct topk_router_options {
  router_score score = router_score::softmax;
  any_view bias{};  // (experts), f32, any stride: added to scores to choose, not to weights
  // Experts are in `groups` groups of neighbours, 1 to 32, of equal size. Only experts of the `kept_groups` best
  // groups are chosen. A group's score is the sum of its best two s + bias, or its best one.
  std::int32_t groups = 1;
  std::int32_t kept_groups = 1;
  bool group_by_best_two = true;
  bool renormalise = false;  // divides a token's weights by their sum (plus 1e-20)
  f32 factor = 1;            // multiplies the weights; finite
};

namespace detail {
void run_topk_router(const stream& s, const any_view& logits, const any_view& indices,
                     const any_view& weights, const topk_router_options& options);
}  // namespace detail

// logits: (tokens, experts), f32, f16 or bf16, 1 to 1024 experts. indices: (tokens, k), i32; weights: (tokens, k),
// f32. Rows of any stride, neighbours adjacent, outputs apart from everything else; fewer than 2^31 tokens * k. k
// is 1 to 32, and at most the experts of the kept groups. A logit that is NaN makes its sigmoid NaN, or all
// weights of the token's softmax; a NaN score is the last to be chosen. The k indices of a token always differ.
template <class Logits, class Index, class Weight>
void topk_router(const stream& s, const tensor_view<Logits, 2>& logits, const tensor_view<Index, 2>& indices,
                 const tensor_view<Weight, 2>& weights, const topk_router_options& options = {}) {
  static_assert(is_wide(element_kind_of<Logits>()), "kaio: the logits of topk_router are f32, f16 or bf16");
  static_assert(std::is_same_v<Index, i32>, "kaio: the indices of topk_router are i32, and not const");
  static_assert(std::is_same_v<Weight, f32>, "kaio: the weights of topk_router are f32, and not const");
  detail::run_topk_router(s, logits, indices, weights, options);
}
// Refuses arguments that are no such views.
template <class Logits, class Index, class Weight>
  requires(!detail::views<2, Logits, Index, Weight>)
void topk_router(const stream&, const Logits&, const Index&, const Weight&, const topk_router_options& = {}) {
  detail::refuse_views<Logits, Index, Weight>();
}

// Loads the kernel ahead of its first use.
void topk_router_warmup(const runtime::device& gpu);

// The images of the kernels of topk_router, sort_by_expert and combine_experts.
std::vector<const ptx::kernel_image*> expert_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::router_score;
using ops::topk_router;
using ops::topk_router_options;
using ops::topk_router_warmup;
}  // namespace kaio
