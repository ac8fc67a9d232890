#pragma once
// The cross entropy of a linear layer's outputs, and the gradients of its inputs, weights and bias. The matrix of
// logits is never in memory as a whole: classes are taken a chunk at a time.
//
//   buffer<u8> memory = gpu.allocate<u8>(linear_cross_entropy_workspace_bytes(x, weight));
//   linear_cross_entropy(s, x, weight, targets, loss, {.lse = lse, .total_weight = total, .workspace = memory});
//   buffer<u8> more = gpu.allocate<u8>(linear_cross_entropy_backward_workspace_bytes(x, weight));
//   linear_cross_entropy_backward(s, x, weight, targets, lse, dloss, dx, dweight,
//                                 {.total_weight = total, .workspace = more});
//
//   logits = logit_scale * x * weight^T + bias          loss = cross_entropy(logits, targets)
//
// The loss, the options and what becomes of ignored and wrong targets are those of cross_entropy
// (cross_entropy.hpp). With reduction none, the negated loss is the logarithm of the target's probability.
//
//   for each chunk of classes                 products of rows x features x classes
//   forward     logits -> state of each row                  1
//   backward    logits -> G = gradient of the logits         1
//               dweight of these classes = G^T x             1, if it is wanted
//               dx += G weight                               1, if it is wanted
//
// Logits are f32, and so are all sums. G is formed in f32 and rounded once to the type of x; dx of 16 bits is
// summed in f32 over the chunks and rounded once. Equal calls give equal bits; a workspace of another size may
// change the chunks, and by that the order of sums.
//
//   workspace         bytes, about
//   forward           4 * rows * chunk
//   backward          (4 + 2) * rows * chunk + 4 * rows * features for x of 16 bits, 4 * rows * chunk for f32
//   chunk             256 MiB / (4 * rows), at least 2048; all classes, if these are fewer
//
// A smaller workspace is taken, down to chunks of 64 classes; dx is then read and written more often. If the
// logits fit memory, matmul, cross_entropy and matmul_backward save one product of four.
//
// Nothing is allocated, read back or waited for, so a call may be captured into a graph; kernels are loaded when
// they are first used on a device (linear_cross_entropy_warmup). Throws invalid_argument, which names the
// argument, before anything runs; unsupported_device if matmul has no kernel for the device; and what a launch
// throws.
//
// Sources: Wijmans et al., "Cut Your Losses in Large-Vocabulary Language Models", 2025 (logits are made again for
// the gradient); torch.nn.functional.linear_cross_entropy (the signature).

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/cross_entropy.hpp>
#include <kaio/ops/matmul/call/arguments.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/output_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

struct linear_cross_entropy_options {
  any_view bias{};                                      // (classes), f32, f16 or bf16, neighbours adjacent
  f32 logit_scale = 1;                                  // finite
  matmul_precision precision = matmul_precision::ieee;  // of the products, for x of f32
  // Members as in cross_entropy_options.
  i64 ignore_index = -100;
  f32 label_smoothing = 0;
  f32 z_loss = 0;
  f32 softcap = 0;
  any_view weights{};  // of the classes, in the loss
  loss_reduction reduction = loss_reduction::mean;
  output_view lse{};
  output_view total_weight{};
  workspace_view workspace{};  // of linear_cross_entropy_workspace_bytes, or less
};

// Members as in the forward call.
struct linear_cross_entropy_backward_options {
  any_view bias{};
  f32 logit_scale = 1;
  matmul_precision precision = matmul_precision::ieee;
  i64 ignore_index = -100;
  f32 label_smoothing = 0;
  f32 z_loss = 0;
  f32 softcap = 0;
  any_view weights{};
  loss_reduction reduction = loss_reduction::mean;
  any_view total_weight{};     // that of the forward call; the mean needs it
  output_view dbias{};         // (classes), of x's type or f32, any stride
  workspace_view workspace{};  // of linear_cross_entropy_backward_workspace_bytes, or less
};

namespace detail {

void run_linear_cross_entropy(const stream& s, const any_view& x, const any_view& weight,
                              const any_view& targets, const any_view& loss,
                              const linear_cross_entropy_options& options);
void run_linear_cross_entropy_backward(const stream& s, const any_view& x, const any_view& weight,
                                       const any_view& targets, const any_view& lse, const any_view& dloss,
                                       const any_view& dx, const any_view& dweight,
                                       const linear_cross_entropy_backward_options& options);

template <class X, class Weight, class Target>
constexpr void require_linear_cross_entropy_types() {
  using target = std::remove_const_t<Target>;
  static_assert(is_wide(element_kind_of<std::remove_const_t<X>>()),
                "kaio: x of linear_cross_entropy is f32, f16 or bf16");
  static_assert(std::is_same_v<std::remove_const_t<X>, std::remove_const_t<Weight>>,
                "kaio: weight of linear_cross_entropy has the element type of x; cast one of them");
  static_assert(std::is_same_v<target, i64> || std::is_same_v<target, i32>,
                "kaio: the targets of linear_cross_entropy are i64 or i32");
}

}  // namespace detail

