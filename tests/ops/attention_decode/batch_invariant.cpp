// attention_decode: the same call gives the same bits; with batch_invariant, so does a sequence alone, next
// to others, with more room, in pages or not.
#include "tests/ops/attention_decode/support.hpp"

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

// The sequence's queries and keys out of `from`, as sequence b of another cache.
template <class T, class C>
sequence_results<T> elsewhere(const decode_case& from, const decode_memory<T, C>& source, decode_case to,
                              u32 b) {
  decode_memory<T, C> memory(to);
  for (u32 j = 0; j < from.lengths[0]; ++j) {
    const key_place x = source.numbers.place(from, 0, j), y = memory.numbers.place(to, b, j);
    for (u32 h = 0; h < from.key_heads; ++h) {
      if (source.k_scale.kind == scale_kind::keys) {
        memory.k_scale.host[memory.k_scale.index(y, h)] = source.k_scale.at(x, h);
        memory.v_scale.host[memory.v_scale.index(y, h)] = source.v_scale.at(x, h);
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
  memory.upload_again();
  return results_of(to, run_decode<T>(to, memory), b);
}

template <class T, class C = T>
void check_invariance(decode_case c) {
  CAPTURE(c.text());
  c.invariant = true;
  decode_memory<T, C> memory(c);
  const auto got = run_decode<T>(c, memory);
  compare_decode(c, memory, got);
  const auto alone = results_of(c, got, 0);
  REQUIRE(results_of(c, run_decode<T>(c, memory), 0) == alone);
  const u32 length = c.lengths[0];
  decode_case others = c;
  others.lengths = {37, length, 700};  // with longer ones, and more parts
  REQUIRE(elsewhere(c, memory, others, 1) == alone);
  others.kind = cache_kind::table;
  others.room = 200;  // of pages of 16 keys
  REQUIRE(elsewhere(c, memory, others, 1) == alone);
  others.max_length = 701;
  REQUIRE(elsewhere(c, memory, others, 1) == alone);
}

}  // namespace

TEST_CASE("attention_decode: batch_invariant", "[ops][attention_decode]") {
  check_invariance<f16>({.lengths = {90}, .sinks = true});  // one part with keys, alone or of several
  check_invariance<f16>({.lengths = {600}, .window = {550, -1}, .alibi = 1});
  check_invariance<bf16>(
      {.queries = 9, .heads = 4, .lengths = {530}, .causal = causal_alignment::bottom_right});
  check_invariance<f32>({.lengths = {513}, .softcap = 3});
  check_invariance<f16, e4m3>({.lengths = {530}, .scales = scale_kind::keys});
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
