// Quantisers on the device: the bytes of the formats' references.
#include "tests/ops/weight_only/formats_support.hpp"

#include <kaio/ops/weight_only/quantise_weights.hpp>

#include <algorithm>
#include <span>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
tensor_view<T, 1> line_of(buffer<T>& memory, i64 count) {
  return {memory.slice(0, static_cast<std::size_t>(count)), ops::extents<1>(count)};
}

std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

// Numbers of all magnitudes, a block of zeros among them.
template <class T>
std::vector<T> any_numbers(i64 count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<f32> normal(0, 1);
  std::vector<T> x;
  for (i64 i = 0; i < count; ++i)
    x.push_back(from_float<T>(
        i >= 64 && i < 128 ? 0.0f : normal(engine) * std::ldexp(1.0f, static_cast<int>(i / 256 % 12) - 6)));
  return x;
}

}  // namespace

TEST_CASE("quantise_weights: the reference's bytes of GGUF", "[ops][formats]") {
  auto x = upload(documented_inputs(256));
  auto bytes = upload(std::vector<u8>(272, 0xa5));
  const tensor_view<const f32, 2> w(x, 4, 64);
  const stream& s = under_test().stream();
  quantise_weights(s, w, block_format::q4_0, line_of(bytes, 144));
  const std::vector<u8> q4 = bytes.download();
  REQUIRE(crc32_of(std::vector<u8>(q4.begin(), q4.begin() + 144)) == 0xc3c24a4au);
  REQUIRE(std::all_of(q4.begin() + 144, q4.end(), [](u8 b) { return b == 0xa5; }));
  quantise_weights(s, w, block_format::q8_0, line_of(bytes, 272));
  REQUIRE(crc32_of(bytes.download()) == 0xacb519ffu);
  REQUIRE(crc32_of(matrix_of<f32>(4, 64, 0, 0, [&](const tensor_view<f32, 2>& out) {
            dequantise(s, block_format::q8_0, tensor_view<const u8, 1>(bytes, 272), out);
          })) == 0xc8bc7552u);
}

TEST_CASE("quantise_weights: the reference's bytes of nf4, fp4, MXFP4 and NVFP4", "[ops][formats]") {
  auto x = upload(documented_inputs(256));
  auto codes = upload(std::vector<u8>(128, 0xa5));
  auto absmax = upload(std::vector<f32>(4, -7.0f));
  const tensor_view<const f32, 2> w(x, 4, 64);
  const stream& s = under_test().stream();
  quantise_weights(s, w, bnb_4bit_output{.weight = line_of(codes, 128), .absmax = line_of(absmax, 4)});
  REQUIRE(crc32_of(codes.download()) == 0x5d3be1c4u);
  REQUIRE(absmax.download() == std::vector<f32>{3.125f, 3.0625f, 3.125f, 3.125f});
  REQUIRE(crc32_of(matrix_of<f32>(4, 64, 0, 0, [&](const tensor_view<f32, 2>& out) {
            dequantise(s, bnb_4bit{.weight = line_of(codes, 128), .absmax = line_of(absmax, 4)}, out);
          })) == 0xa8bc7844u);
  quantise_weights(
      s, w,
      bnb_4bit_output{.code = bnb_code::fp4, .weight = line_of(codes, 128), .absmax = line_of(absmax, 4)});
  REQUIRE(crc32_of(codes.download()) == 0x946ba227u);

  auto powers = upload(std::vector<u8>(8, 0xa5));
  const tensor_view<u8, 2> packed(codes, 4, 32);
  quantise_weights(s, w, mxfp4_output{.packed = packed, .scales = tensor_view<u8, 2>(powers, 4, 2)});
  REQUIRE(crc32_of(codes.download()) == 0xf07772efu);
  REQUIRE(powers.download() == std::vector<u8>(8, 126));

  auto scales = under_test().allocate<e4m3>(16);
  const auto scale_bytes = [&] {
    std::vector<u8> bytes;
    for (const e4m3 scale : scales.download()) bytes.push_back(scale.bits());
    return bytes;
  };
  nvfp4_output nv{.packed = packed, .scales = tensor_view<e4m3, 2>(scales, 4, 4)};
  quantise_weights(s, w, nv);
  REQUIRE(crc32_of(codes.download()) == 0x29f315b3u);
  std::vector<u8> one_level(16, 0x30);
  one_level[0] = 0x2f;
  REQUIRE(scale_bytes() == one_level);
  auto global = upload(std::vector<f32>{-7.0f});
  nv.global = line_of(global, 1);
  quantise_weights(s, w, nv);
  REQUIRE(crc32_of(codes.download()) == 0x78aa4f93u);
  REQUIRE(scale_bytes() ==
          std::vector<u8>{125, 126, 125, 126, 125, 126, 126, 125, 126, 126, 125, 126, 126, 125, 126, 125});
  REQUIRE(global.download()[0] == 0.0011625743936747313f);
}

