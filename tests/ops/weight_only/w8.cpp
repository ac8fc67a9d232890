// matmul_w8: bytes and values of the formats of files by the CRCs of reference packers, every weight exact,
// and products against double precision.
#include <kaio/ops/matmul_w8.hpp>

#include "tests/ops/refusal.hpp"
#include "tests/ops/weight_only/codes_support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

enum class w8_format { plain, llm_int8, gptq, gptq_v2, compressed_tensors, q8_0, e4m3 };

// Codes are bytes u; W[n][k] = scale (u - zero), or scale * e4m3(u).
struct w8_model {
  w8_shape shape;
  std::vector<u8> codes;    // [n][k]
  std::vector<u32> zeros;   // [n][group]
  std::vector<f32> scales;  // [n][group], exact as f16
  std::vector<i32> order;   // the group of each k
  bool blocks = false;      // scales of 128 x 128

  i64 n() const { return shape.n; }
  i64 k() const { return shape.k; }
  i64 size() const { return shape.group == -1 ? shape.k : shape.group; }
  i64 groups() const { return (k() + size() - 1) / size(); }
  std::size_t fact(i64 row, i64 group) const { return static_cast<std::size_t>(row * groups() + group); }
  f32 weight(i64 row, i64 column) const {
    const i64 group = shape.act_order ? order[static_cast<std::size_t>(column)] : column / size();
    const u32 code = codes[static_cast<std::size_t>(row * k() + column)];
    const f32 scale = scales[fact(blocks ? row / 128 * 128 : row, group)];
    if (shape.codes == w8_codes::e4m3) return static_cast<f32>(number_of_e4m3(code) * scale);
    const int zero = shape.zero_points ? static_cast<int>(zeros[fact(row, group)]) : 128;
    return static_cast<f32>(static_cast<int>(code) - zero) * scale;
  }
  static w8_model random(const w8_shape& in_shape, std::uint64_t seed) {
    w8_model m;
    m.shape = in_shape;
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> any(-1, 1);
    for (i64 i = 0; i < m.n() * m.k(); ++i) {
      const auto code = static_cast<u8>(engine());
      const bool is_nan = m.shape.codes == w8_codes::e4m3 && (code & 0x7f) == 0x7f;
      m.codes.push_back(is_nan ? u8{0} : code);
    }
    for (i64 i = 0; i < m.n() * m.groups(); ++i) {
      m.zeros.push_back(static_cast<u32>(1 + engine() % 255));
      m.scales.push_back(static_cast<f32>(f16(any(engine) / 32)));
    }
    for (i64 i = 0; i < m.k(); ++i) m.order.push_back(static_cast<i32>(i / m.size()));
    std::shuffle(m.order.begin(), m.order.end(), engine);
    return m;
  }
};

struct w8_on_device {
  w8_shape shape;
  buffer<u8> memory;
  std::vector<i32> words, zero_words;  // of formats that have them
  std::vector<u8> blocks;
  w8_weights weights() const { return {shape, memory}; }

