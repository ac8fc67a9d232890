// A tensor's name makes it a part of a layer. Each part of each scheme, in each type of element, is used or refused; a
// tensor that no scheme explains is never left out.

#include "scheme_cases.hpp"

#include <algorithm>

#include "catch.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

quantisation_config groups_of_64() {
  quantisation_config config;
  config.group = 64;
  return config;
}

bool has(const std::string& words, std::string_view word) {
  return (" " + words + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

}  // namespace

TEST_CASE("every part of every scheme, in every other type, is used or refused") {
  std::vector<bool> seen(weights::weight_schemes().size());
  const quantisation_config of_gemv = groups_of_64();
  for (const scheme_case& c : scheme_cases()) {
    const quantisation_config* const config = c.scheme == weight_scheme::awq_gemv_fast ? &of_gemv : nullptr;
    INFO(std::string(facts(c.scheme).name));
    seen[static_cast<std::size_t>(c.scheme)] = true;
    for (std::size_t changed = 0; changed < c.parts.size(); ++changed)
      for (const std::string_view type : element_types) {
        const case_part& p = c.parts[changed];
        safetensors_maker s;
        bool is_whole = true;
        for (std::size_t i = 0; i < c.parts.size(); ++i)
          is_whole = add(s, c.parts[i], i == changed ? type : std::string_view(c.parts[i].type)) && is_whole;
        if (!is_whole) continue;
        const found_layer l = only_layer(s, config);
        INFO("m.q" << p.suffix << " of " << std::string(type) << ": " << l.problem);
        CHECK(l.layers == 1);
        CHECK(l.name == "m.q");
        CHECK(l.parts == c.parts.size());
        if (type == p.type) {
          CHECK(l.scheme == c.scheme);
          CHECK(l.operation == c.operation);
          CHECK(l.obstacle.empty());
        }
        const bool is_taken = type == p.type || p.taken == "any" || has(p.taken, type);
        CHECK(l.problem.empty() == is_taken);
        if (!is_taken) CHECK(l.operation.empty());
        if (!is_taken) CHECK(l.n == 0);
      }
  }
  seen[static_cast<std::size_t>(weight_scheme::awq_gemv)] = true;  // types are those of gemm
  CHECK(std::ranges::find(seen, false) == seen.end());
}

TEST_CASE(
    "a tensor next to the codes of a layer that no scheme explains is a problem, and harmless ones are none") {
  for (const scheme_case& c : scheme_cases()) {
    const quantisation_config of_gemv = groups_of_64();
    const quantisation_config* const config = c.scheme == weight_scheme::awq_gemv_fast ? &of_gemv : nullptr;
    const char joint = c.parts[0].suffix.starts_with('.') ? '.' : '_';
    const auto with = [&](const std::string& name, std::string_view type) {
      safetensors_maker s;
      for (const case_part& p : c.parts) add(s, p, p.type);
      add(s, {joint + name, std::string(type), {64}}, type);
      return only_layer(s, config);
    };
    INFO(std::string(facts(c.scheme).name));
    CHECK(with("bias", "F16").problem.empty());
    CHECK(with("output_scale", "F32").problem.empty());
    CHECK(with("lora.weight", "F16").problem.empty());  // of another module
    for (const char* name : {"weight_shift", "extra", "svdquant_lora_a"}) {
      const found_layer l = with(name, "F16");
      CHECK(l.layers == 1);
      CHECK(l.problem == "kaio does not know what m.q" + std::string(1, joint) + name + " does to it");
      CHECK(l.parts == c.parts.size() + 1);
      CHECK(l.operation.empty());
    }
  }
}

TEST_CASE("codes of no scheme with a tensor that no scheme explains are a layer with a problem") {
  const auto of = [](std::vector<std::pair<std::string, std::string>> tensors) {
    made m;
    for (auto& [name, type] : tensors) m.add(name, type, {16, 16});
    return only_layer(m.s);
  };
  using list = std::vector<std::pair<std::string, std::string>>;
  for (const auto& tensors :
       {list{{"m.weight", "F8_E4M3"}, {"m.scaling", "F32"}},
        list{{"m.weight", "F8_E4M3"}, {"m.input_scale", "F32"}},
        list{{"m.weight", "U32"}, {"m.scales", "F16"}, {"m.biases", "F16"}},
        list{{"m.weight._data", "F8_E4M3"}, {"m.weight._scale", "F32"}},
        list{{"m.compressed", "F8_E4M3"}, {"m.weight_scale", "F32"}},
        list{{"m.w1", "F8_E4M3"}, {"m.w1_amax", "F32"}},
        list{{"m.weight", "BF16"}, {"m.weight.absmax", "F32"}}, list{{"m.qweight", "I32"}},
        list{{"m.weight_packed", "I32"}, {"m.weight_scale", "F16"}}}) {
    INFO(tensors[0].first << ", " << tensors.back().first);
    const found_layer l = of(tensors);
    CHECK(l.layers == 1);
    CHECK(!l.problem.empty());
    CHECK(l.operation.empty());
  }
  CHECK(of({{"m.weight", "F8_E4M3"}, {"m.scaling", "F32"}}).problem ==
        "kaio does not know what m.scaling does to it");
  CHECK(of({{"m.weight", "F8_E4M3"}, {"m.input_scale", "F32"}}).problem ==
        "FP8 with scales needs the tensor m.weight_scale, which is missing");
  for (const auto& tensors :
       {list{{"m.weight", "F8_E4M3"}, {"m.bias", "F16"}}, list{{"m.weight", "F8_E4M3"}},
        list{{"m.weight", "BF16"}, {"m.scale", "F32"}}, list{{"m.q", "F8_E4M3"}, {"m.k", "F8_E4M3"}},
        list{{"m.weight", "BF16"}, {"m.input_scale", "F32"}},
        list{{"m.gamma", "BF16"}, {"m.gamma_scale", "F32"}},
        list{{"m.text_projection", "F8_E4M3"}, {"m.logit_scale", "F32"}},
        list{{"m.weight", "F32"}, {"m.running_mean", "F32"}, {"m.num_batches_tracked", "I64"}}}) {
    INFO(tensors[0].first << ", " << tensors.back().first);
    CHECK(of(tensors).layers == 0);
  }
}

TEST_CASE("8-bit floats alone: a vector with others, and a matrix of a quantised model") {
  made m;
  m.add("bn.weight", "F8_E4M3", {16})
      .add("bn.running_mean", "F32", {16})
      .add("bn.num_batches_tracked", "I64", {});
  CHECK(only_layer(m.s).layers == 0);
  m.add("m.weight", "F8_E4M3", {16, 16});
  CHECK(only_layer(m.s).layers == 0);
  quantisation_config config;
  config.method = "fp8";
  CHECK(only_layer(m.s, &config).problem == "the configuration's method is fp8, and there are no scales");
}

TEST_CASE("act-order and zero points that the configuration has, and the file does not") {
  quantisation_config config;
  config.act_order = true;
  made plain = gptq(4, 64, 256, 32), zeros = gptq(4, 64, 256, 32), one_group = gptq(4, 64, 256, 256);
  zeros.add("m.q.g_idx", "I32", {256});
  CHECK(only_layer(plain.s, &config).problem ==
        "the configuration has groups in act-order, and there is no g_idx");
  CHECK(only_layer(zeros.s, &config).problem ==
        "the configuration has groups in act-order, and g_idx is all 0 or -1");
  CHECK(only_layer(one_group.s, &config).problem.empty());
  made packed;
  packed.add("m.q.weight_packed", "I32", {64, 32}).add("m.q.weight_scale", "BF16", {64, 4});
  packed.s.tensor("m.q.weight_shape", "I64", "[2]", little<std::int64_t>(64) + little<std::int64_t>(256));
  CHECK(!only_layer(packed.s, &config).problem.empty());
  config.act_order = false;
  made symmetric, bytes;
  symmetric.add("m.q.qweight", "I32", {32, 64}).add("m.q.scales", "F16", {8, 64});
  bytes.add("m.q.weight", "I8", {64, 256}).add("m.q.weight_scale", "F32", {64, 1});
  config.bits = 4;
  for (const safetensors_maker* s : {&symmetric.s, &packed.s, &bytes.s}) {
    config.bits = s == &bytes.s ? 8 : 4;
    for (const std::optional<bool> said : {std::optional<bool>(), std::optional(true)}) {
      config.symmetric = said;
      CHECK(only_layer(*s, &config).problem.empty());
    }
    config.symmetric = false;
    CHECK(only_layer(*s, &config).problem ==
          "the configuration's codes are not symmetric, and there are no zero points");
  }
}

TEST_CASE("part_bytes has the parts as repack takes them") {
  const auto bytes_of_part = [](const safetensors_maker& s, weight_part wanted) {
    const std::string text = s.text();
    const safetensors_file file = safetensors_file::view(bytes_of(text), "m");
    const auto bytes = part_bytes(quantised_layers(file.tensors()).at(0), wanted);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  made indexed = gptq(4, 64, 64, 32);
  std::string wide, narrow;
  for (std::int64_t k = 0; k < 64; ++k) {
    wide += little(k % 2);
    narrow += little(static_cast<std::int32_t>(k % 2));
  }
  indexed.s.tensor("m.q.g_idx", "I64", "[64]", wide);
  CHECK(only_layer(indexed.s).act_order);
  CHECK(bytes_of_part(indexed.s, weight_part::group_index) == narrow);
  CHECK(bytes_of_part(indexed.s, weight_part::scales) == std::string(256, '\0'));
  CHECK(bytes_of_part(indexed.s, weight_part::shape).empty());

  // Zero points of the older layout, {N, G} and signed: codes of `bits` one after another along N.
  for (const unsigned bits : {2u, 3u, 4u, 8u}) {
    INFO(bits);
    constexpr std::uint64_t n = 37, groups = 2;
    const auto zero_at = [&](std::uint64_t row, std::uint64_t g) {
      return static_cast<int>((5 * row + 3 * g) % (1u << bits)) - (1 << (bits - 1));
    };
    const auto file = [&](int more) {
      made m;
      m.add("m.q.weight_packed", "I32", {n, 2 * bits}).add("m.q.weight_scale", "F16", {n, groups});
      m.s.tensor("m.q.weight_shape", "I64", "[2]", little<std::int64_t>(n) + little<std::int64_t>(64));
      std::string bytes;
      for (std::uint64_t row = 0; row < n; ++row)
        for (std::uint64_t g = 0; g < groups; ++g)
          bytes += static_cast<char>(zero_at(row, g) + (row == 9 ? more : 0));
      m.s.tensor("m.q.weight_zero_point", "I8", "[37,2]", bytes);
      return m.s;
    };
    const std::string words = bytes_of_part(file(0), weight_part::zero_points);
    REQUIRE(words.size() == (n * bits + 31) / 32 * groups * 4);
    for (std::uint64_t row = 0; row < n; ++row)
      for (std::uint64_t g = 0; g < groups; ++g) {
        unsigned code = 0;
        for (unsigned bit = 0; bit < bits; ++bit) {
          const std::uint64_t at = row * bits + bit;
          code |= (static_cast<unsigned char>(words[(at / 32 * groups + g) * 4 + at % 32 / 8]) >> at % 8 & 1u)
                  << bit;
        }
        CHECK(static_cast<int>(code) - (1 << (bits - 1)) == zero_at(row, g));
      }
    if (bits != 8) CHECK(only_layer(file(100)).problem.find(" bits") != std::string::npos);
  }
}

TEST_CASE("scales of E8M0, and those of experts") {
  const auto of = [](const std::string& name, shape codes, const std::string& scale, const std::string& type,
                     shape scales) {
    return only_layer(made().add(name, "F8_E4M3", codes).add(scale, type, scales).s);
  };
  const std::string matrix = "matmul after dequantise";
  for (const char* type : {"F8_E8M0", "U8"}) {
    const found_layer blocks = of("m.q.weight", {256, 256}, "m.q.weight_scale_inv", type, {2, 2});
    CHECK(blocks.scheme == weight_scheme::fp8_block);
    CHECK(blocks.block_rows == 128);
    CHECK(blocks.operation == matrix);
    const found_layer groups = of("m.q.weight", {256, 256}, "m.q.weight_scale_inv", type, {256, 8});
    CHECK(groups.scheme == weight_scheme::mxfp8);
    CHECK(groups.group == 32);
    CHECK(groups.operation == matrix);
  }
  const found_layer experts =
      of("m.gate_up_proj", {3, 256, 512}, "m.gate_up_proj_scale_inv", "F32", {3, 2, 4});
  CHECK(experts.name == "m.gate_up_proj");
  CHECK(experts.n == 256);
  CHECK(experts.k == 512);
  CHECK(experts.block_rows == 128);
  const found_layer of_tensor =
      of("m.gate_up_proj", {3, 256, 512}, "m.gate_up_proj_scale_inv", "F32", {3, 1, 1});
  CHECK(of_tensor.problem.empty());
  CHECK(of_tensor.group == 512);
  const found_layer rows = of("m.gate_up_proj", {3, 256, 512}, "m.gate_up_proj_scale", "F32", {3, 256, 1});
  CHECK(rows.scheme == weight_scheme::fp8);
  CHECK(rows.group == 512);
  // One a column.
  CHECK(of("m.gate_up_proj", {3, 256, 512}, "m.gate_up_proj_scale", "F32", {3, 1, 512}).block_columns == 1);
  CHECK(!of("m.gate_up_proj", {3, 256, 512}, "m.gate_up_proj_scale_inv", "F32", {2, 2, 4}).problem.empty());
  // A zero point of FP8 is 0.
  made zero;
  zero.add("m.q.weight", "F8_E4M3", {64, 64})
      .add("m.q.weight_scale", "F32", {1})
      .add("m.q.weight_zero_point", "I8", {1});
  CHECK(only_layer(zero.s).problem.empty());
  made other;
  other.add("m.q.weight", "F8_E4M3", {64, 64}).add("m.q.weight_scale", "F32", {1});
  other.s.tensor("m.q.weight_zero_point", "I8", "[1]", "\3");
  CHECK(only_layer(other.s).problem == "weight_zero_point is not 0, and FP8 has no zero points");
}