// The bytes of workspace for chunks of `chunk` classes, a multiple of 64; 0: for the chunks that are fastest. More
// is not used.
std::uint64_t linear_cross_entropy_workspace_bytes(const any_view& x, const any_view& weight,
                                                   std::uint64_t chunk = 0);
std::uint64_t linear_cross_entropy_backward_workspace_bytes(const any_view& x, const any_view& weight,
                                                            std::uint64_t chunk = 0);

// x: (rows, features); weight: (classes, features), of the type of x; rows of both at any stride, neighbours
// adjacent. targets: (rows), any stride; loss: (rows) for reduction none, any stride, else (1). Outputs and the
// workspace are apart from everything else. Fewer than 2^31 rows; 1 to 2^31 - 1 classes.
template <class X, class Weight, class Target>
void linear_cross_entropy(const stream& s, const tensor_view<X, 2>& x, const tensor_view<Weight, 2>& weight,
                          const tensor_view<Target, 1>& targets, const tensor_view<f32, 1>& loss,
                          const linear_cross_entropy_options& options = {}) {
  detail::require_linear_cross_entropy_types<X, Weight, Target>();
  detail::run_linear_cross_entropy(s, x, weight, targets, loss, options);
}

// lse: that of the forward call; dloss: the gradient of its loss, with the shape of the loss. dx and dweight: as x
// and weight, of their type or f32; {} leaves a gradient out.
template <class X, class Weight, class Target, class Lse, class Dloss>
void linear_cross_entropy_backward(const stream& s, const tensor_view<X, 2>& x,
                                   const tensor_view<Weight, 2>& weight,
                                   const tensor_view<Target, 1>& targets, const tensor_view<Lse, 1>& lse,
                                   const tensor_view<Dloss, 1>& dloss, const output_view& dx,
                                   const output_view& dweight,
                                   const linear_cross_entropy_backward_options& options = {}) {
  detail::require_linear_cross_entropy_types<X, Weight, Target>();
  static_assert(
      std::is_same_v<std::remove_const_t<Lse>, f32> && std::is_same_v<std::remove_const_t<Dloss>, f32>,
      "kaio: lse and dloss of linear_cross_entropy_backward are f32");
  detail::run_linear_cross_entropy_backward(s, x, weight, targets, lse, dloss, dx, dweight, options);
}

// Refuse arguments that are no such views.
template <class X, class Weight, class Target, class Loss>
  requires(!(detail::views<2, X, Weight> && detail::views<1, Target, Loss>))
void linear_cross_entropy(const stream&, const X&, const Weight&, const Target&, const Loss&,
                          const linear_cross_entropy_options& = {}) {
  detail::refuse_views<X, Weight, Target, Loss>();
}
template <class X, class Weight, class Target, class Lse, class Dloss>
  requires(!(detail::views<2, X, Weight> && detail::views<1, Target, Lse, Dloss>))
void linear_cross_entropy_backward(const stream&, const X&, const Weight&, const Target&, const Lse&,
                                   const Dloss&, const output_view&, const output_view&,
                                   const linear_cross_entropy_backward_options& = {}) {
  detail::refuse_views<X, Weight, Target, Lse, Dloss>();
}

// Load what these calls launch, ahead of their first use: they are checked as such calls, and memory is not read.
void linear_cross_entropy_warmup(const runtime::device& gpu, const any_view& x, const any_view& weight,
                                 const any_view& targets, const any_view& loss,
                                 const linear_cross_entropy_options& options = {});
void linear_cross_entropy_backward_warmup(const runtime::device& gpu, const any_view& x,
                                          const any_view& weight, const any_view& targets,
                                          const any_view& lse, const any_view& dloss, const output_view& dx,
                                          const output_view& dweight,
                                          const linear_cross_entropy_backward_options& options = {});

}  // namespace kaio::ops

namespace kaio {
using ops::linear_cross_entropy;
using ops::linear_cross_entropy_backward;
using ops::linear_cross_entropy_backward_options;
using ops::linear_cross_entropy_backward_warmup;
using ops::linear_cross_entropy_backward_workspace_bytes;
using ops::linear_cross_entropy_options;
using ops::linear_cross_entropy_warmup;
using ops::linear_cross_entropy_workspace_bytes;
using ops::loss_reduction;
using ops::matmul_precision;
}  // namespace kaio
