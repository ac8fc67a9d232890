#pragma once
// Calls of an attention_decode case whose last keys are not in the cache: the call itself appends them, and rotates
// them and its queries. The result is compared with double precision as that of any other case, over keys and queries
// that were rotated on the host; the cache is compared bit by bit.

#include "tests/ops/attention_decode/support.hpp"
#include "tests/ops/cache/support.hpp"

#include <functional>

namespace kaio::tests {

struct append_form {
  u32 tokens = 1;  // new keys of each sequence
  u32 pairs = 0;   // that are rotated; 0: none
  bool interleaved = false;
  bool q_at_first = false;
  bool by_positions = false;  // by numbers of the tokens, which are not their places
  std::vector<u32> counts{};  // in place of tokens, of each sequence: by cu_k

  bool of_own_counts() const { return !counts.empty(); }
  u32 of(u32 b) const { return of_own_counts() ? counts[b] : tokens; }
};

// On the host: queries and cache as they are after the append. On the device: as they are before it.
template <class T>
class appending_memory {
 public:
  // change: of the numbers, before anything is rotated.
  appending_memory(const decode_case& c, const append_form& form,
                   const std::function<void(decode_memory<T>&)>& change = {})
      : after(c), form_(form), batches_(c.batches()) {
    REQUIRE(!c.together);
    if (change) change(after);
    std::vector<i32> before, first_positions, positions, begins{0};
    for (u32 b = 0; b < batches_; ++b) begins.push_back(begins[b] + static_cast<i32>(form.of(b)));
    // New rows of each sequence, one after the other.
    const u32 all_tokens = static_cast<u32>(begins.back());
    tensor4<T> new_k(1, all_tokens, c.key_heads, c.qk_size, false, 0),
        new_v(1, all_tokens, c.key_heads, c.v_size, false, 0), old_k = after.k, old_v = after.v;
    given_q = after.q;
    u32 most = 0;
    for (u32 b = 0; b < batches_; ++b) {
      REQUIRE(c.lengths[b] >= c.left_of(b) + form.of(b));
      before.push_back(static_cast<i32>(c.lengths[b] - form.of(b)));
      first_positions.push_back(form.by_positions ? static_cast<i32>(11 * b + 1)
                                                  : before[b] - static_cast<i32>(c.left_of(b)));
      for (u32 i = 0; i < form.of(b); ++i)
        positions.push_back(form.by_positions
                                ? static_cast<i32>(11 * b + 3 * i + 1)
                                : before[b] + static_cast<i32>(i) - static_cast<i32>(c.left_of(b)));
      most = std::max(most, c.lengths[b] + c.queries + 11 * b);
    }
    const host_tables<T> tables(most, std::max(form.pairs, 1u), 0, 9);
    const auto turn = [&](T& first, i32 position) {
      if (form.pairs != 0) rotate_on_host(&first, tables, position, form.interleaved, false);
    };
    for (u32 b = 0; b < batches_; ++b) {
      for (u32 i = 0; i < form.of(b); ++i) {
        const key_place at = after.numbers.place(c, b, static_cast<u32>(before[b]) + i);
        const u32 token = static_cast<u32>(begins[b]) + i;
        for (u32 h = 0; h < c.key_heads; ++h) {
          for (u32 e = 0; e < c.qk_size; ++e) {
            new_k.at(0, token, h, e) = after.k.at(at.page, at.row, h, e);
            old_k.at(at.page, at.row, h, e) = from_float<T>(-3.0f);
          }
          for (u32 e = 0; e < c.v_size; ++e) {
            new_v.at(0, token, h, e) = after.v.at(at.page, at.row, h, e);
            old_v.at(at.page, at.row, h, e) = from_float<T>(-5.0f);
          }
          turn(after.k.at(at.page, at.row, h, 0), positions[token]);
        }
      }
      for (u32 i = 0; i < c.queries; ++i)
        for (u32 h = 0; h < c.heads; ++h)
          turn(after.q.at(b, i, h, 0), form.by_positions
                                           ? positions[b * form.tokens + i]
                                           : first_positions[b] + static_cast<i32>(form.q_at_first ? 0 : i));
    }
    on_q_ = upload(given_q.host);
    after.on_k = upload(old_k.host), after.on_v = upload(old_v.host);
    on_new_k_ = upload(new_k.host), on_new_v_ = upload(new_v.host);
    on_before_ = upload(before), on_positions_ = upload(positions), on_begins_ = upload(begins);
    on_cos_ = upload(tables.cos), on_sin_ = upload(tables.sin);
    q = given_q.template view<const T>(on_q_);
    cache.k = after.k.template view<T>(after.on_k);
    cache.v = after.v.template view<T>(after.on_v);
    cache.table = after.cache.table;
    cache.indptr = after.cache.indptr;
    cache.indices = after.cache.indices;
    cache.last_page_len = after.cache.last_page_len;
    cache.batch_index = after.cache.batch_index;
    cache.left_padding = after.cache.left_padding;
    if (!c.by_last_page) cache.lengths = tensor_view<const i32, 1>(on_before_, batches_);
    if (form.of_own_counts()) {
      append.k = tensor_view<const T, 3>(on_new_k_, all_tokens, c.key_heads, c.qk_size);
      append.v = tensor_view<const T, 3>(on_new_v_, all_tokens, c.key_heads, c.v_size);
      append.cu_k = tensor_view<const i32, 1>(on_begins_, batches_ + 1);
    } else {
      append.k = tensor_view<const T, 4>(on_new_k_, batches_, form.tokens, c.key_heads, c.qk_size);
      append.v = tensor_view<const T, 4>(on_new_v_, batches_, form.tokens, c.key_heads, c.v_size);
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

  // What a call has left: the cache with the new rows and no other, the queries and the lengths as they were.
  void compare_memory() const {
    require_same(after.on_k.download(), after.k.host);
    require_same(after.on_v.download(), after.v.host);
    require_same(on_q_.download(), given_q.host);
  }

  decode_memory<T> after;
  tensor4<T> given_q{0, 0, 0, 0, false, 0};
  tensor_view<const T, 4> q;
  kv_cache<T> cache;
  attention_append append;

 private:
  append_form form_;
  u32 batches_;
  buffer<T> on_q_, on_new_k_, on_new_v_, on_cos_, on_sin_;
  buffer<i32> on_before_, on_positions_, on_begins_;
};

// `Call` is library_decode or one like it.
template <class T, class Call>
struct appending_call {
  const appending_memory<T>& memory;
  const Call& call;

  template <class Q, class C>
  std::uint64_t bytes(const stream& s, const Q&, const kv_cache<C>&, attention_decode_options options) const {
    options.append = memory.append;
    return call.bytes(s, memory.q, memory.cache, options);
  }
  template <class Q, class C, class O>
  void run(const stream& s, const Q&, const kv_cache<C>&, const O& o,
           attention_decode_options options) const {
    options.append = memory.append;
    call.run(s, memory.q, memory.cache, o, options);
  }
};

template <class T, class Call = library_decode>
decode_results<T> run_appending(const decode_case& c, appending_memory<T>& memory, const Call& call = {}) {
  const auto result = run_decode<T>(c, memory.after, appending_call<T, Call>{memory, call});
  memory.compare_memory();
  return result;
}

template <class T>
void check_appending(const decode_case& c, const append_form& form) {
  CAPTURE(c.text(), form.tokens, form.counts, form.pairs, form.interleaved, form.q_at_first,
          form.by_positions);
  appending_memory<T> memory(c, form);
  compare_decode(c, memory.after, run_appending(c, memory));
}

}  // namespace kaio::tests
