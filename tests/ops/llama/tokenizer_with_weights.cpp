// The tokenizers of the showcase llama next to expectations made by hand: the order of merges, words, bytes without a
// token, tokens that are written in the text, and the way back.

#include "showcase/llama/tokenizer.hpp"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "tests/weights/files.hpp"

using namespace kaio;
using namespace kaio::showcase::llama;
using kaio::tests::bytes_of;
using kaio::tests::gguf_maker;
using kaio::tests::little;

namespace {

using ids = std::vector<std::int32_t>;
using words = std::vector<std::string>;

// <unk>, <s>, </s>, the 256 bytes, then these pieces from 259 on.
vocabulary sentence_vocabulary(const std::vector<std::pair<std::string, float>>& pieces) {
  vocabulary v;
  v.kind = tokenizer_kind::sentencepiece;
  v.pieces = {"<unk>", "<s>", "</s>"};
  v.types = {2, 3, 3};
  for (unsigned byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", byte);
    v.pieces.emplace_back(name);
    v.types.push_back(6);
  }
  v.scores.resize(v.pieces.size());
  for (const auto& [piece, score] : pieces) {
    v.pieces.push_back(piece);
    v.scores.push_back(score);
    v.types.push_back(1);
  }
  v.unknown = 0;
  v.bos = 1;
  v.eos = 2;
  v.add_bos = v.add_space_prefix = true;
  return v;
}

// The spelled bytes, then the merges' results from 256 on, then <end>.
vocabulary pair_vocabulary(const std::vector<std::string>& merges) {
  vocabulary v;
  v.kind = tokenizer_kind::byte_pairs;
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool visible = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
    v.pieces.push_back(utf8(visible ? byte : next++));
  }
  v.merges = merges;
  for (std::string merge : merges) v.pieces.push_back(merge.erase(merge.find(' '), 1));
  v.types.assign(v.pieces.size(), 1);
  v.pieces.emplace_back("<end>");
  v.types.push_back(3);
  return v;
}

words words_of(std::string_view text, word_rule rule) {
  words all;
  for (const std::string_view word : word_splitter(text, rule).words()) all.emplace_back(word);
  return all;
}

}  // namespace

TEST_CASE("llama: SentencePiece merges the pair of the highest score first, then the leftmost") {
  const std::string blank = utf8(0x2581);
  const tokenizer t(
      sentence_vocabulary({{blank, -9}, {"a", -9}, {"b", -9}, {"c", -9}, {"ab", -2}, {"bc", -1}}));
  CHECK(t.encode("abc") == ids{1, 259, 260, 264});  // a bc
  CHECK(t.encode("ab c") == ids{1, 259, 263, 259, 262});
  const tokenizer u(
      sentence_vocabulary({{blank, -9}, {"a", -9}, {"aa", -1}, {blank + "a", -2}, {"aaaa", -3}}));
  CHECK(u.encode("aaaaa") == ids{1, 259, 263, 260});
  CHECK(u.encode("a") == ids{1, 262});
  CHECK(u.encode("") == ids{1});
  // Without a token: the bytes. With a control token in the text: that token, and a blank after it.
  CHECK(u.encode("\xc3\xa9") == ids{1, 259, 3 + 0xc3, 3 + 0xa9});
  CHECK(u.encode("a</s>a") == ids{1, 262, 2, 262});
  for (const std::string text : {"aa a", " a", "b\n\xf0\x9f\x98\x80 ", "x  y"}) {
    INFO(text);
    CHECK(u.decode(u.encode(text)) == text);
  }
}

TEST_CASE("llama: byte pairs merge in the order of the list, within words") {
  const tokenizer t(pair_vocabulary({"l o", "h e", "l l", "he l", "hel lo", "\xc4\xa0 w"}));
  CHECK(t.encode("hello") == ids{260});      // h e l lo, he l lo, hel lo, hello
  CHECK(t.encode("hell") == ids{257, 258});  // he ll: "l l" is before "he l"
  CHECK(t.encode(" w w") == ids{261, 261});  // "Ġw": the blank belongs to the word after it
  CHECK(t.encode("h<end>e") == ids{'h', 262, 'e'});
  CHECK(t.decode(262).empty());
  std::mt19937 engine(20261201);
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (int c = 0; c < 20; ++c) text += "helo w\n\xc3\xa9"[engine() % 9];  // bytes that are no UTF-8 too
    INFO("seed 20261201, text " << i << ": " << text);
    CHECK(t.decode(t.encode(text)) == text);
  }
}

