// Host memory is no device memory.
// EXPECT: kaio: a pointer parameter takes a buffer<T>
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto scale =
    kernel<"scale", 128>([](thread t, in<f32> x, out<f32> y, val<f32> a, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i] = a * x[i];
    });

#ifdef KAIO_FIXED
void run(stream& s, const std::vector<f32>& host, const buffer<f32>& x, buffer<f32>& y, u32 n) {
  scale.launch(s, over(n), x, y, 2.0f, n * static_cast<u32>(host.size()));
}
#else
void run(stream& s, const std::vector<f32>& host, const buffer<f32>& x, buffer<f32>& y, u32 n) {
  scale.launch(s, over(n), host, y, 2.0f, n * static_cast<u32>(x.size()));
}
#endif
