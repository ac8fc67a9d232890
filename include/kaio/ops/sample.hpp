#pragma once
// Draws a token for each row of logits: temperature, top-k, top-p, min-p, or the largest logit.
//
//   sample(s, logits, tokens, {.temperature = 0});                                       // the largest logits
//   sample(s, logits, tokens, {.seed = seeds, .offset = offsets, .offset_out = offsets,  // offsets become + 1
//                              .temperature = 0.8f, .top_k = 50, .top_p = 0.9f});
//
// A row goes through these steps:
//
//   order     greater logits first; among equal ones the lower index first. NaN counts as -inf; -inf is out
//   top-k     the first k
//   softmax   of logits / temperature, over these
//   top-p     the fewest first tokens whose probabilities reach p together, one at least
//   min-p     of these, the tokens whose probability is at least min_p times the largest one
//   draw      one of these, by its share of their probabilities
//
// The draw is the 64-bit number of Philox-4x32-10 with key seed[row] and counter offset[row]. Probabilities
// are multiples of 2^-32 of the row's largest one, rounded to the nearest, and their sums are exact. So a token
// is a function of its row, seed, offset and options: it is the same in every batch. Nothing is allocated, read
// back or waited for, so a call may be captured into a graph; a kernel is loaded when it is first used on a
// device (sample_warmup). Throws invalid_argument, which names the argument, before anything runs; and what a
// launch throws.
//
// Sources: Fan et al., "Hierarchical Neural Story Generation", 2018 (top-k); Holtzman et al., "The Curious Case
// of Neural Text Degeneration", 2020 (top-p); Nguyen et al., "Turning Up the Heat: Min-p Sampling", 2024;
// Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/output_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

// A number for all rows, or a view (rows), of any stride, with one for each; the view comes first. Out of range,
// a number is refused, and an element of a view means what the last column says.
//
//   temperature   f32, 0 or above   0: the largest logit, at its lowest index   negative, NaN: as 0
//   top_k         i32               0 or below, or the vocabulary or more: all tokens
//   top_p         f32, 0 to 1       1: all tokens                                above 1, NaN: as 1; below 0: as 0
//   min_p         f32, 0 to 1       0: all tokens                                below 0, NaN: as 0; above 1: as 1
struct sample_options {
  any_view seed{};           // (rows), i64 or u64; needed, unless `temperature` is 0 for all rows
  any_view offset{};         // (rows), i64 or u64; with seed. Two draws differ if their offsets do
  output_view offset_out{};  // as offset: gets offset + 1; may be offset itself
  f32 temperature = 1;
  i32 top_k = 0;
  f32 top_p = 1;
  f32 min_p = 0;
  any_view temperatures{}, top_ks{}, top_ps{}, min_ps{};
  output_view logprobs{};  // (rows), f32: log-softmax of logits / temperature at the token, over all tokens
  output_view lse{};       // (rows), f32: log of the sum of exp(logits / temperature); temperature 0: as 1
  output_view invalid_rows{};  // (1), i32: adds the number of rows with NaN, or without a logit above -inf
};

namespace detail {

void run_sample(const stream& s, const any_view& logits, const any_view& tokens,
                const sample_options& options);

template <class T>
inline constexpr bool is_token = std::is_same_v<T, i32> || std::is_same_v<T, i64>;

}  // namespace detail

// logits: (rows, vocabulary), f32, f16 or bf16, rows of any stride, neighbours adjacent; a vocabulary of 1 to
// 2^31 - 1025. tokens: (rows), i32 or i64, any stride, apart from everything else. +inf counts as the largest
// f32. A row without a logit above -inf has token 0, and log-probability and lse -inf.
template <class Logits, class Token>
void sample(const stream& s, const tensor_view<Logits, 2>& logits, const tensor_view<Token, 1>& tokens,
            const sample_options& options) {
  static_assert(is_wide(element_kind_of<Logits>()), "kaio: the logits of sample are f32, f16 or bf16");
  static_assert(detail::is_token<Token>, "kaio: the tokens of sample are i32 or i64, and not const");
  detail::run_sample(s, logits, tokens, options);
}
// Refuses arguments that are no such views.
template <class Logits, class Token>
  requires(!(detail::views<2, Logits> && detail::views<1, Token>))
void sample(const stream&, const Logits&, const Token&, const sample_options&) {
  detail::refuse_views<Logits, Token>();
}

// Loads the kernel ahead of its first use.
void sample_warmup(const runtime::device& gpu);

// The images of the kernels of sample.
std::vector<const ptx::kernel_image*> sample_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::sample;
using ops::sample_options;
using ops::sample_warmup;
}  // namespace kaio
