// The kernel of the README, for a compiler in MSVC's dialect: `clang -fms-compatibility -fsyntax-only`.
#include <kaio/dsl/dsl.hpp>

using namespace kaio;

inline constexpr auto fused_silu_gate =
    kernel<"fused_silu_gate", 256>([](thread t, in<f32> x, in<f32> gate, out<f32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        val xi = x[i];
        y[i] = xi / (1.0f + exp(-xi)) * gate[i];
      }
    });

static_assert(fused_silu_gate.ptx().contains("ex2.approx"));
