// Codes and scales in tensors of their own on the device: bitsandbytes, MXFP4, NVFP4, FP8 and codes of 8 bits,
// each value as the formats' references compute it in f32.
#include "tests/ops/matmul_8bit/dynamic_map.hpp"
#include "tests/ops/weight_only/formats_support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr f32 e2m1_values[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
constexpr f32 nf4_values[16] = {-1.0f,
                                -0.6961928009986877f,
                                -0.5250730514526367f,
                                -0.39491748809814453f,
                                -0.28444138169288635f,
                                -0.18477343022823334f,
                                -0.09105003625154495f,
                                0.0f,
                                0.07958029955625534f,
                                0.16093020141124725f,
                                0.24611230194568634f,
                                0.33791524171829224f,
                                0.44070982933044434f,
                                0.5626170039176941f,
                                0.7229568362236023f,
                                1.0f};

std::vector<f32> random_numbers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<f32> any(-2.0f, 2.0f);
  std::vector<f32> x(count);
  for (f32& one : x) one = any(engine);
  return x;
}

template <class T, class Source>
std::vector<T> values(const Source& source, i64 n, i64 k, i64 pad = 0, i64 first = 0) {
  return matrix_of<T>(n, k, pad, first,
                      [&](const tensor_view<T, 2>& out) { dequantise(under_test().stream(), source, out); });
}
template <class T, class U>
tensor_view<const T, 2> rows_of(const buffer<U>& memory, i64 n, i64 k) {
  return {memory.view(), ops::extents<2>(n, k)};
}
template <class T>
tensor_view<const T, 1> line_of(const buffer<T>& memory, i64 count) {
  return {memory.slice(0, static_cast<std::size_t>(count)), ops::extents<1>(count)};
}

std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

}  // namespace

TEST_CASE("formats: nf4 of the reference", "[ops][formats]") {
  // The first bytes and absmax of the documented input; all of it is quantised in formats_quantise.cpp.
  const std::vector<u8> first = {0x17, 0xe2, 0x9f, 0x3b};
  auto weight = upload(first);
  auto absmax = upload(std::vector<f32>{3.125f});
  const auto got = values<f32>(bnb_4bit{.weight = line_of(weight, 4), .absmax = line_of(absmax, 1)}, 1, 8);
  const u32 codes[] = {1, 7, 14, 2, 9, 15, 3, 11};
  for (std::size_t i = 0; i < 8; ++i) REQUIRE(got[i] == nf4_values[codes[i]] * 3.125f);
}

TEMPLATE_TEST_CASE("formats: nf4 and fp4 by blocks that do not end with rows", "[ops][formats]", f32, f16,
                   bf16) {
  const f32 fp4[16] = {0, 1.0f / 192,  2.0f / 3,  1,  1.0f / 3,  0.5f,  1.0f / 6,  0.25f,
                       0, -1.0f / 192, -2.0f / 3, -1, -1.0f / 3, -0.5f, -1.0f / 6, -0.25f};
  struct shape {
    i64 n, k, pad, first;
  };
  for (const shape& s : {shape{5, 72, 0, 0}, {5, 72, 8, 0}, {3, 37, 0, 0}, {3, 37, 2, 1}, {1, 1, 0, 0}})
    for (const bnb_code code : {bnb_code::nf4, bnb_code::fp4}) {
      CAPTURE(s.n, s.k, s.pad, s.first, static_cast<int>(code));
      const i64 elements = s.n * s.k, blocks = (elements + 63) / 64;
      const std::vector<u8> bytes = random_bytes(at((elements + 1) / 2), 3);
      const std::vector<f32> numbers = random_numbers(at(blocks), 4);
      auto weight = upload(bytes);
      auto absmax = upload(numbers);
      std::vector<f32> want;
      for (i64 i = 0; i < elements; ++i) {
        const u32 nibble = i % 2 == 0 ? bytes[at(i / 2)] >> 4 : bytes[at(i / 2)] & 15u;
        want.push_back((code == bnb_code::nf4 ? nf4_values : fp4)[nibble] * numbers[at(i / 64)]);
      }
      const bnb_4bit source{
          .code = code, .weight = line_of(weight, (elements + 1) / 2), .absmax = line_of(absmax, blocks)};
      require_values(values<TestType>(source, s.n, s.k, s.pad, s.first), want);
    }
}