  w8_on_device(const w8_model& m, w8_format format)
      : shape(m.shape), memory(under_test().upload(std::vector<u8>(packed_bytes(m.shape), 0xff))) {
    const stream& s = under_test().stream();
    const i64 n = m.n(), k = m.k(), groups = m.groups();
    std::vector<u8> flipped = m.codes;
    for (u8& code : flipped) code ^= 0x80;
    const auto codes = upload(m.codes), integers = upload(flipped);
    const auto scales = upload(m.scales);
    const auto order = upload(m.order);
    const tensor_view<const u8, 2> of_codes(codes, n, k), of_integers(integers, n, k);
    std::vector<f32> first_rows;
    for (i64 row = 0; row < n; row += 128)
      for (i64 group = 0; group < groups; ++group) first_rows.push_back(m.scales[m.fact(row, group)]);
    const auto blocks_memory = upload(first_rows);
    const tensor_view<const f32, 2> of_scales(scales, n, groups),
        in_blocks(blocks_memory, (n + 127) / 128, groups);
    const tensor_view<const i32, 1> of_order =
        shape.act_order ? tensor_view<const i32, 1>(order, extents(k)) : tensor_view<const i32, 1>();
    using words_view = tensor_view<const i32, 2>;
    const i64 quarter_n = (n + 3) / 4;
    switch (format) {
      case w8_format::plain: {
        std::vector<i8> zeros;
        for (const u32 z : m.zeros) zeros.push_back(static_cast<i8>(static_cast<int>(z) - 128));
        const auto of_zeros = upload(zeros);
        int8_w8 source{of_integers, m.blocks ? in_blocks : of_scales};
        if (shape.zero_points) source.zero_points = tensor_view<const i8, 2>(of_zeros, n, groups);
        repack(s, source, weights());
        break;
      }
      case w8_format::llm_int8: {
        std::vector<f32> scb;
        for (const f32 scale : m.scales) scb.push_back(scale * 127);
        const auto of_scb = upload(scb);
        repack(s, llm_int8_w8{of_integers, tensor_view<const f32, 1>(of_scb, extents(n))}, weights());
        break;
      }
      case w8_format::gptq:
      case w8_format::gptq_v2: {
        const bool v2 = format == w8_format::gptq_v2;
        words = bytes_in_words((k + 3) / 4, n, k, [&](i64 along, i64 column) {
          return std::pair(along / 4 * n + column, m.codes[static_cast<std::size_t>(column * k + along)]);
        });
        zero_words.assign(static_cast<std::size_t>(groups * ((n + 3) / 4)), 0);
        for (i64 group = 0; group < groups; ++group)
          for (i64 column = 0; column < n; ++column)
            put(zero_words, group * ((n + 3) / 4) + column / 4, column % 4,
                m.zeros[m.fact(column, group)] - (v2 ? 0 : 1));
        std::vector<f16> turned;
        for (i64 group = 0; group < groups; ++group)
          for (i64 column = 0; column < n; ++column) turned.push_back(f16(m.scales[m.fact(column, group)]));
        const auto of_words = upload(words), of_zeros = upload(zero_words);
        const auto of_turned = upload(turned);
        repack(s,
               gptq_w8{.qweight = tensor_view<const i32, 2>(of_words, (k + 3) / 4, n),
                       .qzeros = shape.zero_points ? words_view(of_zeros, groups, quarter_n) : words_view(),
                       .scales = tensor_view<const f16, 2>(of_turned, groups, n),
                       .g_idx = of_order,
                       .v2 = v2},
               weights());
        break;
      }
      case w8_format::compressed_tensors: {
        words = bytes_in_words(n, (k + 3) / 4, k, [&](i64 along, i64 column) {
          return std::pair(column * ((k + 3) / 4) + along / 4,
                           m.codes[static_cast<std::size_t>(column * k + along)]);
        });
        zero_words.assign(static_cast<std::size_t>((n + 3) / 4 * groups), 0);
        for (i64 group = 0; group < groups; ++group)
          for (i64 column = 0; column < n; ++column)
            put(zero_words, column / 4 * groups + group, column % 4, m.zeros[m.fact(column, group)]);
        const auto of_words = upload(words), of_zeros = upload(zero_words);
        repack(s,
               compressed_tensors_w8{.weight_packed = tensor_view<const i32, 2>(of_words, n, (k + 3) / 4),
                                     .weight_zero_point = shape.zero_points
                                                              ? words_view(of_zeros, quarter_n, groups)
                                                              : words_view(),
                                     .weight_scale = of_scales,
                                     .weight_g_idx = of_order},
               weights());
        break;
      }
      case w8_format::q8_0: {
        for (i64 row = 0; row < n; ++row)
          for (i64 group = 0; group < groups; ++group) {
            const auto scale = __builtin_bit_cast(std::uint16_t, f16(m.scales[m.fact(row, group)]));
            blocks.push_back(static_cast<u8>(scale & 0xff));
            blocks.push_back(static_cast<u8>(scale >> 8));
            for (i64 i = 0; i < 32; ++i)
              blocks.push_back(flipped[static_cast<std::size_t>(row * k + group * 32 + i)]);
          }
        const auto of_blocks = upload(blocks);
        repack(s, q8_0_w8{tensor_view<const u8, 2>(of_blocks, n, groups * 34)}, weights());
        break;
      }
      case w8_format::e4m3: {
        if (!m.blocks) {
          repack(s, e4m3_w8{of_codes, of_scales}, weights());
          break;
        }
        repack(s, e4m3_w8{of_codes, in_blocks}, weights());
      }
    }
    s.synchronize();
  }

