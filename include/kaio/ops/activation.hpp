#pragma once
// Activations of neural networks, alone and as gates, and their gradients. Each call is one launch.
//
//   activate(s, activation::silu, x, y);                             // y = x / (1 + e^-x)
//   gated(s, activation::silu, gate, up, y);                         // swiglu: y = silu(gate) up
//   gated(s, activation::gelu, x.slice(1, 0, n), x.slice(1, n, n), y);       // geglu of a packed (rows, 2 n)
//   gated(s, activation::gelu_sigmoid, gate, up, y, gpt_oss_gate);   // clamped to 7, times up + 1
//   activate_backward(s, activation::silu, dy, x, dx);
//   gated_backward(s, activation::silu, dy, gate, up, dgate, dup);
//
//   kind           f(x)
//   silu           x / (1 + e^-x)
//   gelu           x / 2 (1 + erf(x / sqrt(2)))
//   gelu_tanh      x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
//   gelu_sigmoid   x / (1 + e^(-1.702 x))
//   relu, relu2    max(x, 0), its square
//
// All tensors of a call have one element type, f32, f16 or bf16; the computation is in f32, rounded once to
// it. NaN stays NaN; f(-inf) is 0, f(inf) is inf. Views have any strides; outputs have a place for each
// element, and are an input itself, element by element, or apart from it. Any number of elements; if there
// are none, nothing runs. Nothing is allocated, read back or waited for, so a call may be captured into a
// graph once its kernels are loaded (activation_warmup). Throws invalid_argument, which names the argument,
// before anything runs; and what a launch throws.
//
// Sources: Hendrycks and Gimpel, "Gaussian error linear units", 2016; Shazeer, "GLU variants improve
// transformer", 2020; So et al., "Primer", 2021 (relu2); OpenAI, gpt-oss, 2025 (the clamped gate).

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
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

enum class activation_kind : std::uint8_t { silu, gelu, gelu_tanh, gelu_sigmoid, relu, relu2 };

// y = f(min(gate, limit)) (clamp(up, -limit, limit) + up_offset).
struct gated_options {
  f32 limit = 0;      // above 0 and finite; 0: none
  f32 up_offset = 0;  // finite
};
inline constexpr gated_options gpt_oss_gate{.limit = 7, .up_offset = 1};

namespace detail {

void run_activate(const stream& s, activation_kind kind, const any_view& x, const any_view& y);
void run_activate_backward(const stream& s, activation_kind kind, const any_view& dy, const any_view& x,
                           const any_view& dx);
void run_gated(const stream& s, activation_kind kind, const any_view& gate, const any_view& up,
               const any_view& y, const gated_options& options);
void run_gated_backward(const stream& s, activation_kind kind, const any_view& dy, const any_view& gate,
                        const any_view& up, const any_view& dgate, const any_view& dup,
                        const gated_options& options);

template <class First, class... T>
constexpr void require_activation_types() {
  using element = std::remove_const_t<First>;
  static_assert(is_wide(element_kind_of<element>()),
                "kaio: the elements of activations are f32, f16 or bf16");
  static_assert((std::is_same_v<element, std::remove_const_t<T>> && ...),
                "kaio: all tensors of an activation have one element type");
}
template <std::size_t Rank, class... Out>
constexpr void require_activation_outputs() {
  static_assert(Rank <= 5, "kaio: activations take views of up to five dimensions");
  static_assert((!std::is_const_v<Out> && ...), "kaio: an activation writes to elements that are not const");
}

}  // namespace detail

// y = f(x). Extents are equal.
template <class X, class Y, std::size_t Rank>
void activate(const stream& s, activation_kind kind, const tensor_view<X, Rank>& x,
              const tensor_view<Y, Rank>& y) {
  detail::require_activation_types<X, Y>();
  detail::require_activation_outputs<Rank, Y>();
  detail::run_activate(s, kind, x, y);
}

// dx = dy f'(x). The slope of relu at 0 is 0.
template <class Dy, class X, class Dx, std::size_t Rank>
void activate_backward(const stream& s, activation_kind kind, const tensor_view<Dy, Rank>& dy,
                       const tensor_view<X, Rank>& x, const tensor_view<Dx, Rank>& dx) {
  detail::require_activation_types<Dy, X, Dx>();
  detail::require_activation_outputs<Rank, Dx>();
  detail::run_activate_backward(s, kind, dy, x, dx);
}

// y = f(gate) up, or clamped. Extents are equal.
template <class Gate, class Up, class Y, std::size_t Rank>
void gated(const stream& s, activation_kind kind, const tensor_view<Gate, Rank>& gate,
           const tensor_view<Up, Rank>& up, const tensor_view<Y, Rank>& y,
           const gated_options& options = {}) {
  detail::require_activation_types<Gate, Up, Y>();
  detail::require_activation_outputs<Rank, Y>();
  detail::run_gated(s, kind, gate, up, y, options);
}

// dgate = dy up f'(gate), dup = dy f(gate). An input beyond its limit has the gradient 0.
template <class Dy, class Gate, class Up, class Dgate, class Dup, std::size_t Rank>
void gated_backward(const stream& s, activation_kind kind, const tensor_view<Dy, Rank>& dy,
                    const tensor_view<Gate, Rank>& gate, const tensor_view<Up, Rank>& up,
                    const tensor_view<Dgate, Rank>& dgate, const tensor_view<Dup, Rank>& dup,
                    const gated_options& options = {}) {
  detail::require_activation_types<Dy, Gate, Up, Dgate, Dup>();
  detail::require_activation_outputs<Rank, Dgate, Dup>();
  detail::run_gated_backward(s, kind, dy, gate, up, dgate, dup, options);
}

// Refuses arguments that are no views.
template <class X, class Y>
  requires(!detail::views<0, X, Y>)
void activate(const stream&, activation_kind, const X&, const Y&) {
  detail::refuse_views<X, Y>();
}
template <class Gate, class Up, class Y>
  requires(!detail::views<0, Gate, Up, Y>)
void gated(const stream&, activation_kind, const Gate&, const Up&, const Y&, const gated_options& = {}) {
  detail::refuse_views<Gate, Up, Y>();
}

// Loads the kernels for elements of `kind` ahead of their first use.
void activation_warmup(const runtime::device& gpu, element_kind kind);

// The images of the kernels of activations.
std::vector<const ptx::kernel_image*> activation_kernels();

}  // namespace kaio::ops

namespace kaio {
using activation = ops::activation_kind;
using ops::activate;
using ops::activate_backward;
using ops::activation_warmup;
using ops::element_kind;
using ops::gated;
using ops::gated_backward;
using ops::gated_options;
using ops::gpt_oss_gate;
}  // namespace kaio
