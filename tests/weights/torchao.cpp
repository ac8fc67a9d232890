// Layers of torchao's tensors, as torchao.prototype.safetensors and transformers save them: found by names, types and
// shapes, with the operation that multiplies; swizzled scales come back row after row.

#include "layers.hpp"

#include <algorithm>
#include <utility>

#include "catch.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

using shape = std::vector<std::uint64_t>;

struct named {
  std::string suffix, type;
  shape extents;
};

// A file of the tensor m.q._weight_qdata and others that begin with m.q._weight_.
made torchao(const std::string& type, shape codes, const std::vector<named>& others) {
  made m;
  m.add("m.q._weight_qdata", type, std::move(codes));
  for (const named& other : others) m.add("m.q._weight_" + other.suffix, other.type, other.extents);
  return m;
}

std::string problem_of(const std::string& type, shape codes, const std::vector<named>& others) {
  const found_layer l = only_layer(torchao(type, std::move(codes), others).s);
  CHECK(l.layers == 1);
  CHECK(l.n == 0);
  CHECK(l.operation.empty());
  return l.problem;
}

// Scales {rows, columns} in the order of torchao's to_blocked: a block of 128 x 4 is read as four of 32 x 4 with their
// rows next to each other; missing scales are 0.
std::string swizzled(const std::string& in_rows, std::size_t rows, std::size_t columns) {
  std::string blocks;
  for (std::size_t row = 0; row < rows; row += 128)
    for (std::size_t column = 0; column < columns; column += 4)
      for (std::size_t i = 0; i < 32; ++i)
        for (std::size_t quarter = 0; quarter < 4; ++quarter)
          for (std::size_t c = column; c < column + 4; ++c) {
            const std::size_t r = row + 32 * quarter + i;
            blocks += r < rows && c < columns ? in_rows[r * columns + c] : '\0';
          }
  return blocks;
}

}  // namespace

TEST_CASE("torchao: integers and 8-bit floats, by the blocks that scales divide the weight into") {
  const auto of = [](const std::string& type, shape scales, const std::string& scale_type, bool zeros) {
    std::vector<named> others = {{"scale", scale_type, scales}};
    if (zeros) others.push_back({"zero_point", "I8", scales});
    return torchao(type, {256, 384}, others);
  };
  struct row {
    std::string type;
    shape scales;
    std::uint64_t group, block_rows, block_columns;
    std::string operation;
  };
  const std::string w8 = "matmul_w8 after repack", matrix = "matmul after dequantise";
  for (const row& r : {row{"I8", {256, 1}, 384, 0, 0, "matmul_int8"},
                       {"I8", {1, 1}, 384, 0, 0, "matmul_int8"},
                       {"I8", {256, 12}, 32, 0, 0, w8},
                       {"I8", {256, 2}, 192, 0, 0, w8},  // block_size divides K: no other group is possible
                       {"I8", {256, 48}, 8, 0, 0, matrix},
                       {"F8_E4M3", {256, 1}, 384, 0, 0, "matmul_fp8"},
                       {"F8_E4M3", {1, 1}, 384, 0, 0, "matmul_fp8"},
                       {"F8_E4M3", {}, 384, 0, 0, "matmul_fp8"},
                       {"F8_E4M3", {256, 3}, 128, 0, 0, w8},
                       {"F8_E4M3", {2, 3}, 0, 128, 128, "matmul_fp8"},
                       {"F8_E4M3", {4, 3}, 0, 64, 128, matrix},
                       {"F8_E5M2", {256, 1}, 384, 0, 0, "matmul_fp8"},
                       {"F8_E5M2", {2, 3}, 0, 128, 128, matrix},
                       {"F8_E5M2", {256, 3}, 128, 0, 0, matrix}}) {
    const bool zeros = r.type == "I8";
    const made m = of(r.type, r.scales, "F32", zeros);
    INFO(r.type << " " << r.operation << " " << r.group);
    check_layer(m.s, zeros ? weight_scheme::torchao_int8 : weight_scheme::torchao_fp8, 256, 384, 8, r.group,
                zeros ? 3 : 2);
    const found_layer l = only_layer(m.s);
    CHECK(l.block_rows == r.block_rows);
    CHECK(l.block_columns == r.block_columns);
    CHECK(l.operation == r.operation);
    CHECK(l.obstacle.empty());
  }
  CHECK(only_layer(of("I8", {256, 1}, "BF16", false).s).operation == "matmul_int8");
  // Zero points that are not all 0.
  made asymmetric = torchao("I8", {2, 64}, {{"scale", "F32", {2, 1}}});
  asymmetric.s.tensor("m.q._weight_zero_point", "I8", "[2,1]", std::string("\0\x05", 2));
  CHECK(only_layer(asymmetric.s).operation == w8);
  // x is multiplied by the factors of a smoothed layer first.
  made smoothed = of("I8", {256, 1}, "F32", true);
  smoothed.add("m.q._weight_act_pre_scale", "F32", {384});
  const found_layer l = only_layer(smoothed.s);
  CHECK(l.problem.empty());
  CHECK(l.operation.empty());
  CHECK(l.obstacle == "x is multiplied by m.q._weight_act_pre_scale first, which no operation does");
}

