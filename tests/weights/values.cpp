// The decoder of each format gives the values of the reference, bit for bit: the checksums are those of gguf
// 0.19.0 for the same blocks.

#include "encoders.hpp"
#include "files.hpp"

#include <kaio/dsl/number/half.hpp>

#include <cmath>
#include <limits>

#include "catch.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

std::string body(unsigned n) {
  std::string bytes;
  for (unsigned i = 0; i < n; ++i) bytes += static_cast<char>(73 * i + 19);
  return bytes;
}

const std::string scale = little(f16(0.0078125f).bits()), minimum = little(f16(0.015625f).bits());

tensor_entry entry(weight_format format, std::uint64_t elements, const std::string& bytes) {
  tensor_entry t;
  t.name = "w";
  t.file = "m.gguf";
  t.format = format;
  t.shape = {elements};
  t.elements = elements;
  t.bytes = bytes_of(bytes);
  return t;
}

std::uint32_t crc_of(const std::vector<float>& values) { return crc32(std::as_bytes(std::span(values))); }

// x[i] = ((37 i + 11) % 101 - 50) / 16
std::vector<float> inputs(unsigned n) {
  std::vector<float> x;
  for (unsigned i = 0; i < n; ++i)
    x.push_back(static_cast<float>(static_cast<int>((37 * i + 11) % 101) - 50) / 16);
  return x;
}

struct block_case {
  weight_format format;
  std::string block;
  std::uint32_t crc_of_bytes, crc_of_values;
  float first[4];
};

}  // namespace

TEST_CASE("each block of GGUF decodes to the bits of the reference") {
  const std::vector<float> x = inputs(256);
  const block_case cases[] = {
      {weight_format::q2_k,
       body(80) + scale + minimum,
       0x7bc83501,
       0xd0a28b29,
       {0.0546875f, -0.015625f, 0.0078125f, 0.03125f}},
      {weight_format::q3_k,
       body(108) + scale,
       0xd754d56d,
       0xc8ac2554,
       {0.4453125f, -0.59375f, 0.1484375f, -0.296875f}},
      {weight_format::q4_k,
       scale + minimum + body(140),
       0x17b9c44c,
       0x8e584c5a,
       {1.3671875f, 0.328125f, -0.7109375f, 0.625f}},
      {weight_format::q5_k,
       scale + minimum + body(172),
       0x6ab84efc,
       0xb71f573a,
       {3.7421875f, 0.328125f, 1.6640625f, 0.625f}},
      {weight_format::q6_k,
       body(208) + scale,
       0xa5372b98,
       0x76174bd2,
       {-6.6796875f, 7.03125f, 3.8671875f, -4.921875f}},
      {weight_format::iq4_nl,
       scale + body(16),
       0x89a82474,
       0x2637c134,
       {-0.5078125f, 0.4140625f, -0.2734375f, 0.6953125f}},
      {weight_format::iq4_xs,
       scale + body(134),
       0x81c1f662,
       0xe6743695,
       {2.1328125f, -13.6171875f, 6.234375f, -8.0390625f}},
      {weight_format::iq1_s,
       scale + body(48),
       0x2e3e816a,
       0xa3b8d645,
       {0.0146484375f, 0.0146484375f, 0.0146484375f, 0.1318359375f}},
      {weight_format::iq1_m,
       body(56),
       0x19ef2514,
       0xbf3f098f,
       {-3.30859375f, -3.30859375f, -3.30859375f, -29.77734375f}},
      {weight_format::iq2_xxs,
       scale + body(64),
       0x386c662f,
       0x8cee312d,
       {-0.1259765625f, -0.1259765625f, -0.0234375f, 0.1259765625f}},
      {weight_format::iq2_xs,
       scale + body(72),
       0xbb2c9ce7,
       0x893fd9bf,
       {0.1708984375f, -0.1708984375f, -0.1708984375f, -0.1708984375f}},
      {weight_format::iq2_s,
       scale + body(80),
       0x63fb230e,
       0x2572e796,
       {-0.1796875f, -0.1796875f, 0.5615234375f, 0.1796875f}},
      {weight_format::iq3_xxs,
       scale + body(96),
       0x6e3f8916,
       0xbe80f1b7,
       {-0.1953125f, -0.2734375f, 0.1171875f, 0.0390625f}},
      {weight_format::iq3_s,
       scale + body(108),
       0x7bac30ab,
       0x78536ab6,
       {-1.9765625f, -0.1796875f, 2.6953125f, -0.8984375f}},
      {weight_format::tq1_0, body(52) + scale, 0xa98b844e, 0xf7091472, {-0.0078125f, 0.0f, 0.0f, 0.0078125f}},
      {weight_format::tq2_0,
       body(64) + scale,
       0x69e489c8,
       0x5397485a,
       {0.015625f, -0.0078125f, 0.0f, 0.0078125f}},
      {weight_format::nvfp4, "\x38\x45\x01\x7e" + body(32), 0x9628a29f, 0x5628cfe2, {1.5f, -2, 3, -4}},
      {weight_format::q4_0, as_q4_0(x), 0xc3c24a4a, 0xfa93255d, {-2.34375f, 0, 2.34375f, -1.953125f}},
      {weight_format::q4_1,
       as_q4_1(x),
       0xf78238c4,
       0xdd6bd313,
       {-2.30810546875f, -0.265869140625f, 2.184814453125f, -1.899658203125f}},
      {weight_format::q5_0,
       as_q5_0(x),
       0x867214ab,
       0x58f98424,
       {-2.34375f, -0.1953125f, 2.1484375f, -1.7578125f}},
      {weight_format::q5_1,
       as_q5_1(x),
       0x8a8766b5,
       0xee51b170,
       {-2.5321044921875f, -0.1605224609375f, 2.2110595703125f, -1.7415771484375f}},
      {weight_format::q8_0,
       as_q8_0(x),
       0xacb519ff,
       0xc8bc7552,
       {-2.4366302490234375f, -0.1230621337890625f, 2.1905059814453125f, -1.821319580078125f}},
      {weight_format::mxfp4, as_mxfp4(x), 0xea86dae9, 0x492cb08f, {-2, 0, 2, -2}},
  };
  for (const block_case& c : cases) {
    const weights::format_facts& f = facts(c.format);
    INFO(std::string(f.name));
    REQUIRE(c.block.size() % f.block_bytes == 0);
    CHECK(crc32(bytes_of(c.block)) == c.crc_of_bytes);
    const auto values =
        read_values(entry(c.format, c.block.size() / f.block_bytes * f.block_elements, c.block));
    CHECK(crc_of(values) == c.crc_of_values);
    for (int i = 0; i < 4; ++i) CHECK(values[static_cast<std::size_t>(i)] == c.first[i]);
  }
}

