// The layers of each scheme are found by their tensors, with the shape, bits and groups of the weight;
// tensors that do not fit together are reported.

#include "layers.hpp"

#include <utility>

#include "catch.hpp"

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("GPTQ of 2, 3, 4 and 8 bits, with and without an index") {
  for (const unsigned bits : {2u, 3u, 4u, 8u})
    check_layer(gptq(bits, 64, 256, 32).s, weight_scheme::gptq, 64, 256, bits, 32, 3);
  check_layer(gptq(4, 64, 256, 256).s, weight_scheme::gptq, 64, 256, 4, 256, 3);
  const auto indexed = [](auto group_of) {
    made m = gptq(4, 64, 64, 32);
    std::string index;
    for (std::int32_t k = 0; k < 64; ++k) index += little<std::int32_t>(group_of(k));
    m.s.tensor("m.q.g_idx", "I32", "[64]", index);
    return only_layer(m.s);
  };
  CHECK(indexed([](int k) { return k % 2; }).act_order);
  CHECK(!indexed([](int k) { return k / 32; }).act_order);
  CHECK(!indexed([](int) { return 0; }).act_order);
  CHECK(indexed([](int k) { return k / 32; }).parts == 4);
}

TEST_CASE("AWQ in its three forms") {
  check_layer(made()
                  .add("m.q.qweight", "I32", {256, 8})
                  .add("m.q.qzeros", "I32", {2, 8})
                  .add("m.q.scales", "F16", {2, 64})
                  .s,
              weight_scheme::awq_gemm, 64, 256, 4, 128, 3);
  const quantisation_config config{.method = "awq", .format = "gemv", .bits = 4, .group = 64};
  check_layer(made()
                  .add("m.q.qweight", "I32", {64, 32})
                  .add("m.q.qzeros", "I32", {64, 2})
                  .add("m.q.scales", "F16", {64, 16})
                  .s,
              weight_scheme::awq_gemv, 64, 256, 4, 64, 3, &config);
  check_layer(made()
                  .add("m.q.qweight", "I16", {16, 256})
                  .add("m.q.qzeros", "F16", {16, 64})
                  .add("m.q.scales", "F16", {16, 64})
                  .s,
              weight_scheme::awq_gemv_fast, 64, 256, 4, 64, 3, &config);
}

TEST_CASE("AWQ gemv: zero points are those of the configuration's groups") {
  // Words of zero points of a row, as AutoAWQ pads them, for K = 2048.
  const auto gemv = [](std::uint64_t words) {
    return made()
        .add("m.q.qweight", "I32", {16, 256})
        .add("m.q.qzeros", "I32", {16, words})
        .add("m.q.scales", "F16", {16, 8 * words})
        .s;
  };
  const auto fast = [](std::uint64_t groups) {
    return made()
        .add("m.q.qweight", "I16", {4, 2048})
        .add("m.q.qzeros", "F16", {groups, 16})
        .add("m.q.scales", "F16", {groups, 16})
        .s;
  };
  const std::string_view problem =
      "qzeros and scales do not have the groups of the configuration's group_size";
  struct padded {
    std::int64_t group;
    std::uint64_t words;
  };
  for (const padded& of : {padded{128, 2}, {64, 4}, {32, 8}, {256, 1}, {2048, 1}, {-1, 1}}) {
    INFO(of.group);
    const quantisation_config config{.method = "awq", .format = {}, .bits = 4, .group = of.group};
    const std::uint64_t group = of.group < 0 ? 2048 : static_cast<std::uint64_t>(of.group);
    check_layer(gemv(of.words), weight_scheme::awq_gemv, 16, 2048, 4, group, 3, &config);
    check_layer(fast(8 * of.words), weight_scheme::awq_gemv_fast, 16, 2048, 4, group, 3, &config);
    for (const std::uint64_t words : {of.words - 1, of.words + 1}) {
      if (words == 0) continue;
      const found_layer wrong = only_layer(gemv(words), &config);
      CHECK(wrong.problem == problem);
      CHECK(wrong.scheme == weight_scheme::awq_gemv);
      CHECK(wrong.n == 0);
      CHECK(only_layer(fast(8 * words), &config).problem == problem);
    }
  }
  quantisation_config config{.method = "awq", .format = {}, .bits = 4, .group = 96};
  CHECK(only_layer(gemv(2), &config).problem == "the configuration's group_size does not divide K");
  CHECK(only_layer(fast(12)).problem == "scales are not padded to 8 groups");
  config.group = std::nullopt;
  const quantisation_config* const none = nullptr;
  for (const auto* const without : {&std::as_const(config), none}) {
    const std::string_view unknown = "the group size needs a configuration that has it; none is given";
    CHECK(only_layer(gemv(3), without).problem == unknown);
    CHECK(only_layer(fast(24), without).problem == unknown);
  }
}