TEST_CASE("torchao: int4 of tinygemm, as it was packed, and plain int4") {
  for (const std::uint64_t tiles : {2u, 4u, 8u}) {
    const made m = torchao("I32", {8, 2048 / (16 * tiles), 32, tiles / 2},
                           {{"scale_and_zero", "BF16", {2048 / 128, 64, 2}}});
    check_layer(m.s, weight_scheme::torchao_tinygemm, 64, 2048, 4, 128, 2);
    CHECK(only_layer(m.s).operation == "matmul_w4 after repack");
  }
  const auto plain = [](const char* type, std::uint64_t columns, const char* of_scales,
                        const char* of_zeros) {
    const made m =
        torchao(type, {64, columns}, {{"scale", of_scales, {8, 64}}, {"zero_point", of_zeros, {8, 64}}});
    check_layer(m.s, weight_scheme::torchao_int4_plain, 64, 256, 4, 32, 3);
    return only_layer(m.s);
  };
  for (const char* const type : {"F16", "BF16"}) {
    for (const char* const codes : {"I8", "U8"}) {
      CHECK(plain(codes, 128, type, type).operation == "matmul_w4 after repack");
      CHECK(plain(codes, 128, type, type).obstacle.empty());
    }
  }
  CHECK(plain("I32", 32, "BF16", "BF16").obstacle ==
        "repack takes torchao's int4 of bytes and of tinygemm, and its words are of other devices");
  CHECK(plain("I8", 128, "F32", "F32").obstacle == "repack takes scale and zero_point of F16, or of BF16");
  const made odd = torchao("I8", {64, 126}, {{"scale", "F16", {1, 64}}, {"zero_point", "F16", {1, 64}}});
  CHECK(only_layer(odd.s).obstacle == "repack takes words of eight codes, and K is no multiple of 8");
  const made small = torchao("I8", {64, 128}, {{"scale", "F16", {16, 64}}, {"zero_point", "F16", {16, 64}}});
  CHECK(only_layer(small.s).obstacle == "its groups are of 16 codes, and repack takes multiples of 32");
  CHECK(plain("I8", 128, "F16", "BF16").obstacle == "repack takes scale and zero_point of F16, or of BF16");
}

TEST_CASE("torchao: NVFP4 and MX, with scales in rows and swizzled") {
  for (const bool is_swizzled : {false, true}) {
    // N = 200, 10 and 5 scales a row.
    const shape of_16 = is_swizzled ? shape{64, 48} : shape{200, 10},
                of_32 = is_swizzled ? shape{64, 32} : shape{200, 5};
    const made plain = torchao("U8", {200, 80}, {{"scale", "F8_E4M3", of_16}});
    check_layer(plain.s, weight_scheme::torchao_nvfp4, 200, 160, 4, 16, 2);
    CHECK(only_layer(plain.s).swizzled == is_swizzled);
    const made scaled =
        torchao("U8", {200, 80}, {{"scale", "F8_E4M3", of_16}, {"per_tensor_scale", "F32", {}}});
    check_layer(scaled.s, weight_scheme::torchao_nvfp4, 200, 160, 4, 16, 3);
    CHECK(only_layer(scaled.s).operation == "matmul_w4 after repack");
    const made mx4 = torchao("U8", {200, 80}, {{"scale", "F8_E8M0", of_32}});
    check_layer(mx4.s, weight_scheme::torchao_mx, 200, 160, 4, 32, 2);
    CHECK(only_layer(mx4.s).swizzled == is_swizzled);
    CHECK(only_layer(mx4.s).operation == "matmul_w4 after repack");
    const made mx8 = torchao("F8_E5M2", {200, 160}, {{"scale", "F8_E8M0", of_32}});
    check_layer(mx8.s, weight_scheme::torchao_mx, 200, 160, 8, 32, 2);
    CHECK(only_layer(mx8.s).operation == "matmul after dequantise");
  }
  const found_layer of_64 = only_layer(torchao("U8", {64, 128}, {{"scale", "F8_E8M0", {64, 4}}}).s);
  CHECK(of_64.group == 64);
  CHECK(of_64.obstacle == "its groups are of 64 codes, and repack takes 32");
}

