#pragma once
// The gated SiLU of every LLaMA, Mistral and Qwen feed-forward block: y = x sigmoid(x) gate, one pass over
// memory.
//
// A thread takes four elements, a block apart, and loads all of them before it computes: memory is kept busy
// by loads in flight. Loads beyond the end read the last element instead, so that none waits for a branch;
// stores are guarded. Launch with over(n).per_thread(fused_silu_gate_share).

#include <kaio/dsl/dsl.hpp>

namespace kaio::showcase {

inline constexpr u32 fused_silu_gate_share = 4;

inline constexpr auto fused_silu_gate =
    kernel<"fused_silu_gate", 256>([](thread t, in<f32> x, in<f32> gate, out<f32> y, val<u32> n) {
      const u32 stride = t.block_size();
      val first = block_idx_x() * (stride * fused_silu_gate_share) + thread_idx_x();
      const auto element = [&](u32 k) { return first + k * stride; };
      const auto loaded = [&](in<f32> from) {
        return array_of<fused_silu_gate_share>([&](u32 k) { return t.let(from[min(element(k), n - 1)]); });
      };
      const auto xs = loaded(x);
      const auto gates = loaded(gate);
      for (u32 k = 0; k < fused_silu_gate_share; ++k) {
        val y_k = xs[k] / (1.0f + exp(-xs[k])) * gates[k];
        if (auto in_range = t.when(element(k) < n)) y[element(k)] = y_k;
      }
    });

static_assert(fused_silu_gate.ptx().contains("ex2.approx"));  // device code is a constant

}  // namespace kaio::showcase
