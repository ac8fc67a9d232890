// A const buffer is not written.
// EXPECT: kaio: a const buffer cannot be written
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto scale =
    kernel<"scale", 128>([](thread t, in<f32> x, out<f32> y, val<f32> a, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i] = a * x[i];
    });

#ifdef KAIO_FIXED
void run(stream& s, const buffer<f32>& x, const buffer<f32>& y, buffer<f32>& z, u32 n) {
  scale.launch(s, over(n), x, z, 2.0f, n * static_cast<u32>(y.size()));
}
#else
void run(stream& s, const buffer<f32>& x, const buffer<f32>& y, buffer<f32>& z, u32 n) {
  scale.launch(s, over(n), x, y, 2.0f, n * static_cast<u32>(z.size()));
}
#endif
