// The configuration of a model is read as its libraries write it: Python's JSON, in the places that they have for it.

#include "layers.hpp"

#include <utility>

#include "catch.hpp"

using namespace kaio;
using namespace kaio::tests;

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
  CHECK(of_gptq->symmetric == true);
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
  CHECK(!of_gptq->per_layer);
  CHECK(config(R"({"quantization_config":{"quant_method":"gptq","dynamic":{"+:.*down.*":{"bits":8}}}})")
            ->per_layer);
  CHECK(config(R"({"quantization_config":{"config_groups":{"a":{},"b":{}}}})")->per_layer);
  CHECK(!config(R"({"quantization_config":{"config_groups":{"a":{}}}})")->per_layer);
  const auto of_fp8 =
      config(R"({"quantization_config":{"quant_method":"fp8","weight_block_size":[128,64]}})");
  CHECK(of_fp8->block_rows == 128);
  CHECK(of_fp8->block_columns == 64);
  CHECK(config(R"({"quantization_config":{"config_groups":{"a":{"weights":{"block_structure":[64,32]}}}}})")
            ->block_rows == 64);
  const auto of_gptqmodel =
      config(R"({"quantization_config":{"quant_method":"fp8","bits":8,"weight_scale_method":"row",)"
             R"("weight_scale_semantics":"inverse"}})");
  CHECK(of_gptqmodel->inverse_scales);
  CHECK(!of_fp8->inverse_scales);
  // AutoRound's own files have zero points as they are, those for GPTQ's kernels less 1.
  for (const auto& [packing, format] : {std::pair{"auto_round", "gptq_v2"},
                                        {"auto_round:gptqmodel", "gptq_v2"},
                                        {"auto_round:auto_gptq", "gptq"},
                                        {"auto_round:gptq", "gptq"},
                                        {"auto_round:auto_awq", "gemm"},
                                        {"auto_round:awq", "gemm"},
                                        {"auto_round:llm_compressor", "llm_compressor"},
                                        {"mlx", "mlx"}}) {
    INFO(packing);
    const auto of_auto_round =
        config(std::string(R"({"quantization_config":{"quant_method":"auto-round","bits":4,)") +
               R"("group_size":32,"sym":false,"packing_format":")" + packing + R"("}})");
    REQUIRE(of_auto_round);
    CHECK(of_auto_round->method == "auto-round");
    CHECK(of_auto_round->format == format);
    const bool is_gptq = std::string_view(format).starts_with("gptq");
    CHECK(only_layer(gptq(4, 64, 256, 32).s, &*of_auto_round).problem.empty() == is_gptq);
  }
  const auto of_auto_gptq = config(R"({"bits":4,"group_size":128,"desc_act":true,"sym":false})");
  REQUIRE(of_auto_gptq);
  CHECK(of_auto_gptq->method == "gptq");
  CHECK(of_auto_gptq->group == 128);
  CHECK(of_auto_gptq->act_order);
  // Python's JSON, and configurations of parts of a model, or of ModelOpt.
  const std::string bits = R"("quantization_config":{"quant_method":"gptq","bits":4,"group_size":64})";
  for (const std::string& text :
       {R"({"time_step_limit":[0.0,Infinity,-Infinity,NaN,1e999],)" + bits + "}",
        R"({"bits":8,"bits":4,)" + bits + "}",
        R"({"quantization_config":{"quant_method":"awq","bits":8},)" + bits + "}",
        R"({"x":"\ud800",)" + bits + "}", R"({"quantization_config":null,"text_config":{)" + bits + "}}",
        R"({"text_config":{"text_config":{)" + bits + "}}}",
        R"({"vision_config":{},"thinker_config":{)" + bits + "}}",
        R"({"llm_config":{"quantization_config":{"bits":3}},"text_config":{)" + bits + "}}"}) {
    INFO(text);
    const auto found = config(text);
    REQUIRE(found);
    CHECK(found->method == "gptq");
    CHECK(found->bits == 4);
    CHECK(found->group == 64);
  }
  const auto of_modelopt =
      config(R"({"producer":{"name":"modelopt"},"quantization":{"quant_algo":"NVFP4",)"
             R"("kv_cache_quant_algo":"FP8","group_size":16,"exclude_modules":["lm_head"]}})");
  REQUIRE(of_modelopt);
  CHECK(of_modelopt->method == "modelopt");
  CHECK(of_modelopt->format == "nvfp4");
  CHECK(of_modelopt->group == 16);
  CHECK(!config(R"({"quantization":{"group_size":64,"bits":4}})"));  // MLX's
  // A setting that all groups of layers have counts; a setting of one of them does not.
  const auto of_groups = [&](const std::string& first, const std::string& second) {
    return *config(R"({"quantization_config":{"config_groups":{"a":{"weights":{)" + first +
                   R"(}},"b":{"weights":{)" + second + "}}}}}");
  };
  CHECK(of_groups(R"("symmetric":false)", R"("symmetric":false)").symmetric == false);
  CHECK(!of_groups(R"("symmetric":false)", R"("symmetric":true)").symmetric);
  CHECK(of_groups(R"("actorder":"group")", R"("actorder":"group")").act_order);
  CHECK(!of_groups(R"("actorder":"group")", R"("actorder":null)").act_order);
  CHECK(of_groups(R"("actorder":"dynamic")", R"("actorder":true)").act_order);
  CHECK(!of_groups(R"("actorder":"weight")", R"("actorder":"static")").act_order);
  CHECK(catch_damage([&] { config("{"); }).code == errc::damaged_file);
  CHECK(catch_damage([&] { config(R"({"quantization_config":3})"); }).code == errc::damaged_file);
}