 private:
  static void put(std::vector<i32>& to, i64 word, i64 byte, u32 value) {
    auto& one = to[static_cast<std::size_t>(word)];
    one = static_cast<i32>(static_cast<u32>(one) | (value & 0xff) << (8 * byte));
  }
  template <class F>
  std::vector<i32> bytes_in_words(i64 rows, i64 columns, i64 k, const F& place) const {
    std::vector<i32> result(static_cast<std::size_t>(rows * columns));
    for (i64 column = 0; column < shape.n; ++column)
      for (i64 along = 0; along < k; ++along) {
        const auto [word, value] = place(along, column);
        put(result, word, along % 4, value);
      }
    return result;
  }
};

template <class T>
std::vector<T> matrix_of(const w8_on_device& w, bool by_columns = false) {
  const i64 n = w.shape.n, k = w.shape.k;
  buffer<T> memory = under_test().allocate<T>(static_cast<std::size_t>(n * k));
  dequantise(under_test().stream(), w.weights(),
             tensor_view<T, 2>(memory, extents(n, k), by_columns ? strides(i64{1}, n) : strides(k, i64{1})));
  return memory.download();
}
void require_matrix(const w8_model& m, w8_format format, double off = 0) {
  CAPTURE(static_cast<int>(format), m.n(), m.k(), m.shape.group);
  const std::vector<f32> got = matrix_of<f32>(w8_on_device(m, format));
  for (i64 row = 0; row < m.n(); ++row)
    for (i64 column = 0; column < m.k(); ++column) {
      const f32 want = m.weight(row, column), came = got[static_cast<std::size_t>(row * m.k() + column)];
      if (std::abs(came - want) <= off * std::abs(want)) continue;
      CAPTURE(row, column);
      REQUIRE(came == want);
    }
}

template <class T, class Out>
void check_w8(const w8_model& m, w8_format format, const product_call& c, i64 parts = 0,
              const std::string& variant = "") {
  const w8_on_device w(m, format);
  CAPTURE(static_cast<int>(format), m.shape.group, m.shape.zero_points, parts, variant);
  check_w_product<T, Out>(
      c, m.n(), m.k(), [&](i64 row, i64 column) { return m.weight(row, column); },
      [&](const auto& x, const auto& y, const ops::any_view& bias) {
        const stream& s = under_test().stream();
        matmul_w8_options options{.bias = bias, .splits = static_cast<u32>(parts), .variant = variant};
        const std::uint64_t bytes = matmul_w8_workspace_bytes(s, x, w.weights(), options);
        buffer<u8> workspace = under_test().upload(std::vector<u8>(std::max<std::uint64_t>(bytes, 1), 0xff));
        if (bytes != 0) options.workspace = workspace;
        matmul_w8(s, x, w.weights(), y, options);
      });
}

}  // namespace

TEST_CASE("w8: GPTQ's bytes and values", "[ops][w8]") {
  w8_model m;
  m.shape = {.n = 128, .k = 128, .group = 32, .zero_points = true, .act_order = true};
  for (u32 n = 0; n < 128; ++n) {
    for (u32 k = 0; k < 128; ++k) m.codes.push_back(static_cast<u8>(7 * k + 3 * n + k * n % 5));
    for (u32 g = 0; g < 4; ++g) {
      m.zeros.push_back(1 + (5 * g + 3 * n) % 255);
      m.scales.push_back((1.0f + static_cast<float>((3 * g + n) % 8) / 8.0f) / 64.0f);
    }
  }
  for (u32 k = 0; k < 128; ++k) m.order.push_back(static_cast<i32>(37 * k % 128 / 32));
  const w8_on_device v1(m, w8_format::gptq), v2(m, w8_format::gptq_v2);
  REQUIRE(crc32_of(v1.words) == 0x3e016429u);
  REQUIRE(crc32_of(v1.zero_words) == 0x316b4823u);
  REQUIRE(crc32_of(v2.zero_words) == 0x56dfee33u);
  REQUIRE(crc32_of(matrix_of<f16>(v1, true)) == 0xed759f8du);
  REQUIRE(crc32_of(matrix_of<f16>(v2, true)) == 0xed759f8du);
}

