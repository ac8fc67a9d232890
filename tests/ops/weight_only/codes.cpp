// nf4, fp4, MXFP4 and NVFP4: bytes and values of the reference quantisers by their CRCs, nested scales bit for
// bit, and products against double precision.
#include "tests/ops/matmul_8bit/dynamic_map.hpp"
#include "tests/ops/refusal.hpp"
#include "tests/ops/weight_only/codes_support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// x[i] = ((37 i + 11) % 101 - 50) / 16.
float reference_input(std::size_t i) {
  return static_cast<float>(static_cast<int>((37 * i + 11) % 101) - 50) / 16;
}

// 256 numbers as 4 x 64, each code what `code` gives for x / scale.
template <class Code>
byte_model quantised(w4_codes type, i64 group, const std::function<float(float)>& scale_of,
                     const Code& code) {
  byte_model m = byte_model::random(type, {.n = 4, .k = 64, .group = group}, 1);
  const auto size = static_cast<std::size_t>(group);
  for (std::size_t first = 0; first < 256; first += size) {
    float most = 0;
    for (std::size_t i = first; i < first + size; ++i) most = std::max(most, std::abs(reference_input(i)));
    const float scale = scale_of(most);
    m.scales[first / size] = scale;
    if (m.shape.scales == w4_scale_type::e8m0)
      m.scale_bytes[first / size] = static_cast<u8>(std::ilogb(scale) + 127);
    for (u32 byte = 0; byte < 127 && m.shape.scales == w4_scale_type::e4m3; ++byte)
      if (number_of_e4m3(byte) == scale) m.scale_bytes[first / size] = static_cast<u8>(byte);
    for (std::size_t i = first; i < first + size; ++i)
      m.codes[i] = static_cast<u8>(code(reference_input(i), scale));
  }
  return m;
}
u32 nf4_code(float x, float scale) {
  constexpr float bounds[] = {-0.8480964004993439f,   -0.6106329262256622f,  -0.4599952697753906f,
                              -0.33967943489551544f,  -0.23460740596055984f, -0.13791173323988914f,
                              -0.045525018125772476f, 0.03979014977812767f,  0.1202552504837513f,
                              0.2035212516784668f,    0.2920137718319893f,   0.3893125355243683f,
                              0.5016634166240692f,    0.6427869200706482f,   0.8614784181118011f};
  const float y = x * (1 / scale);
  return static_cast<u32>(
      std::count_if(std::begin(bounds), std::end(bounds), [&](float b) { return y > b; }));
}
u32 fp4_code(float x, float scale) {
  constexpr float bounds[] = {0.00260417f, 0.0859375f, 0.20833333f, 0.29166667f,
                              0.4166667f,  0.583333f,  0.8333333f};
  constexpr u32 codes[] = {0, 1, 6, 7, 4, 5, 2, 3};
  const float y = x * (1 / scale);
  const auto above =
      std::count_if(std::begin(bounds), std::end(bounds), [&](float b) { return std::abs(y) > b; });
  return codes[above] + (y < 0 ? 8 : 0);
}
u32 e2m1_code(float x, float scale) {
  const float y = x / scale;
  u32 best = 0;
  for (u32 code = 1; code < 8; ++code) {
    const float further = std::abs(std::abs(y) - ops::e2m1_numbers[code]),
                so_far = std::abs(std::abs(y) - ops::e2m1_numbers[best]);
    if (further < so_far || (further == so_far && code % 2 == 0)) best = code;
  }
  return best + (std::signbit(x) ? 8 : 0);
}

template <class T>
std::vector<T> matrix_of(const byte_weights& w) {
  buffer<T> memory = under_test().allocate<T>(static_cast<std::size_t>(w.shape.n * w.shape.k));
  dequantise(under_test().stream(), w.weights(), tensor_view<T, 2>(memory, w.shape.n, w.shape.k));
  return memory.download();
}
// Each weight bit for bit.
void require_matrix(const byte_model& m) {
  const std::vector<f32> got = matrix_of<f32>(byte_weights(m));
  for (i64 row = 0; row < m.n(); ++row)
    for (i64 column = 0; column < m.k(); ++column) {
      const f32 want = m.weight(row, column), came = got[static_cast<std::size_t>(row * m.k() + column)];
      if (came == want) continue;
      CAPTURE(row, column);
      REQUIRE(came == want);
    }
}

template <class T, class Out>
void check_codes(const byte_model& m, product_call c, i64 parts = 0, std::string_view variant = {}) {
  if (is_without_bf16_products<T>(variant)) return;
  const byte_weights w(m);
  CAPTURE(static_cast<int>(m.shape.codes), m.shape.group, parts);
  // Numbers of nf4 are rounded to the type of x. The variant with a matrix rounds every weight.
  if (m.shape.codes == w4_codes::nf4 || !variant.empty())
    c.rounded = std::is_same_v<T, f16> ? 0x1p-11 : 0x1p-8;
  check_w_product<T, Out>(
      c, m.n(), m.k(), [&](i64 row, i64 column) { return m.weight(row, column); },
      [&](const auto& x, const auto& y, const ops::any_view& bias) {
        const stream& s = under_test().stream();
        matmul_w4_options options{.bias = bias, .splits = static_cast<u32>(parts), .variant = variant};
        const std::uint64_t bytes = matmul_w4_workspace_bytes(s, x, w.weights(), options);
        buffer<u8> workspace = under_test().upload(std::vector<u8>(std::max<std::uint64_t>(bytes, 1), 0xff));
        if (bytes != 0) options.workspace = workspace;
        matmul_w4(s, x, w.weights(), y, options);
      });
}

}  // namespace

