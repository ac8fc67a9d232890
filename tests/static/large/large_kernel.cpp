// With the compilers' default limits, a kernel may have well over 1,500 instructions; its text comes in
// segments.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto large =
    kernel<"large", 256>([](thread t, in<f32> x, out<f32> y, val<f32> a, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        var acc = x[i];
        for (int k = 0; k < 500; ++k) {  // unrolled: 4 instructions a round
          val scaled = acc * a + static_cast<f32>(k);
          acc = max(scaled, acc) - a * static_cast<f32>(k + 1);
          y[i] = acc;
        }
      }
    });
static_assert(large.needs().instructions > 2000);
static_assert(large.image().segment_count >= 2);
static_assert(large.ptx().count("fma.rn.f32") == 1000);
