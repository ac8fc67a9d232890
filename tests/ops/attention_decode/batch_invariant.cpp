// attention_decode: the same call gives the same bits. With batch_invariant, so does a sequence alone, next to
// others, with more room, in pages or not; with values in the keys, new keys, and queries in one tensor too.
#include "tests/ops/attention_decode/append_case.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// Results of sequence b, out, then lse.
template <class T>
struct sequence_results {
  std::vector<T> out;
  std::vector<f32> lse;
  bool operator==(const sequence_results& other) const {
    return same_bits(out, other.out) && same_bits(lse, other.lse);
  }
};

template <class T>
sequence_results<T> results_of(const decode_case& c, const decode_results<T>& all, u32 b) {
  sequence_results<T> result;
  for (u32 i = 0; i < c.queries; ++i)
    for (u32 h = 0; h < c.heads; ++h)
      for (u32 e = 0; e < c.v_size; ++e) result.out.push_back(all.out.at(b, i, h, e));
  const auto first = all.lse.begin() + static_cast<std::ptrdiff_t>(std::size_t{b} * c.heads * c.queries);
  result.lse.assign(first, first + static_cast<std::ptrdiff_t>(std::size_t{c.heads} * c.queries));
  return result;
}

// Copies the sequence's queries and keys from `source` to sequence b of another cache.
template <class T, class C>
void copy_sequence(const decode_case& from, const decode_memory<T, C>& source, const decode_case& to,
                   decode_memory<T, C>& memory, u32 b) {
  for (u32 j = 0; j < from.lengths[0]; ++j) {
    const key_place x = source.numbers.place(from, 0, j), y = memory.numbers.place(to, b, j);
    for (u32 h = 0; h < from.key_heads; ++h) {
      if (source.k_scale.kind == scale_kind::keys) {
        memory.k_scale.host[memory.k_scale.index(y, h)] = source.k_scale.at(x, h, 0);
        memory.v_scale.host[memory.v_scale.index(y, h)] = source.v_scale.at(x, h, 0);
      }
      for (u32 e = 0; e < from.qk_size; ++e)
        memory.k.at(y.page, y.row, h, e) = source.k.at(x.page, x.row, h, e);
      for (u32 e = 0; e < from.v_size; ++e)
        memory.v.at(y.page, y.row, h, e) = source.v.at(x.page, x.row, h, e);
    }
  }
  for (u32 i = 0; i < from.queries; ++i)
    for (u32 h = 0; h < from.heads; ++h)
      for (u32 e = 0; e < from.qk_size; ++e) memory.q.at(b, i, h, e) = source.q.at(0, i, h, e);
}

// Surroundings of a case's sequence 0, which becomes sequence 1: other sequences, one of them longer and with more
// splits; pages; room; max_length.
std::vector<decode_case> surroundings(const decode_case& c) {
  decode_case others = c;
  others.lengths = {37, c.lengths[0], 700};
  std::vector<decode_case> all{others};
  others.kind = cache_kind::table;
  others.room = 200;  // of pages of 16 keys
  all.push_back(others);
  others.max_length = 701;
  all.push_back(others);
  return all;
}

template <class T, class C = T>
void check_invariance(decode_case c, bool values_in_keys = false) {
  CAPTURE(c.text());
  c.invariant = true;
  const auto prepare = [&](decode_memory<T, C>& memory) {
    if constexpr (std::is_same_v<T, C>)
      if (values_in_keys) share_values(memory);
    memory.upload_again();
  };
  decode_memory<T, C> memory(c);
  prepare(memory);
  const auto got = run_decode<T>(c, memory);
  compare_decode(c, memory, got);
  const auto alone = results_of(c, got, 0);
  REQUIRE(results_of(c, run_decode<T>(c, memory), 0) == alone);
  for (const decode_case& to : surroundings(c)) {
    CAPTURE(to.text());
    decode_memory<T, C> more(to);
    copy_sequence(c, memory, to, more, 1);
    prepare(more);
    REQUIRE(results_of(to, run_decode<T>(to, more), 1) == alone);
  }
}

// Checks a call that appends the last keys.
template <class T>
void check_appended_invariance(decode_case c, const append_form& form) {
  CAPTURE(c.text());
  c.invariant = true;
  const decode_memory<T> source(c);
  appending_memory<T> memory(c, form);
  const auto got = run_appending(c, memory);
  compare_decode(c, memory.after, got);
  const auto alone = results_of(c, got, 0);
  for (const decode_case& to : surroundings(c)) {
    CAPTURE(to.text());
    appending_memory<T> more(to, form, [&](decode_memory<T>& x) { copy_sequence(c, source, to, x, 1); });
    REQUIRE(results_of(to, run_appending(to, more), 1) == alone);
  }
}

