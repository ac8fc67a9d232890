#pragma once
// Calls of an attention_decode case whose last keys are not in the cache: the call itself appends them, and rotates
// them and its queries. The result is compared with double precision as that of any other case, over keys and queries
// that were rotated on the host; the cache is compared bit by bit.

#include "tests/ops/attention_decode/support.hpp"
#include "tests/ops/cache/kept.hpp"
#include "tests/ops/cache/support.hpp"

#include <functional>

namespace kaio::tests {

struct append_form {
  u32 tokens = 1;  // new keys of each sequence
  u32 pairs = 0;   // that are rotated; 0: none
  bool interleaved = false;
  bool q_at_first = false;
  bool by_positions = false;  // by the tokens' own numbers, not by their places
  // Counts of new keys per sequence, in place of `tokens`. The keys follow each other, after and before rows
  // of no sequence, and come with cu_k.
  std::vector<u32> counts{};

  u32 count(u32 b) const { return counts.empty() ? tokens : counts[b]; }
};

// On the host: queries and cache as they are after the append. On the device: as they are before it. In 8 bits new
// elements are divided by the scales of the cache.
template <class T, class C = T>
class appending_memory {
 public:
  // change: of the numbers, before anything is rotated.
  appending_memory(const decode_case& c, const append_form& form,
                   const std::function<void(decode_memory<T, C>&)>& change = {})
      : after(c), form_(form), batches_(c.batches()) {
    constexpr u32 none = 2;  // rows of no sequence before, and one after
    REQUIRE(!c.together);
    if (change) change(after);
    const bool packed = !form.counts.empty();
    std::vector<i32> before, cu{static_cast<i32>(none)};
    u32 most = 0;
    for (u32 b = 0; b < batches_; ++b) {
      REQUIRE(c.lengths[b] >= c.left_of(b) + form.count(b));
      before.push_back(static_cast<i32>(c.lengths[b] - form.count(b)));
      cu.push_back(cu.back() + static_cast<i32>(form.count(b)));
      most = std::max(most, c.lengths[b] + c.queries + 11 * b);
    }
    const u32 rows = packed ? static_cast<u32>(cu.back()) + 1 : form.tokens;
    tensor4<T> new_k(packed ? 1 : batches_, rows, c.key_heads, c.qk_size, false, 0),
        new_v(packed ? 1 : batches_, rows, c.key_heads, c.v_size, false, 0);
    tensor4<C> old_k = after.k, old_v = after.v;
    given_q = after.q;
    const auto position = [&](u32 b, u32 i) {
      return form.by_positions ? static_cast<i32>(11 * b + 3 * i + 1)
                               : before[b] + static_cast<i32>(i) - static_cast<i32>(c.left_of(b));
    };
    std::vector<i32> positions;
    for (u32 b = 0; b < batches_; ++b)
      for (u32 i = 0; i < form.tokens; ++i) positions.push_back(position(b, i));
    const host_tables<T> tables(most, std::max(form.pairs, 1u), 0, 9);
    const auto turn = [&](T& first, i32 place) {
      if (form.pairs != 0) rotate_on_host(&first, tables, place, form.interleaved, false);
    };
    std::mt19937_64 engine(c.seed + 5);
    std::uniform_real_distribution<float> any(-1, 1);
    for (u32 b = 0; b < batches_; ++b) {
      for (u32 i = 0; i < form.count(b); ++i) {
        const key_place at = after.numbers.place(c, b, static_cast<u32>(before[b]) + i);
        const u32 to_batch = packed ? 0 : b, to_row = packed ? static_cast<u32>(cu[b]) + i : i;
        for (u32 h = 0; h < c.key_heads; ++h) {
          // Draws the given row, and keeps it as the cache does.
          const auto append_row = [&](tensor4<T>& given, tensor4<C>& kept, tensor4<C>& old, float was,
                                      bool turns, float scale) {
            std::vector<T> row;
            for (u32 e = 0; e < given.size; ++e) {
              if constexpr (std::is_same_v<T, C>)
                row.push_back(kept.at(at.page, at.row, h, e));
              else
                row.push_back(from_float<T>(any(engine)));
              given.at(to_batch, to_row, h, e) = row.back();
              old.at(at.page, at.row, h, e) = from_float<C>(was);
            }
            if (turns) turn(row[0], position(b, i));
            for (u32 e = 0; e < given.size; ++e)
              kept.at(at.page, at.row, h, e) = kept_on_host<C>(row[e], scale);
          };
          append_row(new_k, after.k, old_k, -3.0f, true, after.k_scale.at(at, h, b));
          append_row(new_v, after.v, old_v, -5.0f, false, after.v_scale.at(at, h, b));
        }
      }
      for (u32 i = 0; i < c.queries; ++i)
        for (u32 h = 0; h < c.heads; ++h)
          turn(after.q.at(b, i, h, 0),
               form.by_positions || !form.q_at_first ? position(b, i) : position(b, 0));
    }
    on_q_ = upload(given_q.host);
    after.on_k = upload(old_k.host), after.on_v = upload(old_v.host);
    on_new_k_ = upload(new_k.host), on_new_v_ = upload(new_v.host);
    on_before_ = upload(before), on_positions_ = upload(positions), on_cu_ = upload(cu);
    on_cos_ = upload(tables.cos), on_sin_ = upload(tables.sin);
    q = given_q.template view<const T>(on_q_);
    cache.k = after.k.template view<C>(after.on_k);
    cache.v = after.v.template view<C>(after.on_v);
    cache.table = after.cache.table;
    cache.indptr = after.cache.indptr;
    cache.indices = after.cache.indices;
    cache.last_page_len = after.cache.last_page_len;
    cache.batch_index = after.cache.batch_index;
    cache.left_padding = after.cache.left_padding;
    if (!c.by_last_page) cache.lengths = tensor_view<const i32, 1>(on_before_, batches_);
    append = {.k = new_k.template view<const T>(on_new_k_), .v = new_v.template view<const T>(on_new_v_)};
    if (packed) {
      append.k = tensor_view<const T, 3>(on_new_k_, rows, c.key_heads, c.qk_size);
      append.v = tensor_view<const T, 3>(on_new_v_, rows, c.key_heads, c.v_size);
      append.cu_k = tensor_view<const i32, 1>(on_cu_, batches_ + 1);
    }
    if (form.pairs == 0) return;
    append.rotary = {.cos = tables.view(on_cos_), .sin = tables.view(on_sin_)};
    append.rotary.interleaved = form.interleaved;
    append.rotary.q_at_first = form.q_at_first;
    if (form.by_positions)
      append.rotary.positions = tensor_view<const i32, 2>(on_positions_, batches_, form.tokens);
  }
  appending_memory(const appending_memory&) = delete;
  appending_memory& operator=(const appending_memory&) = delete;

