// Matmul with the matrix instructions of a warp on elements of 16 bits, against a product in f64: every order
// and architecture, extents that no tile divides, leading dimensions, batches.
#include "tests/ops/matmul/mma_sync_support.hpp"

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::ops;

TEST_CASE("mma matmul of f16: every order, ragged extents, batches", "[matmul]") {
  check_orders<f16_product, f32>({{64, 64, 64}, {70, 50, 45}, {1, 3, 1}, {130, 66, 33, 2}, {5, 129, 0}});
}

TEST_CASE("mma matmul of bf16 rounds its sums to bf16", "[matmul]") {
  check<small_cut(major::k, major::mn, copy_form::async, copy_form::async, 64), bf16_product, bf16>(
      {65, 72, 100}, 0);
  check<small_cut(major::k, major::k, copy_form::async, copy_form::async, 64), bf16_product, f16>(
      {33, 20, 70}, 4);
}

TEST_CASE("mma matmul of f16 on sm_75 and sm_70", "[matmul]") {
  constexpr auto vectors = copy_form::vectors, elements = copy_form::elements;
  check<small_cut(major::k, major::mn, vectors, vectors), f16_product_sm75, f16>({66, 72, 40});
  check<small_cut(major::mn, major::k, elements, elements), f16_product_sm75, f32>({31, 70, 41});
  check<small_cut(major::k, major::k, vectors, vectors), f16_product_sm70<major::k, major::k>, f32>(
      {66, 70, 40});
  check<small_cut(major::k, major::mn, vectors, vectors), f16_product_sm70<major::k, major::mn>, f32>(
      {66, 72, 40});
  check<small_cut(major::mn, major::k, vectors, elements), f16_product_sm70<major::mn, major::k>, f32>(
      {72, 70, 37});
  check<small_cut(major::mn, major::mn, elements, elements), f16_product_sm70<major::mn, major::mn>, f32>(
      {65, 70, 37, 2});
}