TEST_CASE("a configuration of AWQ with the tensors of GPTQ") {
  const quantisation_config awq{.method = "awq", .format = {}, .bits = 4, .group = 32};
  const auto check = [&](const safetensors_maker& s, std::size_t parts, std::string_view problem) {
    const found_layer l = only_layer(s, &awq);
    CHECK(l.layers == 1);
    CHECK(l.scheme == weight_scheme::gptq);
    CHECK(l.parts == parts);
    CHECK(l.problem == problem);
    CHECK(l.n == 0);
  };
  constexpr std::string_view contradiction =
      "the tensors are those of GPTQ, and the configuration's method is awq";
  check(gptq(4, 64, 256, 32).s, 3, contradiction);
  check(gptq(4, 64, 256, 32).add("m.q.g_idx", "I32", {256}).s, 4, contradiction);
  made symmetric;  // without zero points; all schemes of AWQ have them
  symmetric.add("m.q.qweight", "I32", {32, 64}).add("m.q.scales", "F16", {8, 64});
  check(symmetric.s, 2, contradiction);
  made unfit;
  unfit.add("m.q.qweight", "I32", {32, 64}).add("m.q.scales", "F16", {8, 63});
  check(unfit.s, 2, "qweight, scales and qzeros have shapes of no scheme");
}

TEST_CASE("compressed-tensors: packed, integers, 8-bit floats, NVFP4 and MXFP4") {
  made packed;
  packed.add("m.q.weight_packed", "I32", {64, 32}).add("m.q.weight_scale", "BF16", {64, 4});
  packed.s.tensor("m.q.weight_shape", "I64", "[2]", little<std::int64_t>(64) + little<std::int64_t>(256));
  check_layer(packed.s, weight_scheme::packed_int, 64, 256, 4, 64, 3);
  check_layer(made().add("m.q.weight", "I8", {64, 256}).add("m.q.weight_scale", "F32", {64, 1}).s,
              weight_scheme::int8, 64, 256, 8, 256, 2);
  check_layer(made().add("m.q.weight", "F8_E4M3", {64, 256}).add("m.q.weight_scale", "F32", {1}).s,
              weight_scheme::fp8, 64, 256, 8, 256, 2);
  check_layer(made()
                  .add("m.q.weight_packed", "U8", {64, 128})
                  .add("m.q.weight_scale", "F8_E4M3", {64, 16})
                  .add("m.q.weight_global_scale", "F32", {1})
                  .s,
              weight_scheme::nvfp4_packed, 64, 256, 4, 16, 3);
  check_layer(made().add("m.q.weight_packed", "U8", {64, 128}).add("m.q.weight_scale", "U8", {64, 8}).s,
              weight_scheme::mxfp4_packed, 64, 256, 4, 32, 2);
  const auto mxfp8 = [](std::uint64_t groups) {
    return made().add("m.q.weight", "F8_E4M3", {64, 256}).add("m.q.weight_scale", "U8", {64, groups}).s;
  };
  check_layer(mxfp8(8), weight_scheme::mxfp8, 64, 256, 8, 32, 2);
  CHECK(only_layer(mxfp8(8)).operation == "matmul after dequantise");
  CHECK(only_layer(mxfp8(7)).problem == "the scales are not one for each group of a row");
}