TEST_CASE("w4: nf4 and fp4 of bitsandbytes", "[ops][w4][codes]") {
  const auto most = [](float x) { return x; };
  const byte_model nf4 = quantised(w4_codes::nf4, 64, most, nf4_code);
  REQUIRE(nf4.scales == std::vector<f32>{3.125f, 3.0625f, 3.125f, 3.125f});
  REQUIRE(crc32_of(nf4.bytes()) == 0x5d3be1c4u);
  REQUIRE(crc32_of(matrix_of<f32>(byte_weights(nf4))) == 0xa8bc7844u);
  const byte_model fp4 = quantised(w4_codes::fp4, 64, most, fp4_code);
  REQUIRE(crc32_of(fp4.bytes()) == 0x946ba227u);
  require_matrix(fp4);
}

TEST_CASE("w4: MXFP4 and NVFP4", "[ops][w4][codes]") {
  const byte_model mx = quantised(
      w4_codes::e2m1, 32, [](float most) { return std::exp2(std::floor(std::log2(most)) - 2); }, e2m1_code);
  REQUIRE(mx.scale_bytes == std::vector<u8>(8, 126));
  REQUIRE(crc32_of(mx.bytes()) == 0xf07772efu);
  require_matrix(mx);
  const auto to_e4m3 = [](float x) { return static_cast<float>(e4m3(x)); };
  const byte_model one = quantised(
      w4_codes::e2m1, 16, [&](float most) { return to_e4m3(most / 6); }, e2m1_code);
  REQUIRE(one.scale_bytes[0] == 0x2f);
  REQUIRE(crc32_of(one.bytes()) == 0x29f315b3u);
  require_matrix(one);
  const float t = 3.125f / (448 * 6);
  byte_model two = quantised(
      w4_codes::e2m1, 16, [&](float most) { return to_e4m3(most / 6 / t); },
      [&](float x, float scale) { return e2m1_code(x * (1 / t / scale), 1); });
  two.shape.factors = true;
  two.factors = std::vector<f32>(4, t);
  REQUIRE(two.scale_bytes[0] == 0x7d);
  REQUIRE(crc32_of(two.bytes()) == 0x78aa4f93u);
  require_matrix(two);
}

TEST_CASE("w4: every scale of MXFP4 and NVFP4, and any extents", "[ops][w4][codes]") {
  for (const i64 group : {16, 32}) {
    byte_model m = byte_model::random(w4_codes::e2m1, {.n = 37, .k = group * 7, .group = group}, 5);
    for (std::size_t i = 0; i < m.scale_bytes.size(); ++i)
      m.scale_bytes[i] = static_cast<u8>(i % (group == 16 ? 127 : 253));
    require_matrix(m);
  }
  require_matrix(byte_model::random(w4_codes::nf4, {.n = 3, .k = 256, .group = 128}, 2));
}

TEST_CASE("w4: nested scales of bitsandbytes", "[ops][w4][codes]") {
  const std::vector<f32> map = dynamic_map();
  byte_model m = byte_model::random(w4_codes::nf4, {.n = 5, .k = 128, .group = 64}, 9);
  const std::vector<f32> outer{0.37f, 1.21f, 0.011f};
  std::vector<u8> codes;
  for (std::size_t i = 0; i < 10; ++i) {
    codes.push_back(static_cast<u8>(17 * i + 60));
    const f32 product = map[codes[i]] * outer[i / 4];
    m.scales[i] = product + 0.875f;
  }
  const stream& s = under_test().stream();
  const auto words = upload(m.bytes()), of_codes = upload(codes);
  const auto of_map = upload(map), of_outer = upload(outer);
  const buffer<u8> memory = under_test().upload(std::vector<u8>(packed_bytes(m.shape), 0xff));
  repack(s,
         bitsandbytes_w4{.weight = tensor_view<const u8, 2>(words, 5, 64),
                         .absmax_codes = tensor_view<const u8, 2>(of_codes, 5, 2),
                         .nested_quant_map = tensor_view<const f32, 1>(of_map, extents(256)),
                         .nested_absmax = tensor_view<const f32, 1>(of_outer, extents(3)),
                         .nested_offset = 0.875f,
                         .nested_blocksize = 4},
         w4_weights{m.shape, memory});
  buffer<f32> matrix = under_test().allocate<f32>(5 * 128);
  dequantise(s, w4_weights{m.shape, memory}, tensor_view<f32, 2>(matrix, 5, 128));
  const std::vector<f32> got = matrix.download();
  for (i64 row = 0; row < 5; ++row)
    for (i64 column = 0; column < 128; ++column)
      REQUIRE(got[static_cast<std::size_t>(row * 128 + column)] == m.weight(row, column));
}

