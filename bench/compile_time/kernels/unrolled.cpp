// A loop of the host that unrolls: few statements, four instructions a round.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto measured = kernel<"unrolled", 256>([](thread t, in<f32> x, out<f32> y, val<f32> a) {
  val i = t.global_id();
  var acc = x[i];
  for (int k = 0; k < ROUNDS; ++k) {
    val scaled = acc * a + static_cast<f32>(k);
    acc = max(scaled, acc) - a * static_cast<f32>(k + 1);
    y[i] = acc;
  }
});

#include "stage.hpp"
