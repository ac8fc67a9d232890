#include "ops/distributed/attention/plan.hpp"

#include <algorithm>
#include <optional>

#include "ops/distributed/common/views.hpp"

namespace kaio::ops::detail {

namespace {

bool is_full(const ring_item& i) { return i.band.left < 0 && i.band.right < 0; }

// Queries and keys of one piece each, by their places in the sequence: what is left of both within the band.
std::optional<ring_item> item_of(const context_rows& q, const context_rows& k, const key_band& band) {
  const std::int64_t q_end = q.begin + q.count, k_end = k.begin + k.count;
  const std::int64_t k0 = band.left < 0 ? k.begin : std::max(k.begin, q.begin - band.left);
  const std::int64_t k1 = band.right < 0 ? k_end : std::min(k_end, q_end + band.right);
  if (q.count == 0 || k0 >= k1) return {};
  const std::int64_t q0 = band.right < 0 ? q.begin : std::max(q.begin, k0 - band.right);
  const std::int64_t q1 = band.left < 0 ? q_end : std::min(q_end, k1 + band.left);
  if (q0 >= q1) return {};
  ring_item item{q0 - q.begin, q1 - q0, k0 - k.begin, k1 - k0, {}, {}};
  // attention aligns the last query with the last key.
  if (band.left >= 0 && q1 - 1 - band.left > k0) item.band.left = band.left + k1 - q1;
  if (band.right >= 0 && q0 + band.right < k1 - 1) item.band.right = band.right + q1 - k1;
  return item;
}

// Joins items without a band that are neighbours along keys, then along queries.
void join(std::vector<ring_item>& items) {
  const auto pass = [&](auto same, auto next, auto grow) {
    for (std::size_t a = 0; a < items.size(); ++a)
      for (std::size_t b = a + 1; b < items.size();)
        if (is_full(items[a]) && is_full(items[b]) && same(items[a], items[b]) && next(items[a], items[b])) {
          grow(items[a], items[b]);
          items.erase(items.begin() + static_cast<std::ptrdiff_t>(b));
        } else {
          ++b;
        }
  };
  pass([](auto& a, auto& b) { return a.query == b.query && a.queries == b.queries; },
       [](auto& a, auto& b) { return a.key + a.keys == b.key; }, [](auto& a, auto& b) { a.keys += b.keys; });
  pass([](auto& a, auto& b) { return a.key == b.key && a.keys == b.keys; },
       [](auto& a, auto& b) { return a.query + a.queries == b.query; },
       [](auto& a, auto& b) { a.queries += b.queries; });
}

// Rows in one sequence, and where they begin in memory.
struct sequence_rows {
  std::vector<context_rows> rows;
  std::int64_t first;
};
std::vector<sequence_rows> by_sequence(std::span<const context_rows> rows,
                                       std::span<const std::int64_t> lengths) {
  std::vector<sequence_rows> result;
  std::size_t piece = 0;
  std::int64_t used = 0, memory = 0, begin = 0;  // used: rows of the piece in sequences before
  for (const std::int64_t length : lengths) {
    sequence_rows own{{}, memory};
    const std::int64_t end = begin + length;
    while (piece < rows.size() && rows[piece].begin + used < end) {
      const context_rows& r = rows[piece];
      const std::int64_t count = std::min(r.begin + r.count, end) - (r.begin + used);
      if (count > 0) own.rows.push_back({r.begin + used, count});
      memory += count;
      used += count;
      if (used < r.count) break;
      ++piece;
      used = 0;
    }
    result.push_back(std::move(own));
    begin = end;
  }
  return result;
}

// Divides an item with one bound into one whose bound is 0, and one without a bound: items of all sequences then have one
// of three bands, whatever their rows are.
//
//   left = 2   keys      0 1 2 3 4 5      right = 2  keys      0 1 2 3 4 5
//              query 0     x x x f f                 query 0   x x x x
//              query 1       x x f f                 query 1   x x x x x
//              query 2         x f f                 query 2   f f f f f f
//                                                    query 3   f f f f f f
std::vector<ring_item> with_zero_bound(const ring_item& i) {
  if (i.band.left > 0) {
    const std::int64_t bounded = i.keys - i.band.left;
    return {{i.query, i.queries, i.key, bounded, {0, -1}, {}},
            {i.query, i.queries, i.key + bounded, i.band.left, {}, {}}};
  }
  if (i.band.right > 0) {
    const std::int64_t bounded = i.queries - i.band.right;
    return {{i.query, bounded, i.key, i.keys, {-1, 0}, {}},
            {i.query + bounded, i.band.right, i.key, i.keys, {}, {}}};
  }
  return {i};
}

// Puts the rows of an item into the first packed item whose parts are all before it, or into a new one.
void pack(std::vector<ring_item>& packed, const ring_item& i) {
  for (ring_item& to : packed)
    if (to.band == i.band && to.query + to.queries <= i.query && to.key + to.keys <= i.key) {
      to.parts.push_back({i.query, i.queries, i.key, i.keys});
      to.queries = i.query + i.queries - to.query;
      to.keys = i.key + i.keys - to.key;
      return;
    }
  packed.push_back(i);
  packed.back().parts = {{i.query, i.queries, i.key, i.keys}};
}

}  // namespace

std::vector<context_rows> joined_rows(std::span<const context_rows> rows) {
  std::vector<context_rows> result;
  for (const context_rows& r : rows) {
    if (r.count == 0) continue;
    if (!result.empty() && result.back().begin + result.back().count == r.begin)
      result.back().count += r.count;
    else
      result.push_back(r);
  }
  return result;
}

std::vector<ring_item> ring_items(std::span<const context_rows> own, std::span<const context_rows> other,
                                  const key_band& band) {
  const bool same = std::ranges::equal(own, other);
  // All rows in order, and nothing else depends on what is between them.
  if (same && band.left < 0 && band.right <= 0) {
    const std::int64_t rows = count_of_rows(own);
    if (rows == 0) return {};
    return {{0, rows, 0, rows, band, {}}};
  }
  std::vector<ring_item> own_keys, items;
  std::int64_t query = 0;
  for (std::size_t a = 0; a < own.size(); query += own[a++].count) {
    std::int64_t key = 0;
    for (std::size_t b = 0; b < other.size(); key += other[b++].count)
      if (std::optional<ring_item> item = item_of(own[a], other[b], band)) {
        item->query += query;
        item->key += key;
        (same && a == b ? own_keys : items).push_back(*item);
      }
  }
  join(items);
  items.insert(items.begin(), own_keys.begin(), own_keys.end());
  return items;
}

std::vector<ring_item> packed_items(std::span<const context_rows> own, std::span<const context_rows> other,
                                    const key_band& band, std::span<const std::int64_t> lengths) {
  const bool same = std::ranges::equal(own, other);
  const std::vector<sequence_rows> queries = by_sequence(own, lengths), keys = by_sequence(other, lengths);
  std::vector<ring_item> own_keys, items;
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    if (queries[s].rows.empty() || keys[s].rows.empty()) continue;
    // The first of them, of equal rows, have the band as it is, also where it bounds nothing.
    std::int64_t left = same ? count_of_rows(queries[s].rows) : 0;
    for (ring_item item : ring_items(queries[s].rows, keys[s].rows, band)) {
      item.query += queries[s].first;
      item.key += keys[s].first;
      if (left > 0) {
        left -= item.queries;
        item.band = band;
        pack(own_keys, item);
        continue;
      }
      for (const ring_item& part : with_zero_bound(item)) pack(items, part);
    }
  }
  items.insert(items.begin(), own_keys.begin(), own_keys.end());
  return items;
}

