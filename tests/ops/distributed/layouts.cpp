// Layouts divide every row once, and the items of a ring cover every pair of query and key within the band once.

#include "tests/ops/distributed/support.hpp"

#include <kaio/ops/distributed/layout.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include "ops/distributed/attention/plan.hpp"

using namespace kaio;
using namespace kaio::tests;
using ops::detail::key_band;
using ops::detail::needed_keys;
using ops::detail::packed_items;
using ops::detail::packed_rows;
using ops::detail::ring_item;
using ops::detail::ring_items;
using ops::detail::rows_of_packed;

namespace {

// Places in the sequence, in the order of a rank's memory.
std::vector<i64> places_of(const std::vector<context_rows>& rows) {
  std::vector<i64> places;
  for (const context_rows& r : rows)
    for (i64 i = 0; i < r.count; ++i) places.push_back(r.begin + i);
  return places;
}

// How often the items of all pairs of ranks cover (query, key); what they do not need is not counted.
void check_items(const std::vector<std::vector<context_rows>>& ranks, i64 rows, const key_band& band) {
  std::vector<int> covered(static_cast<std::size_t>(rows * rows));
  for (const auto& own : ranks) {
    const std::vector<i64> queries = places_of(own);
    for (const auto& other : ranks) {
      const std::vector<i64> keys = places_of(other);
      const std::vector<ring_item> items = ring_items(own, other, band);
      std::vector<bool> needed(keys.size());
      for (const context_rows& r : needed_keys(items, other))
        for (i64 i = 0; i < r.count; ++i) needed[static_cast<std::size_t>(r.begin + i)] = true;
      for (const ring_item& item : items) {
        REQUIRE(item.queries > 0);
        REQUIRE(item.keys > 0);
        for (i64 i = 0; i < item.queries; ++i)
          for (i64 j = 0; j < item.keys; ++j) {
            const i64 own_key = i + item.keys - item.queries;  // attention's
            if (item.band.left >= 0 && j < own_key - item.band.left) continue;
            if (item.band.right >= 0 && j > own_key + item.band.right) continue;
            const auto query = static_cast<std::size_t>(item.query + i),
                       key = static_cast<std::size_t>(item.key + j);
            REQUIRE(needed[key]);
            ++covered[static_cast<std::size_t>(queries[query] * rows + keys[key])];
          }
      }
    }
  }
  for (i64 i = 0; i < rows; ++i)
    for (i64 j = 0; j < rows; ++j) {
      const bool attends = (band.left < 0 || j >= i - band.left) && (band.right < 0 || j <= i + band.right);
      if (covered[static_cast<std::size_t>(i * rows + j)] != (attends ? 1 : 0)) {
        CAPTURE(i, j, band.left, band.right, rows, ranks.size());
        REQUIRE(covered[static_cast<std::size_t>(i * rows + j)] == (attends ? 1 : 0));
      }
    }
}

}  // namespace

TEST_CASE("each row has one rank, and zigzag pairs an early piece with a late one") {
  for (const context_layout layout : {context_layout::contiguous, context_layout::zigzag})
    for (int ranks = 1; ranks <= 9; ++ranks)
      for (const i64 rows : {0, 1, 7, 40, 101}) {
        std::vector<i32> all;
        for (int r = 0; r < ranks; ++r) {
          const auto own = context_positions(layout, rows, ranks, r);
          all.insert(all.end(), own.begin(), own.end());
        }
        std::sort(all.begin(), all.end());
        std::vector<i32> want(static_cast<std::size_t>(rows));
        std::iota(want.begin(), want.end(), 0);
        CHECK(all == want);
      }
  CHECK(context_rows_of(context_layout::zigzag, 8, 2, 0) == std::vector<context_rows>{{0, 2}, {6, 2}});
  CHECK(context_rows_of(context_layout::zigzag, 8, 2, 1) == std::vector<context_rows>{{2, 2}, {4, 2}});
  CHECK(context_rows_of(context_layout::contiguous, 7, 2, 1) == std::vector<context_rows>{{3, 4}});
  CHECK_THROWS_AS(context_rows_of(context_layout::zigzag, 8, 2, 2), invalid_argument);
  CHECK_THROWS_AS(context_rows_of(context_layout::zigzag, -1, 2, 0), invalid_argument);
}

