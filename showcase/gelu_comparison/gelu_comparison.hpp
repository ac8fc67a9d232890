#pragma once
// Two forms of GELU, the activation of BERT and GPT-2: the usual one with a hyperbolic tangent, and the quick one with a
// logistic function, which takes fewer instructions. One kernel body serves both: it takes the activation as an argument.
//
//   tanh_gelu(x)    = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
//   sigmoid_gelu(x) = x / (1 + exp(-1.702 x))
//
// Source: Hendrycks and Gimpel, "Gaussian Error Linear Units (GELUs)" (2016).

#include <kaio/dsl/dsl.hpp>

namespace kaio::showcase {

inline constexpr auto tanh_gelu = [](const val<f32>& x) {
  return 0.5f * x * (1.0f + tanh(0.797884561f * (x + 0.044715f * x * x * x)));
};
inline constexpr auto sigmoid_gelu = [](const val<f32>& x) { return x * fast::sigmoid(1.702f * x); };

inline constexpr u32 activation_share =
    4;  // elements of a thread: launch with over(n).per_thread(activation_share)

// y[i] = Activation(x[i]) for i < n. A thread moves its four elements by one load and one store of 16 bytes.
template <auto Activation>
inline constexpr auto activate = [](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.global_id();
  val first = i * activation_share;
  if (auto whole = t.when(i < n / activation_share))
    store_vec(y[first], map(Activation, load_vec<activation_share>(x[first])));
  if (auto rest = t.when(i == n / activation_share))
    for (auto k : t.range(first, n)) y[k] = Activation(x[k]);
};

inline constexpr auto exact_gelu = kernel<"exact_gelu", 256>(activate<tanh_gelu>);
inline constexpr auto fast_gelu = kernel<"fast_gelu", 256>(activate<sigmoid_gelu>);

static_assert(exact_gelu.ptx().contains("ld.global.nc.v4.f32"));
static_assert(fast_gelu.needs().instructions < exact_gelu.needs().instructions);

}  // namespace kaio::showcase