  // After a call the cache has the new rows and no other, and the queries and the lengths are as they were.
  void compare_memory() const {
    require_same(after.on_k.download(), after.k.host);
    require_same(after.on_v.download(), after.v.host);
    require_same(on_q_.download(), given_q.host);
  }

  decode_memory<T, C> after;
  tensor4<T> given_q{0, 0, 0, 0, false, 0};
  tensor_view<const T, 4> q;
  kv_cache<C> cache;
  attention_append append;

 private:
  append_form form_;
  u32 batches_;
  buffer<T> on_q_, on_new_k_, on_new_v_, on_cos_, on_sin_;
  buffer<i32> on_before_, on_positions_, on_cu_;
};

// `Call` is library_decode or one like it.
template <class T, class C, class Call>
struct appending_call {
  const appending_memory<T, C>& memory;
  const Call& call;

  template <class Q>
  std::uint64_t bytes(const stream& s, const Q&, const kv_cache<const C>&,
                      attention_decode_options options) const {
    options.append = memory.append;
    return call.bytes(s, memory.q, memory.cache, options);
  }
  template <class Q, class O>
  void run(const stream& s, const Q&, const kv_cache<const C>&, const O& o,
           attention_decode_options options) const {
    options.append = memory.append;
    call.run(s, memory.q, memory.cache, o, options);
  }
};

template <class T, class C, class Call = library_decode>
decode_results<T> run_appending(const decode_case& c, appending_memory<T, C>& memory, const Call& call = {}) {
  const auto result = run_decode<T>(c, memory.after, appending_call<T, C, Call>{memory, call});
  memory.compare_memory();
  return result;
}

template <class T, class C = T>
void check_appending(const decode_case& c, const append_form& form) {
  CAPTURE(c.text(), form.tokens, form.pairs, form.interleaved, form.q_at_first, form.by_positions,
          form.counts);
  appending_memory<T, C> memory(c, form);
  compare_decode(c, memory.after, run_appending(c, memory));
}

}  // namespace kaio::tests
