// Bad input to matmul_int8 is a typed error that names the argument, before anything runs.
#include "tests/ops/matmul_8bit/int8_support.hpp"
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
  buffer<i8> a_memory = gpu.allocate<i8>(64 * 64), b_memory = gpu.allocate<i8>(64 * 64);
  std::vector<f32> poison = std::vector<f32>(64 * 64, 12345.0f);
  buffer<f32> c_memory = gpu.upload(poison), numbers = gpu.allocate<f32>(64);
  buffer<i32> integers = gpu.allocate<i32>(64 * 64);
  buffer<i8> bytes = gpu.allocate<i8>(64 * 64);
  tensor_view<const i8, 2> a{a_memory, 32, 16}, b{b_memory, 16, 24};
  tensor_view<f32, 2> c{c_memory, 32, 24};
  tensor_view<i32, 2> c_i32{integers, 32, 24};
  tensor_view<i8, 2> c_i8{bytes, 32, 24};
  const stream& s = gpu.stream();

  tensor_view<const f32, 1> floats(std::size_t count) const { return {numbers, count}; }
  tensor_view<const i32, 1> whole(std::size_t count) const { return {integers, count}; }

  void refuses(const std::string& part, const std::function<void()>& f,
               const std::string& operation = "matmul_int8") {
    require_refusal(errc::invalid_argument, "kaio: " + operation, part, f);
    s.synchronize();
    REQUIRE(same_bits(c_memory.download(), poison));
  }
  void refuses_with(const std::string& part, const matmul_int8_options& options) {
    refuses(part, [&] { matmul_int8(s, a, b, c, options); });
  }
};

}  // namespace

TEST_CASE("matmul_int8: bad views", "[ops][int8]") {
  fixture t;
  t.refuses("argument a is a null", [&] { matmul_int8(t.s, tensor_view<const i8, 2>{}, t.b, t.c); });
  t.refuses("argument c is a null", [&] { matmul_int8(t.s, t.a, t.b, tensor_view<f32, 2>{}); });
  t.refuses("the columns of a",
            [&] { matmul_int8(t.s, t.a, tensor_view<const i8, 2>(t.b_memory, 17, 24), t.c); });
  t.refuses("argument a is column-major",
            [&] { matmul_int8(t.s, tensor_view<const i8, 2>(t.a_memory, 16, 32).transposed(), t.b, t.c); });
  t.refuses("output c is column-major",
            [&] { matmul_int8(t.s, t.a, t.b, tensor_view<f32, 2>(t.c_memory, 24, 32).transposed()); });
  t.refuses("one of the last two must be 1", [&] {
    matmul_int8(t.s, t.a, tensor_view<const i8, 2>(t.b_memory, extents(16, 24), strides(48, 2)), t.c);
  });
  t.refuses("c", [&] { matmul_int8(t.s, tensor_view<const i8, 2>(t.bytes, 32, 16), t.b, t.c_i8); });
  t.refuses("are not of i8", [&] { ops::matmul_int8_warmup(t.gpu, t.c, t.b, t.c); });
  t.refuses(
      "integers", [&] { ops::matmul_variants(t.s, t.a, t.b, t.c); }, "matmul");
}

TEST_CASE("matmul_int8: bad options", "[ops][int8]") {
  fixture t;
  t.refuses_with("argument scale_a", {.scale_a = t.floats(31)});
  t.refuses_with("argument scale_b", {.scale_b = t.floats(32)});
  t.refuses_with("scale_b is of 8-bit numbers or i32", {.scale_b = t.whole(24)});
  t.refuses_with("argument scale_a has 3 dimensions",
                 {.scale_a = tensor_view<const f32, 3>(t.numbers, 1, 1, 32)});
  t.refuses_with("argument scale_a", {.scale_a = tensor_view<const f32, 1>(t.c_memory, 32)});
  t.refuses_with("zero_a and column_sums", {.zero_a = t.whole(32)});
  t.refuses_with("zero_a and column_sums", {.column_sums = t.whole(24)});
  t.refuses_with("argument zero_a", {.zero_a = t.whole(24), .column_sums = t.whole(24)});
  t.refuses_with("argument column_sums", {.zero_a = t.whole(1), .column_sums = t.whole(1)});
  t.refuses_with("zero_a is not of i32", {.zero_a = t.floats(32), .column_sums = t.whole(24)});
  t.refuses_with("bias", {.bias = per_column(t.floats(32))});
  t.refuses_with("residual", {.residual = tensor_view<const f32, 2>(t.numbers, 4, 4)});
  t.refuses_with("out_scale", {.out_scale = 2});
  t.refuses_with("there is no variant", {.variant = "fastest"});
  for (const float scale : {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::nanf("")})
    t.refuses("out_scale", [&] { matmul_int8(t.s, t.a, t.b, t.c_i8, {.out_scale = scale}); });
  t.refuses("output c is of i32", [&] { matmul_int8(t.s, t.a, t.b, t.c_i32, {.alpha = 2}); });
  t.refuses("output c is of i32", [&] { matmul_int8(t.s, t.a, t.b, t.c_i32, {.scale_b = t.floats(1)}); });
}

TEST_CASE("int8_column_sums: bad views", "[ops][int8]") {
  fixture t;
  const std::string name = "int8_column_sums";
  t.refuses(
      "sums", [&] { int8_column_sums(t.s, t.b, tensor_view<i32, 1>(t.integers, 25)); }, name);
  t.refuses(
      "sums", [&] { int8_column_sums(t.s, t.b, tensor_view<i32, 1>(t.integers, extents(24), strides(0))); },
      name);
}