TEST_CASE("items cover each pair within the band once, for any pieces") {
  std::mt19937_64 engine(7);
  const auto any = [&](i64 from, i64 to) {
    return from + static_cast<i64>(engine() % static_cast<u64>(to - from + 1));
  };
  for (int repeat = 0; repeat < 300; ++repeat) {
    const i64 rows = any(1, 24);
    const key_band band{any(0, 2) == 0 ? any(0, rows) : -1, any(0, 1) == 0 ? any(0, 1) * any(0, rows) : -1};
    const int ranks = static_cast<int>(any(1, 5));
    std::vector<std::vector<context_rows>> of_rank;
    if (any(0, 2) != 0) {
      const auto layout = any(0, 2) != 0 ? context_layout::zigzag : context_layout::contiguous;
      for (int r = 0; r < ranks; ++r) of_rank.push_back(context_rows_of(layout, rows, ranks, r));
    } else {  // pieces of any length, dealt to any rank
      of_rank.resize(static_cast<std::size_t>(ranks));
      for (i64 begin = 0; begin < rows;) {
        const i64 count = std::min(any(1, 8), rows - begin);
        of_rank[static_cast<std::size_t>(any(0, ranks - 1))].push_back({begin, count});
        begin += count;
      }
    }
    check_items(of_rank, rows, band);
  }
}

TEST_CASE("packed zigzag divides each row once, evenly, and cuts each sequence") {
  std::mt19937_64 engine(11);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const int ranks = 1 + static_cast<int>(engine() % 8);
    std::vector<i64> lengths(1 + engine() % 12);
    for (i64& n : lengths) n = static_cast<i64>(engine() % (engine() % 4 == 0 ? 200 : 20));
    const i64 rows = std::accumulate(lengths.begin(), lengths.end(), i64{0});
    for (const context_layout layout : {context_layout::contiguous, context_layout::zigzag}) {
      std::vector<int> seen(static_cast<std::size_t>(rows));
      for (int r = 0; r < ranks; ++r) {
        const auto own = places_of(context_rows_of(layout, lengths, ranks, r));
        const auto positions = context_positions(layout, lengths, ranks, r);
        CAPTURE(repeat, ranks, rows, r);
        CHECK(std::is_sorted(own.begin(), own.end()));
        CHECK(std::abs(static_cast<i64>(own.size()) * ranks - rows) < 2 * ranks);
        REQUIRE(own.size() == positions.size());
        for (std::size_t i = 0; i < own.size(); ++i) {
          ++seen[static_cast<std::size_t>(own[i])];
          i64 place = own[i];
          std::size_t s = 0;
          while (place >= lengths[s]) place -= lengths[s++];
          CHECK(place == positions[i]);
        }
      }
      CHECK(std::count(seen.begin(), seen.end(), 1) == rows);
    }
  }
  const std::vector<i64> two{5, 7};
  CHECK(context_positions(context_layout::zigzag, two, 2, 0) == std::vector<i32>{0, 1, 4, 0, 5, 6});
  CHECK(context_positions(context_layout::zigzag, two, 2, 1) == std::vector<i32>{2, 3, 1, 2, 3, 4});
  CHECK_THROWS_AS(context_rows_of(context_layout::zigzag, std::vector<i64>{3, -1}, 2, 0), invalid_argument);
  CHECK_THROWS_AS(context_rows_of(context_layout::zigzag, std::vector<i64>{1LL << 31}, 2, 0),
                  invalid_argument);
}

