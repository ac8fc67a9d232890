#pragma once
// The kernels of a step that are not operations of the library: embeddings, norms, and the choice of the next token.

#include <kaio/kaio.hpp>

namespace kaio::showcase::generation {

constexpr u32 layers = 2, hidden = 64, heads = 4, key_heads = 2, size = 16, inner = 128, vocabulary = 48;
constexpr f32 epsilon = 1e-5f;

// x[row] = embedding[token[row]]
inline constexpr auto embed =
    kernel<"generation_embed", 32>([](thread t, in<i32> tokens, in<f16> embedding, out<f16> x) {
      const val row = t.let(block_idx_x());
      const val token = t.let(cast<u32>(tokens[row]));
      for (auto i : t.block_stride(hidden)) x[row * hidden + i] = embedding[token * hidden + i];
    });
// y = x / rms(x), of each row
inline constexpr auto rms_norm = kernel<"generation_rms_norm", 32>([](thread t, in<f16> x, out<f16> y) {
  const val row = t.let(block_idx_x());
  var squares(t, 0.0f);
  for (auto i : t.block_stride(hidden)) {
    const val e = t.let(cast<f32>(x[row * hidden + i]));
    squares += e * e;
  }
  const val scale = t.let(rsqrt(block_reduce(t, squares, plus{}) / static_cast<f32>(hidden) + epsilon));
  for (auto i : t.block_stride(hidden))
    y[row * hidden + i] = cast<f16>(cast<f32>(x[row * hidden + i]) * scale);
});
// lengths += count, of each sequence
inline constexpr auto advance =
    kernel<"generation_advance", 1>([](thread t, inout<i32> lengths, val<i32> count) {
      const val b = t.let(block_idx_x());
      lengths[b] = lengths[b] + count;
    });
// The token with the largest logit, of each row.
inline constexpr auto choose = kernel<"generation_choose", 1>([](thread t, in<f32> logits, out<i32> tokens) {
  const val row = t.let(block_idx_x());
  var best(t, logits[row * vocabulary]);
  var token(t, 0);
  for (auto i : t.range(1u, vocabulary)) {
    const val x = t.let(logits[row * vocabulary + i]);
    if (auto larger = t.when(x > best)) {
      best = x;
      token = cast<i32>(i);
    }
  }
  tokens[row] = token;
});

}  // namespace kaio::showcase::generation
