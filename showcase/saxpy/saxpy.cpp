#include "saxpy.hpp"

#include <kaio/showcase.hpp>

#include <string>
#include <vector>

using namespace kaio;

int main() {
  return showcase::run("saxpy", [](device& gpu) {
    const u32 n = gpu.is_emulator() ? 100003 : 1u << 26;
    const f32 a = 2.5f;
    const std::vector<f32> host_x = showcase::random_normal(n, 1), host_y = showcase::random_normal(n, 2);

    auto x = gpu.upload(host_x);
    auto y = gpu.upload(host_y);
    showcase::saxpy.launch(gpu.stream(), over(n), x, y, a, n);
    const std::vector<f32> result = y.download();

    showcase::largest_error error(1.0);
    for (u32 i = 0; i < n; ++i) error.compare(result[i], double{a} * host_x[i] + host_y[i]);
    const double ms =
        showcase::median_ms(gpu, [&] { showcase::saxpy.launch(gpu.stream(), over(n), x, y, a, n); });
    return showcase::report(gpu, {std::to_string(n) + " elements", error.value(), 1e-6, ms, 12.0 * n});
  });
}
