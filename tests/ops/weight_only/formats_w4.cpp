// Numbers and blocks as the weights of matmul_w4.
#include "tests/ops/weight_only/formats_support.hpp"

#include <kaio/ops/weight_only/quantise_weights.hpp>

#include <algorithm>

using namespace kaio;
using namespace kaio::tests;

namespace {

std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

struct group_on_host {
  f32 scale = 1;
  int zero = 0;
  int code(f32 x) const {
    return static_cast<int>(std::clamp(std::nearbyint(x / scale + static_cast<f32>(zero)), -8.0f, 7.0f));
  }
};
template <class S>
group_on_host group_of(const std::vector<f32>& x, i64 first, i64 count, bool asymmetric) {
  f32 low = 0, high = 0;
  for (i64 i = first; i < first + count; ++i) {
    low = std::min(low, x[at(i)]);
    high = std::max(high, x[at(i)]);
  }
  group_on_host g;
  g.scale = static_cast<f32>(S(asymmetric ? (high - low) / 15 : std::max(-low, high) / 7.5f));
  if (g.scale == 0) g.scale = 1;
  if (asymmetric) g.zero = static_cast<int>(std::clamp(std::nearbyint(-8 - low / g.scale), -8.0f, 7.0f));
  return g;
}

// Quantised, repacked and dequantised: the exact products.
template <class T, class S>
void check_w4(i64 n, i64 k, i64 group, bool asymmetric, i64 pad) {
  CAPTURE(n, k, group, asymmetric, pad);
  std::mt19937_64 engine(static_cast<std::uint64_t>(n * k));
  std::normal_distribution<f32> normal(0.25f, 1);
  const i64 size = group == -1 ? k : group, groups = k / size;
  std::vector<T> numbers;
  for (i64 i = 0; i < n * (k + pad); ++i) numbers.push_back(from_float<T>(normal(engine)));
  std::vector<f32> rows;
  for (i64 r = 0; r < n; ++r)
    for (i64 c = 0; c < k; ++c) {
      T& number = numbers[at(r * (k + pad) + c)];
      if (r == 1 && c < size) number = from_float<T>(0.0f);  // a group of zeros
      if (r == 2 && c < size) number = from_float<T>(std::fabs(static_cast<f32>(number)));
      rows.push_back(static_cast<f32>(number));
    }
  auto x = upload(numbers);
  auto codes = upload(std::vector<i32>(at(n * ((k + 7) / 8)), -1));
  auto scales = upload(std::vector<S>(at(n * groups), S(-7.0f)));
  auto zeros = upload(std::vector<i32>(at((n + 7) / 8 * groups), -1));
  const tensor_view<i32, 2> packed(codes, n, (k + 7) / 8), of_zeros(zeros, (n + 7) / 8, groups);
  const tensor_view<S, 2> of_scales(scales, n, groups);
  w4_output to{.weight_packed = packed, .weight_scale = of_scales, .group = group};
  if (asymmetric) to.weight_zero_point = of_zeros;
  const stream& s = under_test().stream();
  quantise_weights(s, tensor_view<const T, 2>(x.view(), ops::extents<2>(n, k), ops::strides<2>(k + pad, 1)),
                   to);

  const std::vector<i32> got = codes.download(), got_zeros = zeros.download();
  const std::vector<S> got_scales = scales.download();
  std::vector<f32> want;
  for (i64 r = 0; r < n; ++r)
    for (i64 g = 0; g < groups; ++g) {
      const group_on_host one = group_of<S>(rows, r * k + g * size, size, asymmetric);
      CAPTURE(r, g);
      REQUIRE(static_cast<f32>(got_scales[at(r * groups + g)]) == one.scale);
      if (asymmetric)
        REQUIRE((static_cast<u32>(got_zeros[at(r / 8 * groups + g)]) >> 4 * (r % 8) & 15) ==
                static_cast<u32>(one.zero + 8));
      for (i64 c = g * size; c < (g + 1) * size; ++c) {
        const int code = one.code(rows[at(r * k + c)]);
        const u32 stored = static_cast<u32>(got[at(r * ((k + 7) / 8) + c / 8)]) >> 4 * (c % 8) & 15;
        if (stored != static_cast<u32>(code + 8)) {
          CAPTURE(c, rows[at(r * k + c)], code, stored);
          REQUIRE(stored == static_cast<u32>(code + 8));
        }
        want.push_back(static_cast<f32>(code - one.zero) * one.scale);
      }
    }
  if (!asymmetric) REQUIRE(std::all_of(got_zeros.begin(), got_zeros.end(), [](i32 z) { return z == -1; }));

  const w4_shape shape{.n = n,
                       .k = k,
                       .group = group,
                       .scales = std::is_same_v<S, f16> ? w4_scale_type::f16 : w4_scale_type::bf16,
                       .zero_points = asymmetric};
  auto memory = under_test().allocate<u8>(packed_bytes(shape));
  const w4_weights weights{shape, memory};
  compressed_tensors_w4 from{.weight_packed = packed, .weight_scale = of_scales};
  if (asymmetric) from.weight_zero_point = of_zeros;
  repack(s, from, weights);
  require_values(
      matrix_of<f32>(n, k, 0, 0, [&](const tensor_view<f32, 2>& out) { dequantise(s, weights, out); }), want);
}

}  // namespace

