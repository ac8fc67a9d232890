// Random numbers by cuRAND's functions: their distribution, and that a sequence is a function of seed and offset.

#include "tests/cuda_libraries/support.hpp"

#include <algorithm>
#include <cmath>
#include <string>

using namespace cuda_libraries_test;

extern "C" {
int curandCreateGenerator(void**, int);
int curandDestroyGenerator(void*);
int curandSetStream(void*, void*);
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long);
int curandSetGeneratorOffset(void*, unsigned long long);
int curandGenerate(void*, std::uint32_t*, std::size_t);
int curandGenerateUniform(void*, float*, std::size_t);
int curandGenerateUniformDouble(void*, double*, std::size_t);
int curandGenerateNormal(void*, float*, std::size_t, float, float);
int curandGenerateNormalDouble(void*, double*, std::size_t, double, double);
int curandGenerateLogNormal(void*, float*, std::size_t, float, float);
}

namespace {

struct random_source {
  void* it = nullptr;
  explicit random_source(unsigned long long seed) {
    MUST(curandCreateGenerator(&it, 100));
    MUST(curandSetPseudoRandomGeneratorSeed(it, seed));
  }
  ~random_source() { curandDestroyGenerator(it); }
  random_source(const random_source&) = delete;
  random_source& operator=(const random_source&) = delete;
};

template <class T>
double mean(const std::vector<T>& v, int power = 1, double about = 0) {
  double sum = 0;
  for (const T x : v) sum += std::pow(double{x} - about, power);
  return sum / static_cast<double>(v.size());
}

constexpr std::size_t count = 20000;

}  // namespace

TEST_CASE("cuRAND's uniform numbers fill (0, 1]") {
  const session s;
  const random_source source(7);
  const array<float> x{std::vector<float>(count)};
  const array<double> wide{std::vector<double>(count)};
  MUST(curandGenerateUniform(source.it, x.data(), count));
  MUST(curandGenerateUniformDouble(source.it, wide.data(), count));
  const auto check = [](const auto& v) {
    CHECK(*std::min_element(v.begin(), v.end()) > 0);
    CHECK(*std::max_element(v.begin(), v.end()) <= 1);
    // Six standard errors of 20,000 samples.
    CHECK(std::abs(mean(v) - 0.5) < 6 * std::sqrt(1.0 / 12 / count));
    CHECK(std::abs(mean(v, 2, 0.5) - 1.0 / 12) < 6 * std::sqrt(1.0 / 180 / count));
  };
  check(x.values());
  check(wide.values());
}

TEST_CASE("cuRAND's normal numbers have the mean and the deviation") {
  const session s;
  const random_source source(8);
  const array<float> x{std::vector<float>(count)}, powers{std::vector<float>(count)};
  const array<double> wide{std::vector<double>(count)};
  MUST(curandGenerateNormal(source.it, x.data(), count, 3, 0.5f));
  MUST(curandGenerateNormalDouble(source.it, wide.data(), count, 3, 0.5));
  MUST(curandGenerateLogNormal(source.it, powers.data(), count, 3, 0.5f));
  auto logarithms = powers.values();
  for (float& y : logarithms) y = std::log(y);
  const auto check = [](const auto& v) {
    CHECK(std::abs(mean(v) - 3) < 6 * 0.5 / std::sqrt(count));
    CHECK(std::abs(mean(v, 2, 3) - 0.25) < 6 * 0.25 * std::sqrt(2.0 / count));
    CHECK(std::abs(mean(v, 4, 3) - 3 * 0.0625) < 6 * 0.0625 * std::sqrt(96.0 / count));
  };
  check(x.values());
  check(wide.values());
  check(logarithms);
  CHECK(curandGenerateNormal(source.it, x.data(), 3, 0, 1) == 105);  // an odd length
}

TEST_CASE("a sequence of cuRAND's is a function of its seed and offset") {
  const session s;
  const random_source source(9);
  const array<std::uint32_t> whole{std::vector<std::uint32_t>(1000)}, parts{std::vector<std::uint32_t>(1000)};
  MUST(curandGenerate(source.it, whole.data(), 1000));
  MUST(curandSetPseudoRandomGeneratorSeed(source.it, 9));
  MUST(curandGenerate(source.it, parts.data(), 300));
  MUST(curandGenerate(source.it, parts.data() + 300, 700));
  CHECK(whole.values() == parts.values());
  MUST(curandSetGeneratorOffset(source.it, 990));
  MUST(curandGenerate(source.it, parts.data(), 10));
  const auto all = whole.values(), last = parts.values();
  CHECK(std::equal(last.begin(), last.begin() + 10, all.begin() + 990));
  MUST(curandSetPseudoRandomGeneratorSeed(source.it, 10));
  MUST(curandGenerate(source.it, parts.data(), 1000));
  CHECK(whole.values() != parts.values());
}

TEST_CASE("cuRAND's wrong calls are refused") {
  const session s;
  void* generator = nullptr;
  CHECK(curandCreateGenerator(&generator, 200) == 103);  // quasi-random
  CHECK(curandCreateGenerator(nullptr, 100) == 103);
  CHECK(curandGenerate(nullptr, nullptr, 1) == 101);
  const random_source source(1);
  CHECK(curandGenerate(source.it, nullptr, 0) == 0);
  CHECK(curandGenerate(source.it, nullptr, 1) == 201);
}
