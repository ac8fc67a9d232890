// A scalar argument has exactly the type of the parameter.
// EXPECT: kaio: a scalar argument must have exactly the type of the parameter
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto scale =
    kernel<"scale", 128>([](thread t, in<f32> x, out<f32> y, val<f32> a, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i] = a * x[i];
    });

#ifdef KAIO_FIXED
void run(stream& s, const buffer<f32>& x, buffer<f32>& y, u32 n) { scale.launch(s, over(n), x, y, 2.0f, n); }
#else
void run(stream& s, const buffer<f32>& x, buffer<f32>& y, u32 n) { scale.launch(s, over(n), x, y, 2.0, n); }
#endif