TEST_CASE("FP8 blocks, LLM.int8, NVFP4 of ModelOpt, MXFP4 of gpt-oss") {
  check_layer(made().add("m.q.weight", "F8_E4M3", {200, 256}).add("m.q.weight_scale_inv", "F32", {2, 2}).s,
              weight_scheme::fp8_block, 200, 256, 8, 0, 2);
  check_layer(made()
                  .add("m.q.weight", "I8", {64, 256})
                  .add("m.q.SCB", "F32", {64})
                  .add("m.q.weight_format", "U8", {})
                  .s,
              weight_scheme::llm_int8, 64, 256, 8, 256, 3);
  check_layer(made()
                  .add("m.q.weight", "U8", {64, 128})
                  .add("m.q.weight_scale", "F8_E4M3", {64, 16})
                  .add("m.q.weight_scale_2", "F32", {})
                  .add("m.q.input_scale", "F32", {})
                  .s,
              weight_scheme::nvfp4_modelopt, 64, 256, 4, 16, 4);
  check_layer(made().add("m.q_blocks", "U8", {4, 64, 8, 16}).add("m.q_scales", "U8", {4, 64, 8}).s,
              weight_scheme::mxfp4_blocks, 64, 256, 4, 32, 2);
}

TEST_CASE("bitsandbytes nf4 and fp4 by their state") {
  for (const char* type : {"nf4", "fp4"}) {
    made m;
    m.add("m.q.weight", "U8", {512, 1})
        .add("m.q.weight.absmax", "F32", {16})
        .add("m.q.weight.quant_map", "F32", {16});
    const std::string state = R"({"quant_type":"nf4","blocksize":64,"dtype":"bfloat16","shape":[16,64]})";
    m.s.tensor(std::string("m.q.weight.quant_state.bitsandbytes__") + type, "U8",
               "[" + std::to_string(state.size()) + "]", state);
    check_layer(m.s, std::string_view(type) == "nf4" ? weight_scheme::nf4 : weight_scheme::fp4, 16, 64, 4, 64,
                4);
  }
}

TEST_CASE("bitsandbytes: the operation by how blocks divide rows") {
  const auto operation = [](weight_scheme scheme, std::uint64_t k, std::uint64_t group) {
    quantised_layer layer;
    layer.scheme = scheme;
    layer.n = 1;
    layer.k = k;
    layer.bits = 4;
    layer.group = group;
    return std::string(operation_of(layer));
  };
  for (const weight_scheme scheme : {weight_scheme::nf4, weight_scheme::fp4}) {
    CHECK(operation(scheme, 192, 64) == "matmul_w4 after repack");
    CHECK(operation(scheme, 96, 64) == "matmul after dequantise");
    CHECK(operation(scheme, 96, 32) == "matmul after dequantise");
  }
}