TEST_CASE("packed items cover each pair within a sequence and the band once, in few calls") {
  std::mt19937_64 engine(13);
  const auto any = [&](i64 from, i64 to) {
    return from + static_cast<i64>(engine() % static_cast<u64>(to - from + 1));
  };
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<i64> lengths(static_cast<std::size_t>(any(1, 40)));
    for (i64& n : lengths) n = any(0, any(0, 4) == 0 ? 30 : 6);
    const i64 rows = std::accumulate(lengths.begin(), lengths.end(), i64{0});
    std::vector<std::size_t> sequence;
    for (std::size_t s = 0; s < lengths.size(); ++s)
      sequence.insert(sequence.end(), static_cast<std::size_t>(lengths[s]), s);
    const key_band band{any(0, 1) == 0 ? any(0, 12) : -1, any(0, 1) == 0 ? any(0, 1) * any(0, 12) : -1};
    const int ranks = static_cast<int>(any(1, 5));
    const auto layout = any(0, 2) != 0 ? context_layout::zigzag : context_layout::contiguous;
    std::vector<std::vector<context_rows>> of_rank;
    for (int r = 0; r < ranks; ++r) of_rank.push_back(context_rows_of(layout, lengths, ranks, r));
    std::vector<int> covered(static_cast<std::size_t>(rows * rows));
    CAPTURE(repeat, ranks, rows, band.left, band.right);
    for (const auto& own : of_rank)
      for (const auto& other : of_rank) {
        const std::vector<i64> queries = places_of(own), keys = places_of(other);
        const std::vector<ring_item> items = packed_items(own, other, band, lengths);
        // Per pair of pieces: a bound, and no bound.
        REQUIRE(items.size() <= (layout == context_layout::zigzag ? 8 : 2));
        if (&own == &other && !queries.empty()) REQUIRE(items[0].queries == static_cast<i64>(queries.size()));
        std::vector<bool> needed(keys.size());
        for (const context_rows& r : needed_keys(items, other))
          for (i64 i = 0; i < r.count; ++i) needed[static_cast<std::size_t>(r.begin + i)] = true;
        for (const ring_item& item : items) {
          const packed_rows call = rows_of_packed(item);
          REQUIRE(call.cu_q.back() == item.queries);
          REQUIRE(call.cu_k.back() == item.keys);
          for (std::size_t p = 0; p + 1 < call.cu_q.size(); ++p) {
            const i64 m = call.cu_q[p + 1] - call.cu_q[p], n = call.cu_k[p + 1] - call.cu_k[p];
            REQUIRE((m >= 0 && m <= call.most_queries && n >= 0 && n <= call.most_keys));
            for (i64 i = 0; i < m; ++i)
              for (i64 j = 0; j < n; ++j) {
                const i64 own_key = i + n - m;  // attention's
                if (item.band.left >= 0 && j < own_key - item.band.left) continue;
                if (item.band.right >= 0 && j > own_key + item.band.right) continue;
                const auto query = static_cast<std::size_t>(item.query + call.cu_q[p] + i),
                           key = static_cast<std::size_t>(item.key + call.cu_k[p] + j);
                REQUIRE(needed[key]);
                ++covered[static_cast<std::size_t>(queries[query] * rows + keys[key])];
              }
          }
        }
      }
    for (i64 i = 0; i < rows; ++i)
      for (i64 j = 0; j < rows; ++j) {
        const bool attends = sequence[static_cast<std::size_t>(i)] == sequence[static_cast<std::size_t>(j)] &&
                             (band.left < 0 || j >= i - band.left) && (band.right < 0 || j <= i + band.right);
        if (covered[static_cast<std::size_t>(i * rows + j)] != (attends ? 1 : 0)) {
          CAPTURE(i, j);
          REQUIRE(covered[static_cast<std::size_t>(i * rows + j)] == (attends ? 1 : 0));
        }
      }
  }
}

TEST_CASE("zigzag gives all ranks the same number of pairs of a causal mask") {
  constexpr int ranks = 4;
  std::array<i64, ranks> pairs{};
  std::vector<std::vector<context_rows>> rows;
  for (int r = 0; r < ranks; ++r) rows.push_back(context_rows_of(context_layout::zigzag, 64, ranks, r));
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t other = 0; other < ranks; ++other) {
      const auto items = ring_items(rows[r], rows[other], {-1, 0});
      CHECK(items.size() == 1);
      if (r != other) pairs[r] += items[0].queries * items[0].keys;
    }
  for (const i64 p : pairs) CHECK(p == pairs[0]);
}

