#pragma once
// attention_decode_varlen: sequences with different numbers of queries in one tensor, each compared with double
// precision; rows of no sequence are not written.
#include "tests/ops/attention_decode/append_case.hpp"

namespace kaio::tests {

// `c.queries`: the most queries of a sequence. The call gets `given_q` and `cache`, and must compute the
// result of `memory`. `rows_after`: rows of no sequence after the last one.
template <class T, class C, class Cache>
void check_varlen_call(const decode_case& c, const std::vector<u32>& counts,
                       const decode_memory<T, C>& memory, const tensor4<T>& given_q, const Cache& cache,
                       const ops::attention_append& append = {}, u32 rows_after = 3) {
  constexpr u32 before = 2;  // rows of no sequence
  std::vector<i32> cu{static_cast<i32>(before)};
  for (const u32 n : counts) cu.push_back(cu.back() + static_cast<i32>(n));
  const u32 rows = static_cast<u32>(cu.back()) + rows_after;
  const auto row_of = [&](u32 b, u32 i) { return static_cast<u32>(cu[b]) + i; };
  const T missing = from_float<T>(std::numeric_limits<float>::quiet_NaN());
  std::vector<T> q(std::size_t{rows} * c.heads * c.qk_size, missing);
  const auto index = [&](u32 row, u32 h, u32 e, u32 size) {
    return (std::size_t{row} * c.heads + h) * size + e;
  };
  for (u32 b = 0; b < c.batches(); ++b)
    for (u32 i = 0; i < counts[b]; ++i)
      for (u32 h = 0; h < c.heads; ++h)
        for (u32 e = 0; e < c.qk_size; ++e) q[index(row_of(b, i), h, e, c.qk_size)] = given_q.at(b, i, h, e);
  const T poison = from_float<T>(-77.0f);
  std::vector<T> o(std::size_t{rows} * c.heads * c.v_size, poison);
  std::vector<f32> lse(std::size_t{rows} * c.heads, -12345.0f);
  const auto on_q = upload(q);
  auto on_o = upload(o);
  auto on_lse = upload(lse);
  const auto on_cu = upload(cu);
  const stream& s = under_test().stream();
  attention_decode_options options{
      .scale = c.scale, .causal = c.causal, .window = c.window, .softcap = c.softcap};
  options.lse = tensor_view<f32, 2>(on_lse, c.heads, rows);
  options.k_scale = memory.k_scale.view();
  options.v_scale = memory.v_scale.view();
  options.variant = c.variant;
  options.splits = c.splits;
  options.append = append;
  const ops::attention_sequences sequences{.cu_q = tensor_view<const i32, 1>(on_cu, cu.size()),
                                           .max_q = c.queries};
  const tensor_view<const T, 3> query(on_q, rows, c.heads, c.qk_size);
  const auto workspace = under_test().allocate<u8>(
      std::max<u64>(attention_decode_varlen_workspace_bytes(s, query, cache, sequences, options), 16),
      uninitialised);
  options.workspace = workspace;
  attention_decode_varlen(s, query, cache, tensor_view<T, 3>(on_o, rows, c.heads, c.v_size), sequences,
                          options);
  o = on_o.download(), lse = on_lse.download();
  for (u32 b = 0; b < c.batches(); ++b) {
    CAPTURE(b);
    attention_case one = c.sequence(b);
    one.queries = counts[b];
    if (one.queries == 0) continue;
    host_functions f;
    f.mask = [&](u32, u32, u32 i, u32 j) { return j >= c.left_of(b) && one.keeps(0, 0, i, j); };
    tensor4<T> own_q(1, counts[b], c.heads, c.qk_size, false, 0),
        out(1, counts[b], c.heads, c.v_size, false, 0);
    std::vector<f32> own_lse;
    for (u32 h = 0; h < c.heads; ++h)
      for (u32 i = 0; i < counts[b]; ++i) {
        for (u32 e = 0; e < c.qk_size; ++e) own_q.at(0, i, h, e) = memory.q.at(b, i, h, e);
        for (u32 e = 0; e < c.v_size; ++e) out.at(0, i, h, e) = o[index(row_of(b, i), h, e, c.v_size)];
        own_lse.push_back(lse[std::size_t{h} * rows + row_of(b, i)]);
      }
    const attention_reference<T> want(one, own_q, memory.gather(c, b, memory.k, memory.k_scale),
                                      memory.gather(c, b, memory.v, memory.v_scale), f);
    compare_attention(one, out, out, want);
    compare_lse(own_lse, want.lse);
  }
  for (u32 row = 0; row < rows; ++row)
    if (row < before || row >= rows - rows_after)
      for (u32 h = 0; h < c.heads; ++h) {
        for (u32 e = 0; e < c.v_size; ++e)
          REQUIRE(to_double(o[index(row, h, e, c.v_size)]) == to_double(poison));
        REQUIRE(lse[std::size_t{h} * rows + row] == -12345.0f);
      }
}

template <class T, class C = T>
void check_varlen(const decode_case& c, const std::vector<u32>& counts, u32 rows_after = 3) {
  CAPTURE(c.text());
  const decode_memory<T, C> memory(c);
  check_varlen_call(c, counts, memory, memory.q, memory.cache, {}, rows_after);
}

// With new keys, `form.counts` of each sequence.
template <class T, class C = T>
void check_varlen_appending(const decode_case& c, const std::vector<u32>& counts, const append_form& form) {
  CAPTURE(c.text(), counts, form.counts, form.pairs, form.interleaved, form.q_at_first);
  const appending_memory<T, C> memory(c, form);
  check_varlen_call(c, counts, memory.after, memory.given_q, memory.cache, memory.append);
  memory.compare_memory();
}

}  // namespace kaio::tests