TEST_CASE("GPTQ: a last group with fewer codes, by the configuration or the index") {
  // K = 224 in groups of 128: two groups, which could be of 112.
  const auto file = [](unsigned bits, std::uint64_t k, std::uint64_t groups, auto group_of) {
    made m;
    m.add("m.q.qweight", "I32", {k * bits / 32, 64})
        .add("m.q.qzeros", "I32", {groups, 2 * bits})
        .add("m.q.scales", "F16", {groups, 64});
    std::string index;
    for (std::uint64_t i = 0; i < k; ++i)
      index += little<std::int32_t>(static_cast<std::int32_t>(group_of(i)));
    m.s.tensor("m.q.g_idx", "I32", "[" + std::to_string(k) + "]", index);
    return m.s;
  };
  const auto in_order = [](std::uint64_t i) { return i / 128; };
  const auto permuted = [](std::uint64_t i) { return 37 * i % 224 / 128; };
  const auto zeros = [](std::uint64_t) { return 0; };
  quantisation_config config;
  config.method = "gptq";
  config.group = 128;
  for (const unsigned bits : {2u, 3u, 4u, 8u})
    for (const bool has_config : {false, true}) {
      config.bits = bits;
      const quantisation_config* const given = has_config ? &config : nullptr;
      check_layer(file(bits, 224, 2, in_order), weight_scheme::gptq, 64, 224, bits, 128, 4, given);
      CHECK(!only_layer(file(bits, 224, 2, in_order), given).act_order);
      check_layer(file(bits, 224, 2, permuted), weight_scheme::gptq, 64, 224, bits, 128, 4, given);
      CHECK(only_layer(file(bits, 224, 2, permuted), given).act_order);
    }
  config.bits = 4;
  // If an index has only zeros, the configuration decides.
  check_layer(file(4, 224, 2, zeros), weight_scheme::gptq, 64, 224, 4, 128, 4, &config);
  constexpr std::string_view unknown =
      "the group size of 2 groups of K = 224 is ambiguous; pass a configuration that has it";
  CHECK(only_layer(file(4, 224, 2, zeros)).problem == unknown);
  config.group = 64;
  CHECK(only_layer(file(4, 224, 2, in_order), &config).problem ==
        "the configuration's group_size of 64 makes 4 groups of K = 224, and scales have 2");
  config.per_layer = true;
  check_layer(file(4, 224, 2, in_order), weight_scheme::gptq, 64, 224, 4, 128, 4, &config);
  config.per_layer = false;
  config.group = 112;
  CHECK(only_layer(file(4, 224, 2, in_order), &config).problem == "g_idx does not have groups of 112");
  CHECK(only_layer(file(4, 224, 2, [](std::uint64_t k) { return k < 100 || k >= 196 ? 0 : 1; })).act_order);
  CHECK(only_layer(file(4, 224, 2, [](std::uint64_t k) { return k < 100 ? 0 : 1; })).problem ==
        "g_idx does not have groups of one size");
  CHECK(only_layer(file(4, 224, 2, [](std::uint64_t k) { return k < 200 ? 0 : 2; })).problem ==
        "g_idx does not have groups of one size");
  config.group = 256;  // of more than K
  made whole;
  whole.add("m.q.qweight", "I32", {28, 64})
      .add("m.q.qzeros", "I32", {1, 8})
      .add("m.q.scales", "F16", {1, 64});
  check_layer(whole.s, weight_scheme::gptq, 64, 224, 4, 224, 3, &config);
}

TEST_CASE("groups without a configuration and an index are of the only size that is possible") {
  const auto without_index = [](std::uint64_t k, std::uint64_t groups) {
    made m;
    m.add("m.q.qweight", "I32", {k / 8, 64})
        .add("m.q.qzeros", "I32", {groups, 8})
        .add("m.q.scales", "F16", {groups, 64});
    return only_layer(m.s);
  };
  CHECK(without_index(256, 2).group == 128);
  CHECK(without_index(480, 5).group == 96);
  CHECK(without_index(224, 1).group == 224);
  for (const auto& [k, groups] :
       {std::pair{224, 2}, std::pair{896, 4}, std::pair{480, 4}, std::pair{384, 2}}) {
    const found_layer l = without_index(static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(groups));
    CHECK(l.problem == "the group size of " + std::to_string(groups) + " groups of K = " + std::to_string(k) +
                           " is ambiguous; pass a configuration that has it");
    CHECK(l.group == 0);
    CHECK(l.operation.empty());
  }
}