TEST_CASE("w8: Q8_0's bytes and values", "[ops][w8]") {
  w8_model m;
  m.shape = {.n = 2, .k = 128, .group = 32};
  m.order.resize(128);
  m.zeros.resize(8);
  std::vector<f32> x;
  for (int i = 0; i < 256; ++i) x.push_back(static_cast<f32>((37 * i + 11) % 101 - 50) / 16);
  for (std::size_t first = 0; first < 256; first += 32) {
    f32 most = 0;
    for (std::size_t i = first; i < first + 32; ++i) most = std::max(most, std::abs(x[i]));
    const f32 scale = most / 127;
    m.scales.push_back(scale);
    for (std::size_t i = first; i < first + 32; ++i)
      m.codes.push_back(static_cast<u8>(static_cast<int>(std::round(x[i] * (1 / scale))) + 128));
  }
  for (f32& scale : m.scales) scale = static_cast<f32>(f16(scale));
  const w8_on_device w(m, w8_format::q8_0);
  REQUIRE(crc32_of(w.blocks) == 0xacb519ffu);
  REQUIRE(crc32_of(matrix_of<f32>(w)) == 0xc8bc7552u);
}

TEST_CASE("w8: weights are exact in every format, of any extents", "[ops][w8]") {
  std::uint64_t seed = 3;
  for (const w8_format format : {w8_format::plain, w8_format::gptq, w8_format::compressed_tensors})
    for (const auto& [n, k, group] :
         {std::tuple{1, 16, 16}, std::tuple{33, 80, 16}, std::tuple{31, 65, -1}, std::tuple{70, 144, 48},
          std::tuple{33, 224, 128}, std::tuple{34, 90, 16}}) {
      ++seed;
      const w8_shape shape{.n = n,
                           .k = k,
                           .group = group,
                           .zero_points = seed % 3 != 0,
                           .act_order = format != w8_format::plain && seed % 2 == 0};
      require_matrix(w8_model::random(shape, seed), format);
    }
  require_matrix(w8_model::random({.n = 37, .k = 72}, 1), w8_format::llm_int8, 0x1p-22);
  require_matrix(w8_model::random({.n = 35, .k = 96, .group = 32}, 1), w8_format::q8_0);
  require_matrix(w8_model::random({.n = 35, .k = 100, .codes = w8_codes::e4m3}, 1), w8_format::e4m3);
  w8_model blocks = w8_model::random({.n = 150, .k = 256, .group = 128, .codes = w8_codes::e4m3}, 2);
  blocks.blocks = true;
  require_matrix(blocks, w8_format::e4m3);
  blocks = w8_model::random({.n = 150, .k = 272, .group = 128}, 2);
  blocks.blocks = true;
  require_matrix(blocks, w8_format::plain);
  // A last block, and a last group, with fewer k.
  blocks = w8_model::random({.n = 131, .k = 300, .group = 128, .codes = w8_codes::e4m3}, 3);
  blocks.blocks = true;
  require_matrix(blocks, w8_format::e4m3);
  require_matrix(w8_model::random({.n = 35, .k = 100, .group = 64, .codes = w8_codes::e4m3}, 4),
                 w8_format::e4m3);
}

