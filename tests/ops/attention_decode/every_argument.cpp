// attention_decode with all arguments of FlashAttention-2's and FlashAttention-3's flash_attn_with_kvcache in one call,
// and with what other libraries have next to them, compared with double precision.
#include "tests/ops/attention_decode/append_case.hpp"
#include "tests/ops/attention_decode/varlen_case.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// q, k, v, rotary_cos, rotary_sin, cache_seqlens, cache_leftpad, softmax_scale, causal, window_size, softcap,
// alibi_slopes, num_splits, return_softmax_lse.
decode_case all_arguments() {
  return {.queries = 3,
          .heads = 4,
          .key_heads = 2,
          .lengths = {90, 33, 170},
          .left = {3, 0, 110},
          .causal = causal_alignment::bottom_right,
          .window = {70, 0},
          .softcap = 3,
          .scale = 0.2f,
          .alibi = 2,
          .splits = 3};
}

}  // namespace

TEST_CASE("attention_decode: every argument of flash_attn_with_kvcache at once, cache_batch_idx",
          "[ops][attention_decode][append]") {
  decode_case c = all_arguments();
  c.indexed = true;
  for (const bool interleaved : {true, false}) {
    check_appending<f16>(c, {.tokens = 3, .pairs = 16, .interleaved = interleaved});
    check_appending<bf16>(c, {.tokens = 3, .pairs = 32, .interleaved = interleaved});
  }
}

TEST_CASE("attention_decode: every argument of flash_attn_with_kvcache at once, block_table",
          "[ops][attention_decode][append]") {
  decode_case c = all_arguments();
  c.kind = cache_kind::table;
  for (const bool interleaved : {true, false}) {
    c.page = interleaved ? 16 : 7;
    check_appending<f16>(c, {.tokens = 3, .pairs = 16, .interleaved = interleaved});
  }
  check_appending<f32>(c, {.tokens = 3, .pairs = 8});
  if (under_test().properties().target.sm >= 90) {
    c.splits = 4;
    c.combining = ops::attention_combining::cluster;
    check_appending<bf16>(c, {.tokens = 3, .pairs = 16, .interleaved = true});
  }
  // Without a mask all queries are rotated as the first new token; and other numbers of queries than of tokens.
  c = all_arguments();
  c.kind = cache_kind::list;
  c.by_last_page = true;
  c.causal = causal_alignment::none;
  c.window = {};
  check_appending<f16>(c, {.tokens = 3, .pairs = 16, .interleaved = true, .q_at_first = true});
  c.causal = causal_alignment::bottom_right;
  check_appending<f16>(c, {.tokens = 5, .pairs = 16});
}

TEST_CASE("attention_decode: every argument of FlashAttention-3, cu_seqlens_k_new",
          "[ops][attention_decode][append]") {
  decode_case c = all_arguments();
  c.alibi = 0;
  c.sinks = true;
  for (const bool interleaved : {true, false}) {
    c.indexed = interleaved;
    c.kind = interleaved ? cache_kind::contiguous : cache_kind::table;
    check_appending<f16>(c, {.pairs = 16, .interleaved = interleaved, .counts = {3, 1, 6}});
  }
  check_appending<f32>(c, {.counts = {0, 2, 1}});
  // k_descale and v_descale, (batches, heads of keys).
  c.scales = scale_kind::sequences;
  check_appending<bf16, e4m3>(c, {.pairs = 32, .interleaved = true, .counts = {3, 0, 6}});
  check_appending<f16, e4m3>(c, {.tokens = 3, .pairs = 16});
  // Without a mask all queries are rotated as the first new token; a list of pages with the lengths after the append.
  c.scales = scale_kind::none;
  c.causal = causal_alignment::none;
  c.window = {};
  check_appending<bf16>(c, {.pairs = 16, .q_at_first = true, .counts = {1, 4, 2}});
  c.kind = cache_kind::list;
  c.by_last_page = true;
  check_appending<f16>(c, {.counts = {1, 4, 2}});
}

TEST_CASE("attention_decode_varlen: every argument of FlashAttention-3, cu_seqlens_q and cu_seqlens_k_new",
          "[ops][attention_decode][varlen][append]") {
  decode_case c = all_arguments();
  c.alibi = 0;
  c.kind = cache_kind::table;
  c.left = {};
  check_varlen_appending<f16>(c, {2, 3, 0}, {.pairs = 16, .interleaved = true, .counts = {3, 0, 7}});
  check_varlen_appending<bf16>(c, {3, 1, 1}, {.pairs = 32, .counts = {1, 2, 1}});
  c.scales = scale_kind::sequences;
  check_varlen_appending<f16, e4m3>(c, {1, 3, 2}, {.pairs = 16, .counts = {4, 1, 0}});
  check_varlen_appending<bf16, e4m3>(c, {3, 3, 1}, {.counts = {2, 1, 5}});
}

TEST_CASE("attention_decode: tokens rotated by positions of their own", "[ops][attention_decode][append]") {
  decode_case c{.queries = 2, .lengths = {40, 21}, .kind = cache_kind::table};
  c.causal = causal_alignment::bottom_right;
  check_appending<f16>(c, {.tokens = 2, .pairs = 32, .by_positions = true});
  c.left = {3, 8};  // positions are not reduced by the padding
  check_appending<bf16>(c, {.tokens = 2, .pairs = 16, .interleaved = true, .by_positions = true});
}
