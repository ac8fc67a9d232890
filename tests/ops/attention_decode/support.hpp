#pragma once
// An attention_decode over a cache of any form, run and compared with double precision by the rule of
// attention (tests/ops/attention/support.hpp), sequence by sequence. Every row of the cache that no query
// attends to holds NaN, and numbers of pages beyond a sequence's length are no pages.

#include "tests/ops/attention/support.hpp"

#include <kaio/ops/attention_decode.hpp>

#include <algorithm>
#include <numeric>

namespace kaio::tests {

enum class cache_kind { contiguous, table, list };

struct decode_case {
  u32 queries = 1, heads = 4, key_heads = 2, qk_size = 64, v_size = 64;
  std::vector<u32> lengths{70};
  std::vector<u32> left{};  // left padding; none where it is empty
  cache_kind kind = cache_kind::contiguous;
  u32 page = 16;
  u32 room = 0;  // rows of a contiguous batch, pages of a row of a table; 0: what the lengths need
  bool heads_first = false;   // (heads, rows, size) in memory
  bool together = false;      // K and V by turns in one tensor
  bool indexed = false;       // contiguous: by batch_index
  bool by_last_page = false;  // list: last_page_len in place of lengths
  bool shared = false;        // sequences have their first page in common
  u32 pad = 0;                // elements after each row
  causal_alignment causal = causal_alignment::none;
  attention_window window{};
  f32 softcap = 0;
  std::optional<f32> scale{};
  u32 alibi = 0;  // dimensions of the slopes
  bool sinks = false, invariant = false;
  i64 max_length = 0;
  std::string_view variant{};
  std::uint64_t seed = 1;

  u32 batches() const { return static_cast<u32>(lengths.size()); }
  u32 left_of(u32 b) const { return left.empty() ? 0 : left[b]; }
  u32 longest() const { return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end()); }
  // One sequence of it as an attention.
  attention_case sequence(u32 b) const {
    attention_case c;
    c.queries = queries, c.keys = lengths[b], c.heads = heads, c.key_heads = key_heads;
    c.qk_size = qk_size, c.v_size = v_size;
    c.causal = causal, c.window = window, c.softcap = softcap, c.scale = scale, c.sinks = sinks,
    c.seed = seed;
    return c;
  }
  bool keeps(u32 b, u32 i, u32 j) const { return j >= left_of(b) && sequence(b).keeps(0, 0, i, j); }
  double slope(u32 b, u32 h) const { return alibi == 0 ? 0 : 0.25 / (1 + h) + (alibi == 2 ? 0.125 * b : 0); }
  std::string text() const {
    std::string all = "lengths";
    for (const u32 n : lengths) all += " " + std::to_string(n);
    all += " left";
    for (const u32 n : left) all += " " + std::to_string(n);
    return all + " kind " + std::to_string(static_cast<int>(kind)) + " page " + std::to_string(page) +
           " heads_first " + std::to_string(heads_first) + " together " + std::to_string(together) +
           " indexed " + std::to_string(indexed) + " alibi " + std::to_string(alibi) + " variant " +
           std::string(variant) + " " +
           attention_case(lengths.empty() ? attention_case{} : sequence(0)).text();
  }
};

// Where a key is in memory.
struct key_place {
  u32 page, row;
};

// The numbers of a cache on the host, and what of it is read.
struct cache_numbers {
  u32 pages = 0, rows = 0;  // extents 0 and 1 of k and v
  std::vector<i32> table, indptr, indices, lengths, last_page_len, batch_index, left;
  u32 table_width = 0;

  explicit cache_numbers(const decode_case& c) {
    std::mt19937_64 engine(c.seed + 77);
    const u32 batches = c.batches();
    for (const u32 n : c.lengths) lengths.push_back(static_cast<i32>(n));
    for (const u32 n : c.left) left.push_back(static_cast<i32>(n));
    if (c.kind == cache_kind::contiguous) {
      rows = std::max({c.room, c.longest(), 1u});
      pages = c.indexed ? batches + 2 : batches;
      std::vector<i32> all(pages);
      std::iota(all.begin(), all.end(), 0);
      if (c.indexed) std::shuffle(all.begin(), all.end(), engine);
      batch_index.assign(all.begin(), all.begin() + batches);
      return;
    }
    rows = c.page;
    std::vector<u32> needs;
    u32 total = 0, most = 0;
    for (const u32 n : c.lengths) {
      needs.push_back((n + c.page - 1) / c.page);
      total += needs.back(), most = std::max(most, needs.back());
    }
    pages = total + 3;
    std::vector<i32> free(pages);
    std::iota(free.begin(), free.end(), 0);
    std::shuffle(free.begin(), free.end(), engine);
    table_width = std::max({c.room, most, 1u});
    table.assign(std::size_t{table_width} * batches, -1);
    for (std::size_t i = 0; i < table.size(); i += 2) table[i] = std::numeric_limits<i32>::max();
    indptr.push_back(0);
    for (u32 b = 0; b < batches; ++b) {
      for (u32 p = 0; p < needs[b]; ++p) {
        const bool common = c.shared && p == 0 && b != 0 && needs[0] != 0;
        const i32 page = common ? table[0] : free.back();
        if (!common) free.pop_back();
        table[std::size_t{b} * table_width + p] = page;
        indices.push_back(page);
      }
      indptr.push_back(static_cast<i32>(indices.size()));
      last_page_len.push_back(needs[b] == 0 ? 1 : static_cast<i32>(c.lengths[b] - (needs[b] - 1) * c.page));
    }
    indices.push_back(-1);
  }
  key_place place(const decode_case& c, u32 b, u32 j) const {
    if (c.kind == cache_kind::contiguous) return {static_cast<u32>(batch_index[b]), j};
    return {static_cast<u32>(table[std::size_t{b} * table_width + j / c.page]), j % c.page};
  }
};