packed_rows rows_of_packed(const ring_item& item) {
  packed_rows result;
  std::int64_t query = item.query, key = item.key;
  const auto add = [&](std::int64_t queries, std::int64_t keys) {
    if (queries == 0 && keys == 0) return;
    query += queries;
    key += keys;
    result.cu_q.push_back(static_cast<std::int32_t>(query - item.query));
    result.cu_k.push_back(static_cast<std::int32_t>(key - item.key));
    result.most_queries = std::max(result.most_queries, queries);
    result.most_keys = std::max(result.most_keys, keys);
  };
  for (const ring_part& part : item.parts) {
    add(part.query - query, 0);
    add(0, part.key - key);
    add(part.queries, part.keys);
  }
  return result;
}

std::vector<context_rows> needed_keys(std::span<const ring_item> items, std::span<const context_rows> other) {
  constexpr std::size_t most_runs = 16;  // more copies cost more time than rows that nobody needs
  const bool packed = std::ranges::any_of(items, [](const ring_item& i) { return !i.parts.empty(); });
  std::vector<context_rows> needed;
  if (packed) {
    std::vector<context_rows> parts;
    for (const ring_item& i : items)
      for (const ring_part& p : i.parts) parts.push_back({p.key, p.keys});
    std::ranges::sort(parts, {}, &context_rows::begin);
    for (const context_rows& p : parts) {
      const std::int64_t end = needed.empty() ? -1 : needed.back().begin + needed.back().count;
      if (p.begin <= end)
        needed.back().count = std::max(end, p.begin + p.count) - needed.back().begin;
      else
        needed.push_back(p);
    }
    if (needed.size() <= most_runs) return needed;
    const context_rows last = needed.back();
    return {{needed[0].begin, last.begin + last.count - needed[0].begin}};
  }
  std::int64_t first = 0;
  for (const context_rows& piece : other) {
    std::int64_t begin = first + piece.count, end = first;
    for (const ring_item& i : items) {
      begin = std::min(begin, std::max(i.key, first));
      end = std::max(end, std::min(i.key + i.keys, first + piece.count));
    }
    if (begin < end) needed.push_back({begin, end - begin});
    first += piece.count;
  }
  return joined_rows(needed);
}

}  // namespace kaio::ops::detail