TEST_CASE("the configuration's bits") {
  quantisation_config config;
  config.method = "gptq";
  config.bits = 8;
  constexpr std::string_view contradiction = "the configuration has codes of 8 bits, and the tensors have 4";
  CHECK(only_layer(gptq(4, 64, 256, 32).s, &config).problem == contradiction);
  config.per_layer = true;
  CHECK(only_layer(gptq(4, 64, 256, 32).s, &config).bits == 4);
  config.per_layer = false;
  made packed;
  packed.add("m.q.weight_packed", "I32", {64, 32}).add("m.q.weight_scale", "BF16", {64, 4});
  packed.s.tensor("m.q.weight_shape", "I64", "[2]", little<std::int64_t>(64) + little<std::int64_t>(256));
  CHECK(only_layer(packed.s, &config).problem == contradiction);
  // Zero points of another extent, and which of several numbers of bits they have.
  const auto with_zeros = [](std::uint64_t first, std::uint64_t second, std::uint64_t words, std::int64_t k) {
    made m;
    m.add("m.q.weight_packed", "I32", {64, words}).add("m.q.weight_scale", "F16", {64, 4});
    m.s.tensor("m.q.weight_shape", "I64", "[2]", little<std::int64_t>(64) + little<std::int64_t>(k));
    m.add("m.q.weight_zero_point", "I32", {first, second});
    return only_layer(m.s);
  };
  CHECK(with_zeros(8, 4, 16, 128).problem.empty());
  for (const auto& [first, second] : {std::pair{64, 4}, {4, 8}, {7, 4}, {8, 3}})
    CHECK(
        with_zeros(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(second), 16, 128).problem ==
        "weight_zero_point does not fit weight_scale");
  CHECK(with_zeros(12, 4, 3, 16).bits == 6);
  // Without zero points and an index, only the configuration has the number of bits.
  made plain;
  plain.add("m.q.qweight", "I32", {64, 64}).add("m.q.scales", "F16", {8, 64});
  check_layer(plain.s, weight_scheme::gptq, 64, 256, 8, 32, 2, &config);
  CHECK(only_layer(plain.s).problem == "the number of bits needs a configuration that has it; none is given");
  plain.add("m.q.g_idx", "I32", {512});
  check_layer(plain.s, weight_scheme::gptq, 64, 512, 4, 64, 3);
  for (const unsigned bits : {5u, 6u}) {
    config.bits = bits;
    const found_layer l = only_layer(gptq(bits, 64, 256, 32).s, &config);
    CHECK(l.problem.empty());
    CHECK(l.bits == bits);
    CHECK(l.k == 256);
    CHECK(l.operation.empty());
    CHECK(l.obstacle == "its codes are of " + std::to_string(bits) + " bits, and repack takes 2, 3, 4 and 8");
  }
}

