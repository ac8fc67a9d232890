// matmul_w4: NaN and infinities reach their own rows alone, and every run gives the same bits; tensors of
// files may be parts of larger ones.
#include "tests/ops/weight_only/support.hpp"

#include <limits>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct one_product {
  i64 n, k, m;
  w4_model<f16> model;
  w4_on_device<f16> w;
  std::vector<f16> x;

  one_product(i64 in_m, const w4_shape& shape)
      : n(shape.n), k(shape.k), m(in_m), model(w4_model<f16>::random(shape, 5)), w(model, w4_format::gptq) {
    std::mt19937_64 engine(3);
    std::uniform_real_distribution<float> any(-1, 1);
    for (i64 i = 0; i < m * k; ++i) x.push_back(f16(any(engine)));
  }
  std::vector<f32> run(i64 parts) const {
    buffer<f16> x_memory = under_test().upload(x);
    buffer<f32> y_memory = under_test().allocate<f32>(static_cast<std::size_t>(m * n));
    buffer<u8> workspace = under_test().allocate<u8>(65536);
    matmul_w4(under_test().stream(), tensor_view<const f16, 2>(x_memory, m, k), w.weights(),
              tensor_view<f32, 2>(y_memory, m, n),
              {.workspace = workspace, .splits = static_cast<u32>(parts)});
    return y_memory.download();
  }
};

}  // namespace

TEST_CASE("matmul_w4: NaN and infinities reach their own rows alone", "[ops][w4]") {
  one_product p(5, {.n = 40, .k = 144, .group = 48, .zero_points = true});
  const std::vector<f32> plain = p.run(1);
  p.x[1 * 144 + 143] = f16(std::numeric_limits<float>::quiet_NaN());
  p.x[3 * 144] = f16(std::numeric_limits<float>::infinity());
  const std::vector<f32> got = p.run(1);
  for (std::size_t r = 0; r < 5; ++r)
    for (std::size_t c = 0; c < 40; ++c) {
      const f32 y = got[r * 40 + c];
      CAPTURE(r, c, y);
      if (r == 1) REQUIRE(std::isnan(y));
      if (r == 3) REQUIRE(!std::isfinite(y));
      if (r != 1 && r != 3) REQUIRE(y == plain[r * 40 + c]);
    }
}

// Sums of whole numbers that f32 has, by 1 and by 2^-24, the least f16.
template <class T>
static void check_exact_sums(i64 m, bool zero_points) {
  const w4_shape shape{.n = 72, .k = 320, .group = 64, .zero_points = zero_points};
  w4_model<f16> model = w4_model<f16>::random(shape, 7);
  for (f16& scale : model.scales) scale = f16(0.5f);
  const w4_on_device<f16> w(model, w4_format::gptq_v2);
  std::mt19937_64 engine(static_cast<std::uint64_t>(m));
  std::vector<T> x;
  for (i64 i = 0; i < m * shape.k; ++i) {
    const float whole = static_cast<float>(engine() % 255) - 127.0f;
    x.push_back(T(i / shape.k % 2 == 0 ? whole : whole * 0x1p-24f));
  }
  buffer<T> x_memory = upload(x);
  buffer<f32> y_memory = under_test().allocate<f32>(static_cast<std::size_t>(m * shape.n));
  buffer<u8> workspace = under_test().allocate<u8>(65536);
  matmul_w4(under_test().stream(), tensor_view<const T, 2>(x_memory, m, shape.k), w.weights(),
            tensor_view<f32, 2>(y_memory, m, shape.n), {.workspace = workspace});
  const std::vector<f32> y = y_memory.download();
  for (i64 r = 0; r < m; ++r)
    for (i64 column = 0; column < shape.n; ++column) {
      double exact = 0;
      for (i64 k = 0; k < shape.k; ++k)
        exact += to_double(x[static_cast<std::size_t>(r * shape.k + k)]) * model.weight(k, column);
      CAPTURE(m, r, column);
      REQUIRE(to_double(y[static_cast<std::size_t>(r * shape.n + column)]) == exact);
    }
}

TEST_CASE("matmul_w4: sums that f32 has are exact, of subnormal x too", "[ops][w4]") {
  for (const i64 m : {2, 8, 15, 20})
    for (const bool zero_points : {false, true}) {
      check_exact_sums<f16>(m, zero_points);
      check_exact_sums<bf16>(m, zero_points);
    }
}

TEST_CASE("matmul_w4: the same bits in every run, whatever other rows there are", "[ops][w4]") {
  one_product p(7, {.n = 72, .k = 448, .group = 64, .zero_points = true, .act_order = true});
  const std::vector<f32> first = p.run(3);
  REQUIRE(same_bits(p.run(3), first));
  p.m = 3;  // the same kernel: rows of 8
  p.x.resize(3 * 448);
  const std::vector<f32> fewer = p.run(3);
  REQUIRE(same_bits(fewer, std::vector<f32>(first.begin(), first.begin() + 3 * 72)));
}

TEST_CASE("w4: tensors that are columns of fused ones", "[ops][w4]") {
  // Two layers side by side along n, as of a fused gate and up projection; words of u32.
  const w4_model<f16> both = w4_model<f16>::random({.n = 48, .k = 64, .group = 32, .zero_points = true}, 11);
  const w4_file<f16> file(both, w4_format::gptq_v2);
  buffer<u32> words = upload(std::vector<u32>(file.words.begin(), file.words.end()));
  buffer<i32> zeros = upload(file.zeros);
  buffer<f16> scales = upload(file.scales);
  const w4_shape shape{.n = 16, .k = 64, .group = 32, .zero_points = true};
  buffer<u8> memory = under_test().allocate<u8>(packed_bytes(shape));
  const stream& s = under_test().stream();
  const w4_weights w{shape, memory};
  repack(s,
         gptq_w4{.qweight = tensor_view<const u32, 2>(words, 8, 48).slice(1, 32, 16),
                 .qzeros = tensor_view<const i32, 2>(zeros, 2, 6).slice(1, 4, 2),
                 .scales = tensor_view<const f16, 2>(scales, 2, 48).slice(1, 32, 16),
                 .v2 = true},
         w);
  buffer<f32> matrix = under_test().upload(std::vector<f32>(16 * 80, -1.0f));
  dequantise(s, w, tensor_view<f32, 2>(matrix, extents(16, 64), strides(80, 1)));
  const std::vector<f32> got = matrix.download();
  for (std::size_t n = 0; n < 16; ++n)
    for (std::size_t k = 0; k < 80; ++k)
      REQUIRE(to_double(got[n * 80 + k]) ==
              (k < 64 ? both.weight(static_cast<i64>(k), static_cast<i64>(n) + 32) : -1.0));
}