TEST_CASE("quantise_weights: codes of four bits in groups, as matmul_w4 reads them", "[ops][formats]") {
  for (const bool asymmetric : {false, true}) {
    check_w4<f32, f16>(11, 256, 128, asymmetric, 0);
    check_w4<bf16, bf16>(8, 96, 48, asymmetric, 8);
    check_w4<f16, f16>(3, 64, 16, asymmetric, 3);
    check_w4<f32, bf16>(5, 37, -1, asymmetric, 0);
    check_w4<f16, bf16>(4, 1040, -1, asymmetric, 0);
  }
}

TEST_CASE("repack: Q4_0 as the weights of matmul_w4", "[ops][formats]") {
  const stream& s = under_test().stream();
  for (const i64 n : {i64{5}, i64{64}}) {
    const i64 k = 160;
    auto bytes = upload(random_blocks(block_format::q4_0, at(n * k / 32), 21));
    const tensor_view<const u8, 1> view(bytes, n * k / 32 * 18);
    const w4_shape shape{.n = n, .k = k, .group = 32};
    auto memory = under_test().allocate<u8>(packed_bytes(shape));
    const w4_weights weights{shape, memory};
    repack(s, gguf_blocks{block_format::q4_0, view}, weights);
    const auto by_weights =
        matrix_of<f32>(n, k, 0, 0, [&](const tensor_view<f32, 2>& out) { dequantise(s, weights, out); });
    const auto by_blocks = matrix_of<f32>(
        n, k, 0, 0, [&](const tensor_view<f32, 2>& out) { dequantise(s, block_format::q4_0, view, out); });
    // The sign of zero is that of the product in both.
    REQUIRE(same_bits(by_weights, by_blocks));
  }
}

TEST_CASE("formats: weights of four bits, bad input", "[ops][formats]") {
  auto x = under_test().allocate<f32>(4096);
  auto words = under_test().allocate<i32>(512);
  auto scales = under_test().allocate<f16>(512);
  const stream& s = under_test().stream();
  const tensor_view<const f32, 2> w(x, 4, 64);
  const w4_output good{.weight_packed = tensor_view<i32, 2>(words, 4, 8),
                       .weight_scale = tensor_view<f16, 2>(scales, 4, 2),
                       .group = 32};
  const auto refuses = [&](const std::string& part, const w4_output& to) {
    require_refusal(errc::invalid_argument, "kaio: quantise_weights: ", part,
                    [&] { quantise_weights(s, w, to); });
  };
  w4_output to = good;
  to.group = 48;
  refuses("groups of 48", to);
  to.group = 16;
  refuses("argument weight_scale", to);
  to = good;
  to.weight_packed = tensor_view<i32, 2>(words, 4, 7);
  refuses("argument weight_packed", to);
  to = good;
  to.weight_zero_point = tensor_view<i32, 2>(words, 1, 2);
  refuses("weight_zero_point", to);

  auto memory = under_test().allocate<u8>(4096);
  auto bytes = under_test().allocate<u8>(4096);
  const auto refuses_repack = [&](const std::string& part, const w4_shape& shape, i64 size) {
    require_refusal(errc::invalid_argument, "kaio: repack: ", part, [&] {
      repack(s, gguf_blocks{block_format::q4_0, tensor_view<const u8, 1>(bytes, size)},
             w4_weights{shape, memory});
    });
  };
  refuses_repack("that of Q4_0", {.n = 4, .k = 64, .group = 64}, 144);
  refuses_repack("that of Q4_0", {.n = 4, .k = 64, .group = 32, .zero_points = true}, 144);
  refuses_repack("argument bytes", {.n = 4, .k = 64, .group = 32}, 126);
}
