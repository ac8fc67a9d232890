// Blocks of GGUF as the weights of matmul_w4 and matmul_w8: the values of dequantise and the reference's
// checksums, and products against double precision.
#include "tests/ops/weight_only/codes_support.hpp"
#include "tests/ops/weight_only/formats_support.hpp"

#include <kaio/ops/matmul_w8.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Blocks packed for the operation that multiplies them.
struct packed_blocks {
  block_format format;
  bool eight;
  w4_shape w4{};
  w8_shape w8{};
  buffer<u8> memory;

  packed_blocks(block_format in_format, const buffer<u8>& bytes, i64 n, i64 k)
      : format(in_format),
        eight(operation_of(in_format) == block_operation::matmul_w8),
        memory(under_test().upload(std::vector<u8>(size_of(n, k), 0xff))) {
    const gguf_blocks source{format,
                             tensor_view<const u8, 1>(bytes, extents(static_cast<i64>(bytes.size())))};
    if (eight)
      repack(under_test().stream(), source, of_eight());
    else
      repack(under_test().stream(), source, of_four());
  }
  w4_weights of_four() const { return {w4, memory}; }
  w8_weights of_eight() const { return {w8, memory}; }
  std::vector<f32> values() const {
    return matrix_of<f32>(eight ? w8.n : w4.n, eight ? w8.k : w4.k, 0, 0,
                          [&](const tensor_view<f32, 2>& out) {
                            if (eight)
                              dequantise(under_test().stream(), of_eight(), out);
                            else
                              dequantise(under_test().stream(), of_four(), out);
                          });
  }

 private:
  std::uint64_t size_of(i64 n, i64 k) {
    if (eight) return packed_bytes(w8 = w8_shape_of(format, n, k));
    return packed_bytes(w4 = w4_shape_of(format, n, k));
  }
};

std::vector<f32> by_dequantise(block_format format, const buffer<u8>& bytes, i64 n, i64 k) {
  return matrix_of<f32>(n, k, 0, 0, [&](const tensor_view<f32, 2>& out) {
    dequantise(under_test().stream(), format,
               tensor_view<const u8, 1>(bytes, extents(static_cast<i64>(bytes.size()))), out);
  });
}

// Scales and minima of the size that files have.
std::vector<u8> likely_blocks(block_format format, i64 elements, std::uint64_t seed) {
  const ops::block_layout layout = ops::layout_of(format);
  std::vector<u8> bytes = random_blocks(format, static_cast<std::size_t>(elements / layout.elements), seed);
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<float> any(0.001f, 0.01f);
  for (std::size_t b = 0; b < bytes.size(); b += layout.bytes)
    for (const u32 at : {layout.d_at, layout.m_at}) {
      const auto half = __builtin_bit_cast(std::uint16_t, f16(any(engine)));
      bytes[b + at] = static_cast<u8>(half & 0xff);
      bytes[b + at + 1] = static_cast<u8>(half >> 8);
    }
  return bytes;
}

template <class T, class Out>
void check_blocks(block_format format, i64 m, i64 n, i64 k, i64 parts, std::string_view variant = {}) {
  if (under_test().properties().target.sm < 80) return;
  CAPTURE(std::string(ops::facts(format).name), parts);
  const auto bytes = upload(likely_blocks(format, n * k, static_cast<std::uint64_t>(m + n)));
  const packed_blocks packed(format, bytes, n, k);
  const std::vector<f32> w = by_dequantise(format, bytes, n, k);
  // If weights have minima, the sums of codes and of minima are larger than the product.
  check_w_product<T, Out>(
      {.m = m, .pad = m % 2 * 3, .bias = m % 2 == 0, .rounded = variant.empty() ? 0x1p-19 : 0x1p-11}, n, k,
      [&](i64 row, i64 column) { return w[static_cast<std::size_t>(row * k + column)]; },
      [&](const auto& x, const auto& y, const ops::any_view& bias) {
        const stream& s = under_test().stream();
        matmul_w4_options options{.bias = bias, .splits = static_cast<u32>(parts), .variant = variant};
        const auto run = [&](const auto& weights, const auto& workspace_bytes, const auto& multiply) {
          auto workspace = under_test().allocate<u8>(workspace_bytes(s, x, weights, options));
          options.workspace = workspace;
          multiply(weights);
          s.synchronize();
        };
        if (packed.eight)
          run(packed.of_eight(), matmul_w8_workspace_bytes,
              [&](const w8_weights& weights) { matmul_w8(s, x, weights, y, options); });
        else
          run(packed.of_four(), matmul_w4_workspace_bytes,
              [&](const w4_weights& weights) { matmul_w4(s, x, weights, y, options); });
      });
}

}  // namespace

