#pragma once
// Text to tokens and back.
//
//   sentencepiece   blanks become U+2581. Neighbours merge, the pair whose token has the highest score first. What is no
//                   token in the end becomes the tokens of its bytes, <0x00> to <0xFF>
//   byte pairs      words of bytes. Neighbours merge, the pair that is first in the list of merges first
//   bytes           each byte is a token
//
// Tokens of the types control and user_defined are found in the text as they are written, before the rest is split.
// Sources: llama.cpp, src/llama-vocab.cpp; Kudo and Richardson, "SentencePiece" (2018); Radford et al., "Language Models
// are Unsupervised Multitask Learners" (2019).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "unicode.hpp"
#include "vocabulary.hpp"
#include "words.hpp"

namespace kaio::showcase::llama {

// Merges neighbours until no pair has a priority. priority(left, right): the lowest merges first, then the leftmost.
template <class Priority>
std::vector<std::string> merged_pairs(std::vector<std::string> parts, const Priority& priority) {
  struct link {
    std::size_t before, after;
  };
  struct pair {
    double priority;
    std::size_t left, right, size;             // bytes of both: another size means that one has changed
    bool operator<(const pair& other) const {  // the greatest is the first of a std::priority_queue
      return priority != other.priority ? priority > other.priority : left > other.left;
    }
  };
  const std::size_t none = parts.size();
  std::vector<link> links(parts.size());
  std::priority_queue<pair> pairs;
  const auto add = [&](std::size_t left, std::size_t right) {
    if (left == none || right == none) return;
    if (const std::optional<double> found = priority(parts[left], parts[right]))
      pairs.push({*found, left, right, parts[left].size() + parts[right].size()});
  };
  for (std::size_t i = 0; i < parts.size(); ++i) links[i] = {i == 0 ? none : i - 1, i + 1};
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) add(i, i + 1);
  while (!pairs.empty()) {
    const pair best = pairs.top();
    pairs.pop();
    std::string &left = parts[best.left], &right = parts[best.right];
    if (left.empty() || right.empty() || left.size() + right.size() != best.size) continue;
    left += right;
    right.clear();
    const std::size_t after = links[best.right].after;
    links[best.left].after = after;
    if (after != none) links[after].before = best.left;
    add(links[best.left].before, best.left);
    add(best.left, after);
  }
  std::erase(parts, std::string());
  return parts;
}

