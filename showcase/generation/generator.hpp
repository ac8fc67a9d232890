#pragma once
// The model on the device: prompts, and steps of one token for all sequences. The keys and values of a
// sequence are in shuffled pages. Lengths, page tables, positions and tokens are numbers on the device, so
// the launches of a step never change. A step may be captured into a graph, and each replay makes the
// sequences longer by one token.

#include <kaio/kaio.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/rotary.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "model.hpp"

namespace kaio::showcase::generation {

// The activations of `count` tokens of each of `batches` sequences, on their way through the layers.
struct activations {
  u32 batches, count;  // sequences, tokens per sequence
  buffer<f16> x, h, q, k, v, o, wide;
  buffer<u8> workspace{};

  activations(const device& gpu, u32 of_batches, u32 of_count)
      : batches(of_batches),
        count(of_count),
        x(of(gpu, hidden)),
        h(of(gpu, hidden)),
        q(of(gpu, heads * size)),
        k(of(gpu, key_heads * size)),
        v(of(gpu, key_heads * size)),
        o(of(gpu, heads * size)),
        wide(of(gpu, inner)) {}
  u32 rows() const { return batches * count; }
  tensor_view<f16, 2> matrix(buffer<f16>& of, u32 columns) const { return {of, rows(), columns}; }
  tensor_view<f16, 4> split(buffer<f16>& of, u32 of_heads) const {
    return {of, batches, count, of_heads, size};
  }

 private:
  buffer<f16> of(const device& gpu, u32 columns) const {
    return gpu.allocate<f16>(std::size_t{rows()} * columns);
  }
};

class generator {
 public:
  // `longest`: tokens that a sequence may become, prompt and all.
  generator(const device& gpu, const model& m, u32 sequences, u32 longest)
      : gpu_(gpu),
        s_(gpu.stream()),
        m_(m),
        sequences_(sequences),
        pages_of_one_((longest + page - 1) / page),
        step_(gpu, sequences, 1),
        lengths_(gpu.upload(std::vector<i32>(sequences, 0))),
        tokens_(gpu.upload(std::vector<i32>(sequences, 0))),
        cos_(gpu.allocate<f32>(std::size_t{pages_of_one_} * page * size / 2)),
        sin_(gpu.allocate<f32>(std::size_t{pages_of_one_} * page * size / 2)),
        logits_(gpu.allocate<f32>(std::size_t{sequences} * vocabulary)) {
    std::vector<i32> table(std::size_t{sequences} * pages_of_one_);
    std::iota(table.begin(), table.end(), 0);
    std::shuffle(table.begin(), table.end(), std::mt19937(3));
    table_ = gpu.upload(table);
    // Unwritten elements are never read: NaN would be seen.
    const std::vector<f16> nothing(table.size() * page * key_heads * size,
                                   f16(std::numeric_limits<f32>::quiet_NaN()));
    for (u32 l = 0; l < layers; ++l) {
      k_[l] = gpu.upload(nothing);
      v_[l] = gpu.upload(nothing);
    }
    rotary_table(s_, angles(cos_), angles(sin_));
  }

  // Sets the tokens of an empty sequence. Its logits are those after the last token.
  void prompt(u32 sequence, const std::vector<i32>& tokens) {
    activations a(gpu_, 1, static_cast<u32>(tokens.size()));
    const auto on_device = gpu_.upload(tokens);
    run(a, sequence, on_device);
    s_.synchronize();
  }

  // Chooses a token of each sequence and computes the logits after it. Allocates nothing after the first time.
  void step() {
    choose.launch(s_, grid(sequences_), logits_, tokens_);
    run(step_, 0, tokens_);
  }

  // The tokens that the last step chose, and the logits, (sequences, vocabulary).
  std::vector<i32> tokens() const { return tokens_.download(); }
  std::vector<f32> logits() const { return logits_.download(); }

 private:
  static constexpr u32 page = 3;  // tokens

  // Sequences `first` to first + a.batches.
  void run(activations& a, u32 first, const buffer<i32>& tokens) {
    embed.launch(s_, grid(a.rows()), tokens, m_.embedding.memory, a.x);
    for (u32 l = 0; l < layers; ++l) {
      const layer& of = m_.of[l];
      rms_norm.launch(s_, grid(a.rows()), a.x, a.h);
      matmul(s_, a.matrix(a.h, hidden), of.q.transposed(), a.matrix(a.q, heads * size));
      matmul(s_, a.matrix(a.h, hidden), of.k.transposed(), a.matrix(a.k, key_heads * size));
      matmul(s_, a.matrix(a.h, hidden), of.v.transposed(), a.matrix(a.v, key_heads * size));
      attend(a, first, l);
      matmul(s_, a.matrix(a.o, heads * size), of.o.transposed(), a.matrix(a.x, hidden),
             {.residual = a.matrix(a.x, hidden)});
      rms_norm.launch(s_, grid(a.rows()), a.x, a.h);
      matmul(s_, a.matrix(a.h, hidden), of.up.transposed(), a.matrix(a.wide, inner),
             {.activation = matmul_activation::relu});
      matmul(s_, a.matrix(a.wide, inner), of.down.transposed(), a.matrix(a.x, hidden),
             {.residual = a.matrix(a.x, hidden)});
    }
    rms_norm.launch(s_, grid(a.rows()), a.x, a.h);
    const auto last = tensor_view<const f16, 2>(a.h, a.batches, a.count * hidden)
                          .slice(1, i64{a.count - 1} * hidden, hidden);  // batches x hidden
    matmul(s_, last, m_.embedding.transposed(),
           tensor_view<f32, 2>(logits_, sequences_, vocabulary).slice(0, first, a.batches));
    advance.launch(s_, grid(a.batches), lengths_.slice(first, a.batches), static_cast<i32>(a.count));
  }

  // Keys and queries are rotated, keys and values appended, and all attended to: one call.
  void attend(activations& a, u32 first, u32 l) {
    const extents places(sequences_ * pages_of_one_, page, key_heads, size);
    kv_cache<f16> cache{.k = tensor_view<f16, 4>(k_[l], places), .v = tensor_view<f16, 4>(v_[l], places)};
    cache.table = tensor_view<const i32, 2>(table_, sequences_, pages_of_one_).slice(0, first, a.batches);
    cache.lengths = tensor_view<const i32, 1>(lengths_, sequences_).slice(0, first, a.batches);
    attention_decode_options options{.causal = causal_alignment::bottom_right};
    options.append = {.k = a.split(a.k, key_heads),
                      .v = a.split(a.v, key_heads),
                      .rotary = {.cos = angles(cos_), .sin = angles(sin_)}};
    const auto bytes = attention_decode_workspace_bytes(s_, a.split(a.q, heads), cache, options);
    if (a.workspace.size() < bytes) a.workspace = gpu_.allocate<u8>(bytes);
    options.workspace = a.workspace;
    attention_decode(s_, a.split(a.q, heads), cache, a.split(a.o, heads), options);
  }

  tensor_view<f32, 2> angles(buffer<f32>& of) const { return {of, pages_of_one_ * page, size / 2}; }

  const device& gpu_;
  const stream& s_;
  const model& m_;
  u32 sequences_, pages_of_one_;
  activations step_;
  buffer<i32> lengths_, tokens_, table_{};
  std::array<buffer<f16>, layers> k_{}, v_{};
  buffer<f32> cos_, sin_, logits_;
};

}  // namespace kaio::showcase::generation