TEST_CASE("matmul_w4: nf4, fp4, MXFP4 and NVFP4, every kernel", "[ops][w4][codes]") {
  std::uint64_t seed = 1;
  for (const auto& [type, group] : {std::pair{w4_codes::nf4, 64}, std::pair{w4_codes::fp4, 128},
                                    std::pair{w4_codes::e2m1, 32}, std::pair{w4_codes::e2m1, 16}})
    for (const i64 m : {2, 11, 20, 35, 70}) {
      const byte_model model = byte_model::random(
          type,
          {.n = 41, .k = 384 - (group < 64 ? 32 : 0), .group = group, .factors = group == 16 && m == 11},
          ++seed);
      check_codes<f16, f16>(model, {.m = m, .bias = m == 11, .seed = seed}, 1);
      check_codes<bf16, bf16>(model, {.m = m, .pad = m == 35 ? 3 : 0, .seed = seed}, 3);
    }
}

TEST_CASE("matmul_w4: tables and small floats to f32, and by a matrix", "[ops][w4][codes]") {
  const byte_model mx = byte_model::random(w4_codes::e2m1, {.n = 70, .k = 224, .group = 32}, 4);
  check_codes<bf16, f32>(mx, {.m = 3, .shift = 1});
  check_codes<f16, f16>(mx, {.m = 3}, 0, "dequantise");
  const byte_model fp4 = byte_model::random(w4_codes::fp4, {.n = 33, .k = 1024, .group = 64}, 4);
  check_codes<f16, f32>(fp4, {.m = 1});
}

TEST_CASE("w4: bad input of codes in bytes", "[ops][w4][codes]") {
  const auto refuses = [](const std::string& part, const std::function<void()>& f) {
    require_refusal(errc::invalid_argument, "kaio: ", part, f);
  };
  using type = w4_scale_type;
  const auto shapes = [&](const std::string& part, const w4_shape& wrong) {
    refuses(part, [&] { packed_bytes(wrong); });
  };
  shapes("scales of f32", {.n = 8, .k = 64, .group = 64, .codes = w4_codes::nf4});
  shapes("multiples of 64", {.n = 8, .k = 64, .group = 32, .scales = type::f32, .codes = w4_codes::fp4});
  shapes("groups of 32", {.n = 8, .k = 64, .group = 64, .scales = type::e8m0, .codes = w4_codes::e2m1});
  shapes("groups of 16", {.n = 8, .k = 64, .group = 32, .scales = type::e4m3, .codes = w4_codes::e2m1});
  shapes("f16 or bf16", {.n = 8, .k = 64, .group = 64, .scales = type::f32});
  const w4_shape with_zeros{
      .n = 8, .k = 64, .group = 64, .scales = type::f32, .zero_points = true, .codes = w4_codes::nf4};
  shapes("no zero points", with_zeros);

  const stream& s = under_test().stream();
  w4_shape shape{.n = 8, .k = 64, .group = 16, .scales = type::e4m3, .codes = w4_codes::e2m1};
  buffer<u8> memory = under_test().allocate<u8>(4096), bytes = under_test().allocate<u8>(4096);
  buffer<f32> floats = under_test().allocate<f32>(64);
  const tensor_view<const u8, 2> codes(bytes, 8, 32), scales(bytes, 8, 4);
  const tensor_view<const f32, 1> factor(floats, extents(1)), two(floats, extents(2));
  refuses("no factors, and argument tensor_scale is given; set shape.factors to true", [&] {
    repack(s, nvfp4_w4{codes, scales, factor}, w4_weights{shape, memory});
  });
  refuses("scales of e4m3, and those of argument blocks are kept as e8m0; set shape.scales to e8m0", [&] {
    repack(s, mxfp4_w4{codes, scales}, w4_weights{shape, memory});
  });
  refuses("codes of e2m1, and argument weight is of nf4 or fp4; set shape.codes to nf4 or fp4", [&] {
    repack(s, bitsandbytes_w4{.weight = codes}, w4_weights{shape, memory});
  });
  shape.factors = true;
  refuses("factors, and argument blocks is of a format without; set shape.factors to false", [&] {
    repack(s, mxfp4_w4{codes, tensor_view<const u8, 2>(bytes, 8, 2)},
           w4_weights{
               {.n = 8, .k = 64, .group = 32, .scales = type::e8m0, .codes = w4_codes::e2m1, .factors = true},
               memory});
  });
  refuses("tensor_scale", [&] { repack(s, nvfp4_w4{codes, scales, two}, w4_weights{shape, memory}); });
  refuses("scales", [&] { repack(s, nvfp4_w4{codes, codes, factor}, w4_weights{shape, memory}); });
}
