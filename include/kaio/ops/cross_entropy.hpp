#pragma once
// Cross entropy of rows of logits with classes as targets, and its gradient.
//
//   buffer<u8> memory = gpu.allocate<u8>(cross_entropy_workspace_bytes(logits));
//   cross_entropy(s, logits, targets, loss, {.lse = lse, .total_weight = total, .workspace = memory});
//   cross_entropy_backward(s, logits, targets, lse, dloss, dlogits, {.total_weight = total});
//
//   z = softcap * tanh(x / softcap), or x        lse = log(sum of e^z)
//   C classes, class weights w, smoothing e
//   loss of a row = (1 - e) w_target (lse - z_target) + e / C * sum of w (lse - z) + z_loss * lse^2
//
//   reduction   loss
//   none        one for each row
//   sum         the sum over rows
//   mean        the sum, divided by the sum of w_target over rows that are not ignored, as in torch
//
// linear_cross_entropy.hpp has the loss of a linear layer, whose logits are never in memory as a whole.
//
// All of it is in f32; lse - z_target is (m - z_target) + log(sum of e^(z - m)), with m the largest z. Rows
// are read once and may have 2^31 - 1 classes. Sums have a fixed order: a row has the same bits alone and
// among others, and a sum over rows depends on their number alone.
//
//   target                          loss of the row     gradient    in the mean
//   ignore_index                    0                   0           not counted
//   below 0, or no class            NaN                 NaN         NaN
//   all rows are ignored, or none exist                             sum 0, mean NaN
//
// A row with NaN or +infinity, or of -infinity alone, has the loss NaN. Nothing is allocated, read back or
// waited for, so a call may be captured into a graph; kernels are loaded when they are first used on a device
// (cross_entropy_warmup). Throws invalid_argument, which names the argument, before anything runs; and what a
// launch throws.
//
// Sources: Szegedy et al., "Rethinking the Inception Architecture", 2015 (label smoothing); Chowdhery et al.,
// "PaLM", 2022 (z-loss); Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/output_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

enum class loss_reduction : std::uint8_t { none, sum, mean };

struct cross_entropy_options {
  i64 ignore_index = -100;
  f32 label_smoothing = 0;  // 0 to 1
  f32 z_loss = 0;           // finite
  f32 softcap = 0;          // 0: none. Else finite and above 0; z has an absolute error of 3e-7 * softcap
  any_view weights{};       // f32, (classes), neighbours adjacent
  loss_reduction reduction = loss_reduction::mean;
  output_view lse{};           // f32, (rows), any stride; ignored rows have one too
  output_view total_weight{};  // f32, (1): what the mean is divided by. Not with reduction none
  workspace_view workspace{};  // of cross_entropy_workspace_bytes, for sum and mean
};

// Members as in the forward call.
struct cross_entropy_backward_options {
  i64 ignore_index = -100;
  f32 label_smoothing = 0;
  f32 z_loss = 0;
  f32 softcap = 0;
  any_view weights{};
  loss_reduction reduction = loss_reduction::mean;
  any_view total_weight{};  // that of the forward call; the mean needs it
};

namespace detail {

void run_cross_entropy(const stream& s, const any_view& logits, const any_view& targets, const any_view& loss,
                       const cross_entropy_options& options);
void run_cross_entropy_backward(const stream& s, const any_view& logits, const any_view& targets,
                                const any_view& lse, const any_view& dloss, const any_view& dlogits,
                                const cross_entropy_backward_options& options);

template <class X, class Target>
constexpr void require_cross_entropy_types() {
  using target = std::remove_const_t<Target>;
  static_assert(is_wide(element_kind_of<std::remove_const_t<X>>()),
                "kaio: the logits of cross_entropy are f32, f16 or bf16");
  static_assert(std::is_same_v<target, i64> || std::is_same_v<target, i32>,
                "kaio: the targets of cross_entropy are i64 or i32");
}

}  // namespace detail

// The bytes of workspace for reductions sum and mean.
std::uint64_t cross_entropy_workspace_bytes(const any_view& logits);

// logits: (rows, classes), rows of any stride, neighbours adjacent; targets: (rows), any stride; loss: (rows)
// for reduction none, any stride, else (1). Outputs and the workspace are apart from everything else. Fewer
// than 2^31 rows; at least one class. Fastest if rows begin at multiples of 16 bytes and have whole multiples
// of them.
template <class X, class Target>
void cross_entropy(const stream& s, const tensor_view<X, 2>& logits, const tensor_view<Target, 1>& targets,
                   const tensor_view<f32, 1>& loss, const cross_entropy_options& options = {}) {
  detail::require_cross_entropy_types<X, Target>();
  detail::run_cross_entropy(s, logits, targets, loss, options);
}

// The gradient of the logits, in their type, rounded once. lse: that of the forward call; dloss: the gradient
// of its loss, with the shape of the loss. dlogits is logits itself, element by element, or apart from it.
//
//   p = e^(z - lse)
//   dz = dloss (p ((1 - e) w_target + e / C * sum of w + 2 z_loss lse)
//               - (1 - e) w_target [target] - e / C * w), divided by total_weight for the mean
//   dx = dz (1 - (z / softcap)^2)
template <class X, class Target, class Lse, class Dloss, class Dx>
void cross_entropy_backward(const stream& s, const tensor_view<X, 2>& logits,
                            const tensor_view<Target, 1>& targets, const tensor_view<Lse, 1>& lse,
                            const tensor_view<Dloss, 1>& dloss, const tensor_view<Dx, 2>& dlogits,
                            const cross_entropy_backward_options& options = {}) {
  detail::require_cross_entropy_types<X, Target>();
  static_assert(std::is_same_v<std::remove_const_t<X>, Dx>,
                "kaio: dlogits of cross_entropy_backward has the element type of logits, and is not const");
  static_assert(
      std::is_same_v<std::remove_const_t<Lse>, f32> && std::is_same_v<std::remove_const_t<Dloss>, f32>,
      "kaio: lse and dloss of cross_entropy_backward are f32");
  detail::run_cross_entropy_backward(s, logits, targets, lse, dloss, dlogits, options);
}

// Refuse arguments that are no such views.
template <class X, class Target, class Loss>
  requires(!(detail::views<2, X> && detail::views<1, Target, Loss>))
void cross_entropy(const stream&, const X&, const Target&, const Loss&, const cross_entropy_options& = {}) {
  detail::refuse_views<X, Target, Loss>();
}
template <class X, class Target, class Lse, class Dloss, class Dx>
  requires(!(detail::views<2, X, Dx> && detail::views<1, Target, Lse, Dloss>))
void cross_entropy_backward(const stream&, const X&, const Target&, const Lse&, const Dloss&, const Dx&,
                            const cross_entropy_backward_options& = {}) {
  detail::refuse_views<X, Target, Lse, Dloss, Dx>();
}

// Loads the kernels for logits of `kind`, of both calls, ahead of their first use.
void cross_entropy_warmup(const runtime::device& gpu, element_kind kind);

// The images of these kernels.
std::vector<const ptx::kernel_image*> cross_entropy_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::cross_entropy;
using ops::cross_entropy_backward;
using ops::cross_entropy_backward_options;
using ops::cross_entropy_options;
using ops::cross_entropy_warmup;
using ops::cross_entropy_workspace_bytes;
using ops::element_kind;
using ops::loss_reduction;
}  // namespace kaio
