// After matmul_warmup a call loads nothing, and so may be captured.

#include <kaio/kaio.hpp>
#include <kaio/ops/matmul.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "driver/driver_support.hpp"

using namespace driver_test;
using namespace kaio;

namespace {

struct product {
  const device& gpu;
  std::uint32_t m, n, k;
  buffer<f16> a = gpu.upload(std::vector<f16>(std::size_t{m} * k, f16(0.5f)));
  buffer<f16> b = gpu.upload(std::vector<f16>(std::size_t{k} * n, f16(0.25f)));
  buffer<f32> c = gpu.allocate<f32>(std::size_t{m} * n);
  tensor_view<const f16, 2> a_view{a, m, k}, b_view{b, k, n};
  tensor_view<f32, 2> c_view{c, m, n};
};

// Warms up, runs, and returns how many kernels were loaded for it.
long loads_for(const fresh_driver& driver, product& p, const matmul_options& options = {}) {
  const stream& s = p.gpu.stream();
  const long before = driver.loads(), launches = driver.launches();
  matmul_warmup(p.gpu, p.a_view, p.b_view, p.c_view, options);
  const long loaded = driver.loads() - before;
  CHECK(driver.launches() == launches);
  driver.begin_capture(s.native_handle());
  CHECK_NOTHROW(matmul(s, p.a_view, p.b_view, p.c_view, options));
  driver.end_capture(s.native_handle());
  matmul(s, p.a_view, p.b_view, p.c_view, options);
  CHECK(driver.loads() - before == loaded);
  for (const float x : p.c.download()) CHECK(x == 0.125f * static_cast<float>(p.k));
  return loaded;
}

}  // namespace

TEST_CASE("a call that was warmed up loads nothing") {
  const fresh_driver driver;
  const device gpu = device::open("cuda:0");
  product plain{gpu, 64, 64, 32};
  CHECK(loads_for(driver, plain) == 1);
  CHECK(loads_for(driver, plain) == 0);
  product nothing{gpu, 8, 8, 0};
  CHECK(loads_for(driver, nothing) == 1);

  product deep{gpu, 64, 64, 512};
  const auto workspace = gpu.allocate<f32>(64 * 64 * 16);
  std::string split;
  for (const auto& v :
       ops::matmul_variants(gpu.stream(), deep.a_view, deep.b_view, deep.c_view, {.workspace = workspace}))
    if (v.refusal.empty() && v.name.find("_parts2") != std::string::npos) split = v.name;
  REQUIRE_FALSE(split.empty());
  CHECK(loads_for(driver, deep, {.workspace = workspace, .variant = split}) == 2);
}

TEST_CASE("a call that would be refused is not warmed up") {
  const fresh_driver driver;
  const device gpu = device::open("cuda:0");
  product p{gpu, 8, 8, 8};
  const tensor_view<f32, 2> wrong(p.c, 4, 8);
  const thrown extents = catch_error([&] { matmul_warmup(gpu, p.a_view, p.b_view, wrong); });
  CHECK(extents.code == errc::invalid_argument);
  CHECK(extents.says("matmul_warmup"));
  CHECK(catch_error([&] {
          matmul_warmup(gpu, p.a_view, p.b_view, p.c_view, {.variant = "none"});
        }).says("there is no variant none"));
  CHECK(driver.loads() == 0);
}
