// Files with the tensors' names and shapes of a scheme, and with codes in an order that is not read, are refused:
// by the configuration's format, and by the weight_format of bitsandbytes.

#include "layers.hpp"

#include "catch.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// The layer has a problem, and nothing else that could be multiplied.
void check_refused(const found_layer& l, std::string_view problem) {
  CHECK(l.layers == 1);
  CHECK(l.problem == problem);
  CHECK(l.obstacle == problem);
  CHECK(l.operation.empty());
  CHECK(l.n == 0);
  CHECK(l.k == 0);
  CHECK(l.group == 0);
}

quantisation_config configuration(const std::string& method, const std::string& format) {
  quantisation_config config;
  config.method = method;
  config.format = format;
  return config;
}

made packed_of_4_bits() {
  made m;
  m.add("m.q.weight_packed", "I32", {64, 32}).add("m.q.weight_scale", "BF16", {64, 4});
  m.s.tensor("m.q.weight_shape", "I64", "[2]", little<std::int64_t>(64) + little<std::int64_t>(256));
  return m;
}

}  // namespace

TEST_CASE("GPTQ is read in its two formats, and refused in others") {
  quantisation_config config;
  for (const char* method : {"gptq", "auto-round", ""})
    for (const unsigned bits : {2u, 3u, 4u, 8u}) {
      INFO(method << ", " << bits << " bits");
      config.method = method;
      config.bits = bits;
      for (const char* format : {"", "gptq", "gptq_v2"}) {
        config.format = format;
        check_layer(gptq(bits, 64, 256, 32).s, weight_scheme::gptq, 64, 256, bits, 32, 3, &config);
        CHECK(only_layer(gptq(bits, 64, 256, 32).s, &config).operation ==
              (bits == 8 ? "matmul_w8 after repack" : "matmul_w4 after repack"));
      }
      for (const char* format : {"gptq_p", "marlin", "bitblas", "gptq_v3", "gptq_v", "gptq_v22"}) {
        config.format = format;
        check_refused(
            only_layer(gptq(bits, 64, 256, 32).s, &config),
            std::string("the configuration's format is ") + format + "; kaio reads GPTQ in gptq, gptq_v2");
      }
    }
  // Settings of some layers leave the order of codes as it is.
  config.format = "gptq_p";
  config.per_layer = true;
  CHECK(!only_layer(gptq(4, 64, 256, 32).s, &config).problem.empty());
  // A contradiction to the shapes is reported before the format is.
  config = configuration("gptq", "gptq_p");
  config.bits = 8;
  CHECK(only_layer(gptq(4, 64, 256, 32).s, &config).problem ==
        "the configuration has codes of 8 bits, and the tensors have 4");
}

TEST_CASE("the planar format of GPTQModel is refused by its config.json") {
  folder f;
  for (const char* key : {"checkpoint_format", "format"}) {
    const auto config = read_quantisation_config(
        f.write("config.json", std::string(R"({"quantization_config":{"quant_method":"gptq","bits":4,)") +
                                   R"("group_size":32,"desc_act":false,")" + key + R"(":"gptq_p"}})"));
    REQUIRE(config);
    CHECK(config->format == "gptq_p");
    check_refused(only_layer(gptq(4, 64, 256, 32).s, &*config),
                  "the configuration's format is gptq_p; kaio reads GPTQ in gptq, gptq_v2");
  }
  // AutoAWQ has written it in capitals too.
  const auto capitals = read_quantisation_config(
      f.write("config.json", R"({"quantization_config":{"quant_method":"awq","version":"GEMM"}})"));
  REQUIRE(capitals);
  CHECK(capitals->format == "gemm");
  // A name of a format is printed as text alone.
  const quantisation_config hostile = configuration("gptq", "\x1b[31m");
  CHECK(only_layer(gptq(4, 64, 256, 32).s, &hostile).problem.find('\x1b') == std::string::npos);
}

TEST_CASE("AWQ and pack-quantized are refused in other formats") {
  const auto awq = [](const quantisation_config& config) {
    return only_layer(made()
                          .add("m.q.qweight", "I32", {256, 8})
                          .add("m.q.qzeros", "I32", {2, 8})
                          .add("m.q.scales", "F16", {2, 64})
                          .s,
                      &config);
  };
  for (const char* format : {"", "gemm", "gemv", "gemv_fast", "llm-awq"})
    CHECK(awq(configuration("awq", format)).operation == "matmul_w4 after repack");
  for (const char* format : {"marlin", "bitblas", "gptq"})
    check_refused(awq(configuration("awq", format)),
                  std::string("the configuration's format is ") + format +
                      "; kaio reads AWQ gemm in gemm, gemv, gemv_fast, llm-awq");
  const auto packed = [](const char* format) {
    const quantisation_config config = configuration("compressed-tensors", format);
    return only_layer(packed_of_4_bits().s, &config);
  };
  for (const char* format : {"", "pack-quantized", "mixed-precision"})
    CHECK(packed(format).operation == "matmul_w4 after repack");
  check_refused(packed("marlin-24"),
                "the configuration's format is marlin-24; kaio reads compressed-tensors pack-quantized in "
                "pack-quantized, mixed-precision");
  // Other schemes have tensors that no other format has.
  const quantisation_config config = configuration("compressed-tensors", "naive-quantized");
  CHECK(
      only_layer(made().add("m.q.weight", "I8", {64, 256}).add("m.q.weight_scale", "F32", {64, 1}).s, &config)
          .operation == "matmul_int8");
}

TEST_CASE("LLM.int8 is read row after row, and refused in the orders of kernels") {
  const auto layer = [](const std::string& dtype, const std::string& shape, const std::string& bytes) {
    made m;
    m.add("m.q.weight", "I8", {64, 256}).add("m.q.SCB", "F32", {64});
    if (!dtype.empty()) m.s.tensor("m.q.weight_format", dtype, shape, bytes);
    return only_layer(m.s);
  };
  for (const found_layer& l : {layer("", "", ""), layer("U8", "[]", std::string(1, '\0')),
                               layer("U8", "[1]", std::string(1, '\0'))}) {
    CHECK(l.problem.empty());
    CHECK(l.operation == "matmul_w8 after repack");
    CHECK(l.n == 64);
    CHECK(l.group == 256);
  }
  for (const unsigned order : {1u, 2u, 3u, 255u})
    check_refused(layer("U8", "[]", std::string(1, static_cast<char>(order))),
                  "weight_format is " + std::to_string(order) +
                      ", the order of a kernel of bitsandbytes; kaio reads 0, row after row");
  check_refused(layer("U8", "[2]", std::string(2, '\0')), "weight_format is not one number of U8");
  check_refused(layer("U8", "[0]", ""), "weight_format is not one number of U8");
  check_refused(layer("I32", "[]", std::string(4, '\0')), "weight_format is not one number of U8");
}
