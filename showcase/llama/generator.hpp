#pragma once
// A sequence of tokens on the device: its prompt, in chunks, then a token a step.
//
//   x = embedding of the tokens                        embed
//   for each layer:
//     h = h + x, q, cache += norm(h) Wqkv^T, rotated   qkv_project, into a cache in shuffled pages
//     o = attention of q over the cache                attention_decode
//     x = o Wo^T                                       matmul, matmul_w4 or matmul_w8
//     h = h + x, g = silu(norm(h) Wg^T) (norm(h) Wu^T) gate_up_project
//     x = g Wd^T                                       matmul, matmul_w4 or matmul_w8
//   logits = norm(h + x) W^T of the last token         rms_norm, a product
//   the next token                                     find_candidates, choose
//
// Tokens, lengths and pages are numbers on the device, so the launches of a step never change: step() may be captured
// into a graph, and each replay makes the sequence one token longer.

#include <kaio/kaio.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/rms_norm.hpp>
#include <kaio/ops/rotary.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "kernels.hpp"
#include "model.hpp"

namespace kaio::showcase::llama {

struct sampling {
  f32 temperature = 0;  // 0: the token with the largest logit
  u32 seed = 1;
};

template <class T>
class generator {
 public:
  // `longest`: tokens that the sequence may have, prompt and all. `chunk`: tokens of a prompt that run at once, up to 128.
  generator(const device& gpu, const model<T>& m, u32 longest, const sampling& how, u32 chunk = 128)
      : gpu_(gpu),
        s_(gpu.stream()),
        m_(m),
        how_(how),
        pages_((longest + page - 1) / page),
        chunk_(std::min(chunk, longest)),
        tokens_(gpu.allocate<i32>(std::size_t{longest} + 1)),
        lengths_(gpu.allocate<i32>(2)),
        logits_(gpu.allocate<f32>(m.shape.vocabulary)),
        scores_(gpu.allocate<f32>(most_parts)),
        candidates_(gpu.allocate<u32>(most_parts)),
        normed_(gpu.allocate<T>(m.shape.hidden)),
        cos_(gpu.allocate<f32>(std::size_t{pages_} * page * m.shape.rotated / 2)),
        sin_(gpu.allocate<f32>(std::size_t{pages_} * page * m.shape.rotated / 2)) {
    const model_shape& of = m.shape;
    for (buffer<T>* one : {&x_, &h_[0], &h_[1]}) *one = gpu.allocate<T>(std::size_t{chunk_} * of.hidden);
    for (buffer<T>* one : {&q_, &o_}) *one = gpu.allocate<T>(std::size_t{chunk_} * of.queries());
    gated_ = gpu.allocate<T>(std::size_t{chunk_} * of.ff);
    std::vector<i32> table(pages_);
    std::iota(table.begin(), table.end(), 0);
    std::shuffle(table.begin(), table.end(), std::mt19937(3));
    table_ = gpu.upload(table);
    for (u32 l = 0; l < of.layers; ++l)
      for (std::vector<buffer<T>>* one : {&k_, &v_})
        one->push_back(gpu.allocate<T>(std::size_t{pages_} * page * of.keys()));
    rotary_table(s_, angles(cos_), angles(sin_), of.rotary());
  }

  // Begins the sequence anew with these tokens, and chooses the token after them.
  void prompt(const std::vector<i32>& tokens) {
    const auto count = static_cast<u32>(tokens.size());
    reserve(1);
    reserve(std::min(chunk_, count));
    if (count % chunk_ != 0) reserve(count % chunk_);
    tokens_.copy_from(tokens.data(), tokens.size(), s_);
    for (u32 first = 0; first < count; first += chunk_) {
      const u32 rows = std::min(chunk_, count - first);
      const std::array<i32, 2> lengths{static_cast<i32>(first), static_cast<i32>(first + rows)};
      lengths_.copy_from(lengths.data(), lengths.size(), s_);
      hidden_states(rows);
      s_.synchronize();  // `lengths` may be read until then
    }
    next_token((count - 1) % chunk_);
    s_.synchronize();
  }
  // Takes the chosen token, and chooses the one after it.
  void step() {
    hidden_states(1);
    next_token(0);
  }

