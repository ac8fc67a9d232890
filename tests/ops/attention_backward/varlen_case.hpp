#pragma once
// An attention_backward_varlen of any sequences, compared with the reference of each sequence alone; rows that belong
// to none, or are not used, are left as they are. Where all rows are used the call has no lengths of its own.
// rows_after: rows after those of the last sequence. unused_nan: the inputs have NaN in all rows that no sequence uses.
#include "tests/ops/attention/sequences.hpp"
#include "tests/ops/attention_backward/support.hpp"

#include <algorithm>

namespace kaio::tests {

// All rows but the first `used` ones of each sequence become NaN.
template <class T>
void keep_rows(tensor4<T>& x, const std::vector<i32>& begins, const std::vector<i32>& used) {
  const tensor4<T> before = x;
  x.poison();
  for (std::size_t n = 0; n < used.size(); ++n)
    for (i32 r = begins[n]; r < begins[n] + used[n]; ++r)
      for (u32 h = 0; h < x.heads; ++h)
        for (u32 e = 0; e < x.size; ++e)
          x.at(0, static_cast<u32>(r), h, e) = before.at(0, static_cast<u32>(r), h, e);
}

template <class T>
void check_varlen(const backward_case& c, const std::vector<lengths>& sequences, i64 max_k,
                  u32 rows_after = 0, bool unused_nan = false) {
  CAPTURE(c.text(), c.dlse, c.wants_dq, c.wants_dk, c.wants_dv, max_k, rows_after, unused_nan);
  std::vector<i32> cu_q{0}, cu_k{0}, used_q, used_k;
  i64 longest = 0;
  for (const lengths& one : sequences) {
    cu_q.push_back(cu_q.back() + static_cast<i32>(one.queries));
    cu_k.push_back(cu_k.back() + static_cast<i32>(one.keys));
    used_q.push_back(static_cast<i32>(one.used_queries));
    used_k.push_back(static_cast<i32>(one.used_keys));
    longest = std::max(longest, i64{one.queries});
  }
  const u32 rows_q = static_cast<u32>(cu_q.back()) + rows_after,
            rows_k = static_cast<u32>(cu_k.back()) + rows_after;
  const auto tensor = [&](u32 rows, u32 heads, u32 size, std::uint64_t seed) {
    tensor4<T> x(1, rows, heads, size, c.heads_first, c.pad);
    if (seed != 0) x.fill(seed, 1);
    return x;
  };
  auto q = tensor(rows_q, c.heads, c.qk_size, 1), k = tensor(rows_k, c.key_heads, c.qk_size, 2),
       v = tensor(rows_k, c.key_heads, c.v_size, 3), dout = tensor(rows_q, c.heads, c.v_size, 4);
  if (unused_nan) {
    for (tensor4<T>* const x : {&q, &dout}) keep_rows(*x, cu_q, used_q);
    for (tensor4<T>* const x : {&k, &v}) keep_rows(*x, cu_k, used_k);
  }
  auto out = tensor(rows_q, c.heads, c.v_size, 0);
  std::vector<f32> lse(std::size_t{c.heads} * rows_q, std::numeric_limits<f32>::quiet_NaN());
  std::vector<f32> dlse = lse;
  std::vector<compared_numbers> dq, dk, dv;
  compared_numbers dsinks(c.heads);
  for (std::size_t n = 0; n < sequences.size(); ++n) {
    backward_case alone = c;
    alone.queries = sequences[n].used_queries;
    alone.keys = sequences[n].used_keys;
    const u32 first_q = static_cast<u32>(cu_q[n]), first_k = static_cast<u32>(cu_k[n]);
    // The reference's single batch has the slopes of the first sequence, so those of each sequence are a score of its own.
    host_score f;
    if (c.alibi == 2) {
      REQUIRE(c.softcap == 0);
      f.score = [&](double s, u32, u32 h, u32 i, u32 j) {
        const double distance = std::abs(double(i) + alone.keys - alone.queries - j);
        return s - c.slope(static_cast<u32>(n), h) * distance;
      };
    }
    const backward_reference<T> want(alone, rows_of(q, first_q, alone.queries),
                                     rows_of(k, first_k, alone.keys), rows_of(v, first_k, alone.keys),
                                     rows_of(dout, first_q, alone.queries), f);
    for (u32 i = 0; i < alone.queries; ++i)
      for (u32 h = 0; h < c.heads; ++h) {
        lse[std::size_t{h} * rows_q + first_q + i] = want.lse[std::size_t{h} * alone.queries + i];
        dlse[std::size_t{h} * rows_q + first_q + i] = static_cast<f32>(c.dlse_of(0, h, i));
        for (u32 e = 0; e < c.v_size; ++e)
          out.at(0, first_q + i, h, e) =
              from_float<T>(static_cast<float>(to_double(want.out.host[want.out.index(0, i, h, e)])));
      }
    dq.push_back(want.dq);
    dk.push_back(want.dk);
    dv.push_back(want.dv);
    for (u32 h = 0; h < c.heads; ++h) {
      dsinks.exact[h] += want.dsinks.exact[h];
      dsinks.plain[h] += want.dsinks.plain[h];
    }
  }
  auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host), on_dout = upload(dout.host),
       on_out = upload(out.host);
  auto on_lse = upload(lse), on_dlse = upload(dlse);
  std::vector<f32> slopes;
  for (std::size_t n = 0; n < (c.alibi == 2 ? sequences.size() : 1); ++n)
    for (u32 h = 0; h < c.heads; ++h) slopes.push_back(static_cast<f32>(c.slope(static_cast<u32>(n), h)));
  auto on_slopes = upload(slopes);
  auto on_cu_q = upload(cu_q), on_cu_k = upload(cu_k), on_used_q = upload(used_q), on_used_k = upload(used_k);
  std::vector<T> sinks;
  for (u32 h = 0; h < c.heads; ++h) sinks.push_back(from_float<T>(static_cast<float>(c.sink(h))));
  auto on_sinks = upload(sinks), on_dsinks = upload(sinks);
  backward_output<T> got_dq(1, rows_q, c.heads, c.qk_size, c.heads_first, c.pad),
      got_dk(1, rows_k, c.key_heads, c.qk_size, c.heads_first, c.pad),
      got_dv(1, rows_k, c.key_heads, c.v_size, c.heads_first, c.pad);
  const auto view = []<class U>(U*, const tensor4<T>& x, buffer<T>& memory) {
    return tensor_view<U, 3>(memory, extents(x.rows, x.heads, x.size), strides(x.row, x.head, 1));
  };
  const T* const read = nullptr;
  T* const written = nullptr;
  const auto count = static_cast<i64>(sequences.size());
  attention_sequences of{.cu_q = tensor_view<const i32, 1>(on_cu_q, count + 1),
                         .cu_k = tensor_view<const i32, 1>(on_cu_k, count + 1),
                         .max_q = longest,
                         .max_k = max_k};
  const auto all_used = [](const lengths& one) {
    return one.used_queries == one.queries && one.used_keys == one.keys;
  };
  if (!std::all_of(sequences.begin(), sequences.end(), all_used)) {
    of.used_q = tensor_view<const i32, 1>(on_used_q, count);
    of.used_k = tensor_view<const i32, 1>(on_used_k, count);
  }
  attention_backward_options options;
  options.forward = {.causal = c.causal, .window = c.window, .softcap = c.softcap};
  if (c.sinks) options.forward.sinks = tensor_view<const T, 1>(on_sinks, c.heads);
  if (c.dsinks) options.dsinks = tensor_view<T, 1>(on_dsinks, c.heads);
  if (c.alibi == 1) options.forward.alibi = tensor_view<const f32, 1>(on_slopes, c.heads);
  if (c.alibi == 2) options.forward.alibi = tensor_view<const f32, 2>(on_slopes, count, c.heads);
  if (c.dlse) options.dlse = tensor_view<const f32, 2>(on_dlse, c.heads, rows_q);
  const stream& s = under_test().stream();
  const u64 bytes = attention_backward_varlen_workspace_bytes(s, view(read, q, on_q), view(read, k, on_k),
                                                              view(read, v, on_v), of);
  auto workspace = upload(std::vector<u8>(std::max<u64>(bytes, 1), 0xab));  // nothing of it has to be zero
  options.workspace = workspace;
  const auto gradient = [&](bool wanted, backward_output<T>& x) {
    return wanted ? ops::attention_gradient(view(written, x.before, x.memory)) : ops::attention_gradient();
  };
  attention_backward_varlen(s, view(read, dout, on_dout), view(read, q, on_q), view(read, k, on_k),
                            view(read, v, on_v), view(read, out, on_out),
                            tensor_view<const f32, 2>(on_lse, c.heads, rows_q), gradient(c.wants_dq, got_dq),
                            gradient(c.wants_dk, got_dk), gradient(c.wants_dv, got_dv), of, options);
  const auto compare = [&](const char* name, const backward_output<T>& output,
                           const std::vector<compared_numbers>& want, const std::vector<i32>& first,
                           const std::vector<i32>& used) {
    const tensor4<T> got = output.download();
    tensor4<T> rest = got;
    for (std::size_t n = 0; n < want.size(); ++n) {
      CAPTURE(n);
      const auto part = rows_of(got, static_cast<u32>(first[n]), static_cast<u32>(used[n]));
      compare_numbers(name, part.host, want[n]);
      for (u32 r = 0; r < part.rows; ++r)
        for (u32 h = 0; h < part.heads; ++h)
          for (u32 e = 0; e < part.size; ++e) {
            const std::size_t at = rest.index(0, static_cast<u32>(first[n]) + r, h, e);
            rest.host[at] = output.before.host[at];
          }
    }
    CAPTURE(name);
    REQUIRE(same_bits(rest.host, output.before.host));
  };
  if (c.wants_dq) compare("dq", got_dq, dq, cu_q, used_q);
  if (c.wants_dk) compare("dk", got_dk, dk, cu_k, used_k);
  if (c.wants_dv) compare("dv", got_dv, dv, cu_k, used_k);
  for (const auto& [wanted, output] :
       {std::pair{c.wants_dq, &got_dq}, std::pair{c.wants_dk, &got_dk}, std::pair{c.wants_dv, &got_dv}})
    if (!wanted) REQUIRE(same_bits(output->download().host, output->before.host));
  if (c.dsinks) compare_numbers("dsinks", on_dsinks.download(), dsinks);
}

}  // namespace kaio::tests