TEST_CASE("swizzled scales, row after row") {
  const std::size_t rows = 200, columns = 10;
  std::string in_rows;
  for (std::size_t i = 0; i < rows * columns; ++i) in_rows += static_cast<char>(i & 255);
  const std::string blocks = swizzled(in_rows, rows, columns);
  CHECK(crc32(bytes_of(blocks)) == 0x2a030953);  // of torchao's to_blocked
  const auto check = [&](const std::string& extents, const std::string& bytes) {
    made m = torchao("U8", {200, 80}, {});
    m.s.tensor("m.q._weight_scale", "F8_E4M3", extents, bytes);
    const std::string text = m.s.text();
    const safetensors_file file = safetensors_file::view(bytes_of(text), "m");
    CHECK(std::ranges::equal(scales_in_rows(quantised_layers(file.tensors()).at(0)), bytes_of(in_rows)));
  };
  check("[64,48]", blocks);
  check("[200,10]", in_rows);
  const auto refuses = [](const made& m, std::string_view what) {
    const std::string text = m.s.text();
    const safetensors_file file = safetensors_file::view(bytes_of(text), "m");
    try {
      scales_in_rows(quantised_layers(file.tensors()).at(0));
      FAIL("it was taken: " << what);
    } catch (const invalid_argument& e) {
      CHECK(std::string_view(e.what()).find(what) != std::string_view::npos);
    }
  };
  refuses(gptq(4, 64, 256, 32), "its scales are not of one byte for each group along K");
  refuses(torchao("U8", {64, 128}, {{"scale", "F8_E4M3", {64, 15}}}),
          "the scales are not one for each group of a row");
}

TEST_CASE("torchao's tensors that do not fit together are reported") {
  CHECK(problem_of("I8", {64, 256, 2}, {{"scale", "F32", {64, 1}}}) == "qdata is not of 2 dimensions");
  CHECK(problem_of("I8", {64, 256}, {{"scale", "F32", {64}}}) == "the scales are not of 2 dimensions");
  for (const shape& scales : {shape{64, 3}, {63, 1}, {0, 1}, {64, 257}})
    CHECK(problem_of("F8_E4M3", {64, 256}, {{"scale", "F32", scales}}) ==
          "the scales do not divide the weight into blocks");
  CHECK(problem_of("I8", {64, 256}, {{"scale", "F32", {64, 1}}, {"zero_point", "I8", {1, 64}}}) ==
        "zero_point is not of the shape of scale");
  constexpr std::string_view dimensions = "qdata is not of 4 dimensions, the last ones 32 and 1, 2 or 4";
  for (const shape& codes : {shape{8, 16, 32}, {8, 16, 31, 4}, {8, 16, 32, 3}, {8, 16, 32, 0}})
    CHECK(problem_of("I32", codes, {{"scale_and_zero", "BF16", {16, 64, 2}}}) == dimensions);
  for (const shape& scales : {shape{16, 64}, {16, 63, 2}, {16, 64, 1}})
    CHECK(problem_of("I32", {8, 16, 32, 4}, {{"scale_and_zero", "BF16", scales}}) ==
          "scale_and_zero is not of {groups, N, 2}");
  CHECK(problem_of("I32", {8, 16, 32, 4}, {{"scale_and_zero", "BF16", {15, 64, 2}}}) ==
        "the groups of scale_and_zero do not divide K");
  CHECK(problem_of("U8", {64, 128}, {{"scale", "BF16", {64, 8}}, {"zero_point", "BF16", {64, 8}}}) ==
        "scale is not of {groups, N}, with groups that divide K");
  CHECK(problem_of("U8", {64, 128}, {{"scale", "BF16", {8, 64}}, {"zero_point", "BF16", {1, 64}}}) ==
        "zero_point is not of the shape of scale");
  for (const shape& scales : {shape{64, 15}, {63, 16}, {32, 60}, {64, 16, 1}})
    CHECK(problem_of("U8", {64, 128}, {{"scale", "F8_E4M3", scales}}) ==
          "the scales are not one for each group of a row");
  CHECK(problem_of("U8", {64, 100}, {{"scale", "F8_E4M3", {64, 12}}}) ==
        "K is no multiple of the 16 codes of a scale");
  CHECK(problem_of("U8", {64, 128},
                   {{"scale", "F8_E4M3", {64, 16}}, {"per_tensor_scale", "F32", {64, 1, 1}}}) ==
        "per_tensor_scale is not one number");
  CHECK(problem_of("U8", {64, 128}, {{"scale", "F8_E8M0", {64, 7}}}) ==
        "the scales are not one for each group of a row");
  CHECK(problem_of("I8", {64, 256}, {}) ==
        "torchao int8 needs the tensor m.q._weight_scale, which is missing");
}
