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
};

// A call of attention. Rows count in the memory of their rank. The band is that of attention's own key i + keys - queries.
struct ring_item {
  std::int64_t query, queries, key, keys;
  key_band band;
};

// The items of queries with rows `own`, and keys with rows `other`. If both are equal, the first items that name a row
// have its own key, and cover all rows.
std::vector<ring_item> ring_items(std::span<const context_rows> own, std::span<const context_rows> other,
                                  const key_band& band);

// The keys that the items need, by piece of `other`: rows in the memory of their rank.
std::vector<context_rows> needed_keys(std::span<const ring_item> items, std::span<const context_rows> other);

// Joins neighbours: (0, 4) and (4, 2) become (0, 6).
std::vector<context_rows> joined_rows(std::vector<context_rows> rows);

}  // namespace kaio::ops::detail
