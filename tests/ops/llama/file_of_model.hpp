#pragma once
// A GGUF file of a small model with random weights, in memory.

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/weights/encoders.hpp"
#include "tests/weights/files.hpp"

namespace kaio::tests {

enum ggml_type : std::uint32_t {
  as_f32 = 0,
  as_f16 = 1,
  q4_0 = 2,
  q5_0 = 6,
  q8_0 = 8,
  q4_k = 12,
  q6_k = 14,
  as_bf16 = 30
};

// `types`: those of tensors by the ends of their names, of which the longest counts; the others are f32.
struct file_of_model {
  std::string architecture = "llama";
  std::uint32_t layers = 2, hidden = 64, ff = 96, heads = 4, key_heads = 2, size = 16, vocabulary = 40;
  std::map<std::string, ggml_type> types{};
  bool is_tied = true, has_biases = false, has_head_norms = false, has_divisors = false;
  std::string left_out{}, added{};
  bool has_tokens = false;  // a vocabulary of SentencePiece
  std::mt19937 engine{20261202};

  std::string values(const std::vector<std::uint64_t>& dims, ggml_type as) {
    std::size_t count = 1;
    for (const std::uint64_t d : dims) count *= d;
    std::string bytes;
    if (as == q4_k || as == q6_k) {  // any codes; small scales
      for (std::size_t block = 0; block < count / 256; ++block) {
        std::string codes;
        for (int i = 0; i < (as == q4_k ? 140 : 208); ++i) codes += static_cast<char>(engine());
        bytes += as == q4_k ? half_bytes(4e-4f) + half_bytes(3e-3f) + codes : codes + half_bytes(8e-5f);
      }
      return bytes;
    }
    std::vector<float> x(count);
    std::normal_distribution<float> normal(
        dims.size() == 1 ? 1.0f : 0.0f, dims.size() == 1 ? 0.1f : 1 / std::sqrt(static_cast<float>(dims[0])));
    for (float& one : x) one = normal(engine);
    if (as == q4_0) return as_q4_0(x);
    if (as == q5_0) return as_q5_0(x);
    if (as == q8_0) return as_q8_0(x);
    for (const float one : x)
      bytes += as == as_f16    ? little(f16(one).bits())
               : as == as_bf16 ? little(bf16(one).bits())
                               : little(one);
    return bytes;
  }
  // <unk>, <s>, </s>, and pieces of "a" to "d".
  void add_tokens(gguf_maker& g) const {
    const auto array = [&](const char* name, gguf_type type, const auto& element) {
      std::string bytes = little(static_cast<std::uint32_t>(type)) + little(std::uint64_t{vocabulary});
      for (std::uint32_t i = 0; i < vocabulary; ++i) bytes += element(i);
      g.key(name, gguf_type::array, bytes);
    };
    g.key("tokenizer.ggml.model", gguf_type::string, gguf_maker::string("llama"));
    array("tokenizer.ggml.tokens", gguf_type::string, [](std::uint32_t i) {
      if (i < 3) return gguf_maker::string(std::array{"<unk>", "<s>", "</s>"}[i]);
      std::string piece(1, static_cast<char>('a' + i % 4));
      for (; i > 6; i /= 4) piece += static_cast<char>('a' + i % 4);
      return gguf_maker::string(piece);
    });
    array("tokenizer.ggml.scores", gguf_type::f32,
          [](std::uint32_t i) { return little(-static_cast<float>(i)); });
    array("tokenizer.ggml.token_type", gguf_type::i32, [](std::uint32_t i) {
      return little(i < 1 ? 2 : i < 3 ? 3 : 1);
    });
    g.key("tokenizer.ggml.bos_token_id", gguf_type::u32, little(1u));
    g.key("tokenizer.ggml.eos_token_id", gguf_type::u32, little(2u));
    g.key("tokenizer.ggml.add_space_prefix", gguf_type::boolean, std::string(1, '\0'));
  }
  std::string text() {
    gguf_maker g;
    const auto key = [&](const char* name, std::uint32_t value) {
      g.key(architecture + '.' + name, gguf_type::u32, little(value));
    };
    g.key("general.architecture", gguf_type::string, gguf_maker::string(architecture));
    key("block_count", layers);
    key("embedding_length", hidden);
    key("feed_forward_length", ff);
    key("attention.head_count", heads);
    key("attention.head_count_kv", key_heads);
    key("attention.key_length", size);
    key("attention.value_length", size);
    key("context_length", 4096);
    g.key(architecture + ".attention.layer_norm_rms_epsilon", gguf_type::f32, little(1e-5f));
    g.key(architecture + ".rope.freq_base", gguf_type::f32, little(500000.0f));
    if (has_tokens) add_tokens(g);
    const auto tensor = [&](const std::string& name, const std::vector<std::uint64_t>& dims) {
      if (name == left_out) return;
      ggml_type as = as_f32;
      std::size_t longest = 0;
      for (const auto& [end, of] : types)
        if (name.ends_with(end) && end.size() >= longest) {
          as = of;
          longest = end.size();
        }
      g.tensor(name, dims, as, values(dims, as));
    };
    tensor("token_embd.weight", {hidden, vocabulary});
    tensor("output_norm.weight", {hidden});
    if (!is_tied) tensor("output.weight", {hidden, vocabulary});
    if (has_divisors) tensor("rope_freqs.weight", {size / 2});
    if (!added.empty()) tensor(added, {hidden});
    for (std::uint32_t l = 0; l < layers; ++l) {
      const std::string blk = "blk." + std::to_string(l) + '.';
      const std::uint64_t queries = heads * size, keys = key_heads * size;
      tensor(blk + "attn_norm.weight", {hidden});
      tensor(blk + "attn_q.weight", {hidden, queries});
      tensor(blk + "attn_k.weight", {hidden, keys});
      tensor(blk + "attn_v.weight", {hidden, keys});
      tensor(blk + "attn_output.weight", {queries, hidden});
      tensor(blk + "ffn_norm.weight", {hidden});
      tensor(blk + "ffn_gate.weight", {hidden, ff});
      tensor(blk + "ffn_up.weight", {hidden, ff});
      tensor(blk + "ffn_down.weight", {ff, hidden});
      if (has_biases) {
        tensor(blk + "attn_q.bias", {queries});
        tensor(blk + "attn_k.bias", {keys});
        tensor(blk + "attn_v.bias", {keys});
      }
      if (has_head_norms) {
        tensor(blk + "attn_q_norm.weight", {size});
        tensor(blk + "attn_k_norm.weight", {size});
      }
    }
    return g.text();
  }
};

}  // namespace kaio::tests
