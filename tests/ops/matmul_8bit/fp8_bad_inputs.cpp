// Bad input to matmul_fp8 is a typed error that names the argument, before anything runs.
#include "tests/ops/matmul_8bit/fp8_support.hpp"
#include "tests/ops/refusal.hpp"

#include <functional>
#include <limits>
#include <string>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct fixture {
  device& gpu = under_test();
  buffer<e4m3> a_memory = gpu.allocate<e4m3>(64 * 64), b_memory = gpu.allocate<e4m3>(64 * 64),
               bytes = gpu.allocate<e4m3>(64 * 64);
  std::vector<f32> poison = std::vector<f32>(64 * 64, 12345.0f);
  buffer<f32> c_memory = gpu.upload(poison), numbers = gpu.allocate<f32>(64);
  buffer<i32> integers = gpu.allocate<i32>(64 * 64);
  tensor_view<const e4m3, 2> a{a_memory, 32, 16}, b{b_memory, 16, 24};
  tensor_view<f32, 2> c{c_memory, 32, 24};
  tensor_view<e4m3, 2> c_e4m3{bytes, 32, 24};
  const stream& s = gpu.stream();

  tensor_view<const f32, 1> floats(std::size_t count) const { return {numbers, count}; }
  tensor_view<const f32, 2> matrix(std::size_t rows, std::size_t columns) const {
    return {numbers, rows, columns};
  }

  void refuses(const std::string& part, const std::function<void()>& f) {
    require_refusal(errc::invalid_argument, "kaio: matmul_fp8", part, f);
    s.synchronize();
    REQUIRE(same_bits(c_memory.download(), poison));
  }
  void refuses_with(const std::string& part, const matmul_fp8_options& options) {
    refuses(part, [&] { matmul_fp8(s, a, b, c, options); });
  }
};

}  // namespace

TEST_CASE("matmul_fp8: bad views", "[ops][fp8]") {
  fixture t;
  t.refuses("argument a is a null", [&] { matmul_fp8(t.s, tensor_view<const e4m3, 2>{}, t.b, t.c); });
  t.refuses("argument c is a null", [&] { matmul_fp8(t.s, t.a, t.b, tensor_view<f32, 2>{}); });
  t.refuses("the columns of a",
            [&] { matmul_fp8(t.s, t.a, tensor_view<const e4m3, 2>(t.b_memory, 17, 24), t.c); });
  t.refuses("one of the last two must be 1", [&] {
    matmul_fp8(t.s, t.a, tensor_view<const e4m3, 2>(t.b_memory, extents(16, 24), strides(48, 2)), t.c);
  });
  t.refuses("c", [&] { matmul_fp8(t.s, tensor_view<const e4m3, 2>(t.bytes, 32, 16), t.b, t.c_e4m3); });
  t.refuses("are not of e4m3 or e5m2", [&] { ops::matmul_fp8_warmup(t.gpu, t.c, t.b, t.c); });
  t.refuses("output c is of e5m2 or of integers",
            [&] { ops::matmul_fp8_warmup(t.gpu, t.a, t.b, tensor_view<i32, 2>(t.integers, 32, 24)); });
  // A column-major C is computed as its transpose; errors have the caller's names.
  const auto c = tensor_view<f32, 2>(t.c_memory, 24, 32).transposed();
  t.refuses("argument a", [&] { matmul_fp8(t.s, tensor_view<const e4m3, 2>(t.a_memory, 31, 16), t.b, c); });
  t.refuses("argument scale_a", [&] { matmul_fp8(t.s, t.a, t.b, c, {.scale_a = t.floats(24)}); });
  t.refuses("argument residual",
            [&] { matmul_fp8(t.s, t.a, t.b, c, {.residual = tensor_view<f32, 2>(t.numbers, 4, 4)}); });
  t.refuses("output c is column-major",
            [&] { matmul_fp8(t.s, t.a, t.b, c, {.groups_a = t.matrix(32, 1), .blocks_b = t.matrix(1, 1)}); });
}

TEST_CASE("matmul_fp8: bad options", "[ops][fp8]") {
  fixture t;
  t.refuses_with("argument scale_a", {.scale_a = t.floats(31)});
  t.refuses_with("argument scale_b", {.scale_b = t.floats(32)});
  t.refuses_with("scale_b is of 8-bit numbers or i32",
                 {.scale_b = tensor_view<const i32, 1>(t.integers, 24)});
  t.refuses_with("argument scale_a has 3 dimensions",
                 {.scale_a = tensor_view<const f32, 3>(t.numbers, 1, 1, 32)});
  t.refuses_with("argument scale_a", {.scale_a = tensor_view<const f32, 1>(t.c_memory, 32)});
  t.refuses_with("groups_a and blocks_b", {.groups_a = t.matrix(32, 1)});
  t.refuses_with("groups_a and blocks_b", {.blocks_b = t.matrix(1, 1)});
  t.refuses_with("argument groups_a", {.groups_a = t.matrix(31, 1), .blocks_b = t.matrix(1, 1)});
  t.refuses_with("one number for each 128 of K", {.groups_a = t.matrix(32, 2), .blocks_b = t.matrix(1, 1)});
  t.refuses_with("128 columns of b", {.groups_a = t.matrix(32, 1), .blocks_b = t.matrix(1, 2)});
  t.refuses_with("groups_a has 1 dimensions", {.groups_a = t.floats(32), .blocks_b = t.matrix(1, 1)});
  t.refuses_with("blocks_b is not of f32",
                 {.groups_a = t.matrix(32, 1), .blocks_b = tensor_view<const i32, 2>(t.integers, 1, 1)});
  t.refuses_with("argument groups_a",
                 {.groups_a = tensor_view<const f32, 2>(t.c_memory, 32, 1), .blocks_b = t.matrix(1, 1)});
  t.refuses_with("bias", {.bias = per_column(t.floats(32))});
  t.refuses_with("residual", {.residual = tensor_view<const f32, 2>(t.numbers, 4, 4)});
  t.refuses_with("out_scale", {.out_scale = 2});
  t.refuses_with("there is no variant", {.variant = "fastest"});
  for (const float scale : {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::nanf("")})
    t.refuses("out_scale", [&] { matmul_fp8(t.s, t.a, t.b, t.c_e4m3, {.out_scale = scale}); });
}