TEST_CASE("w8: integers with the scale and the zero point of a tensor, or scales of rows as a vector",
          "[ops][w8]") {
  const stream& s = under_test().stream();
  constexpr i64 n = 37, k = 72;
  std::vector<i8> codes;
  std::vector<f32> of_rows;
  for (i64 i = 0; i < n * k; ++i) codes.push_back(static_cast<i8>(i * 37 % 256 - 128));
  for (i64 i = 0; i < n; ++i) of_rows.push_back(static_cast<f32>(i + 1) / 64);
  const auto bytes = upload(codes), zeros = upload(std::vector<i8>{-5});
  const auto rows = upload(of_rows), one = upload(std::vector<f32>{0.375f});
  const auto halves = upload(std::vector<f16>{f16(0.375f)});
  const auto check = [&](int8_w8 source, bool has_zero, const auto& scale) {
    const w8_shape shape{.n = n, .k = k, .zero_points = has_zero};
    auto memory = under_test().allocate<u8>(packed_bytes(shape));
    const w8_weights w{shape, memory};
    source.weight = tensor_view<const i8, 2>(bytes, n, k);
    if (has_zero) source.zero_points = tensor_view<const i8, 2>(zeros, 1, 1);
    repack(s, source, w);
    auto matrix = under_test().allocate<f32>(static_cast<std::size_t>(n * k));
    dequantise(s, w, tensor_view<f32, 2>(matrix, n, k));
    const std::vector<f32> got = matrix.download();
    for (i64 i = 0; i < n * k; ++i) {
      const int code = codes[static_cast<std::size_t>(i)] + (has_zero ? 5 : 0);
      REQUIRE(got[static_cast<std::size_t>(i)] == static_cast<f32>(code) * scale(i / k));
    }
  };
  const auto of_tensor = [](i64) { return 0.375f; };
  const auto of_row = [&](i64 row) { return of_rows[static_cast<std::size_t>(row)]; };
  for (const bool has_zero : {false, true}) {
    check({.scales = tensor_view<const f32, 2>(one, 1, 1)}, has_zero, of_tensor);
    check({.scales = tensor_view<const f16, 2>(halves, 1, 1)}, has_zero, of_tensor);
    check({.scales = tensor_view<const f32, 1>(one, extents(1))}, has_zero, of_tensor);
    check({.scales = tensor_view<const f32, 1>(rows, extents(n))}, has_zero, of_row);
  }
}

TEST_CASE("matmul_w8: integers, every kernel", "[ops][w8]") {
  std::uint64_t seed = 10;
  for (const i64 m : {1, 12, 37})
    for (const i64 group : {-1, 32, 128}) {
      ++seed;
      const w8_model model = w8_model::random(
          {.n = 45, .k = group == -1 ? 200 : 256, .group = group, .zero_points = seed % 2 == 0}, seed);
      check_w8<f16, f16>(model, w8_format::plain, {.m = m, .bias = m == 12, .seed = seed}, 1);
      check_w8<bf16, bf16>(model, w8_format::compressed_tensors,
                           {.m = m, .pad = m == 1 ? 5 : 0, .seed = seed}, 3);
    }
  for (const i64 m : {1, 12, 37}) {  // a last group with fewer k
    check_w8<f16, f16>(w8_model::random({.n = 45, .k = 224, .group = 128, .zero_points = true}, 5),
                       w8_format::gptq, {.m = m, .seed = 5}, 2);
    check_w8<bf16, f32>(w8_model::random({.n = 33, .k = 200, .group = 48, .act_order = true}, 6),
                        w8_format::compressed_tensors, {.m = m, .seed = 6}, 1);
  }
  check_w8<bf16, f32>(
      w8_model::random({.n = 64, .k = 128, .group = 64, .zero_points = true, .act_order = true}, 2),
      w8_format::gptq, {.m = 3});
}

