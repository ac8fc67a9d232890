#pragma once
// The arguments of an attention_decode of the tests, except for the elements: a case, and the numbers of its
// cache. Numbers of pages beyond a sequence's length are no pages.

#include <kaio/ops/attention/decode/call/arguments.hpp>

#include "tests/ops/attention/support.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::tests {

enum class cache_kind { contiguous, table, list };

// Scales of an 8-bit cache: one for all of it, per head, per sequence and head, or per key and head.
enum class scale_kind { none, one, heads, sequences, keys };

struct decode_case {
  u32 queries = 1, heads = 4, key_heads = 2, qk_size = 64, v_size = 64;
  std::vector<u32> lengths{70};
  std::vector<u32> left{};  // left padding; none where it is empty
  cache_kind kind = cache_kind::contiguous;
  u32 page = 16;
  u32 room = 0;  // rows of a contiguous batch, pages of a row of a table; 0: what the lengths need
  bool heads_first = false;    // (heads, rows, size) in memory
  bool together = false;       // K and V by turns in one tensor
  bool indexed = false;        // contiguous: by batch_index
  bool by_last_page = false;   // list: last_page_len in place of lengths
  bool shared = false;         // sequences have their first page in common
  u32 pad = 0;                 // elements after each row
  std::optional<u32> q_pad{};  // of Q, in place of `pad`
  causal_alignment causal = causal_alignment::none;
  attention_window window{};
  f32 softcap = 0;
  std::optional<f32> scale{};
  u32 alibi = 0;  // dimensions of the slopes
  bool sinks = false, invariant = false;
  i64 max_length = 0;
  std::string_view variant{};
  u32 splits = 0;  // 0: by the model
  ops::attention_combining combining = ops::attention_combining::automatic;
  scale_kind scales = scale_kind::none;  // of a cache of 8 bits
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
           " indexed " + std::to_string(indexed) + " alibi " + std::to_string(alibi) + " q_pad " +
           std::to_string(q_pad.value_or(pad)) + " scales " + std::to_string(static_cast<int>(scales)) +
           " variant " + std::string(variant) + " splits " + std::to_string(splits) + " combining " +
           std::to_string(static_cast<int>(combining)) + " " +
           attention_case(lengths.empty() ? attention_case{} : sequence(0)).text();
  }
};

// Where a key is in memory.
struct key_place {
  u32 page, row;
};

// The numbers of a cache on the host, and which keys of it are read.
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

}  // namespace kaio::tests