TEST_CASE("repack: every block format that a product takes, random blocks", "[ops][w4][formats]") {
  for (const ops::block_facts& f : ops::block_formats) {
    if (operation_of(f.format) == block_operation::none) continue;
    CAPTURE(std::string(f.name));
    for (const i64 n : {i64{5}, i64{33}}) {
      const i64 k = n == 5 ? 512 : f.elements * 3;
      const auto bytes = upload(random_blocks(f.format, static_cast<std::size_t>(n * k / f.elements), 11));
      const std::vector<f32> want = by_dequantise(f.format, bytes, n, k),
                             got = packed_blocks(f.format, bytes, n, k).values();
      for (std::size_t i = 0; i < want.size(); ++i) {
        if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
        CAPTURE(i);
        REQUIRE(got[i] == want[i]);
      }
    }
  }
}

TEST_CASE("repack: packed blocks have the reference's values", "[ops][w4][formats]") {
  struct checked {
    block_format format;
    std::vector<u8> before, after;  // of body(body_bytes)
    u32 body_bytes, crc;
  };
  const std::vector<u8> d = {0x00, 0x20}, both = {0x00, 0x20, 0x00, 0x24};
  for (const checked& c : std::vector<checked>{{block_format::q3_k, {}, d, 108, 0xc8ac2554u},
                                               {block_format::q4_k, both, {}, 140, 0x8e584c5au},
                                               {block_format::q5_k, both, {}, 172, 0xb71f573au},
                                               {block_format::q6_k, {}, d, 208, 0x76174bd2u},
                                               {block_format::iq4_nl, d, {}, 16, 0x2637c134u},
                                               {block_format::iq4_xs, d, {}, 134, 0xe6743695u}}) {
    CAPTURE(std::string(ops::facts(c.format).name));
    std::vector<u8> bytes = c.before;
    const std::vector<u8> middle = body(c.body_bytes);
    bytes.insert(bytes.end(), middle.begin(), middle.end());
    bytes.insert(bytes.end(), c.after.begin(), c.after.end());
    const auto memory = upload(bytes);
    REQUIRE(crc32_of(packed_blocks(c.format, memory, 1, ops::facts(c.format).elements).values()) == c.crc);
  }
}

TEST_CASE("matmul_w4: blocks with minima, each kernel", "[ops][w4][formats]") {
  check_blocks<f16, f16>(block_format::q4_k, 1, 70, 768, 0);
  check_blocks<bf16, bf16>(block_format::q4_k, 8, 33, 512, 2);
  check_blocks<f16, f32>(block_format::q4_1, 17, 40, 96, 1);
  check_blocks<bf16, f32>(block_format::q4_1, 20, 33, 224, 2);
  check_blocks<f16, f32>(block_format::q4_k, 34, 40, 256, 1);
  check_blocks<bf16, f32>(block_format::q4_k, 33, 33, 256, 3);
  check_blocks<f16, f32>(block_format::q4_k, 5, 40, 256, 0, "dequantise");
}

TEST_CASE("matmul_w8: blocks of five and six bits, each kernel with minima", "[ops][w8][formats]") {
  check_blocks<f16, f16>(block_format::q5_k, 1, 70, 512, 0);
  check_blocks<bf16, bf16>(block_format::q5_1, 3, 33, 160, 2);
  check_blocks<f16, f32>(block_format::q5_1, 18, 40, 96, 1);
  check_blocks<bf16, f32>(block_format::q5_k, 33, 33, 256, 3);
  check_blocks<f16, f32>(block_format::q6_k, 2, 33, 256, 0);
  check_blocks<bf16, bf16>(block_format::iq4_xs, 2, 33, 256, 0);
}

