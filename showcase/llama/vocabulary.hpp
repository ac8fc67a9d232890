#pragma once
// The tokens of a model, as the metadata of a GGUF file have them. A model that the program makes has 256 tokens, the
// bytes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "metadata.hpp"

namespace kaio::showcase::llama {

enum class token_type : std::int32_t { normal = 1, unknown, control, user_defined, unused, byte };
enum class tokenizer_kind : std::uint8_t { bytes, sentencepiece, byte_pairs };
// How a text is split into words before pairs of bytes are merged: the regular expressions of these models.
enum class word_rule : std::uint8_t { gpt2, llama3, qwen2, smollm };

constexpr std::int32_t no_token = -1;

struct vocabulary {
  tokenizer_kind kind = tokenizer_kind::bytes;
  word_rule words = word_rule::gpt2;
  std::vector<std::string> pieces{};  // of each token
  std::vector<float> scores{};        // sentencepiece
  std::vector<std::int32_t> types{};  // token_type; empty: all are normal
  std::vector<std::string> merges{};  // byte_pairs: "left right", the first ones first
  std::int32_t bos = no_token, eos = no_token, turn_end = no_token, unknown = no_token;
  bool add_bos = false;
  bool add_space_prefix = false;  // sentencepiece
  bool ignore_merges = false;     // byte_pairs: a word that is a token stays whole

  token_type type(std::size_t token) const {
    return token < types.size() ? static_cast<token_type>(types[token]) : token_type::normal;
  }
  bool ends(std::int32_t token) const { return token != no_token && (token == eos || token == turn_end); }
};

namespace detail {

inline word_rule word_rule_of(const metadata& data) {
  struct named {
    std::string_view name;
    word_rule rule;
  };
  static constexpr std::array<named, 15> names{{{"default", word_rule::gpt2},
                                                {"gpt-2", word_rule::gpt2},
                                                {"olmo", word_rule::gpt2},
                                                {"llama-bpe", word_rule::llama3},
                                                {"llama3", word_rule::llama3},
                                                {"llama-v3", word_rule::llama3},
                                                {"falcon3", word_rule::llama3},
                                                {"smaug-bpe", word_rule::llama3},
                                                {"qwen2", word_rule::qwen2},
                                                {"deepseek-r1-qwen", word_rule::qwen2},
                                                {"megrez", word_rule::qwen2},
                                                {"smollm", word_rule::smollm},
                                                {"codeshell", word_rule::smollm},
                                                {"starcoder", word_rule::smollm},
                                                {"command-r", word_rule::smollm}}};
  const std::string name = data.text("tokenizer.ggml.pre", "default");
  for (const named& one : names)
    if (one.name == name) return one.rule;
  data.refuse("key tokenizer.ggml.pre is '" + name +
              "'; gpt-2, llama-bpe, qwen2, smollm and those that split words as they do are supported");
}

}  // namespace detail

inline vocabulary byte_vocabulary() {
  vocabulary v;
  for (int byte = 0; byte < 256; ++byte) v.pieces.emplace_back(1, static_cast<char>(byte));
  return v;
}

inline vocabulary vocabulary_of(const gguf_file& file, std::string_view path) {
  const metadata data(file, path);
  const auto token = [&](std::string_view key) {
    return data.has(key) ? static_cast<std::int32_t>(data.number(key)) : no_token;
  };
  vocabulary v;
  const std::string model = data.text("tokenizer.ggml.model");
  if (model == "llama") {
    v.kind = tokenizer_kind::sentencepiece;
    v.scores = data.numbers<float>("tokenizer.ggml.scores", gguf_type::f32);
  } else if (model == "gpt2") {
    v.kind = tokenizer_kind::byte_pairs;
    v.words = detail::word_rule_of(data);
    v.ignore_merges = v.words == word_rule::llama3;
    v.merges = data.texts("tokenizer.ggml.merges");
    if (v.merges.empty()) data.refuse("key tokenizer.ggml.merges is missing or empty");
  } else {
    data.refuse("key tokenizer.ggml.model is '" + model +
                "'; llama (SentencePiece) and gpt2 (byte pairs) are supported");
  }
  v.pieces = data.texts("tokenizer.ggml.tokens");
  if (v.pieces.empty()) data.refuse("key tokenizer.ggml.tokens is missing or empty");
  v.types = data.numbers<std::int32_t>("tokenizer.ggml.token_type", gguf_type::i32);
  if (v.kind == tokenizer_kind::sentencepiece && v.scores.size() != v.pieces.size())
    data.refuse("key tokenizer.ggml.scores has another count than tokenizer.ggml.tokens");
  v.bos = token("tokenizer.ggml.bos_token_id");
  v.eos = token("tokenizer.ggml.eos_token_id");
  v.turn_end = token("tokenizer.ggml.eot_token_id");
  v.unknown = token("tokenizer.ggml.unknown_token_id");
  const bool sentencepiece = v.kind == tokenizer_kind::sentencepiece;
  v.add_bos = data.flag("tokenizer.ggml.add_bos_token", sentencepiece || v.words == word_rule::llama3);
  v.add_space_prefix = sentencepiece && data.flag("tokenizer.ggml.add_space_prefix", true);
  if (v.add_bos && v.bos == no_token) data.refuse("key tokenizer.ggml.bos_token_id is missing");
  for (const std::int32_t id : {v.bos, v.eos, v.turn_end, v.unknown})
    if (id != no_token && (id < 0 || static_cast<std::size_t>(id) >= v.pieces.size()))
      data.refuse("a key tokenizer.ggml.*_token_id is no token: " + std::to_string(id));
  return v;
}

}  // namespace kaio::showcase::llama
