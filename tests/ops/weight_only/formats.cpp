// Weights of four bits as files have them: bytes and values by the CRCs of the reference packers, and each
// weight is the exact product rounded once.
#include "tests/ops/weight_only/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// q = (7k + 3n + (k n) % 5) % 16, z = 1 + (5g + 3n) % 15, s = (1 + ((3g + n) % 8) / 8) / 64,
// g_idx = (37k % K) / 32.
w4_model<f16> reference_model(bool ordered) {
  w4_model<f16> m;
  m.shape = {.n = 128, .k = 128, .group = 32, .zero_points = true, .act_order = ordered};
  for (u32 k = 0; k < 128; ++k) {
    for (u32 n = 0; n < 128; ++n) m.codes.push_back((7 * k + 3 * n + k * n % 5) % 16);
    m.order.push_back(static_cast<i32>(37 * k % 128 / 32));
  }
  for (u32 g = 0; g < 4; ++g)
    for (u32 n = 0; n < 128; ++n) {
      m.zeros.push_back(1 + (5 * g + 3 * n) % 15);
      m.scales.push_back(f16((1.0f + static_cast<float>((3 * g + n) % 8) / 8.0f) / 64.0f));
    }
  return m;
}

template <class T, class S>
void require_weights(const w4_model<S>& m, w4_format format) {
  CAPTURE(m.n(), m.k(), m.shape.group, static_cast<int>(format));
  const std::vector<T> got = dequantised<T>(w4_on_device<S>(m, format));
  for (i64 k = 0; k < m.k(); ++k)
    for (i64 n = 0; n < m.n(); ++n) {
      const T want = from_float<T>(static_cast<float>(m.weight(k, n)));  // exact in f32
      if (to_double(got[static_cast<std::size_t>(k * m.n() + n)]) == to_double(want)) continue;
      CAPTURE(k, n);
      REQUIRE(to_double(got[static_cast<std::size_t>(k * m.n() + n)]) == to_double(want));
    }
}

}  // namespace

TEST_CASE("w4: GPTQ's bytes and values", "[ops][w4]") {
  const w4_model<f16> m = reference_model(true);
  const w4_file<f16> v1(m, w4_format::gptq), v2(m, w4_format::gptq_v2);
  REQUIRE(crc32_of(v1.words) == 0xe79cdbbbu);
  REQUIRE(crc32_of(v1.zeros) == 0x08f349b3u);
  REQUIRE(crc32_of(v2.zeros) == 0x204b78d5u);
  REQUIRE(crc32_of(dequantised<f16>(w4_on_device<f16>(m, w4_format::gptq))) == 0xd37080c2u);
  REQUIRE(crc32_of(dequantised<f16>(w4_on_device<f16>(m, w4_format::gptq_v2))) == 0xd37080c2u);
  REQUIRE(crc32_of(dequantised<f16>(w4_on_device<f16>(m, w4_format::compressed_tensors))) == 0xd37080c2u);
}

TEST_CASE("w4: AWQ's and compressed-tensors' bytes and values", "[ops][w4]") {
  const w4_model<f16> m = reference_model(false);
  const w4_file<f16> awq(m, w4_format::awq), compressed(m, w4_format::compressed_tensors);
  REQUIRE(crc32_of(awq.words) == 0xa8803423u);
  REQUIRE(crc32_of(awq.zeros) == 0xfc54739eu);
  REQUIRE(crc32_of(compressed.words) == 0xed612eefu);
  REQUIRE(crc32_of(compressed.zeros) == 0x3932ab29u);
  for (const w4_format format : {w4_format::awq, w4_format::compressed_tensors, w4_format::gptq})
    REQUIRE(crc32_of(dequantised<f16>(w4_on_device<f16>(m, format))) == 0xe8b8ce1du);
}

TEST_CASE("w4: weights are exact in every format, of any extents", "[ops][w4]") {
  std::uint64_t seed = 7;
  for (const w4_format format :
       {w4_format::gptq, w4_format::gptq_v2, w4_format::awq, w4_format::compressed_tensors, w4_format::kaio})
    for (const auto& [n, k, group] :
         {std::tuple{1, 16, 16}, std::tuple{33, 80, 16}, std::tuple{31, 65, -1}, std::tuple{8, 128, 128},
          std::tuple{70, 144, 48}, std::tuple{40, 224, 128}, std::tuple{33, 85, 16}, std::tuple{9, 64, 96}}) {
      const bool orders = format != w4_format::awq && format != w4_format::kaio;
      const w4_shape shape{.n = n,
                           .k = k,
                           .group = group,
                           .zero_points = format != w4_format::kaio && seed % 3 != 0,
                           .act_order = orders && seed % 4 == 1};
      require_weights<f32>(w4_model<f16>::random(shape, ++seed), format);
      require_weights<bf16>(w4_model<bf16>::random(shape, ++seed), format);
    }
}

TEST_CASE("w4: a GPTQ index without an order is that of the file", "[ops][w4]") {
  w4_model<f16> m = w4_model<f16>::random({.n = 24, .k = 96, .group = 32, .act_order = true}, 3);
  for (const i32 all : {0, -1}) {
    std::fill(m.order.begin(), m.order.end(), all);
    const std::vector<f32> got = dequantised<f32>(w4_on_device<f16>(m, w4_format::gptq));
    for (i64 k = 0; k < 96; ++k)
      for (i64 n = 0; n < 24; ++n)
        REQUIRE(to_double(got[static_cast<std::size_t>(k * 24 + n)]) ==
                to_double(m.scales[m.fact(k / 32, n)]) * (static_cast<double>(m.code(k, n)) - 8));
  }
}
