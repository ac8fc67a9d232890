// A library with a kernel, built twice: the second build is what a programmer has changed.
#include <kaio/dsl/dsl.hpp>
#include <kaio/runtime/runtime.hpp>

#include <vector>

using namespace kaio;

namespace {

constexpr auto scale = kernel<"scale", 64>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) y[i] = x[i] * KAIO_TEST_FACTOR;
});

}  // namespace

extern "C" float scaled_one(const device& gpu) {
  const auto x = gpu.upload(std::vector<f32>(100, 1.0f));
  auto y = gpu.allocate<f32>(100);
  scale.launch(gpu.stream(), over(100u), x, y, 100u);
  return y.download()[99];
}
