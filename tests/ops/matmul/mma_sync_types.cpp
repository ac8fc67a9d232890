// Matmul with the matrix instructions of a warp on f32 and on elements of 8 bits: exact on small integers,
// within the bounds of the rounded elements on random numbers.
#include "tests/ops/matmul/mma_sync_support.hpp"

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::ops;

TEST_CASE("mma matmul of f32 by tf32, in one and in three products", "[matmul]") {
  check_orders<tf32_product, f32>({{66, 70, 37}});
  check<small_cut(major::k, major::mn), tf32x3_product, f32>({66, 70, 37});
  check<small_cut(major::mn, major::k), tf32x3_product, f32>({30, 70, 64});
}

TEST_CASE("mma matmul of e4m3 and e5m2", "[matmul]") {
  constexpr auto async = copy_form::async, elements = copy_form::elements;
  check<small_cut(major::k, major::k, async, async, 64), e4m3_product, f32>({66, 70, 100});
  check<small_cut(major::k, major::mn, async, elements, 64), mixed_f8_product, bf16>({34, 70, 65});
  check<small_cut(major::mn, major::k, elements, copy_form::vectors, 64), mixed_f8_product, f32>(
      {34, 70, 48});
}

namespace {

// The greatest error of a product of random numbers, as a part of the sum of its terms' sizes.
template <class Product>
double greatest_error() {
  constexpr auto cut = small_cut(major::k, major::mn);
  const u32 m = 64, n = 64, k = 96;
  std::mt19937 engine(5);
  std::vector<f32> a(m * k), b(k * n);
  for (auto* x : {&a, &b})
    for (f32& e : *x) e = static_cast<f32>(static_cast<i32>(engine())) * 0x1p-31f;
  auto in_a = under_test().upload(a), in_b = under_test().upload(b);
  auto out_c = poisoned<f32>(m * n);
  const mma_sync_problem problem = mma_sync_problem_of<cut>(m, n, k);
  mma_sync_matmul<cut, Product, f32, identity>.launch(under_test().stream(), grid(problem.scheduler.tiles),
                                                      in_a, in_b, out_c, problem);
  const auto c = out_c.download();
  double greatest = 0;
  for (u32 row = 0; row < m; ++row)
    for (u32 column = 0; column < n; ++column) {
      double sum = 0, size = 0;
      for (u32 i = 0; i < k; ++i) {
        const double term = static_cast<double>(a[row * k + i]) * static_cast<double>(b[i * n + column]);
        sum += term;
        size += std::abs(term);
      }
      greatest = std::max(greatest, std::abs(static_cast<double>(c[row * n + column]) - sum) / size);
    }
  return greatest;
}

}  // namespace

TEST_CASE("one product of tf32 keeps 10 bits, three of them 20", "[matmul]") {
  const double once = greatest_error<tf32_product>(), thrice = greatest_error<tf32x3_product>();
  CAPTURE(once, thrice);
  REQUIRE(once <= 0x1p-10);
  REQUIRE(once >= 0x1p-14);  // it is tf32 that is multiplied
  REQUIRE(thrice <= 0x1p-20);
}

TEST_CASE("a NaN in an operand of f32 reaches its row", "[matmul]") {
  constexpr auto cut = small_cut(major::k, major::mn);
  const u32 size = 64;
  std::vector<f32> a(size * size, 1.0f), b(size * size, 1.0f);
  a[5 * size + 7] = std::bit_cast<f32>(0x7fffffffu);
  auto in_a = under_test().upload(a), in_b = under_test().upload(b);
  const mma_sync_problem problem = mma_sync_problem_of<cut>(size, size, size);
  const auto check_rows = [&](const auto& kernel) {
    auto out_c = poisoned<f32>(size * size);
    kernel.launch(under_test().stream(), grid(problem.scheduler.tiles), in_a, in_b, out_c, problem);
    const auto c = out_c.download();
    for (u32 i = 0; i < size * size; ++i) {
      CAPTURE(i / size, i % size);
      REQUIRE((i / size == 5 ? std::isnan(c[i]) : c[i] == 64.0f));
    }
  };
  check_rows(mma_sync_matmul<cut, tf32_product, f32, identity>);
  check_rows(mma_sync_matmul<cut, tf32x3_product, f32, identity>);
}
