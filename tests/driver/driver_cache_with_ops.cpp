// After its warmup a call on a cache loads nothing, and so may be captured; every launch of it is made
// without a look at the device's numbers.

#include <kaio/kaio.hpp>
#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/copy_pages.hpp>
#include <kaio/ops/rotary.hpp>

#include <cstdint>
#include <vector>

#include "driver/driver_support.hpp"

using namespace driver_test;
using namespace kaio;

TEST_CASE("calls on caches that were warmed up load nothing, and are captured") {
  const fresh_driver driver;
  const device gpu = device::open("cuda:0");
  const stream& s = gpu.stream();
  rotary_warmup(gpu);
  append_kv_warmup(gpu);
  copy_pages_warmup(gpu);
  CHECK(driver.loads() == 5);

  const u32 rows = 4, heads = 2, size = 32;
  auto x = gpu.upload(std::vector<f16>(3 * heads * size, f16(1.0f)));
  auto k = gpu.allocate<f16>(2 * rows * heads * size), v = gpu.allocate<f16>(2 * rows * heads * size);
  auto cos = gpu.allocate<f32>(8 * size / 2), sin = gpu.allocate<f32>(8 * size / 2);
  auto k_again = gpu.allocate<f16>(3 * heads * size), v_again = gpu.allocate<f16>(3 * heads * size);
  auto numbers = gpu.upload(std::vector<i32>{1, 0});
  auto lengths = gpu.upload(std::vector<i32>{0});
  const tensor_view<f16, 4> in(x, 1, 3, heads, size);
  auto y = gpu.allocate<f16>(3 * heads * size);
  const tensor_view<f16, 4> turned(y, 1, 3, heads, size);
  const tensor_view<f32, 2> c(cos, 8, size / 2), d(sin, 8, size / 2);
  kv_cache<f16> cache{.k = {k, 2, rows, heads, size}, .v = {v, 2, rows, heads, size}};
  cache.table = tensor_view<const i32, 2>(numbers, 1, 2);
  cache.lengths = tensor_view<const i32, 1>(lengths, 1);
  const auto once = [&] {
    rotary_table(s, c, d);
    rotary(s, in, turned, c, d, {.inverse = true});
    append_kv(s, turned, in, cache, {.rotary = {.cos = c, .sin = d}});
    copy_pages(s, cache.k, tensor_view<const i32, 2>(numbers, 1, 2));
    gather_kv(s, cache, tensor_view<f16, 4>(k_again, 1, 3, heads, size),
              tensor_view<f16, 4>(v_again, 1, 3, heads, size));
  };
  driver.begin_capture(s.native_handle());
  CHECK_NOTHROW(once());
  driver.end_capture(s.native_handle());
  once();
  CHECK(driver.loads() == 5);
  // Rotated back and forth: keys 0 to 2 of page 1, which then became page 0.
  const auto kept = k.download();
  for (u32 i = 0; i < 3 * heads * size; ++i) CHECK(float(kept[i]) == Approx(1).margin(2e-3));
}