// Scales that are numbers of the type of x, and others, have instructions of their own.
TEST_CASE("matmul_w8: integers that a kernel for many rows rounds; the launch chooses the rows of a block",
          "[ops][w8]") {
  if (!(under_test().properties().target == ptx::target{90, true})) return;
  const auto check = [&](i64 most, i64 rows) {
    const auto seed = static_cast<std::uint64_t>(rows);
    const bool is_half = rows / 16 % 2 == 0;
    w8_model model = w8_model::random({.n = 72,
                                       .k = rows % 64 == 0 ? 1216 : 320,
                                       .group = rows % 3 == 0 ? 32 : 64,
                                       .zero_points = rows % 5 != 0},
                                      seed);
    const bool own_scales = rows / 32 % 2 == 0;
    for (f32& scale : model.scales)
      scale = !own_scales ? scale * 1.0001f : is_half ? scale : static_cast<f32>(bf16(scale));
    const product_call call{.m = rows % 48 == 0    ? 2 * rows
                                 : rows % 48 == 16 ? rows + 5
                                                   : rows - 6,
                            .bias = rows % 32 == 0,
                            .seed = seed,
                            .rounded = is_half ? 0x1p-11 : 0x1p-8};
    const std::string variant = std::string("matmul_w8_sm90_rounded_") + (is_half ? "f16_" : "bf16_") +
                                std::to_string(most) + (rows == most ? "" : "_rows" + std::to_string(rows)) +
                                ":" + std::to_string(1 + rows / 16 % 3);
    if (is_half)
      check_w8<f16, f16>(model, w8_format::plain, call, 0, variant);
    else
      check_w8<bf16, f32>(model, w8_format::compressed_tensors, call, 0, variant);
  };
  for (i64 rows = 16; rows <= 128; rows += 16) check(128, rows);
  for (i64 rows = 128; rows <= 256; rows += 16) check(256, rows);
}

TEST_CASE("matmul_w8: one row of integers by a kernel of its own", "[ops][w8]") {
  if (under_test().stream().properties().target.sm < 90) return;
  const std::string half = "matmul_w8_one_row_f16", brain = "matmul_w8_one_row_bf16";
  std::uint64_t seed = 100;
  // Tiles of 64 that splits and warps share unevenly, and a K that ends within one; a scale for a row, and for groups.
  for (const i64 k : {8, 72, 520, 1096, 4352})
    for (const i64 parts : {1, 2, 4}) {
      const std::uint64_t i = ++seed;
      if (parts * 64 > k || k > parts * 4096) continue;  // a block has room for 4096 of x
      const w8_model model = w8_model::random({.n = i % 4 == 0 ? 333 : 8 + static_cast<i64>(i % 5) * 17,
                                               .k = k,
                                               .group = std::array<i64, 3>{64, 128, -1}[i % 3],
                                               .zero_points = i % 2 == 0},
                                              seed);
      const product_call call{.shift = i % 3 == 0 ? 8 : 0, .bias = i % 3 == 1, .seed = seed};
      if (i % 2 == 0)
        check_w8<f16, f16>(model, w8_format::plain, call, parts, half);
      else
        check_w8<bf16, f32>(model, w8_format::compressed_tensors, call, parts, brain);
    }
  // Several units of a cluster, more of them than have room for their sums at once.
  check_w8<bf16, bf16>(w8_model::random({.n = 15392, .k = 256, .zero_points = true}, 1), w8_format::plain,
                       {.bias = true, .seed = 1}, 4, brain);
  for (const i64 k : {64, 328, 1088})
    check_w8<f16, f16>(
        w8_model::random({.n = 72, .k = k, .group = 64, .zero_points = true, .act_order = true},
                         static_cast<std::uint64_t>(k)),
        w8_format::gptq_v2, {.seed = 3}, 0, half);
}

TEST_CASE("matmul_w8: e4m3, every kernel", "[ops][w8]") {
  for (const i64 m : {3, 11, 20, 41}) {
    w8_model blocks = w8_model::random({.n = 140, .k = 256, .group = 128, .codes = w8_codes::e4m3}, 2);
    blocks.blocks = true;
    check_w8<f16, f16>(blocks, w8_format::e4m3, {.m = m}, 1);
    check_w8<bf16, bf16>(w8_model::random({.n = 33, .k = 150, .codes = w8_codes::e4m3}, 3), w8_format::e4m3,
                         {.m = m, .bias = true}, 2);
  }
}

