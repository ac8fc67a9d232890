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
  ring_item item{q0 - q.begin, q1 - q0, k0 - k.begin, k1 - k0, {}};
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

}  // namespace

std::vector<context_rows> joined_rows(std::vector<context_rows> rows) {
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
    return {{0, rows, 0, rows, band}};
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

std::vector<context_rows> needed_keys(std::span<const ring_item> items, std::span<const context_rows> other) {
  std::vector<context_rows> needed;
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
  return joined_rows(std::move(needed));
}

}  // namespace kaio::ops::detail
