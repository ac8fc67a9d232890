// Blocks of GGUF on the device: the values of the host's decoders, bit for bit, and the checksums of the reference.
#include "tests/ops/weight_only/formats_support.hpp"
#include "tests/weights/encoders.hpp"

#include <kaio/weights/weights.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

std::vector<f32> decoded_by_host(block_format format, const std::vector<u8>& bytes, i64 elements) {
  tensor_entry entry;
  for (const weights::format_facts& f : weights::weight_formats())
    if (f.name == ops::facts(format).name) entry.format = f.format;
  REQUIRE(facts(entry.format).block_elements == ops::facts(format).elements);
  REQUIRE(facts(entry.format).block_bytes == ops::facts(format).bytes);
  entry.elements = static_cast<std::uint64_t>(elements);
  entry.bytes = std::as_bytes(std::span(bytes));
  return read_values(entry);
}

// The bytes begin `shift` after an address of 256 bytes.
template <class T>
std::vector<T> decoded_by_device(block_format format, const std::vector<u8>& bytes, i64 n, i64 k, i64 pad = 0,
                                 i64 first = 0, u32 shift = 0) {
  std::vector<u8> moved(shift, u8{0x5a});
  moved.insert(moved.end(), bytes.begin(), bytes.end());
  auto memory = upload(moved);
  const tensor_view<const u8, 1> view(memory.slice(shift, bytes.size()), ops::extents<1>(bytes.size()));
  return matrix_of<T>(n, k, pad, first, [&](const tensor_view<T, 2>& out) {
    dequantise(under_test().stream(), format, view, out);
  });
}

}  // namespace

TEMPLATE_TEST_CASE("formats: every block format, random blocks", "[ops][formats]", f32, f16, bf16) {
  for (const ops::block_facts& f : ops::block_formats) {
    CAPTURE(std::string(f.name));
    const i64 n = 3, k = 512;
    const std::vector<u8> bytes = random_blocks(f.format, static_cast<std::size_t>(n * k / f.elements), 7);
    REQUIRE(bytes.size() == packed_bytes(f.format, n * k));
    REQUIRE(block_format_named(f.name) == f.format);
    const std::vector<f32> want = decoded_by_host(f.format, bytes, n * k);
    require_values(decoded_by_device<TestType>(f.format, bytes, n, k), want);
    // Rows of other lengths and addresses, and bytes that begin where a file of experts has them.
    require_values(decoded_by_device<TestType>(f.format, bytes, n, k, 3, 1, f.bytes), want);
  }
}

TEST_CASE("formats: blocks of GGUF have the reference's values", "[ops][formats]") {
  struct checked {
    block_format format;
    std::vector<u8> before, fields;  // of body(body_bytes): before or after it
    u32 body_bytes;
    u32 crc_of_bytes, crc_of_values;
  };
  const std::vector<u8> d = {0x00, 0x20}, both = {0x00, 0x20, 0x00, 0x24};
  const std::vector<checked> all = {
      {block_format::q2_k, {}, both, 80, 0x7bc83501u, 0xd0a28b29u},
      {block_format::q3_k, {}, d, 108, 0xd754d56du, 0xc8ac2554u},
      {block_format::q4_k, both, {}, 140, 0x17b9c44cu, 0x8e584c5au},
      {block_format::q5_k, both, {}, 172, 0x6ab84efcu, 0xb71f573au},
      {block_format::q6_k, {}, d, 208, 0xa5372b98u, 0x76174bd2u},
      {block_format::iq4_nl, d, {}, 16, 0x89a82474u, 0x2637c134u},
      {block_format::iq4_xs, d, {}, 134, 0x81c1f662u, 0xe6743695u},
      {block_format::nvfp4, {0x38, 0x45, 0x01, 0x7e}, {}, 32, 0x9628a29fu, 0x5628cfe2u}};
  for (const checked& c : all) {
    CAPTURE(std::string(ops::facts(c.format).name));
    std::vector<u8> bytes = c.before;
    const std::vector<u8> middle = body(c.body_bytes);
    bytes.insert(bytes.end(), middle.begin(), middle.end());
    bytes.insert(bytes.end(), c.fields.begin(), c.fields.end());
    REQUIRE(crc32_of(bytes) == c.crc_of_bytes);
    REQUIRE(crc32_of(decoded_by_device<f32>(c.format, bytes, 1, ops::facts(c.format).elements)) ==
            c.crc_of_values);
  }
}

TEST_CASE("formats: blocks that the reference quantised have its values", "[ops][formats]") {
  struct checked {
    block_format format;
    std::string (*encode)(const std::vector<f32>& x);
    u32 crc_of_bytes, crc_of_values;
  };
  for (const checked& c : {checked{block_format::q4_0, as_q4_0, 0xc3c24a4au, 0xfa93255du},
                           {block_format::q4_1, as_q4_1, 0xf78238c4u, 0xdd6bd313u},
                           {block_format::q5_0, as_q5_0, 0x867214abu, 0x58f98424u},
                           {block_format::q5_1, as_q5_1, 0x8a8766b5u, 0xee51b170u},
                           {block_format::q8_0, as_q8_0, 0xacb519ffu, 0xc8bc7552u},
                           {block_format::mxfp4, as_mxfp4, 0xea86dae9u, 0x492cb08fu}}) {
    CAPTURE(std::string(ops::facts(c.format).name));
    const std::string text = c.encode(documented_inputs(256));
    const std::vector<u8> bytes(text.begin(), text.end());
    REQUIRE(crc32_of(bytes) == c.crc_of_bytes);
    REQUIRE(crc32_of(decoded_by_device<f32>(c.format, bytes, 4, 64)) == c.crc_of_values);
  }
}

TEST_CASE("formats: blocks, bad input", "[ops][formats]") {
  auto memory = under_test().allocate<u8>(4096);
  auto out = under_test().allocate<f16>(4096);
  const stream& s = under_test().stream();
  const auto refuses = [&](const std::string& part, block_format format, u32 first, u32 bytes, i64 n, i64 k) {
    require_refusal(errc::invalid_argument, "kaio: dequantise: ", part, [&] {
      dequantise(s, format, tensor_view<const u8, 1>(memory.slice(first, bytes), ops::extents<1>(bytes)),
                 tensor_view<f16, 2>(out, n, k));
    });
  };
  refuses("argument bytes", block_format::q4_0, 0, 35, 2, 32);
  refuses("rows of 48 elements, and blocks of Q4_0 have 32", block_format::q4_0, 0, 54, 2, 48);
  refuses("blocks of Q4_K have 256", block_format::q4_k, 0, 144, 8, 32);
  refuses("odd address", block_format::q4_0, 1, 36, 2, 32);
  require_refusal(errc::invalid_argument, "kaio: dequantise: ", "argument out", [&] {
    dequantise(s, block_format::mxfp4, tensor_view<const u8, 1>(memory, 17 * 32),
               tensor_view<f16, 2>(out, 32, 32).transposed());
  });
  require_refusal(errc::invalid_argument, "kaio: packed_bytes: ", "33 elements of Q8_0",
                  [] { (void)packed_bytes(block_format::q8_0, 33); });
  require_refusal(errc::invalid_argument, "kaio: ", "unknown block_format",
                  [] { (void)packed_bytes(static_cast<block_format>(77), 32); });
  require_refusal(errc::invalid_argument, "kaio: block_format_named: ", "IQ1_S",
                  [] { (void)block_format_named("IQ1_S"); });
  dequantise(s, block_format::q4_0, tensor_view<const u8, 1>(memory, 0), tensor_view<f16, 2>(out, 0, 32));
}