TEST_CASE(
    "packed zigzag is one call a step with a causal mask, and balances long sequences next to short ones") {
  constexpr int ranks = 4;
  const std::vector<i64> lengths{8, 160, 16, 32, 8, 8, 64};
  std::vector<std::vector<context_rows>> rows;
  for (int r = 0; r < ranks; ++r) rows.push_back(context_rows_of(context_layout::zigzag, lengths, ranks, r));
  std::array<i64, ranks> pairs{};
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t other = 0; other < ranks; ++other) {
      const auto items = packed_items(rows[r], rows[other], {-1, 0}, lengths);
      REQUIRE(items.size() == 1);
      CHECK(items[0].parts.size() == lengths.size());
      if (r != other)
        for (const auto& part : items[0].parts) pairs[r] += part.queries * part.keys;
    }
  for (const i64 p : pairs) CHECK(p == pairs[0]);
}

TEST_CASE("packed sequences are cut into the ranks' rows, and joined again") {
  const int ranks = GENERATE(1, 3);
  const auto layout = GENERATE(context_layout::contiguous, context_layout::zigzag);
  const std::vector<i64> lengths{5, 0, 1, 17, 3};
  run_all(group_of(ranks), [&](int r, const communicator& c, const stream& s) {
    std::vector<i32> host(26 * 3);
    std::iota(host.begin(), host.end(), 5);
    const auto own = places_of(context_rows_of(layout, lengths, ranks, r));
    auto whole = c.on().upload(host), joined = c.on().allocate<i32>(host.size());
    auto local = c.on().allocate<i32>(own.size() * 3);
    const tensor_view part(local, 1, own.size(), 3), all(joined, 1, 26, 3);
    context_shard(c, s, tensor_view(whole, 1, 26, 3), part, layout, lengths);
    context_unshard(c, s, part, all, layout, lengths);
    s.synchronize();
    const auto cut = local.download();
    bool right = joined.download() == host;
    for (std::size_t i = 0; i < cut.size(); ++i)
      right = right && cut[i] == host[static_cast<std::size_t>(own[i / 3]) * 3 + i % 3];
    must(right, "values");
    std::vector<i64> other = lengths;
    if (r == 0) std::swap(other[3], other[4]);
    bool refused = ranks == 1;
    try {
      if (ranks > 1) context_unshard(c, s, part, all, layout, other);
    } catch (const invalid_argument&) {
      refused = true;
    }
    must(refused, "refused on all ranks");
  });
}

TEST_CASE("a tensor is cut into the ranks' rows, and joined again") {
  const int ranks = GENERATE(1, 3, 4);
  const auto layout = GENERATE(context_layout::contiguous, context_layout::zigzag);
  const std::size_t rows = GENERATE(std::size_t{2}, std::size_t{21});
  run_all(group_of(ranks), [&](int r, const communicator& c, const stream& s) {
    std::vector<i32> host(2 * rows * 3);
    std::iota(host.begin(), host.end(), 5);
    const auto own = context_positions(layout, static_cast<i64>(rows), ranks, r);
    auto whole = c.on().upload(host), joined = c.on().allocate<i32>(host.size());
    auto local = c.on().allocate<i32>(2 * own.size() * 3);
    const tensor_view part(local, 2, own.size(), 3);
    context_shard(c, s, tensor_view(whole, 2, rows, 3), part, layout);
    context_unshard(c, s, part, tensor_view(joined, 2, rows, 3), layout);
    s.synchronize();
    const auto cut = local.download();
    bool right = joined.download() == host;
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t i = 0; i < own.size(); ++i)
        for (std::size_t e = 0; e < 3; ++e)
          right = right && cut[(b * own.size() + i) * 3 + e] ==
                               host[(b * rows + static_cast<std::size_t>(own[i])) * 3 + e];
    must(right, "values");
    bool refused = false;
    try {
      context_unshard(c, s, part, tensor_view(joined, 2, r == 0 ? rows - 1 : rows, 3), layout);
    } catch (const invalid_argument&) {
      refused = true;
    }
    must(refused, "refused on all ranks");
  });
}