class tokenizer {
 public:
  explicit tokenizer(vocabulary v) : v_(std::move(v)) {
    for (std::size_t i = 0; i < v_.pieces.size(); ++i) {
      ids_.emplace(v_.pieces[i], static_cast<std::int32_t>(i));
      const token_type type = v_.type(i);
      const bool is_special = type == token_type::control || type == token_type::user_defined;
      if (is_special && !v_.pieces[i].empty()) specials_.push_back(static_cast<std::int32_t>(i));
    }
    std::stable_sort(specials_.begin(), specials_.end(),
                     [&](std::int32_t a, std::int32_t b) { return piece(a).size() > piece(b).size(); });
    for (std::size_t i = 0; i < v_.merges.size(); ++i) ranks_.emplace(v_.merges[i], static_cast<double>(i));
    // A byte-level token spells its bytes by visible characters: those of Latin-1 that are, and U+0100 on for the others.
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool visible = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
      const char32_t c = visible ? byte : next++;
      spelled_.push_back(utf8(c));
      bytes_.emplace(c, static_cast<char>(byte));
    }
  }

  const vocabulary& of() const { return v_; }

  // The tokens of a text; with bos first, if the model wants it.
  std::vector<std::int32_t> encode(std::string_view text) const {
    std::vector<std::int32_t> tokens;
    if (v_.add_bos) tokens.push_back(v_.bos);
    std::size_t first = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::int32_t special = special_at(text.substr(at));
      if (special == no_token) {
        ++at;
        continue;
      }
      encode_plain(text.substr(first, at - first), tokens);
      tokens.push_back(special);
      first = at += piece(special).size();
    }
    encode_plain(text.substr(first), tokens);
    return tokens;
  }
  // The bytes of a token. Several tokens may make one character.
  std::string decode(std::int32_t token) const {
    if (token < 0 || static_cast<std::size_t>(token) >= v_.pieces.size()) return {};
    const std::string& text = piece(token);
    switch (v_.type(static_cast<std::size_t>(token))) {
      case token_type::control:
      case token_type::unknown:
      case token_type::unused: return {};
      case token_type::user_defined: return text;
      case token_type::byte: return byte_of(text);
      case token_type::normal: break;
    }
    if (v_.kind == tokenizer_kind::bytes) return text;
    std::string bytes;
    for (std::size_t at = 0; at < text.size();) {
      const code_point c = code_point_at(text, at);
      at += c.size;
      const auto spelled = bytes_.find(c.value);
      if (v_.kind == tokenizer_kind::sentencepiece)
        bytes += c.value == blank ? " " : text.substr(c.begin, c.size);
      else
        bytes += spelled == bytes_.end() ? text.substr(c.begin, c.size) : std::string(1, spelled->second);
    }
    return bytes;
  }
  // The text of tokens, without the blank that encode() puts before it.
  std::string decode(const std::vector<std::int32_t>& tokens) const {
    std::string text;
    for (const std::int32_t token : tokens) text += decode(token);
    return v_.add_space_prefix && text.starts_with(' ') ? text.substr(1) : text;
  }

 private:
  static constexpr char32_t blank = 0x2581;

  const std::string& piece(std::int32_t token) const { return v_.pieces[static_cast<std::size_t>(token)]; }
  std::int32_t id_of(const std::string& text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? no_token : found->second;
  }
  std::int32_t special_at(std::string_view text) const {
    for (const std::int32_t special : specials_)
      if (text.starts_with(piece(special))) return special;
    return no_token;
  }
  static std::string byte_of(const std::string& text) {  // "<0x0A>"
    unsigned byte = 0;
    return std::sscanf(text.c_str(), "<0x%2x>", &byte) == 1 ? std::string(1, static_cast<char>(byte)) : text;
  }

  void encode_plain(std::string_view text, std::vector<std::int32_t>& tokens) const {
    if (text.empty()) return;
    switch (v_.kind) {
      case tokenizer_kind::bytes:
        for (const char byte : text) tokens.push_back(static_cast<unsigned char>(byte));
        return;
      case tokenizer_kind::sentencepiece: return encode_sentence(text, tokens);
      case tokenizer_kind::byte_pairs:
        for (const std::string_view word : word_splitter(text, v_.words).words()) encode_word(word, tokens);
    }
  }

  void encode_sentence(std::string_view text, std::vector<std::int32_t>& tokens) const {
    std::vector<std::string> parts;
    if (v_.add_space_prefix) parts.push_back(utf8(blank));
    for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).size)
      parts.push_back(text[at] == ' ' ? utf8(blank)
                                      : std::string(text.substr(at, code_point_at(text, at).size)));
    const auto priority = [&](const std::string& left, const std::string& right) -> std::optional<double> {
      const std::int32_t id = id_of(left + right);
      if (id == no_token) return {};
      return -static_cast<double>(v_.scores[static_cast<std::size_t>(id)]);
    };
    for (const std::string& part : merged_pairs(std::move(parts), priority)) {
      if (const std::int32_t id = id_of(part); id != no_token) {
        tokens.push_back(id);
        continue;
      }
      for (const char byte : part) {
        char name[8];
        std::snprintf(name, sizeof(name), "<0x%02X>", unsigned{static_cast<unsigned char>(byte)});
        put(id_of(name), tokens);
      }
    }
  }

  void encode_word(std::string_view word, std::vector<std::int32_t>& tokens) const {
    std::vector<std::string> parts;
    std::string whole;
    for (const char byte : word) {
      parts.push_back(spelled_[static_cast<unsigned char>(byte)]);
      whole += parts.back();
    }
    if (const std::int32_t id = id_of(whole); v_.ignore_merges && id != no_token) return tokens.push_back(id);
    const auto priority = [&](const std::string& left, const std::string& right) -> std::optional<double> {
      const auto found = ranks_.find(left + ' ' + right);
      if (found == ranks_.end()) return {};
      return found->second;
    };
    for (const std::string& part : merged_pairs(std::move(parts), priority)) put(id_of(part), tokens);
  }
  void put(std::int32_t id, std::vector<std::int32_t>& tokens) const {
    if (id != no_token || v_.unknown != no_token) tokens.push_back(id != no_token ? id : v_.unknown);
  }

  vocabulary v_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::unordered_map<std::string, double> ranks_;
  std::vector<std::int32_t> specials_;        // the longest first
  std::vector<std::string> spelled_;          // of each byte
  std::unordered_map<char32_t, char> bytes_;  // of each spelling
};

}  // namespace kaio::showcase::llama