TEST_CASE("the operation is the one that takes the layer as it is") {
  const auto of = [](made& m, const quantisation_config* config = nullptr) {
    const found_layer l = only_layer(m.s, config);
    INFO(l.problem);
    CHECK(l.problem.empty());
    CHECK(l.operation.empty() == !l.obstacle.empty());
    return l.operation.empty() ? l.obstacle : l.operation;
  };
  const auto bytes = [&](const std::string& type, std::vector<std::uint64_t> scales,
                         const std::string& scale_type, bool zeros = false,
                         const quantisation_config* config = nullptr) {
    made m;
    m.add("m.q.weight", type, {256, 384}).add("m.q.weight_scale", scale_type, scales);
    if (zeros) m.add("m.q.weight_zero_point", "I8", scales);
    return of(m, config);
  };
  const std::string w8 = "matmul_w8 after repack", matrix = "matmul after dequantise";
  CHECK(bytes("I8", {256, 1}, "F32") == "matmul_int8");
  CHECK(bytes("I8", {1}, "BF16") == "matmul_int8");
  CHECK(bytes("I8", {256, 3}, "BF16") == w8);
  CHECK(bytes("I8", {256, 1}, "F32", true) == w8);
  CHECK(bytes("I8", {1}, "F32", true) == w8);
  CHECK(bytes("I8", {256, 12}, "F16", true) == w8);
  CHECK(bytes("I8", {256, 48}, "F16") == matrix);
  CHECK(bytes("I8", {256, 48}, "F16", true) == "its groups are of 8 codes, and repack takes multiples of 16");
  CHECK(bytes("I8", {2, 3}, "F16") == w8);
  CHECK(bytes("I8", {4, 6}, "F16") == matrix);
  CHECK(bytes("I8", {2, 3}, "F16", true) == "no operation takes blocks of rows and columns with zero points");
  CHECK(bytes("F8_E4M3", {1}, "F32") == "matmul_fp8");
  CHECK(bytes("F8_E4M3", {256, 1}, "BF16") == "matmul_fp8");
  CHECK(bytes("F8_E4M3", {2, 3}, "F32") == "matmul_fp8");
  CHECK(bytes("F8_E4M3", {2, 3}, "BF16") == w8);
  CHECK(bytes("F8_E4M3", {256, 6}, "F32") == w8);
  CHECK(bytes("F8_E4M3", {256, 12}, "F32") == matrix);
  CHECK(bytes("F8_E4M3", {4, 12}, "F32") == matrix);
  quantisation_config config;
  config.block_rows = 64;
  config.block_columns = 32;
  made blocks;
  blocks.add("m.q.weight", "F8_E4M3", {256, 384}).add("m.q.weight_scale", "F32", {4, 12});
  const found_layer found = only_layer(blocks.s, &config);
  CHECK(found.block_rows == 64);
  CHECK(found.block_columns == 32);
  CHECK(found.group == 0);
  config.block_columns = 64;
  CHECK(only_layer(blocks.s, &config).problem ==
        "the scales are not of the configuration's blocks of 64 x 64");
  made inverse;
  inverse.add("m.q.weight", "F8_E4M3", {200, 300}).add("m.q.weight_scale_inv", "BF16", {2, 3});
  CHECK(of(inverse) == w8);
  CHECK(only_layer(inverse.s).block_rows == 128);
  for (const std::vector<std::uint64_t>& one : {std::vector<std::uint64_t>{}, {1}}) {
    made of_tensor;
    of_tensor.add("m.q.weight", "F8_E4M3", {200, 300})
        .add("m.q.weight_scale_inv", "BF16", one)
        .add("m.q.activation_scale", "BF16", one);
    check_layer(of_tensor.s, weight_scheme::fp8_block, 200, 300, 8, 300, 3);
    CHECK(of(of_tensor) == "matmul_fp8");
  }
  made of_f16;
  of_f16.add("m.q.weight", "F8_E4M3", {200, 300}).add("m.q.weight_scale_inv", "F16", {2, 3});
  CHECK(of(of_f16) == w8);
  quantisation_config divided;
  divided.inverse_scales = true;
  CHECK(
      only_layer(inverse.s, &divided).problem ==
      "the configuration's weight_scale_semantics is inverse: its codes are divided by weight_scale_inv, and "
      "kaio multiplies");

  const auto packed = [&](unsigned bits, const std::string& scale_type) {
    made m;
    m.add("m.q.weight_packed", "I32", {64, 8 * bits}).add("m.q.weight_scale", scale_type, {64, 4});
    m.s.tensor("m.q.weight_shape", "I64", "[2]", little<std::int64_t>(64) + little<std::int64_t>(256));
    return of(m);
  };
  for (const unsigned bits : {2u, 3u, 4u}) {
    CHECK(packed(bits, "F16") == "matmul_w4 after repack");
    CHECK(packed(bits, "F32") == "its scales are F32, and repack takes F16 or BF16: round them first");
  }
  CHECK(packed(8, "F32") == w8);
  made gptq_of_f32;
  gptq_of_f32.add("m.q.qweight", "I32", {32, 64})
      .add("m.q.qzeros", "I32", {8, 8})
      .add("m.q.scales", "F32", {8, 64});
  CHECK(of(gptq_of_f32) == "its scales are F32, and repack takes F16 or BF16: round them first");
  made smoothed;
  smoothed.add("m.q.weight", "F8_E4M3", {256, 384})
      .add("m.q.weight_scale", "F32", {1})
      .add("m.q.pre_quant_scale", "BF16", {384});
  CHECK(of(smoothed) == "x is multiplied by m.q.pre_quant_scale first, which no operation does");
  quantisation_config of_64;
  of_64.group = 64;
  made fast;
  fast.add("m.q.qweight", "I16", {1, 96}).add("m.q.qzeros", "F16", {8, 4}).add("m.q.scales", "F16", {8, 4});
  of_64.group = 96;
  CHECK(of(fast, &of_64) == "repack takes gemv_fast with K a multiple of 64, and N of 4");
}