TEST_CASE("formats: code 8 of fp4 is +0, as in bitsandbytes' table", "[ops][formats]") {
  auto weight = upload(std::vector<u8>{0x80, 0x98});
  auto absmax = upload(std::vector<f32>{2});
  const bnb_4bit source{.code = bnb_code::fp4, .weight = line_of(weight, 2), .absmax = line_of(absmax, 1)};
  REQUIRE(same_bits(values<f32>(source, 1, 4), std::vector<f32>{0, 0, -1.0f / 96, 0}));
}

TEST_CASE("formats: nf4 with nested absmax", "[ops][formats]") {
  const i64 n = 3, k = 256 * 64 / 3 + 11, elements = n * k, blocks = (elements + 31) / 32;
  const std::vector<u8> bytes = random_bytes(at((elements + 1) / 2), 5), codes = random_bytes(at(blocks), 6);
  const std::vector<f32> map = random_numbers(256, 7), scales = random_numbers(at((blocks + 255) / 256), 8);
  auto weight = upload(bytes), absmax = upload(codes);
  auto of_map = upload(map), of_scales = upload(scales);
  std::vector<f32> want;
  for (i64 i = 0; i < elements; ++i) {
    const u32 nibble = i % 2 == 0 ? bytes[at(i / 2)] >> 4 : bytes[at(i / 2)] & 15u;
    const f32 product = map[codes[at(i / 32)]] * scales[at(i / 32 / 256)];
    want.push_back(nf4_values[nibble] * (product + 0.25f));
  }
  const bnb_4bit source{.weight = line_of(weight, (elements + 1) / 2),
                        .blocksize = 32,
                        .nested = {.absmax = line_of(absmax, blocks),
                                   .nested_absmax = line_of(of_scales, i64(scales.size())),
                                   .nested_quant_map = line_of(of_map, 256),
                                   .offset = 0.25f}};
  require_values(values<f16>(source, n, k), want);
}

TEST_CASE("formats: absmax of every code of bitsandbytes' dynamic map", "[ops][formats]") {
  const std::vector<f32> map = dynamic_map();
  REQUIRE(crc32_of(map) == 0x1b137aebu);
  // A block of 64 ones for each code.
  std::vector<u8> codes(256);
  for (std::size_t i = 0; i < 256; ++i) codes[i] = static_cast<u8>(i);
  auto weight = upload(std::vector<u8>(256 * 32, 0xff)), absmax = upload(codes);
  auto of_map = upload(map), of_scales = upload(std::vector<f32>{1});
  const std::vector<f32> got = values<f32>(bnb_4bit{.weight = line_of(weight, 256 * 32),
                                                    .nested = {.absmax = line_of(absmax, 256),
                                                               .nested_absmax = line_of(of_scales, 1),
                                                               .nested_quant_map = line_of(of_map, 256)}},
                                           256, 64);
  for (const std::size_t column : {std::size_t{0}, std::size_t{63}}) {
    std::vector<f32> of_codes;
    for (std::size_t row = 0; row < 256; ++row) of_codes.push_back(got[row * 64 + column]);
    REQUIRE(crc32_of(of_codes) == 0x1b137aebu);
  }
}

