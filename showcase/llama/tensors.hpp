#pragma once
// The tensors of a model by the names that GGUF files give them. They are in a file, or made by the program from a
// seed. A tensor that is missing, that has another shape, or that no step uses is an error with its name.

#include <kaio/dsl/number/half.hpp>
#include <kaio/weights/gguf.hpp>
#include <kaio/weights/read_values.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "shape.hpp"

namespace kaio::showcase::llama {

// f(first, last) for shares of 0 to count - 1, one for each core.
template <class F>
void in_parallel(std::size_t count, const F& f) {
  const std::size_t shares = std::min<std::size_t>(std::max(std::thread::hardware_concurrency(), 1u), count);
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < shares; ++i)
    others.emplace_back([&f, count, shares, i] { f(count * i / shares, count * (i + 1) / shares); });
  if (shares != 0) f(std::size_t{0}, count / shares);
  for (std::thread& other : others) other.join();
}

class tensor_set {
 public:
  explicit tensor_set(gguf_file file, std::string_view path) : file_(std::move(file)), path_(path) {}
  explicit tensor_set(u64 seed) : seed_(seed), path_("made") {}

  const tensor_entry* find(const std::string& name) const {
    if (file_) return file_->find(name);
    const auto found = made_.find(name);
    return found == made_.end() ? nullptr : &found->second.entry;
  }
  // Replaces the bytes of a made tensor.
  void replace(const std::string& name, weight_format format, std::vector<u8> bytes) {
    made& one = made_.at(name);
    one.blocks = std::move(bytes);
    one.values = {};
    one.entry.format = format;
    one.entry.bytes = std::as_bytes(std::span(one.blocks));
  }
  // Random f16 of the standard deviation 1 / sqrt(inputs); a vector is 1 and up to an eighth more or less.
  void make(const std::string& name, std::vector<std::uint64_t> shape) {
    made& one = made_[name];
    std::size_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    const bool is_vector = shape.size() == 1;
    const f32 middle = is_vector ? 1.0f : 0.0f;
    const f32 range = is_vector ? 0.125f : 1.732f / std::sqrt(static_cast<f32>(shape.back()));
    const u64 from = seed_ + made_.size() * 0x2545f4914f6cdd1du;
    one.values.resize(count);
    in_parallel(count, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) one.values[i] = f16(middle + range * random_number(from, i));
    });
    one.entry.name = made_.find(name)->first;
    one.entry.format = weight_format::f16;
    one.entry.shape = std::move(shape);
    one.entry.elements = count;
    one.entry.bytes = std::as_bytes(std::span(one.values));
    one.entry.file = "made";
  }
  std::span<const tensor_entry> of_file() const {
    return file_ ? file_->tensors() : std::span<const tensor_entry>();
  }
  [[noreturn]] void refuse(const std::string& name, const std::string& what) const {
    throw file_error(errc::unsupported_format, "kaio: '" + path_ + "': tensor " + name + ' ' + what, path_,
                     name);
  }

 private:
  struct made {
    std::vector<f16> values;
    std::vector<u8> blocks;
    tensor_entry entry;
  };
  // In [-1, 1), by splitmix64.
  static f32 random_number(u64 seed, u64 index) {
    u64 z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<f32>(static_cast<i32>((z ^ (z >> 31)) >> 32)) * 0x1p-31f;
  }

  std::optional<gguf_file> file_;
  u64 seed_ = 0;
  std::map<std::string, made> made_;
  std::string path_;
};

// A null pointer is a tensor that the model does not have.
struct layer_tensors {
  const tensor_entry *attention_norm, *q, *k, *v, *o, *ff_norm, *gate, *up, *down;
  const tensor_entry *q_bias, *k_bias, *v_bias, *q_norm, *k_norm;
};
struct model_tensors {
  const tensor_entry *embedding, *norm, *output;
  std::vector<layer_tensors> layers;
};