template <class T>
struct decode_memory {
  cache_numbers numbers;
  tensor4<T> q, k, v;
  std::vector<T> pool;  // what k and v are views of where they are together
  buffer<T> on_q, on_k, on_v, on_pool;
  buffer<i32> table, indptr, indices, lengths, last_page_len, batch_index, left;
  kv_cache<const T> cache;

  explicit decode_memory(const decode_case& c)
      : numbers(c),
        q(c.batches(), c.queries, c.heads, c.qk_size, false, c.pad),
        k(numbers.pages, numbers.rows, c.key_heads, c.qk_size, c.heads_first, c.pad),
        v(numbers.pages, numbers.rows, c.key_heads, c.v_size, c.heads_first, c.pad) {
    q.fill(c.seed, 1);
    // Every element is NaN; those that some query reads are not.
    std::mt19937_64 engine(c.seed + 1);
    std::uniform_real_distribution<float> any(-1, 1);
    for (u32 b = 0; b < c.batches(); ++b)
      for (u32 j = 0; j < c.lengths[b]; ++j) {
        bool read = false;
        for (u32 i = 0; i < c.queries; ++i) read = read || c.keeps(b, i, j);
        if (!read) continue;
        const key_place at = numbers.place(c, b, j);
        for (u32 h = 0; h < c.key_heads; ++h) {
          for (u32 e = 0; e < c.qk_size; ++e) k.at(at.page, at.row, h, e) = from_float<T>(any(engine));
          for (u32 e = 0; e < c.v_size; ++e) v.at(at.page, at.row, h, e) = from_float<T>(any(engine));
        }
      }
    on_q = upload(q.host);
    const std::size_t one = k.host.size() / std::max(numbers.pages, 1u);
    if (c.together) {  // page by page K, then V: of the same size
      for (u32 p = 0; p < numbers.pages; ++p)
        for (const auto* x : {&k, &v})
          pool.insert(pool.end(), x->host.begin() + static_cast<std::ptrdiff_t>(p * one),
                      x->host.begin() + static_cast<std::ptrdiff_t>((p + 1) * one));
      on_pool = upload(pool);
      const auto part = [&](const tensor4<T>& x, std::size_t first) {
        const auto memory = on_pool.view(first, pool.size() - first);
        return tensor_view<const T, 4>(memory, extents(x.batches, x.rows, x.heads, x.size),
                                       strides(2 * x.batch, x.row, x.head, 1));
      };
      cache.k = part(k, 0);
      cache.v = part(v, one);
    } else {
      on_k = upload(k.host);
      on_v = upload(v.host);
      cache.k = k.template view<const T>(on_k);
      cache.v = v.template view<const T>(on_v);
    }
    const u32 batches = c.batches();
    const auto row = [&](buffer<i32>& memory, const std::vector<i32>& host) {
      memory = upload(host);
      return tensor_view<const i32, 1>(memory, host.size());
    };
    if (c.kind == cache_kind::table) {
      table = upload(numbers.table);
      cache.table = tensor_view<const i32, 2>(table, batches, numbers.table_width);
    }
    if (c.kind == cache_kind::list) {
      cache.indptr = row(indptr, numbers.indptr);
      cache.indices = row(indices, numbers.indices);
    }
    if (c.by_last_page)
      cache.last_page_len = row(last_page_len, numbers.last_page_len);
    else
      cache.lengths = row(lengths, numbers.lengths);
    if (c.indexed) cache.batch_index = row(batch_index, numbers.batch_index);
    if (!c.left.empty()) cache.left_padding = row(left, numbers.left);
  }

  // What the test has changed on the host, of tensors that are not together.
  void upload_again() {
    const stream& s = under_test().stream();
    const auto copy = [&](buffer<T>& to, const std::vector<T>& from) {
      if (!from.empty()) to.copy_from(from.data(), from.size(), s);
    };
    copy(on_q, q.host), copy(on_k, k.host), copy(on_v, v.host);
    s.synchronize();
  }

  // The keys of a sequence, one after the other; those that are not read are NaN here too.
  tensor4<T> gather(const decode_case& c, u32 b, const tensor4<T>& from) const {
    tensor4<T> to(1, c.lengths[b], from.heads, from.size, false, 0);
    for (u32 j = 0; j < c.lengths[b]; ++j) {
      const key_place at = numbers.place(c, b, j);
      for (u32 h = 0; h < from.heads; ++h)
        for (u32 e = 0; e < from.size; ++e) to.at(0, j, h, e) = from.at(at.page, at.row, h, e);
    }
    return to;
  }
};

