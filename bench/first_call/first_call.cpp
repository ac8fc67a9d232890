// Times the first call of each kernel of matmul in a fresh process. If a random product takes a kernel that
// was not used before, its first and its second call are timed, each from the call to the end of its work.
//
//   first_call [--products N] [--seed S] [--json]
//   CUDA_CACHE_DISABLE=1 CUDA_FORCE_PTX_JIT=1 first_call       # the driver's compiler instead of machine code
//
// Exits with 77 where there is no GPU.

#include <kaio/kaio.hpp>
#include <kaio/ops/matmul.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace kaio;

namespace {

struct first_call {
  std::string kernel;
  double first_ms, second_ms;
};

// Extents from 16 to 4096, log-uniform, multiples of 8 in half of the products.
class random_extents {
 public:
  explicit random_extents(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t next() {
    const double x = std::exp2(std::uniform_real_distribution<double>(4, 12)(engine_));
    const auto extent = static_cast<std::uint32_t>(x);
    return aligned_ ? (extent + 7) / 8 * 8 : extent;
  }
  void begin_product() { aligned_ = engine_() % 2 == 0; }
  bool flip() { return engine_() % 2 == 0; }

 private:
  std::mt19937 engine_;
  bool aligned_ = false;
};

template <class F>
double milliseconds(const F& f) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  f();
  return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

template <class T>
void try_product(const device& gpu, random_extents& random, std::set<std::string>& known,
                 std::vector<first_call>& calls) {
  random.begin_product();
  const std::uint32_t m = random.next(), n = random.next(), k = random.next();
  const auto a = gpu.allocate<T>(std::size_t{m} * k), b = gpu.allocate<T>(std::size_t{k} * n);
  auto c = gpu.allocate<T>(std::size_t{m} * n);
  const bool a_turned = random.flip(), b_turned = random.flip();
  const auto view = [](const buffer<T>& x, std::uint32_t rows, std::uint32_t columns, bool turned) {
    using operand = tensor_view<const T, 2>;
    return turned ? operand(x, columns, rows).transposed() : operand(x, rows, columns);
  };
  const auto a_view = view(a, m, k, a_turned), b_view = view(b, k, n, b_turned);
  const tensor_view<T, 2> c_view(c, m, n);
  const std::string kernel(ops::matmul_choice(gpu.stream(), a_view, b_view, c_view).name);
  if (!known.insert(kernel).second) return;
  const auto call = [&] {
    matmul(gpu.stream(), a_view, b_view, c_view);
    gpu.stream().synchronize();
  };
  gpu.stream().synchronize();
  const double first = milliseconds(call);
  calls.push_back({kernel, first, milliseconds(call)});
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t products = 200, seed = 1;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      json = true;
    } else if (word == "--products" && i + 1 < argc) {
      products = static_cast<std::uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    } else if (word == "--seed" && i + 1 < argc) {
      seed = static_cast<std::uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    } else {
      std::fprintf(stderr, "usage: first_call [--products N] [--seed S] [--json]\n");
      return 2;
    }
  }
  const device gpu = device::open();
  if (gpu.is_emulator()) {
    std::puts("skipped: there is no GPU");
    return 77;
  }
  random_extents random(seed);
  std::set<std::string> known;
  std::vector<first_call> calls;
  for (std::uint32_t i = 0; i < products; ++i) {
    if (i % 3 == 0)
      try_product<f32>(gpu, random, known, calls);
    else if (i % 3 == 1)
      try_product<bf16>(gpu, random, known, calls);
    else
      try_product<f16>(gpu, random, known, calls);
  }
  if (calls.empty()) return 1;
  // The first one of all starts what the driver starts once.
  std::vector<double> later;
  for (std::size_t i = 1; i < calls.size(); ++i) later.push_back(calls[i].first_ms - calls[i].second_ms);
  std::sort(later.begin(), later.end());
  if (json) {
    for (const first_call& c : calls)
      std::printf("{\"kernel\": \"%s\", \"first_ms\": %.3f, \"second_ms\": %.3f}\n", c.kernel.c_str(),
                  c.first_ms, c.second_ms);
  }
  std::printf("%s, seed %u: %zu kernels; the first call of all %.2f ms", std::string(gpu.name()).c_str(),
              seed, calls.size(), calls[0].first_ms);
  if (!later.empty())
    std::printf("; a kernel's first call beyond its second: median %.2f ms, worst %.2f ms",
                later[later.size() / 2], later.back());
  std::puts("");
  return 0;
}
