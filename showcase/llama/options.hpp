#pragma once
// The command line.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/weights/weight_format.hpp>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "shape.hpp"

namespace kaio::showcase::llama {

struct options {
  std::string model{};  // a GGUF file; empty: a model is made
  std::string prompt = "Once upon a time";
  u32 tokens = 0;
  f32 temperature = 0;
  u64 seed = 1;
  u32 check = 4;  // first tokens that are compared with double precision
  bool bf16 = false;
  u32 layers = 0, hidden = 0, heads = 0, key_heads = 0, ff = 0;  // of a made model
  weight_format weights = weight_format::f16;

  model_shape shape(bool is_small) const {
    const auto or_else = [&](u32 given, u32 small, u32 large) {
      return given != 0 ? given : is_small ? small : large;
    };
    model_shape s{};
    s.layers = or_else(layers, 2, 16);
    s.hidden = or_else(hidden, 64, 1024);
    s.heads = or_else(heads, 4, 16);
    s.key_heads = or_else(key_heads, 2, 4);
    s.ff = or_else(ff, 128, 2816);
    if (s.hidden % s.heads != 0 || s.heads % s.key_heads != 0 || s.hidden / s.heads % 2 != 0)
      throw invalid_argument(
          "kaio: llama: --hidden is no even multiple of --heads, or --heads no multiple of --key-heads");
    s.size = s.rotated = s.hidden / s.heads;
    s.vocabulary = 256;
    s.context = 1u << 20;
    return s;
  }
};

inline constexpr const char* usage =
    "usage: llama [--model FILE.gguf] [--prompt TEXT] [--tokens N] [--temperature X] [--seed N]\n"
    "             [--check N] [--bf16]\n"
    "             a made model: [--layers N] [--hidden N] [--heads N] [--key-heads N] [--ff N]\n"
    "                           [--weights f16|q4_0|q8_0]\n";

// Nothing, and the usage on stderr, if they are wrong.
inline std::optional<options> options_of(int count, const char* const* words, bool is_emulator) {
  options o;
  o.tokens = is_emulator ? 12 : 256;
  const auto number = [](std::string_view text, auto& to) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    return error == std::errc() && end == text.data() + text.size();
  };
  const auto set = [&](std::string_view name, const char* value) {
    if (name == "--model") return o.model = value, true;
    if (name == "--prompt") return o.prompt = value, true;
    if (name == "--tokens") return number(value, o.tokens) && o.tokens != 0;
    if (name == "--temperature") return number(value, o.temperature) && o.temperature >= 0;
    if (name == "--seed") return number(value, o.seed);
    if (name == "--check") return number(value, o.check);
    if (name == "--layers") return number(value, o.layers);
    if (name == "--hidden") return number(value, o.hidden);
    if (name == "--heads") return number(value, o.heads);
    if (name == "--key-heads") return number(value, o.key_heads);
    if (name == "--ff") return number(value, o.ff);
    if (name != "--weights") return false;
    for (const weight_format one : {weight_format::f16, weight_format::q4_0, weight_format::q8_0}) {
      std::string lower(kaio::weights::facts(one).name);
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      if (lower == value) return o.weights = one, true;
    }
    return false;
  };
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "--bf16") == 0) {
      o.bf16 = true;
      continue;
    }
    if (i + 1 < count && set(words[i], words[i + 1])) {
      ++i;
      continue;
    }
    std::fprintf(stderr, "kaio: llama: wrong option or value: %s\n%s", words[i], usage);
    return {};
  }
  return o;
}

}  // namespace kaio::showcase::llama