TEST_CASE("llama: merges of long texts are those of a search for the best pair each time") {
  std::mt19937 engine(7);
  for (int i = 0; i < 100; ++i) {
    std::unordered_map<std::string, double> ranks;
    for (int j = 0; j < 40; ++j) {
      std::string pair;
      for (unsigned c = 0, size = 2 + engine() % 4; c < size; ++c) pair += "abc"[engine() % 3];
      ranks.emplace(pair, engine() % 8);
    }
    const auto priority = [&](const std::string& left, const std::string& right) -> std::optional<double> {
      const auto found = ranks.find(left + right);
      return found == ranks.end() ? std::nullopt : std::optional(found->second);
    };
    words parts;
    for (int c = 0; c < 60; ++c) parts.emplace_back(1, "abc"[engine() % 3]);
    words expected = parts;
    for (;;) {
      std::size_t best = expected.size();
      for (std::size_t at = 0; at + 1 < expected.size(); ++at) {
        const auto found = priority(expected[at], expected[at + 1]);
        if (found && (best == expected.size() || *found < *priority(expected[best], expected[best + 1])))
          best = at;
      }
      if (best == expected.size()) break;
      expected[best] += expected[best + 1];
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    INFO("seed 7, text " << i);
    CHECK(merged_pairs(parts, priority) == expected);
  }
}

TEST_CASE("llama: words of a text by the rules of the models") {
  const std::string text = "I'm 1234 OK, he'LL\n\n  go...\n  x";
  CHECK(words_of(text, word_rule::gpt2) ==
        words{"I", "'m", " 1234", " OK", ",", " he", "'", "LL", "\n\n ", " go", "...", "\n ", " x"});
  CHECK(words_of(text, word_rule::llama3) ==
        words{"I", "'m", " ", "123", "4", " OK", ",", " he", "'LL", "\n\n", " ", " go", "...\n", " ", " x"});
  CHECK(words_of("a 12", word_rule::qwen2) == words{"a", " ", "1", "2"});
  CHECK(words_of("a 12b", word_rule::smollm) == words{"a", " ", "1", "2", "b"});
  CHECK(words_of("(\xc3\xa9t\xc3\xa9) \xe2\x85\xa7 \xf0\x9f\x98\x80", word_rule::llama3) ==
        words{"(\xc3\xa9t\xc3\xa9", ")", " ", "\xe2\x85\xa7", " \xf0\x9f\x98\x80"});
  CHECK(words_of("", word_rule::gpt2).empty());
}

TEST_CASE("llama: the vocabulary of a file, and what is refused") {
  const auto texts = [](std::initializer_list<std::string_view> all) {
    std::string bytes =
        little(static_cast<std::uint32_t>(gguf_type::string)) + little(std::uint64_t{all.size()});
    for (const std::string_view one : all) bytes += gguf_maker::string(one);
    return bytes;
  };
  const auto of = [&](std::string_view model, std::string_view pre, bool has_merges) {
    gguf_maker g;
    g.key("tokenizer.ggml.model", gguf_type::string, gguf_maker::string(model));
    g.key("tokenizer.ggml.pre", gguf_type::string, gguf_maker::string(pre));
    g.key("tokenizer.ggml.tokens", gguf_type::array, texts({"a", "b", "ab"}));
    if (has_merges) g.key("tokenizer.ggml.merges", gguf_type::array, texts({"a b"}));
    g.key("tokenizer.ggml.bos_token_id", gguf_type::u32, little(2u));
    const std::string text = g.text();
    return vocabulary_of(gguf_file::view(bytes_of(text), "m.gguf"), "m.gguf");
  };
  const vocabulary v = of("gpt2", "llama-bpe", true);
  CHECK(v.pieces == words{"a", "b", "ab"});
  CHECK(v.add_bos);
  CHECK(tokenizer(v).encode("ab") == ids{2, 2});
  const auto message_of = [&](std::string_view model, std::string_view pre, bool has_merges) {
    return kaio::tests::catch_damage([&] { of(model, pre, has_merges); }).message;
  };
  CHECK(message_of("gpt2", "mystery", true)
            .starts_with("kaio: 'm.gguf': key tokenizer.ggml.pre is 'mystery';"));
  CHECK(message_of("gpt2", "qwen2", false) ==
        "kaio: 'm.gguf': key tokenizer.ggml.merges is missing or empty");
  CHECK(message_of("bert", "qwen2", true).starts_with("kaio: 'm.gguf': key tokenizer.ggml.model is 'bert';"));
  CHECK(message_of("llama", "default", true) ==
        "kaio: 'm.gguf': key tokenizer.ggml.scores has another count than tokenizer.ggml.tokens");
}
