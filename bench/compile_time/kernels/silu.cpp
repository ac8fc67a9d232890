// The file that a user begins with: one small kernel and its launch.
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto fused_silu_gate =
    kernel<"fused_silu_gate", 256>([](thread t, in<f32> x, in<f32> gate, out<f32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        val xi = x[i];
        y[i] = xi / (1.0f + exp(-xi)) * gate[i];
      }
    });

int main() {
  device gpu = device::open();
  const u32 n = 1024;
  auto x = gpu.allocate<f32>(n), gate = gpu.allocate<f32>(n), y = gpu.allocate<f32>(n);
  fused_silu_gate.launch(gpu.stream(), over(n), x, gate, y, n);
}