TEST_CASE("matmul_w8: e4m3 with a last block that is shorter", "[ops][w8]") {
  w8_model blocks = w8_model::random({.n = 131, .k = 300, .group = 128, .codes = w8_codes::e4m3}, 7);
  blocks.blocks = true;
  for (const i64 m : {2, 14, 40}) check_w8<bf16, f32>(blocks, w8_format::e4m3, {.m = m}, 2);
}

TEST_CASE("w8: bad input", "[ops][w8]") {
  const stream& s = under_test().stream();
  const w8_shape shape{.n = 32, .k = 64, .group = 32, .zero_points = true};
  buffer<u8> memory = under_test().allocate<u8>(packed_bytes(shape)), bytes = under_test().allocate<u8>(4096);
  buffer<f32> scales = under_test().allocate<f32>(256);
  buffer<f16> x = under_test().allocate<f16>(64), y = under_test().allocate<f16>(32);
  const auto refuses = [&](const std::string& part, const std::function<void()>& f) {
    require_refusal(errc::invalid_argument, "kaio: ", part, f);
  };
  const tensor_view<const u8, 2> codes(bytes, 32, 64), blocks(bytes, 32, 68);
  const tensor_view<const f32, 2> of_scales(scales, 32, 2), one(scales, 32, 1);
  const w8_weights w{shape, memory};
  refuses("zero_points", [&] { repack(s, int8_w8{codes, of_scales}, w); });
  refuses("zero points, and argument blocks is of a format without; set shape.zero_points to false",
          [&] { repack(s, q8_0_w8{blocks}, w); });
  refuses("scales", [&] { repack(s, int8_w8{codes, one}, w); });
  auto of_floats = under_test().allocate<e4m3>(32 * 64);
  const tensor_view<const e4m3, 2> floats(of_floats, 32, 64);
  refuses("weight has elements of another type", [&] { repack(s, int8_w8{floats, of_scales}, w); });
  refuses("scales is not given", [&] { repack(s, int8_w8{codes}, w); });
  refuses("codes of int8, and argument weight is of e4m3; set shape.codes to e4m3", [&] {
    repack(s, e4m3_w8{codes, of_scales}, w);
  });
  refuses("groups of 64, and argument blocks is in blocks of 32; set shape.group to 32", [&] {
    repack(s, q8_0_w8{blocks}, w8_weights{{.n = 32, .k = 64}, memory});
  });
  refuses("no zero points",
          [&] { packed_bytes(w8_shape{.n = 1, .k = 64, .codes = w8_codes::e4m3, .zero_points = true}); });
  refuses("multiples of 64",
          [&] { packed_bytes(w8_shape{.n = 1, .k = 64, .group = 32, .codes = w8_codes::e4m3}); });
  const w8_shape ordered{.n = 32, .k = 64, .group = 32, .act_order = true};
  buffer<u8> more = under_test().allocate<u8>(packed_bytes(ordered));
  refuses("set shape.act_order to false", [&] {
    repack(s, int8_w8{codes, of_scales}, w8_weights{ordered, more});
  });
  const w8_shape plain{.n = 32, .k = 64, .group = 32};
  refuses("no zero points, and argument zero_points is given; set shape.zero_points to true", [&] {
    buffer<i8> zeros = under_test().allocate<i8>(64);
    repack(s, int8_w8{codes, of_scales, tensor_view<const i8, 2>(zeros, 32, 2)}, w8_weights{plain, memory});
  });
  refuses("no act-order, and argument g_idx is given; set shape.act_order to true", [&] {
    buffer<i32> words = under_test().allocate<i32>(512);
    repack(s,
           gptq_w8{.qweight = tensor_view<const i32, 2>(words, 16, 32),
                   .scales = tensor_view<const f32, 2>(scales, 2, 32),
                   .g_idx = tensor_view<const i32, 1>(words, extents(64))},
           w8_weights{plain, memory});
  });
  const tensor_view<const f16, 2> short_x(x, 1, 32);
  const tensor_view<f16, 2> of_y(y, 1, 32);
  refuses("matmul_w8", [&] { matmul_w8(s, short_x, w, of_y); });
}