// 512 blocks of random bytes, in which each group of a table occurs, with the scale in its place.
TEST_CASE("formats of tables decode to the bits of the reference") {
  struct noise_case {
    weight_format format;
    std::uint32_t crc;
  };
  for (const noise_case& c : {noise_case{weight_format::iq1_s, 0x92bd0e14},
                              {weight_format::iq1_m, 0x39a26d3c},
                              {weight_format::iq2_xxs, 0x3d11de8d},
                              {weight_format::iq2_xs, 0xc3e154ff},
                              {weight_format::iq2_s, 0xd65ef94e},
                              {weight_format::iq3_xxs, 0x2500105e},
                              {weight_format::iq3_s, 0x22a6d11c},
                              {weight_format::tq1_0, 0x3feb0ad9},
                              {weight_format::tq2_0, 0x3bf83189}}) {
    const weights::format_facts& f = facts(c.format);
    INFO(std::string(f.name));
    std::string bytes;
    for (std::uint32_t i = 0, x = 1; i < 512 * f.block_bytes; ++i) {
      x = x * 1103515245 + 12345;
      bytes += static_cast<char>(x >> 16);
    }
    const bool is_last = c.format == weight_format::tq1_0 || c.format == weight_format::tq2_0;
    for (std::size_t block = 0; block < bytes.size(); block += f.block_bytes) {
      if (c.format == weight_format::iq1_m)  // four bits in each of four words
        for (const std::size_t at : {49u, 51u, 53u, 55u})
          bytes[block + at] = static_cast<char>((bytes[block + at] & 15) | (at == 55 ? 0x20 : 0));
      else
        bytes.replace(block + (is_last ? f.block_bytes - 2 : 0), 2, scale);
    }
    CHECK(crc_of(read_values(entry(c.format, 512 * f.block_elements, bytes))) == c.crc);
  }
}

TEST_CASE("Q1_0 and Q2_0 by hand") {
  const auto q1_0 = read_values(entry(weight_format::q1_0, 128, scale + body(16)));
  const auto q2_0 = read_values(entry(weight_format::q2_0, 64, scale + body(16)));
  const auto byte = [](unsigned i) { return (73 * i + 19) & 255; };
  for (unsigned e = 0; e < 128; ++e)
    CHECK(q1_0[e] == ((byte(e / 8) >> e % 8 & 1) != 0 ? 0.0078125f : -0.0078125f));
  for (unsigned e = 0; e < 64; ++e)
    CHECK(q2_0[e] == (static_cast<float>(byte(e / 4) >> 2 * (e % 4) & 3) - 1) * 0.0078125f);
}

TEST_CASE("a part of a tensor has the values of the whole") {
  const std::string bytes = as_q8_0(inputs(256));
  const tensor_entry t = entry(weight_format::q8_0, 256, bytes);
  const auto whole = read_values(t);
  for (const auto& [first, count] :
       {std::pair{0u, 0u}, {0u, 1u}, {31u, 2u}, {32u, 32u}, {5u, 200u}, {255u, 1u}, {256u, 0u}}) {
    std::vector<float> part(count);
    read_values(t, part, first);
    CHECK(std::equal(part.begin(), part.end(), whole.begin() + first));
  }
  std::vector<float> part(2);
  CHECK_THROWS_AS(read_values(t, part, 255), invalid_argument);
  CHECK_THROWS_AS(read_values(t, part, ~std::uint64_t{0}), invalid_argument);
}

