#pragma once
// Parameters of the kernels of embedding and embedding_backward, and how they read indices.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/reduce/common/problem.hpp>

namespace kaio::ops {

// Indices of tokens: `kept.from` strides indices, `kept.to` the rows of the other tensor of tokens.
struct embedding_tokens {
  u64 indices;
  u32 wide;  // 1: i64; 0: i32
  u32 tokens;
  u64 vocabulary;
  kept_dimensions kept;
};

struct embedding_problem {
  embedding_tokens of;
  u64 weight, out;
  i64 weight_row;
  u64 errors;  // u32; 0: none
  u32 size;    // elements of a row
  u32 shift;   // log2 of the bytes of an element
  u32 lanes_log;
  u32 aligned;
};

// Tokens by the row of the vocabulary that they have.
struct embedding_lists {
  embedding_tokens of;
  u64 counts, starts, list;  // u32: vocabulary + 1, vocabulary + 1, tokens
  i64 padding;               // an index that has no tokens; below 0: none
  u32 places;                // 0: counts; 1: writes the list
};

struct embedding_gradient_problem {
  embedding_lists lists;
  u64 dout, dweight;
  i64 dweight_row;
  u32 size;
  u32 column_blocks;
  u32 word_blocks;   // a block has every word_blocks-th row of the vocabulary
  u32 dweight_type;  // an element_type
  u32 dout_aligned, dweight_aligned;
  u32 accumulate;
};

struct embedding_token {
  val<i64> index, row;  // row: offset in the other tensor
  val<bool> known;      // the index is in the vocabulary
};

template <class Tokens>
constexpr embedding_token token_of(thread t, const Tokens& of, const val<u32>& token) {
  const kept_offsets offsets = offsets_of(t, token, of[&embedding_tokens::kept]);
  const val indices = t.let(of[&embedding_tokens::indices]);
  var index(t, i64{0});
  if (auto wide = t.when(of[&embedding_tokens::wide] != 0u))
    index = pointer_at<in<i64>>(t, indices)[offsets.from];
  if (auto narrow = t.otherwise()) index = cast<i64>(pointer_at<in<i32>>(t, indices)[offsets.from]);
  const val found = t.let(index);
  return {found, offsets.to, t.let(cast<u64>(found) < of[&embedding_tokens::vocabulary])};
}

}  // namespace kaio::ops
