#pragma once
// The numbers of a LLaMA-like model: extents, rotation, and the constants of its norms. They are those of a GGUF file,
// or those of a model that the program makes.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/rotary.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "metadata.hpp"

namespace kaio::showcase::llama {

struct model_shape {
  u32 layers, hidden, ff, heads, key_heads, size, vocabulary;
  u32 context = 1u << 20;  // tokens that a sequence may have
  u32 rotated = size;      // elements of a head
  f32 epsilon = 1e-5f;
  double base = 10000;
  // Pairs of a rotation: (2 i, 2 i + 1) in files of the architecture llama, whose rows are permuted for them;
  // (i, i + rotated / 2) in others.
  bool interleaved = true;
  std::vector<double> divisors{};  // of the frequency of each pair; empty: 1

  u32 queries() const { return heads * size; }
  u32 keys() const { return key_heads * size; }
  // The angle of a pair at position 1.
  double frequency(u32 pair) const {
    const double plain = std::pow(base, -2.0 * pair / rotated);
    return divisors.empty() ? plain : plain / divisors[pair];
  }
  rotary_table_options rotary() const {
    rotary_table_options options{.base = base};
    if (!divisors.empty()) options.scaling = rotary_scaling::longrope(divisors, 1, context, 1.0);
    return options;
  }
};

// The shape that a file's metadata have. The vocabulary is that of the embedding.
inline model_shape shape_of(const gguf_file& file, std::string_view path) {
  const metadata data(file, path);
  const std::string architecture = data.text("general.architecture");
  if (architecture != "llama" && architecture != "qwen2" && architecture != "qwen3")
    data.refuse("key general.architecture is '" + architecture + "'; llama, qwen2 and qwen3 are supported");
  const auto key = [&](const char* name) { return architecture + '.' + name; };
  model_shape s{};
  s.layers = data.number(key("block_count"));
  s.hidden = data.number(key("embedding_length"));
  s.ff = data.number(key("feed_forward_length"));
  s.heads = data.number(key("attention.head_count"));
  s.key_heads = data.number(key("attention.head_count_kv"), s.heads);
  s.context = data.number(key("context_length"));
  // Within a window of keys no token differs.
  const std::uint32_t window = data.number(key("attention.sliding_window"), 0u);
  if (window != 0 && window < s.context) s.context = window;
  if (s.heads == 0 || s.key_heads == 0 || s.heads % s.key_heads != 0)
    data.refuse("key " + key("attention.head_count") + " is no multiple of " +
                key("attention.head_count_kv"));
  s.size = data.number(key("attention.key_length"), s.hidden / s.heads);
  if (s.size == 0 || s.size > 512 || data.number(key("attention.value_length"), s.size) != s.size)
    data.refuse("keys " + key("attention.key_length") + " and value_length are not one number from 1 to 512");
  s.rotated = data.number(key("rope.dimension_count"), s.size);
  if (s.rotated == 0 || s.rotated > s.size || s.rotated % 2 != 0)
    data.refuse("key " + key("rope.dimension_count") + " is no even number up to the size of a head");
  s.epsilon = static_cast<f32>(data.real(key("attention.layer_norm_rms_epsilon")));
  s.base = data.real(key("rope.freq_base"), 10000.0);
  s.interleaved = architecture == "llama";
  if (data.number(key("expert_count"), 0u) != 0)
    data.refuse("key " + key("expert_count") + " is not 0; models of experts are not supported");
  const std::string scaling = data.text(key("rope.scaling.type"), "none");
  if (scaling == "linear")
    s.divisors.assign(s.rotated / 2, data.real(key("rope.scaling.factor"), 1.0));
  else if (scaling != "none")
    data.refuse("key " + key("rope.scaling.type") + " is '" + scaling + "'; none and linear are supported");
  return s;
}

}  // namespace kaio::showcase::llama
