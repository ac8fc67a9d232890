// A buffer has the element type of the parameter.
// EXPECT: kaio: the element type of the buffer differs from that of the parameter
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto scale =
    kernel<"scale", 128>([](thread t, in<f32> x, out<f32> y, val<f32> a, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i] = a * x[i];
    });

#ifdef KAIO_FIXED
void run(stream& s, const buffer<f64>& x, const buffer<f32>& z, buffer<f32>& y, u32 n) {
  scale.launch(s, over(n), z, y, 2.0f, n * static_cast<u32>(x.size()));
}
#else
void run(stream& s, const buffer<f64>& x, const buffer<f32>& z, buffer<f32>& y, u32 n) {
  scale.launch(s, over(n), x, y, 2.0f, n * static_cast<u32>(z.size()));
}
#endif
