// The cache finds loaded kernels, distinguishes kernels that were at one address, and loads once under
// contention.

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "runtime/kernel_cache.hpp"

using kaio::ptx::kernel_image;
using kaio::runtime::kernel_cache;
using kaio::runtime::loaded_kernel;

namespace {
auto loader(const kernel_image& kernel) {
  return [&kernel] { return std::make_unique<loaded_kernel>(kernel); };
}
}  // namespace

TEST_CASE("a thousand kernels are found after the table grew") {
  kernel_cache cache;
  std::vector<kernel_image> kernels(1000);
  for (const auto& kernel : kernels) {
    CHECK(cache.find(kernel) == nullptr);
    cache.load(kernel, loader(kernel));
  }
  for (const auto& kernel : kernels) {
    const loaded_kernel* found = cache.find(kernel);
    REQUIRE(found != nullptr);
    REQUIRE(found->image() == &kernel);
  }
}

TEST_CASE("another kernel at the address of an earlier one is not taken for it") {
  kernel_cache cache;
  kernel_image kernel;
  kernel.name = "first";
  const loaded_kernel& first = cache.load(kernel, loader(kernel));
  CHECK(cache.find(kernel) == &first);
  kernel.name = "second";
  CHECK(cache.find(kernel) == nullptr);
  const loaded_kernel& second = cache.load(kernel, loader(kernel));
  CHECK(&second != &first);
  CHECK(cache.find(kernel) == &second);
}

TEST_CASE("a failed load is told to its caller and tried again by the next") {
  kernel_cache cache;
  const kernel_image kernel;
  CHECK_THROWS_AS(
      cache.load(kernel, []() -> std::unique_ptr<loaded_kernel> { throw std::runtime_error("no"); }),
      std::runtime_error);
  CHECK(cache.find(kernel) == nullptr);
  CHECK(cache.load(kernel, loader(kernel)).image() == &kernel);
}

TEST_CASE("threads that ask for the same kernels load each once") {
  kernel_cache cache;
  std::vector<kernel_image> kernels(200);
  std::atomic<int> loads{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (const auto& kernel : kernels) {
        const loaded_kernel* found = cache.find(kernel);
        if (!found) {
          found = &cache.load(kernel, [&] {
            loads.fetch_add(1);
            return std::make_unique<loaded_kernel>(kernel);
          });
        }
        if (!found->is_of(kernel)) throw std::logic_error("wrong kernel");
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(loads.load() == 200);
}