TEMPLATE_TEST_CASE("quantise_weights: Q4_0 and Q8_0 of random numbers", "[ops][formats]", f32, f16, bf16) {
  const i64 n = 6, k = 96, pad = 5;
  const std::vector<TestType> numbers = any_numbers<TestType>(n * (k + pad), 1);
  auto x = upload(numbers);
  auto bytes = upload(std::vector<u8>(at(n * k / 32 * 34), 0xa5));
  const tensor_view<const TestType, 2> w(x.view(), ops::extents<2>(n, k), ops::strides<2>(k + pad, 1));
  for (const block_format format : {block_format::q4_0, block_format::q8_0}) {
    CAPTURE(std::string(ops::facts(format).name));
    std::vector<u8> want;
    for (i64 b = 0; b < n * k / 32; ++b) {
      f32 block[32], largest = 0;
      for (i64 e = 0; e < 32; ++e)
        block[e] = static_cast<f32>(numbers[at((b * 32 + e) / k * (k + pad) + (b * 32 + e) % k)]);
      for (const f32 v : block)
        if (std::fabs(v) > std::fabs(largest)) largest = v;
      const bool four = format == block_format::q4_0;
      const f32 d = four ? largest / -8 : std::fabs(largest) / 127, inverse = d != 0 ? 1 / d : 0;
      const u16 bits = f16(d).bits();
      want.push_back(static_cast<u8>(bits & 255u));
      want.push_back(static_cast<u8>(bits >> 8));
      const auto code = [&](i64 e) { return std::min(15, static_cast<int>(block[e] * inverse + 8.5f)); };
      for (i64 e = 0; e < (four ? 16 : 32); ++e)
        want.push_back(four ? static_cast<u8>(code(e) | code(e + 16) << 4)
                            : static_cast<u8>(static_cast<int>(std::round(block[e] * inverse))));
    }
    quantise_weights(under_test().stream(), w, format, line_of(bytes, i64(want.size())));
    std::vector<u8> got = bytes.download();
    got.resize(want.size());
    REQUIRE(got == want);
  }
}

TEMPLATE_TEST_CASE("quantise_weights: nf4 and fp4 by the nearest number", "[ops][formats]", f32, bf16) {
  struct shape {
    i64 n, k, blocksize;
  };
  const f32 bounds[] = {-0.8480964004993439f,   -0.6106329262256622f,  -0.4599952697753906f,
                        -0.33967943489551544f,  -0.23460740596055984f, -0.13791173323988914f,
                        -0.045525018125772476f, 0.03979014977812767f,  0.1202552504837513f,
                        0.2035212516784668f,    0.2920137718319893f,   0.3893125355243683f,
                        0.5016634166240692f,    0.6427869200706482f,   0.8614784181118011f};
  const f32 fp4_bounds[] = {0.00260417f, 0.0859375f, 0.20833333f, 0.29166667f,
                            0.4166667f,  0.583333f,  0.8333333f};
  const u8 fp4_codes[] = {0, 1, 6, 7, 4, 5, 2, 3};
  const auto below = [](f32 y, std::span<const f32> all) {
    u8 count = 0;
    for (const f32 bound : all) count = static_cast<u8>(count + (y > bound));
    return count;
  };
  for (const shape& s : {shape{3, 37, 64}, {2, 200, 64}, {1, 4500, 4096}, {5, 512, 512}, {1, 1, 32}})
    for (const bnb_code code : {bnb_code::nf4, bnb_code::fp4}) {
      CAPTURE(s.n, s.k, s.blocksize, static_cast<int>(code));
      const i64 elements = s.n * s.k, blocks = (elements + s.blocksize - 1) / s.blocksize;
      const std::vector<TestType> numbers = any_numbers<TestType>(elements, 2);
      std::vector<f32> want_absmax(at(blocks));
      for (i64 i = 0; i < elements; ++i) {
        f32& largest = want_absmax[at(i / s.blocksize)];
        largest = std::max(largest, std::fabs(static_cast<f32>(numbers[at(i)])));
      }
      std::vector<u8> want(at((elements + 1) / 2));
      for (i64 i = 0; i < elements + elements % 2; ++i) {
        const f32 number = i < elements ? static_cast<f32>(numbers[at(i)]) : 0.0f;
        const f32 y = number * (1 / want_absmax[at(std::min(i, elements - 1) / s.blocksize)]);
        const u8 q = code == bnb_code::nf4
                         ? below(y, bounds)
                         : static_cast<u8>(fp4_codes[below(std::fabs(y), fp4_bounds)] + (y < 0 ? 8 : 0));
        want[at(i / 2)] = static_cast<u8>(want[at(i / 2)] | q << (i % 2 == 0 ? 4 : 0));
      }
      auto x = upload(numbers);
      auto codes = upload(std::vector<u8>(want.size(), 0xa5));
      auto absmax = upload(std::vector<f32>(at(blocks), -7.0f));
      quantise_weights(under_test().stream(), tensor_view<const TestType, 2>(x, s.n, s.k),
                       bnb_4bit_output{.code = code,
                                       .weight = line_of(codes, i64(want.size())),
                                       .absmax = line_of(absmax, blocks),
                                       .blocksize = s.blocksize});
      REQUIRE(absmax.download() == want_absmax);
      REQUIRE(codes.download() == want);
    }
}