// The first counts[b] queries of each sequence in one tensor; results of sequence b.
template <class T>
sequence_results<T> packed_results(const decode_case& c, const decode_memory<T>& memory,
                                   const std::vector<u32>& counts, u32 b) {
  std::vector<i32> cu{0};
  std::vector<T> q;
  for (u32 n = 0; n < c.batches(); ++n) {
    cu.push_back(cu.back() + static_cast<i32>(counts[n]));
    for (u32 i = 0; i < counts[n]; ++i)
      for (u32 h = 0; h < c.heads; ++h)
        for (u32 e = 0; e < c.qk_size; ++e) q.push_back(memory.q.at(n, i, h, e));
  }
  const auto rows = static_cast<u32>(cu.back());
  const auto on_q = upload(q);
  const auto on_cu = upload(cu);
  auto on_o = under_test().allocate<T>(std::size_t{rows} * c.heads * c.v_size);
  auto on_lse = under_test().allocate<f32>(std::size_t{rows} * c.heads);
  const stream& s = under_test().stream();
  attention_decode_options options{.causal = c.causal, .batch_invariant = true};
  options.max_length = c.max_length;
  options.lse = tensor_view<f32, 2>(on_lse, c.heads, rows);
  const ops::attention_sequences sequences{.cu_q = tensor_view<const i32, 1>(on_cu, cu.size()),
                                           .max_q = c.queries};
  const tensor_view<const T, 3> query(on_q, rows, c.heads, c.qk_size);
  const auto workspace = under_test().allocate<u8>(
      std::max<u64>(attention_decode_varlen_workspace_bytes(s, query, memory.cache, sequences, options), 16),
      uninitialised);
  options.workspace = workspace;
  attention_decode_varlen(s, query, memory.cache, tensor_view<T, 3>(on_o, rows, c.heads, c.v_size), sequences,
                          options);
  const auto o = on_o.download();
  const auto lse = on_lse.download();
  const auto row_size = static_cast<std::ptrdiff_t>(std::size_t{c.heads} * c.v_size);
  sequence_results<T> result;
  result.out.assign(o.begin() + cu[b] * row_size, o.begin() + cu[b + 1] * row_size);
  for (u32 h = 0; h < c.heads; ++h)
    for (i32 i = cu[b]; i < cu[b + 1]; ++i)
      result.lse.push_back(lse[std::size_t{h} * rows + static_cast<u32>(i)]);
  return result;
}

// `c.queries`: the most queries of a sequence. The compared sequence has one query less.
template <class T>
void check_packed_invariance(const decode_case& c) {
  CAPTURE(c.text());
  const decode_memory<T> memory(c);
  const u32 count = c.queries - 1;
  const auto alone = packed_results(c, memory, {count}, 0);
  bool has_numbers = false;
  for (const T x : alone.out) has_numbers = has_numbers || std::abs(to_double(x)) > 1e-3;
  REQUIRE(has_numbers);
  for (const decode_case& to : surroundings(c)) {
    CAPTURE(to.text());
    decode_memory<T> more(to);
    copy_sequence(c, memory, to, more, 1);
    more.upload_again();
    REQUIRE(packed_results(to, more, {c.queries, count, 1}, 1) == alone);
  }
}

}  // namespace

TEST_CASE("attention_decode: batch_invariant", "[ops][attention_decode]") {
  check_invariance<f16>({.lengths = {90}, .sinks = true});  // one split with keys, alone or of several
  check_invariance<f16>({.lengths = {600}, .window = {550, -1}, .alibi = 1});
  check_invariance<bf16>(
      {.queries = 9, .heads = 4, .lengths = {530}, .causal = causal_alignment::bottom_right});
  check_invariance<f32>({.lengths = {513}, .softcap = 3});
  check_invariance<f16, e4m3>({.lengths = {530}, .scales = scale_kind::keys});
}

TEST_CASE("attention_decode: batch_invariant with values in the keys", "[ops][attention_decode][mla]") {
  if (under_test().properties().target.sm < 80) return;
  check_invariance<bf16>(
      {.heads = 2, .key_heads = 1, .qk_size = 264, .v_size = 256, .lengths = {520}, .sinks = true}, true);
}

TEST_CASE("attention_decode: batch_invariant with new keys", "[ops][attention_decode][append]") {
  check_appended_invariance<f16>({.queries = 2, .lengths = {515}, .causal = causal_alignment::bottom_right},
                                 {.tokens = 2, .pairs = 16});
}

TEST_CASE("attention_decode_varlen: batch_invariant", "[ops][attention_decode][varlen]") {
  constexpr causal_alignment causal = causal_alignment::bottom_right;
  check_packed_invariance<f16>(
      {.queries = 3, .heads = 2, .key_heads = 1, .lengths = {530}, .causal = causal});
  check_packed_invariance<bf16>({.queries = 9, .heads = 4, .lengths = {90}, .causal = causal});
}

TEST_CASE("attention_decode: the same bits in every run", "[ops][attention_decode]") {
  const decode_case c{.queries = 3, .lengths = {500, 20}, .kind = cache_kind::table};
  decode_memory<f16> memory(c);
  const auto first = run_decode<f16>(c, memory);
  for (int i = 0; i < 3; ++i) {
    const auto again = run_decode<f16>(c, memory);
    REQUIRE(same_bits(first.out.host, again.out.host));
    REQUIRE(same_bits(first.lse, again.lse));
  }
}