TEST_CASE("bitsandbytes: one cause of what is wrong in the state, and where absmax is quantised itself") {
  const auto layer = [](const std::string& state, bool nested = true, std::uint64_t outer = 1) {
    made m;
    m.add("m.q.weight", "U8", {512, 1})
        .add("m.q.weight.absmax", nested ? "U8" : "F32", {16})
        .add("m.q.weight.quant_map", "F32", {16});
    if (nested && outer != 0)
      m.add("m.q.weight.nested_absmax", "F32", {outer}).add("m.q.weight.nested_quant_map", "F32", {256});
    m.s.tensor("m.q.weight.quant_state.bitsandbytes__nf4", "U8", "[" + std::to_string(state.size()) + "]",
               state);
    return only_layer(m.s);
  };
  const std::string begin = R"({"shape":[16,64],"blocksize":64)";
  const found_layer good = layer(begin + R"(,"nested_blocksize":256,"nested_offset":0.25})");
  CHECK(good.problem.empty());
  CHECK(good.nested_group == 256);
  CHECK(good.nested_offset == 0.25f);
  CHECK(layer(begin + "}", false).problem.empty());
  CHECK(layer(begin + R"(,"nested_blocksize":0,"nested_offset":0})").problem ==
        "quant_state has no nested_blocksize that is a number from 1 on");
  CHECK(layer(begin + R"(,"nested_blocksize":256})").problem ==
        "quant_state has no nested_offset that is a number");
  CHECK(layer(begin + R"(,"nested_blocksize":8,"nested_offset":-1})").problem ==
        "nested_absmax is not of one number a block of absmax");
  CHECK(layer(begin + R"(,"nested_blocksize":8,"nested_offset":-1})", true, 2).nested_offset == -1);
  CHECK(layer(begin + "}", true, 0).problem ==
        "absmax is of codes, and has no nested_absmax and nested_quant_map");
  CHECK(layer(R"({"shape":[16],"blocksize":64})", false).problem ==
        "quant_state has no shape of 2 dimensions");
  CHECK(layer(R"({"shape":[16,64],"blocksize":0})", false).problem ==
        "quant_state has no blocksize that is a number from 1 on");
}

TEST_CASE("tensors that do not fit together are reported, and plain ones are no layer") {
  CHECK(only_layer(made().add("m.q.weight", "BF16", {4, 4}).add("m.q.bias", "BF16", {4}).s).layers == 0);
  CHECK(only_layer(made().add("m.q.weight", "I8", {4, 4}).s).layers == 0);
  CHECK(only_layer(gptq(4, 64, 256, 32).add("m.q.g_idx", "I32", {255}).s).problem ==
        "g_idx is not of K numbers");
  CHECK(only_layer(made()
                       .add("m.q.qweight", "I32", {32, 64})
                       .add("m.q.qzeros", "I32", {7, 8})
                       .add("m.q.scales", "F16", {8, 64})
                       .s)
            .problem == "qzeros do not fit scales");
  made unfit;  // qweight of 8 columns, scales of 9
  unfit.add("m.q.qweight", "I32", {4, 8}).add("m.q.scales", "F16", {3, 9}).add("m.q.qzeros", "I32", {3, 1});
  const found_layer of_gptq = only_layer(unfit.s);
  CHECK(of_gptq.problem == "qweight, scales and qzeros have shapes of no scheme");
  CHECK(of_gptq.scheme == weight_scheme::gptq);
  CHECK(of_gptq.parts == 3);
  quantisation_config awq;
  awq.method = "awq";
  CHECK(only_layer(unfit.s, &awq).scheme == weight_scheme::awq_gemm);
  CHECK(
      only_layer(made().add("m.q.weight", "F8_E4M3", {200, 256}).add("m.q.weight_scale_inv", "F32", {2, 3}).s)
          .problem == "weight_scale_inv is not of blocks of 128 x 128");
  made packed;
  packed.add("m.q.weight_packed", "I32", {64, 32})
      .add("m.q.weight_scale", "BF16", {64, 4})
      .add("m.q.weight_shape", "I64", {2});
  CHECK(only_layer(packed.s).problem == "weight_shape does not fit weight_packed and weight_scale");
  made bnb;
  bnb.add("m.q.weight", "U8", {512, 1})
      .add("m.q.weight.absmax", "F32", {16})
      .add("m.q.weight.quant_map", "F32", {16});
  bnb.add("m.q.weight.quant_state.bitsandbytes__nf4", "U8", {10});
  CHECK(only_layer(bnb.s).problem == "quant_state is no JSON");
}