template <class O>
struct decode_results {
  tensor4<O> out, before;
  std::vector<f32> lse;
};

// Runs a case; `prepare` may change the cache before.
template <class T, class O = T>
decode_results<O> run_decode(const decode_case& c, decode_memory<T>& memory) {
  const u32 batches = c.batches();
  tensor4<O> o(batches, c.queries, c.heads, c.v_size, c.heads_first, c.pad);
  auto on_o = upload(o.host);
  std::vector<f32> slopes;
  for (u32 b = 0; b < (c.alibi == 2 ? batches : 1); ++b)
    for (u32 h = 0; h < c.heads; ++h) slopes.push_back(static_cast<f32>(c.slope(b, h)));
  auto on_slopes = upload(slopes);
  std::vector<T> sinks;
  for (u32 h = 0; h < c.heads; ++h) sinks.push_back(from_float<T>(static_cast<float>(c.sequence(0).sink(h))));
  auto on_sinks = upload(sinks);
  std::vector<f32> lse(std::size_t{batches} * c.heads * c.queries, -12345.0f);
  auto on_lse = upload(lse);
  attention_decode_options options{
      .scale = c.scale, .causal = c.causal, .window = c.window, .softcap = c.softcap};
  if (c.alibi == 1) options.alibi = tensor_view<const f32, 1>(on_slopes, c.heads);
  if (c.alibi == 2) options.alibi = tensor_view<const f32, 2>(on_slopes, batches, c.heads);
  if (c.sinks) options.sinks = tensor_view<const T, 1>(on_sinks, c.heads);
  options.lse = tensor_view<f32, 3>(on_lse, batches, c.heads, c.queries);
  options.max_length = c.max_length;
  options.batch_invariant = c.invariant;
  options.variant = c.variant;
  const stream& s = under_test().stream();
  const auto q = memory.q.template view<const T>(memory.on_q);
  auto workspace =
      under_test().allocate<u8>(attention_decode_workspace_bytes(s, q, memory.cache, options), uninitialised);
  if (workspace.size() != 0) options.workspace = workspace;
  attention_decode(s, q, memory.cache, o.template view<O>(on_o), options);
  decode_results<O> result{o, o, on_lse.download()};
  const auto downloaded = on_o.download();
  std::copy_n(downloaded.begin(), result.out.host.size(), result.out.host.begin());
  return result;
}

template <class T, class O>
void compare_decode(const decode_case& c, const decode_memory<T>& memory, const decode_results<O>& got) {
  std::vector<bool> is_element(got.out.host.size(), false);
  for (u32 b = 0; b < c.batches(); ++b) {
    CAPTURE(b);
    attention_case one = c.sequence(b);
    one.f32_output = !std::is_same_v<O, T>;
    host_functions f;
    f.mask = [&](u32, u32, u32 i, u32 j) { return c.keeps(b, i, j); };
    if (c.alibi != 0)
      f.score = [&](double x, u32, u32 h, u32 i, u32 j) {
        if (c.softcap > 0) x = double(c.softcap) * std::tanh(x / c.softcap);
        return x - c.slope(b, h) * std::abs(double(i) + c.lengths[b] - c.queries - j);
      };
    tensor4<T> q(1, c.queries, c.heads, c.qk_size, false, 0);
    tensor4<O> out(1, c.queries, c.heads, c.v_size, false, 0);
    std::vector<f32> lse;
    for (u32 i = 0; i < c.queries; ++i)
      for (u32 h = 0; h < c.heads; ++h) {
        for (u32 e = 0; e < c.qk_size; ++e) q.at(0, i, h, e) = memory.q.at(b, i, h, e);
        for (u32 e = 0; e < c.v_size; ++e) {
          out.at(0, i, h, e) = got.out.at(b, i, h, e);
          is_element[got.out.index(b, i, h, e)] = true;
        }
      }
    const attention_reference<T> want(one, q, memory.gather(c, b, memory.k), memory.gather(c, b, memory.v),
                                      f);
    compare_attention(one, out, out, want);
    const auto first = got.lse.begin() + static_cast<std::ptrdiff_t>(std::size_t{b} * c.heads * c.queries);
    compare_lse(
        std::vector<f32>(first, first + static_cast<std::ptrdiff_t>(std::size_t{c.heads} * c.queries)),
        want.lse);
  }
  for (std::size_t i = 0; i < got.out.host.size(); ++i)
    if (!is_element[i] && std::memcmp(&got.out.host[i], &got.before.host[i], sizeof(O)) != 0) {
      CAPTURE(i);
      FAIL("a kernel wrote into the padding of its output");
    }
}

// f16 and bf16 by the kernels of mma.sync where the device has them.
template <class T, class O = T>
void check_decode(const decode_case& c) {
  CAPTURE(c.text());
  decode_memory<T> memory(c);
  compare_decode(c, memory, run_decode<T, O>(c, memory));
}

}  // namespace kaio::tests
