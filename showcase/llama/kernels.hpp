#pragma once
// The kernels of a step that are not operations of the library: rows of the embedding, and the choice of the next
// token. The device feeds the token back: choose() writes it where the next step's embed() reads it, and makes the
// sequence one token longer. So a step is the same launches each time, and one graph serves all of them.

#include <kaio/kaio.hpp>

#include <limits>

namespace kaio::showcase::llama {

// lengths[0]: tokens before a step, lengths[1]: tokens after it.
template <class T>
inline constexpr auto embed = kernel<"llama_embed_" + type_name<T>, 128>(
    [](thread t, in<i32> tokens, in<i32> lengths, in<T> embedding, out<T> x, val<u32> hidden) {
      const val row = t.let(block_idx_x());
      const val place = t.let(lengths[0u] + cast<i32>(row));
      const val token = t.let(cast<u64>(tokens[place]));
      const val from = t.let(token * cast<u64>(hidden));
      const val to = t.let(cast<u64>(row) * cast<u64>(hidden));
      for (auto i : t.block_stride(hidden)) x[to + cast<u64>(i)] = embedding[from + cast<u64>(i)];
    });

// y = x in another type
template <class From, class To>
inline constexpr auto convert = kernel<"llama_convert_" + type_name<From> + "_" + type_name<To>, 256>(
    [](thread t, in<From> x, out<To> y, val<u64> n) {
      for (auto i : t.grid_stride(n)) y[i] = cast<To>(cast<f32>(x[i]));
    });

// Mixes 32 bits. Source: Wellons, "Prospecting for Hash Functions" (2018), lowbias32.
constexpr val<u32> mixed(thread t, const val<u32>& bits) {
  const val a = t.let((bits ^ bits >> 16) * 0x7feb352du);
  const val b = t.let((a ^ a >> 15) * 0x846ca68bu);
  return t.let(b ^ b >> 16);
}

struct candidate {
  val<f32> score;
  val<u32> token;
};
// The larger score, then the lower token.
struct better {
  static constexpr bool is_commutative = true;
  constexpr candidate operator()(const candidate& a, const candidate& b) const {
    const val first = (a.score > b.score) | ((a.score == b.score) & (a.token < b.token));
    return {select(first, a.score, b.score), select(first, a.token, b.token)};
  }
};

inline constexpr u32 most_parts = 128;  // of the vocabulary

// The best token of each part. A token's score is logit * scale + random * G with G = -ln(-ln u) and u in (0, 1), which
// depends on the seed, the length and the token alone. scale = 1, random = 0: the largest logit. scale = 1 /
// temperature, random = 1: the best token is a sample of softmax(logits / temperature). NaN is never the best.
// Source: Gumbel, "Statistical Theory of Extreme Values" (1954): the maximum of x + G.
inline constexpr auto find_candidates = kernel<"llama_candidates", 256>(
    [](thread t, in<f32> logits, in<i32> lengths, out<f32> scores, out<u32> tokens, val<u32> vocabulary,
       val<f32> scale, val<f32> random, val<u32> seed) {
      const val length = t.let(cast<u32>(lengths[1u]));
      const val first_key = mixed(t, t.let(seed ^ 0x9e3779b9u));
      const val key = mixed(t, t.let(length + first_key));
      var best(t, -std::numeric_limits<f32>::infinity());
      var token(t, 0u);
      for (auto i : t.grid_stride(vocabulary)) {
        const val inner = mixed(t, t.let(i ^ key));
        const val bits = mixed(t, t.let(inner + first_key));
        const val u = t.let((cast<f32>(bits >> 9) + 0.5f) * 0x1p-23f);
        const val score = t.let(logits[i] * scale - random * log(-log(u)));
        if (auto larger = t.when(score > best)) {
          best = score;
          token = i;
        }
      }
      const candidate own{t.let(best), t.let(token)};
      const candidate of_block = block_reduce_to_first(t, own, better{});
      if (auto first = t.when(t.thread_rank() == 0)) {
        scores[block_idx_x()] = of_block.score;
        tokens[block_idx_x()] = of_block.token;
      }
    });

// The best of all parts becomes the next token of the sequence.
inline constexpr auto choose = kernel<"llama_choose", most_parts>(
    [](thread t, in<f32> scores, in<u32> candidates, inout<i32> lengths, out<i32> tokens, val<u32> parts) {
      const val rank = t.thread_rank();
      var score(t, -std::numeric_limits<f32>::infinity());
      var token(t, 0u);
      if (auto exists = t.when(rank < parts)) {
        score = scores[rank];
        token = candidates[rank];
      }
      const candidate own{t.let(score), t.let(token)};
      const candidate best = block_reduce_to_first(t, own, better{});
      if (auto first = t.when(rank == 0)) {
        const val length = t.let(lengths[1u]);
        tokens[length] = cast<i32>(best.token);
        lengths[0u] = length;
        lengths[1u] = length + 1;
      }
    });

}  // namespace kaio::showcase::llama