TEST_CASE("numbers of each type") {
  const auto one = [](weight_format format, const std::string& bytes) {
    return read_values(entry(format, 1, bytes))[0];
  };
  CHECK(one(weight_format::f64, little(1.5)) == 1.5f);
  CHECK(one(weight_format::f64, little(1 + 0x1p-24 + 0x1p-40)) == 1 + 0x1p-23f);
  CHECK(one(weight_format::f32, little(-2.5f)) == -2.5f);
  CHECK(one(weight_format::f16, little<std::uint16_t>(0x3c01)) == 1.0009765625f);
  CHECK(one(weight_format::bf16, little<std::uint16_t>(0x3f81)) == 1.0078125f);
  CHECK(one(weight_format::e4m3, "\x7e") == 448);
  CHECK(one(weight_format::e5m2, "\x7b") == 57344);
  CHECK(one(weight_format::e8m0, std::string(1, '\0')) == 0x1p-127f);
  CHECK(one(weight_format::e8m0, "\x80") == 2);
  CHECK(std::isnan(one(weight_format::e8m0, "\xff")));
  CHECK(one(weight_format::i8, "\x80") == -128);
  CHECK(one(weight_format::u8, "\x80") == 128);
  CHECK(one(weight_format::i64, little<std::int64_t>(-(1ll << 40))) == -0x1p40f);
  CHECK(read_values(entry(weight_format::f4_e2m1, 4, "\xf1\x2a")) == std::vector<float>{0.5f, -6, -1, 1});
}

TEST_CASE("scales of MXFP4 and NVFP4 over their whole range") {
  for (unsigned b = 0; b < 256; ++b) {
    std::string block(17, '\x44');
    block[0] = static_cast<char>(b);
    const float value = read_values(entry(weight_format::mxfp4, 32, block))[0];
    if (b == 255)
      CHECK(std::isnan(value));
    else
      CHECK(value == static_cast<float>(std::ldexp(2.0, static_cast<int>(b) - 127)));
  }
  for (unsigned b = 0; b < 256; ++b) {
    std::string block(36, '\x22');
    block[0] = static_cast<char>(b);
    const unsigned code = b & 0x7f, exponent = code >> 3, fraction = code & 7;
    const double wanted = b == 0x7f       ? 0
                          : exponent == 0 ? std::ldexp(fraction, -9)
                                          : std::ldexp(8 + fraction, static_cast<int>(exponent) - 10);
    CHECK(read_values(entry(weight_format::nvfp4, 64, block))[0] == static_cast<float>(wanted));
  }
}

TEST_CASE("Q4_1, Q5_0, Q5_1 and MXFP4 by hand") {
  std::string codes;
  for (unsigned i = 0; i < 16; ++i) codes += static_cast<char>(i | (15 - i) << 4);
  const std::string high = little(0xa5a50ff0u);
  const auto nibble = [](unsigned e) { return e < 16 ? e : 31 - e; };
  const auto fifth = [](unsigned e) { return (0xa5a50ff0u >> e & 1) * 16; };
  const auto q4_1 = read_values(entry(weight_format::q4_1, 32, scale + minimum + codes));
  const auto q5_0 = read_values(entry(weight_format::q5_0, 32, scale + high + codes));
  const auto q5_1 = read_values(entry(weight_format::q5_1, 32, scale + minimum + high + codes));
  const auto mxfp4 = read_values(entry(weight_format::mxfp4, 32, "\x80" + codes));
  const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (unsigned e = 0; e < 32; ++e) {
    CHECK(q4_1[e] == static_cast<float>(nibble(e) * 0.0078125 + 0.015625));
    CHECK(q5_0[e] == static_cast<float>((static_cast<int>(nibble(e) + fifth(e)) - 16) * 0.0078125));
    CHECK(q5_1[e] == static_cast<float>((nibble(e) + fifth(e)) * 0.0078125 + 0.015625));
    CHECK(mxfp4[e] == static_cast<float>((nibble(e) < 8 ? 2 : -2) * e2m1[nibble(e) % 8]));
  }
}

TEST_CASE("every format has its facts, and either a decoder or a refusal that names the tensor") {
  for (const weights::format_facts& f : weights::weight_formats()) {
    INFO(std::string(f.name));
    CHECK(&facts(f.format) == &f);
    const std::string bytes(f.block_bytes, '\0');
    const tensor_entry t = entry(f.format, f.block_elements, bytes);
    if (f.has_values) {
      CHECK(read_values(t).size() == f.block_elements);
      continue;
    }
    const damage refused = catch_damage([&] { read_values(t); });
    CHECK(refused.code == errc::unsupported_format);
    CHECK(refused.tensor == "w");
    CHECK(refused.file == "m.gguf");
    CHECK(refused.message.find(f.name) != std::string::npos);
  }
}