  // Tokens `first` to first + count - 1; the last one may be the chosen one.
  std::vector<i32> tokens(std::size_t first, std::size_t count) const {
    std::vector<i32> some(count);
    tokens_.copy_to(some.data(), count, s_, first);
    s_.synchronize();
    return some;
  }
  // Those by which the last token was chosen.
  std::vector<f32> logits() const { return logits_.download(s_); }

 private:
  static constexpr u32 page = 16;  // tokens

  tensor_view<T, 2> rows_of(const buffer<T>& of, u32 rows, u32 columns) const {
    return {of.slice(0, std::size_t{rows} * columns), extents(rows, columns)};
  }
  tensor_view<T, 2> hidden(const buffer<T>& of, u32 rows) const { return rows_of(of, rows, m_.shape.hidden); }
  tensor_view<T, 3> sequence(const buffer<T>& of, u32 rows) const {
    return {of.slice(0, std::size_t{rows} * m_.shape.hidden), extents(1, rows, m_.shape.hidden)};
  }
  tensor_view<T, 4> heads(const buffer<T>& of, u32 rows) const {
    return {of.slice(0, std::size_t{rows} * m_.shape.queries()),
            extents(1, rows, m_.shape.heads, m_.shape.size)};
  }
  tensor_view<f32, 2> angles(const buffer<f32>& of) const {
    return {of.view(), extents(pages_ * page, m_.shape.rotated / 2)};
  }
  tensor_view<f32, 2> of_logits() const { return {logits_.view(), extents(1, m_.shape.vocabulary)}; }
  // lengths_[which]: 0 before the new tokens, 1 with them.
  kv_cache<T> cache(u32 l, u32 which) const {
    const extents places(pages_, page, m_.shape.key_heads, m_.shape.size);
    kv_cache<T> cache{.k = tensor_view<T, 4>(k_[l].view(), places),
                      .v = tensor_view<T, 4>(v_[l].view(), places)};
    cache.table = tensor_view<const i32, 2>(table_, 1, pages_);
    cache.lengths = tensor_view<const i32, 1>(lengths_.slice(which, 1), extents(1));
    return cache;
  }

  qkv_project_options qkv_options(u32 l, u32 rows) const {
    const layer_weights<T>& of = m_.layers[l];
    const model_shape& shape = m_.shape;
    const auto vector = [](const buffer<T>& values) {
      return values.is_null()
                 ? ops::qkv_vector()
                 : ops::qkv_vector(tensor_view<const T, 1>(values, static_cast<i64>(values.size())));
    };
    qkv_project_options options;
    options.q_bias = vector(of.q_bias);
    options.k_bias = vector(of.k_bias);
    options.v_bias = vector(of.v_bias);
    options.q_norm = vector(of.q_norm);
    options.k_norm = vector(of.k_norm);
    options.epsilon = shape.epsilon;
    options.x_norm.weight = tensor_view<const T, 1>(of.attention_norm, shape.hidden);
    options.x_norm.epsilon = shape.epsilon;
    if (l != 0) {
      options.x_norm.residual = sequence(h_[1], rows);
      options.x_norm.residual_out = sequence(h_[0], rows);
    }
    options.rotary = {.cos = angles(cos_), .sin = angles(sin_), .interleaved = shape.interleaved};
    options.workspace = workspace_;
    options.constant = constant_inputs::weights;
    return options;
  }
  attention_decode_options attention_options() const {
    attention_decode_options options;
    options.causal = causal_alignment::bottom_right;
    options.workspace = workspace_;
    return options;
  }
  gate_up_project_options gate_up_options(u32 l, u32 rows) const {
    gate_up_project_options options;
    options.activation = matmul_activation::silu;
    options.x_norm = {.weight = tensor_view<const T, 1>(m_.layers[l].ff_norm, m_.shape.hidden),
                      .epsilon = m_.shape.epsilon,
                      .residual = hidden(h_[0], rows),
                      .residual_out = hidden(h_[1], rows)};
    options.workspace = workspace_;
    options.constant = constant_inputs::weights;
    return options;
  }
  // The embedding is the h of the first layer.
  const buffer<T>& input_of(u32 l) const { return l == 0 ? h_[0] : x_; }