TEST_CASE("repack: blocks, bad input", "[ops][w4][formats]") {
  auto bytes = under_test().allocate<u8>(8192);
  auto memory = under_test().allocate<u8>(8192);
  const stream& s = under_test().stream();
  const auto refuses = [&](const std::string& part, block_format format, const w4_shape& shape, i64 size) {
    require_refusal(errc::invalid_argument, "kaio: repack: ", part, [&] {
      repack(s, gguf_blocks{format, tensor_view<const u8, 1>(bytes, size)}, w4_weights{shape, memory});
    });
  };
  const w4_shape shape = w4_shape_of(block_format::q4_k, 4, 256);
  w4_shape other = shape;
  other.zero = 8;
  refuses("the shape of argument weights is not that of Q4_K; set it to what w4_shape_of gives",
          block_format::q4_k, other, 576);
  refuses("argument bytes", block_format::q4_k, shape, 575);
  refuses("matmul_w4", block_format::q6_k, shape, 840);
  refuses("rows of 96", block_format::q4_k, w4_shape_of(block_format::q4_k, 4, 96), 576);
  other = shape;
  other.zero_points = true;
  refuses("zero points", block_format::q4_k, other, 576);
  other = {.n = 4, .k = 64, .group = 48, .scales = w4_scale_type::f32, .offsets = true};
  other.k = 96;
  refuses("multiples of 32", block_format::q4_k, other, 576);
  require_refusal(errc::invalid_argument, "kaio: w8_shape_of: ", "Q2_K",
                  [] { w8_shape_of(block_format::q2_k, 4, 256); });
}

TEST_CASE("repack: shapes of blocks with a bad n or k are refused", "[ops][w4][formats]") {
  auto bytes = under_test().allocate<u8>(4096);
  // Integers without offsets may have a short last group. Blocks may not, and repack refuses them.
  const auto repack_refuses = [&](block_format format, const auto& shape) {
    auto memory = under_test().allocate<u8>(packed_bytes(shape));
    require_refusal(errc::invalid_argument, "kaio: repack: ", "rows of " + std::to_string(shape.k), [&] {
      using weights =
          std::conditional_t<std::is_same_v<decltype(shape), const w4_shape&>, w4_weights, w8_weights>;
      repack(under_test().stream(), gguf_blocks{format, tensor_view<const u8, 1>(bytes, extents(4096))},
             weights{shape, memory});
    });
  };
  const auto refuses = [](const std::string& part, const auto& shape) {
    require_refusal(errc::invalid_argument, "kaio: packed_bytes: ", part, [&] { packed_bytes(shape); });
  };
  for (const auto format : {block_format::q4_0, block_format::q4_1, block_format::q4_k, block_format::mxfp4,
                            block_format::nvfp4}) {
    CAPTURE(std::string(ops::facts(format).name));
    for (const i64 wrong : {i64{0}, i64{-32}, i64{1} << 31}) {
      refuses("k = " + std::to_string(wrong), w4_shape_of(format, 4, wrong));
      refuses("n = " + std::to_string(wrong), w4_shape_of(format, wrong, 256));
    }
    for (const i64 wrong : {1, 33, 100, 250}) {
      const w4_shape shape = w4_shape_of(format, 4, wrong);
      if (shape.codes == ops::w4_codes::int4 && !shape.offsets)
        repack_refuses(format, shape);
      else
        refuses("with k = " + std::to_string(wrong), shape);
    }
  }
  for (const auto format : {block_format::q5_0, block_format::q8_0, block_format::q5_k, block_format::q6_k}) {
    CAPTURE(std::string(ops::facts(format).name));
    for (const i64 wrong : {i64{0}, i64{-32}, i64{1} << 31}) {
      refuses("k = " + std::to_string(wrong), w8_shape_of(format, 4, wrong));
      refuses("n = " + std::to_string(wrong), w8_shape_of(format, wrong, 256));
    }
    for (const i64 wrong : {1, 33, 100, 250}) {
      const w8_shape shape = w8_shape_of(format, 4, wrong);
      if (shape.offsets)
        refuses("with k = " + std::to_string(wrong), shape);
      else
        repack_refuses(format, shape);
    }
  }
}