// Calls f(member, name, shape, required) for each tensor of layer `l`.
template <class F>
void for_layer(const model_shape& s, u32 l, layer_tensors& t, const F& f) {
  using extents_of = std::vector<std::uint64_t>;
  const auto name = [&](const char* last) { return "blk." + std::to_string(l) + '.' + last; };
  f(t.attention_norm, name("attn_norm.weight"), extents_of{s.hidden}, true);
  f(t.q, name("attn_q.weight"), extents_of{s.queries(), s.hidden}, true);
  f(t.k, name("attn_k.weight"), extents_of{s.keys(), s.hidden}, true);
  f(t.v, name("attn_v.weight"), extents_of{s.keys(), s.hidden}, true);
  f(t.o, name("attn_output.weight"), extents_of{s.hidden, s.queries()}, true);
  f(t.ff_norm, name("ffn_norm.weight"), extents_of{s.hidden}, true);
  f(t.gate, name("ffn_gate.weight"), extents_of{s.ff, s.hidden}, true);
  f(t.up, name("ffn_up.weight"), extents_of{s.ff, s.hidden}, true);
  f(t.down, name("ffn_down.weight"), extents_of{s.hidden, s.ff}, true);
  f(t.q_bias, name("attn_q.bias"), extents_of{s.queries()}, false);
  f(t.k_bias, name("attn_k.bias"), extents_of{s.keys()}, false);
  f(t.v_bias, name("attn_v.bias"), extents_of{s.keys()}, false);
  f(t.q_norm, name("attn_q_norm.weight"), extents_of{s.size}, false);
  f(t.k_norm, name("attn_k_norm.weight"), extents_of{s.size}, false);
}

// Checks the tensors of a set. The vocabulary becomes that of the embedding, and divisors of frequencies are read.
inline model_tensors tensors_of(const tensor_set& set, model_shape& s) {
  std::set<std::string, std::less<>> used;
  const auto find = [&](const tensor_entry*& to, const std::string& name,
                        const std::vector<std::uint64_t>& shape, bool required) {
    used.insert(name);
    to = set.find(name);
    if (to == nullptr && required) set.refuse(name, "is missing");
    if (to == nullptr) return;
    if (to->shape != shape) set.refuse(name, "has another shape than the metadata say");
    if (!kaio::weights::facts(to->format).has_values)
      set.refuse(name, "has the format " + std::string(kaio::weights::facts(to->format).name) +
                           ", which kaio does not decode");
  };
  model_tensors all{};
  const tensor_entry* const embedding = set.find("token_embd.weight");
  if (embedding == nullptr) set.refuse("token_embd.weight", "is missing");
  if (embedding->shape.size() != 2 || embedding->shape[0] >= (std::uint64_t{1} << 31))
    set.refuse("token_embd.weight", "is no matrix of fewer than 2^31 rows");
  s.vocabulary = static_cast<u32>(embedding->shape[0]);
  find(all.embedding, "token_embd.weight", {s.vocabulary, s.hidden}, true);
  find(all.norm, "output_norm.weight", {s.hidden}, true);
  find(all.output, "output.weight", {s.vocabulary, s.hidden}, false);
  if (all.output == nullptr) all.output = all.embedding;  // tied
  const tensor_entry* divisors = nullptr;
  find(divisors, "rope_freqs.weight", {s.rotated / 2}, false);
  if (divisors != nullptr) {
    const std::vector<f32> values = read_values(*divisors);
    s.divisors.resize(s.rotated / 2, 1.0);
    for (std::size_t i = 0; i < values.size(); ++i) s.divisors[i] *= static_cast<double>(values[i]);
  }
  all.layers.resize(s.layers);
  for (u32 l = 0; l < s.layers; ++l) for_layer(s, l, all.layers[l], find);
  for (const tensor_entry& t : set.of_file())
    if (!used.contains(t.name)) set.refuse(std::string(t.name), "is of no step of this program");
  return all;
}

}  // namespace kaio::showcase::llama