  // Runs the last `rows` tokens of the sequence through all layers.
  void hidden_states(u32 rows) {
    const model_shape& shape = m_.shape;
    embed<T>.launch(s_, grid(rows), tokens_, lengths_, m_.embedding.values(), h_[0], shape.hidden);
    for (u32 l = 0; l < shape.layers; ++l) {
      const layer_weights<T>& of = m_.layers[l];
      qkv_project(s_, sequence(input_of(l), rows), of.of_qkv(), {heads(q_, rows), cache(l, 0)},
                  qkv_options(l, rows));
      attention_decode(s_, heads(q_, rows), cache(l, 1), heads(o_, rows), attention_options());
      of.out.multiply(s_, rows_of(o_, rows, shape.queries()), hidden(x_, rows), workspace_);
      gate_up_project(s_, hidden(x_, rows), of.of_gate_up(), rows_of(gated_, rows, shape.ff),
                      gate_up_options(l, rows));
      of.down.multiply(s_, rows_of(gated_, rows, shape.ff), hidden(x_, rows), workspace_);
    }
  }
  // Chooses the token after row `last` of the chunk.
  void next_token(u32 last) {
    const model_shape& shape = m_.shape;
    const auto row = [&](const buffer<T>& of) {
      return tensor_view<T, 2>(of.slice(std::size_t{last} * shape.hidden, shape.hidden),
                               extents(1, shape.hidden));
    };
    rms_norm(s_, row(x_), tensor_view<const T, 1>(m_.norm, shape.hidden), hidden(normed_, 1),
             {.epsilon = shape.epsilon, .residual = row(h_[1]), .residual_out = row(h_[0])});
    m_.output().multiply(s_, hidden(normed_, 1), of_logits(), workspace_);
    const u32 parts = std::min((shape.vocabulary + 255) / 256, most_parts);
    const bool is_random = how_.temperature > 0;
    find_candidates.launch(s_, grid(parts), logits_, lengths_, scores_, candidates_, shape.vocabulary,
                           is_random ? 1 / how_.temperature : 1.0f, is_random ? 1.0f : 0.0f, how_.seed);
    choose.launch(s_, grid(1), scores_, candidates_, lengths_, tokens_, parts);
  }

  // Makes room in the workspace for chunks of `rows` tokens.
  void reserve(u32 rows) {
    const model_shape& shape = m_.shape;
    u64 most = m_.output().workspace_bytes(s_, hidden(normed_, 1), of_logits());
    for (u32 l = 0; l < shape.layers; ++l) {
      const layer_weights<T>& of = m_.layers[l];
      most = std::max<u64>(
          {most, of.out.workspace_bytes(s_, rows_of(o_, rows, shape.queries()), hidden(x_, rows)),
           of.down.workspace_bytes(s_, rows_of(gated_, rows, shape.ff), hidden(x_, rows)),
           qkv_project_workspace_bytes(s_, sequence(input_of(l), rows), of.of_qkv(),
                                       {heads(q_, rows), cache(l, 0)}, qkv_options(l, rows)),
           attention_decode_workspace_bytes(s_, heads(q_, rows), cache(l, 1), attention_options()),
           gate_up_project_workspace_bytes(s_, hidden(x_, rows), of.of_gate_up(),
                                           rows_of(gated_, rows, shape.ff), gate_up_options(l, rows))});
    }
    if (workspace_.size() < most) workspace_ = gpu_.allocate<u8>(most);
  }

  const device& gpu_;
  const stream& s_;
  const model<T>& m_;
  sampling how_;
  u32 pages_, chunk_;
  buffer<i32> tokens_, lengths_, table_{};
  buffer<f32> logits_, scores_;
  buffer<u32> candidates_;
  buffer<T> normed_, x_{}, q_{}, o_{}, gated_{};
  std::array<buffer<T>, 2> h_{};
  std::vector<buffer<T>> k_{}, v_{};
  buffer<f32> cos_, sin_;
  buffer<u8> workspace_{};
};

}  // namespace kaio::showcase::llama
