#pragma once
// A call of append_kv of any kind of cache: its numbers, and where each token goes.
#include "tests/ops/cache/support.hpp"

namespace kaio::tests {

enum class cache_form { contiguous, batch_index, table, list, last_page, slots };
enum class scale_form { none, one, heads, pages, computed, sequences };

struct append_case {
  cache_form form = cache_form::table;
  i64 batches = 3, tokens = 4;  // new tokens of each sequence; packed: at most
  i64 heads = 2, size = 64, v_size = 64;
  i64 page_rows = 16;  // contiguous: rows of a batch
  i64 pages_of_sequence = 3;
  bool packed = false, wide_numbers = false;
  tensor_layout from{}, kept{};
  scale_form scales = scale_form::none;
  float range = 2;
  u32 pairs = 0;  // rotated, 0: none
  bool interleaved = false, positions = false, q_in_place = false, q_at_first = false, padding = false;
  i64 query_heads = 0;
  std::uint64_t seed = 1;

  bool is_paged() const { return form >= cache_form::table; }
};

struct append_sequences {
  struct token {
    i64 batch, row, page = -1, place = -1, position = 0;  // page -1: it is not written
    i64 sequence = 0;
    bool exists = false;
  };

  explicit append_sequences(const append_case& in) : c(in), engine(in.seed) { make(); }

  append_case c;
  std::mt19937_64 engine;
  static constexpr i64 table_rows = 60;
  i64 shape_batches = 0, shape_tokens = 0, pages = 0;
  std::vector<i64> counts, slots, positions, key_position;
  std::vector<i32> lengths, cu, table, indptr, indices, last_page, batch_index, padding;
  std::vector<token> all_tokens;

 private:
  i64 below(i64 n) { return static_cast<i64>(engine() % static_cast<u64>(n)); }

  void make() {
    // Sequences, with tokens of no sequence before and after them, never between.
    i64 rows = c.packed ? 1 : c.tokens;
    for (i64 b = 0; b < c.batches; ++b) {
      const i64 count = c.packed ? below(c.tokens + 1) : c.tokens;
      counts.push_back(count);
      if (c.packed && b == 0) cu.push_back(1);
      if (c.packed) cu.push_back(static_cast<i32>(rows += count));
      const i64 room = c.page_rows * (c.is_paged() ? c.pages_of_sequence : 1);
      // Now and then a length is beyond the end, or negative.
      lengths.push_back(
          static_cast<i32>(below(8) == 0 ? below(room + 3) - 2 : below(std::max<i64>(room - count, 1))));
      padding.push_back(static_cast<i32>(below(3)));
    }
    if (c.packed) rows += 1;
    shape_batches = c.packed ? 1 : c.batches;
    shape_tokens = rows;
    pages = c.is_paged() ? c.batches * c.pages_of_sequence + 2
                         : c.batches + (c.form == cache_form::batch_index ? 2 : 0);
    std::vector<i32> shuffled(static_cast<std::size_t>(pages));
    std::iota(shuffled.begin(), shuffled.end(), 0);
    std::shuffle(shuffled.begin(), shuffled.end(), engine);
    indptr.push_back(0);
    for (i64 b = 0; b < c.batches; ++b) {
      batch_index.push_back(below(9) == 0 ? -1 : shuffled[static_cast<std::size_t>(b)]);
      const i64 of_list =
          c.form == cache_form::last_page ? c.pages_of_sequence : below(c.pages_of_sequence + 1);
      for (i64 p = 0; p < c.pages_of_sequence; ++p) {
        i32 page = shuffled[static_cast<std::size_t>(b * c.pages_of_sequence + p) % shuffled.size()];
        if (below(9) == 0) page = below(2) == 0 ? -1 : static_cast<i32>(pages);
        table.push_back(page);
        if (p < of_list) indices.push_back(page);
      }
      indptr.push_back(static_cast<i32>(indices.size()));
      last_page.push_back(static_cast<i32>(below(c.page_rows) + 1));
    }
    if (indices.empty()) indices.push_back(-1);
    std::vector<i64> free_slots(static_cast<std::size_t>(pages * c.page_rows));
    std::iota(free_slots.begin(), free_slots.end(), 0);
    std::shuffle(free_slots.begin(), free_slots.end(), engine);
    for (i64 i = 0; i < shape_batches * shape_tokens; ++i) {
      const bool none = below(5) == 0 || i >= static_cast<i64>(free_slots.size());
      slots.push_back(none ? (below(2) == 0 ? -1 : pages * c.page_rows + below(3))
                           : free_slots[static_cast<std::size_t>(i)]);
      positions.push_back(below(table_rows + 2) - 1);
    }
    for (i64 b = 0; b < shape_batches; ++b)
      for (i64 t = 0; t < shape_tokens; ++t) place(b, t);
  }

  void place(i64 b, i64 t) {
    token one{b, t};
    const auto flat = static_cast<std::size_t>(b * shape_tokens + t);
    i64 sequence = b, index = t;
    one.exists = true;
    if (c.packed && c.form != cache_form::slots) {
      one.exists = false;
      for (i64 s = 0; s < c.batches; ++s)
        if (cu[static_cast<std::size_t>(s)] <= t && t < cu[static_cast<std::size_t>(s) + 1]) {
          one.exists = true;
          sequence = s;
          index = t - cu[static_cast<std::size_t>(s)];
        }
    }
    if (one.exists && c.form == cache_form::slots) {
      const i64 slot = slots[flat];
      if (slot >= 0 && slot < pages * c.page_rows) {
        one.page = slot / c.page_rows;
        one.place = slot % c.page_rows;
      }
    } else if (one.exists) {
      const auto s = static_cast<std::size_t>(sequence);
      one.sequence = sequence;
      const i64 of_list = indptr[s + 1] - indptr[s];
      const i64 first = c.form == cache_form::last_page
                            ? (of_list - 1) * c.page_rows + last_page[s] - counts[s]
                            : lengths[s];
      const i64 key = first + index;
      one.position = (c.q_at_first ? first : key) - (c.padding ? padding[s] : 0);
      key_position.push_back(key - (c.padding ? padding[s] : 0));
      if (first >= 0) {
        const i64 column = c.is_paged() ? key / c.page_rows : 0;
        one.place = key - column * c.page_rows;
        if (c.form == cache_form::contiguous) one.page = sequence;
        if (c.form == cache_form::batch_index) one.page = batch_index[s];
        if (c.form == cache_form::table && column < c.pages_of_sequence)
          one.page =
              table[s * static_cast<std::size_t>(c.pages_of_sequence) + static_cast<std::size_t>(column)];
        if ((c.form == cache_form::list || c.form == cache_form::last_page) && column < of_list)
          one.page = indices[static_cast<std::size_t>(indptr[s] + column)];
        if (one.page < 0 || one.page >= pages || one.place >= c.page_rows) one.page = -1;
      }
    }
    if (key_position.size() < all_tokens.size() + 1) key_position.push_back(one.position);
    if (c.positions) one.position = key_position.back() = positions[flat];
    all_tokens.push_back(one);
  }
};

}  // namespace kaio::tests