TEMPLATE_TEST_CASE("formats: MXFP4 and NVFP4", "[ops][formats]", f32, f16, bf16) {
  const i64 n = 5, k = 96;
  const std::vector<u8> packed = random_bytes(at(n * k / 2), 9);
  const auto number = [&](i64 i) {
    return e2m1_values[i % 2 == 0 ? packed[at(i / 2)] & 15u : packed[at(i / 2)] >> 4];
  };
  auto codes = upload(packed);
  std::vector<u8> powers(at(n * k / 32));
  for (std::size_t i = 0; i < powers.size(); ++i)
    powers[i] = static_cast<u8>(i == 3 ? 255 : i == 4 ? 0 : i == 5 ? 254 : 120 + i);
  auto of_powers = upload(powers);
  std::vector<f32> want;
  for (i64 i = 0; i < n * k; ++i) {
    const u32 b = powers[at(i / 32)];
    want.push_back(b == 255 ? std::nanf("") : number(i) * std::ldexp(1.0f, static_cast<int>(b) - 127));
  }
  const mxfp4_tensors mx{.packed = rows_of<u8>(codes, n, k / 2), .scales = rows_of<u8>(of_powers, n, k / 32)};
  require_values(values<TestType>(mx, n, k), want);
  require_values(values<TestType>(mx, n, k, 1, 1), want);

  std::vector<e4m3> scales;
  for (const u8 b : random_bytes(at(n * k / 16), 10)) scales.push_back(e4m3::from_bits(b & 0x7fu));
  auto of_scales = upload(scales);
  auto global = upload(std::vector<f32>{0.7f});
  for (const int form : {0, 1, 2}) {
    want.clear();
    for (i64 i = 0; i < n * k; ++i) {
      // compressed-tensors, ModelOpt and torchao combine the scales first, which decides the last bit.
      const f32 scale = static_cast<f32>(scales[at(i / 16)]);
      want.push_back(number(i) * (form == 0 ? scale : form == 1 ? scale * 0.7f : scale / 0.7f));
    }
    nvfp4_tensors nv{.packed = rows_of<u8>(codes, n, k / 2), .scales = rows_of<e4m3>(of_scales, n, k / 16)};
    if (form != 0) nv.global = line_of(global, 1);
    nv.divide = form == 2;
    require_values(values<TestType>(nv, n, k), want);
  }
}

namespace {

// By each way of giving scales.
template <class Code, class Scale>
void check_scaled(i64 n, i64 k, i64 block_rows, i64 block_columns, i64 scale_rows, i64 scale_columns) {
  CAPTURE(n, k, block_rows, block_columns, scale_rows, scale_columns);
  std::vector<Code> codes;
  for (const u8 b : random_bytes(at(n * k), 11)) {
    if constexpr (std::is_same_v<Code, i8>)
      codes.push_back(static_cast<i8>(b));
    else
      codes.push_back(Code::from_bits(b));
  }
  std::vector<Scale> scales;
  for (const f32 x : random_numbers(at(scale_rows * scale_columns), 12))
    scales.push_back(from_float<Scale>(x));
  std::vector<f32> want;
  for (i64 r = 0; r < n; ++r)
    for (i64 c = 0; c < k; ++c) {
      const i64 of_row = scale_rows == 1 ? 0 : scale_rows == n ? r : r / block_rows;
      const i64 of_column = scale_columns == 1 ? 0 : c / block_columns;
      want.push_back(static_cast<f32>(codes[at(r * k + c)]) *
                     static_cast<f32>(scales[at(of_row * scale_columns + of_column)]));
    }
  auto of_codes = upload(codes);
  auto of_scales = upload(scales);
  const scaled_bytes source{.weight = rows_of<Code>(of_codes, n, k),
                            .scale = rows_of<Scale>(of_scales, scale_rows, scale_columns),
                            .block_rows = block_rows,
                            .block_columns = block_columns};
  require_values(values<bf16>(source, n, k), want);
  require_values(values<f32>(source, n, k, 5, 1), want);
}

}  // namespace

TEST_CASE("formats: codes of eight bits with scales", "[ops][formats]") {
  check_scaled<e4m3, f32>(130, 136, 128, 128, 2, 2);
  check_scaled<e4m3, bf16>(5, 64, 128, 128, 5, 1);
  check_scaled<e4m3, f16>(5, 33, 128, 128, 1, 1);
  check_scaled<e5m2, f32>(5, 256, 128, 128, 1, 2);
  check_scaled<i8, f16>(3, 96, 1, 32, 3, 3);
  check_scaled<i8, f32>(7, 30, 2, 10, 4, 3);
}

TEST_CASE("formats: MXFP8", "[ops][formats]") {
  const i64 n = 6, k = 96;
  const auto check = [&]<class Code>(u8 not_a_number) {
    std::vector<Code> codes;
    for (const u8 b : random_bytes(at(n * k), 15))
      codes.push_back(std::bit_cast<Code>(static_cast<u8>((b & 0x7f) < not_a_number ? b : b & 0x80)));
    std::vector<u8> scales = random_bytes(at(n * k / 32), 16);
    for (u8& b : scales) b = static_cast<u8>(96 + b % 64);
    std::vector<f32> want;
    for (i64 i = 0; i < n * k; ++i)
      want.push_back(std::ldexp(static_cast<f32>(codes[at(i)]), scales[at(i / 32)] - 127));
    auto of_codes = upload(codes);
    auto of_scales = upload(scales);
    const scaled_bytes source{.weight = rows_of<Code>(of_codes, n, k),
                              .scale = rows_of<u8>(of_scales, n, k / 32),
                              .block_rows = 1,
                              .block_columns = 32};
    require_values(values<bf16>(source, n, k), want);
    require_values(values<f32>(source, n, k, 5, 1), want);
  };
  check.template operator()<e4m3>(0x7f);
  check.template operator()<e5m2>(0x7c);
}

