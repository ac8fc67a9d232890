#pragma once
// Which rows of queries attend to which rows of keys in a step of a ring.

#include <kaio/ops/distributed/layout.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kaio::ops::detail {

// The keys that a query attends to: from its own one `left` before to `right` after; -1: all.
struct key_band {
  std::int64_t left = -1, right = -1;
  friend bool operator==(const key_band&, const key_band&) = default;
};

// Rows of queries and keys that attend to each other. Rows count in the memory of their rank.
struct ring_part {
  std::int64_t query, queries, key, keys;
};

// A call of attention. The band is that of attention's own key i + keys - queries. If the call is packed, its rows contain
// those of its parts, in increasing order, and the band is that of each part.
struct ring_item {
  std::int64_t query, queries, key, keys;
  key_band band;
  std::vector<ring_part> parts{};
};

// The items of queries with rows `own`, and keys with rows `other`. If both are equal, the first items that name a row
// have its own key, and cover all rows.
std::vector<ring_item> ring_items(std::span<const context_rows> own, std::span<const context_rows> other,
                                  const key_band& band);

// ring_items within packed sequences. All rows are in increasing order. The number of items does not depend on the number
// of sequences: an item has parts of all. If own and other are equal, the first item has all rows.
std::vector<ring_item> packed_items(std::span<const context_rows> own, std::span<const context_rows> other,
                                    const key_band& band, std::span<const std::int64_t> lengths);

// What attention_varlen takes for a packed item: where its sequences begin. Rows between parts are sequences of their own,
// without keys or without queries, so that all rows of the item are written.
struct packed_rows {
  std::vector<std::int32_t> cu_q{0}, cu_k{0};
  std::int64_t most_queries = 0, most_keys = 0;  // of a sequence
};
packed_rows rows_of_packed(const ring_item& item);

// The keys that the items need: rows in the memory of their rank. Of many short pieces it has those between them too.
std::vector<context_rows> needed_keys(std::span<const ring_item> items, std::span<const context_rows> other);

// Joins neighbours: (0, 4) and (4, 2) become (0, 6).
std::vector<context_rows> joined_rows(std::span<const context_rows> rows);

}  // namespace kaio::ops::detail