TEST_CASE("quantise_weights: E2M1 ties, signs and blocks that are not finite", "[ops][formats]") {
  // A block whose scale is 1, each bound and the numbers next to it.
  std::vector<f32> numbers(96);
  const f32 bounds[] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
  std::vector<u8> want;
  for (u32 i = 0; i < 7; ++i) {
    numbers[4 * i] = bounds[i];
    numbers[4 * i + 1] = -bounds[i];
    numbers[4 * i + 2] = std::nextafter(bounds[i], 9.0f);
    numbers[4 * i + 3] = std::nextafter(bounds[i], 0.0f);
    const u32 tie = (i + 1) / 2 * 2;
    for (const u32 code : {tie, tie + 8, i + 1, i}) want.push_back(static_cast<u8>(code));
  }
  numbers[28] = 6;
  numbers[29] = -6.9f;
  numbers[30] = -0.0f;
  for (const u32 code : {7u, 15u, 8u, 0u}) want.push_back(static_cast<u8>(code));
  numbers[40] = std::numeric_limits<f32>::infinity();
  numbers[70] = std::ldexp(1.0f, -140);
  auto x = upload(numbers);
  auto codes = upload(std::vector<u8>(48, 0xa5));
  auto scales = upload(std::vector<u8>(3, 0xa5));
  quantise_weights(
      under_test().stream(), tensor_view<const f32, 2>(x, 1, 96),
      mxfp4_output{.packed = tensor_view<u8, 2>(codes, 1, 48), .scales = tensor_view<u8, 2>(scales, 1, 3)});
  const std::vector<u8> got = codes.download();
  for (std::size_t i = 0; i < 32; ++i) {
    CAPTURE(i, numbers[i]);
    REQUIRE((got[i / 2] >> 4 * (i % 2) & 15) == want[i]);
  }
  REQUIRE(scales.download() == std::vector<u8>{127, 255, 0});
}

TEST_CASE("quantise_weights: bad input", "[ops][formats]") {
  auto x = under_test().allocate<f32>(4096);
  auto bytes = under_test().allocate<u8>(4096);
  auto floats = under_test().allocate<f32>(64);
  auto small = under_test().allocate<e4m3>(64);
  const stream& s = under_test().stream();
  const tensor_view<const f32, 2> w(x, 2, 96);
  const auto refuses = [&](const std::string& part, const std::function<void()>& f) {
    require_refusal(errc::invalid_argument, "kaio: quantise_weights: ", part, f);
  };
  refuses("Q4_K cannot be written", [&] { quantise_weights(s, w, block_format::q4_k, line_of(bytes, 144)); });
  refuses("argument bytes", [&] { quantise_weights(s, w, block_format::q4_0, line_of(bytes, 109)); });
  refuses("rows of 48", [&] {
    quantise_weights(s, tensor_view<const f32, 2>(x, 2, 48), block_format::q8_0, line_of(bytes, 102));
  });
  refuses("argument absmax", [&] {
    quantise_weights(s, w, bnb_4bit_output{.weight = line_of(bytes, 96), .absmax = line_of(floats, 4)});
  });
  refuses("blocksize is 16", [&] {
    quantise_weights(
        s, w, bnb_4bit_output{.weight = line_of(bytes, 96), .absmax = line_of(floats, 12), .blocksize = 16});
  });
  refuses("gaps between its rows", [&] {
    quantise_weights(s, tensor_view<const f32, 2>(x.view(), ops::extents<2>(2, 96), ops::strides<2>(100, 1)),
                     bnb_4bit_output{.weight = line_of(bytes, 96), .absmax = line_of(floats, 3)});
  });
  refuses("argument scales", [&] {
    quantise_weights(s, w,
                     nvfp4_output{.packed = tensor_view<u8, 2>(bytes, 2, 48),
                                  .scales = tensor_view<e4m3, 2>(small, 2, 3)});
  });
}