TEST_CASE("formats: LLM.int8", "[ops][formats]") {
  const i64 n = 4, k = 48;
  std::vector<i8> codes;
  for (const u8 b : random_bytes(at(n * k), 13)) codes.push_back(static_cast<i8>(b));
  const std::vector<f32> largest = random_numbers(at(n), 14);
  std::vector<f32> want;
  for (i64 i = 0; i < n * k; ++i)
    want.push_back(static_cast<f32>(codes[at(i)]) * largest[at(i / k)] * 7.874015718698502e-3f);
  auto weight = upload(codes);
  auto of_rows = upload(largest);
  require_values(values<f16>(bnb_int8{.weight = rows_of<i8>(weight, n, k), .SCB = line_of(of_rows, n)}, n, k),
                 want);
}

TEST_CASE("formats: codes, bad input", "[ops][formats]") {
  auto bytes = under_test().allocate<u8>(4096);
  auto floats = under_test().allocate<f32>(512);
  auto small = under_test().allocate<e4m3>(512);
  auto out = under_test().allocate<f16>(4096);
  const stream& s = under_test().stream();
  const auto refuses = [&](const std::string& part, const auto& source, i64 n, i64 k) {
    require_refusal(errc::invalid_argument, "kaio: dequantise: ", part,
                    [&] { dequantise(s, source, tensor_view<f16, 2>(out, n, k)); });
  };
  refuses("argument weight", bnb_4bit{.weight = line_of(bytes, 63), .absmax = line_of(floats, 2)}, 2, 64);
  refuses("argument absmax", bnb_4bit{.weight = line_of(bytes, 64), .absmax = line_of(floats, 1)}, 2, 64);
  refuses("blocksize is 48",
          bnb_4bit{.weight = line_of(bytes, 64), .absmax = line_of(floats, 2), .blocksize = 48}, 2, 64);
  bnb_4bit nested{.weight = line_of(bytes, 64)};
  nested.nested = {.absmax = line_of(bytes, 2),
                   .nested_absmax = line_of(floats, 1),
                   .nested_quant_map = line_of(floats, 16)};
  refuses("nested.nested_quant_map", nested, 2, 64);
  nested.nested.nested_absmax = {};
  refuses("nested.nested_absmax", nested, 2, 64);
  refuses("argument scales",
          mxfp4_tensors{.packed = rows_of<u8>(bytes, 2, 32), .scales = rows_of<u8>(bytes, 2, 1)}, 2, 64);
  refuses("rows of 40",
          mxfp4_tensors{.packed = rows_of<u8>(bytes, 2, 20), .scales = rows_of<u8>(bytes, 2, 1)}, 2, 40);
  nvfp4_tensors nv{.packed = rows_of<u8>(bytes, 2, 32), .scales = rows_of<e4m3>(small, 2, 4)};
  nv.global = line_of(floats, 2);
  refuses("argument global", nv, 2, 64);
  refuses("argument scale",
          scaled_bytes{.weight = rows_of<e4m3>(small, 2, 130), .scale = rows_of<f32>(floats, 2, 3)}, 2, 130);
  scaled_bytes scaled{.weight = rows_of<e4m3>(small, 2, 130), .scale = rows_of<f32>(floats, 2, 3)};
  refuses("extent 1 of 3, and 2 is expected: the blocks of 128 of out, as block_columns has them", scaled, 2,
          130);
  scaled.block_columns = 0;
  refuses("block_columns is 0; 1 to 2^31 - 1 are possible", scaled, 2, 130);
  refuses("weight", bnb_int8{.weight = {}, .SCB = line_of(floats, 3)}, 2, 64);
}
