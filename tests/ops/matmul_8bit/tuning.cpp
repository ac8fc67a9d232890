// The tuners of the products of 8 bits measure all kernels of a call on memory of their own, and later calls take the
// fastest.
#include <kaio/ops/tune.hpp>

#include "tests/ops/matmul_8bit/fp8_support.hpp"
#include "tests/ops/matmul_8bit/int8_support.hpp"
#include "tests/ops/tune_support.hpp"

#include <string>

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("tune_matmul_int8: every option of a call, without touching its data", "[ops][int8][tune]") {
  const own_cache cache;
  device& gpu = under_test();
  const stream& s = gpu.stream();
  constexpr u32 m = 40, n = 48, k = 64;
  const std::vector<i8> numbers(m * k, i8{3});
  auto a = upload(numbers), b = gpu.allocate<i8>(n * k), c = gpu.allocate<i8>(m * n);
  auto scales = gpu.allocate<f32>(n), bias = gpu.allocate<f32>(n);
  auto residual = gpu.allocate<bf16>(m * n);
  auto zeros = gpu.allocate<i32>(m), sums = gpu.allocate<i32>(n);
  const tensor_view<const i8, 2> x(a, m, k);
  const auto w = tensor_view<const i8, 2>(b, n, k).transposed();
  const tensor_view<i8, 2> y(c, m, n);
  const matmul_int8_options options{.scale_a = tensor_view<const f32, 1>(scales, m),
                                    .scale_b = tensor_view<const f32, 1>(scales, n),
                                    .zero_a = tensor_view<const i32, 1>(zeros, m),
                                    .column_sums = tensor_view<const i32, 1>(sums, n),
                                    .bias = per_column(tensor_view<const f32, 1>(bias, n)),
                                    .residual = tensor_view<const bf16, 2>(residual, m, n),
                                    .out_scale = 2};
  const std::string before(ops::matmul_int8_choice(s, x, w, y, options).name);
  const ops::tune_report report = ops::tune_matmul_int8(gpu, x, w, y, options, {.repetitions = 1});
  REQUIRE(report.variant_before == before);
  REQUIRE(report.saved);
  REQUIRE(has(report, before));
  REQUIRE(report.entries.front().variant == report.variant);
  REQUIRE(a.download() == numbers);
  REQUIRE(c.download() == std::vector<i8>(m * n));  // as it was allocated
  std::size_t runs = 0;
  for (const auto& v : ops::matmul_int8_variants(s, x, w, y, options)) runs += v.refusal.empty();
  REQUIRE(report.entries.size() == runs);
  REQUIRE(ops::matmul_int8_choice(s, x, w, y, options).name == report.variant);
  ops::forget_tuning();  // another process would read the file
  REQUIRE(ops::matmul_int8_choice(s, x, w, y, options).name == report.variant);

  // A remembered variant is taken, even the slowest one; another shape does not take it.
  const std::string slowest = report.entries.back().variant;
  const std::string other(ops::matmul_int8_choice(s, x, w, y, {}).name);
  REQUIRE(ops::matmul_int8_choice(s, x, w, y, {.variant = slowest}).name == slowest);
  REQUIRE(ops::matmul_int8_choice(s, x, w, y, {}).name == other);
  check_int8<bf16>({1, m, n, k}, {false, true, false}, {});
  REQUIRE_THROWS_AS(ops::tune_matmul_int8(gpu, x, x, y), invalid_argument);
}

TEST_CASE("tune_matmul_fp8: plain, groups and operands of two types are apart", "[ops][fp8][tune]") {
  const own_cache cache;
  device& gpu = under_test();
  const stream& s = gpu.stream();
  const shape of{1, 40, 144, 256};
  const auto tuned = [&](auto& x) {
    using x_type = std::remove_reference_t<decltype(x)>;
    const auto a = view_of<const typename x_type::a_type>(x.da, x.a);
    const auto b = view_of<const typename x_type::b_type>(x.db, x.b);
    const auto c = view_of<f16>(x.dc, x.c);
    const std::string before(ops::matmul_fp8_choice(s, a, b, c, x.options).name);
    const auto report = ops::tune_matmul_fp8(gpu, a, b, c, x.options, {.repetitions = 1});
    REQUIRE(report.variant_before == before);
    REQUIRE(has(report, before));
    REQUIRE(report.entries.size() == x.variants().size());
    REQUIRE(ops::matmul_fp8_choice(s, a, b, c, x.options).name == report.variant);
    REQUIRE(same_bits(x.dc.download(), x.c.host));
    // The call itself takes it, and is right.
    check_fp8<f16, typename x_type::a_type, typename x_type::b_type>(of, fp8_aligned(of), x.what);
    return report;
  };
  fp8_case<e4m3, e4m3, f16> plain(of, fp8_aligned(of), {.bias = true, .residual = true});
  fp8_case<e4m3, e4m3, f16> groups(of, fp8_aligned(of), {.groups = true});
  fp8_case<e4m3, e5m2, f16> mixed(of, fp8_aligned(of), {});
  const auto of_plain = tuned(plain), of_groups = tuned(groups), of_mixed = tuned(mixed);
  // Each is remembered by itself.
  const auto chosen = [&](auto& x) {
    using x_type = std::remove_reference_t<decltype(x)>;
    return ops::matmul_fp8_choice(s, view_of<const typename x_type::a_type>(x.da, x.a),
                                  view_of<const typename x_type::b_type>(x.db, x.b), view_of<f16>(x.dc, x.c),
                                  x.options)
        .name;
  };
  REQUIRE(chosen(plain) == of_plain.variant);
  REQUIRE(chosen(groups) == of_groups.variant);
  REQUIRE_FALSE(of_mixed.entries.empty());
}
