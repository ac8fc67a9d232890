#pragma once
// The products of gate_up_grouped, from sums with their biases.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/fast_activation.hpp>
#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/matmul_grouped/common/terms.hpp>

namespace kaio::ops {

// What comes before the activation: gate = min(gate, limit), up = clamp(up, -limit, limit) + offset.
template <class Gate, class Up, class Terms>
constexpr void limit_gate(thread t, Gate& gate, Up& up, const Terms& terms) {
  const val limit = t.let(terms[&grouped_gate::limit]), offset = t.let(terms[&grouped_gate::offset]);
  gate = min_nan(gate, limit);
  up = max_nan(min_nan(up, limit), -limit) + offset;
}

// gate[i] = activation(gate[i]) for the first N.
template <u32 N, class Gate, class Terms>
constexpr void activate_gate(thread t, Gate& gate, const Terms& terms) {
  const val alpha = t.let(terms[&grouped_gate::alpha]);
  const val activation = t.let(terms[&grouped_gate::activation]);
  const auto each = [&](matmul_activation a, const auto& f) {
    if (auto chosen = t.when(activation == static_cast<u32>(a)))
      for (u32 i = 0; i < N; ++i) gate[i] = f(t, t.let(gate[i]));
  };
  // The clamp avoids -inf * 0.
  each(matmul_activation::silu, [&](thread, const val<f32>& x) {
    const val finite = t.let(max_nan(x, -128.0f));
    return t.let(finite * fast::ftz::sigmoid(finite * alpha));
  });
  each(matmul_activation::gelu_tanh, fast_activation::gelu_tanh{});
  each(matmul_activation::relu, fast_activation::relu{});
  each(matmul_activation::gelu, fast_activation::gelu{});
}

// gate[i] = activation(gate[i]) for the first Count. Registers have constant numbers. A loop therefore rotates them, and
// activates the first few: the code of an activation is long.
template <u32 Count, u32 AtOnce, class Gate, class Terms>
constexpr void activate_in_turns(thread t, Gate& gate, const Terms& terms) {
  static_assert(Count % AtOnce == 0);
  for ([[maybe_unused]] auto turn : t.range(0u, Count / AtOnce).no_unroll()) {
    activate_gate<AtOnce>(t, gate, terms);
    const auto first = array_of<AtOnce>([&](u32 i) { return t.let(gate[i]); });
    for (u32 i = 0; i + AtOnce < Count; ++i) gate[i] = gate[i + AtOnce];
    for (u32 i = 0; i < AtOnce; ++i) gate[Count - AtOnce + i] = first[i];
  }
}

// gate[i] = activation(...) * up[i]
template <class Gate, class Up, class Terms>
constexpr void gate_products(thread t, Gate& gate, Up& up, const Terms& terms) {
  constexpr u32 count = Gate::size();
  for (u32 i = 0; i < count; ++i) limit_gate(t, gate[i], up[i], terms);
  if constexpr (count > 4)
    activate_in_turns<count, 4>(t, gate, terms);
  else
    activate_gate<count>(t, gate, terms);
  for (u32 i = 0; i < count; ++i) gate[i] = gate[i] * up[i];
}

}  // namespace kaio::ops
