// The layers of each scheme are found by their tensors, with the shape, bits and groups of the weight;
// tensors that do not fit together are reported.

#include "files.hpp"

#include "catch.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// A tensor of zeros.
safetensors_maker& zeros(safetensors_maker& s, const std::string& name, const std::string& dtype,
                         std::vector<std::uint64_t> shape, std::size_t element_bytes) {
  std::string text = "[";
  std::size_t bytes = element_bytes;
  for (const std::uint64_t extent : shape) {
    text += (text.size() > 1 ? "," : "") + std::to_string(extent);
    bytes *= extent;
  }
  return s.tensor(name, dtype, text + "]", std::string(bytes, '\0'));
}

struct made {
  safetensors_maker s;
  made& add(const std::string& name, const std::string& dtype, std::vector<std::uint64_t> shape) {
    const std::size_t bytes = dtype == "I64" ? 8 : dtype.ends_with("32") ? 4 : dtype.ends_with("16") ? 2 : 1;
    zeros(s, name, dtype, std::move(shape), bytes);
    return *this;
  }
};

struct found_layer {
  std::size_t layers = 0, parts = 0;
  weight_scheme scheme{};
  std::uint64_t n = 0, k = 0, group = 0;
  unsigned bits = 0;
  bool act_order = false;
  std::string name, problem;
};

found_layer only_layer(const safetensors_maker& s, const quantisation_config* config = nullptr) {
  const std::string text = s.text();
  const safetensors_file file = safetensors_file::view(bytes_of(text), "m");
  const auto layers = quantised_layers(file.tensors(), config);
  if (layers.empty()) return {};
  const quantised_layer& l = layers[0];
  return {layers.size(),       l.parts.size(),        l.scheme, l.n, l.k, l.group, l.bits, l.act_order,
          std::string(l.name), std::string(l.problem)};
}

void check_layer(const safetensors_maker& s, weight_scheme scheme, std::uint64_t n, std::uint64_t k,
                 unsigned bits, std::uint64_t group, std::size_t parts,
                 const quantisation_config* config = nullptr) {
  const found_layer l = only_layer(s, config);
  INFO(std::string(facts(scheme).name) << ", problem: " << l.problem);
  CHECK(l.layers == 1);
  CHECK(l.scheme == scheme);
  CHECK(l.name == "m.q");
  CHECK(l.problem.empty());
  CHECK(l.n == n);
  CHECK(l.k == k);
  CHECK(l.bits == bits);
  CHECK(l.group == group);
  CHECK(l.parts == parts);
}

made gptq(unsigned bits, std::uint64_t n, std::uint64_t k, std::uint64_t group) {
  made m;
  m.add("m.q.qweight", "I32", {k * bits / 32, n})
      .add("m.q.qzeros", "I32", {k / group, n * bits / 32})
      .add("m.q.scales", "F16", {k / group, n});
  return m;
}

}  // namespace

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
  check_layer(gemv(3), weight_scheme::awq_gemv, 16, 2048, 4, 0, 3, &config);
  check_layer(gemv(3), weight_scheme::awq_gemv, 16, 2048, 4, 0, 3);
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
  made symmetric;  // without zero points, which all schemes of AWQ have
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
    layer.k = k;
    layer.bits = 4;
    layer.group = group;
    return operation_of(layer);
  };
  for (const weight_scheme scheme : {weight_scheme::nf4, weight_scheme::fp4}) {
    CHECK(operation(scheme, 192, 64) == "matmul_w4 after repack");
    CHECK(operation(scheme, 96, 64) == "matmul after dequantise");
    CHECK(operation(scheme, 96, 32) == "matmul after dequantise");
  }
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

TEST_CASE("the quantization_config of config.json") {
  folder f;
  const auto config = [&](const std::string& text) {
    return read_quantisation_config(f.write("config.json", text));
  };
  CHECK(!config(R"({"model_type":"llama"})"));
  const auto of_gptq = config(R"({"quantization_config":{"quant_method":"gptq","bits":4,"group_size":-1,)"
                              R"("desc_act":true,"sym":true,"checkpoint_format":"gptq_v2"}})");
  REQUIRE(of_gptq);
  CHECK(of_gptq->method == "gptq");
  CHECK(of_gptq->format == "gptq_v2");
  CHECK(of_gptq->bits == 4);
  CHECK(of_gptq->group == -1);
  CHECK(of_gptq->act_order);
  CHECK(of_gptq->symmetric);
  const auto ct =
      config(R"({"quantization_config":{"quant_method":"compressed-tensors","format":"pack-quantized",)"
             R"("config_groups":{"group_0":{"weights":{"num_bits":8,"group_size":128,)"
             R"("symmetric":false,"actorder":"group"}}}}})");
  REQUIRE(ct);
  CHECK(ct->format == "pack-quantized");
  CHECK(ct->bits == 8);
  CHECK(ct->group == 128);
  CHECK(ct->act_order);
  CHECK(config(R"({"quantization_config":{"load_in_4bit":true,"bnb_4bit_quant_type":"nf4"}})")->method ==
        "bitsandbytes");
  const auto of_group = [&](const std::string& number) {
    return config(R"({"quantization_config":{"quant_method":"gptq","group_size":)" + number + "}}");
  };
  CHECK(of_group("-1")->group == -1);
  CHECK(of_group("9223372036854775807")->group == INT64_MAX);
  CHECK(!of_group("null")->group);
  for (const char* number : {"1e300", "-1e300", "0.5", "128.0", "-1.0", "-2", "-9223372036854775808",
                             "9223372036854775808", "18446744073709551616"}) {
    INFO(number);
    const damage d = catch_damage([&] { of_group(number); });
    CHECK(d.code == errc::damaged_file);
    CHECK(d.message.find("its group_size is neither a whole number of codes below 2^63 nor -1, all of K") !=
          std::string::npos);
  }
  CHECK(catch_damage([&] {
          config(R"({"quantization_config":{"config_groups":{"a":{"weights":{"group_size":1e300}}}}})");
        }).code == errc::damaged_file);
  CHECK(catch_damage([&] { config("{"); }).code == errc::damaged_file);
  CHECK(catch_damage([&] { config(R"({"quantization_config":3})"); }).code == errc::damaged_file);
}
